/*
 * Priority blocking (E. Chow, H. Anzt, J. Scott and J. Dongarra, Using Jacobi iterations and blocking for
 * solving sparse triangular systems in incomplete factorization preconditioning, J. Parallel Distrib. Comput.
 * 119 (2018), Algorithms 1 and 2): every vertex is a block at first; the edges are taken by descending
 * weight, and each joins the blocks of its two ends where these are two and fit into one. With dynamic
 * weights the edges between two blocks count as one, with the sum of their weights.
 *
 * The printed algorithms lack the test that the ends are in two blocks, and give the joined block the number
 * of a vertex instead of a block's. Their priority |a_ij| / sqrt(a_ii a_jj) needs positive diagonals: here
 * it is the edge weight, |a_ij| of the scaled matrix. An edge of weight 0 joins nothing, as with them.
 */
#include "prepare/blocking_parts.h"

#include <float.h>
#include <string.h>

/* The blocks: each goes by its lowest vertex, and has few, so that all of them are told its name. */
typedef struct sets {
    int32_t *label; /* the name of each vertex's block */
    int32_t *next;  /* the next vertex of the block, round in a circle */
    int32_t *rows;  /* of each block, at its name */
} sets;

static void sets_free(sd_context *c, sets *s)
{
    sd_free_all(c, s->rows, s->next);
}

/* The labels are in part. */
static saddle_status sets_new(sd_context *c, const sd_graph *g, int32_t *part, sets *s)
{
    *s = (sets){.label = part};
    s->next = sd_alloc(c, g->n, sizeof *s->next, "blocks");
    s->rows = sd_alloc(c, g->n, sizeof *s->rows, "blocks");
    if (!s->next || !s->rows) return c->status;
    for (int32_t v = 0; v < g->n; ++v) {
        s->label[v] = s->next[v] = v;
        s->rows[v] = sd_graph_size(g, v);
    }
    return SADDLE_OK;
}

/* Joins two blocks; the lower name stays. */
static void sets_join(sets *s, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t v = high;
    do {
        s->label[v] = low;
        v = s->next[v];
    } while (v != high);
    s->rows[low] += s->rows[high];
    v = s->next[low]; /* two circles become one where two of their links are exchanged */
    s->next[low] = s->next[high];
    s->next[high] = v;
}

/* The order of magnitudes is that of their bits; this one descends. */
static uint64_t sort_key(double weight)
{
    uint64_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return ~bits;
}

enum { DIGIT = 11, DIGITS = 6, VALUES = 1 << DIGIT };

/*
 * Sorts by descending weight, equal ones as they are, by radix; from and to change places with every digit
 * in which the keys differ. Returns which of them holds the result.
 */
