/*
 * What the unit tests share: a random generator with a printed seed, small dense matrices as an
 * oracle, and views of them in every layout, shape, base, width and type.
 *
 * SADDLE_TEST_SEED sets the seed of a run; a failing property names it, so that it can be repeated.
 * Values are whole sixteenths below 64, so that sums of a few, products with each other and the way
 * through float are exact and can be compared with ==.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "saddle/saddle.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Twice the precision of a double: __float128, or a long double that is as wide. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif

/* ---- random numbers: splitmix64 ---- */

typedef struct rng {
    uint64_t state;
} rng;

static inline uint64_t rng_next(rng *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A whole number from 0 to below n. */
static inline int rng_below(rng *r, int n)
{
    return (int)(rng_next(r) % (uint64_t)n);
}

/* Between -1 and 1. */
static inline double rng_unit(rng *r)
{
    return (double)(int64_t)(rng_next(r) >> 11) * 0x1p-52 - 1.0;
}

/* Whole sixteenths in (-64, 64). */
static inline double rng_sixteenth(rng *r)
{
    return (rng_below(r, 2047) - 1023) / 16.0;
}

/* 0 .. n-1 in a random order. */
static inline void rng_permutation(rng *r, int n, int32_t *order)
{
    for (int k = 0; k < n; ++k) {
        const int other = rng_below(r, k + 1);
        order[k] = k;
        order[k] = order[other];
        order[other] = k;
    }
}

/* The seed of this run, printed where a test begins. */
static inline rng rng_start(const char *test)
{
    const char *set = getenv("SADDLE_TEST_SEED");
    const uint64_t seed = set ? strtoull(set, NULL, 10) : 20260101;
    print_message("           %s: SADDLE_TEST_SEED=%llu\n", test, (unsigned long long)seed);
    rng r = {seed};
    rng_next(&r);
    return r;
}

static inline void *test_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

/* ---- dense matrices ---- */

/* Entry (i, j) is a[i * n + j]; what is not stored has there[i * n + j] false and is 0. */
typedef struct dense {
    int n;
    double *a;
    bool *there;
} dense;

static inline dense dense_new(int n)
{
    dense d = {n, test_alloc((size_t)n * (size_t)n, sizeof(double)),
               test_alloc((size_t)n * (size_t)n, sizeof(bool))};
    return d;
}

static inline void dense_free(dense *d)
{
    free(d->a);
    free(d->there);
    *d = (dense){0};
}

static inline dense dense_copy(const dense *from)
{
    dense d = dense_new(from->n);
    const size_t count = (size_t)from->n * (size_t)from->n;
    memcpy(d.a, from->a, count * sizeof *d.a);
    memcpy(d.there, from->there, count * sizeof *d.there);
    return d;
}

static inline void dense_set(dense *d, int i, int j, double value)
{
    d->a[i * d->n + j] = value;
    d->there[i * d->n + j] = true;
}

static inline double dense_at(const dense *d, int i, int j)
{
    return d->a[i * d->n + j];
}

/* Each place is stored with the probability `fill`, one in sixteen of them as an explicit zero. */
static inline dense dense_random(rng *r, int n, double fill, bool symmetric)
{
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            if (symmetric && j < i) continue;
            if (!(fabs(rng_unit(r)) < fill)) continue;
            const double value = rng_below(r, 16) == 0 ? 0.0 : rng_sixteenth(r);
            dense_set(&d, i, j, value);
            if (symmetric) dense_set(&d, j, i, value);
        }
    }
    return d;
}

/* From rows written out; zeros are not stored. */
static inline dense dense_from(int n, const double *rows)
{
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (rows[i * n + j] != 0) dense_set(&d, i, j, rows[i * n + j]);
    return d;
}

/* Solves dense Ax = b by elimination with partial pivoting in long double; false where singular. */
static inline bool dense_solve(const dense *d, const double *b, double *x)
{
    const int n = d->n;
    long double *m = test_alloc((size_t)n * (size_t)(n + 1), sizeof *m);
    bool regular = true;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) m[i * (n + 1) + j] = d->a[i * n + j];
        m[i * (n + 1) + n] = b[i];
    }
    for (int k = 0; k < n && regular; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (fabsl(m[i * (n + 1) + k]) > fabsl(m[p * (n + 1) + k])) p = i;
        regular = m[p * (n + 1) + k] != 0;
        for (int j = 0; j <= n && p != k; ++j) {
            const long double swap = m[k * (n + 1) + j];
            m[k * (n + 1) + j] = m[p * (n + 1) + j];
            m[p * (n + 1) + j] = swap;
        }
        for (int i = k + 1; i < n && regular; ++i) {
            const long double f = m[i * (n + 1) + k] / m[k * (n + 1) + k];
            for (int j = k; j <= n; ++j) m[i * (n + 1) + j] -= f * m[k * (n + 1) + j];
        }
    }
    for (int i = n - 1; i >= 0 && regular; --i) {
        long double sum = m[i * (n + 1) + n];
        for (int j = i + 1; j < n; ++j) sum -= m[i * (n + 1) + j] * (long double)x[j];
        x[i] = (double)(sum / m[i * (n + 1) + i]);
    }
    free(m);
    return regular;
}

