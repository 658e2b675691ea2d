/*
 * Which ordering is called, and what it is called with: the graph without its vertices of very high degree.
 * Such a vertex fills in nearly everything behind it wherever it is, so it comes last; and it makes
 * every ordering slow (AMD's lists, METIS' coarsening) and blind (all vertices are two steps apart).
 */
#include "prepare/order.h"

#include "prepare/metis.h"

#include <math.h>

static saddle_status order_all(sd_context *c, const sd_graph *g, int order, int32_t *perm)
{
    switch (order) {
    case SADDLE_ORDER_NATURAL:
        for (int32_t v = 0; v < g->n; ++v) perm[v] = v;
        return SADDLE_OK;
    case SADDLE_ORDER_METIS: return sd_metis_order(c, g, perm);
    case SADDLE_ORDER_ND: return sd_dissect_order(c, g, perm);
    case SADDLE_ORDER_AMD: return sd_amd_order(c, g, perm);
    case SADDLE_ORDER_RCM: return sd_rcm_order(c, g, perm);
    default: return sd_fail(c, SADDLE_BAD_ARGUMENT, "%d is not an ordering of a graph", order);
    }
}

saddle_status sd_sort_by_degree(sd_context *c, const sd_graph *g, int32_t *sorted)
{
    int32_t *next = sd_alloc_zero(c, (int64_t)g->n + 1, sizeof *next, "degrees");
    if (!next) return c->status;
    for (int32_t v = 0; v < g->n; ++v) ++next[sd_degree(g, v) + 1];
    for (int32_t d = 0; d < g->n; ++d) next[d + 1] += next[d];
    for (int32_t v = 0; v < g->n; ++v) sorted[next[sd_degree(g, v)]++] = v;
    sd_free(c, next);
    return SADDLE_OK;
}

/* The graph of the vertices of `named`, which is -1 for those that are left out; the others are counted
 * from 0. */
static saddle_status subgraph(sd_context *c, const sd_graph *g, const int32_t *named, int32_t n,
                              sd_graph *rest)
{
    int64_t edges = 0;
    *rest = (sd_graph){.n = n};
    for (int32_t v = 0; v < g->n; ++v)
        for (int64_t k = g->ptr[v]; named[v] >= 0 && k < g->ptr[v + 1]; ++k) edges += named[g->ind[k]] >= 0;
    rest->ptr = sd_alloc(c, (int64_t)n + 1, sizeof *rest->ptr, "graph without dense rows");
    rest->ind = sd_alloc(c, edges, sizeof *rest->ind, "graph without dense rows");
    if (g->size) rest->size = sd_alloc(c, n, sizeof *rest->size, "graph without dense rows");
    if (!rest->ptr || !rest->ind || (g->size && !rest->size)) {
        sd_graph_free(c, rest);
        return c->status;
    }
    edges = 0;
    for (int32_t v = 0; v < g->n; ++v) {
        if (named[v] < 0) continue;
        rest->ptr[named[v]] = edges;
        if (g->size) rest->size[named[v]] = g->size[v];
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k)
            if (named[g->ind[k]] >= 0) rest->ind[edges++] = named[g->ind[k]];
    }
    rest->ptr[n] = edges;
    return SADDLE_OK;
}

/* Orders all but the last `dense` vertices by degree, which come last. */
static saddle_status order_without(sd_context *c, const sd_graph *g, int order, int32_t dense, int32_t *perm)
{
    const int32_t n = g->n - dense;
    sd_graph rest = {0};
    saddle_status status = SADDLE_OK;
    int32_t *named = sd_alloc_zero(c, g->n, sizeof *named, "vertices that stay");
    int32_t *vertex = sd_alloc(c, g->n, sizeof *vertex, "vertices that stay");
    if (!named || !vertex) status = c->status;
    if (!status) status = sd_sort_by_degree(c, g, perm);
    if (!status) {
        for (int32_t k = n; k < g->n; ++k) named[perm[k]] = -1;
        for (int32_t v = 0, next = 0; v < g->n; ++v) {
            if (named[v] < 0) continue;
            vertex[next] = v;
            named[v] = next++;
        }
        status = subgraph(c, g, named, n, &rest);
    }
    if (!status) status = order_all(c, &rest, order, perm);
    for (int32_t k = 0; !status && k < n; ++k) perm[k] = vertex[perm[k]];
    sd_graph_free(c, &rest);
    sd_free_all(c, vertex, named);
    return status;
}

/* How many vertices are taken out, and the rows in them. Up to n = 100 no degree is above the limit. */
static int32_t count_dense(const sd_graph *g, int64_t *rows)
{
    const double most = 10.0 * sqrt((double)g->n);
    int32_t count = 0;
    *rows = 0;
    for (int32_t v = 0; v < g->n; ++v) {
        if ((double)sd_degree(g, v) <= most) continue;
        ++count;
        *rows += sd_graph_size(g, v);
    }
    if (count <= g->n / 10) return count;
    *rows = 0; /* that is what the graph is like: where all go, nothing is left to order */
    return 0;
}

saddle_status sd_order_graph(sd_context *c, const sd_graph *g, int order, int32_t *perm, int64_t *dense)
{
    const int32_t count = count_dense(g, dense);
    if (count && order != SADDLE_ORDER_NATURAL) return order_without(c, g, order, count, perm);
    *dense = 0;
    return order_all(c, g, order, perm);
}

saddle_status sd_order_check(sd_context *c, const int32_t *perm, int32_t n, const char *what)
{
    int32_t *place = sd_alloc_zero(c, n, sizeof *place, "check of a permutation");
    saddle_status status = place ? SADDLE_OK : c->status;
    for (int32_t k = 0; !status && k < n; ++k) {
        const int32_t v = perm[k];
        if (v < 0 || v >= n)
            status = sd_fail(c, SADDLE_BAD_ARGUMENT,
                             "%s: position %d of %d holds %lld, which is not in 1..%d (counted from 1)", what,
                             k + 1, n, v + 1LL, n);
        else if (place[v])
            status = sd_fail(c, SADDLE_BAD_ARGUMENT,
                             "%s: position %d holds %d, and so does position %d: each of 1..%d (counted from "
                             "1) must occur exactly once",
                             what, k + 1, v + 1, place[v], n);
        else
            place[v] = k + 1;
    }
    sd_free(c, place);
    return status;
}
