/*
 * Orderings of a graph. Each gives order[k], the vertex at position k, and depends on the graph alone:
 * not on threads, the run, or the caller's random numbers.
 */
#pragma once

#include "prepare/graph.h"

/*
 * Nested dissection with vertex weights by METIS, or our own in threads (dissect.c); approximate minimum
 * degree; reverse Cuthill-McKee with a pseudo-peripheral start in every component. Vertices whose degree is
 * above 10 sqrt(n), where they are no more than one in ten, are taken out first and come last, the lowest
 * degree first; *dense counts the rows in them. `order` is one of SADDLE_ORDER_METIS, _ND, _AMD, _RCM,
 * _NATURAL; the natural order takes nothing out.
 */
saddle_status sd_order_graph(sd_context *c, const sd_graph *g, int order, int32_t *perm, int64_t *dense);

/* SADDLE_BAD_ARGUMENT, naming the position (counted from 1), where perm is no permutation of 0 .. n-1. */
saddle_status sd_order_check(sd_context *c, const int32_t *perm, int32_t n, const char *what);

/* Those behind it, except METIS (metis.h). */

/* Approximate minimum degree. SADDLE_NOT_SUPPORTED where 1.2 times the stored edges reach 2^31. */
saddle_status sd_amd_order(sd_context *c, const sd_graph *g, int32_t *perm);

/* The same without a context: n >= 1, work has SD_AMD_WORK n + sd_amd_room() words, at most 2^31 - 1 of them
 * the room: AMD's lists grow as it goes on, and with this much it rarely has to collect garbage. */
enum { SD_AMD_WORK = 8 };
int64_t sd_amd_room(int32_t n, int64_t edges);
void sd_amd_run(int32_t n, const int32_t *ptr, const int32_t *ind, int32_t *work, int32_t *perm);

/* Nested dissection on c->threads threads. SADDLE_NOT_SUPPORTED where 1.2 times the stored edges reach 2^31.
 */
saddle_status sd_dissect_order(sd_context *c, const sd_graph *g, int32_t *perm);

/* Reverse Cuthill-McKee, component after component by their lowest vertices. O(n + edges). */
saddle_status sd_rcm_order(sd_context *c, const sd_graph *g, int32_t *perm);

/* The vertices by ascending degree, then index. */
saddle_status sd_sort_by_degree(sd_context *c, const sd_graph *g, int32_t *sorted);
