/*
 * Values that a device has before the host: they are factored as if they were like those before, in the same
 * scaling and by the same rule, while the host brings them over and looks at them. Only then it is known
 * whether that was right: nothing is concluded from a factorization that the host would have made
 * differently.
 */
#include "method/direct/direct.h"

#include <math.h>
#include <stdlib.h>

enum { EXPONENT_MOST = 1022 }; /* a product with its power of two is exact */

/* Whether it can be tried: factors on the device, of the matrix itself, and no reason to scale anew. */
static bool is_like_before(const sd_problem *p, const sd_strength *strength, const sd_direct *d)
{
    const sd_factors *f = &d->factors[SD_DOUBLE];
    return d->factored && f->device && d->precision == SD_DOUBLE && strength->precision == SD_DOUBLE &&
           strength->threshold == 0 && !strength->equilibrated && !d->plan->general && !d->tilt && !p->like &&
           !p->abreast && p->A->nnz <= INT32_MAX &&
           !(sd_direct_may_rescale(p, d) && sd_drift_asks_for_scaling(d));
}

/* Whether the host, which knows the values now, would have done the same; their exponent. */
static bool is_right(const sd_problem *p, const sd_strength *strength, const sd_run_taken *taken,
                     const sd_direct *d, int *exponent)
{
    const sd_factors *f = sd_direct_numbers(d);
    const double largest = p->facts->largest;
    *exponent = sd_largest_exponent(&largest, 1) - d->largest_exponent;
    const bool misscaled = d->plan->p.scaling != SADDLE_SCALING_USER && d->matched && taken->stale > 0 &&
                           !(taken->most <= SD_MISSCALED * taken->least_matched);
    return largest == taken->largest && abs(*exponent) <= EXPONENT_MOST && !misscaled && !f->abandoned &&
           !sd_direct_is_incomplete(p, d) &&
           (p->options->scaling == SADDLE_SCALING_USER || !sd_direct_are_far(largest, p->facts->smallest)) &&
           (d->rule != SD_PIVOT_POSITIVE || f->definite) &&
           d->rule == sd_direct_rule(d->plan, p, d->was_definite, strength->threshold);
}

static void take(void *what)
{
    sd_arriving *arriving = what;
    arriving->take(arriving);
}

/* The factorization, with the host at work in the meantime. */
static saddle_status run(sd_context *c, const sd_problem *p, sd_direct *d, sd_run_taken *taken)
{
    const sd_tree *t = &d->plan->tree;
    const bool limited = d->drift.fresh > 0 && sd_direct_may_rescale(p, d) && d->rule == SD_PIVOT_THRESHOLD;
    const sd_factor_options options = {
        .pivoting = sd_direct_pivoting(d->rule, SD_DOUBLE, p->options, p->signs ? d->signs : NULL),
        .most_flops = limited ? sd_drift_limit(d) : 0,
        .profile = p->options->profile == SADDLE_ON,
        .presolve = sd_direct_presolve(p->options),
        .threads = p->threads};
    const sd_there there = {.values = {.values = p->arriving->values,
                                       .count = p->A->nnz,
                                       .ptr = p->A->ptr,
                                       .ind = p->A->ind,
                                       .target = t->target,
                                       .scale = d->scale,
                                       .matched = d->matched,
                                       .anew = d->moved,
                                       .largest_exponent = d->largest_exponent,
                                       .least = SD_STALE,
                                       .most = SD_GROWN},
                            .meanwhile = take,
                            .what = p->arriving};
    const saddle_status status =
        sd_device_fronts_run_there(c, &d->factors[SD_DOUBLE], &options, &there, taken);
    if (!status) d->moved = false;
    return status;
}

saddle_status sd_direct_refactor_arriving(sd_engine *e, const sd_problem *p, const sd_strength *strength,
                                          void *factors, bool *done)
{
    sd_context *c = e->context;
    sd_direct *d = factors;
    sd_run_taken taken;
    int exponent;
    *done = false;
    if (!is_like_before(p, strength, d)) return p->arriving->take(p->arriving);
    sd_direct_begin(d);
    d->rule = sd_direct_rule(d->plan, p, d->was_definite, strength->threshold);
    saddle_status status = sd_direct_take_signs(c, p, d);
    if (!status) status = run(c, p, d, &taken);
    if (status && status != SADDLE_MEMORY_LIMIT) return status;
    if (status) e->status = SADDLE_OK; /* delays took more than there is: another scaling may need less */
    const saddle_status arrived = p->arriving->take(p->arriving);
    if (arrived || status || !is_right(p, strength, &taken, d, &exponent)) return arrived;
    d->exponent = exponent;
    d->stale = taken.stale;
    d->unlike = false;
    d->lost = 0;
    sd_drift_note(d, false);
    *done = true;
    return sd_direct_conclude(c, p->A, p, d);
}
