/* The errors of a solution, measured on the caller's own matrix. */
#ifndef SD_MEASURE_H
#define SD_MEASURE_H

#include "solve/operator.h"

/*
 * Whether, with stop = any, a componentwise error says that x solves Ax = b. share_of_b is
 * max_i |b|_i / (|A||x| + |b|)_i.
 *
 * A large multiple of a null vector has a small componentwise error whatever b is: so x must leave
 * little of b, and where |b| is within the tolerance too, so that Ax = 0 would pass as well, the error
 * must be one of rounding only and A not singular to rounding.
 */
static inline bool sd_solves_componentwise(double componentwise, double share_of_b, double relative_residual,
                                           double tol)
{
    const bool tells = share_of_b > tol || (componentwise <= 1e-15 && share_of_b > 1e-12);
    return componentwise <= tol && relative_residual <= 0.1 && tells;
}

/*
 * Measures x as an answer to Ax = b, with op A in double: residuals accumulated in double-double,
 * everything scaled by powers of two beforehand so that nothing overflows on the way. residual (of
 * n, the caller's scale) may be NULL, and share_of_b (see above). For b = 0 and x = 0 all errors are 0.
 * Errors are NaN where x is not finite.
 */
saddle_status sd_measure(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                         double *residual, saddle_errors *errors, double *share_of_b);

#endif
