/*
 * The C interface of SSIDS, the sparse symmetric indefinite solver of SPRAL, implemented by Saddle. The
 * declarations are our own, with the names, types and order that SPRAL documents; this is no SPRAL code.
 * docs/spral.md says what every function, option and field means here.
 *
 * A is symmetric of order n, its lower triangle by compressed columns, or by coordinates. With a diagonal S,
 * a permutation P, L unit lower triangular and D with 1x1 and 2x2 blocks, SSIDS computes
 *
 *     S A S = (P L) D (P L)',    or, where A is positive definite, S A S = (P L) (P L)'.
 *
 * analyse makes an akeep from the pattern, factor an fkeep from the values (several of them on one akeep, if
 * need be; one that exists takes new values), solve uses both, and free frees them. Handles begin as NULL.
 */
#ifndef SPRAL_SSIDS_H
#define SPRAL_SSIDS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set with spral_ssids_default_options before changing any. */
struct spral_ssids_options {
    int array_base;  /* 0 or 1: where indices, pointers and orders begin */
    int print_level; /* < 0: nothing, 0: errors and warnings, 1 and more: also what is done */
    int unit_diagnostics, unit_error, unit_warning; /* 6: standard output, 0: standard error, < 0: none */
    int ordering;         /* 0: the caller's, 1: one that saves work, 2: by a matching, which takes values */
    int nemin;            /* no effect */
    bool ignore_numa;     /* no effect */
    bool use_gpu;         /* whether a GPU may be used where that is predicted to pay */
    int64_t min_gpu_work; /* no effect, as the next two */
    float max_load_inbalance; /* spelled as SPRAL spells it */
    float gpu_perf_coeff;
    int scaling; /* <= 0: the caller's or none, 1: Hungarian, 2: auction, 3: of the ordering,
                    >= 4: equilibration of norms */
    int64_t small_subtree_threshold; /* no effect, as the next */
    int cpu_block_size;
    bool action;      /* whether singular matrices are factored, with a warning */
    int pivot_method; /* no effect: pivots are always chosen by threshold, over the whole front if need be */
    double small;     /* pivots below it count as zero, if it is above 1e-20 */
    double u;         /* threshold of pivots: no entry of L is above 1/u */
    char unused[80];
};

/* What happened; docs/spral.md has the table of flags. */
struct spral_ssids_inform {
    int flag;                                             /* 0: success, > 0: a warning, < 0: an error */
    int matrix_dup, matrix_missing_diag, matrix_outrange; /* found by analyse, if it checks */
    int matrix_rank;
    int maxdepth;                  /* of the assembly tree */
    int maxfront;                  /* rows of the largest front */
    int num_delay;                 /* columns that were delayed to a parent front */
    int64_t num_factor, num_flops; /* entries of L, operations: predicted by analyse, counted by factor */
    int num_neg;                   /* negative eigenvalues; -1: the count is in doubt (flag 7) */
    int num_sup;                   /* fronts of the tree */
    int num_two;                   /* 2x2 pivots */
    int stat;                      /* an error number, if memory is short */
    int cuda_error, cublas_error;  /* 0 */
    int maxsupernode;              /* columns of the widest front */
    char unused[76];
};

/* Processors that share a memory; their numbers are added up to a number of threads. */
struct spral_numa_region {
    int nproc, ngpu;
    int *gpus;
};

#if defined(__GNUC__)
#define SPRAL_SSIDS_API __attribute__((visibility("default")))
#else
#define SPRAL_SSIDS_API
#endif

SPRAL_SSIDS_API void spral_ssids_default_options(struct spral_ssids_options *options);

/* check: duplicates are added up, entries outside the lower triangle are left out, and both are counted.
 * Without it ptr and row have to be given to factor again. order: of ordering 0 the place of each variable,
 * otherwise the place that it gets; it may be NULL except for ordering 0, and val except for ordering 2. */
