/* Blocks to be measured with, and residuals of what was made of them: see driver.h. */
#include "bench/blocks/driver/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = SD_BLOCK_MOST };

const char *const blocks_kernel_names[BENCH_KERNELS] = {
    "ldu-partial", "llt",     "ldlt-static", "ldlt-bunch-kaufman", "ldlt-complete", "jordan",
    "huard",       "huard-t", "ldu",         "ldu-full",           "llt-diagonal",
};

blocks_kind blocks_kind_of(sd_batch_kernel kernel)
{
    if (kernel == BENCH_LDU) return BLOCKS_DOMINANT;
    switch (bench_form(kernel)) {
    case SD_LLT: return BLOCKS_DEFINITE;
    case SD_LDLT_STATIC: return BLOCKS_MATCHED;
    case SD_LDLT_BUNCH_KAUFMAN:
    case SD_LDLT_COMPLETE: return BLOCKS_SYMMETRIC;
    default: return BLOCKS_GENERAL;
    }
}

blocks_form blocks_form_of(sd_batch_kernel kernel)
{
    switch (bench_form(kernel)) {
    case SD_LDU_PARTIAL: return BLOCKS_LDU;
    case SD_LLT: return BLOCKS_LLT;
    case SD_JORDAN: return BLOCKS_INVERSE;
    case SD_HUARD: return BLOCKS_HUARD;
    case SD_HUARD_TRANSPOSED: return BLOCKS_HUARD_TRANSPOSED;
    default: return BLOCKS_LDLT;
    }
}

double blocks_flops(sd_batch_kernel kernel, int32_t n)
{
    const double cube = (double)n * n * n;
    if (kernel == SD_JORDAN) return 2.0 * cube;
    return (sd_batch_symmetric(bench_form(kernel)) ? 1.0 : 2.0) / 3.0 * cube;
}

