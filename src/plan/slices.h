/*
 * Slices: how a product with a matrix is cut into pieces, decided from its pattern alone, so that the
 * pieces are the same for any number of threads (see sd_sparse in backend.h).
 */
#pragma once

#include "matrix/csr.h"

typedef struct sd_slices {
    int32_t count;
    int32_t *slice;       /* first rows, count + 1 of them */
    int32_t *window;      /* of a half matrix: one beyond the last row that a slice adds to */
    int64_t *offset;      /* where its window begins among all windows */
    int64_t window_total; /* entries of all windows */
} sd_slices;

saddle_status sd_slices_make(sd_context *c, const sd_csr *A, sd_slices *slices);
/* One slice instead of all: the sums of a half product are then in the order of the columns. */
void sd_slices_join(const sd_csr *A, sd_slices *slices);
void sd_slices_free(sd_context *c, sd_slices *slices);
