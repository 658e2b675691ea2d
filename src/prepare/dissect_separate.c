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

bool sd_separate(const sd_part *g, uint64_t random, sd_region r, int32_t *side)
{
    sd_cut t = {0};
    int32_t *trial = sd_words(&r, g->n);
    if (!trial || !sd_cut_room(&t, g->n, &r)) return false;
    if (g->n < LARGE) {
        run(g, false, &random, r, trial, &t, side);
        return true;
    }
    levels l = {.count = 1, .g = {*g}, .side = {side}};
    climb(&l, COARSEST, SHARED_LEVELS, false, &random, &r);
    const int last = l.count - 1;
    const sd_part *top = &l.g[last];
    int32_t *other = sd_words(&r, top->n);
    if (!other) return false;
    sd_score best = {.excess = INT64_MAX};
    for (int k = 0; k < RUNS; ++k) {
        const sd_score score = run(top, true, &random, r, trial, &t, other);
        if (k > 0 && !sd_better(score, best)) continue;
        best = score;
        memcpy(l.side[last], other, (size_t)top->n * sizeof *other);
    }
    descend(&l, last, 0, &t);
    return true;
}
