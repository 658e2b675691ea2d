/*
 * Incomplete factorizations as preconditioners: the methods ic, L L' of a symmetric matrix, and ilu, L U of
 * any other, with triangular solves that are exact or swept (backend/triangle.h).
 *
 * The factors are those of the prepared matrix (prepare/prepared.h). Where options leave it open, its rows
 * are in reverse Cuthill-McKee order, with which incomplete factorizations do better than with others (the
 * paper, section 2.2); ic scales by the norms of columns as there, ilu brings matched entries to the diagonal
 * where some row has a small one. Rows are in blocks only where sweeps go by blocks: supervariables of
 * at most SD_INCOMPLETE_BLOCK rows that are side by side in that order, as in the paper.
 *
 * The host finds the pattern. On a device numbers on a pattern that is known are made there, from the values
 * that the operator has there; a pattern by threshold comes with numbers of the host's, the first time.
 */
#pragma once

#include "factor/incomplete_there.h"
#include "method/method.h"
#include "prepare/prepared.h"
#include "solve/triangles_solve.h"

enum { SD_INCOMPLETE_BLOCK = 12 }; /* as in the paper */

/* What is kept from one factorization to the next. The plan of the method is a saddle_preparation. */
typedef struct sd_incomplete_state {
    const saddle_preparation *preparation;
    bool symmetric; /* of method ic */
    sd_prepared prepared;
    sd_incomplete_rule rule;
    sd_incomplete numbers;     /* on the host, where it made them: otherwise the pattern */
    sd_incomplete_there there; /* on a device, where that makes them */
    sd_triangles triangles;    /* where the iteration runs */
    sd_trisolve trisolve;      /* how solves are done, */
    double trisolve_residual;  /* how exact they are, */
    bool fallback;             /* and whether sweeps had to be given up */
} sd_incomplete_state;

/* ---- factor.c ---- */

saddle_status sd_incomplete_factor(sd_engine *e, const sd_problem *p, const void *plan, bool symmetric,
                                   void **factors, bool *given_up);
saddle_status sd_incomplete_refactor(sd_engine *e, const sd_problem *p, const void *plan,
                                     const sd_strength *strength, void **factors, bool *given_up);
saddle_status sd_incomplete_refactor_arriving(sd_engine *e, const sd_problem *p, const sd_strength *strength,
                                              void *factors, bool *done);
void sd_incomplete_state_free(sd_engine *e, void *factors);

/* ---- transposed.c: ilu transposed, on the host ---- */

saddle_status sd_incomplete_precondition_transposed(sd_engine *e, const sd_problem *p, const void *factors,
                                                    const sd_operator *op, sd_preconditioner *M);

/* ---- trisolve.c: how triangular solves are done ---- */

saddle_status sd_incomplete_choose(sd_engine *e, const sd_problem *p, sd_incomplete_state *s);
