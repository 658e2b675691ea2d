/*
 * Rates of the dense kernels on fronts: factor and update, against one dgemm of about the same work in the
 * same run. Not installed; the target is bench_front_kernels.
 *
 *     bench_front_kernels [portable|avx2|avx512] [ROWS COLUMNS]
 *
 * For each size: Gflop/s of the threshold rule on an indefinite front and of the positive rule on a definite
 * one, what part of dgemm's rate that is, and threshold's time over positive's. Best of several runs; one
 * thread.
 */
#include "backend/cpu/cpu.h"
#include "backend/front.h"
#include "bench/kernels/gemm_timing.h"

#include <stdio.h>

/* The time of this thread, not of the day, because others may be at work on the machine; but the clock of the
 * day for what takes less than a slice of it, since the other costs a call of the system. */
static clockid_t clock_used = CLOCK_THREAD_CPUTIME_ID;

/* Multiplications and additions of an LDL' of `columns` pivots. */
static double flops_of(int32_t rows, int32_t columns)
{
    double sum = 0;
    for (int32_t k = 0; k < columns; ++k) sum += (double)(rows - k) * (rows - k);
    return sum;
}

typedef struct times {
    double factor, update;
} times;

static times measure(const sd_front_kernels *k, sd_pivot_rule rule, int32_t rows, int32_t columns)
{
    const int64_t size = (int64_t)rows * columns;
    const int32_t q = rows - columns;
    double *original = take(size, sizeof *original);
    sd_front f = {.rows = rows, .columns = columns, .ld = rows};
    f.panel = take(size, sizeof(double));
    f.rest = take(sd_rest_size(q) + 1, sizeof(double));
    f.d = take(2 * (int64_t)columns, sizeof(double));
    f.variable = take(columns, sizeof(int32_t));
    void *work = take(k->work(rows, columns), sizeof(double));
    uint64_t seed = 7;
    for (int64_t i = 0; i < size; ++i) original[i] = unit(&seed);
    for (int64_t j = 0; j < columns && rule == SD_PIVOT_POSITIVE; ++j) original[j * rows + j] = rows;
    const sd_pivoting how = {.rule = rule, .u = 0.01, .small = 1e-20, .root = q == 0};
    times best = {1e30, 1e30};
    clock_used = flops_of(rows, columns) < 1e7 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const double until = now(clock_used) + 0.6;
    for (int run = 0; run < 3 || (now(clock_used) < until && run < 2000); ++run) {
        memcpy(f.panel, original, (size_t)size * sizeof(double));
        sd_pivots pivots = {0};
        f.rest_empty = true;
        const double start = now(clock_used);
        k->factor(&f, &how, &pivots, work, NULL);
        const double middle = now(clock_used);
        k->update(&f, work, NULL, NULL);
        const double end = now(clock_used);
        if (middle - start < best.factor) best.factor = middle - start;
        if (end - middle < best.update) best.update = end - middle;
    }
    clock_used = CLOCK_THREAD_CPUTIME_ID;
    free(original), free(f.panel), free(f.rest), free(f.d), free(f.variable), free(work);
    return best;
}

int main(int argc, char **argv)
{
    static const int32_t sizes[][2] = {{64, 16},    {128, 32},   {256, 64},    {512, 128},
                                       {1024, 256}, {2000, 500}, {4000, 1000}, {3000, 3000}};
    const sd_cpu_isa *isa = sd_cpu();
    for (int k = 0; argc % 2 == 0 && k < sd_cpu_isa_count; ++k)
        if (strcmp(argv[1], sd_cpu_isas[k].name) == 0) isa = &sd_cpu_isas[k];
    if (argc % 2 == 0) --argc, ++argv;
    const int32_t given[1][2] = {{argc > 2 ? (int32_t)strtol(argv[1], NULL, 10) : 0,
                                  argc > 2 ? (int32_t)strtol(argv[2], NULL, 10) : 0}};
    const int32_t(*size)[2] = argc > 2 ? given : sizes;
    const int count = argc > 2 ? 1 : (int)(sizeof sizes / sizeof *sizes);
    char name[200];
    sd_blas_enter();
    sd_blas_name(name, sizeof name);
    printf("%s\n%5s %5s  %6s  %-22s %-22s %s\n", name, "rows", "cols", "dgemm", "threshold", "positive",
           "ratio");
    for (int s = 0; s < count; ++s) {
        const int32_t m = size[s][0], n = size[s][1];
        const double gemm = 2.0 / best_gemm(1000, SD_DOUBLE), flops = 1e-9 * flops_of(m, n);
        const double own = 1e-9 * flops_of(n, n) + 1e-9 * ((double)n * n * (m - n)), rest = flops - own;
        const times t = measure(isa->fronts, SD_PIVOT_THRESHOLD, m, n);
        const times p = measure(isa->fronts, SD_PIVOT_POSITIVE, m, n);
        const double threshold = t.factor + t.update, positive = p.factor + p.update;
        printf("%5d %5d  %6.1f  %5.1f (%3.0f%%) factor %3.0f%% update %3.0f%%  %5.1f (%3.0f%%) factor "
               "%3.0f%%  %.3f\n",
               m, n, gemm, flops / threshold, 100 * flops / threshold / gemm, 100 * own / t.factor / gemm,
               100 * rest / t.update / gemm, flops / positive, 100 * flops / positive / gemm,
               100 * own / p.factor / gemm, threshold / positive);
        fflush(stdout);
    }
    sd_blas_leave();
    return 0;
}
