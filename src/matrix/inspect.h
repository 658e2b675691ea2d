/* What a matrix in the library's form is. */
#pragma once

#include "matrix/csr.h"

/* Fills in all of facts but the faults of the view. O(nnz). It works in `room` of sd_inspect_bytes(A) bytes,
 * on a multiple of 8, which is allocated for a while where it is NULL. */
saddle_status sd_csr_inspect(sd_context *c, const sd_csr *A, saddle_facts *facts, void *room);
int64_t sd_inspect_bytes(const sd_csr *A);

/* What looks at one pattern again and again. */
typedef struct sd_glance {
    void *room;       /* as in sd_csr_inspect */
    bool norms, kind; /* wanted; the kind is unknown where it is not, unless the diagonal tells */
    bool connected;   /* found earlier: the graph of the pattern is. The first time: false */
} sd_glance;

/* The same, but only what the solver needs of a matrix, over and over: nnz, explicit_zeros, zero_diagonal,
 * negative_diagonal, the symmetries, the kind, largest and smallest are there for certain; norm_one and
 * norm_inf, too, if they are asked for. */
saddle_status sd_csr_glance(sd_context *c, const sd_csr *A, sd_glance *at, saddle_facts *facts);

/* The norm that was not asked for, of a half matrix. */
saddle_status sd_csr_norm(sd_context *c, const sd_csr *A, double *norm);

/* SADDLE_BAD_MATRIX, naming an entry, where a matrix with all its entries is not symmetric. */
saddle_status sd_require_symmetric(sd_context *c, const sd_csr *A);
