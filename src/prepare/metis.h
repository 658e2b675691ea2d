/*
 * The two things that METIS is asked for (G. Karypis and V. Kumar, A fast and high quality multilevel scheme
 * for partitioning irregular graphs, SIAM J. Sci. Comput. 20 (1998)): an order by nested dissection, and a
 * cut in two. Both depend on the graph alone: see order_metis.c for how that is kept.
 *
 * METIS allocates with malloc: its memory goes neither through the caller's allocator nor into the count of
 * bytes. Where malloc fails it gives up, which comes back as SADDLE_OUT_OF_MEMORY.
 */
#pragma once

#include "prepare/graph.h"

/* Nested dissection with the vertex weights g->size: perm[k] is the vertex at position k. */
saddle_status sd_metis_order(sd_context *c, const sd_graph *g, int32_t *perm);

/*
 * Puts the vertices into `parts` parts of about equal numbers of rows such that the edges between parts weigh
 * little: part[v] in [0, parts), 1 <= parts <= n. A part may come out empty, or larger than the mean. Made
 * for many small parts. O((n + edges) log parts).
 */
saddle_status sd_metis_partition(sd_context *c, const sd_graph *g, int32_t parts, int32_t *part);

/*
 * Cuts a graph with edges in two: side[v] is 0 or 1, and side 0 has about `share` of the rows. Lists of
 * neighbours as in sd_graph; size and weight (whole, from 1 on) may be NULL. A side may come out empty.
 */
typedef struct sd_metis_graph {
    int32_t n;
    int32_t *ptr, *ind, *size, *weight;
} sd_metis_graph;
saddle_status sd_metis_bisect(sd_context *c, const sd_metis_graph *g, double share, int32_t *side);

/* SADDLE_NOT_SUPPORTED from 2^31 stored edges on: METIS has 32-bit indices. */
saddle_status sd_metis_check(sd_context *c, const sd_graph *g);