/* ---- views ---- */

typedef struct view_style {
    saddle_layout layout;
    saddle_shape shape;
    saddle_type type;
    int base, pointer_bits;
    bool shuffled;   /* entries of a line in any order */
    bool duplicated; /* some entries split into two or three */
} view_style;

static inline view_style rng_style(rng *r, bool symmetric)
{
    view_style s = {.layout = (saddle_layout)rng_below(r, 3),
                    .shape = symmetric ? (saddle_shape)rng_below(r, 4) : SADDLE_GENERAL,
                    .type = (saddle_type)rng_below(r, 2),
                    .base = rng_below(r, 2),
                    .pointer_bits = rng_below(r, 2) ? 32 : 64,
                    .shuffled = rng_below(r, 2),
                    .duplicated = rng_below(r, 2)};
    return s;
}

typedef struct view_entry {
    int i, j;
    double value;
} view_entry;

static inline void shuffle_entries(rng *r, view_entry *entries, int count)
{
    for (int k = count - 1; k > 0; --k) {
        const int other = rng_below(r, k + 1);
        const view_entry swap = entries[k];
        entries[k] = entries[other];
        entries[other] = swap;
    }
}

/* The entries of one line (of all, for coordinates) that the shape stores. */
static inline int collect_entries(rng *r, const dense *d, const view_style *s, int line, view_entry *entries)
{
    const int first = s->layout == SADDLE_COLUMNS ? line : s->layout == SADDLE_ROWS ? line * d->n : 0;
    const int end = s->layout == SADDLE_ROWS ? first + d->n : d->n * d->n;
    int count = 0;
    for (int k = first; k < end; k += s->layout == SADDLE_COLUMNS ? d->n : 1) {
        const int i = k / d->n, j = k % d->n;
        if (!d->there[k]) continue;
        if ((s->shape == SADDLE_LOWER && i < j) || (s->shape == SADDLE_UPPER && i > j)) continue;
        double rest = d->a[k];
        while (s->duplicated && rng_below(r, 3) == 0) {
            const double part = rng_sixteenth(r);
            entries[count++] = (view_entry){i, j, part};
            rest -= part;
        }
        entries[count++] = (view_entry){i, j, rest};
    }
    if (s->shuffled) shuffle_entries(r, entries, count);
    return count;
}

/* A view on new arrays; the oracle of what it holds is d. Freed with view_free. */
static inline saddle_matrix view_make(rng *r, const dense *d, view_style s)
{
    const int n = d->n, room = 16 * n * n + 256;
    view_entry *entries = test_alloc((size_t)room, sizeof *entries);
    int64_t *pointers = test_alloc((size_t)n + 1, sizeof *pointers);
    int32_t *narrow = test_alloc((size_t)n + 1, sizeof *narrow);
    int count = 0;
    const bool coordinates = s.layout == SADDLE_COORDINATES;
    for (int line = 0; line < (coordinates ? 1 : n); ++line) {
        pointers[line] = count + s.base;
        count += collect_entries(r, d, &s, line, entries + count);
        assert_true(count <= room);
    }
    pointers[n] = count + s.base;
    int32_t *indices = test_alloc((size_t)count, sizeof *indices);
    int32_t *columns = test_alloc((size_t)count, sizeof *columns);
    double *values = test_alloc((size_t)count, sizeof *values);
    float *floats = test_alloc((size_t)count, sizeof *floats);
    for (int k = 0; k < count; ++k) {
        indices[k] = (s.layout == SADDLE_ROWS ? entries[k].j : entries[k].i) + s.base;
        columns[k] = entries[k].j + s.base;
        values[k] = entries[k].value;
        floats[k] = (float)entries[k].value;
    }
    for (int j = 0; j <= n; ++j) narrow[j] = (int32_t)pointers[j];
    saddle_matrix A = {.size = sizeof A,
                       .rows = n,
                       .columns = n,
                       .entries = count,
                       .layout = s.layout,
                       .shape = s.shape,
                       .type = s.type,
                       .base = s.base,
                       .pointer_bits = s.pointer_bits,
                       .indices = indices};
    A.pointers = coordinates ? NULL : s.pointer_bits == 32 ? (void *)narrow : (void *)pointers;
    A.col_indices = coordinates ? columns : NULL;
    A.values = s.type == SADDLE_DOUBLE ? (void *)values : (void *)floats;
    if (A.pointers != narrow) free(narrow);
    if (A.pointers != pointers) free(pointers);
    if (!coordinates) free(columns);
    if (s.type == SADDLE_DOUBLE)
        free(floats);
    else
        free(values);
    free(entries);
    return A;
}

