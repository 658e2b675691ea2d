/* The orderings behind sd_order_graph, except METIS (metis.h): perm[k] is the vertex at position k. */
#pragma once

#include "prepare/graph.h"

/* Approximate minimum degree. SADDLE_NOT_SUPPORTED where 1.2 times the stored edges reach 2^31. */
saddle_status sd_amd_order(sd_context *c, const sd_graph *g, int32_t *perm);

/* Reverse Cuthill-McKee, component after component by their lowest vertices. O(n + edges). */
saddle_status sd_rcm_order(sd_context *c, const sd_graph *g, int32_t *perm);

/* The vertices by ascending degree, then index. */
saddle_status sd_sort_by_degree(sd_context *c, const sd_graph *g, int32_t *sorted);
