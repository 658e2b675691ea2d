/*
 * Nested dissection: a small separator is ordered last, the two sides before it, each in the same way (A.
 * George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10 (1973)); small parts
 * are ordered by approximate minimum degree.
 *
 * The sides of a separator have nothing in common: their memory, their place in the order and their random
 * numbers depend on the part alone. So they are tasks, and the order is the same whoever runs them.
 *
 * Vertices with the same neighbours (the unknowns of a node, say) can follow each other in any good order:
 * they are joined first where that makes the graph smaller (C. Ashcraft, Compressed graphs and the minimum
 * degree algorithm, SIAM J. Sci. Comput. 16 (1995)).
 */
#include "prepare/dissect.h"

#include "prepare/order.h"

#include <string.h>

enum {
    SMALL = 200, /* vertices that are ordered by degree */
    TASK = 2000  /* vertices that are worth a task of their own */
};

/* Supervariables are worth joining where they are fewer than this share of the vertices. */
static const double JOINED = 0.85;

/* A part, the vertices that it has of the whole, and its random numbers. */
typedef struct piece {
    sd_part g;
    int32_t *vertex;
    uint64_t random;
    sd_region region; /* all of it, the graph included */
} piece;

static int64_t words_of(int64_t n, int64_t edges)
{
    return SD_VERTEX_WORDS * n + SD_EDGE_WORDS * edges;
}

/* Where the arrays of a part are in its region: ptr, size, vertex, ind. What follows is free. */
static sd_region place_part(piece *p, int64_t edges)
{
    sd_region free = p->region;
    p->g.ptr = sd_words(&free, (int64_t)p->g.n + 1);
    p->g.size = sd_words(&free, p->g.n);
    p->vertex = sd_words(&free, p->g.n);
    p->g.ind = sd_words(&free, edges);
    return free;
}

static int32_t edges_of(const piece *p)
{
    return p->g.ptr[p->g.n];
}

static void order_small(const piece *p, sd_region free, int32_t *perm)
{
    const int32_t n = p->g.n;
    int32_t *order = sd_words(&free, n);
    int32_t *work = sd_words(&free, SD_AMD_WORK * (int64_t)n + sd_amd_room(n, edges_of(p)));
    sd_amd_run(n, p->g.ptr, p->g.ind, work, order);
    for (int32_t k = 0; k < n; ++k) perm[k] = p->vertex[order[k]];
}

/* The vertices and edges of a side; their names in it. */
static void count_side(const sd_part *g, const int32_t *side, int which, int32_t *name, int32_t *n,
                       int64_t *edges)
{
    *n = 0;
    *edges = 0;
    for (int32_t v = 0; v < g->n; ++v) {
        if (side[v] != which) continue;
        name[v] = (*n)++;
        for (int32_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) *edges += side[g->ind[k]] == which;
    }
}

/* The graph of a side, which has its place. */
static void extract(const piece *p, const int32_t *side, const int32_t *name, int which, piece *to)
{
    int32_t n = 0, edges = 0;
    to->g.rows = 0;
    for (int32_t v = 0; v < p->g.n; ++v) {
        if (side[v] != which) continue;
        to->g.ptr[n] = edges;
        to->g.size[n] = p->g.size[v];
        to->vertex[n++] = p->vertex[v];
        to->g.rows += p->g.size[v];
        for (int32_t k = p->g.ptr[v]; k < p->g.ptr[v + 1]; ++k)
            if (side[p->g.ind[k]] == which) to->g.ind[edges++] = name[p->g.ind[k]];
    }
    to->g.ptr[n] = edges;
}

/* Divides the region of p between its sides: their graphs are made at its end, then moved to where they stay.
 */
static void divide(const piece *p, const int32_t *side, int32_t *name, piece half[2])
{
    int64_t edges[2], length[2];
    int32_t *end = p->region.end, *begin = p->region.at;
    for (int k = 0; k < 2; ++k) {
        half[k] = (piece){.random = 2 * p->random + (uint64_t)k};
        count_side(&p->g, side, k, name, &half[k].g.n, &edges[k]);
        length[k] = 3 * (int64_t)half[k].g.n + 1 + edges[k];
        end -= length[k];
        half[k].region = (sd_region){end, end + length[k]};
        place_part(&half[k], edges[k]);
        extract(p, side, name, k, &half[k]);
    }
    for (int k = 0; k < 2; ++k) {
        memmove(begin, half[k].region.at, (size_t)length[k] * sizeof *begin);
        half[k].region = (sd_region){begin, begin + words_of(half[k].g.n, edges[k])};
        begin = half[k].region.end;
        place_part(&half[k], edges[k]);
    }
}

