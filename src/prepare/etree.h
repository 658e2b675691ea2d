/*
 * The elimination tree of a graph in a given order, and the entries of each column of its factor L, in
 * near-linear time (J. W. H. Liu, The role of elimination trees in sparse factorization, SIAM J. Matrix Anal.
 * Appl. 11 (1990); J. R. Gilbert, E. G. Ng and B. W. Peyton, An efficient algorithm to compute row and column
 * counts for sparse Cholesky factorization, SIAM J. Matrix Anal. Appl. 15 (1994)).
 */
#pragma once

#include "prepare/graph.h"

/* parent[k] of position k, or -1 at a root. g has one row a vertex; perm[k] is the vertex at position k. */
saddle_status sd_etree(sd_context *c, const sd_graph *g, const int32_t *perm, int32_t *parent);

/* A postorder of the tree, children in ascending order: post[k] is the position that comes k-th. */
saddle_status sd_postorder(sd_context *c, int32_t n, const int32_t *parent, int32_t *post);

/* count[k]: entries of column k of L, the diagonal with it. */
saddle_status sd_column_counts(sd_context *c, const sd_graph *g, const int32_t *perm, const int32_t *parent,
                               const int32_t *post, int32_t *count);

/* All of it, for whoever goes on with it. */
typedef struct sd_elimination {
    int32_t *parent, *post, *count;
} sd_elimination;
saddle_status sd_eliminate(sd_context *c, const sd_graph *g, const int32_t *perm, sd_elimination *t);
void sd_elimination_free(sd_context *c, sd_elimination *t);

/* Its sums: entries of L, sum of count squared, height of the tree (1 for a single node). */
typedef struct sd_fill_sums {
    int64_t nnz, height;
    double flops;
} sd_fill_sums;
saddle_status sd_sum_fill(sd_context *c, int32_t n, const sd_elimination *t, sd_fill_sums *fill);

/* The sums alone. */
saddle_status sd_predict_fill(sd_context *c, const sd_graph *g, const int32_t *perm, sd_fill_sums *fill);
