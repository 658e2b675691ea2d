/*
 * Batches of small dense blocks for tests, in either precision: blocks of many kinds, from random to hostile;
 * and their way through any backend, in by upload, out by download.
 */
#pragma once

#include "backend_or_skip.h"
#include "helpers.h"

#include "backend/batch_memory.h"
#include "bench/kernels/kernels.h"

#include <float.h>

/* ---- numbers in either precision ---- */

static inline double real_at(const void *array, sd_precision precision, int64_t k)
{
    return precision == SD_DOUBLE ? ((const double *)array)[k] : (double)((const float *)array)[k];
}

static inline void real_set(void *array, sd_precision precision, int64_t k, double value)
{
    if (precision == SD_DOUBLE)
        ((double *)array)[k] = value;
    else
        ((float *)array)[k] = (float)value;
}

/* An array of exactly so many numbers, so that the sanitizer sees the first access beyond. */
static inline void *reals_new(sd_precision precision, int64_t count)
{
    return test_alloc((size_t)count, sd_precision_size(precision));
}

static inline double unit_of(sd_precision precision)
{
    return precision == SD_DOUBLE ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
}

static inline const char *precision_name(sd_precision precision)
{
    return precision == SD_DOUBLE ? "double" : "single";
}

/* The library's kernels, and those of the benchmark. */
static const char *const kernel_names[BENCH_KERNELS] = {"LDU, partial",
                                                        "LL'",
                                                        "LDL', static",
                                                        "LDL', Bunch-Kaufman",
                                                        "LDL', complete",
                                                        "Gauss-Jordan",
                                                        "Gauss-Huard",
                                                        "Gauss-Huard, transposed",
                                                        "LDU",
                                                        "LDU, full",
                                                        "LL', diagonal"};

static inline bool is_pivoted(sd_batch_kernel kernel)
{
    return kernel != BENCH_LDU && kernel != SD_LLT && kernel != SD_LDLT_STATIC;
}

static inline bool is_symmetric(sd_batch_kernel kernel)
{
    return sd_batch_symmetric(bench_form(kernel));
}

static inline bool is_cholesky(sd_batch_kernel kernel)
{
    return bench_form(kernel) == SD_LLT;
}

static inline bool is_ldlt(sd_batch_kernel kernel)
{
    return is_symmetric(kernel) && !is_cholesky(kernel);
}

static inline bool is_ldu(sd_batch_kernel kernel)
{
    return bench_form(kernel) == SD_LDU_PARTIAL;
}

/* Whether what it makes are triangles, that multiply back to the block. */
static inline bool has_triangles(sd_batch_kernel kernel)
{
    return is_ldu(kernel) || is_symmetric(kernel);
}

/* Whether backends may take different ones of pivots that are all but equal. */
static inline bool picks_among_equals(sd_batch_kernel kernel)
{
    return kernel == BENCH_LDU_FULL || kernel == SD_LDLT_COMPLETE;
}

/* ---- kinds of blocks ---- */

/* Entry (i, j) of a block of n rows is a[i + j * n], as everywhere. */
typedef enum block_kind {
    RANDOM,
    SPREAD,          /* entries over 30 decades, each on its own */
    GRADED,          /* rows and columns of a random block over 15 decades each */
    NEARLY_SINGULAR, /* a row (symmetric: and column) is the sum of others, to a few roundings */
    ZERO_ROW,        /* and with it exactly singular */
    TIES,            /* entries -1, 0, 1 */
    HADAMARD,        /* +-1, every elimination exact, ties at every step */
    PERMUTATION,     /* with signs */
    DOMINANT,        /* by rows and columns */
    POSITIVE,        /* definite */
    ZERO_DIAGONAL,
    SADDLE_POINT, /* [H B'; B 0], H positive definite (not symmetric: H random) */
    BLOCK_KINDS,
    /* hostile ones, apart from the others */
    ALL_ZERO = BLOCK_KINDS,
    DENORMAL,
    HUGE_ENTRIES,
    WITH_NAN,
    WITH_INFINITY,
    TINY_ENTRIES, /* far below 1, not denormal */
    ARROW,        /* first row, first column and diagonal: fills wherever the first pivot is that corner */
    ALL_ONES,     /* of rank 1 */
    ALL_KINDS
} block_kind;

