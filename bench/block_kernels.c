/*
 * Kernels on small dense blocks, one thread: factorization beside LAPACK in a loop over the same blocks, and
 * application beside reading the factors once.
 *
 *     bench_block_kernels [portable | avx2 | avx512] [part of a kernel's name]
 *
 * Each batch is kept in so many copies that they are at least 512 MB, which take turns: nothing is found in a
 * cache. Every figure is the best of several rounds, ours and LAPACK's in turns. "peak" is what dgemm reaches
 * in the same run; operations are 2/3 n^3 for LDU and Gauss-Huard, n^3 / 3 for symmetric ones, 2 n^3 for the
 * inverse. The residual is the largest |A x - b| / (|A| |x| + |b|), by norms, of the first blocks, of our
 * application.
 */
#include "backend/batch.h"
#include "backend/cpu/cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 3, CHECKED = 64 };
#define FOOTPRINT 536870912

typedef const int lint;
void dgemm_(const char *, const char *, lint *, lint *, lint *, const double *, const double *, lint *,
            const double *, lint *, const double *, double *, lint *);
#define LAPACK(p, real)                                                                                      \
    void p##getrf_(lint *, lint *, real *, lint *, int *, int *);                                            \
    void p##sytrf_(const char *, lint *, real *, lint *, int *, real *, lint *, int *);                      \
    void p##potrf_(const char *, lint *, real *, lint *, int *);                                             \
    void p##getri_(lint *, real *, lint *, const int *, real *, lint *, int *);                              \
    static void p##lapack(sd_block_kernel kernel, int n, real *a)                                            \
    {                                                                                                        \
        int pivot[SD_BLOCK_MOST], info, room = 1024;                                                         \
        real work[1024];                                                                                     \
        if (kernel == SD_LLT || kernel == SD_LLT_DIAGONAL)                                                   \
            p##potrf_("L", &n, a, &n, &info);                                                                \
        else if (sd_block_symmetric(kernel))                                                                 \
            p##sytrf_("L", &n, a, &n, pivot, work, &room, &info);                                            \
        else                                                                                                 \
            p##getrf_(&n, &n, a, &n, pivot, &info);                                                          \
        if (kernel == SD_JORDAN) p##getri_(&n, a, &n, pivot, work, &room, &info);                            \
    }
LAPACK(d, double)
LAPACK(s, float)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t seed = 1;
static double unit(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

/* 2 n^3 operations a second of dgemm. */
static double peak(void)
{
    const int n = 384;
    double *a = calloc(3 * (size_t)(n * n), sizeof *a), best = 1e9;
    const double one = 1;
    if (!a) exit(1);
    for (int i = 0; i < 3 * n * n; ++i) a[i] = unit();
    for (int round = 0; round < 20; ++round) {
        const double start = now();
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, a + n * n, &n, &one, a + 2 * n * n, &n);
        best = fmin(best, now() - start);
    }
    free(a);
    return 2.0 * n * n * n / best;
}

/* A batch of blocks of n rows in several copies, and room for as many factors. */
typedef struct series {
    sd_engine *e;
    sd_block_plan plan;
    sd_precision precision;
    int n, copies;
    sd_blocks *x;
    sd_block_factors *f;
    sd_vector b, y;
} series;

static double get(const sd_blocks *x, int64_t k)
{
    return x->precision == SD_DOUBLE ? ((double *)x->data)[k] : (double)((float *)x->data)[k];
}

static void set(const sd_blocks *x, int64_t k, double value)
{
    if (x->precision == SD_DOUBLE)
        ((double *)x->data)[k] = value;
    else
        ((float *)x->data)[k] = (float)value;
}

static void fill(series *s, const sd_blocks *x, bool symmetric, bool positive)
{
    const int n = s->n;
    for (int64_t k = 0; k < s->plan.entries; ++k) set(x, k, unit());
    for (int64_t first = 0; symmetric && first < s->plan.entries; first += (int64_t)n * n)
        for (int j = 0; j < n; ++j) {
            if (positive) set(x, first + j * (n + 1), n);
            for (int i = 0; i < j; ++i) set(x, first + i + j * n, get(x, first + j + i * n));
        }
}

static void series_make(series *made, sd_engine *e, sd_precision precision, int n, int count, bool symmetric,
                        bool positive)
{
    *made = (series){.e = e, .precision = precision, .n = n};
    int32_t *start = calloc((size_t)count + 1, sizeof *start);
    if (!start) exit(1);
    for (int k = 0; k <= count; ++k) start[k] = k * n;
    sd_block_plan_make(e, count, start, NULL, NULL, NULL, &made->plan);
    free(start);
    made->copies = (int)(FOOTPRINT / 2 / (made->plan.entries * (int64_t)sd_precision_size(precision))) + 1;
    made->x = calloc((size_t)made->copies, sizeof *made->x);
    made->f = calloc((size_t)made->copies, sizeof *made->f);
    if (!made->x || !made->f) exit(1);
    for (int c = 0; c < made->copies; ++c) {
        made->x[c] = sd_blocks_new(e, &made->plan, precision, "blocks");
        made->f[c] = sd_block_factors_new(e, &made->plan, precision);
        if (e->status) exit(1);
        if (c == 0)
            fill(made, &made->x[c], symmetric, positive);
        else
            memcpy(made->x[c].data, made->x[0].data,
                   (size_t)made->plan.entries * sd_precision_size(precision));
    }
    made->b = sd_vector_new(e, precision, made->plan.rows, "b");
    made->y = sd_vector_new(e, precision, made->plan.rows, "y");
    sd_fill(e, 1, &made->b);
}

