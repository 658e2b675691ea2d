/* See blas.h. OpenBLAS' own functions are looked up at run time, because the BLAS may be another one. */
#define _GNU_SOURCE
#include "backend/blas.h"

#include "backend/cpu/cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc);

/* openblas_get_parallel's answer for a build without threads. */
enum { OPENBLAS_SERIAL = 0 };

static struct {
    bool serial;
    void (*set_threads)(int); /* NULL: not OpenBLAS */
    int (*get_threads)(void);
    char *(*config)(void);
    char *(*core)(void);
} blas;

static pthread_once_t found = PTHREAD_ONCE_INIT;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;
static int64_t users;
static int threads_before;
static atomic_bool held; /* the count is 1 because we said so */

/* A function as a pointer of the right kind: ISO C has no cast for it. */
static bool find_function(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void find_blas(void)
{
    int (*parallel)(void);
    if (find_function("openblas_get_parallel", &parallel)) blas.serial = parallel() == OPENBLAS_SERIAL;
    find_function("openblas_get_config", &blas.config);
    find_function("openblas_get_corename", &blas.core);
    if (!find_function("openblas_get_num_threads", &blas.get_threads)) return;
    find_function("openblas_set_num_threads", &blas.set_threads);
}

void sd_blas_enter(void)
{
    pthread_mutex_lock(&guard);
    ++users;
    pthread_mutex_unlock(&guard);
}

/* The first product since all had left: most small factorizations make none, and to set the count costs as
 * much as they do. */
static void hold_threads(void)
{
    pthread_once(&found, find_blas);
    pthread_mutex_lock(&guard);
    if (users > 0 && !atomic_load(&held) && blas.set_threads) {
        threads_before = blas.get_threads();
        if (threads_before != 1) blas.set_threads(1);
        atomic_store(&held, true);
    }
    pthread_mutex_unlock(&guard);
}

void sd_blas_leave(void)
{
    pthread_mutex_lock(&guard);
    if (--users == 0 && atomic_load(&held)) {
        if (threads_before != 1) blas.set_threads(threads_before);
        atomic_store(&held, false);
    }
    pthread_mutex_unlock(&guard);
}

bool sd_blas_is_serial(void)
{
    pthread_once(&found, find_blas);
    return blas.serial;
}

void sd_blas_name(char *text, size_t size)
{
    pthread_once(&found, find_blas);
    snprintf(text, size, "%s", blas.config ? blas.config() : "a BLAS other than OpenBLAS");
}

/* Names as in OpenBLAS' dynamic.c. One that is in neither list is new, and as good as any. */
static bool is_among(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0) ++list;
    return *list != NULL;
}

const char *sd_blas_better_core(const char *taken, const char *best)
{
    static const char *const before_avx2[] = {
        "Katmai", "Coppermine", "Northwood", "Prescott",   "Banias",      "Atom",         "Core2",
        "Penryn", "Dunnington", "Nehalem",   "Athlon",     "Opteron",     "Opteron_SSE3", "Barcelona",
        "Nano",   "Bobcat",     "Bulldozer", "Piledriver", "Steamroller", "Sandybridge",  NULL};
    static const char *const before_avx512[] = {"Haswell", "Zen", "Excavator", NULL};
    if (!best || !taken) return NULL;
    if (is_among(taken, before_avx2)) return best;
    return is_among(taken, before_avx512) && !is_among(best, before_avx512) ? best : NULL;
}

const char *saddle_blas_core(const char **taken)
{
    pthread_once(&found, find_blas);
    const char *core = blas.core ? blas.core() : NULL;
    if (taken) *taken = core;
    /* otherwise it has kernels for one processor only */
    if (!blas.config || !strstr(blas.config(), "DYNAMIC_ARCH")) return NULL;
    return sd_blas_better_core(core, sd_cpu()->blas_core);
}

/* A leading dimension is at least the number of rows, which is an int32_t; one that is larger still can only
 * belong to an array of one column, where it is not used. */
static int leading(int64_t ld)
{
    return ld > INT32_MAX ? INT32_MAX : (int)ld;
}

void sd_gemm_double(int32_t m, int32_t n, int32_t k, double alpha, const double *a, int64_t lda,
                    const double *b, int64_t ldb, double beta, double *c, int64_t ldc)
{
    const int a_ld = leading(lda), b_ld = leading(ldb), c_ld = leading(ldc);
    const bool alone = sd_blas_is_serial();
    if (!atomic_load_explicit(&held, memory_order_acquire)) hold_threads();
    if (alone) pthread_mutex_lock(&one_call);
    dgemm_("N", "T", &m, &n, &k, &alpha, a, &a_ld, b, &b_ld, &beta, c, &c_ld);
    if (alone) pthread_mutex_unlock(&one_call);
}

void sd_gemm_single(int32_t m, int32_t n, int32_t k, float alpha, const float *a, int64_t lda, const float *b,
                    int64_t ldb, float beta, float *c, int64_t ldc)
{
    const int a_ld = leading(lda), b_ld = leading(ldb), c_ld = leading(ldc);
    const bool alone = sd_blas_is_serial();
    if (!atomic_load_explicit(&held, memory_order_acquire)) hold_threads();
    if (alone) pthread_mutex_lock(&one_call);
    sgemm_("N", "T", &m, &n, &k, &alpha, a, &a_ld, b, &b_ld, &beta, c, &c_ld);
    if (alone) pthread_mutex_unlock(&one_call);
}
