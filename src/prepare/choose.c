/*
 * The preparation's second half: order and blocks, and the choices between ways of ordering.
 *
 * The choices are made from counts and a stored cost model, never from a clock, so that the same matrix
 * has the same order everywhere:
 *
 * - Approximate minimum degree is cheap and tried first; nested dissection follows where the factorizations
 *   that are expected are predicted to gain more by it than it costs, and the order of less work is taken.
 * - Where the values leave it open whether matched pairs should be kept (match_scale.c), both ways are
 *   ordered, and the way without pairs must save a good part of the work. Where quite a few rows need their
 * pair and the factorization costs less than three orderings, the pairs are kept, which is the safe choice.
 * - Where L will be very sparse and the factorization can do without fronts, the order by degree of single
 *   rows is taken: pairs are found as they are needed, and fewer of them (method/direct/columns.c).
 */
#include "core/options.h"
#include "prepare/blocking.h"
#include "prepare/blocking_parts.h"
#include "prepare/etree.h"
#include "prepare/order.h"
#include "prepare/prepare.h"
#include "prepare/stages.h"

#include <math.h>

enum {
    ORDER_STEP = 2,     /* of the progress */
    ROWS_AT_ONCE = 2000 /* smaller matrices are ordered before a team has begun */
};

/*
 * What is predicted, in operations of a factorization at 30 Gflop/s, from `saddle bench direct --anchors` and
 * `saddle bench prepare` on one core of an AMD EPYC (Zen 4), otherwise idle (bench/results/2026-11-15-cpu): a
 * factorization takes its operations, at 36 Gflop/s in large fronts, and 5 to 7 ns an entry of L; a nested
 * dissection 0.3 to 1 microseconds a vertex and stored edge.
 */
static const double ENTRY_FLOPS = 200, DISSECTION_FLOPS = 16e3;

/*
 * The share of the operations that a dissection saves is not known before, but follows from how many of them
 * minimum degree takes an entry of L. On 100 symmetric matrices (`saddle prepare --order amd` beside `nd`)
 * there was nothing to save on the average below 100, 0.15 at 200 (plane problems of 50,000 rows), 0.25 at
 * 300 and 0.5 to 0.8 from 1,000 on; and of the entries two fifths of that share.
 */
static const double NOTHING_TO_SAVE = 100, SAVED_BY_TEN = 0.5, SAVED_LEAST = 0.05, SAVED_MOST = 0.7;
static const double ENTRIES_SAVED = 0.4;

bool sd_dissection_pays(const saddle_options *o, double flops, double entries, double size)
{
    const double times = (double)sd_expected_factorizations(o), an_entry = flops / fmax(entries, 1);
    const double promised = SAVED_BY_TEN * log10(fmax(an_entry, 1) / NOTHING_TO_SAVE);
    const double saved = fmin(fmax(promised, SAVED_LEAST), SAVED_MOST);
    return times * saved * (flops + ENTRIES_SAVED * ENTRY_FLOPS * entries) > DISSECTION_FLOPS * size;
}

/* What an order without pairs must save before it is preferred, beyond the delays that can be foreseen: more
 * of its pivots will be delayed, which makes the work larger than predicted, the more so where many rows need
 * their pair. */
static const double WITHOUT_PAIRS = 0.75, WITHOUT_NEEDED_PAIRS = 0.6;

/* A row has at most so many entries, and L takes at most so many operations an entry, where columns are
 * expected to be faster than fronts. */
static const double SPARSE_ROW = 8, SPARSE_COLUMN = 60;

bool sd_order_is_given(const saddle_options *o)
{
    return o->order == SADDLE_ORDER_NATURAL || o->order == SADDLE_ORDER_USER;
}

bool sd_blocks_first(int blocking)
{
    return blocking >= SADDLE_BLOCKING_CLUSTERS && blocking != SADDLE_BLOCKING_ADJACENT;
}

/* The rows in their groups: pairs first, then blocks of pairs. The graph to be ordered is that of the
 * outermost groups; a level that is not there has NULL for its part. */
typedef struct grouping {
    int32_t *vertex; /* of each row: its pair */
    int32_t *block;  /* of each vertex */
    sd_graph vertices, blocks;
    const sd_graph *outer;
} grouping;

static void free_grouping(sd_context *c, grouping *g)
{
    sd_free_all(c, g->vertex, g->block);
    sd_graph_free(c, &g->vertices);
    sd_graph_free(c, &g->blocks);
}

