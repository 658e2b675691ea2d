/*
 * The direct solver's room: preparation, assembly tree, factors, and solves with them.
 *
 * A symmetric matrix is factored as it is; a general one, A, through the symmetric
 *
 *     ( alpha I  A ) ( r )   ( b )
 *     (    A'    0 ) ( x ) = ( 0 ),    r = 0 where A has an inverse,
 *
 * with a small alpha; the right-hand side (0, c) gives r = A'^-1 c. What is factored is 2^-exponent S A S,
 * its largest entry about 1.
 */
#pragma once

#include "factor/device_fronts.h"
#include "factor/multifrontal.h"
#include "method/method.h"
#include "solve/refinement.h"

#include <float.h>
#include <stdatomic.h>

/* z'Az beside |z|'|A||z| that four roundings of A's entries may make: they may be sums of rounded numbers. */
#define SD_ROUNDING (2 * DBL_EPSILON)
#define SD_DELAY_ROOM 0.03 /* of the factors, expected on top for delays */

/* Made once per pattern, from the values of A at that time. */
typedef struct sd_direct_plan {
    int32_t n; /* rows of A */
    bool general;
    sd_csr augmented; /* the pattern of the symmetric matrix that a general one is factored through */
    saddle_preparation p;
    sd_tree tree;
    sd_schedule schedule; /* of a device; empty where there is none */
    int64_t *matched;     /* the entry of the tree that each column was matched with; NULL: no matching */
    int32_t *tilt;        /* the balance that the scaling belongs to (tilt.c); NULL: none */
    int largest_exponent; /* of A when its scaled form has entries of about 1 */
    int64_t bytes;        /* of everything, at the peak of the factorization */
    int64_t host_bytes;   /* the same on the host, where it was planned; 0: not known */
    int64_t nonzeros;     /* of A's entries, those that were not 0 */
    bool columns;         /* factorizations are tried without fronts */
} sd_direct_plan;

/* What became of the examination of the signs: certificate.c. */
typedef struct sd_verdict {
    saddle_doubt doubt;
    int64_t positive, negative, zero;
    int64_t least, most; /* negative */
    double risk;
    bool weak;                 /* refinement does not contract */
    const sd_strength *remedy; /* the factorization that the verdict is of; NULL: that of these factors */
} sd_verdict;

/* A place of its own, next to factors that solves only read: the first that finds out fills it in. All of
 * them would find the same. */
typedef struct sd_examined {
    atomic_int state; /* certificate.c */
    sd_verdict verdict;
} sd_examined;

/* The scaling no longer suits a matrix whose largest entry is so much above the least matched one. */
#define SD_MISSCALED 1e8
/* A matched entry below the first of these no longer carries its pivot; one above the second makes others
 * small: the scaling no longer fits. */
#define SD_STALE 0.1
#define SD_GROWN 1e8

/* What factorizations have cost, in operations, delays among them: drift.c. */
typedef struct sd_drift {
    double last;         /* work of the last factorization */
    double fresh;        /* of the first with the scaling of now */
    double least;        /* on the plan */
    double lost;         /* beyond `fresh`, summed since the scaling was made */
    double lost_to_plan; /* by which `fresh` was beyond `least`, summed since the plan was made */
    double patience;     /* prices that must be lost before the next scaling */
    int64_t rescalings;  /* on this plan */
} sd_drift;

/* Columns without fronts: columns.c. */
typedef struct sd_columns_state {
    int64_t searches; /* for a sequence of pivots */
    int64_t delayed;  /* in the last of them */
    int64_t lasted;   /* factorizations by the sequence of now */
    int64_t wait;     /* factorizations by fronts before the next search */
    int64_t pause;    /* how many there were, or are to be, in all; 0: no sequence was refused yet */
    bool given;       /* the sequence, or none, is that of other factors: there is no search */
    bool once;        /* one factorization is expected: nor would a search pay */
} sd_columns_state;

