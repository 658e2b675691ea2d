/*
 * The LDL' factorization of S A S, in the order and on the assembly tree of a plan: by fronts, or, where the
 * plan says that L is too sparse for them, column by column (simplicial.h).
 *
 * The fronts are assembled and factored by the kernels of a backend; multifrontal.c has what goes on between
 * them: storage, delays, tasks, counts. factors.c decides between the two forms. Positions, not rows of A,
 * name the variables.
 */
#pragma once

#include "backend/backend.h"
#include "backend/front.h"
#include "factor/abreast.h"
#include "factor/simplicial.h"
#include "factor/storage.h"
#include "plan/tree.h"

typedef struct sd_device_fronts sd_device_fronts;

typedef struct sd_factors {
    const sd_tree *tree;
    sd_precision precision;
    const sd_front_kernels *kernels;

    /* What is in use without fronts; NULL: the fronts are. One of the two below. */
    sd_simplicial *simplicial;

    /* The state of every front: its panel, D, variables (positions) and how many were eliminated. A
     * front's rows are its variables, then the rows of the tree. rest is gone. */
    sd_front *front;

    /* Fronts that a device runs (device_fronts.h): `front` then has what was fetched; NULL: they are here. */
    sd_device_fronts *device;

    sd_pivots pivots;      /* over all fronts */
    int64_t signs[3];      /* of the fronts' D: sd_count_signs as they were made, */
    bool suspects;         /* with threshold pivoting also whether sd_has_suspects (rank.h) */
    int64_t delayed;       /* columns that were delayed at least once */
    int64_t nnz;           /* entries of L and D, as eliminated */
    double flops;          /* as eliminated */
    int64_t largest_front; /* rows */
    bool definite;         /* made with SD_PIVOT_POSITIVE */
    bool abandoned;        /* it would have taken more than most_flops: there are no factors */

    /* what is owned */
    double *values;       /* of the scaled matrix, by entry of the tree */
    int32_t *waiting;     /* for how many tasks each front still waits */
    sd_storage *storage;  /* panels, contribution blocks, workspaces; NULL: no front was needed yet */
    sd_crew *crew;        /* of the fronts */
    double delays;        /* part of the panels that is kept free for delays */
    bool again;           /* sequences are prepared for many factorizations */
    sd_simplicial *plain; /* the order of the tree, 1x1 pivots */
    sd_simplicial *found; /* as they were set */
} sd_factors;

typedef struct sd_factor_options {
    sd_pivoting pivoting;
    int threads;
    double most_flops;             /* of all fronts as they are assembled, delays included; 0: no limit */
    const sd_abreast_place *ready; /* the numbers of columns without fronts; NULL: to be computed */
    bool profile;                  /* on a device: its parts are measured */
    sd_presolve presolve;          /* on a device */
} sd_factor_options;

/* Pivots that follow one another in memory: those of a front, or all of a sequence. */
typedef struct sd_run {
    int32_t count;
    const int32_t *variable;
    void *d; /* as in a front */
} sd_run;

static inline int32_t sd_runs(const sd_factors *f)
{
    return f->simplicial ? 1 : f->tree->fronts;
}
static inline sd_run sd_run_of(const sd_factors *f, int32_t k)
{
    if (f->simplicial) return (sd_run){f->tree->n, f->simplicial->s.variable, f->simplicial->d};
    return (sd_run){f->front[k].eliminated, f->front[k].variable, f->front[k].d};
}

/* Number k of a run's D, in whichever precision it is kept. */
static inline double sd_get_d(const sd_factors *f, const sd_run *run, int64_t k)
{
    return f->precision == SD_DOUBLE ? ((const double *)run->d)[k] : (double)((const float *)run->d)[k];
}

/* D and the variables are here: to be called before runs are looked at. */
saddle_status sd_factors_fetch(sd_context *c, const sd_factors *f);

/* Pivot k of run r gets another D: number d, and e beside it (0 but for the first of a 2x2 pivot). */
void sd_put_d(sd_factors *f, int32_t r, int64_t k, double d, double e);

/* max |l|, NaN where a number is not finite. */
double sd_factors_largest(const sd_factors *factors);

/* Bytes of all columns of L with their D and variables, as they are. */
int64_t sd_factors_bytes(const sd_factors *factors);

/* Prepares for factorizations, with this part on top of the panels for delays; the first one allocates. The
 * tree must outlive the factors. */
saddle_status sd_factors_make(sd_context *c, const sd_tree *tree, const sd_front_kernels *kernels,
                              sd_precision precision, double delays, sd_factors *factors);

/* values = (s_i a_ij) s_j 2^-exponent, with A of the pattern that the tree was made of, by so many threads.
 */
void sd_factors_take(sd_factors *factors, const sd_csr *A, const double *scale, int exponent, int threads);

/* Factors the values. May be called again and again; only delays allocate, and only where there are more
 * than before. With SD_PIVOT_POSITIVE SADDLE_OK and !factors->definite says that a pivot was not positive:
 * then there are no factors. */
saddle_status sd_factors_run(sd_context *c, sd_factors *factors, const sd_factor_options *options);

/* The same without fronts, by the sequence that was set, or, where there is none or the rule has no 2x2
 * pivots, in the order of the tree. *refused where a pivot or an entry of L breaks the rule: then there are
 * no factors. In double. What is `ready`, or NULL, is taken over instead of the values. */
saddle_status sd_factors_run_columns(sd_context *c, sd_factors *factors, const sd_pivoting *pivoting,
                                     const sd_abreast_place *ready, bool *refused);
/* The pivots of other fronts of the same matrix become the sequence. */
saddle_status sd_factors_set_sequence(sd_context *c, sd_factors *factors, const sd_factors *other);
/* The sequence of other factors on the same tree, where they have one and these have none. */
saddle_status sd_factors_share_sequence(sd_context *c, sd_factors *factors, const sd_factors *other);
void sd_factors_free(sd_context *c, sd_factors *factors);

/* ---- multifrontal.c: the fronts alone ---- */

saddle_status sd_fronts_make(sd_context *c, double delays, sd_factors *factors);
saddle_status sd_fronts_run(sd_context *c, sd_factors *factors, const sd_factor_options *options);
void sd_fronts_free(sd_context *c, sd_factors *factors);
