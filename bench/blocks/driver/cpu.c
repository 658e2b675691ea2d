/*
 * The driver of `saddle bench blocks` on the CPU: see driver.h. Not installed; the target is blocks_cpu, the
 * program build/bin/peers/blocks-cpu.
 *
 * The peers are routines of LAPACK, called for one block after the other with one thread of BLAS, each block
 * copied to where its result goes, as the kernels work out of place.
 */
#include "backend/cpu/cpu.h"
#include "bench/blocks/driver/driver.h"
#include "bench/kernels/gemm_timing.h"
#include "cli/probe.h"

#include <stdio.h>

enum { WORK = 64 * SD_BLOCK_MOST };

/* LAPACK as Fortran has it, with the lengths of texts at the end. */
#define LAPACK(letter, real)                                                                                 \
    void letter##getrf_(const int *m, const int *n, real *a, const int *lda, int *ipiv, int *info);          \
    void letter##getri_(const int *n, real *a, const int *lda, const int *ipiv, real *work,                  \
                        const int *lwork, int *info);                                                        \
    void letter##potrf_(const char *uplo, const int *n, real *a, const int *lda, int *info, size_t length);  \
    void letter##sytrf_(const char *uplo, const int *n, real *a, const int *lda, int *ipiv, real *work,      \
                        const int *lwork, int *info, size_t length);                                         \
    void letter##sytrs_(const char *uplo, const int *n, const int *nrhs, const real *a, const int *lda,      \
                        const int *ipiv, real *b, const int *ldb, int *info, size_t length);
LAPACK(d, double)
LAPACK(s, float)
#undef LAPACK

/* Of the peer that is at work: exchanges of all blocks, and room for LAPACK. */
static struct {
    int *pivot;
    double work[WORK];
} own;

static bool begin_lapack(blocks_bench *b, const blocks_batch *x)
{
    own.pivot = malloc(((size_t)x->plan.rows + 1) * sizeof *own.pivot);
    if (!own.pivot) blocks_check(b, "out of memory for the exchanges");
    return x->size > 0;
}

static void end_lapack(blocks_bench *b)
{
    (void)b;
    free(own.pivot);
    own.pivot = NULL;
}

/* CALL is one block's: of n rows at a, of the type real, exchanges into pivot. */
#define EACH_BLOCK(real, CALL)                                                                               \
    do {                                                                                                     \
        const real *from = blocks_from(b, x, slot);                                                          \
        real *a = blocks_to(b, x, slot), *work = (real *)own.work;                                           \
        (void)work;                                                                                          \
        for (int32_t k = 0; k < x->plan.blocks; ++k, from += n * n, a += n * n, pivot += n) {                \
            memcpy(a, from, (size_t)(n * n) * sizeof *a);                                                    \
            CALL;                                                                                            \
        }                                                                                                    \
    } while (0)
#define ROUTINE(name, DOUBLE, SINGLE)                                                                        \
    static void name(blocks_bench *b, const blocks_batch *x, void *what, int64_t slot)                       \
    {                                                                                                        \
        const int n = x->size, lwork = WORK;                                                                 \
        int *pivot = own.pivot, info = 0;                                                                    \
        (void)what, (void)lwork;                                                                             \
        if (x->precision == SD_DOUBLE)                                                                       \
            EACH_BLOCK(double, DOUBLE);                                                                      \
        else                                                                                                 \
            EACH_BLOCK(float, SINGLE);                                                                       \
    }
ROUTINE(getrf, dgetrf_(&n, &n, a, &n, pivot, &info), sgetrf_(&n, &n, a, &n, pivot, &info))
ROUTINE(potrf, dpotrf_("L", &n, a, &n, &info, 1), spotrf_("L", &n, a, &n, &info, 1))
ROUTINE(sytrf, dsytrf_("L", &n, a, &n, pivot, work, &lwork, &info, 1),
        ssytrf_("L", &n, a, &n, pivot, work, &lwork, &info, 1))
ROUTINE(getri, (dgetrf_(&n, &n, a, &n, pivot, &info), dgetri_(&n, a, &n, pivot, work, &lwork, &info)),
        (sgetrf_(&n, &n, a, &n, pivot, &info), sgetri_(&n, a, &n, pivot, work, &lwork, &info)))
#undef ROUTINE
#undef EACH_BLOCK

