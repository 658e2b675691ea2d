/* Proof that a symmetric system has no solution: see inconsistent.c. */
#pragma once

#include "method/method.h"

/*
 * SADDLE_REASON_INCONSISTENT where there is a proof that a symmetric system has no solution,
 * SADDLE_REASON_CANCELLED where the search for it was, otherwise SADDLE_REASON_NONE. It begins at x
 * where that has converged (in its componentwise error), otherwise at its residual, and costs up to as
 * many iterations as were made before, but only where there is reason for suspicion. `method` is that of the
 * attempt before: zero pivots of its factors are looked at first. x loses its part in the null space where
 * there is a proof.
 */
saddle_reason sd_find_inconsistency(sd_engine *e, const sd_problem *p, const sd_method *method,
                                    const void *factors, const double *b, double *x, bool converged,
                                    int64_t iterations);
