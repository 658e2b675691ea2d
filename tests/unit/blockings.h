/* What the tests of blockings share: graphs with weights and sizes, and the call itself. */
#pragma once

#include "graphs.h"

#include "core/context.h"
#include "prepare/blocking.h"

enum { FIRST = SADDLE_BLOCKING_CLUSTERS, LAST = SADDLE_BLOCKING_PABLO };

static const char *name_of(int blocking)
{
    static const char *const names[] = {"clusters",         "supervariables", "cosine", "priority",
                                        "priority-dynamic", "metis",          "pablo"};
    return names[blocking - FIRST];
}

/* ---- graphs: edges in a square, entry (v, w) is the weight or -1 for none ---- */

typedef struct square {
    int n;
    double *weight;
    int *size; /* NULL: one row each */
} square;

static inline square square_new(int n)
{
    square s = {n, test_alloc((size_t)n * (size_t)n, sizeof(double)), NULL};
    for (int k = 0; k < n * n; ++k) s.weight[k] = -1.0;
    return s;
}

static inline void square_free(square *s)
{
    free(s->weight);
    free(s->size);
}

static inline void join(square *s, int v, int w, double weight)
{
    s->weight[v * s->n + w] = s->weight[w * s->n + v] = weight;
}

static inline double weight_of(const square *s, int v, int w)
{
    return s->weight[v * s->n + w];
}

static inline int size_of(const square *s, int v)
{
    return s->size ? s->size[v] : 1;
}

/* Freed with graph_drop. */
static inline sd_graph square_graph(const square *s, bool weighted)
{
    const int n = s->n;
    sd_graph g = graph_room(n, (int64_t)n * n);
    if (weighted) g.weight = test_alloc((size_t)n * (size_t)n, sizeof *g.weight);
    if (s->size) g.size = test_alloc((size_t)n, sizeof *g.size);
    for (int v = 0; v < n; ++v) {
        if (s->size) g.size[v] = s->size[v];
        g.ptr[v + 1] = g.ptr[v];
        for (int w = 0; w < n; ++w) {
            if (weight_of(s, v, w) < 0.0) continue;
            if (weighted) g.weight[g.ptr[v + 1]] = weight_of(s, v, w);
            graph_enter(&g, v, w);
        }
    }
    return g;
}

enum { UNIFORM, DISTINCT, WITH_ZEROS, EXTREME, STYLES };

static inline double random_weight(rng *r, int style)
{
    switch (style) {
    case UNIFORM: return 1.0;
    case DISTINCT: return (double)(1 + (rng_next(r) >> 24)); /* whole: sums are exact */
    case WITH_ZEROS: return rng_below(r, 3);
    default: return pow(10.0, 300.0 * rng_unit(r)) * (rng_below(r, 4) ? 1.0 : 1e-8);
    }
}

static inline square random_square(rng *r, int n, double fill, int style, bool sizes)
{
    square s = square_new(n);
    for (int v = 0; v < n; ++v)
        for (int w = 0; w < v; ++w)
            if (fabs(rng_unit(r)) < fill) join(&s, v, w, random_weight(r, style));
    if (sizes) {
        s.size = test_alloc((size_t)n, sizeof *s.size);
        for (int v = 0; v < n; ++v) s.size[v] = 1 + rng_below(r, 2);
    }
    return s;
}

/* A random order of 0 .. n-1, on a new array. */
static inline int32_t *random_order(rng *r, int n)
{
    int32_t *order = test_alloc((size_t)n, sizeof *order);
    rng_permutation(r, n, order);
    return order;
}

/* ---- the call ---- */

/* The part of each vertex, on a new array. */
static inline int32_t *block_graph(const sd_graph *g, int blocking, int most, int32_t *parts)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    int32_t *part = test_alloc((size_t)g->n, sizeof *part);
    for (int v = 0; v < g->n; ++v) part[v] = -7;
    *parts = -7;
    const saddle_status status = sd_block_graph(&c, g, blocking, most, part, parts);
    if (status) fail_msg("%s: %s", name_of(blocking), c.message);
    assert_int_equal(c.bytes, 0);
    return part;
}

static inline int32_t *block(const square *s, int blocking, bool weighted, int most, int32_t *parts)
{
    sd_graph g = square_graph(s, weighted);
    int32_t *part = block_graph(&g, blocking, most, parts);
    graph_drop(&g);
    return part;
}

static inline void assert_same_parts(const int32_t *part, const int *node, int n)
{
    for (int v = 0; v < n; ++v)
        for (int w = 0; w < n; ++w) assert_int_equal(part[v] == part[w], node[v] == node[w]);
}
