/*
 * Vertices with the same neighbours, each counted among its own, found by hashing: equal neighbourhoods have
 * equal sums of hashed members, and those that have are compared. Since each is in the neighbourhood of all
 * the others, only neighbours need be.
 */
#include "prepare/graph.h"

/* splitmix64's finaliser */
static uint64_t hash_vertex(int32_t v)
{
    uint64_t z = ((uint64_t)v + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Whether two neighbours of equal degree have the same ones except for each other. */
static bool same_neighbours(const sd_graph *g, int32_t v, int32_t w)
{
    int64_t p = g->ptr[v], q = g->ptr[w];
    const int64_t p_end = g->ptr[v + 1], q_end = g->ptr[w + 1];
    for (;;) {
        if (p < p_end && g->ind[p] == w) ++p;
        if (q < q_end && g->ind[q] == v) ++q;
        if (p == p_end || q == q_end) return p == p_end && q == q_end;
        if (g->ind[p++] != g->ind[q++]) return false;
    }
}

saddle_status sd_supervariables(sd_context *c, const sd_graph *g, int32_t *super)
{
    uint64_t *hash = sd_alloc(c, g->n, sizeof *hash, "hashes of the neighbourhoods");
    if (!hash) return c->status;
    for (int32_t v = 0; v < g->n; ++v) {
        super[v] = -1;
        hash[v] = hash_vertex(v);
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) hash[v] += hash_vertex(g->ind[k]);
    }
    for (int32_t v = 0; v < g->n; ++v) {
        if (super[v] >= 0) continue;
        super[v] = v;
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const int32_t w = g->ind[k];
            if (super[w] < 0 && hash[w] == hash[v] && sd_degree(g, w) == sd_degree(g, v) &&
                same_neighbours(g, v, w))
                super[w] = v;
        }
    }
    sd_free(c, hash);
    return SADDLE_OK;
}
