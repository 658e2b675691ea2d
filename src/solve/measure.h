/* The errors of a solution, measured on the caller's own matrix. */
#pragma once

#include "solve/operator.h"

/*
 * Whether, with stop = any, a componentwise error says that x solves Ax = b. share_of_b is max_i |b|_i /
 * (|A||x| + |b|)_i, the error that x would have if it left all of b. A large multiple of a null vector has
 * a small error whatever b is, but no smaller than that: so x must leave a tenth of b at the most, in the
 * same weights.
 */
static inline bool sd_solves_componentwise(double componentwise, double share_of_b, double tol)
{
    return componentwise <= tol && componentwise <= 0.1 * share_of_b;
}

/*
 * Measures x as an answer to Ax = b, with op A in double: residuals accumulated in double-double,
 * everything scaled by powers of two beforehand so that nothing overflows on the way. residual (of
 * n, the caller's scale) may be NULL, and share_of_b (see above). For b = 0 and x = 0 all errors are 0.
 * Errors are NaN where x is not finite.
 */
saddle_status sd_measure(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                         double *residual, saddle_errors *errors, double *share_of_b);

/* Whether the matrix can be multiplied as it is with numbers that are near 1 too; what is found then as
 * errors. */
struct sd_residual_norms;
bool sd_operator_is_near(const sd_operator *op);
void sd_errors_of(const struct sd_residual_norms *found, double norm_inf, saddle_errors *errors);