static saddle_status group_pairs(sd_preparing *t, grouping *g)
{
    g->vertex = sd_alloc(t->c, t->A->n, sizeof *g->vertex, "vertices of the compressed graph");
    if (!g->vertex) return t->c->status;
    const int32_t vertices = sd_pairs_parts(t->A->n, t->partner, g->vertex);
    const saddle_status status = sd_graph_quotient(t->c, &t->graph, g->vertex, vertices, &g->vertices);
    g->outer = &g->vertices;
    sd_stage_tick(t, &t->p->time_pairs);
    return status;
}

static saddle_status group_blocks(sd_preparing *t, grouping *g)
{
    int32_t blocks = 0;
    const sd_graph *vertices = g->outer;
    g->block = sd_alloc(t->c, vertices->n, sizeof *g->block, "blocks");
    if (!g->block) return t->c->status;
    saddle_status status =
        sd_block_graph(t->c, vertices, t->p->blocking, t->p->block_size, g->block, &blocks);
    if (!status) status = sd_graph_quotient(t->c, vertices, g->block, blocks, &g->blocks);
    g->outer = &g->blocks;
    sd_stage_tick(t, &t->p->time_blocking);
    return status;
}

static saddle_status group(sd_preparing *t, bool pairs, grouping *g)
{
    saddle_status status = SADDLE_OK;
    *g = (grouping){.outer = &t->graph};
    if (pairs) status = group_pairs(t, g);
    if (!status && sd_blocks_first(t->p->blocking)) status = group_blocks(t, g);
    return status;
}

/* One way of ordering, and what it would cost to factor. */
typedef struct candidate {
    bool pairs;
    int order;
    int32_t *perm;  /* of the rows */
    int32_t *start; /* of the blocks, where they were made before the order; else NULL */
    int32_t blocks;
    int64_t dense;
    sd_elimination tree;
    sd_fill_sums fill;
    bool dissected; /* nested dissection was tried too */
} candidate;

static void free_candidate(sd_context *c, candidate *way)
{
    sd_free_all(c, way->perm, way->start);
    sd_elimination_free(c, &way->tree);
    *way = (candidate){0};
}

/* Keeps the better and frees the other, which must be better by a factor when it also pays what it delays. */
static void take_better(sd_context *c, candidate *best, candidate *other, double delays, double handicap)
{
    if (other->fill.flops + delays < handicap * best->fill.flops) {
        const candidate swap = *best;
        *best = *other;
        *other = swap;
    }
    free_candidate(c, other);
}

/* The user's and the natural order go by the first row of each group. */
static saddle_status order_as_given(const sd_preparing *t, const grouping *g, int32_t *order)
{
    int32_t count = 0;
    bool *seen = sd_alloc_zero(t->c, g->outer->n, sizeof *seen, "marks");
    if (!seen) return t->c->status;
    for (int32_t k = 0; k < t->A->n; ++k) {
        const int32_t row = t->options->order == SADDLE_ORDER_USER ? t->given->permutation[k] : k;
        const int32_t vertex = g->vertex ? g->vertex[row] : row;
        const int32_t outer = g->block ? g->block[vertex] : vertex;
        if (!seen[outer]) order[count++] = outer;
        seen[outer] = true;
    }
    sd_free(t->c, seen);
    return SADDLE_OK;
}

/* *order, of the groups, replaced by that of their members. */
static saddle_status expand(sd_context *c, int32_t members, const int32_t *part, int32_t parts,
                            int32_t **order)
{
    int32_t *expanded = sd_alloc(c, members, sizeof *expanded, "permutation");
    if (!expanded) return c->status;
    const saddle_status status = sd_expand_order(c, members, part, parts, *order, expanded);
    sd_free(c, *order);
    *order = expanded;
    return status;
}

static saddle_status block_starts(sd_context *c, const sd_graph *blocks, candidate *way)
{
    way->blocks = blocks->n;
    way->start = sd_alloc(c, (int64_t)blocks->n + 1, sizeof *way->start, "blocks");
    if (!way->start) return c->status;
    way->start[0] = 0;
    for (int32_t k = 0; k < blocks->n; ++k) way->start[k + 1] = way->start[k] + blocks->size[way->perm[k]];
    return SADDLE_OK;
}