static const char *const kind_names[ALL_KINDS] = {
    "random",        "spread",           "graded",      "nearly singular", "zero row",
    "ties",          "Hadamard",         "permutation", "dominant",        "positive",
    "zero diagonal", "saddle point",     "all zero",    "denormal",        "huge",
    "with a NaN",    "with an infinity", "tiny",        "arrow",           "all ones",
};

static inline double power_of_ten(rng *r, double decades)
{
    return pow(10, decades * rng_unit(r) / 2);
}

static inline void make_symmetric(int n, double *a)
{
    for (int j = 0; j < n; ++j)
        for (int i = j + 1; i < n; ++i) a[j + i * n] = a[i + j * n];
}

static inline void fill_random(rng *r, int n, double *a)
{
    for (int k = 0; k < n * n; ++k) a[k] = rng_unit(r);
}

static inline void fill_spread(rng *r, int n, double *a)
{
    for (int k = 0; k < n * n; ++k) a[k] = (rng_below(r, 2) ? 1 : -1) * power_of_ten(r, 30);
}

static inline void fill_graded(rng *r, int n, bool symmetric, double *a)
{
    double row[SD_BLOCK_MOST], column[SD_BLOCK_MOST];
    fill_random(r, n, a);
    for (int i = 0; i < n; ++i) {
        row[i] = power_of_ten(r, 15);
        column[i] = symmetric ? row[i] : power_of_ten(r, 15);
    }
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) a[i + j * n] *= row[i] * column[j];
}

/* Row p becomes the sum of the others, each entry changed by a few roundings of `unit`. */
static inline void fill_nearly_singular(rng *r, int n, bool symmetric, double unit, double *a)
{
    const int p = rng_below(r, n);
    fill_random(r, n, a);
    if (symmetric) make_symmetric(n, a);
    for (int j = 0; j < n; ++j) {
        if (symmetric && j == p) continue;
        a[p + j * n] = 0;
        for (int i = 0; i < n; ++i)
            if (i != p) a[p + j * n] += a[i + j * n];
        if (symmetric) a[j + p * n] = a[p + j * n];
    }
    if (symmetric) {
        a[p + p * n] = 0;
        for (int i = 0; i < n; ++i)
            if (i != p) a[p + p * n] += a[i + p * n];
    }
    for (int j = 0; j < n; ++j) a[p + j * n] += 8 * unit * rng_unit(r);
    for (int j = 0; j < n && symmetric; ++j) a[j + p * n] = a[p + j * n];
}

static inline void fill_hadamard(rng *r, int n, double *a)
{
    int order = 1;
    while (2 * order <= n) order *= 2;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            const bool odd = __builtin_popcount((unsigned)(i & j)) & 1;
            a[i + j * n] = i < order && j < order ? (odd ? -1 : 1) : i == j;
        }
    }
    const int p = rng_below(r, order); /* a sign of its own for a row and its column */
    for (int j = 0; j < n; ++j) a[p + j * n] *= -1;
    for (int i = 0; i < n; ++i) a[i + p * n] *= -1;
}

/* Where symmetric, of pairs that change places and of rows that stay. */
static inline void fill_permutation(rng *r, int n, bool symmetric, double *a)
{
    int32_t order[SD_BLOCK_MOST];
    rng_permutation(r, n, order);
    for (int k = 0; k < n * n; ++k) a[k] = 0;
    for (int i = 0; i < n; ++i) {
        const int partner = i % 2 ? i - 1 : i + 1 < n ? i + 1 : i;
        const double sign = rng_below(r, 2) ? 1 : -1;
        if (symmetric)
            a[order[i] + order[partner] * n] = sign;
        else
            a[i + order[i] * n] = sign;
    }
    if (symmetric) make_symmetric(n, a);
}

static inline void fill_dominant(rng *r, int n, double *a)
{
    fill_random(r, n, a);
    for (int i = 0; i < n; ++i) a[i + i * n] = (rng_below(r, 2) ? 1 : -1) * (n + fabs(rng_unit(r)));
}