static inline void view_free(saddle_matrix *A)
{
    free((void *)(uintptr_t)A->pointers);
    free((void *)(uintptr_t)A->indices);
    free((void *)(uintptr_t)A->col_indices);
    free((void *)(uintptr_t)A->values);
    *A = (saddle_matrix){0};
}

/* The plainest view: rows of a general matrix, sorted, base 0. */
static inline saddle_matrix view_plain(const dense *d, saddle_shape shape)
{
    rng unused = {0};
    const view_style s = {
        shape == SADDLE_LOWER ? SADDLE_COLUMNS : SADDLE_ROWS, shape, SADDLE_DOUBLE, 0, 64, false, false};
    return view_make(&unused, d, s);
}

static inline double view_value(const saddle_matrix *A, int64_t k)
{
    return A->type == SADDLE_DOUBLE ? ((const double *)A->values)[k] : (double)((const float *)A->values)[k];
}

/* Reads a view back, adding up what stands twice and mirroring a triangle: independent of src/matrix. */
static inline dense dense_of_view(const saddle_matrix *A)
{
    dense d = dense_new((int)A->rows);
    int line = 0;
    for (int64_t k = 0; k < A->entries; ++k) {
        int i = A->indices[k] - A->base, j;
        if (A->layout == SADDLE_COORDINATES) {
            j = A->col_indices[k] - A->base;
        } else {
            while ((A->pointer_bits == 32 ? ((const int32_t *)A->pointers)[line + 1]
                                          : ((const int64_t *)A->pointers)[line + 1]) -
                       A->base <=
                   k)
                ++line;
            j = line;
        }
        if (A->layout == SADDLE_ROWS) {
            const int swap = i;
            i = j;
            j = swap;
        }
        assert_in_range(i, 0, d.n - 1);
        assert_in_range(j, 0, d.n - 1);
        if (A->shape == SADDLE_LOWER) assert_true(i >= j);
        if (A->shape == SADDLE_UPPER) assert_true(i <= j);
        dense_set(&d, i, j, dense_at(&d, i, j) + view_value(A, k));
        if (i != j && (A->shape == SADDLE_LOWER || A->shape == SADDLE_UPPER))
            dense_set(&d, j, i, dense_at(&d, i, j));
    }
    return d;
}

static inline void assert_dense_equal(const dense *a, const dense *b)
{
    assert_int_equal(a->n, b->n);
    for (int k = 0; k < a->n * a->n; ++k) {
        if (a->there[k] != b->there[k] || a->a[k] != b->a[k])
            fail_msg("entry (%d, %d) is %g (stored %d), not %g (stored %d)", k / a->n, k % a->n, a->a[k],
                     a->there[k], b->a[k], b->there[k]);
    }
}

/* ---- assertions ---- */

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* Each of 0 .. n-1 once. */
static inline void assert_permutation(const int32_t *perm, int n)
{
    bool *seen = test_alloc((size_t)n, sizeof *seen);
    for (int k = 0; k < n; ++k) {
        assert_in_range(perm[k], 0, n - 1);
        assert_false(seen[perm[k]]);
        seen[perm[k]] = true;
    }
    free(seen);
}

/* SADDLE_TEST_SLOW: walks are shorter, fewer numbers of threads or sizes, for a sanitizer. With the word
 * "threads" only threads are looked at, for which one instruction set stands for all; with "memory", for a
 * GPU that is emulated under a sanitizer, every kernel runs, but seldom. */
static inline bool is_slow(void)
{
    return getenv("SADDLE_TEST_SLOW") != NULL;
}

static inline bool is_about_threads(void)
{
    return is_slow() && strcmp(getenv("SADDLE_TEST_SLOW"), "threads") == 0;
}

static inline bool is_about_memory(void)
{
    return is_slow() && strcmp(getenv("SADDLE_TEST_SLOW"), "memory") == 0;
}