/* Orders the groups by way->order and expands them to rows. */
static saddle_status order_groups(sd_preparing *t, const grouping *g, candidate *way)
{
    sd_context *c = t->c;
    way->perm = sd_alloc(c, g->outer->n, sizeof *way->perm, "permutation");
    if (!way->perm) return c->status;
    saddle_status status = sd_order_is_given(t->options)
                               ? order_as_given(t, g, way->perm)
                               : sd_order_graph(c, g->outer, way->order, way->perm, &way->dense);
    if (!status && g->block) status = block_starts(c, &g->blocks, way);
    const int32_t vertices = g->vertex ? g->vertices.n : t->A->n;
    if (!status && g->block) status = expand(c, vertices, g->block, g->blocks.n, &way->perm);
    if (!status && g->vertex) status = expand(c, t->A->n, g->vertex, vertices, &way->perm);
    sd_stage_tick(t, &t->p->time_order);
    if (!status) status = sd_eliminate(c, &t->graph, way->perm, &way->tree);
    if (!status) status = sd_sum_fill(c, t->graph.n, &way->tree, &way->fill);
    sd_stage_tick(t, &t->p->time_counts);
    return status;
}

static bool is_free(const sd_preparing *t)
{
    return t->options->order == SADDLE_ORDER_AUTO && !sd_blocks_first(t->p->blocking);
}

/* Whether what a way promises is worth `dissections` of them. */
static bool is_worth(const sd_preparing *t, const candidate *way, double dissections)
{
    const double size = dissections * (double)(t->graph.ptr[t->graph.n] + t->graph.n);
    return sd_dissection_pays(t->options, way->fill.flops, (double)way->fill.nnz, size);
}

/* A way, ordered. */
static saddle_status order_way(sd_preparing *t, candidate *way)
{
    grouping g;
    saddle_status status = group(t, way->pairs, &g);
    if (!status) status = order_groups(t, &g, way);
    free_grouping(t->c, &g);
    return status;
}

/* Ways that do not need each other, side by side: each has what it writes to itself. The times are those of
 * the way that took longest. */
static saddle_status order_at_once(sd_preparing *t, candidate *const *way)
{
    sd_context part[2];
    sd_preparing own[2] = {*t, *t};
    saddle_preparation times[2] = {*t->p, *t->p};
    saddle_status status[2];
    sd_parts *parts = sd_parts_begin(t->c, 2, part);
    if (!parts) return t->c->status;
#pragma omp parallel num_threads(t->c->threads)
#pragma omp single
    for (int k = 0; k < 2; ++k) {
        own[k].c = &part[k];
        own[k].p = &times[k];
#pragma omp task firstprivate(k) shared(own, way, status)
        status[k] = order_way(&own[k], way[k]);
    }
    const saddle_preparation *slow = &times[own[1].clock > own[0].clock];
    t->p->time_pairs = slow->time_pairs;
    t->p->time_order = slow->time_order;
    t->p->time_counts = slow->time_counts;
    t->p->time_blocking = slow->time_blocking;
    t->clock = sd_seconds();
    return sd_parts_end(t->c, parts, 2, part, status);
}

/* One way or two (the second may be NULL), at once where there are threads; under a memory limit one by one.
 */
static saddle_status order_ways(sd_preparing *t, candidate *first, candidate *second)
{
    candidate *const ways[] = {first, second};
    /* several may follow one another, and none can be interrupted */
    saddle_status status = sd_progress(t->c, "prepare", ORDER_STEP, SD_PREPARE_STEPS, NAN);
    if (status) return status;
    if (second && t->c->threads > 1 && t->c->limit == 0 && t->A->n >= ROWS_AT_ONCE)
        return order_at_once(t, ways);
    for (int k = 0; k < 2 && !status && ways[k]; ++k) status = order_way(t, ways[k]);
    return status;
}

/* Nested dissection too, of one way or two, where it is left open: the better stays. */
static saddle_status improve(sd_preparing *t, candidate *first, candidate *second)
{
    candidate other[2] = {{.pairs = first->pairs, .order = SADDLE_ORDER_ND},
                          {.pairs = second && second->pairs, .order = SADDLE_ORDER_ND}};
    const saddle_status status = order_ways(t, &other[0], second ? &other[1] : NULL);
    if (status) {
        free_candidate(t->c, &other[0]);
        free_candidate(t->c, &other[1]);
        /* the order by degree is there, and needs less memory */
        return status == SADDLE_MEMORY_LIMIT ? SADDLE_OK : status;
    }
    take_better(t->c, first, &other[0], 0, 1);
    if (second) take_better(t->c, second, &other[1], 0, 1);
    return SADDLE_OK;
}

/* Whether single rows, ordered by degree, may give a very sparse L, and are tried before anything else. */
static bool may_be_sparse(const sd_preparing *t)
{
    const double n = t->graph.n, entries = (double)t->graph.ptr[t->graph.n] + n;
    return t->columns && t->options->pairs == SADDLE_AUTO && is_free(t) && entries <= SPARSE_ROW * n;
}

