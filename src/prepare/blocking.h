/*
 * Blockings: the vertices of a graph (rows, or matched pairs that must not be split) are put into parts
 * of at most `most` rows, 1 to 32. Those that look at values take the edge weights of the graph, |a_ij|
 * of the scaled matrix: the priority |a_ij| / sqrt(a_ii a_jj) of Jacobi triangular solves fails on zero
 * diagonals (ERRATA). A vertex has at most `most` rows.
 *
 * The parts are then ordered as the vertices of the quotient graph (graph.h, order.h): a good blocking comes
 * before the ordering. Only grid and pairs cut an order that is there.
 */
#pragma once

#include "prepare/graph.h"

/* `blocking` is one of SADDLE_BLOCKING_CLUSTERS ... _PABLO; part[v] is in [0, *parts), numbered by the lowest
 * vertex of each part. Depends on the graph alone. */
saddle_status sd_block_graph(sd_context *c, const sd_graph *g, int blocking, int32_t most, int32_t *part,
                             int32_t *parts);

/*
 * Cuts an order of n rows into blocks of at most `most` consecutive rows: start, of n + 1, gets the first row
 * of each and then n, and the number of blocks is returned. With partner (else NULL) no pair, whose two rows
 * must be neighbours in perm, is split.
 */
int32_t sd_block_cut(int32_t n, const int32_t *perm, const int32_t *partner, int32_t most, int32_t *start);