/* Made once, filled with every factorization. */
typedef struct sd_direct {
    const sd_direct_plan *plan;
    sd_engine *device; /* whose fronts these are; NULL: the host's */
    /* the plan's scaling, or a new one, if values have moved away from those of the plan; of the balanced
     * matrix, where that is needed, and of the caller's */
    const double *scale, *outer;
    bool moved; /* the scaling, since a device has last heard of it */
    const int64_t *matched;
    int largest_exponent;
    saddle_preparation rescaled; /* row_scale and matching alone */
    int64_t *rematched;
    int64_t nonzeros;  /* of A's entries when that was made */
    double *augmented; /* values of the symmetric matrix, of a general one */
    int32_t *tilt;     /* of the balanced matrix, its values, and the scaling of the caller's; NULL: none */
    double *tilted, *combined;
    int64_t lost, bearable; /* entries that balancing has rounded: now, and when the balance was made */
    bool unlike;            /* the plan was made for another balance */
    int8_t *signs;          /* of static pivots, by position; NULL */

    bool factored;
    sd_factors factors[SD_PRECISIONS];
    sd_precision precision; /* of those in use */
    sd_solve_room room;
    int exponent;
    sd_pivot_rule rule;               /* of the last factorization */
    bool was_definite;                /* the last factorization met no pivot that was not positive */
    bool changed;                     /* D is the caller's */
    int64_t positive, negative, zero; /* pivots, those that are nothing but rounding counted as zero */
    int64_t suspects;                 /* small pivots that were found, to be looked at */
    double largest_l;
    int64_t stale;
    sd_drift drift;
    sd_columns_state columns;
    sd_examined *examined;
} sd_direct;

/* ---- columns.c ---- */

/* Leaves of the tree of columns are as M, scaled, has them: where one of them breaks the rule of threshold
 * pivoting, the order is refused as a sequence of pivots before anything is made for it. */
saddle_status sd_direct_check_leaves(sd_context *c, const sd_csr *M, const int32_t *position,
                                     const double *scale, double u, bool *allowed);

/* ---- plan.c ---- */

saddle_status sd_direct_plan_make(sd_context *c, const sd_problem *p, void **plan, saddle_info *info);
/* The plan goes to a GPU, or back. */
saddle_status sd_direct_plan_move(sd_context *c, const sd_problem *p, void *plan, saddle_info *info);
sd_cost sd_direct_cost(const void *plan);
/* What info says of the plan for columns, or for fronts. */
void sd_direct_planned(const sd_direct_plan *plan, bool columns, saddle_info *info);
void sd_direct_plan_free(sd_context *c, void *plan);

/* All entries of A without its power of two: see plan.c. */
saddle_status sd_direct_normalise(sd_context *c, const sd_csr *A, sd_csr *to);
/* matched, of the entries of the tree, from a matching of A. */
saddle_status sd_direct_match(sd_context *c, const sd_csr *A, const sd_tree *tree, const int32_t *matching,
                              int64_t **matched);
/* floor(log2 of the largest entry) of A, less that of the scaled matrix. */
int sd_direct_exponent(const sd_csr *A, const double *scale);
/* The kernels of fronts for a device, by precision. */
const sd_front_kernels *sd_direct_kernels(int device);
/* The values of the symmetric matrix of a general A. */
void sd_direct_augment(const sd_csr *A, double *values);

/* ---- factor.c ---- */

saddle_status sd_direct_factor(sd_engine *e, const sd_problem *p, const void *plan,
                               const sd_strength *strength, void **factors, bool *given_up);
saddle_status sd_direct_refactor(sd_engine *e, const sd_problem *p, const void *plan,
                                 const sd_strength *strength, void **factors, bool *given_up);
void sd_direct_leave(sd_engine *e, void *factors);
void sd_direct_free(sd_engine *e, void *factors);

/* The steps of a refactorization before the numbers, and after them; M is the matrix that was factored. */
void sd_direct_begin(sd_direct *d);
saddle_status sd_direct_conclude(sd_context *c, const sd_csr *M, const sd_problem *p, sd_direct *d);
/* The caller's signs, by position. */
saddle_status sd_direct_take_signs(sd_context *c, const sd_problem *p, sd_direct *d);
/* Whether another scaling may be made because the one at hand has become expensive. */
bool sd_direct_may_rescale(const sd_problem *p, const sd_direct *d);
/* Whether rows were left without a match when the scaling was made, and entries that were zero then, which
 * may be theirs, are not zero now: nothing says what such a row should be scaled by. */
