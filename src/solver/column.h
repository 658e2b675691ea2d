/*
 * One right-hand side: up the ladder, each attempt verified on the caller's own matrix.
 *
 * A named method is one attempt. `auto` moves on to the next rung while none has reached the requested
 * accuracy, keeps the best x of all, and says what it tried. Nothing is written into the solver.
 */
#pragma once

#include "solve/race.h"
#include "solve/refinement.h"
#include "solver/solver.h"

/* Factors that a call made for itself: of a higher rung, or recomputed. Kept for all its columns. */
typedef struct sd_own {
    const sd_method *method;
    void *plan; /* where the solver's does not serve; NULL: it does */
    void *factors;
    int rung;
} sd_own;

/* Where the time of a call went that is not a solve's. */
enum { SD_TIME_PREPARE, SD_TIME_PLAN, SD_TIME_FACTOR, SD_TIMES };

/* A call of saddle_solve. */
typedef struct sd_call {
    const saddle_solver *solver;
    sd_problem problem;
    sd_engine *e;        /* its own */
    sd_rider rider;      /* the witness of a rung's factors; its column may be NULL */
    const void *boarded; /* those factors; NULL: none */
    int64_t columns;
    sd_ladder ladder; /* the solver's; where that begins with a race, what is decided after it is added */
    void *direct;     /* the direct solver's plan, made after a race; NULL */
    bool guessed;
    double guess; /* what the direct solver may cost; NaN: it cannot be known */
    double times[SD_TIMES];
    sd_own own[SD_RUNGS_MOST + 1];
    const sd_method *method; /* of the last attempt, and its factors */
    const void *factors;
} sd_call;

void sd_call_end(sd_call *call);

/* The race that the first rung of the ladder runs, of at most so many iterations. */
void sd_call_race(sd_call *call, int64_t maxiter, sd_race *race);

/* What follows on a race that was not won, at the end of call->ladder; info gets what is predicted. Where a
 * method was tried and needs too much memory, what needs less. */
saddle_status sd_call_decide(sd_call *call, const sd_method *too_large, saddle_info *info);

/* The witness of the inertia rides along with a single right-hand side, by the first factors that have one.
 */
saddle_status sd_call_board(sd_call *call, const sd_method *method, const void *factors);

/* The inertia that info tells of is certified, or in doubt: by the factors of the last attempt. */
saddle_status sd_call_certify(sd_call *call, saddle_info *info);

/* Whether an answer is all that can be requested, so that nothing else will be looked at. */
bool sd_is_final(const saddle_options *options, const sd_answer *answer);

/* The iteration of a rung, once its factors are there. */
int sd_krylov_of(const sd_call *call, const sd_method *method, const void *factors);

/* info of a column whose answer is final; x is where it belongs. */
saddle_status sd_finish_final(sd_call *call, const sd_answer *answer, saddle_info *info);

/* The worst of the columns so far, and what is summed over all of them. */
typedef struct sd_outcome {
    saddle_info *info;
    saddle_status status;
} sd_outcome;
/* Column k ended so. */
void sd_take_column(sd_outcome *o, int64_t k, saddle_status found, const saddle_info *column,
                    const sd_context *c);

/* The witness of the inertia rides along, or has done so. */
saddle_status sd_make_rider(sd_call *call, const sd_done *done);

/* ---- there.c ---- */

/* Solves in the memory of the device where the factors are, B and X being there or on the host. *done is
 * false where more has to be looked at than a device can see: then X may be anything. With `measured` false
 * nobody asked for errors. */
saddle_status sd_solve_there(sd_call *call, bool measured, int64_t nrhs, const double *b, int64_t ldb,
                             double *x, int64_t ldx, saddle_info *info, bool *done);

/* One right-hand side b, whose x may be the same array; work has 2 n numbers. `ready`, which may be NULL, is
 * what the first rung has found already, with its measured errors. On a failure of memory or device x is what
 * an earlier attempt found, or 0. */
saddle_status sd_solve_column(sd_call *call, const double *b, double *x, const double *ready,
                              const sd_answer *answer, double *work, saddle_info *info);
