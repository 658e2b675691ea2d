/*
 * The matrix that a preparation makes of A: b_rs = row_scale_i a_ij col_scale_j 2^-exponent, where i and j
 * are the row and column of A at r and s. Its columns are ascending, which elimination by rows counts on; the
 * exponent brings its largest entry near to 1. `negated`: b has the other sign.
 */
#pragma once

#include "matrix/csr.h"

typedef struct sd_prepared {
    sd_csr B;
    int64_t *source; /* entry of A that each entry of B is */
    int exponent;
    bool negated;
} sd_prepared;

/* A is whole, and so is B. */
saddle_status sd_prepared_make(sd_context *c, const sd_csr *A, const saddle_preparation *p, sd_prepared *m);

/* The values of a matrix of the same pattern. */
void sd_prepared_values(const sd_csr *A, const saddle_preparation *p, sd_prepared *m);

/* The other sign, where every row that is not 0 has a negative diagonal entry: -A may be definite, A is not.
 */
void sd_prepared_turn(sd_prepared *m);
void sd_prepared_free(sd_context *c, sd_prepared *m);
