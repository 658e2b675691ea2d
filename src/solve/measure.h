/* The errors of a solution, measured on the caller's own matrix. */
#ifndef SD_MEASURE_H
#define SD_MEASURE_H

#include "solve/operator.h"

/*
 * Measures x as an answer to Ax = b, with op A in double: residuals accumulated in double-double,
 * everything scaled by powers of two beforehand so that nothing overflows on the way. residual (of
 * n, the caller's scale) may be NULL. For b = 0 and x = 0 all errors are 0. Errors are NaN where x
 * is not finite.
 */
saddle_status sd_measure(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                         double *residual, saddle_errors *errors);

#endif
