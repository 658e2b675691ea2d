/* Graphs for tests: dense ones as an oracle, and a few shapes of any size. */
#pragma once

#include "helpers.h"
#include "prepare/graph.h"
#include "prepare/order.h"

/* edge[v * n + w]: symmetric, without loops. */
typedef struct adjacency {
    int n;
    bool *edge;
} adjacency;

static inline adjacency adjacency_new(int n)
{
    return (adjacency){n, test_alloc((size_t)n * (size_t)n, sizeof(bool))};
}

static inline void adjacency_free(adjacency *a)
{
    free(a->edge);
    *a = (adjacency){0};
}

static inline void adjacency_join(adjacency *a, int v, int w)
{
    if (v != w) a->edge[v * a->n + w] = a->edge[w * a->n + v] = true;
}

/* Every edge with the probability `fill`. */
static inline adjacency adjacency_random(rng *r, int n, double fill)
{
    adjacency a = adjacency_new(n);
    for (int v = 0; v < n; ++v)
        for (int w = v + 1; w < n; ++w)
            if (fabs(rng_unit(r)) < fill) adjacency_join(&a, v, w);
    return a;
}

/* Room for a graph, filled by graph_enter vertex by vertex and freed with graph_drop. */
static inline sd_graph graph_room(int n, int64_t edges)
{
    return (sd_graph){.n = n,
                      .ptr = test_alloc((size_t)n + 1, sizeof(int64_t)),
                      .ind = test_alloc((size_t)edges, sizeof(int32_t))};
}

static inline void graph_enter(sd_graph *g, int v, int w)
{
    if (w >= 0 && w < g->n && w != v) g->ind[g->ptr[v + 1]++] = w;
}

static inline void graph_drop(sd_graph *g)
{
    free(g->ptr);
    free(g->ind);
    free(g->size);
    free(g->weight);
    *g = (sd_graph){0};
}

static inline sd_graph graph_of(const adjacency *a)
{
    sd_graph g = graph_room(a->n, (int64_t)a->n * a->n);
    for (int v = 0; v < a->n; ++v) {
        g.ptr[v + 1] = g.ptr[v];
        for (int w = 0; w < a->n; ++w)
            if (a->edge[v * a->n + w]) graph_enter(&g, v, w);
    }
    return g;
}

static inline sd_graph graph_path(int n)
{
    sd_graph g = graph_room(n, 2 * (int64_t)n);
    for (int v = 0; v < n; ++v) {
        g.ptr[v + 1] = g.ptr[v];
        graph_enter(&g, v, v - 1);
        graph_enter(&g, v, v + 1);
    }
    return g;
}

/* All vertices are joined with one and with no other. */
static inline sd_graph graph_star(int n, int centre)
{
    sd_graph g = graph_room(n, 2 * (int64_t)n);
    for (int v = 0; v < n; ++v) {
        g.ptr[v + 1] = g.ptr[v];
        for (int w = 0; w < n && v == centre; ++w) graph_enter(&g, v, w);
        graph_enter(&g, v, centre);
    }
    return g;
}

/* rows x columns with the four neighbours, numbered row by row. */
static inline sd_graph graph_grid(int rows, int columns)
{
    const int n = rows * columns;
    sd_graph g = graph_room(n, 4 * (int64_t)n);
    for (int v = 0; v < n; ++v) {
        g.ptr[v + 1] = g.ptr[v];
        graph_enter(&g, v, v - columns);
        if (v % columns > 0) graph_enter(&g, v, v - 1);
        if (v % columns < columns - 1) graph_enter(&g, v, v + 1);
        graph_enter(&g, v, v + columns);
    }
    return g;
}

/* Rows in each vertex: 1 to 8. */
static inline void give_sizes(rng *r, sd_graph *g)
{
    g->size = test_alloc((size_t)g->n, sizeof *g->size);
    for (int v = 0; v < g->n; ++v) g->size[v] = 1 + rng_below(r, 8);
}

/* Edge weights over many decades, the product of a number at each end. */
static inline void give_weights(rng *r, sd_graph *g)
{
    g->weight = test_alloc((size_t)g->ptr[g->n], sizeof *g->weight);
    double *end = test_alloc((size_t)g->n, sizeof *end);
    for (int v = 0; v < g->n; ++v) end[v] = ldexp(1.0, rng_below(r, 1000) - 500);
    for (int v = 0; v < g->n; ++v)
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) g->weight[k] = end[v] * end[g->ind[k]];
    free(end);
}

/* The order of g, freed by the caller. */
static inline int32_t *order_of(const sd_graph *g, int order, int64_t *dense_rows)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    int32_t *perm = test_alloc((size_t)g->n, sizeof *perm);
    if (sd_order_graph(&c, g, order, perm, dense_rows)) fail_msg("%s", c.message);
    assert_int_equal(c.bytes, 0);
    return perm;
}
