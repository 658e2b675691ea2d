/*
 * The direct solver behind the verbs: preparation, assembly tree, factors, and solves with them.
 *
 * A symmetric matrix is factored as it is; a general one, A, through the symmetric
 *
 *     ( alpha I  A ) ( r )   ( b )
 *     (    A'    0 ) ( x ) = ( 0 ),    r = 0 where A has an inverse,
 *
 * with a small alpha; the right-hand side (0, c) gives r = A'^-1 c. What is factored is 2^-exponent S A S,
 * its largest entry about 1.
 */
#ifndef SD_DIRECT_H
#define SD_DIRECT_H

#include "factor/multifrontal.h"
#include "factor/preconditioner.h"
#include "solve/operator.h"
#include "solve/triangular.h"

typedef struct sd_direct {
    /* the plan: made once a pattern */
    bool planned, general;
    sd_csr augmented; /* of a general matrix */
    saddle_preparation p;
    sd_tree tree;
    int8_t *signs;         /* of static pivots, by position; NULL */
    int64_t *matched;      /* the entry of the tree that each column was matched with; NULL: no matching */
    int64_t planned_bytes; /* of everything, at the peak of the factorization */
    int largest_exponent;  /* of A when its scaled form has entries of about 1 */

    /* the factors: made once, filled with every factorization */
    bool factored;
    sd_factors factors[SD_PRECISIONS];
    sd_precision precision; /* of those in use */
    sd_solve_room room;
    int exponent;
    sd_pivot_rule rule;               /* of the last factorization */
    bool was_definite;                /* the last factorization met no pivot that was not positive */
    bool changed;                     /* D is the caller's */
    int64_t positive, negative, zero; /* pivots, those that are nothing but rounding counted as zero */
    double largest_l;
    int64_t stale;
} sd_direct;

/* What a factorization is asked for. */
typedef struct sd_direct_options {
    const saddle_options *o;
    const saddle_given *given; /* of the matrix's size; NULL */
    const int8_t *signs;       /* likewise */
    sd_precision precision;
    int device, threads;
    int sleep; /* of tasks, for tests: see sd_factor_options */
} sd_direct_options;

/* Scaling, order and tree, from the values of A. times: prepare and plan, added to. */
saddle_status sd_direct_plan(sd_context *c, const sd_csr *A, bool symmetric, const sd_direct_options *q,
                             sd_direct *d, double times[2]);

/* SADDLE_MEMORY_LIMIT or SADDLE_OUT_OF_MEMORY, naming the need, where the plan does not fit. */
saddle_status sd_direct_fits(sd_context *c, const sd_direct *d);

/* Factors A, which has the pattern of the plan. Whether it is known to be positive definite decides
 * between Cholesky and LDL' where that is left open. */
saddle_status sd_direct_factor(sd_context *c, const sd_csr *A, bool known_definite,
                               const sd_direct_options *q, sd_direct *d);

/* The factors go, the plan stays; both go. */
void sd_direct_forget(sd_context *c, sd_direct *d);
void sd_direct_free(sd_context *c, sd_direct *d);

/* z = A^-1 r by the factors alone, for k columns of n; z may be r. And z = A'^-1 r. */
saddle_status sd_direct_apply(sd_context *c, const sd_direct *d, int32_t n, int64_t k, const double *r,
                              int64_t ldr, double *z, int64_t ldz, int threads, sd_solve_memory *memory);
saddle_status sd_direct_apply_transposed(sd_context *c, const sd_direct *d, int32_t n, int64_t k,
                                         const double *r, int64_t ldr, double *z, int64_t ldz, int threads);

/* Takes the power of two out of a vector whose largest entry is far from 1, beyond what single precision
 * could hold or in danger of overflow on the way; returns its exponent. */
int sd_take_exponent(int32_t n, double *w);

/*
 * Solves for k columns: x = A^-1 b, then refinement with residuals in double-double until the componentwise
 * error no longer halves; the better x is kept. Without `corrections` the first x stays.
 */
enum { SD_REFINEMENT_STEPS = 15 };

typedef struct sd_direct_result {
    saddle_errors errors;
    double share_of_b;  /* see measure.h */
    double first_error; /* normwise, before refinement */
    int64_t steps;      /* solves */
    bool cancelled;     /* by the caller, after one of them */
    /* the relative residual of x after each of them */
    double history[SD_REFINEMENT_STEPS + 1];
} sd_direct_result;
typedef struct sd_direct_memory sd_direct_memory;
saddle_status sd_direct_solve(sd_engine *e, const sd_direct *d, const sd_operator *op, int64_t k,
                              const double *b, int64_t ldb, double *x, bool corrections,
                              sd_direct_result *results, sd_direct_memory **memory);
/* What a solve works in is kept in *memory, which begins as NULL, for the next one with the same factors. */
void sd_direct_memory_free(sd_context *c, sd_direct_memory **memory);

/* z = a vector in the null space that the zero pivots span, z'b not 0 where the system has no solution; of a
 * symmetric matrix. *found is false where b asks nothing of that space. */
saddle_status sd_direct_null_vector(sd_context *c, const sd_direct *d, const double *b, double *z,
                                    bool *found);

/* The factors as a preconditioner of the system with op. */
typedef struct sd_direct_inverse {
    const sd_direct *d;
    int32_t n;
    int exponent; /* of op */
} sd_direct_inverse;
sd_preconditioner sd_direct_preconditioner(const sd_direct_inverse *inverse);

#endif