/* A number between -1 and 1 for each place. */
static double noise(uint64_t place)
{
    uint64_t k = (place + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    k = (k ^ (k >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)(int64_t)(k ^ (k >> 31)) * 0x1p-63;
}

int32_t blocks_rows(int32_t size, int32_t block)
{
    const uint64_t place = UINT64_C(1) << 40 | (uint64_t)(block % BLOCKS_PERIOD);
    return size ? size : 1 + (int32_t)(15.999 * (1.0 + noise(place)));
}

void blocks_place(int32_t size, int32_t block, int64_t *row, int64_t *entry)
{
    const int64_t periods = block / BLOCKS_PERIOD, rest = block % BLOCKS_PERIOD;
    const int32_t most = periods > 0 ? BLOCKS_PERIOD : (int32_t)rest;
    *row = (int64_t)block * size;
    *entry = *row * size;
    for (int32_t k = 0; size == 0 && k < most; ++k) {
        const int64_t n = blocks_rows(0, k), times = periods + (k < rest);
        *row += times * n;
        *entry += times * n * n;
    }
}

/* What the diagonal of row i has beside noise; *pair: how strong its neighbour is. */
static double diagonal(blocks_kind kind, int32_t block, int32_t i, int32_t n, double *pair)
{
    *pair = 0.0;
    if (kind == BLOCKS_DOMINANT || kind == BLOCKS_DEFINITE) return n;
    if (kind != BLOCKS_MATCHED) return 0.0;
    const bool paired = block % 2 == 0 && (i ^ 1) < n;
    if (paired) *pair = n;
    return paired ? 0.0 : i % 2 ? -n : n;
}

void blocks_make(blocks_kind kind, sd_precision precision, int32_t block, int32_t n, double *a)
{
    const int32_t number = block % BLOCKS_PERIOD;
    const bool symmetric = kind >= BLOCKS_SYMMETRIC;
    const uint64_t place = (uint64_t)number * N * N;
    for (int32_t j = 0; j < n; ++j) {
        for (int32_t i = symmetric ? j : 0; i < n; ++i) {
            double pair, value = noise(place + (uint64_t)(i * N + j));
            const double strong = diagonal(kind, number, j, n, &pair);
            if (i == j) value += strong;
            if (i == (j ^ 1)) value += pair;
            if (precision == SD_SINGLE) value = (double)(float)value;
            a[j * n + i] = value;
            if (symmetric) a[i * n + j] = value;
        }
    }
}

void blocks_make_rhs(sd_precision precision, int32_t block, int32_t n, double *b)
{
    const uint64_t place = UINT64_C(1) << 41 | (uint64_t)(block % BLOCKS_PERIOD) * N;
    for (int32_t i = 0; i < n; ++i) {
        const double value = noise(place + (uint64_t)i);
        b[i] = precision == SD_SINGLE ? (double)(float)value : value;
    }
}

/* Frobenius' norm. */
static long double norm(const double *a, int32_t count)
{
    long double sum = 0;
    for (int32_t k = 0; k < count; ++k) sum += (long double)a[k] * a[k];
    return sqrtl(sum);
}

/* b - Ax relative to |A||x| + |b|. */
static long double solution_residual(int32_t n, const double *a, const double *b, const long double *x)
{
    long double size = 0, sum = 0;
    for (int32_t i = 0; i < n; ++i) {
        long double r = b[i];
        for (int32_t j = 0; j < n; ++j) r -= a[j * n + i] * x[j];
        sum += r * r;
        size += x[i] * x[i];
    }
    return sqrtl(sum) / (norm(a, n * n) * sqrtl(size) + norm(b, n));
}

static long double inverse_residual(int32_t n, const double *a, const double *x)
{
    long double sum = 0;
    for (int32_t j = 0; j < n; ++j) {
        for (int32_t i = 0; i < n; ++i) {
            long double r = i == j ? -1 : 0;
            for (int32_t k = 0; k < n; ++k) r += (long double)a[k * n + i] * x[j * n + k];
            sum += r * r;
        }
    }
    return sqrtl(sum) / (norm(a, n * n) * norm(x, n * n));
}

/* The solution by Gauss-Huard (Figure 1 of Anzt et al.) from what was stored, without further rounding. */
static long double huard_residual(const blocks_result *r, const double *a, const double *b)
{
    const int32_t n = r->n;
    long double y[N], x[N];
    for (int32_t k = 0; k < n; ++k) {
        y[k] = b[k];
        for (int32_t j = 0; j < k; ++j) y[k] -= r->f[j * n + k] * y[j];
        y[k] /= r->f[k * n + k];
        for (int32_t i = 0; i < k; ++i) {
            const bool turned = r->form == BLOCKS_HUARD_TRANSPOSED;
            y[i] -= (turned ? r->f[(n - 1 - i) * n + n - 1 - k] : r->f[k * n + i]) * y[k];
        }
    }
    for (int32_t k = 0; k < n; ++k) x[r->column ? r->column[k] : k] = y[k];
    return solution_residual(n, a, b, x);
}

/* Left and right factor, n x n by columns: A permuted is their product. D goes to the right one. */
static void split(const blocks_result *r, long double *left, long double *right)
{
    const int32_t n = r->n;
    const bool symmetric = r->form == BLOCKS_LLT || r->form == BLOCKS_LDLT;
    long double upper[N * N];
    for (int32_t j = 0; j < n; ++j) {
        for (int32_t i = 0; i < n; ++i) {
            const bool pair = i == j + 1 && (r->pairs >> j & 1);
            const long double unit = r->form == BLOCKS_LLT ? r->f[j * n + j] : 1;
            left[j * n + i] = i < j || pair ? 0 : i == j ? unit : r->f[j * n + i];
            if (!symmetric) upper[j * n + i] = i > j ? 0 : i == j ? 1 : r->f[j * n + i];
        }
    }
    for (int32_t k = 0; symmetric && k < n * n; ++k) upper[k % n * n + k / n] = left[k];
    for (int32_t i = 0; i < n; ++i) {
        const bool first = r->pairs >> i & 1, second = i > 0 && (r->pairs >> (i - 1) & 1);
        for (int32_t j = 0; j < n; ++j) {
            long double sum = r->form == BLOCKS_LLT ? upper[j * n + i] : r->f[i * n + i] * upper[j * n + i];
            if (first) sum += r->f[i * n + i + 1] * upper[j * n + i + 1];
            if (second) sum += r->f[(i - 1) * n + i] * upper[j * n + i - 1];
            if (r->form == BLOCKS_LU) sum = i > j ? 0 : r->f[j * n + i];
            right[j * n + i] = sum;
        }
    }
}

static long double product_residual(const blocks_result *r, const double *a)
{
    const int32_t n = r->n;
    const bool symmetric = r->form == BLOCKS_LLT || r->form == BLOCKS_LDLT;
    const uint8_t *column = symmetric ? r->row : r->column;
    long double left[N * N], right[N * N], sum = 0;
    split(r, left, right);
    for (int32_t j = 0; j < n; ++j) {
        for (int32_t i = 0; i < n; ++i) {
            long double e = a[(column ? column[j] : j) * n + (r->row ? r->row[i] : i)];
            for (int32_t k = 0; k < n; ++k) e -= left[k * n + i] * right[j * n + k];
            sum += e * e;
        }
    }
    return sqrtl(sum) / norm(a, n * n);
}

double blocks_residual(const blocks_result *r, const double *a, const double *b)
{
    long double x[N], residual;
    switch (r->form) {
    case BLOCKS_INVERSE: residual = inverse_residual(r->n, a, r->f); break;
    case BLOCKS_HUARD:
    case BLOCKS_HUARD_TRANSPOSED: residual = huard_residual(r, a, b); break;
    case BLOCKS_SOLUTION:
        for (int32_t i = 0; i < r->n; ++i) x[i] = r->f[i];
        residual = solution_residual(r->n, a, b, x);
        break;
    default: residual = product_residual(r, a);
    }
    return isfinite((double)residual) ? (double)residual : INFINITY;
}