SPRAL_SSIDS_API void spral_ssids_analyse(bool check, int n, int *order, const int64_t *ptr, const int *row,
                                         const double *val, void **akeep,
                                         const struct spral_ssids_options *options,
                                         struct spral_ssids_inform *inform);
SPRAL_SSIDS_API void spral_ssids_analyse_ptr32(bool check, int n, int *order, const int *ptr, const int *row,
                                               const double *val, void **akeep,
                                               const struct spral_ssids_options *options,
                                               struct spral_ssids_inform *inform);
SPRAL_SSIDS_API void spral_ssids_analyse_topology(bool check, int n, int *order, const int64_t *ptr,
                                                  const int *row, const double *val, void **akeep,
                                                  const struct spral_ssids_options *options,
                                                  struct spral_ssids_inform *inform, int nregions,
                                                  const struct spral_numa_region *regions);
/* Entry k is in row[k], col[k], in either triangle. */
SPRAL_SSIDS_API void spral_ssids_analyse_coord(int n, int *order, int64_t ne, const int *row, const int *col,
                                               const double *val, void **akeep,
                                               const struct spral_ssids_options *options,
                                               struct spral_ssids_inform *inform);

/* val: in the order of the entries that were analysed. ptr and row may be NULL if analyse has checked them.
 * scale, which may be NULL: read if options->scaling <= 0, otherwise written. */
SPRAL_SSIDS_API void spral_ssids_factor(bool posdef, const int64_t *ptr, const int *row, const double *val,
                                        double *scale, void *akeep, void **fkeep,
                                        const struct spral_ssids_options *options,
                                        struct spral_ssids_inform *inform);
SPRAL_SSIDS_API void spral_ssids_factor_ptr32(bool posdef, const int *ptr, const int *row, const double *val,
                                              double *scale, void *akeep, void **fkeep,
                                              const struct spral_ssids_options *options,
                                              struct spral_ssids_inform *inform);

/* In place. job 0: A x = b; 1: P L x = S b; 2: D x = b; 3: (P L)' S^-1 x = b; 4: D (P L)' S^-1 x = b. What is
 * between the parts is in the order of the variables: entry i is that of pivot |piv_order[i]|. */
SPRAL_SSIDS_API void spral_ssids_solve1(int job, double *x1, void *akeep, void *fkeep,
                                        const struct spral_ssids_options *options,
                                        struct spral_ssids_inform *inform);
SPRAL_SSIDS_API void spral_ssids_solve(int job, int nrhs, double *x, int ldx, void *akeep, void *fkeep,
                                       const struct spral_ssids_options *options,
                                       struct spral_ssids_inform *inform);

/* They set the handles to NULL and return 0, an error number of CUDA in SPRAL. */
SPRAL_SSIDS_API int spral_ssids_free_akeep(void **akeep);
SPRAL_SSIDS_API int spral_ssids_free_fkeep(void **fkeep);
SPRAL_SSIDS_API int spral_ssids_free(void **akeep, void **fkeep);

/* The diagonal of L, n numbers in the order of the pivots. */
SPRAL_SSIDS_API void spral_ssids_enquire_posdef(const void *akeep, const void *fkeep,
                                                const struct spral_ssids_options *options,
                                                struct spral_ssids_inform *inform, double *d);
/* |piv_order[i]|: the place of variable i among the pivots, negative in a 2x2 pivot if array_base is 1. d:
 * D^-1, its diagonal in d[2k] and its entry (k+1, k) in d[2k+1]. Either may be NULL. */
SPRAL_SSIDS_API void spral_ssids_enquire_indef(const void *akeep, const void *fkeep,
                                               const struct spral_ssids_options *options,
                                               struct spral_ssids_inform *inform, int *piv_order, double *d);
/* Replaces D^-1, given in that form. */
SPRAL_SSIDS_API void spral_ssids_alter(const double *d, const void *akeep, void *fkeep,
                                       const struct spral_ssids_options *options,
                                       struct spral_ssids_inform *inform);

#ifdef __cplusplus
}
#endif

#endif
