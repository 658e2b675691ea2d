/*
 * Incomplete factorizations on a pattern that is given, in the memory of a device. Only a backend whose
 * memory the host cannot reach has this; what the host does, and the mathematics, is in factor/incomplete.h
 * and factor/fixed_point_sweep.h.
 *
 * L is by rows, U by columns, so that an entry of either, and a pivot, is made of two rows:
 *
 *     c_ij = b_ij - sum_k l_ik u_kj,   l_ij = c_ij / d_j,   u_ij = c_ij,   d_i = b_ii - sum_k l_ik u_ki
 *
 * and L L' has one half only, l_ij = c_ij / sqrt(d_j). Elimination makes every number once, when those that
 * it needs are there; a sweep makes all of them at once from those of the sweep before. Both add products in
 * the order of k: bits are the same in every run. All arrays are the device's, all numbers double.
 */
#pragma once

#include "core/context.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sd_engine sd_engine;
typedef struct sd_triangle sd_triangle;

/* A strict triangle by rows: L, or the transpose of U. */
typedef struct sd_pattern_half {
    int64_t entries;
    const int64_t *ptr;
    const int32_t *ind; /* ascending in a row */
    const int32_t *at;  /* entry of the matrix that each is; -1: it has none there */
    double *val;
    double *next; /* of a sweep; NULL where nothing is swept */
} sd_pattern_half;

typedef struct sd_pattern_factors {
    int32_t n;
    bool symmetric;
    const int32_t *order; /* of the rows, each behind those that it needs; NULL: ascending */
    sd_pattern_half lower, upper;

    /* B = R A C of a matrix, whole, before it is multiplied with `unit`, a power of two that brings its
     * largest entry near to 1, or minus that */
    int64_t nnz;
    const int64_t *ptr;
    const int32_t *ind;
    const int32_t *source; /* entry of A that each entry is */
    const double *row_scale, *column_scale;
    double *b;
    double *own, *most; /* of each row: the diagonal; its largest entry */
    double unit;

    double least;            /* pivots are above this part of the largest entry of their row */
    double shift;            /* such parts are added to the diagonal */
    double *diagonal, *next; /* of L (L L'), or of U; of a sweep */
    double *change;          /* of each row, in a sweep */
    int *broken;             /* whether a pivot cannot be used, or a number is not finite */
} sd_pattern_factors;

/* What a function leaves in the host's memory is there when it returns. */
typedef struct sd_incomplete_runner {
    /* b, own and most of the values of A; *size is the largest entry. */
    void (*values)(sd_engine *e, const sd_pattern_factors *f, const double *values, double *size);
    /* val and diagonal by elimination. */
    void (*eliminate)(sd_engine *e, const sd_pattern_factors *f, bool *broken);
    /* The first guess; *norm is |B| on the pattern in the 1-norm. */
    void (*guess)(sd_engine *e, const sd_pattern_factors *f, double *norm, bool *broken);
    /* A sweep from val and diagonal to the arrays `next`; *change is |c - c before| in the 1-norm. */
    void (*sweep)(sd_engine *e, const sd_pattern_factors *f, double *change, bool *broken);
    /* Numbers of a triangle, its reciprocals and the inverses of its blocks: entry k is entry number[k] of L,
     * or of the upper half of L U (NULL: entry k), row i is row order[i] (NULL: i). */
    void (*fill)(sd_engine *e, const sd_pattern_factors *f, const int32_t *number, const int32_t *order,
                 const sd_triangle *x);
} sd_incomplete_runner;
