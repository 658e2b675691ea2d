/*
 * The multifrontal LDL' factorization of S A S, in the order and on the assembly tree of a plan.
 *
 * The fronts are assembled and factored by the kernels of a backend; here is what goes on between them:
 * storage, delays, tasks, counts. Positions, not rows of A, name the variables.
 */
#pragma once

#include "backend/backend.h"
#include "backend/front.h"
#include "factor/storage.h"
#include "plan/tree.h"

typedef struct sd_factors {
    const sd_tree *tree;
    sd_precision precision;
    const sd_front_kernels *kernels;

    /* The state of every front: its panel, D, variables (positions) and how many were eliminated. A
     * front's rows are its variables, then the rows of the tree. rest is gone. */
    sd_front *front;

    sd_pivots pivots;      /* over all fronts */
    int64_t delayed;       /* columns that were delayed at least once */
    int64_t nnz;           /* entries of L and D, as eliminated */
    double flops;          /* as eliminated */
    int64_t largest_front; /* rows */
    bool definite;         /* made with SD_PIVOT_POSITIVE */
    bool abandoned;        /* it would have taken more than most_flops: there are no factors */

    /* what is owned */
    double *values;      /* of the scaled matrix, by entry of the tree */
    int32_t *waiting;    /* for how many tasks each front still waits */
    sd_storage *storage; /* panels, contribution blocks, workspaces */
    sd_crew *crew;
} sd_factors;

typedef struct sd_factor_options {
    sd_pivoting pivoting;
    int threads;
    double most_flops; /* of all fronts as they are assembled, delays included; 0: no limit */
} sd_factor_options;

/* Number k of a front's D, in whichever precision it is kept. */
static inline double sd_get_d(const sd_factors *f, const sd_front *front, int64_t k)
{
    return f->precision == SD_DOUBLE ? ((const double *)front->d)[k] : (double)((const float *)front->d)[k];
}
static inline void sd_put_d(const sd_factors *f, const sd_front *front, int64_t k, double value)
{
    if (f->precision == SD_DOUBLE)
        ((double *)front->d)[k] = value;
    else
        ((float *)front->d)[k] = (float)value;
}

/* Bytes of all panels with their D and variables, as they are. */
int64_t sd_factors_bytes(const sd_factors *factors);

/* Allocates all that does not depend on values, with this part on top of the panels for delays. The tree must
 * outlive the factors. */
saddle_status sd_factors_make(sd_context *c, const sd_tree *tree, const sd_front_kernels *kernels,
                              sd_precision precision, double delays, sd_factors *factors);

/* values = (s_i a_ij) s_j 2^-exponent, with A of the pattern that the tree was made of. */
void sd_factors_take(sd_factors *factors, const sd_csr *A, const double *scale, int exponent);

/* Factors the values. May be called again and again; only delays allocate, and only where there are more
 * than before. With SD_PIVOT_POSITIVE SADDLE_OK and !factors->definite says that a pivot was not positive:
 * then there are no factors. */
saddle_status sd_factors_run(sd_context *c, sd_factors *factors, const sd_factor_options *options);
void sd_factors_free(sd_context *c, sd_factors *factors);
