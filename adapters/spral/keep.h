/*
 * What the door keeps between calls: an akeep is the pattern of a matrix with an order of elimination, an
 * fkeep the factors of its values.
 *
 * The host sees handles, which are numbers of a guarded set (adapters/common/handles.h): one that is not ours
 * is never followed. Several fkeeps may be made on one akeep, from several threads. Each has a solver of its
 * own; the first takes the one that was analysed, further ones plan the tree anew in the same order, without
 * ordering again. An akeep lives until the host has freed it and the last of its fkeeps.
 */
#pragma once

#include "adapters/spral/include/spral_ssids.h"

#include "saddle/saddle.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct spral_ssids_options ssids_options;
typedef struct spral_ssids_inform ssids_inform;

/* The flags of inform, as SPRAL documents them, with what each says. */
#define SSIDS_FLAG_TABLE(ROW)                                                                                \
    ROW(SSIDS_CALL_SEQUENCE, -1, "the calls are out of order, or an earlier one has failed")                 \
    ROW(SSIDS_N, -2, "n < 0, or ne < 1")                                                                     \
    ROW(SSIDS_PTR, -3,                                                                                       \
        "ptr is missing, does not begin at array_base, or decreases; or row is wrong, if it "                \
        "is not checked")                                                                                    \
    ROW(SSIDS_ALL_OUTSIDE, -4, "all entries of a column, or of all coordinates, are out of range")           \
    ROW(SSIDS_SINGULAR, -5, "the matrix is singular, and action is false")                                   \
    ROW(SSIDS_NOT_DEFINITE, -6, "the matrix is not positive definite")                                       \
    ROW(SSIDS_PTR_ROW, -7, "ptr and row are required, since analyse has not checked them")                   \
    ROW(SSIDS_ORDER, -8, "ordering is out of range, or 0 and order is no permutation")                       \
    ROW(SSIDS_VAL, -9, "val is required")                                                                    \
    ROW(SSIDS_X_SIZE, -10, "ldx < n, or nrhs < 1")                                                           \
    ROW(SSIDS_JOB, -11, "there is no such job, or none such for positive definite matrices")                 \
    ROW(SSIDS_NOT_LLT, -13, "the factorization is not one of a positive definite matrix")                    \
    ROW(SSIDS_NOT_LDLT, -14, "the factorization is one of a positive definite matrix")                       \
    ROW(SSIDS_NO_SCALING, -15, "scaling is 3, but the ordering was not made by a matching")                  \
    ROW(SSIDS_ALLOCATION, -50, "out of memory")                                                              \
    ROW(SSIDS_CUDA, -51, "the GPU failed")                                                                   \
    ROW(SSIDS_UNKNOWN, -99, "another error")                                                                 \
    ROW(SSIDS_SUCCESS, 0, "success")                                                                         \
    ROW(SSIDS_OUTSIDE, 1, "entries out of range were left out")                                              \
    ROW(SSIDS_DUPLICATE, 2, "duplicate entries were added up")                                               \
    ROW(SSIDS_DUPLICATE_OUTSIDE, 3, "entries out of range were left out, duplicates added up")               \
    ROW(SSIDS_MISSING, 4, "diagonal entries are missing")                                                    \
    ROW(SSIDS_MISSING_AND, 5, "diagonal entries are missing; others are out of range or duplicate")          \
    ROW(SSIDS_STRUCTURE, 6, "the pattern is singular")                                                       \
    ROW(SSIDS_RANK, 7, "the matrix is singular, or the signs of its eigenvalues are in doubt")               \
    ROW(SSIDS_UNUSED_SCALING, 8, "the scaling that was found with the ordering is not used")

#define SSIDS_ENUM_ROW(name, number, text) name = (number),
enum { SSIDS_FLAG_TABLE(SSIDS_ENUM_ROW) };
#undef SSIDS_ENUM_ROW

/* The lower triangle by columns, from 0, as the solver gets it; not sorted, duplicates are left to it. */
typedef struct ssids_pattern {
    int32_t n;
    int64_t entries; /* of the caller's */
    int64_t kept;
    int64_t *ptr;
    int32_t *row;
    int64_t *from; /* the caller's entry that each one is; NULL: the same */
    int64_t outside, duplicate, missing;
    int32_t empty; /* rows without entries */
} ssids_pattern;

