/*
 * The preparation's second half: order and blocks, and the choices between ways of ordering.
 *
 * The choices are made from counts and a stored cost model, never from a clock, so that the same matrix
 * has the same order everywhere:
 *
 * - Approximate minimum degree is cheap and tried first; nested dissection follows where the factorization
 *   predicted from that order would cost more than it, and the order of less work is taken.
 * - Where the values leave it open whether matched pairs should be kept (match_scale.c), both ways are
 *   ordered, and the way without pairs must save a good part of the work. Where quite a few rows need their
 * pair and the factorization costs less than three orderings, the pairs are kept, which is the safe choice.
 * - Where L will be very sparse and the factorization can do without fronts, the order by degree of single
 *   rows is taken: pairs are found as they are needed, and fewer of them (method/direct/columns.c).
 */
#include "prepare/blocking.h"
#include "prepare/etree.h"
#include "prepare/order.h"
#include "prepare/prepare.h"
#include "prepare/stages.h"

#include <math.h>

enum { ORDER_STEP = 2 }; /* of the progress */

/* What an order without pairs must save before it is preferred: its pivots will be delayed, which makes the
 * work larger than predicted, the more so where many rows need their pair. */
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
    return blocking >= SADDLE_BLOCKING_CLUSTERS;
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
    sd_fill fill;
} candidate;

static void free_candidate(sd_context *c, candidate *way)
{
    sd_free_all(c, way->perm, way->start);
    *way = (candidate){0};
}

/* Keeps the better and frees the other. */
static void take_better(sd_context *c, candidate *best, candidate *other, double handicap)
{
    if (other->fill.flops < handicap * best->fill.flops) {
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
    /* several may follow one another, and METIS cannot be interrupted */
    saddle_status status = sd_progress(c, "prepare", ORDER_STEP, SD_PREPARE_STEPS, NAN);
    if (!status)
        status = sd_order_is_given(t->options)
                     ? order_as_given(t, g, way->perm)
                     : sd_order_graph(c, g->outer, way->order, way->perm, &way->dense);
    if (!status && g->block) status = block_starts(c, &g->blocks, way);
    const int32_t vertices = g->vertex ? g->vertices.n : t->A->n;
    if (!status && g->block) status = expand(c, vertices, g->block, g->blocks.n, &way->perm);
    if (!status && g->vertex) status = expand(c, t->A->n, g->vertex, vertices, &way->perm);
    sd_stage_tick(t, &t->p->time_order);
    if (!status) status = sd_predict_fill(c, &t->graph, way->perm, &way->fill);
    sd_stage_tick(t, &t->p->time_counts);
    return status;
}

static double ordering_cost(const sd_preparing *t)
{
    return SD_DISSECTION_FLOPS * (double)(t->graph.ptr[t->graph.n] + t->graph.n);
}

static bool is_free(const sd_preparing *t)
{
    return t->options->order == SADDLE_ORDER_AUTO && !sd_blocks_first(t->p->blocking);
}

/* The order that was requested, or the faster of two if that is left open. */
static saddle_status order_first(sd_preparing *t, bool pairs, candidate *way)
{
    grouping g;
    saddle_status status = group(t, pairs, &g);
    *way = (candidate){.pairs = pairs, .order = t->options->order};
    if (way->order == SADDLE_ORDER_AUTO) way->order = is_free(t) ? SADDLE_ORDER_AMD : SADDLE_ORDER_METIS;
    if (!status) status = order_groups(t, &g, way);
    free_grouping(t->c, &g);
    return status;
}

/* Nested dissection too, where it is left open and worth it: the better stays. */
static saddle_status improve(sd_preparing *t, candidate *way)
{
    if (!is_free(t) || way->fill.flops <= ordering_cost(t)) return SADDLE_OK;
    grouping g;
    candidate other = {.pairs = way->pairs, .order = SADDLE_ORDER_METIS};
    saddle_status status = group(t, way->pairs, &g);
    if (!status) status = order_groups(t, &g, &other);
    free_grouping(t->c, &g);
    if (status)
        free_candidate(t->c, &other);
    else
        take_better(t->c, way, &other, 1.0);
    return status;
}

/* Single rows by degree, where they give a very sparse L; otherwise nothing. */
static saddle_status order_columns(sd_preparing *t, candidate *way)
{
    const double n = t->graph.n, entries = (double)t->graph.ptr[t->graph.n] + n;
    if (!t->columns || t->options->pairs != SADDLE_AUTO || !is_free(t) || entries > SPARSE_ROW * n)
        return SADDLE_OK;
    saddle_status status = order_first(t, false, way);
    if (!status && way->fill.flops <= SPARSE_COLUMN * (double)way->fill.nnz) return SADDLE_OK;
    free_candidate(t->c, way);
    return status;
}

/* With the pairs kept or left, whichever promises less where the values did not tell. Large factorizations
 * are worth dissecting both ways; the others are compared by the quick order. */
static saddle_status order_both_ways(sd_preparing *t, candidate *way)
{
    saddle_status status = order_columns(t, way);
    if (status || way->perm) return status;
    status = order_first(t, t->keep_pairs || t->undecided, way);
    const bool large = way->fill.flops >= 3.0 * ordering_cost(t);
    if (!status && t->undecided && (large || !t->keep_pairs)) {
        candidate other;
        status = order_first(t, false, &other);
        t->p->orderings = 2;
        if (!status && large) status = improve(t, way);
        if (!status && large) status = improve(t, &other);
        if (status)
            free_candidate(t->c, &other);
        else
            take_better(t->c, way, &other, t->keep_pairs ? WITHOUT_NEEDED_PAIRS : WITHOUT_PAIRS);
        if (large) return status;
    }
    return status ? status : improve(t, way);
}

/* The blocks of an order that is there: cut regularly, between pairs, or one a row. */
static saddle_status cut_blocks(sd_preparing *t, candidate *way)
{
    const int32_t n = t->A->n;
    const int32_t *partner = t->p->blocking == SADDLE_BLOCKING_PAIRS && way->pairs ? t->partner : NULL;
    way->start = sd_alloc(t->c, (int64_t)n + 1, sizeof *way->start, "blocks");
    if (!way->start) return t->c->status;
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
    return SADDLE_OK;
}