/* The work of the delays that an order of single rows makes for certain: a row with 0 on its diagonal that
 * comes before all its neighbours has no pivot. */
static saddle_status foresee_delays(sd_preparing *t, const int32_t *perm, double *work)
{
    const sd_graph *g = &t->graph;
    int64_t delays = 0;
    int32_t *place = sd_alloc(t->c, g->n, sizeof *place, "positions");
    if (!place) return t->c->status;
    sd_invert_order(g->n, perm, place);
    for (int32_t i = 0; i < g->n; ++i) {
        bool first = sd_csr_at(t->A, i, i) == 0;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1] && first; ++e) first = place[g->ind[e]] > place[i];
        delays += first;
    }
    sd_free(t->c, place);
    *work = SD_DELAY_WORK * (double)delays;
    return SADDLE_OK;
}

/* With the pairs kept or left, whichever promises less where the values did not tell. Large factorizations
 * are worth dissecting both ways; the others are compared by the quick order. `other` may be ordered. */
static saddle_status compare_pairs(sd_preparing *t, candidate *way, candidate *other)
{
    const bool large = is_worth(t, way, 3.0), dissects = large && is_free(t);
    double delays = 0;
    saddle_status status = SADDLE_OK;
    if (!t->undecided || (!large && t->keep_pairs)) return SADDLE_OK;
    if (!other->perm) status = order_ways(t, other, NULL);
    if (!status && dissects) status = improve(t, way, other);
    t->p->orderings = 2;
    if (!status) status = foresee_delays(t, other->perm, &delays);
    if (status) return status;
    take_better(t->c, way, other, delays, t->keep_pairs ? WITHOUT_NEEDED_PAIRS : WITHOUT_PAIRS);
    way->dissected = dissects;
    return SADDLE_OK;
}

/* The order that was requested, or what promises least. */
static saddle_status order_both_ways(sd_preparing *t, candidate *way)
{
    const bool free = is_free(t), sparse = may_be_sparse(t);
    int first = t->options->order;
    saddle_status status = SADDLE_OK;
    if (first == SADDLE_ORDER_AUTO) first = free ? SADDLE_ORDER_AMD : SADDLE_ORDER_ND;
    candidate other = {.order = first};
    *way = (candidate){.pairs = t->keep_pairs || t->undecided, .order = first};
    if (sparse) status = order_ways(t, &other, NULL);
    if (!status && sparse && (!way->pairs || other.fill.flops <= SPARSE_COLUMN * (double)other.fill.nnz)) {
        *way = other;
        other = (candidate){.order = first};
        if (way->fill.flops <= SPARSE_COLUMN * (double)way->fill.nnz) return SADDLE_OK;
    } else if (!status) {
        status = order_ways(t, way, t->undecided && !t->keep_pairs && !sparse ? &other : NULL);
    }
    if (!status) status = compare_pairs(t, way, &other);
    free_candidate(t->c, &other);
    if (status || !free || way->dissected || !is_worth(t, way, 1.0)) return status;
    return improve(t, way, NULL);
}

/* The blocks of an order that is there: by supervariables, cut regularly, between pairs, or one a row. */
static saddle_status cut_blocks(sd_preparing *t, candidate *way)
{
    const int32_t n = t->A->n;
    const int32_t *partner = t->p->blocking == SADDLE_BLOCKING_PAIRS && way->pairs ? t->partner : NULL;
    way->start = sd_alloc(t->c, (int64_t)n + 1, sizeof *way->start, "blocks");
    if (!way->start) return t->c->status;
    if (t->p->blocking == SADDLE_BLOCKING_ADJACENT)
        return sd_block_adjacent(t->c, &t->graph, way->perm, t->p->block_size, way->start, &way->blocks);
    way->blocks = sd_block_cut(n, way->perm, partner, t->p->block_size, way->start);
    return SADDLE_OK;
}

saddle_status sd_stage_order(sd_preparing *t)
{
    saddle_preparation *p = t->p;
    candidate way = {0};
    p->orderings = 1;
    saddle_status status = order_both_ways(t, &way);
    if (!status && !way.start) status = cut_blocks(t, &way);
    sd_stage_tick(t, &p->time_blocking);
    if (status) {
        free_candidate(t->c, &way);
        return status;
    }
    p->order = way.order;
    p->permutation = way.perm;
    p->block_start = way.start;
    p->blocks = way.blocks;
    p->dense_rows = way.dense;
    p->factor_nnz = way.fill.nnz;
    p->factor_flops = way.fill.flops;
    p->tree_height = way.fill.height;
    t->keep_pairs = way.pairs;
    t->tree = way.tree;
    return SADDLE_OK;
}
