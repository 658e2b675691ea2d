/*
 * Solves by something that is nearly A^-1, such as a factorization, and their refinement:
 *
 *     x = A^-1 b, then x += A^-1 (b - Ax) with residuals in double-double, for columns side by side,
 *
 * until the componentwise error no longer halves; the better x is kept (N. J. Higham, Accuracy and stability
 * of numerical algorithms, chapter 12).
 */
#pragma once

#include "solve/operator.h"
#include "solve/triangular.h"

/* Z = A^-1 R for k columns; Z may be R. */
typedef saddle_status (*sd_column_solver)(sd_engine *e, const void *self, int64_t k, const double *r,
                                          int64_t ldr, double *z, int64_t ldz, sd_solve_memory *memory);

enum {
    SD_REFINEMENT_STEPS = 15,
    SD_IDLE_MOST = 2 /* not 1: an error may rise at first, when x is large in a direction that b hardly has */
};

/* Errors that leave nothing to be gained by stronger means. */
#define SD_ACCURATE_COMPONENTWISE 1e-13
#define SD_ACCURATE_BACKWARD 1e-15

/* One column's. */
typedef struct sd_answer {
    saddle_errors errors;
    double share_of_b;  /* see measure.h */
    double first_error; /* normwise, before refinement */
    int64_t steps;      /* solves */
    bool cancelled;     /* by the caller, after one of them */
    /* the relative residual of x after each of them */
    double history[SD_REFINEMENT_STEPS + 1];
} sd_answer;

/* What the errors of its first x say: returns how many steps it has been idle, SD_IDLE_MOST where it is done.
 */
int sd_answer_begin(sd_answer *answer, const saddle_errors *errors, double share_of_b, bool corrections);
/* What those of the next say: true where it is better than the best so far, which then has its errors. */
bool sd_answer_next(sd_answer *answer, const saddle_errors *errors, double share_of_b, int *idle);

/* A right-hand side that is solved along with another, in place; `arrived` looks at what came out and puts
 * the next one there where it needs another ride. */
typedef struct sd_rider {
    double *column; /* n */
    bool waiting;
    void (*arrived)(struct sd_rider *rider);
    /* whatever `arrived` needs */
    const void *factors;
    const sd_csr *A;
    double left;
    int rides;
} sd_rider;

/* X, of k columns of n; without `corrections` the first x stays. What it works in is kept in *memory, which
 * begins as NULL, for the next call with the same factors; memory may be NULL, and so may rider, which gets a
 * ride where k is 1. */
typedef struct sd_refinement sd_refinement;
saddle_status sd_solve_refined(sd_engine *e, sd_column_solver solve, const void *self, const sd_operator *op,
                               int64_t k, const double *b, int64_t ldb, double *x, bool corrections,
                               sd_answer *answers, sd_rider *rider, sd_refinement **memory);
void sd_refinement_free(sd_context *c, sd_refinement **memory);

/* Takes the power of two out of a vector whose largest entry is far from 1, beyond what single precision
 * could hold or in danger of overflow on the way; returns its exponent. And that of a largest entry, 0 where
 * it is not far from 1. */
int sd_take_exponent(int32_t n, double *w);
int sd_far_exponent(double largest);
