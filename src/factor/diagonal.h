/* The diagonal of A as a preconditioner. */
#ifndef SD_DIAGONAL_H
#define SD_DIAGONAL_H

#include "factor/preconditioner.h"
#include "matrix/csr.h"

typedef struct sd_diagonal {
    sd_vector inverse[SD_PRECISIONS]; /* of the diagonal of A 2^-exponent; data NULL where not made */
    int64_t replaced;                 /* diagonal entries that something else stands for */
    bool positive;
} sd_diagonal;

/*
 * Takes the diagonal of A 2^-exponent. An entry that is 0 (or below 1e-30 of its row) is replaced by
 * the largest entry of its row, an empty row by 1; one so small that its inverse is beyond the range of
 * the precision by the least that is not. All these are counted.
 */
saddle_status sd_diagonal_make(sd_engine *e, const sd_csr *A, int exponent, sd_precision precision,
                               sd_diagonal *d);
void sd_diagonal_free(sd_engine *e, sd_diagonal *d);

sd_preconditioner sd_diagonal_preconditioner(const sd_diagonal *d);

#endif
