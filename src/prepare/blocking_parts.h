/*
 * What the blockings share. Each has a file of its own and writes part[v], a number in [0, n) that the
 * vertices of one part have in common; sd_block_graph numbers the parts afterwards.
 */
#pragma once

#include "prepare/graph.h"

#include <math.h>

saddle_status sd_block_clusters(sd_context *c, const sd_graph *g, int32_t most, int32_t *part);
saddle_status sd_block_supervariables(sd_context *c, const sd_graph *g, int32_t most, bool cosine,
                                      int32_t *part);
saddle_status sd_block_priority(sd_context *c, const sd_graph *g, int32_t most, int32_t *part);
saddle_status sd_block_priority_dynamic(sd_context *c, const sd_graph *g, int32_t most, int32_t *part);
saddle_status sd_block_metis(sd_context *c, const sd_graph *g, int32_t most, int32_t *part);
saddle_status sd_block_pablo(sd_context *c, const sd_graph *g, int32_t most, int32_t *part);

/* Of rows that are side by side in an order: start has room for n + 1. */
saddle_status sd_block_adjacent(sd_context *c, const sd_graph *g, const int32_t *perm, int32_t most,
                                int32_t *start, int32_t *blocks);

/* Numbers the parts by their lowest vertex, in place; labels are in [0, n). */
saddle_status sd_number_parts(sd_context *c, int32_t n, int32_t *part, int32_t *parts);

/*
 * Grows parts of at most `most` rows one after the other, from seeds in the given order (NULL: by number). A
 * part takes, as long as one fits, the free vertex that comes first among its neighbours: the one whose
 * edges into the part weigh most, or with SD_GROW_IN_ORDER the one that is first in the order of the seeds.
 * Where `within` is not NULL, the vertices of a part have the same number in it. O((n + edges) log(edges)).
 */
typedef enum sd_grow { SD_GROW_BY_WEIGHT, SD_GROW_IN_ORDER } sd_grow;
saddle_status sd_grow_parts(sd_context *c, const sd_graph *g, const int32_t *order, sd_grow grow,
                            const int32_t *within, int32_t most, int32_t *part);

/* A heap of edges (or of vertices, as i): the heaviest comes first, and of equal ones the lowest (i, j). */
typedef struct sd_edge {
    double weight;
    int32_t i, j;
} sd_edge;

typedef struct sd_heap {
    sd_edge *edge;
    int64_t count, room;
} sd_heap;

saddle_status sd_heap_push(sd_context *c, sd_heap *heap, sd_edge edge);
sd_edge sd_heap_pop(sd_heap *heap); /* of one that is not empty */

static inline bool sd_edge_before(const sd_edge *a, const sd_edge *b)
{
    if (a->weight != b->weight) return a->weight > b->weight;
    return a->i != b->i ? a->i < b->i : a->j < b->j;
}

static inline double sd_edge_weight(const sd_graph *g, int64_t k)
{
    return g->weight ? g->weight[k] : 1.0;
}

/*
 * A vertex of a higher degree than this stays by itself: in a part with others it would make the block row of
 * all of them dense, and going through its neighbours finds nothing that is near. In a matrix that is dense
 * all over nothing stands out.
 */
static inline int64_t sd_dense_degree(const sd_graph *g)
{
    const double n = g->n;
    return n > 0.0 ? (int64_t)fmax(10.0 * sqrt(n), 4.0 * (double)g->ptr[g->n] / n) : 0;
}
