/* The errors of a solution where the terms of its rows are too far apart for one scale: see measure_rows.c */
#pragma once

#include "core/context.h"
#include "matrix/csr.h"

/* |A| |x| + |b| in the infinity norm: size 2^exponent. */
typedef struct sd_scale_of {
    double size;
    int exponent;
} sd_scale_of;

/* As sd_measure; x and b are finite. residual and share_of_b may be NULL. */
saddle_status sd_measure_by_rows(sd_context *c, const sd_csr *A, const double *b, const double *x,
                                 const sd_scale_of *at, double *residual, saddle_errors *errors,
                                 double *share_of_b);
