/* The errors of a solution, measured on the caller's own matrix. */
#ifndef SD_MEASURE_H
#define SD_MEASURE_H

#include "solve/operator.h"

/* With stop = any a componentwise error counts only where the residual is at most this part of b. A
 * huge multiple of a null vector has a small componentwise error whatever b is: it solves nothing. */
#define SD_REDUCED 0.1

/*
 * Measures x as an answer to Ax = b, with op A in double: residuals accumulated in double-double,
 * everything scaled by powers of two beforehand so that nothing overflows on the way. residual (of
 * n, the caller's scale) may be NULL. For b = 0 and x = 0 all errors are 0. Errors are NaN where x
 * is not finite.
 */
saddle_status sd_measure(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                         double *residual, saddle_errors *errors);

#endif
