/*
 * Partitions into many small parts by repeated bisection with METIS.
 *
 * METIS can do that itself, by METIS_PartGraphRecursive; but where a graph is hard to cut, with vertices of
 * very high degree, it leaves itself nothing to cut further on and complains of that on standard output. Done
 * here, a cut that came out one-sided is replaced by one in the order of the vertices. METIS_PartGraphKway is
 * made for few large parts: for parts of 8 it took four times as long and cut a quarter more.
 *
 * The vertices are in one array, the parts that are still to be cut as ranges of it; a range that is cut is
 * sorted by its sides in place, so that the vertices of a range ascend always.
 */
#include "prepare/metis.h"

#include <math.h>
#include <string.h>

/* Finer steps than this do not change a cut. */
enum { HEAVIEST = 10000 };

/* The weight of the heaviest edge, so that METIS can add up all of them in 32 bits. */
static int32_t heaviest(const sd_graph *g)
{
    const int64_t most = INT32_MAX / (g->ptr[g->n] + 1);
    return most > HEAVIEST ? HEAVIEST : most < 1 ? 1 : (int32_t)most;
}

/*
 * Whole edge weights from 1 to the heaviest, linear in a_vw / sqrt(m_v m_w), m_v being the largest weight at
 * v. Linear, since what a partition should keep small is the sum of what it cuts: in logarithms ten weak
 * edges would outweigh a strong one. Relative to both ends, so that a badly scaled matrix does not make all
 * edges but a few equal; where a scaling has made the largest entry of every row 1, it is a_vw itself.
 */
static saddle_status round_weights(sd_context *c, const sd_graph *g, int32_t *whole)
{
    const int32_t most = heaviest(g);
    double *root = sd_alloc(c, g->n, sizeof *root, "largest edge weights");
    if (!root) return c->status;
    for (int32_t v = 0; v < g->n; ++v) {
        double largest = 0.0;
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) largest = fmax(largest, g->weight[k]);
        root[v] = sqrt(largest);
    }
    for (int32_t v = 0; v < g->n; ++v) {
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const double scale = root[v] * root[g->ind[k]];
            const double share = scale > 0.0 ? fmin(g->weight[k] / scale, 1.0) : 0.0;
            whole[k] = 1 + (int32_t)((most - 1) * share);
        }
    }
    sd_free(c, root);
    return SADDLE_OK;
}

/* vertex[begin .. end) is to become `parts` parts, counted from `first`. */
typedef struct range {
    int32_t begin, end, first, parts;
} range;

typedef struct cutter {
    const sd_graph *g;
    int32_t *whole;          /* edge weights, or NULL */
    int32_t *vertex, *place; /* the vertices, range after range, and where each is */
    int32_t *side, *moved;   /* of a range that is being cut */
    sd_metis_graph sub;      /* its graph: room for the largest */
} cutter;

/* The graph of a range; returns its rows. */
static int64_t extract(cutter *t, range r)
{
    const sd_graph *g = t->g;
    sd_metis_graph *sub = &t->sub;
    int64_t rows = 0;
    int32_t edges = 0;
    sub->n = r.end - r.begin;
    for (int32_t i = 0; i < sub->n; ++i) {
        const int32_t v = t->vertex[r.begin + i];
        sub->ptr[i] = edges;
        rows += sd_graph_size(g, v);
        if (sub->size) sub->size[i] = g->size[v];
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const int32_t w = t->place[g->ind[k]];
            if (w < r.begin || w >= r.end) continue;
            if (sub->weight) sub->weight[edges] = t->whole[k];
            sub->ind[edges++] = w - r.begin;
        }
    }
    sub->ptr[sub->n] = edges;
    return rows;
}

/* The first vertices, up to `wanted` rows but no fewer than one vertex nor all, on side 0. */
static void cut_in_order(cutter *t, range r, double wanted)
{
    double rows = 0.0;
    const int32_t n = r.end - r.begin;
    for (int32_t i = 0; i < n; ++i) {
        const double size = sd_graph_size(t->g, t->vertex[r.begin + i]);
        t->side[i] = i > 0 && (i == n - 1 || rows + 0.5 * size > wanted);
        rows += size;
    }
}

/* Whether either side has less than half of the rows that it should have. */
static bool one_sided(const cutter *t, range r, double wanted, double rows)
{
    double left = 0.0;
    for (int32_t i = 0; i < r.end - r.begin; ++i)
        if (t->side[i] == 0) left += sd_graph_size(t->g, t->vertex[r.begin + i]);
    return left < 0.5 * wanted || rows - left < 0.5 * (rows - wanted);
}

