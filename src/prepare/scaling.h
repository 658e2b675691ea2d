/* Scalings of a whole matrix that need no matching. Each is positive and finite whatever A contains. */
#pragma once

#include "matrix/csr.h"

/*
 * Equilibration in the infinity norm: every row and column of (r_i a_ij) c_j has a largest entry of 1 to
 * within 1e-3 or after 20 sweeps (D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in
 * matrices, RAL-TR-2001-034). For a symmetric matrix r = c. Empty rows and columns keep 1.
 */
saddle_status sd_scale_ruiz(sd_context *c, const sd_csr *A, bool symmetric, double *row_scale,
                            double *col_scale);

/* s_j = |a_j|_2^(-1/2) of column j, for both sides (Jacobi triangular solves, section 3). For a general
 * matrix rows and columns each get their own. */
saddle_status sd_scale_col2(sd_context *c, const sd_csr *A, bool symmetric, double *row_scale,
                            double *col_scale);

/* SADDLE_BAD_VALUE, naming the first index (counted from 1) that is not a positive finite number; `what`
 * begins the message. */
saddle_status sd_scale_check(sd_context *c, const double *scale, int32_t n, const char *what);
