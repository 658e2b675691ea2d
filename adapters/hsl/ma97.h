/*
 * The MA97-compatible interface of this door: declarations of our own for the calls by which Ipopt and other
 * programs use a solver of that name. Implemented by Saddle; contains no HSL code.
 *
 * Layouts are those that programs have been compiled with (64-bit systems). docs/ipopt.md says what is
 * honoured of the control, and what the flags mean.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct ma97_control_d {
    int f_arrays;      /* nonzero: indices from 1 */
    int action;        /* nonzero: go on with a singular matrix (flag 7), otherwise stop (-7) */
    int nemin;         /* not used: Saddle merges fronts by their cost */
    double multiplier; /* not used: memory grows as it is needed */
    int ordering;      /* 0 user's, 1 AMD, 2 AMD, 3 METIS, 4 AMD with pairs, 5 and 6 auto, 7 and 8 matched */
    int print_level;   /* < 0 nothing, 0 errors, 1 what it runs on, 2 every factorization */
    int scaling;       /* 0 user's if there is one; 1 and 3 MC64; 2, 4 and all else equilibration */
    double small;      /* pivots below it are zero */
    double u;          /* pivot threshold */
    int unit_diagnostics, unit_error, unit_warning; /* 6 standard output, 0 standard error, < 0 none */
    long factor_min;                                /* not used, and so the next three */
    int solve_blas3;
    long solve_min;
    int solve_mf;
    double consist_tol; /* not used: it belongs to a call that this interface has not */
    int ispare[5];
    double rspare[10];
};

struct ma97_info_d {
    int flag;
    int flag68, flag77; /* 0 */
    int matrix_dup, matrix_rank, matrix_outrange, matrix_missing_diag;
    int maxdepth; /* 0: not told */
    int maxfront;
    int num_delay;
    long num_factor, num_flops; /* -1: not known yet */
    int num_neg;                /* -1: not known, or in doubt */
    int num_sup;
    int num_two;
    int ordering;
    int stat;         /* the saddle_status behind a negative flag */
    int maxsupernode; /* 0: not told */
    int ispare[4];
    double rspare[10];
};

/* Flags. Any other negative number is one of these too, and means that there are no factors. */
enum {
    MA97_OUT_OF_RANGE = 1,
    MA97_DUPLICATES = 2,
    MA97_OUT_OF_RANGE_AND_DUPLICATES = 3,
    MA97_MISSING_DIAGONAL = 4,
    MA97_MISSING_DIAGONAL_AND_MORE = 5,
    MA97_SINGULAR = 7, /* -7 if action is 0 */
    MA97_CALL_SEQUENCE = -1,
    MA97_BAD_N = -2,
    MA97_BAD_PATTERN = -3,
    MA97_BAD_ARGUMENT = -5,
    MA97_SINGULAR_STOP = -7,
    MA97_NOT_DEFINITE = -8,
    MA97_BAD_VALUE = -9,
    MA97_BAD_ORDER = -12,
    MA97_NO_MEMORY = -14,
    MA97_OTHER = -15 /* a bad SADDLE_OPTIONS, a device that failed: the message says */
};

void ma97_default_control_d(struct ma97_control_d *control);
void ma97_analyse_d(int check, int n, const int ptr[], const int row[], double val[], void **akeep,
                    const struct ma97_control_d *control, struct ma97_info_d *info, int order[]);
void ma97_factor_d(int matrix_type, const int ptr[], const int row[], const double val[], void **akeep,
                   void **fkeep, const struct ma97_control_d *control, struct ma97_info_d *info,
                   double scale[]);
void ma97_factor_solve_d(int matrix_type, const int ptr[], const int row[], const double val[], int nrhs,
                         double x[], int ldx, void **akeep, void **fkeep,
                         const struct ma97_control_d *control, struct ma97_info_d *info, double scale[]);
void ma97_solve_d(int job, int nrhs, double x[], int ldx, void **akeep, void **fkeep,
                  const struct ma97_control_d *control, struct ma97_info_d *info);
void ma97_finalise_d(void **akeep, void **fkeep);
void ma97_free_akeep_d(void **akeep);

#ifdef __cplusplus
}
#endif
