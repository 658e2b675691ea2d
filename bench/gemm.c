/*
 * What one core can do: a product of two matrices by the BLAS that the library works with, which is found at
 * run time as the program itself is not linked with it.
 */
#define _GNU_SOURCE
#include "bench/bench.h"
#include "cli/progress.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 512 };

typedef void gemm_function(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                           const double *alpha, const double *a, const int *lda, const double *b,
                           const int *ldb, const double *beta, double *c, const int *ldc);

/* Its functions, NULL where there is none; ISO C has no cast from an object. */
typedef struct blas {
    gemm_function *gemm;
    void (*set_threads)(int);
    int (*get_threads)(void);
} blas;

static blas find_blas(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3"};
    void *library = RTLD_DEFAULT;
    blas b = {NULL, NULL, NULL};
    for (int k = 0; k < 2 && !dlsym(library, "dgemm_"); ++k) {
        void *other = dlopen(names[k], RTLD_LAZY | RTLD_LOCAL);
        if (other) library = other;
    }
    void *const found[] = {dlsym(library, "dgemm_"), dlsym(library, "openblas_set_num_threads"),
                           dlsym(library, "openblas_get_num_threads")};
    memcpy(&b.gemm, &found[0], sizeof b.gemm);
    memcpy(&b.set_threads, &found[1], sizeof b.set_threads);
    memcpy(&b.get_threads, &found[2], sizeof b.get_threads);
    return b;
}

double gemm_rate(void)
{
    const blas library = find_blas();
    const int n = SIZE;
    const size_t entries = (size_t)n * n;
    const double one = 1.0, zero = 0.0;
    double *work = library.gemm ? malloc(3 * entries * sizeof *work) : NULL;
    if (!work) return NAN;
    for (size_t k = 0; k < 3 * entries; ++k) work[k] = 1.0 / (double)(k % 1000 + 1);
    const bool settable = library.set_threads && library.get_threads;
    const int before = settable ? library.get_threads() : 0;
    if (settable) library.set_threads(1);
    double best = INFINITY;
    for (int k = 0; k < 2; ++k) { /* the first one warms up */
        const double began = seconds();
        library.gemm("N", "T", &n, &n, &n, &one, work, &n, work + entries, &n, &zero, work + 2 * entries, &n);
        best = fmin(best, seconds() - began);
    }
    if (settable) library.set_threads(before);
    free(work);
    return 2.0 * n * n * n / best;
}
