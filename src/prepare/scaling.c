/*
 * Scalings that need no matching. See scaling.h.
 *
 * Ruiz: each sweep divides every row and column by the square root of its norm, so that the logarithms of
 * the norms halve: twenty sweeps bring the smallest double, e^-745, to within 1e-3 of 1.
 */
#include "prepare/scaling.h"

#include <float.h>
#include <math.h>

#define RUIZ_TOLERANCE 1e-3
#define LARGEST_SCALE 0x1p1000

enum { RUIZ_SWEEPS = 20 };

/* fmin(fmax(x, least), most), which compilers do not put in line because of NaN. */
static double held(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* Products of finite numbers, held between the smallest and the largest of them: what is not 0 stays so. */
static double scaled_size(double r, double a, double s)
{
    return held(fabs(r * a) * s, DBL_TRUE_MIN, DBL_MAX);
}

/* Whether all norms are near enough to 1; 0 is that of an empty line. */
static bool equilibrated(const double *norm, int32_t n)
{
    for (int32_t i = 0; i < n; ++i)
        if (norm[i] > 0 && !(fabs(norm[i] - 1.0) <= RUIZ_TOLERANCE)) return false;
    return true;
}

static void divide_by_roots(double *scale, const double *norm, int32_t n)
{
    for (int32_t i = 0; i < n; ++i)
        if (norm[i] > 0) scale[i] = held(scale[i] / sqrt(norm[i]), 1.0 / LARGEST_SCALE, LARGEST_SCALE);
}

/* The infinity norms of the scaled rows, and of the columns where col_norm is not NULL. */
static void scaled_norms(const sd_csr *A, const double *row_scale, const double *col_scale, double *row_norm,
                         double *col_norm)
{
    for (int32_t j = 0; j < A->n && col_norm; ++j) col_norm[j] = 0.0;
    for (int32_t i = 0; i < A->n; ++i) {
        double largest = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            if (A->val[k] == 0) continue;
            const int32_t j = A->ind[k];
            const double size = scaled_size(row_scale[i], A->val[k], col_scale[j]);
            if (size > largest) largest = size;
            if (col_norm && size > col_norm[j]) col_norm[j] = size;
        }
        row_norm[i] = largest;
    }
}

saddle_status sd_scale_ruiz(sd_context *c, const sd_csr *A, bool symmetric, double *row_scale,
                            double *col_scale)
{
    const int32_t n = A->n;
    double *row_norm = sd_alloc(c, n, sizeof *row_norm, "row norms");
    double *col_norm = row_norm && !symmetric ? sd_alloc(c, n, sizeof *col_norm, "column norms") : NULL;
    if (!row_norm || (!symmetric && !col_norm)) {
        sd_free(c, row_norm);
        return c->status;
    }
    for (int32_t i = 0; i < n; ++i) row_scale[i] = col_scale[i] = 1.0;
    for (int sweep = 0; sweep < RUIZ_SWEEPS; ++sweep) {
        scaled_norms(A, row_scale, symmetric ? row_scale : col_scale, row_norm, col_norm);
        if (equilibrated(row_norm, n) && (symmetric || equilibrated(col_norm, n))) break;
        divide_by_roots(row_scale, row_norm, n);
        if (!symmetric) divide_by_roots(col_scale, col_norm, n);
    }
    for (int32_t i = 0; i < n && symmetric; ++i) col_scale[i] = row_scale[i];
    sd_free_all(c, row_norm, col_norm);
    return SADDLE_OK;
}

/* |x|_2^(-1/2) of a line whose largest magnitude is `largest` and whose squares, relative to it, add up to
 * `sum`: neither the norm nor its reciprocal is formed, which could overflow. */
static double root_of_norm(double largest, double sum)
{
    return largest > 0 ? 1.0 / (sqrt(largest) * sqrt(sqrt(sum))) : 1.0;
}

static void scale_rows_by_norm(const sd_csr *A, double *scale)
{
    for (int32_t i = 0; i < A->n; ++i) {
        double largest = 0.0, sum = 0.0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) largest = fmax(largest, fabs(A->val[k]));
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1] && largest > 0; ++k) {
            const double x = A->val[k] / largest;
            sum += x * x;
        }
        scale[i] = root_of_norm(largest, sum);
    }
}

saddle_status sd_scale_col2(sd_context *c, const sd_csr *A, bool symmetric, double *row_scale,
                            double *col_scale)
{
    const int32_t n = A->n;
    scale_rows_by_norm(A, row_scale);
    if (symmetric) {
        for (int32_t i = 0; i < n; ++i) col_scale[i] = row_scale[i];
        return SADDLE_OK;
    }
    double *largest = sd_alloc_zero(c, n, sizeof *largest, "column norms");
    if (!largest) return c->status;
    for (int64_t k = 0; k < A->nnz; ++k) {
        double *to = &largest[A->ind[k]];
        *to = fmax(*to, fabs(A->val[k]));
    }
    for (int32_t j = 0; j < n; ++j) col_scale[j] = 0.0;
    for (int64_t k = 0; k < A->nnz; ++k) {
        if (A->val[k] == 0) continue;
        const double x = A->val[k] / largest[A->ind[k]];
        col_scale[A->ind[k]] += x * x;
    }
    for (int32_t j = 0; j < n; ++j) col_scale[j] = root_of_norm(largest[j], col_scale[j]);
    sd_free(c, largest);
    return SADDLE_OK;
}

saddle_status sd_scale_check(sd_context *c, const double *scale, int32_t n, const char *what)
{
    for (int32_t i = 0; i < n; ++i)
        if (!(scale[i] > 0 && scale[i] <= DBL_MAX))
            return sd_fail(c, SADDLE_BAD_VALUE,
                           "%s: entry %d (counted from 1) is %g; all must be positive and finite", what,
                           i + 1, scale[i]);
    return SADDLE_OK;
}
