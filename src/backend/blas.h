/*
 * The BLAS: what the kernels of fronts call of it, and the care that any BLAS needs.
 *
 * OpenBLAS starts threads of its own inside every call, and its thread count is a global of the process.
 * Saddle calls it from its own threads, one product each, so the count is held at 1 while any factorization
 * is at work (between sd_blas_enter and sd_blas_leave, from the first product on) and restored by the last
 * one. An OpenBLAS that was built without threads has no locks: called from two threads at once it gives
 * wrong numbers silently. It is recognised, and its calls are made one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between these two the products below use one thread each. They nest, and may be called from any thread. */
void sd_blas_enter(void);
void sd_blas_leave(void);

/* The BLAS is one that must not be called from two threads at once; the calls below wait for each other. */
bool sd_blas_is_serial(void);

/* What the BLAS says of itself, cut to `size`. */
void sd_blas_name(char *text, size_t size);

/* An OpenBLAS that was built for many processors chooses its kernels when it is loaded, by the model of the
 * processor; one that is younger than the BLAS gets kernels for a much older one, at a quarter of the speed.
 * Of the cores that it has names for: `best` where `taken` has fewer instructions than that, else NULL. */
const char *sd_blas_better_core(const char *taken, const char *best);

/* C = beta C + alpha A B', with C of m x n, A of m x k, B of n x k, all by columns. */
void sd_gemm_double(int32_t m, int32_t n, int32_t k, double alpha, const double *a, int64_t lda,
                    const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void sd_gemm_single(int32_t m, int32_t n, int32_t k, float alpha, const float *a, int64_t lda, const float *b,
                    int64_t ldb, float beta, float *c, int64_t ldc);
