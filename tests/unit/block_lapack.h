/* LAPACK on the blocks of a batch, one at a time: what Saddle's pivoting is measured against. */
#pragma once

#include "block_solving.h"

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void sgetrf_(const int *m, const int *n, float *a, const int *lda, int *pivot, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info);
void sgetrs_(const char *trans, const int *n, const int *nrhs, const float *a, const int *lda,
             const int *pivot, float *b, const int *ldb, int *info);
void dsytrf_(const char *uplo, const int *n, double *a, const int *lda, int *pivot, double *work,
             const int *lwork, int *info);
void ssytrf_(const char *uplo, const int *n, float *a, const int *lda, int *pivot, float *work,
             const int *lwork, int *info);
void dsytrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info);
void ssytrs_(const char *uplo, const int *n, const int *nrhs, const float *a, const int *lda,
             const int *pivot, float *b, const int *ldb, int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
             const int *ldb, int *info);
void spotrs_(const char *uplo, const int *n, const int *nrhs, const float *a, const int *lda, float *b,
             const int *ldb, int *info);
void dgetri_(const int *n, double *a, const int *lda, const int *pivot, double *work, const int *lwork,
             int *info);
void sgetri_(const int *n, float *a, const int *lda, const int *pivot, float *work, const int *lwork,
             int *info);
void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info);

/* What LAPACK made of a block. */
typedef struct lapack_block {
    int n, info; /* info as LAPACK has it: > 0 where it found a zero pivot */
    sd_precision precision;
    sd_batch_kernel kernel;
    double a[SQUARE]; /* single precision: room for floats */
    int pivot[SD_BLOCK_MOST];
    double growth; /* the largest of U, or of D, over the largest of A */
} lapack_block;

static const int one_column = 1, work_room = SQUARE;
static double lapack_work[SQUARE];

static inline void lapack_factor_double(lapack_block *l)
{
    const int n = l->n;
    if (is_cholesky(l->kernel))
        dpotrf_("L", &n, l->a, &n, &l->info);
    else if (is_ldlt(l->kernel))
        dsytrf_("L", &n, l->a, &n, l->pivot, lapack_work, &work_room, &l->info);
    else
        dgetrf_(&n, &n, l->a, &n, l->pivot, &l->info);
}

static inline void lapack_factor_single(lapack_block *l)
{
    const int n = l->n;
    float *a = (float *)l->a;
    if (is_cholesky(l->kernel))
        spotrf_("L", &n, a, &n, &l->info);
    else if (is_ldlt(l->kernel))
        ssytrf_("L", &n, a, &n, l->pivot, (float *)lapack_work, &work_room, &l->info);
    else
        sgetrf_(&n, &n, a, &n, l->pivot, &l->info);
}

static inline double lapack_growth(const lapack_block *l, double norm)
{
    const int n = l->n;
    double most = 0;
    if (is_ldlt(l->kernel)) {
        for (int s = 0; s < n; ++s) {
            most = fmax(most, fabs(real_at(l->a, l->precision, s + s * n)));
            if (l->pivot[s] > 0) continue;
            most = fmax(most, fabs(real_at(l->a, l->precision, s + 1 + s * n)));
            most = fmax(most, fabs(real_at(l->a, l->precision, s + 1 + (s + 1) * n)));
            ++s;
        }
    } else {
        for (int j = 0; j < n; ++j)
            for (int i = 0; i <= j; ++i) most = fmax(most, fabs(real_at(l->a, l->precision, i + j * n)));
    }
    return most / norm;
}

/* The counterpart of a kernel: of the inverse by Gauss-Jordan, that from the factors of LU. */
static inline void lapack_factor(const batch *b, int32_t k, sd_batch_kernel kernel, double norm,
                                 lapack_block *l)
{
    const int n = l->n = batch_size(b, k);
    const size_t size = sd_precision_size(b->precision);
    l->precision = b->precision;
    l->kernel = kernel;
    memcpy(l->a, (char *)b->data + (size_t)b->entry[k] * size, (size_t)(n * n) * size);
    if (b->precision == SD_DOUBLE)
        lapack_factor_double(l);
    else
        lapack_factor_single(l);
    assert_true(l->info >= 0);
    l->growth = lapack_growth(l, norm);
    if (kernel != SD_JORDAN || l->info) return;
    if (b->precision == SD_DOUBLE)
        dgetri_(&n, l->a, &n, l->pivot, lapack_work, &work_room, &l->info);
    else
        sgetri_(&n, (float *)l->a, &n, l->pivot, (float *)lapack_work, &work_room, &l->info);
}

static inline void lapack_solve_double(const lapack_block *l, double *x)
{
    const int n = l->n;
    int info = 0;
    if (is_cholesky(l->kernel))
        dpotrs_("L", &n, &one_column, l->a, &n, x, &n, &info);
    else if (is_ldlt(l->kernel))
        dsytrs_("L", &n, &one_column, l->a, &n, l->pivot, x, &n, &info);
    else
        dgetrs_("N", &n, &one_column, l->a, &n, l->pivot, x, &n, &info);
    assert_int_equal(info, 0);
}

static inline void lapack_solve_single(const lapack_block *l, float *x)
{
    const int n = l->n;
    const float *a = (const float *)l->a;
    int info = 0;
    if (is_cholesky(l->kernel))
        spotrs_("L", &n, &one_column, a, &n, x, &n, &info);
    else if (is_ldlt(l->kernel))
        ssytrs_("L", &n, &one_column, a, &n, l->pivot, x, &n, &info);
    else
        sgetrs_("N", &n, &one_column, a, &n, l->pivot, x, &n, &info);
    assert_int_equal(info, 0);
}

/* x <- A^-1 x */
static inline void lapack_solve(const lapack_block *l, double *x)
{
    float narrow[SD_BLOCK_MOST];
    if (l->precision == SD_DOUBLE) {
        lapack_solve_double(l, x);
    } else {
        for (int i = 0; i < l->n; ++i) narrow[i] = (float)x[i];
        lapack_solve_single(l, narrow);
        for (int i = 0; i < l->n; ++i) x[i] = (double)narrow[i];
    }
}

/* Eigenvalues in ascending order, of the block in double. */
static inline void lapack_eigenvalues(const batch *b, int32_t k, double *w)
{
    const int n = batch_size(b, k), lwork = SQUARE;
    static double a[SQUARE], work[SQUARE];
    int info = 0;
    for (int at = 0; at < n * n; ++at) a[at] = batch_at(b, k, at % n, at / n);
    dsyev_("N", "L", &n, a, &n, w, work, &lwork, &info);
    assert_int_equal(info, 0);
}
