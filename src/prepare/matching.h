/*
 * Matchings of rows and columns of largest product, and the scalings that come with them.
 *
 * With c_ij = log cmax_j - log |a_ij| >= 0 over the nonzeros (cmax_j the largest magnitude in column j)
 * a matching of least sum of c_ij has the largest product of |a_ij|; dual values u_i + v_j <= c_ij, with
 * equality on the matching, prove it and scale the matrix:
 *
 *     |r_i a_ij c_j| <= 1 everywhere, = 1 on the matching,   r_i = exp(u_i), c_j = exp(v_j) / cmax_j.
 *
 * I. S. Duff and J. Koster, On algorithms for permuting large entries to the diagonal of a sparse
 * matrix, SIAM J. Matrix Anal. Appl. 22 (2001); for symmetric matrices the mean of both sides' duals
 * (I. S. Duff and S. Pralet, Strategies for scaling and pivoting for sparse symmetric indefinite
 * problems, SIAM J. Matrix Anal. Appl. 27 (2005)).
 */
#pragma once

#include "matrix/csr.h"

typedef struct sd_matching {
    int32_t rank;                  /* entries of the matching: the structural rank (auction: what it found) */
    int32_t *row_of;               /* of n: the row matched with each column, or -1 */
    double *row_scale, *col_scale; /* of n: r and c; equal, entry by entry, for a symmetric matrix */
} sd_matching;

/*
 * The optimum. A is whole, with finite values; explicit zeros are not in the graph of the matching.
 * `symmetric` says that A is so in pattern and value, and asks for one scaling of both sides.
 *
 * A structurally singular matrix gets a maximum matching, and of those, for a general matrix, one of
 * largest product; a symmetric one is matched again on A(I, I), I the matched rows, and an unmatched
 * row i gets s_i = 1 / max_k |a_ik| s_k over matched k, an empty row 1 (Duff and Pralet).
 */
saddle_status sd_match_product(sd_context *c, const sd_csr *A, bool symmetric, sd_matching *m);

/* The same by auction: near the optimum, with cheap and steady cost. */
saddle_status sd_match_auction(sd_context *c, const sd_csr *A, bool symmetric, sd_matching *m);

void sd_matching_free(sd_context *c, sd_matching *m);

/* The sums of log |a_ij| and of log |(r_i a_ij) c_j| over a matching, for any scaling (NULL: ones). */
void sd_matching_objective(const sd_csr *A, const int32_t *row_of, const double *row_scale,
                           const double *col_scale, double *log_product, double *log_scaled);
