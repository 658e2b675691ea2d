/*
 * The program's plots, written as PNG or SVG by the ending of the path. They return 0, or the
 * exit status with the message on standard error.
 */
#pragma once

#include "saddle/saddle.h"

/* Where a matrix of any layout has its entries, in two colours by their sign: both triangles of
 * symmetric ones, by shades where the matrix has more rows than the picture. O(entries). Indices
 * must be in range, as saddle_inspect checks. The title has the name, n and the entries. */
int plot_pattern(const char *path, const saddle_matrix *A, const char *name);

/* The same with what is on its diagonal: blocks, tinted and outlined, and 2x2 pairs, in a second tint,
 * where they are large enough to be seen; the legend counts both. */
typedef struct plot_blocks {
    int64_t blocks;             /* 0: there are none */
    const int32_t *block_start; /* the first row of each, then the number of rows */
    int64_t pairs;
    const int32_t *pair_start; /* the first row of each */
} plot_blocks;
int plot_prepared(const char *path, const saddle_matrix *A, const plot_blocks *blocks, const char *name);

/* Relative residuals on a logarithmic scale against iterations 1, 2, ..., with tol as a dashed line
 * where it is above 0. What is not finite is left out; a residual of exactly 0, which has no place on that
 * scale, is a ring at the foot, below a break of the axis, and labelled. title may be NULL. */
int plot_convergence(const char *path, const double *history, int64_t length, double tol, const char *title);
