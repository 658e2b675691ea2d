/*
 * Clusters: parts that are grown one by one, each time by the vertex whose edges into the part weigh most in
 * all, from seeds in reverse Cuthill-McKee order, so that the parts lie side by side and leave few holes.
 * What is strongly coupled comes into one block before anything is ordered; the quotient graph of the parts
 * is ordered afterwards, which makes for far fewer levels than blocks cut out of an order.
 */
#include "prepare/blocking_parts.h"
#include "prepare/order.h"

#include <float.h>

typedef struct growth {
    const sd_graph *g;
    const int32_t *within;   /* NULL: everywhere */
    const int32_t *position; /* in the order of the seeds; NULL: by weight */
    int64_t dense;           /* degree above which a vertex stays by itself */
    int32_t *part;
    int32_t *reached; /* the last seed whose part has reached each vertex */
    double *sum;      /* of the weights of its edges into that part */
    sd_heap heap;
} growth;

/*
 * Offers the free neighbours of a vertex that has just come into the part of `seed`. One that is reached
 * again is offered again with its larger sum; it then comes before its earlier offer, which by the time it is
 * seen finds the vertex taken, or too large for the part, as before.
 */
static saddle_status offer_neighbours(sd_context *c, growth *t, int32_t v, int32_t seed)
{
    const sd_graph *g = t->g;
    if (sd_degree(g, v) > t->dense) return SADDLE_OK;
    for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
        const int32_t w = g->ind[k];
        if (t->part[w] >= 0 || (t->within && t->within[w] != t->within[v])) continue;
        if (sd_degree(g, w) > t->dense) continue;
        const bool first = t->reached[w] != seed;
        t->reached[w] = seed;
        if (t->position && !first) continue;
        t->sum[w] = t->position ? -(double)t->position[w]
                                : fmin((first ? 0.0 : t->sum[w]) + sd_edge_weight(g, k), DBL_MAX);
        const sd_edge offer = {t->sum[w], w, 0};
        if (sd_heap_push(c, &t->heap, offer)) return c->status;
    }
    return SADDLE_OK;
}

static saddle_status grow_from(sd_context *c, growth *t, int32_t seed, int32_t most)
{
    int32_t v = seed, rows = 0;
    t->heap.count = 0;
    for (;;) {
        t->part[v] = seed;
        rows += sd_graph_size(t->g, v);
        if (rows >= most) return SADDLE_OK;
        const saddle_status status = offer_neighbours(c, t, v, seed);
        if (status) return status;
        do {
            if (t->heap.count == 0) return SADDLE_OK;
            v = sd_heap_pop(&t->heap).i;
        } while (t->part[v] >= 0 || rows + sd_graph_size(t->g, v) > most);
    }
}

saddle_status sd_grow_parts(sd_context *c, const sd_graph *g, const int32_t *order, sd_grow grow,
                            const int32_t *within, int32_t most, int32_t *part)
{
    const int32_t n = g->n;
    saddle_status status = SADDLE_OK;
    growth t = {.g = g, .within = within, .dense = sd_dense_degree(g), .part = part};
    int32_t *position = sd_alloc(c, n, sizeof *position, "order of the vertices");
    t.reached = sd_alloc(c, n, sizeof *t.reached, "marks");
    t.sum = sd_alloc(c, n, sizeof *t.sum, "summed weights");
    if (!position || !t.reached || !t.sum) status = c->status;
    for (int32_t k = 0; k < n && !status; ++k) {
        part[k] = t.reached[k] = -1;
        position[order ? order[k] : k] = k;
    }
    if (grow == SD_GROW_IN_ORDER) t.position = position;
    for (int32_t k = 0; k < n && !status; ++k) {
        const int32_t seed = order ? order[k] : k;
        if (part[seed] < 0) status = grow_from(c, &t, seed, most);
    }
    sd_free_all(c, t.heap.edge, t.sum, t.reached, position);
    return status;
}

saddle_status sd_block_clusters(sd_context *c, const sd_graph *g, int32_t most, int32_t *part)
{
    int64_t dense;
    int32_t *order = sd_alloc(c, g->n, sizeof *order, "order of the seeds");
    if (!order) return c->status;
    saddle_status status = sd_order_graph(c, g, SADDLE_ORDER_RCM, order, &dense);
    if (!status) status = sd_grow_parts(c, g, order, SD_GROW_BY_WEIGHT, NULL, most, part);
    sd_free(c, order);
    return status;
}