bool sd_direct_is_incomplete(const sd_problem *p, const sd_direct *d);

/* ---- arriving.c ---- */

saddle_status sd_direct_refactor_arriving(sd_engine *e, const sd_problem *p, const sd_strength *strength,
                                          void *factors, bool *done);

/* The rule that the options and what is known of the matrix make; a least threshold asks for pivoting. */
sd_pivot_rule sd_direct_rule(const sd_direct_plan *plan, const sd_problem *p, bool was_definite,
                             double least);
sd_presolve sd_direct_presolve(const saddle_options *options);
sd_pivoting sd_direct_pivoting(sd_pivot_rule rule, sd_precision precision, const saddle_options *options,
                               const int8_t *signs);
/* The values of a scaled matrix, by entry of the tree: every `stride`-th number. */
typedef struct sd_scaled {
    const double *values;
    int stride;
} sd_scaled;
/* How many matched entries have become small, or very large: order and scaling were made for others. */
int64_t sd_direct_count_stale(const sd_direct_plan *plan, const int64_t *matched, const sd_scaled *s,
                              int threads);
/* Whether the scaling is of so different values that small entries could be taken for zeros. */
bool sd_direct_is_misscaled(const sd_direct_plan *plan, const int64_t *matched, const sd_scaled *s);

/* The matrix that was factored, in the caller's units or balanced. */
void sd_direct_matrix(const sd_direct *d, const sd_csr *A, sd_csr *M);

/* ---- abreast.c ---- */

extern const sd_abreast_method sd_direct_abreast;
/* What was computed abreast of a system. */
typedef struct sd_ready {
    sd_abreast_place numbers;
    int exponent;
    int64_t stale;
} sd_ready;
bool sd_direct_is_ready(const sd_problem *p, sd_pivot_rule rule, sd_ready *ready);
/* Whether systems can take the way of d without a departure; whether x may pass unmeasured. */
bool sd_direct_has_course(const sd_problem *p, const sd_direct *d);
bool sd_direct_is_unmeasured(const sd_problem *p);

/* ---- systems.c ---- */

extern const sd_systems_method sd_direct_systems;

/* ---- columns.c ---- */

/* Tries to do without fronts. *refused: that was not possible, and fronts have to do it. */
saddle_status sd_direct_run_columns(sd_context *c, const sd_csr *M, const sd_factor_options *options,
                                    sd_factors *factors, sd_direct *d, bool *refused);

/* ---- tilt.c ---- */

/* Whether M has to be balanced; the same of its largest entry and its smallest one that is not 0. */
bool sd_direct_is_far(const sd_csr *M);
bool sd_direct_are_far(double largest, double smallest);
/* The powers of two, n of them. */
saddle_status sd_direct_balance(sd_context *c, const sd_csr *M, int32_t *tilt);
/* Whether an earlier balance serves: nothing becomes large. */
bool sd_direct_is_balanced(const sd_csr *M, const int32_t *tilt);
/* The balanced values; how many of them are rounded. */
int64_t sd_direct_tilted(const sd_csr *M, const int32_t *tilt, double *to);

/* ---- scaled.c ---- */

/* y = 2^(-exponent / 2) S z, by row: what is asked of the scaled matrix and z is asked of M and y. */
void sd_direct_rows(const sd_direct *d, const double *z, double *y);
/* v = 2^-exponent S M S z, by position; M is the matrix that was factored, room has 3 n numbers. */
void sd_direct_multiply(const sd_direct *d, const sd_csr *M, const double *z, double *v, double *room);

/* z'Cz and |z|'|C||z| of the scaled matrix C = 2^-exponent S M S, z less its correction (or NULL). The
 * correction stays beside z, since rounding their difference would put back an error that the inverse may
 * magnify: (z - c)'C(z - c) = z'Cz - 2c'Cz + c'Cc. Only then it is subtracted. v has n, room 3 n numbers. */