/* G G' + I/10 */
static inline void fill_positive(rng *r, int n, double *a)
{
    double g[SD_BLOCK_MOST * SD_BLOCK_MOST];
    fill_random(r, n, g);
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            a[i + j * n] = i == j ? 0.1 : 0;
            for (int s = 0; s < n; ++s) a[i + j * n] += g[i + s * n] * g[j + s * n];
        }
    }
    make_symmetric(n, a);
}

static inline void fill_saddle_point(rng *r, int n, bool symmetric, double *a)
{
    const int below = n / 3;
    fill_random(r, n, a);
    if (symmetric) {
        double h[SD_BLOCK_MOST * SD_BLOCK_MOST];
        fill_positive(r, n - below, h);
        for (int j = 0; j < n - below; ++j)
            for (int i = 0; i < n - below; ++i) a[i + j * n] = h[i + j * (n - below)];
    }
    for (int j = n - below; j < n; ++j)
        for (int i = n - below; i < n; ++i) a[i + j * n] = 0;
}

static inline void fill_hostile(rng *r, int n, block_kind kind, sd_precision precision, double *a)
{
    const int p = rng_below(r, n), q = rng_below(r, n);
    const double most = precision == SD_DOUBLE ? DBL_MAX : FLT_MAX;
    const double least = precision == SD_DOUBLE ? DBL_MIN : FLT_MIN;
    fill_random(r, n, a);
    for (int k = 0; k < n * n; ++k) {
        if (kind == ALL_ZERO) a[k] = 0;
        if (kind == DENORMAL) a[k] *= least;
        if (kind == HUGE_ENTRIES) a[k] *= most;
        if (kind == TINY_ENTRIES) a[k] *= precision == SD_DOUBLE ? 1e-300 : 1e-36;
        if (kind == ARROW && k % n != 0 && k / n != 0 && k % n != k / n) a[k] = 0;
        if (kind == ALL_ONES) a[k] = 1;
    }
    if (kind == WITH_NAN) a[p + q * n] = a[q + p * n] = NAN;
    if (kind == WITH_INFINITY) a[p + q * n] = a[q + p * n] = rng_below(r, 2) ? INFINITY : -INFINITY;
}

static inline void fill_block(rng *r, int n, block_kind kind, bool symmetric, sd_precision precision,
                              double *a)
{
    const int p = rng_below(r, n);
    switch (kind) {
    case SPREAD: fill_spread(r, n, a); break;
    case GRADED: fill_graded(r, n, symmetric, a); break;
    case NEARLY_SINGULAR: fill_nearly_singular(r, n, symmetric, unit_of(precision), a); break;
    case TIES:
        for (int k = 0; k < n * n; ++k) a[k] = rng_below(r, 3) - 1;
        break;
    case HADAMARD: fill_hadamard(r, n, a); break;
    case PERMUTATION: fill_permutation(r, n, symmetric, a); break;
    case DOMINANT: fill_dominant(r, n, a); break;
    case POSITIVE: fill_positive(r, n, a); break;
    case SADDLE_POINT: fill_saddle_point(r, n, symmetric, a); break;
    case RANDOM:
    case ZERO_ROW:
    case ZERO_DIAGONAL: fill_random(r, n, a); break;
    default: fill_hostile(r, n, kind, precision, a); break;
    }
    for (int i = 0; i < n; ++i) {
        if (kind == ZERO_ROW) a[p + i * n] = 0;
        if (kind == ZERO_ROW && symmetric) a[i + p * n] = 0;
        if (kind == ZERO_DIAGONAL) a[i + i * n] = 0;
    }
    if (symmetric) make_symmetric(n, a);
}

/* ---- batches on the host ---- */

typedef struct batch {
    sd_precision precision;
    int32_t blocks;
    int32_t *start;   /* blocks + 1 first rows */
    int64_t *entry;   /* blocks + 1 first entries */
    block_kind *kind; /* of each block */
    void *data;
} batch;

static inline int batch_size(const batch *b, int32_t k)
{
    return b->start[k + 1] - b->start[k];
}

static inline double batch_at(const batch *b, int32_t k, int i, int j)
{
    return real_at(b->data, b->precision, b->entry[k] + i + (int64_t)j * batch_size(b, k));
}

