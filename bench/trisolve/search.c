/*
 * See search.h. For the count a search ends at the first success, and begins with the numbers of sweeps that
 * are most likely to bring one; --best tries all, and each only as long as the best so far took.
 */
#include "bench/trisolve/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const search_way_names[WAYS] = {"entries", "blocks_12", "best_12", "blocks_24", "best_24"};

int search_check(const arguments *a)
{
    bool wanted[WAYS];
    return bench_choose(a, "ways", search_way_names, WAYS, wanted);
}

bool search_wants(const arguments *a, search_way way)
{
    bool wanted[WAYS];
    const bool first = way == WAY_BLOCKS || way == WAY_BLOCKS_24;
    bench_choose(a, "ways", search_way_names, WAYS, wanted);
    return wanted[way] || (first && wanted[way + 1]);
}

/* The order in which sweeps are tried; beyond them one after the other. */
enum { LIKELY = 20 };
static const int likely[LIKELY] = {3, 20, 8, 1, 12, 5, 2, 16, 10, 6, 4, 18, 14, 7, 9, 11, 13, 15, 17, 19};

/* A solve that is not over in this many times the exact one's is given up; one second more for short ones. */
static const double SLOW = 60.0, GRACE = 1.0;

typedef struct search {
    trisolve_bench *t;
    const search_level *level;
    bool best;
    int size; /* rows of a block; 0: over entries */
    search_found *f;
} search;

static void remember_failure(search_found *f, int slot, int sweeps, const trisolve_result *r)
{
    const double residual =
        isnan(r->solve) || !isfinite(r->info.relative_residual) ? INFINITY : r->info.relative_residual;
    if (f->why[slot][0] && !(residual < f->nearest[slot])) return;
    f->nearest[slot] = residual;
    if (isfinite(residual))
        snprintf(f->why[slot], sizeof f->why[slot], "%d sweeps: %.60s, residual %.0e", sweeps, r->why,
                 residual);
    else
        snprintf(f->why[slot], sizeof f->why[slot], "%d sweeps: %s", sweeps, r->why);
}

static void try_sweeps(const search *s, int blocking, int sweeps)
{
    search_found *f = s->f;
    char text[TEXT], blocks[80] = "";
    const double exact = s->level->exact.solve;
    if (s->size > 0)
        snprintf(blocks, sizeof blocks, " blocking=%s block_size=%d", trisolve_blockings[blocking], s->size);
    snprintf(text, sizeof text, "krylov=cg fallback=none level=%d trisolve=%s%s trisolve_sweeps=%d",
             s->level->level, s->size > 0 ? "block-jacobi" : "jacobi", blocks, sweeps);
    const trisolve_result r = trisolve_try(s->t, text, f->found ? f->solve : GRACE + SLOW * exact);
    f->tries++;
    if (!r.solved) {
        if (!f->found) remember_failure(f, blocking, sweeps, &r);
        return;
    }
    if (f->found && r.solve >= f->solve) return;
    f->found = true;
    f->blocking = s->size > 0 ? blocking : -1;
    f->sweeps = sweeps;
    f->iterations = trisolve_iterations(&r);
    f->setup = r.setup;
    f->solve = r.solve;
    f->relative_residual = r.info.relative_residual;
}

/* All sweeps of one blocking, `first` before the others where it is not 0. */
static void try_blocking(const search *s, int blocking, int first)
{
    const int most = trisolve_most(s->t, SEARCH_SWEEPS);
    s->f->tried = true;
    if (first > 0) try_sweeps(s, blocking, first);
    for (int k = 0; (k < LIKELY || k < most) && (s->best || !s->f->found); ++k) {
        const int sweeps = k < LIKELY ? likely[k] : k + 1;
        if (sweeps > most || sweeps == first) continue;
        s->f->late = trisolve_left(s->t) <= 0.0;
        if (s->f->late) return;
        try_sweeps(s, blocking, sweeps);
    }
}

/* The other blockings, from what is known of the first. */
static void try_others(const search *s)
{
    for (int k = 0; k < BLOCKINGS && (s->best || !s->f->found) && !s->f->late; ++k)
        if (k != ADJACENT) try_blocking(s, k, s->f->sweeps);
}

/* Over entries last: where that fails, it takes the longest. All are tried for the fastest in as much time.
 */
static void search_ways(trisolve_bench *t, search_level *level, bool best)
{
    static const int sizes[WAYS] = {0, 12, 12, 24, 24};
    const double end = t->until;
    int left = 0;
    for (int w = 0; w < WAYS; ++w) left += search_wants(t->a, (search_way)w);
    for (int k = 1; k <= WAYS; ++k) {
        const int w = k % WAYS;
        search_found *f = &level->ways[w];
        if (!search_wants(t->a, (search_way)w)) continue;
        const double now = bench_now(&t->watch);
        t->until = best ? now + (end - now) / left : end;
        --left;
        const search s = {t, level, best, sizes[w], f};
        if (w == WAY_BEST || w == WAY_BEST_24) {
            *f = level->ways[w - 1];
            try_others(&s);
        } else {
            const int hint = w == WAY_BLOCKS_24 ? level->ways[WAY_BLOCKS].sweeps : 0;
            try_blocking(&s, ADJACENT, hint);
        }
    }
}

static void measure(trisolve_bench *t, void *to)
{
    static const int usual[] = {0, 1};
    search_row *row = to;
    int levels[LEVELS_MOST];
    const bool best = argument_given(t->a, "best") || t->wanted[PART_FIGURE6] || t->wanted[PART_FIGURE7];
    row->count = trisolve_levels(t, usual, 2, levels);
    const double end = t->until;
    for (int k = 0; k < row->count; ++k) {
        search_level *level = &row->levels[k];
        char text[TEXT];
        const double now = bench_now(&t->watch);
        t->until = now + (end - now) / (row->count - k); /* as much for every level that is left */
        level->level = levels[k];
        snprintf(text, sizeof text, "krylov=cg level=%d trisolve=exact", levels[k]);
        level->exact = trisolve_try(t, text, INFINITY);
        if (level->exact.solved) search_ways(t, level, best);
    }
}

search_count search_counted(const trisolve_rows *rows, int level, bool shifted)
{
    search_count c = {0};
    const search_row *at = rows->at;
    for (int64_t i = 0; i < rows->count; ++i) {
        const search_level *l = &at[i].levels[level];
        if (!l->exact.solved || (trisolve_is_shifted(&l->exact) && !shifted)) continue;
        c.exact++;
        for (int w = 0; w < WAYS; ++w) {
            c.ways[w] += l->ways[w].found;
            c.late[w] += l->ways[w].late && !l->ways[w].found;
        }
    }
    return c;
}

const trisolve_kind kind_search = {
    .first = PART_TABLE1,
    .last = PART_FIGURE7,
    .takes = TAKES_SYMMETRIC,
    .size = sizeof(search_row),
    .measure = measure,
    .print_row = search_print_row,
    .print = search_print,
    .write = search_write,
};