double sd_direct_form(const sd_direct *d, const sd_csr *M, double *z, const double *correction, double *v,
                      double *room, double *g);

/* ---- small_pivots.c ---- */

/* Settles the small pivots of a factorization of M (the matrix that was factored, in the caller's units), and
 * corrects the counts of signs in d. */
saddle_status sd_settle_small_pivots(sd_context *c, const sd_csr *M, sd_direct *d);

/* ---- exact_zeros.c ---- */

/* *exact: there is a proof that A, the matrix that was factored, has as many zero eigenvalues as there are
 * zero pivots, if the rest of it is regular. */
saddle_status sd_direct_zeros_are_exact(sd_context *c, const sd_direct *d, const sd_csr *A, bool *exact);

/* ---- certificate.c ---- */

/* What is known of the signs; NULL: nothing yet, or there is nothing to know. */
const sd_verdict *sd_direct_verdict(const sd_direct *d);
/* Finds out, where that has not been done. The rider, or NULL, is one that `board` made. */
saddle_status sd_direct_examine(sd_engine *e, const sd_problem *p, const sd_direct *d, const sd_rider *rider);
void sd_direct_board(const sd_problem *p, const void *factors, sd_rider *rider);
/* The n numbers that ride; and whether what is left of them is a certificate. */
void sd_direct_witness(int32_t n, double *x);
bool sd_direct_is_certain(double left);
double sd_direct_left_most(void);

/* ---- drift.c ---- */

/* An ordinary factorization is done, with a new scaling or without. */
void sd_drift_note(sd_direct *d, bool rescaled);
/* Whether a new scaling in the old order would pay. */
bool sd_drift_asks_for_scaling(const sd_direct *d);
/* Operations after which a factorization with the scaling at hand is abandoned: another will be cheaper. */
double sd_drift_limit(const sd_direct *d);
/* That happened. */
void sd_drift_abandoned(sd_direct *d);
int64_t sd_count_nonzeros(const sd_csr *A);
bool sd_direct_replan(sd_context *c, const sd_problem *p, const void *plan, const void *factors,
                      sd_past *past);
/* Back to the scaling of the plan, and to knowing nothing of matrices before. */
void sd_direct_reset(void *factors);
/* What p->like has found out about pivots is all that there is to begin with. */
saddle_status sd_direct_begin_like(sd_context *c, const sd_problem *p, sd_factors *factors, sd_direct *d);

/* ---- solve.c ---- */

saddle_status sd_direct_solve(sd_engine *e, const void *factors, int64_t k, const double *r, int64_t ldr,
                              double *z, int64_t ldz, sd_solve_memory *memory);
saddle_status sd_direct_solve_transposed(sd_engine *e, const void *factors, int64_t k, const double *r,
                                         int64_t ldr, double *z, int64_t ldz);
/* The first of them in the memory of the device that has the factors. */
bool sd_direct_solves_there(const void *factors);
saddle_status sd_direct_solve_there(sd_engine *e, const void *factors, int64_t k, const double *r,
                                    int64_t ldr, double *z, int64_t ldz);
/* Z = A^-1 R, or A'^-1 R. */
saddle_status sd_direct_apply(sd_context *c, const sd_direct *d, bool transposed, int64_t k, const double *r,
                              int64_t ldr, double *z, int64_t ldz, int threads, sd_solve_memory *memory);
saddle_status sd_direct_null_vector(sd_context *c, const void *factors, const double *b, double *z,
                                    bool *found);
saddle_status sd_direct_precondition(sd_engine *e, const sd_problem *p, const void *factors,
                                     const sd_operator *op, sd_preconditioner *M);

/* ---- absolute.c ---- */

/* x = M^-1 x with |D| in place of D; w has n numbers. */
saddle_status sd_direct_absolute(sd_context *c, const sd_direct *d, double *x, double *w, int threads);

static inline const sd_factors *sd_direct_numbers(const sd_direct *d)
{
    return &d->factors[d->precision];
}
