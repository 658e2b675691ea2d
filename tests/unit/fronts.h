/*
 * Fronts for tests, in either precision: made from a dense symmetric matrix, factored by any table of
 * kernels, and multiplied together again: P A P' = L D L' + S, S what is left in the columns that were not
 * eliminated and in the rest.
 */
#pragma once

#include "helpers.h"

#include "backend/front.h"

#include <float.h>

typedef struct test_front {
    sd_front f;
    int single;
    double *a; /* the matrix it was made from, rows x rows; variables are its rows */
    void *work;
    sd_pivots pivots;
} test_front;

static inline double number_at(const void *array, int single, int64_t k)
{
    return single ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

static inline void number_set(void *array, int single, int64_t k, double value)
{
    if (single)
        ((float *)array)[k] = (float)value;
    else
        ((double *)array)[k] = value;
}

/* An array of exactly so many numbers, so that the sanitizer sees the first access beyond. */
static inline void *numbers_new(int single, int64_t count)
{
    return test_alloc((size_t)count, single ? sizeof(float) : sizeof(double));
}

/* Entry (i, j) of a front, i >= j, in its panel or its rest. */
static inline double front_at(const sd_front *f, int single, int i, int j)
{
    if (j < f->columns) return number_at(f->panel, single, i + j * f->ld);
    if (f->rest_empty) return 0;
    return number_at(f->rest, single, sd_rest_at(f->rows - f->columns, i - f->columns, j - f->columns));
}

/* With panel and rest unset where they are not read: NaN above the panel's diagonal and below its rows. */
static inline test_front front_new(const sd_front_kernels *kernels, int single, int rows, int columns,
                                   int slack)
{
    test_front t = {.single = single, .f = {.rows = rows, .columns = columns, .ld = rows + slack}};
    const int q = rows - columns;
    t.f.panel = numbers_new(single, t.f.ld * columns);
    t.f.rest = numbers_new(single, sd_rest_size(q));
    t.f.d = numbers_new(single, 2 * (int64_t)columns);
    t.f.variable = test_alloc((size_t)columns, sizeof *t.f.variable);
    t.a = test_alloc((size_t)rows * (size_t)rows, sizeof *t.a);
    t.work = numbers_new(single, kernels[single].work(rows, columns));
    for (int j = 0; j < columns; ++j) {
        t.f.variable[j] = j;
        for (int i = 0; i < t.f.ld; ++i)
            if (i < j || i >= rows) number_set(t.f.panel, single, i + j * t.f.ld, NAN);
    }
    for (int64_t k = 0; k < sd_rest_size(q); ++k) number_set(t.f.rest, single, k, NAN);
    t.f.rest_empty = true;
    return t;
}

static inline void front_free(test_front *t)
{
    free(t->f.panel);
    free(t->f.rest);
    free(t->f.d);
    free(t->f.variable);
    free(t->a);
    free(t->work);
    *t = (test_front){0};
}

/* Entry (i, j) and (j, i) of t->a, rounded to the front's precision. */
static inline void front_value(test_front *t, int i, int j, double value)
{
    if (t->single) value = (double)(float)value;
    t->a[i * t->f.rows + j] = t->a[j * t->f.rows + i] = value;
}

/* Puts t->a into the front; the rest only where it is to hold something. */
static inline void front_load(test_front *t, bool rest)
{
    const int n = t->f.rows, m = t->f.columns;
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            const double value = t->a[i * n + j];
            if (j < m)
                number_set(t->f.panel, t->single, i + j * t->f.ld, value);
            else if (rest)
                number_set(t->f.rest, t->single, sd_rest_at(n - m, i - m, j - m), value);
            else
                front_value(t, i, j, 0);
        }
    }
    t->f.rest_empty = !rest;
}

static inline void front_factor(test_front *t, const sd_front_kernels *kernels, const sd_pivoting *pivoting)
{
    t->pivots = (sd_pivots){0};
    kernels[t->single].factor(&t->f, pivoting, &t->pivots, t->work, NULL);
    kernels[t->single].update(&t->f, t->work, NULL, NULL);
}

static inline double front_l(const test_front *t, int i, int k)
{
    return i < k ? 0 : i == k ? 1 : front_at(&t->f, t->single, i, k);
}

/* (D x)_k */
static inline double front_d_times(const test_front *t, const double *x, int k)
{
    const double off = number_at(t->f.d, t->single, 2 * k + 1);
    double sum = number_at(t->f.d, t->single, 2 * k) * x[k];
    if (off != 0) sum += off * x[k + 1];
    if (k > 0 && number_at(t->f.d, t->single, 2 * k - 1) != 0)
        sum += number_at(t->f.d, t->single, 2 * k - 1) * x[k - 1];
    return sum;
}

/* max |A - P'(L D L' + S)P| over max of |L| |D| |L'| + |S| + |A|, in units of the roundoff. */
static inline double front_error(const test_front *t)
{
    const int n = t->f.rows, e = t->f.eliminated;
    double *row = test_alloc((size_t)e + 1, sizeof *row), worst = 0, scale = DBL_MIN;
    for (int j = 0; j < n; ++j) {
        for (int k = 0; k < e; ++k) row[k] = front_l(t, j, k);
        const int column = j < t->f.columns ? t->f.variable[j] : j;
        for (int i = j; i < n; ++i) {
            double sum = j < e ? 0 : front_at(&t->f, t->single, i, j), size = fabs(sum);
            for (int k = 0; k < e; ++k) {
                const double term = front_l(t, i, k) * front_d_times(t, row, k);
                sum += term;
                size += fabs(term);
            }
            const double wanted = t->a[(i < t->f.columns ? t->f.variable[i] : i) * n + column];
            worst = !(fabs(sum - wanted) <= worst) ? fabs(sum - wanted) : worst;
            scale = fmax(scale, size + fabs(wanted));
        }
    }
    free(row);
    return worst / scale / (t->single ? FLT_EPSILON : DBL_EPSILON);
}