/* Side 0 of a range before side 1; returns where side 1 begins. */
static int32_t sort_sides(cutter *t, range r)
{
    int32_t left = r.begin, right = 0;
    for (int32_t k = r.begin; k < r.end; ++k) {
        if (t->side[k - r.begin])
            t->moved[right++] = t->vertex[k];
        else
            t->vertex[left++] = t->vertex[k];
    }
    memcpy(t->vertex + left, t->moved, (size_t)right * sizeof *t->moved);
    for (int32_t k = r.begin; k < r.end; ++k) t->place[t->vertex[k]] = k;
    return left;
}

/* Cuts a range in two; *middle is where the second begins. */
static saddle_status cut(sd_context *c, cutter *t, range r, int32_t left_parts, int32_t *middle)
{
    const double rows = (double)extract(t, r), share = (double)left_parts / r.parts;
    const bool edges = t->sub.ptr[t->sub.n] > 0;
    if (edges) {
        const saddle_status status = sd_metis_bisect(c, &t->sub, share, t->side);
        if (status) return status;
    }
    if (!edges || one_sided(t, r, share * rows, rows)) cut_in_order(t, r, share * rows);
    *middle = sort_sides(t, r);
    return SADDLE_OK;
}

static saddle_status cut_all(sd_context *c, cutter *t, int32_t parts, int32_t *part)
{
    range stack[34]; /* the parts of a range halve from one to the next above it */
    int top = 0;
    stack[top++] = (range){0, t->g->n, 0, parts};
    while (top) {
        range r = stack[--top];
        if (r.parts == 1 || r.end - r.begin <= r.parts) {
            for (int32_t k = r.begin; k < r.end; ++k)
                part[t->vertex[k]] = r.parts == 1 ? r.first : r.first + k - r.begin;
            continue;
        }
        const int32_t left = r.parts / 2;
        int32_t middle;
        const saddle_status status = cut(c, t, r, left, &middle);
        if (status) return status;
        stack[top++] = (range){middle, r.end, r.first + left, r.parts - left};
        stack[top++] = (range){r.begin, middle, r.first, left};
    }
    return SADDLE_OK;
}

/* Room for the whole graph; false where there is none, and what was had is freed by the caller. */
static bool make_room(sd_context *c, cutter *t)
{
    const int64_t n = t->g->n, edges = t->g->ptr[n];
    t->vertex = sd_alloc(c, n, sizeof *t->vertex, "vertices of the parts");
    t->place = sd_alloc(c, n, sizeof *t->place, "vertices of the parts");
    t->side = sd_alloc(c, n, sizeof *t->side, "sides of a cut");
    t->moved = sd_alloc(c, n, sizeof *t->moved, "sides of a cut");
    t->sub.ptr = sd_alloc(c, n + 1, sizeof *t->sub.ptr, "graph of a part");
    t->sub.ind = sd_alloc(c, edges, sizeof *t->sub.ind, "graph of a part");
    if (!t->vertex || !t->place || !t->side || !t->moved || !t->sub.ptr || !t->sub.ind) return false;
    if (t->g->size && !(t->sub.size = sd_alloc(c, n, sizeof *t->sub.size, "graph of a part"))) return false;
    if (!t->g->weight) return true;
    t->whole = sd_alloc(c, edges, sizeof *t->whole, "whole edge weights");
    t->sub.weight = sd_alloc(c, edges, sizeof *t->sub.weight, "graph of a part");
    return t->whole && t->sub.weight;
}

saddle_status sd_metis_partition(sd_context *c, const sd_graph *g, int32_t parts, int32_t *part)
{
    if (parts < 1 || (parts > g->n && g->n > 0))
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "a graph of %d vertices cannot be partitioned into %d parts",
                       g->n, parts);
    saddle_status status = sd_metis_check(c, g);
    if (status) return status;
    cutter t = {.g = g};
    if (!make_room(c, &t)) status = c->status;
    if (!status && g->weight) status = round_weights(c, g, t.whole);
    if (!status) {
        for (int32_t v = 0; v < g->n; ++v) t.vertex[v] = t.place[v] = v;
        status = cut_all(c, &t, parts, part);
    }
    sd_free_all(c, t.sub.weight, t.whole, t.sub.size, t.sub.ind, t.sub.ptr, t.moved, t.side, t.place,
                t.vertex);
    return status;
}