/* A solver, with what it was last told. */
typedef struct ssids_solver {
    saddle_solver *solver; /* NULL: none */
    saddle_options options;
} ssids_solver;

typedef struct ssids_akeep {
    atomic_int owners; /* the host, and every fkeep */
    ssids_pattern pattern;
    int32_t *permutation; /* the variable at each place of the order */
    double *scale;        /* of a matching; NULL: there was none */
    bool checked, print;
    int warning;     /* what was left out, added up or missing: a flag, or 0 */
    int64_t threads; /* 0: as many as there are */
    ssids_inform inform;
    pthread_mutex_t lock; /* of the next */
    ssids_solver spare;   /* analysed, and no fkeep's yet, or no longer */
} ssids_akeep;

typedef struct ssids_fkeep {
    ssids_akeep *akeep;
    ssids_solver own;
    bool factored, posdef, print;
    int64_t bytes;   /* of the factors */
    double *values;  /* of the pattern, where they are not the caller's as they are */
    double *scale;   /* S, as far as the solver knows nothing of it; NULL: none */
    int shift;       /* the solver's part of S is to be multiplied with 2^-shift, and so S A S has entries of
                        at most about 1, as SSIDS' scalings have it; 0 where nothing was computed */
    double *inverse; /* of D, where it is not what the solver has: 2n numbers; NULL */
    ssids_inform inform;
} ssids_fkeep;

/* ---- handles (keep.c) ---- */

ssids_akeep *ssids_find_akeep(const void *handle);
ssids_fkeep *ssids_find_fkeep(const void *handle);
/* NULL: out of memory, and the object is freed. */
void *ssids_give_akeep(ssids_akeep *a);
void *ssids_give_fkeep(ssids_fkeep *f);
/* An akeep that nobody has seen yet is freed by dropping it. */
void ssids_drop_akeep(ssids_akeep *a);

/* ---- patterns (pattern.c) ---- */

/* Compressed columns (ptr32 or ptr64 is NULL) or coordinates (both are) of the caller. */
typedef struct ssids_input {
    int n, base;
    bool check;
    const int *ptr32;
    const int64_t *ptr64;
    int64_t entries; /* of coordinates */
    const int *row, *col;
} ssids_input;

/* Returns a flag: 0, an error, or a warning of what was left out or added up. */
int ssids_read_pattern(const ssids_input *in, ssids_pattern *to);
void ssids_free_pattern(ssids_pattern *p);
saddle_matrix ssids_view(const ssids_pattern *p, const double *values);
/* Values of the pattern from the caller's, scaled on both sides if scale is not NULL. */
void ssids_take_values(const ssids_pattern *p, const double *val, const double *scale, double *values);

/* ---- solvers (solver.c) ---- */

/* What the caller's options, and SADDLE_OPTIONS, ask of a solver with this scaling, and
 * whether it says print=on. Returns a flag. */
int ssids_solver_options(const ssids_options *options, saddle_scaling scaling, int64_t threads,
                         saddle_options *to, bool *print, char *message);
/* Makes a solver, or gives it other options, for values of the akeep's pattern. Returns a flag. */
int ssids_prepare_solver(ssids_akeep *a, ssids_solver *s, const saddle_options *options, char *message);

/* ---- pivots (pivots.c) ---- */

/* D^-1 as the solver applies it, 2n numbers as enquire_indef has them, and the order of the pivots with -1 -
 * i for a variable i in a 2x2 pivot; either may be NULL. Returns a flag. */
int ssids_get_pivots(const ssids_fkeep *f, int32_t *order, double *inverse);
/* The caller's D^-1 on nrhs columns in the order of the pivots. */
void ssids_apply_inverse(const ssids_fkeep *f, int64_t nrhs, double *x, int64_t ldx);
/* Pivots below `small` count as zero from now on. Returns a flag. */
int ssids_drop_small(ssids_fkeep *f, double small);

/* ---- what is told (tell.c) ---- */

int ssids_flag_of(saddle_status status);
/* inform gets the flag, and the caller is told in the way that the options say; message may be NULL. */
void ssids_tell(const char *call, const ssids_options *options, int flag, const char *message,
                ssids_inform *inform);
/* A line for those who want to know what is done: by print_level, or by print=on. */
void ssids_note(const ssids_options *options, bool print, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int ssids_int(int64_t count);