/* D's pivots counted from its own entries. */
static inline sd_pivots front_count(const test_front *t)
{
    sd_pivots p = {0};
    for (int k = 0; k < t->f.eliminated; ++k) {
        const double a = number_at(t->f.d, t->single, 2 * k), b = number_at(t->f.d, t->single, 2 * k + 1);
        if (b == 0) {
            p.positive += a > 0;
            p.negative += a < 0;
            p.zero += a == 0;
            continue;
        }
        const double c = number_at(t->f.d, t->single, 2 * k + 2);
        const quad det = (quad)a * c - (quad)b * b; /* exact */
        p.positive += det < 0 ? 1 : 2 * (a + c > 0);
        p.negative += det < 0 ? 1 : 2 * (a + c < 0);
        p.two_by_two += 1;
        ++k;
    }
    return p;
}

static inline void assert_pivots(const sd_pivots *a, const sd_pivots *b)
{
    assert_int_equal(a->positive, b->positive);
    assert_int_equal(a->negative, b->negative);
    assert_int_equal(a->zero, b->zero);
    assert_int_equal(a->two_by_two, b->two_by_two);
}

/* All that must hold after factor and update with the threshold rule. */
static inline void assert_factored(const test_front *t, const sd_pivoting *pivoting)
{
    const double error = front_error(t), largest = sd_fronts_reference[t->single].largest(&t->f);
    const sd_pivots counted = front_count(t);
    if (!(error <= 20.0 * t->f.rows)) fail_msg("A - LDL' is %g roundoffs", error);
    if (!pivoting->root) assert_true(largest <= 1 / pivoting->u * (1 + 1e-6));
    assert_false(t->f.rest_empty);
    assert_pivots(&t->pivots, &counted);
    assert_int_equal(counted.positive + counted.negative + counted.zero, t->f.eliminated);
    assert_permutation(t->f.variable, t->f.columns);
}

static const sd_pivoting threshold = {.rule = SD_PIVOT_THRESHOLD, .u = 0.01, .small = 1e-20};

/* The threshold rule for a root, which delays nothing, or for another front. */
static inline sd_pivoting threshold_of(bool root)
{
    sd_pivoting pivoting = threshold;
    pivoting.root = root;
    return pivoting;
}

/* Every kind of front that a test goes through. */
typedef enum front_kind {
    FRONT_RANDOM,
    FRONT_DOMINANT,
    FRONT_SINGULAR, /* of rank about half */
    FRONT_SADDLE,   /* [0 B; B' 0] */
    FRONT_GRADED,   /* rows from 1 down to 1e-12 */
    FRONT_DELAYED,  /* large rows below the columns: most pivots fail */
    FRONT_SPARSE,   /* four fifths zeros */
    FRONT_KINDS
} front_kind;

static inline void front_fill_singular(test_front *t, rng *r)
{
    const int n = t->f.rows, rank = n / 2 + 1;
    double *b = test_alloc((size_t)n * (size_t)rank, sizeof *b);
    for (int k = 0; k < n * rank; ++k) b[k] = rng_below(r, 5) - 2;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k < rank; ++k) sum += (k % 2 ? -1 : 1) * b[i * rank + k] * b[j * rank + k];
            front_value(t, i, j, sum);
        }
    }
    free(b);
}

/* Fills t->a; front_load puts it into place. */
static inline void front_fill(test_front *t, rng *r, front_kind kind)
{
    const int n = t->f.rows, m = t->f.columns;
    if (kind == FRONT_SINGULAR) {
        front_fill_singular(t, r);
        return;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double value = rng_unit(r);
            if (kind == FRONT_DOMINANT && i == j) value = (value < 0 ? -1 : 1) * (n + 1.0);
            if (kind == FRONT_SADDLE && i < m && (i < m / 2) == (j < m / 2)) value = 0;
            if (kind == FRONT_GRADED) value *= pow(10, -12.0 * (i + j) / (2 * n));
            if (kind == FRONT_DELAYED && i >= m) value *= 300;
            if (kind == FRONT_SPARSE && rng_below(r, 5)) value = 0;
            front_value(t, i, j, value);
        }
    }
}

/* Puts a number that is none anywhere into its columns and factors by the threshold rule: a root has
 * eliminated all its columns and it is seen in L or D, any other has left the columns that it spoilt. */
static inline void assert_nan_seen(test_front *t, const sd_front_kernels *tables, rng *r, double none)
{
    const sd_pivoting pivoting = threshold_of(t->f.rows == t->f.columns);
    front_value(t, rng_below(r, t->f.rows), rng_below(r, t->f.columns), none);
    front_load(t, false);
    front_factor(t, tables, &pivoting);
    const double largest = tables[t->single].largest(&t->f);
    if (t->f.rows > t->f.columns) {
        assert_true(t->f.eliminated < t->f.columns);
        assert_true(largest <= 100.001);
        return;
    }
    bool finite = isfinite(largest);
    for (int k = 0; k < 2 * t->f.columns; ++k) finite &= isfinite(number_at(t->f.d, t->single, k));
    assert_int_equal(t->f.eliminated, t->f.columns);
    assert_false(finite);
}