static sd_edge *sort_edges(sd_edge *from, sd_edge *to, int64_t count, int64_t (*place)[VALUES])
{
    memset(place, 0, (size_t)DIGITS * sizeof *place);
    for (int64_t k = 0; k < count; ++k) {
        uint64_t key = sort_key(from[k].weight);
        for (int d = 0; d < DIGITS; ++d, key >>= DIGIT) ++place[d][key % VALUES];
    }
    for (int d = 0; d < DIGITS && count > 0; ++d) {
        if (place[d][(sort_key(from[0].weight) >> d * DIGIT) % VALUES] == count) continue;
        int64_t before = 0;
        for (int v = 0; v < VALUES; ++v) {
            const int64_t these = place[d][v];
            place[d][v] = before;
            before += these;
        }
        for (int64_t k = 0; k < count; ++k)
            to[place[d][(sort_key(from[k].weight) >> d * DIGIT) % VALUES]++] = from[k];
        sd_edge *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* The edges i < j whose ends fit into one block, by descending weight, equal ones by (i, j). */
static saddle_status list_edges(sd_context *c, const sd_graph *g, int32_t most, sd_edge **edges,
                                int64_t *count)
{
    const int64_t room = g->ptr[g->n] / 2;
    *edges = NULL;
    *count = 0;
    sd_edge *edge = sd_alloc(c, room, sizeof *edge, "sorted edges");
    sd_edge *other = sd_alloc(c, room, sizeof *other, "sorted edges");
    int64_t(*place)[VALUES] = sd_alloc(c, DIGITS, sizeof *place, "places of the edges");
    const saddle_status status = edge && other && place ? SADDLE_OK : c->status;
    for (int32_t i = 0; i < g->n && !status; ++i) {
        for (int64_t k = g->ptr[i]; k < g->ptr[i + 1]; ++k) {
            const int32_t j = g->ind[k];
            const double weight = sd_edge_weight(g, k);
            if (j > i && weight > 0.0 && sd_graph_size(g, i) + sd_graph_size(g, j) <= most)
                edge[(*count)++] = (sd_edge){weight, i, j};
        }
    }
    if (!status) {
        *edges = sort_edges(edge, other, *count, place);
        if (*edges == edge) edge = NULL;
        if (*edges == other) other = NULL;
    }
    sd_free_all(c, place, other, edge);
    return status;
}

saddle_status sd_block_priority(sd_context *c, const sd_graph *g, int32_t most, int32_t *part)
{
    sets s;
    sd_edge *edge = NULL;
    int64_t count = 0;
    saddle_status status = sets_new(c, g, part, &s);
    if (!status) status = list_edges(c, g, most, &edge, &count);
    for (int64_t k = 0; !status && k < count; ++k) {
        const int32_t a = s.label[edge[k].i], b = s.label[edge[k].j];
        if (a != b && s.rows[a] + s.rows[b] <= most) sets_join(&s, a, b);
    }
    sd_free(c, edge);
    sets_free(c, &s);
    return status;
}

/*
 * With dynamic weights. The edges of the graph are sorted once; those that come about by joining blocks go
 * into a heap beside them. An edge whose weight has grown since is not looked for: its successor is
 * heavier and so was taken before it, and has joined the two blocks or found them too large for ever, since
 * blocks only grow. Likewise an edge between blocks that do not fit into one is not kept.
 *
 * The edges of a block are those of its vertices, traversed again at each joining: that needs no memory
 * for lists, and a vertex is in a block that grows at most `most` - 1 times.
 */
typedef struct dynamic {
    const sd_graph *g;
    int32_t most, smallest; /* rows of a block; rows of the smallest vertex */
    sets s;
    sd_heap heap;
    /* the neighbours of the two blocks that are being joined: names, weights, whose (1, 2, 3: both) */
    int32_t *near;
    int32_t near_count;
    double *sum;
    unsigned char *side;
} dynamic;

static void gather_neighbours(dynamic *t, int32_t block, unsigned char side, int32_t rows)
{
    const sd_graph *g = t->g;
    int32_t v = block;
    do {
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const int32_t b = t->s.label[g->ind[k]];
            if (rows + t->s.rows[b] > t->most) continue;
            if (!t->side[b]) {
                t->near[t->near_count++] = b;
                t->sum[b] = 0.0;
            }
            t->side[b] |= side;
            t->sum[b] = fmin(t->sum[b] + sd_edge_weight(g, k), DBL_MAX);
        }
        v = t->s.next[v];
    } while (v != block);
}

/* Joins blocks a and b. An edge to a neighbour of only one of them keeps its weight and its place in the
 * heap. */
static saddle_status join_blocks(sd_context *c, dynamic *t, int32_t a, int32_t b)
{
    const int32_t rows = t->s.rows[a] + t->s.rows[b], low = a < b ? a : b;
    saddle_status status = SADDLE_OK;
    t->near_count = 0;
    if (rows + t->smallest <= t->most) {
        gather_neighbours(t, a, 1, rows);
        gather_neighbours(t, b, 2, rows);
    }
    for (int32_t k = 0; k < t->near_count; ++k) {
        const int32_t other = t->near[k];
        const bool both = t->side[other] == 3 && other != a && other != b;
        t->side[other] = 0;
        if (!both || status || t->sum[other] == 0.0) continue;
        const sd_edge edge = {t->sum[other], low < other ? low : other, low < other ? other : low};
        status = sd_heap_push(c, &t->heap, edge);
    }
    sets_join(&t->s, a, b);
    return status;
}

static saddle_status dynamic_new(sd_context *c, const sd_graph *g, int32_t most, int32_t *part, dynamic *t)
{
    *t = (dynamic){.g = g, .most = most, .smallest = most};
    t->near = sd_alloc(c, g->n, sizeof *t->near, "neighbours of a block");
    t->sum = sd_alloc(c, g->n, sizeof *t->sum, "summed weights");
    t->side = sd_alloc_zero(c, g->n, sizeof *t->side, "marks");
    if (!t->near || !t->sum || !t->side) return c->status;
    for (int32_t v = 0; v < g->n; ++v)
        if (sd_graph_size(g, v) < t->smallest) t->smallest = sd_graph_size(g, v);
    return sets_new(c, g, part, &t->s);
}

saddle_status sd_block_priority_dynamic(sd_context *c, const sd_graph *g, int32_t most, int32_t *part)
{
    dynamic t;
    sd_edge *edge = NULL;
    int64_t count = 0, taken = 0;
    saddle_status status = dynamic_new(c, g, most, part, &t);
    if (!status) status = list_edges(c, g, most, &edge, &count);
    while (!status && (taken < count || t.heap.count > 0)) {
        const bool sorted = t.heap.count == 0 || (taken < count && sd_edge_before(&edge[taken], t.heap.edge));
        const sd_edge next = sorted ? edge[taken++] : sd_heap_pop(&t.heap);
        const int32_t a = t.s.label[next.i], b = t.s.label[next.j];
        if (a != b && t.s.rows[a] + t.s.rows[b] <= most) status = join_blocks(c, &t, a, b);
    }
    sd_free_all(c, edge, t.heap.edge);
    sets_free(c, &t.s);
    sd_free_all(c, t.side, t.sum, t.near);
    return status;
}
