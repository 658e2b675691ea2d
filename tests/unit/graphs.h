/* Graphs for tests: dense ones as an oracle, and a few shapes of any size. */
#ifndef GRAPHS_H
#define GRAPHS_H

#include "helpers.h"
#include "prepare/graph.h"

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

#endif