static void series_free(series *s)
{
    for (int c = 0; c < s->copies; ++c) {
        sd_blocks_free(s->e, &s->x[c]);
        sd_block_factors_free(s->e, &s->f[c]);
    }
    free(s->x);
    free(s->f);
    sd_vector_free(s->e, &s->b);
    sd_vector_free(s->e, &s->y);
    sd_block_plan_free(s->e, &s->plan);
}

/* Seconds of one round over all copies, a block. */
static double factor_time(series *s, const sd_block_rule *rule)
{
    const double start = now();
    for (int c = 0; c < s->copies; ++c) sd_block_factor(s->e, rule, &s->x[c], &s->f[c]);
    return (now() - start) / s->copies / s->plan.count;
}

static double apply_time(series *s)
{
    const double start = now();
    for (int c = 0; c < s->copies; ++c) sd_block_apply(s->e, &s->f[c], 1, &s->b, &s->y);
    return (now() - start) / s->copies / s->plan.count;
}

/* LAPACK in the place of the factors of one copy: copied there first, which is not counted. */
static double lapack_time(series *s, sd_block_kernel kernel)
{
    const size_t real = sd_precision_size(s->precision), block = (size_t)(s->n * s->n);
    memcpy(s->f[0].data, s->x[0].data, (size_t)s->plan.entries * real);
    const int count = s->plan.count < 20000 ? s->plan.count : 20000;
    const double start = now();
    for (int k = 0; k < count; ++k) {
        if (s->precision == SD_DOUBLE)
            dlapack(kernel, s->n, (double *)s->f[0].data + (size_t)k * block);
        else
            slapack(kernel, s->n, (float *)s->f[0].data + (size_t)k * block);
    }
    return (now() - start) / count;
}

/* Of y, which is F^-1 times ones. */
static double residual(const series *s)
{
    const sd_blocks y = {NULL, s->y.data, s->precision};
    double most = 0;
    for (int64_t k = 0; k < CHECKED; ++k) {
        const int n = s->n;
        double off = 0, a = 0, x = 0;
        for (int i = 0; i < n; ++i) {
            double sum = -1, row = 0;
            for (int j = 0; j < n; ++j) {
                const double v = get(&s->x[0], k * n * n + i + j * n);
                sum += v * get(&y, k * n + j);
                row += fabs(v);
            }
            off = fmax(off, fabs(sum));
            a = fmax(a, row);
            x = fmax(x, fabs(get(&y, k * n + i)));
        }
        most = fmax(most, off / (a * x + 1));
    }
    return most;
}

static const char *const names[SD_BLOCK_KERNELS] = {
    "ldu",          "ldu-partial", "ldu-full",           "llt",
    "llt-diagonal", "ldlt-static", "ldlt-bunch-kaufman", "ldlt-complete",
    "jordan",       "huard",       "huard-transposed"};

static void row(sd_engine *e, sd_block_kernel kernel, sd_precision precision, int n, int count, double most)
{
    const bool symmetric = sd_block_symmetric(kernel);
    const sd_block_rule rule = {.kernel = kernel};
    series s;
    series_make(&s, e, precision, n, count, symmetric, kernel <= SD_LLT_DIAGONAL);
    double mine = 1e9, theirs = 1e9, apply = 1e9;
    for (int round = 0; round < ROUNDS; ++round) {
        theirs = fmin(theirs, lapack_time(&s, kernel));
        mine = fmin(mine, factor_time(&s, &rule));
        apply = fmin(apply, apply_time(&s));
    }
    const double n3 = (double)n * n * n, bytes = (double)(n * n) * (double)sd_precision_size(precision);
    const double flops = kernel == SD_JORDAN ? 2 * n3 : symmetric ? n3 / 3 : 2 * n3 / 3;
    printf("%-19s %s %3d %7d  %8.1f %8.1f %6.2f %5.1f%% %6.1f  %8.1f %6.1f  %.1e\n", names[kernel],
           precision == SD_DOUBLE ? "double" : "single", n, count, mine * 1e9, theirs * 1e9, theirs / mine,
           100 * flops / mine / (precision == SD_DOUBLE ? most : 2 * most), 2 * bytes / mine / 1e9,
           apply * 1e9, bytes / apply / 1e9, residual(&s));
    fflush(stdout);
    series_free(&s);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {4, 8, 16, 24, 32};
    const sd_backend *backend = sd_backend_cpu();
    const char *part = argc > 1 ? argv[argc - 1] : "";
    if (argc > 1 && strcmp(argv[1], "portable") == 0) backend = &sd_cpu_portable, part = argc > 2 ? part : "";
#ifdef SD_HAVE_AVX2
    if (argc > 1 && strcmp(argv[1], "avx2") == 0) backend = &sd_cpu_avx2, part = argc > 2 ? part : "";
    if (argc > 1 && strcmp(argv[1], "avx512") == 0) backend = &sd_cpu_avx512, part = argc > 2 ? part : "";
#endif
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_engine e = {.context = &c, .backend = backend, .threads = 1};
    const double most = peak();
    printf("dgemm: %.1f GFLOP/s\n%-19s %s %3s %7s  %8s %8s %6s %6s %6s  %8s %6s  %s\n", most * 1e-9, "kernel",
           "real  ", "n", "blocks", "ns", "LAPACK", "ratio", "peak", "GB/s", "apply ns", "GB/s", "residual");
    for (sd_block_kernel kernel = 0; kernel < SD_BLOCK_KERNELS; ++kernel)
        for (sd_precision p = 0; p < SD_PRECISIONS; ++p)
            for (int k = 0; k < 5; ++k)
                if (strstr(names[kernel], part))
                    row(&e, kernel, p, sizes[k], sizes[k] < 16 ? 100000 : 10000, most);
    return 0;
}
