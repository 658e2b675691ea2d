/* One iteration for a right-hand side: a Krylov method with a preconditioner, to an accuracy; and the proof,
 * by iterations too, that a system has no solution. */
#pragma once

#include "method/method.h"
#include "solve/race.h"

/* What is requested. */
typedef struct sd_goal {
    double tol;
    int stop;      /* SADDLE_STOP_... */
    int precision; /* SADDLE_PRECISION_... of the vectors */
    int64_t restart, maxiter;
    sd_race *race; /* NULL: none */
} sd_goal;

/* Who is to do it, and what became of it. */
typedef struct sd_attempt {
    const sd_method *method;
    const void *factors;
    int krylov;
    bool converged; /* as the iteration saw it */
    saddle_reason reason;
    int64_t iterations;
} sd_attempt;

/*
 * x (on the host) becomes the best solution of A x = b that was found, 0 where none is better; history goes
 * on in `info`. Status only for failures beside which there is no x: memory, device. `e` is the solve's own
 * engine.
 */
saddle_status sd_iterate(sd_engine *e, const sd_problem *p, const sd_goal *goal, const double *b, double *x,
                         sd_attempt *attempt, saddle_info *info);

/*
 * SADDLE_REASON_INCONSISTENT where there is a proof that a symmetric system has no solution,
 * SADDLE_REASON_CANCELLED where the search for it was, SADDLE_REASON_SINGULAR where an x that has converged
 * is nothing but a null vector, to rounding, so that its error says nothing of b; otherwise
 * SADDLE_REASON_NONE. It begins at x where that has converged (in its componentwise error), otherwise at its
 * residual, and costs up to as many iterations as were made before, but only where there is reason for
 * suspicion. `method` is that of the attempt before: zero pivots of its factors are looked at first. x loses
 * its part in the null space where there is a proof.
 */
saddle_reason sd_find_inconsistency(sd_engine *e, const sd_problem *p, const sd_method *method,
                                    const void *factors, const double *b, double *x, bool converged,
                                    int64_t iterations);
