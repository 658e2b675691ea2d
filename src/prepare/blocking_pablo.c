/*
 * Threshold PABLO, the parametrised block ordering (J. O'Neil and D. B. Szyld, A block ordering method for
 * sparse matrices, SIAM J. Sci. Stat. Comput. 11 (1990); H. Choi and D. B. Szyld, Application of threshold
 * partitioning of sparse matrices to Markov chains, Proc. IPDS 1996). Here for comparison.
 *
 * A block is grown from the lowest free vertex, over the queue of its neighbours in the order in which they
 * are reached. With e strong edges between the k vertices of the block, d of the strong edges of a vertex
 * going into the block and t of them in all, the vertex joins where
 *
 *     (e + d) / (k + 1) >= ALPHA e / k    (fullness: the mean number of connections does not drop), or
 *     d >= BETA t                         (connectivity: enough of its connections stay in the block).
 *
 * One that fails is tried again when the block has reached it once more. An edge is strong where it weighs
 * at least GAMMA times the heaviest edge of one of its ends, so that every vertex has one that is.
 */
#include "prepare/blocking_parts.h"

static const double ALPHA = 1.0, BETA = 0.5, GAMMA = 0.1;

typedef struct pablo {
    const sd_graph *g;
    int32_t most;
    int64_t dense;    /* degree above which a vertex stays by itself */
    double *heaviest; /* edge of each vertex */
    int32_t *strong;  /* its number of strong edges */
    int32_t *inside;  /* how many of them go into the block that reached it last */
    int32_t *reached; /* by the block of which seed */
    int32_t *queue;   /* a ring: a vertex is in it once at most */
    bool *waiting;    /* whether it is */
    int32_t first, waiting_count;
    int32_t *part;
} pablo;

static bool is_strong(const pablo *t, int32_t v, int64_t k)
{
    const double bound = fmin(t->heaviest[v], t->heaviest[t->g->ind[k]]);
    return sd_edge_weight(t->g, k) >= GAMMA * bound;
}

static void measure_edges(pablo *t)
{
    const sd_graph *g = t->g;
    for (int32_t v = 0; v < g->n; ++v) {
        t->heaviest[v] = 0.0;
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k)
            t->heaviest[v] = fmax(t->heaviest[v], sd_edge_weight(g, k));
    }
    for (int32_t v = 0; v < g->n; ++v) {
        t->part[v] = t->reached[v] = -1;
        t->strong[v] = 0;
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) t->strong[v] += is_strong(t, v, k);
    }
}

/* Puts the free vertices that are strongly connected with v, which has joined the block, into the queue. */
static void reach_neighbours(pablo *t, int32_t v, int32_t seed)
{
    const sd_graph *g = t->g;
    if (sd_degree(g, v) > t->dense) return;
    for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
        const int32_t w = g->ind[k];
        if (t->part[w] >= 0 || sd_degree(g, w) > t->dense || !is_strong(t, v, k)) continue;
        if (t->reached[w] != seed) t->inside[w] = 0;
        t->reached[w] = seed;
        ++t->inside[w];
        if (t->waiting[w]) continue;
        t->waiting[w] = true;
        t->queue[((int64_t)t->first + t->waiting_count++) % g->n] = w;
    }
}

static int32_t next_waiting(pablo *t)
{
    const int32_t v = t->queue[t->first];
    t->first = (t->first + 1) % t->g->n;
    --t->waiting_count;
    t->waiting[v] = false;
    return v;
}

static void grow_block(pablo *t, int32_t seed)
{
    int32_t rows = sd_graph_size(t->g, seed);
    double vertices = 1.0, edges = 0.0;
    t->part[seed] = seed;
    reach_neighbours(t, seed, seed);
    while (t->waiting_count > 0) {
        const int32_t v = next_waiting(t);
        const double inside = t->inside[v];
        const bool full = (edges + inside) / (vertices + 1.0) >= ALPHA * edges / vertices;
        const bool connected = inside >= BETA * (double)t->strong[v];
        if (rows + sd_graph_size(t->g, v) > t->most || !(full || connected)) continue;
        t->part[v] = seed;
        rows += sd_graph_size(t->g, v);
        vertices += 1.0;
        edges += inside;
        if (rows < t->most) reach_neighbours(t, v, seed);
    }
}

saddle_status sd_block_pablo(sd_context *c, const sd_graph *g, int32_t most, int32_t *part)
{
    pablo t = {.g = g, .most = most, .dense = sd_dense_degree(g), .part = part};
    t.heaviest = sd_alloc(c, g->n, sizeof *t.heaviest, "edge weights");
    t.strong = sd_alloc(c, g->n, sizeof *t.strong, "strong edges");
    t.inside = sd_alloc(c, g->n, sizeof *t.inside, "connections");
    t.reached = sd_alloc(c, g->n, sizeof *t.reached, "marks");
    t.queue = sd_alloc(c, g->n, sizeof *t.queue, "queue");
    t.waiting = sd_alloc_zero(c, g->n, sizeof *t.waiting, "marks");
    const bool there = t.heaviest && t.strong && t.inside && t.reached && t.queue && t.waiting;
    if (there) {
        measure_edges(&t);
        for (int32_t v = 0; v < g->n; ++v)
            if (part[v] < 0) grow_block(&t, v);
    }
    sd_free_all(c, t.waiting, t.queue, t.reached, t.inside, t.strong, t.heaviest);
    return there ? SADDLE_OK : c->status;
}