/* Whether a separator leaves sides that are much smaller than the part. */
static bool divides(const sd_part *g, const int32_t *side)
{
    int64_t rows[3] = {0};
    for (int32_t v = 0; v < g->n; ++v) rows[side[v]] += g->size[v];
    return rows[0] <= g->rows * 4 / 5 && rows[1] <= g->rows * 4 / 5 && rows[2] <= g->rows / 2;
}

/* Numbers that differ from part to part, never 0. */
static uint64_t seed_of(const piece *p)
{
    return (p->random * 2 + 1) * 0x9E3779B97F4A7C15u;
}

/* Orders a part into perm, which has a place for each of its vertices. */
static void dissect(piece p, int32_t *perm)
{
    for (;;) {
        sd_region free = place_part(&p, edges_of(&p));
        int32_t *side = sd_words(&free, p.g.n), *name = sd_words(&free, p.g.n);
        if (p.g.n <= SMALL || edges_of(&p) == 0 || !sd_separate(&p.g, seed_of(&p), free, side) ||
            !divides(&p.g, side)) {
            order_small(&p, free, perm);
            return;
        }
        int32_t end = p.g.n;
        for (int32_t v = p.g.n - 1; v >= 0; --v)
            if (side[v] == 2) perm[--end] = p.vertex[v];
        piece half[2];
        divide(&p, side, name, half);
        const piece other = half[1];
        int32_t *rest = perm + half[0].g.n;
#pragma omp task firstprivate(other, rest) if (other.g.n >= TASK)
        dissect(other, rest);
        p = half[0];
    }
}

/* The whole graph as a part. */
static void copy_graph(const sd_graph *g, piece *p)
{
    p->g.rows = 0;
    for (int32_t v = 0; v < g->n; ++v) {
        p->g.ptr[v] = (int32_t)g->ptr[v];
        p->g.size[v] = sd_graph_size(g, v);
        p->vertex[v] = v;
        p->g.rows += p->g.size[v];
    }
    p->g.ptr[g->n] = (int32_t)g->ptr[g->n];
    memcpy(p->g.ind, g->ind, (size_t)g->ptr[g->n] * sizeof *g->ind);
}

static saddle_status dissect_graph(sd_context *c, const sd_graph *g, int32_t *perm)
{
    const int64_t words = words_of(g->n, g->ptr[g->n]);
    const int threads = c->threads > 1 && g->n >= TASK ? c->threads : 1;
    int32_t *memory = sd_alloc(c, words, sizeof *memory, "nested dissection");
    if (!memory) return c->status;
    piece p = {.g = {.n = g->n}, .random = 1, .region = {memory, memory + words}};
    place_part(&p, g->ptr[g->n]);
    copy_graph(g, &p);
    if (c->in_team) {
#pragma omp taskgroup
        dissect(p, perm);
    } else {
#pragma omp parallel num_threads(threads) if (threads > 1)
#pragma omp single
        dissect(p, perm);
    }
    sd_free(c, memory);
    return SADDLE_OK;
}

/* Numbers the supervariables from 0 on, in place of their first vertices; returns how many there are. */
static int32_t number_parts(int32_t n, int32_t *super)
{
    int32_t parts = 0;
    for (int32_t v = 0; v < n; ++v) super[v] = super[v] == v ? parts++ : super[super[v]];
    return parts;
}

saddle_status sd_dissect_order(sd_context *c, const sd_graph *g, int32_t *perm)
{
    sd_graph joined = {0};
    if (sd_amd_room(g->n, g->ptr[g->n]) > INT32_MAX)
        return sd_fail(
            c, SADDLE_NOT_SUPPORTED,
            "the graph has %lld stored edges, too many for nested dissection with 32-bit indices: use "
            "order rcm or natural",
            (long long)g->ptr[g->n]);
    int32_t *super = sd_alloc(c, g->n, sizeof *super, "supervariables");
    int32_t *order = sd_alloc(c, g->n, sizeof *order, "order of supervariables");
    saddle_status status = super && order ? sd_supervariables(c, g, super) : c->status;
    const int32_t parts = status ? 0 : number_parts(g->n, super);
    const bool join = parts < JOINED * (double)g->n;
    if (!status && !join && g->n > 0) status = dissect_graph(c, g, perm);
    if (!status && join) status = sd_graph_quotient(c, g, super, parts, &joined);
    if (!status && join) status = dissect_graph(c, &joined, order);
    if (!status && join) status = sd_expand_order(c, g->n, super, parts, order, perm);
    sd_graph_free(c, &joined);
    sd_free_all(c, order, super);
    return status;
}