static inline void batch_set(batch *b, int32_t k, const double *a)
{
    const int n = batch_size(b, k);
    for (int64_t s = 0; s < n * n; ++s) real_set(b->data, b->precision, b->entry[k] + s, a[s]);
}

/* All entries 0. */
static inline batch batch_new(sd_precision precision, int32_t blocks, const int *size)
{
    batch b = {.precision = precision, .blocks = blocks};
    b.start = test_alloc((size_t)blocks + 1, sizeof *b.start);
    b.entry = test_alloc((size_t)blocks + 1, sizeof *b.entry);
    b.kind = test_alloc((size_t)blocks, sizeof *b.kind);
    for (int32_t k = 0; k < blocks; ++k) {
        b.start[k + 1] = b.start[k] + size[k];
        b.entry[k + 1] = b.entry[k] + (int64_t)size[k] * size[k];
    }
    b.data = reals_new(precision, b.entry[blocks]);
    return b;
}

static inline void batch_free(batch *b)
{
    free(b->start);
    free(b->entry);
    free(b->kind);
    free(b->data);
    *b = (batch){0};
}

/* `each` blocks of every kind below `kinds` and every size from 1 to 32, in a random order. */
static inline batch batch_of_kinds(rng *r, sd_precision precision, bool symmetric, int kinds, int each)
{
    const int32_t blocks = kinds * SD_BLOCK_MOST * each;
    int *size = test_alloc((size_t)blocks, sizeof *size);
    int32_t *order = test_alloc((size_t)blocks, sizeof *order);
    double a[SD_BLOCK_MOST * SD_BLOCK_MOST];
    rng_permutation(r, blocks, order);
    for (int32_t k = 0; k < blocks; ++k) size[k] = order[k] % SD_BLOCK_MOST + 1;
    batch b = batch_new(precision, blocks, size);
    for (int32_t k = 0; k < blocks; ++k) {
        b.kind[k] = (block_kind)(order[k] / SD_BLOCK_MOST % kinds);
        fill_block(r, size[k], b.kind[k], symmetric, precision, a);
        batch_set(&b, k, a);
    }
    free(size);
    free(order);
    return b;
}

/* ---- on a backend ---- */

/* The CUDA module with the benchmark's kernels, where SADDLE_TEST_CUDA=1 asks for it. */
static inline const sd_backend *bench_cuda_or_skip(void)
{
    const char *path = getenv("SADDLE_BENCH_CUDA_MODULE");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    cuda_or_skip();
    if (!path) fail_msg("SADDLE_BENCH_CUDA_MODULE does not say where it is");
    const sd_backend *cuda = bench_cuda_module(&c, path);
    if (!cuda) fail_msg("%s", c.message);
    return cuda;
}

/* The plan of some blocks of a batch on an engine, their numbers, and room for their factors. */
typedef struct placed_batch {
    sd_batch_plan plan;
    sd_batch x;
    sd_batch_factors f;
} placed_batch;

static inline void fill_bytes(sd_engine *e, void *memory, int64_t bytes, int value)
{
    void *host = test_alloc((size_t)bytes, 1);
    memset(host, value, (size_t)bytes);
    e->backend->upload(e, host, memory, bytes);
    free(host);
}

/* What the kernels must not touch holds 0xa5. */
enum { UNTOUCHED = 0xa5 };

/* The numbers of the wanted blocks, one after the other, on the engine. */
static inline void *place_numbers(sd_engine *e, const batch *b, const void *data, const bool *wanted,
                                  int64_t entries)
{
    const size_t one = sd_precision_size(b->precision);
    char *packed = test_alloc((size_t)entries, one), *next = packed;
    for (int32_t k = 0; k < b->blocks; ++k) {
        if (wanted && !wanted[k]) continue;
        const size_t bytes = (size_t)(b->entry[k + 1] - b->entry[k]) * one;
        memcpy(next, (const char *)data + (size_t)b->entry[k] * one, bytes);
        next += bytes;
    }
    assert_int_equal(next - packed, entries * (int64_t)one);
    void *there = sd_to_backend(e, packed, entries * (int64_t)one, "test");
    assert_int_equal(e->status, SADDLE_OK);
    free(packed);
    return there;
}