static void lapack_pivots(blocks_bench *b, const blocks_batch *x, int32_t block, int32_t *pivot)
{
    (void)b;
    for (int32_t i = 0; i < x->size; ++i) pivot[i] = own.pivot[(int64_t)block * x->size + i];
}

static void sytrf_solve(blocks_bench *b, const blocks_batch *x, int32_t block, double *x_and_b)
{
    const int n = x->size, one = 1, *pivot = own.pivot + (int64_t)block * n;
    const int64_t entry = (int64_t)block * n * n;
    float narrow[SD_BLOCK_MOST];
    int info = 0;
    if (x->precision == SD_DOUBLE) {
        dsytrs_("L", &n, &one, (const double *)blocks_to(b, x, 0) + entry, &n, pivot, x_and_b, &n, &info, 1);
        return;
    }
    for (int i = 0; i < n; ++i) narrow[i] = (float)x_and_b[i];
    ssytrs_("L", &n, &one, (const float *)blocks_to(b, x, 0) + entry, &n, pivot, narrow, &n, &info, 1);
    for (int i = 0; i < n; ++i) x_and_b[i] = (double)narrow[i];
}

static const blocks_peer peers[] = {
    {"lapack", "getrf", BLOCKS_GENERAL, BLOCKS_LU, SD_LDU_PARTIAL, false, begin_lapack, getrf, lapack_pivots,
     NULL, end_lapack},
    {"lapack", "getrf+getri", BLOCKS_GENERAL, BLOCKS_INVERSE, SD_JORDAN, false, begin_lapack, getri, NULL,
     NULL, end_lapack},
    {"lapack", "sytrf", BLOCKS_SYMMETRIC, BLOCKS_SOLUTION, SD_LDLT_BUNCH_KAUFMAN, false, begin_lapack, sytrf,
     NULL, sytrf_solve, end_lapack},
    {"lapack", "potrf", BLOCKS_DEFINITE, BLOCKS_LLT, SD_LLT, false, begin_lapack, potrf, NULL, NULL,
     end_lapack},
};

/* Of this thread where there is one, because others may be at work on the machine; else of the day. */
static double now_of(const blocks_bench *b)
{
    return now(b->threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

static double time_host(blocks_bench *b, const blocks_batch *x, blocks_work *work, void *what, int64_t first,
                        int64_t count)
{
    const double began = now_of(b);
    for (int64_t k = 0; k < count; ++k) work(b, x, what, first + k);
    return now_of(b) - began;
}

static void copy_host(blocks_bench *b, const void *from, void *to, int64_t bytes)
{
    (void)b;
    memcpy(to, from, (size_t)bytes);
}

static double time_gemm(sd_precision precision, double *flops)
{
    enum { N = 512 };
    *flops = 2.0 * N * N * N;
    return best_gemm(N, precision);
}

static const blocks_device host = {
    .versions = 1,
    .time = time_host,
    .copy = copy_host,
    .gemm = time_gemm,
    .peer_count = sizeof peers / sizeof peers[0],
    .peers = peers,
};

/* The kernels of chosen instructions, where the processor has them. */
static void choose_instructions(blocks_bench *b)
{
    if (strcmp(b->instructions, "default") == 0) return;
    for (int k = 0; k < sd_cpu_isa_count; ++k)
        if (strcmp(b->instructions, sd_cpu_isas[k].name) == 0 && sd_cpu_isas[k].supported()) {
            b->engine.backend = sd_cpu_isas[k].backend;
            return;
        }
    blocks_check(b, "the processor, or this build, has no such instructions");
}

int main(int argc, char **argv)
{
    static blocks_bench b;
    machine_probe machine;
    char name[200];
    if (!blocks_options(&b, argc, argv, "blocks-cpu")) return 2;
    probe_machine(&machine);
    b.device = &host;
    b.memory = machine.available > 0 ? machine.available / 2 : INT64_C(4) << 30;
    sd_context_init(&b.context, NULL, 0);
    sd_engine_open_host(&b.context, &b.engine, b.reference ? SADDLE_DEVICE_REFERENCE : SADDLE_DEVICE_CPU,
                        b.threads);
    blocks_check(&b, NULL);
    choose_instructions(&b);
    sd_blas_enter();
    sd_blas_name(name, sizeof name);
    printf("machine %s, %d thread%s; %s\n", machine.cpu, b.threads, b.threads == 1 ? "" : "s", name);
    blocks_run(&b);
    sd_blas_leave();
    sd_engine_close(&b.engine);
    return 0;
}
