/*
 * The graph of a matrix: what orderings and blockings work on.
 *
 * A vertex is a row (and column) of the matrix or, after a quotient, a set of them; two vertices are
 * neighbours where A + A' has an entry between them. Every edge is stored at both its ends, every
 * list of neighbours ascends, and there are no loops.
 */
#pragma once

#include "matrix/csr.h"

typedef struct sd_graph {
    int32_t n;
    int64_t *ptr; /* n + 1 */
    int32_t *ind;
    int32_t *size;  /* rows of the matrix in each vertex; NULL: one each */
    double *weight; /* of each stored edge, >= 0; NULL: none */
} sd_graph;

/*
 * The graph of B = Q A for a whole matrix, where row i of A is row new_row[i] of B (NULL: Q = I, and
 * always so for a symmetric one). An entry that is stored as 0 is an edge too: it is in the pattern.
 * O(n + nnz).
 */
saddle_status sd_graph_from_csr(sd_context *c, const sd_csr *A, bool symmetric, const int32_t *new_row,
                                sd_graph *g);

/* Gives each edge the mean of |b_ij| and |b_ji| of the scaled matrix (r_i a_ij) c_j, row i of A being
 * row new_row[i] of B as above; at most DBL_MAX. */
saddle_status sd_graph_weigh(sd_context *c, const sd_csr *A, bool symmetric, const int32_t *new_row,
                             const double *row_scale, const double *col_scale, sd_graph *g);

/*
 * The graph of the parts: part[v] in [0, parts) for each vertex v. Sizes and edge weights are summed.
 * O(n + edges).
 */
saddle_status sd_graph_quotient(sd_context *c, const sd_graph *g, const int32_t *part, int32_t parts,
                                sd_graph *q);

/* Vertices with the same neighbours, each counted among its own: super[v] is the first of those of v. */
saddle_status sd_supervariables(sd_context *c, const sd_graph *g, int32_t *super);

void sd_graph_free(sd_context *c, sd_graph *g);

static inline int32_t sd_graph_size(const sd_graph *g, int32_t v)
{
    return g->size ? g->size[v] : 1;
}

static inline int64_t sd_degree(const sd_graph *g, int32_t v)
{
    return g->ptr[v + 1] - g->ptr[v];
}

/* position[order[k]] = k. */
static inline void sd_invert_order(int32_t n, const int32_t *order, int32_t *position)
{
    for (int32_t k = 0; k < n; ++k) position[order[k]] = k;
}

/*
 * From an order of the parts to one of the vertices: part_order[k] is the part at position k, and each
 * part's vertices follow one another in ascending order. O(n + parts).
 */
saddle_status sd_expand_order(sd_context *c, int32_t n, const int32_t *part, int32_t parts,
                              const int32_t *part_order, int32_t *order);