static inline void place_batch(sd_engine *e, const batch *b, const bool *wanted, const int32_t *source,
                               const int32_t *target, placed_batch *p)
{
    const int64_t one = (int64_t)sd_precision_size(b->precision);
    assert_int_equal(sd_batch_place(e, b->blocks, b->start, wanted, source, target, &p->plan), SADDLE_OK);
    p->x = (sd_batch){&p->plan, place_numbers(e, b, b->data, wanted, p->plan.entries), b->precision};
    p->f = sd_batch_factors_new(e, &p->plan, b->precision);
    assert_int_equal(e->status, SADDLE_OK);
    fill_bytes(e, p->f.data, p->plan.entries * one, UNTOUCHED);
    fill_bytes(e, p->f.row, p->plan.rows, UNTOUCHED);
    fill_bytes(e, p->f.column, p->plan.rows, UNTOUCHED);
    fill_bytes(e, p->f.state, p->plan.blocks * (int64_t)sizeof *p->f.state, UNTOUCHED);
}

static inline void unplace_batch(sd_engine *e, placed_batch *p)
{
    sd_batch_free(e, &p->x);
    sd_batch_factors_free(e, &p->f);
    sd_batch_unplace(e, &p->plan);
}

/* Factors on the host, laid out as in the plan. */
typedef struct factors {
    sd_batch_kernel kernel;
    sd_precision precision;
    int64_t entries;
    int32_t rows, blocks;
    void *data;
    uint8_t *row, *column;
    sd_batch_state *state;
} factors;

static inline factors get_factors(sd_engine *e, const placed_batch *p)
{
    factors f = {.kernel = p->f.kernel,
                 .precision = p->f.precision,
                 .entries = p->plan.entries,
                 .rows = p->plan.rows,
                 .blocks = p->plan.blocks};
    const int64_t bytes = f.entries * (int64_t)sd_precision_size(f.precision);
    f.data = reals_new(f.precision, f.entries);
    f.row = test_alloc((size_t)f.rows, 1);
    f.column = test_alloc((size_t)f.rows, 1);
    f.state = test_alloc((size_t)f.blocks, sizeof *f.state);
    e->backend->download(e, p->f.data, f.data, bytes);
    e->backend->download(e, p->f.row, f.row, f.rows);
    e->backend->download(e, p->f.column, f.column, f.rows);
    e->backend->download(e, p->f.state, f.state, f.blocks * (int64_t)sizeof *f.state);
    assert_int_equal(e->status, SADDLE_OK);
    return f;
}

static inline void free_factors(factors *f)
{
    free(f->data);
    free(f->row);
    free(f->column);
    free(f->state);
    *f = (factors){0};
}

/* Factors a batch that is in its place, and gets what came of it. */
static inline factors factor_placed(sd_engine *e, placed_batch *p, const sd_batch_rule *rule,
                                    bench_version version)
{
    bench_factor(e, rule, version, &p->x, &p->f);
    assert_int_equal(p->f.kernel, bench_form(rule->kernel));
    factors f = get_factors(e, p);
    f.kernel = rule->kernel;
    return f;
}

static inline factors factor_batch_as(sd_engine *e, const batch *b, const sd_batch_rule *rule,
                                      bench_version version)
{
    placed_batch p;
    place_batch(e, b, NULL, NULL, NULL, &p);
    factors f = factor_placed(e, &p, rule, version);
    unplace_batch(e, &p);
    return f;
}

static inline factors factor_batch(sd_engine *e, const batch *b, const sd_batch_rule *rule)
{
    return factor_batch_as(e, b, rule, BENCH_DEFAULT);
}

/* An engine on a backend, with a context of its own. */
typedef struct bench {
    sd_context c;
    sd_device d;
    sd_engine e;
} bench;

static inline void bench_open(bench *s, const sd_backend *backend, int threads)
{
    sd_context_init(&s->c, NULL, 0);
    open_engine_on(&s->c, backend, threads, &s->d, &s->e);
}

static inline void bench_close(bench *s)
{
    assert_int_equal(s->e.status, SADDLE_OK);
    sd_engine_close(&s->e);
    sd_device_close(&s->c, &s->d);
    assert_int_equal(s->c.bytes, 0);
}
