/* What one core can do, beside which kernels are measured: a product by the library's BLAS. */
#pragma once

#include "backend/blas.h"
#include "bench/kernels/timing.h"

#include <math.h>

/* Seconds of this thread for a product of two n x n matrices, the best of six; NaN without memory. */
static inline double best_gemm(int n, sd_precision precision)
{
    const int size = n * n;
    double *a = calloc(3 * (size_t)size, sizeof *a), best = INFINITY;
    float *s = (float *)a;
    if (!a) return NAN;
    for (int k = 0; k < 2 * size; ++k) {
        if (precision == SD_DOUBLE)
            a[k] = 1.0 / (k % 1000 + 1);
        else
            s[k] = 1.0f / (float)(k % 1000 + 1);
    }
    for (int k = 0; k < 6; ++k) {
        const double began = now(CLOCK_THREAD_CPUTIME_ID);
        if (precision == SD_DOUBLE)
            sd_gemm_double(n, n, n, 1, a, n, a + size, n, 0, a + 2 * size, n);
        else
            sd_gemm_single(n, n, n, 1, s, n, s + size, n, 0, s + 2 * size, n);
        best = fmin(best, now(CLOCK_THREAD_CPUTIME_ID) - began);
    }
    free(a);
    return best;
}
