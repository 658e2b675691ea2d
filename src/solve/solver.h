/* The solver behind the four verbs. */
#ifndef SD_SOLVER_H
#define SD_SOLVER_H

#include "factor/diagonal.h"
#include "solve/operator.h"

struct saddle_solver {
    sd_context c;
    saddle_options options;
    int device, threads;

    /* after analyse */
    bool analysed;
    uint64_t fingerprint;
    saddle_shape shape;
    sd_csr A;    /* the caller's matrix; val is NULL before factor */
    sd_map *map; /* from the caller's entries */

    /* after factor */
    bool factored;
    saddle_facts facts;
    sd_engine e;                   /* open for the solver's life; what follows lies in its memory */
    sd_operator op[SD_PRECISIONS]; /* double always, single where asked for */
    sd_diagonal diagonal;

    saddle_info info;
};

/* Fills in a caller's info, of whatever length its size says; its history array stays where it is. */
void sd_info_give(const saddle_info *ours, saddle_info *to);
bool sd_info_has_history(const saddle_info *info);

/* One attempt at a right-hand side: a preconditioner and an iteration. */
typedef struct sd_attempt {
    int method, krylov;
    int64_t maxiter;
    bool converged; /* as the iteration saw it */
    saddle_reason reason;
    int64_t iterations;
} sd_attempt;

/*
 * Runs an attempt: x (on the host) becomes the best solution of A x = b that was found, 0 where none
 * is better; history goes on in `info`. Status only for failures beside which there is no x: memory,
 * device. `e` is the solve's own engine.
 */
saddle_status sd_run_attempt(const saddle_solver *solver, sd_engine *e, const double *b, double *x,
                             sd_attempt *attempt, saddle_info *info);

/*
 * SADDLE_REASON_INCONSISTENT where there is a proof that a symmetric system has no solution,
 * SADDLE_REASON_CANCELLED where the search for it was, otherwise SADDLE_REASON_NONE. It begins at x
 * where that has converged (in its componentwise error), otherwise at its residual, and costs up to as
 * many iterations as were made before, but only where there is reason for suspicion. x loses its part
 * in the null space where there is a proof.
 */
saddle_reason sd_find_inconsistency(const saddle_solver *s, sd_engine *e, const double *b, double *x,
                                    bool converged, int method, int64_t iterations);

/* What `auto` means for this matrix and method. */
int sd_choose_krylov(const saddle_solver *solver, int method);

#endif
