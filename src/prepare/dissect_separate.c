/*
 * A separator by levels (G. Karypis and V. Kumar, as in dissect_coarsen.c): the graph is made coarser and
 * coarser, the coarsest is separated, and the separator is carried back level by level and improved on each.
 * Of a large graph some levels are made once; from there on all is done several times, with other random
 * numbers, and the best is carried on.
 */
#include "prepare/dissect.h"

#include <string.h>

enum { LEVELS = 40, COARSEST = 100, LARGE = 5000, SHARED_LEVELS = 4, RUNS = 5, GROWN = 4 };

/* The graph and those above it; side and map of each. */
typedef struct levels {
    int count;
    sd_part g[LEVELS];
    int32_t *map[LEVELS], *side[LEVELS];
} levels;

/* Coarser until there are `enough` vertices, or `most` levels. */
static void climb(levels *l, int32_t enough, int most, bool shuffled, uint64_t *random, sd_region *r)
{
    const int64_t heaviest = l->g[0].rows * 3 / 2 / COARSEST + 1;
    while (l->count < LEVELS && l->count <= most && l->g[l->count - 1].n > enough) {
        const int k = l->count;
        const sd_region before = *r;
        l->map[k - 1] = sd_words(r, l->g[k - 1].n);
        if (!l->map[k - 1] ||
            !sd_coarsen(&l->g[k - 1], heaviest, shuffled, random, r, l->map[k - 1], &l->g[k]) ||
            !(l->side[k] = sd_words(r, l->g[k].n))) {
            *r = before;
            break;
        }
        ++l->count;
    }
}

/* From level `from` of it down to level `to`, improved on each but `from`. */
static void descend(levels *l, int from, int to, sd_cut *t)
{
    for (int k = from - 1; k >= to; --k) {
        for (int32_t v = 0; v < l->g[k].n; ++v) l->side[k][v] = l->side[k + 1][l->map[k][v]];
        sd_cut_begin(t, &l->g[k], l->side[k]);
        sd_cut_refine(t);
    }
}

/* The last level, by growing a few times. */
static void separate_coarsest(const sd_part *g, int32_t *side, int32_t *trial, uint64_t *random, sd_cut *t)
{
    sd_score best = {.excess = INT64_MAX};
    for (int k = 0; k < GROWN; ++k) {
        sd_cut_grow(t, g, trial, random);
        const sd_score score = sd_cut_score(t);
        if (k > 0 && !sd_better(score, best)) continue;
        best = score;
        memcpy(side, trial, (size_t)g->n * sizeof *side);
    }
}

/* A separator of g into side; its score. */
static sd_score run(const sd_part *g, bool shuffled, uint64_t *random, sd_region r, int32_t *trial, sd_cut *t,
                    int32_t *side)
{
    levels l = {.count = 1, .g = {*g}, .side = {side}};
    climb(&l, COARSEST, LEVELS, shuffled, random, &r);
    const int last = l.count - 1;
    separate_coarsest(&l.g[last], l.side[last], trial, random, t);
    if (last > 0) {
        descend(&l, last, 0, t);
    } else {
        sd_cut_begin(t, g, side);
    }
    return sd_cut_score(t);
}

/* Some of the runs on a graph, in a region of their own. */
typedef struct lane {
    sd_region region;
    int32_t *side; /* of the best; NULL: there was no room */
    sd_score score;
    int run; /* that it was */
} lane;

static uint64_t seed_of(uint64_t random, int run)
{
    return (random + (uint64_t)run) * UINT64_C(0xBF58476D1CE4E5B9) | 1;
}

static void run_lane(const sd_part *g, uint64_t random, int first, int lanes, lane *to)
{
    sd_cut t = {0};
    int32_t *best = sd_words(&to->region, g->n), *other = sd_words(&to->region, g->n);
    int32_t *trial = sd_words(&to->region, g->n);
    if (!trial || !sd_cut_room(&t, g->n, &to->region)) return;
    for (int k = first; k < RUNS; k += lanes) {
        uint64_t own = seed_of(random, k);
        const sd_score score = run(g, true, &own, to->region, trial, &t, other);
        if (to->side && !sd_better(score, to->score)) continue;
        to->score = score;
        to->run = k;
        to->side = best;
        memcpy(best, other, (size_t)g->n * sizeof *other);
    }
}

/* The best of several runs; as many at once as there is room for. They do not know of each other, so that it
 * makes no difference how many. False where there is no room for one. */
static bool run_several(const sd_part *g, uint64_t random, sd_region r, int32_t *side)
{
    const int64_t need = 18 * (int64_t)g->n + 3 * (int64_t)g->ptr[g->n] + 2, room = r.end - r.at;
    const int lanes = room < 2 * need ? 1 : room < RUNS * need ? (int)(room / need) : RUNS;
    lane work[RUNS] = {0};
#pragma omp taskgroup
    for (int k = 0; k < lanes; ++k) {
        work[k].region = (sd_region){r.at + k * (room / lanes), r.at + (k + 1) * (room / lanes)};
#pragma omp task firstprivate(k) shared(work)
        run_lane(g, random, k, lanes, &work[k]);
    }
    int best = 0;
    for (int k = 1; k < lanes; ++k) {
        const bool same =
            !sd_better(work[k].score, work[best].score) && !sd_better(work[best].score, work[k].score);
        if (sd_better(work[k].score, work[best].score) || (same && work[k].run < work[best].run)) best = k;
    }
    if (!work[best].side) return false;
    memcpy(side, work[best].side, (size_t)g->n * sizeof *side);
    return true;
}

static bool separate_large(const sd_part *g, uint64_t random, sd_region r, int32_t *side)
{
    levels l = {.count = 1, .g = {*g}, .side = {side}};
    sd_region first = {r.at, r.end - SD_CUT_WORDS * ((int64_t)g->n + 1)}; /* the rest is for the way down */
    if (first.end < first.at) return false;
    climb(&l, COARSEST, SHARED_LEVELS, false, &random, &first);
    const int last = l.count - 1;
    r.at = first.at;
    if (!run_several(&l.g[last], random, r, l.side[last])) return false;
    sd_cut t = {0};
    if (!sd_cut_room(&t, g->n, &r)) return false;
    if (last > 0) descend(&l, last, 0, &t);
    return true;
}

bool sd_separate(const sd_part *g, uint64_t random, sd_region r, int32_t *side)
{
    if (g->n >= LARGE) return separate_large(g, random, r, side);
    sd_cut t = {0};
    int32_t *trial = sd_words(&r, g->n);
    if (!trial || !sd_cut_room(&t, g->n, &r)) return false;
    run(g, false, &random, r, trial, &t, side);
    return true;
}
