/* The judge of a race: see race.h. */
#include "solve/race.h"

#include <math.h>

/* The rate is that since a half of the iterations, or since a quarter: it often grows; but an iteration may
 * stand still for a while and then go on. */
enum { SOON = 2, LONG = 4 };

/* Iterations from one judgement to the next: an eighth of those so far. */
static int64_t next_mark(const sd_race *r)
{
    const int64_t last = r->marks > 0 ? r->mark[r->marks - 1].iteration : 0;
    return last + 1 + last / 8;
}

/* Iterations in all that the rate leads to which there was since 1 / part of them; infinite where nothing was
 * gained. */
static double predict(const sd_race *r, int64_t part, double missing)
{
    const int last = r->marks - 1;
    int from = last;
    while (from > 0 && part * r->mark[from].iteration > r->mark[last].iteration) --from;
    const double steps = (double)(r->mark[last].iteration - r->mark[from].iteration);
    const double gain = r->mark[last].digits - r->mark[from].digits;
    return (double)r->mark[last].iteration + (gain > 0 ? log10(missing) * steps / gain : INFINITY);
}

bool sd_race_goes_on(sd_race *r, int64_t iterations, double norm, double missing)
{
    if (!(missing > 1) || iterations < next_mark(r) || r->marks == SD_RACE_MARKS) return true;
    r->mark[r->marks].iteration = iterations;
    r->mark[r->marks++].digits = -log10(norm);
    if ((double)iterations < r->first) return true;
    if (r->look) r->look(r);
    r->look = NULL;
    return (double)iterations < r->first ||
           fmin(predict(r, SOON, missing), predict(r, LONG, missing)) <= fmin(r->most, r->limit);
}
