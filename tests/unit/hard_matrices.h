/*
 * Families of random symmetric matrices whose eigenvalues are hard to count: nearly rank-deficient
 * constraints, interior-point systems late in their course, quasidefinite, graded and arrow matrices,
 * Laplacians, redundant constraints. Small enough for rational arithmetic (exact.h).
 */
#pragma once

#include "factoring.h"

/* SADDLE_TEST_FULL: tens of thousands of matrices. */
static inline bool is_full(void)
{
    return getenv("SADDLE_TEST_FULL") != NULL;
}

/* A whole number from least to most. */
static inline int rng_between(rng *r, int least, int most)
{
    return least + rng_below(r, most - least + 1);
}

static inline double rng_uniform(rng *r, double least, double most)
{
    return least + (most - least) * 0.5 * (1 + rng_unit(r));
}

/* 10^e, e uniform. */
static inline double rng_decades(rng *r, double least, double most)
{
    return pow(10, rng_uniform(r, least, most));
}

static inline double rng_sign(rng *r)
{
    return rng_below(r, 2) ? 1 : -1;
}

/* (I A; A' 0), the last column of A within 1e-14 to 1e-6 of a combination of the others. */
static inline dense nearly_dependent(rng *r)
{
    const int m = rng_between(r, 4, 14), k = rng_between(r, 2, m < 8 ? m : 8);
    const double distance = rng_decades(r, -14, -6);
    dense d = dense_new(m + k);
    double factors[8];
    for (int j = 0; j < k; ++j) factors[j] = rng_unit(r);
    for (int i = 0; i < m; ++i) {
        double sum = 0;
        dense_set(&d, i, i, 1);
        for (int j = 0; j < k - 1; ++j) {
            const double value = rng_unit(r);
            set_both(&d, i, m + j, value);
            sum += factors[j] * value;
        }
        set_both(&d, i, m + k - 1, sum + distance * rng_unit(r));
    }
    return d;
}

/* (H + S, J'; J 0): S over 10^+-decades, H diagonally dominant, J whole numbers or not. */
static inline dense interior_point(rng *r, double decades, bool whole)
{
    const int variables = rng_between(r, 4, 30), m = rng_between(r, 1, variables / 2);
    dense d = dense_new(variables + m);
    for (int i = 0; i < variables; ++i) dense_set(&d, i, i, rng_decades(r, -decades, decades));
    for (int k = rng_between(r, 0, variables); k > 0; --k) {
        const int i = rng_below(r, variables), j = rng_below(r, variables);
        const double value = rng_unit(r);
        if (i == j) continue;
        set_both(&d, i, j, dense_at(&d, i, j) + value);
        dense_set(&d, i, i, dense_at(&d, i, i) + fabs(value));
        dense_set(&d, j, j, dense_at(&d, j, j) + fabs(value));
    }
    for (int row = variables; row < d.n; ++row)
        for (int k = rng_between(r, 2, 5); k > 0; --k)
            set_both(&d, row, rng_below(r, variables), whole ? rng_between(r, -3, 3) : 2 * rng_unit(r));
    return d;
}

static inline dense interior_point_some_decades(rng *r)
{
    return interior_point(r, rng_uniform(r, 4, 10), false);
}

static inline dense interior_point_many_decades(rng *r)
{
    return interior_point(r, rng_uniform(r, 2, 11), false);
}

static inline dense interior_point_whole_numbers(rng *r)
{
    return interior_point(r, rng_uniform(r, 2, 11), true);
}

/* (D B'; B -E), D and E positive diagonals: small ones where `graded` is false. */
static inline dense quasidefinite(rng *r, bool graded)
{
    const int positive = rng_between(r, 3, 20), m = rng_between(r, 1, positive);
    const double decades = rng_uniform(r, 2, 10);
    dense d = dense_new(positive + m);
    for (int i = 0; i < positive; ++i) dense_set(&d, i, i, rng_decades(r, -decades, graded ? decades : 0));
    for (int i = positive; i < d.n; ++i) {
        dense_set(&d, i, i, -rng_decades(r, -12, graded ? 0 : -6));
        for (int k = rng_between(r, 1, 4); k > 0; --k)
            set_both(&d, i, rng_below(r, positive), 2 * rng_unit(r));
    }
    return d;
}

static inline dense quasidefinite_small(rng *r)
{
    return quasidefinite(r, false);
}

static inline dense quasidefinite_graded(rng *r)
{
    return quasidefinite(r, true);
}

/* S K S with whole numbers K and a diagonal S over 10^+-decades, rounded. */
static inline dense graded(rng *r, double decades)
{
    const int n = rng_between(r, 3, 18);
    dense d = dense_new(n);
    double scale[18];
    for (int i = 0; i < n; ++i) scale[i] = rng_decades(r, -decades, decades);
    for (int k = rng_between(r, n, 3 * n); k > 0; --k) {
        const int i = rng_below(r, n), j = rng_below(r, n);
        set_both(&d, i, j, rng_between(r, -4, 4) * scale[i] * scale[j]);
    }
    return d;
}

static inline dense graded_near(rng *r)
{
    return graded(r, rng_uniform(r, 1, 12));
}

/* Entries from 1e-150 to 1e150. */
static inline dense graded_far(rng *r)
{
    return graded(r, rng_uniform(r, 1, 75));
}

/* Every entry of a size of its own. */
static inline dense spread(rng *r)
{
    const int n = rng_between(r, 3, 18);
    const double decades = rng_uniform(r, 1, 12);
    dense d = dense_new(n);
    for (int k = rng_between(r, n, 3 * n); k > 0; --k) {
        const int i = rng_below(r, n), j = rng_below(r, n);
        set_both(&d, i, j, rng_sign(r) * rng_decades(r, -decades, decades));
    }
    return d;
}

/* A diagonal and a full last row. */
static inline dense arrow(rng *r)
{
    const int n = rng_between(r, 4, 30);
    const double decades = rng_uniform(r, 1, 9);
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i)
        dense_set(&d, i, i, (rng_below(r, 4) ? 1 : -1) * rng_decades(r, -decades, decades));
    for (int i = 0; i < n - 1; ++i) set_both(&d, n - 1, i, rng_unit(r));
    return d;
}

/* The same with a last pivot, the Schur complement, of 1e-16 to 1e-8 of its terms. */
static inline dense arrow_nearly_singular(rng *r)
{
    dense d = arrow(r);
    const int last = d.n - 1;
    double sum = 0;
    for (int i = 0; i < last; ++i) sum += dense_at(&d, last, i) * dense_at(&d, last, i) / dense_at(&d, i, i);
    dense_set(&d, last, last, sum * (1 + rng_sign(r) * rng_decades(r, -16, -8)));
    return d;
}

/* About four whole numbers a row. */
static inline dense whole_numbers(rng *r)
{
    const int n = rng_between(r, 3, 20);
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j)
            if (rng_below(r, n) < 4) set_both(&d, i, j, rng_between(r, -2, 2));
    return d;
}

/* The 3x3 matrices with entries from -2 to 2, zeros not stored. */
enum { SMALL_ALL = 15625 }; /* 5^6 */

static inline dense small_numbers(int k)
{
    dense d = dense_new(3);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j <= i; ++j, k /= 5)
            if (k % 5 != 2) set_both(&d, i, j, k % 5 - 2);
    return d;
}

/* From one of them to the next that is looked at. */
static inline int small_step(void)
{
    return is_slow() ? 211 : is_full() ? 1 : 13;
}

typedef enum weights { WEIGHTS_WHOLE, WEIGHTS_REAL, WEIGHTS_WHOLE_SHIFTED, WEIGHTS_REAL_SHIFTED } weights;

/* The Laplacian of a connected graph, with row sums as they round; shifted by 1e-14 to 1e-9 in each row. */
static inline dense laplacian(rng *r, weights kind)
{
    const int n = rng_between(r, 3, 30);
    const bool whole = kind == WEIGHTS_WHOLE || kind == WEIGHTS_WHOLE_SHIFTED;
    dense d = dense_new(n);
    for (int k = 1; k < 3 * n; ++k) {
        const int i = k < n ? k : rng_below(r, n), j = rng_below(r, k < n ? k : n);
        if (i == j || d.there[i * n + j]) continue;
        set_both(&d, i, j, whole ? -rng_between(r, 1, 5) : -rng_decades(r, -6, 6));
    }
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum -= dense_at(&d, i, j);
        dense_set(&d, i, i, kind >= WEIGHTS_WHOLE_SHIFTED ? sum + rng_decades(r, -14, -9) : sum);
    }
    return d;
}

static inline dense laplacian_whole(rng *r)
{
    return laplacian(r, WEIGHTS_WHOLE);
}

static inline dense laplacian_real(rng *r)
{
    return laplacian(r, WEIGHTS_REAL);
}

static inline dense laplacian_whole_shifted(rng *r)
{
    return laplacian(r, WEIGHTS_WHOLE_SHIFTED);
}

static inline dense laplacian_real_shifted(rng *r)
{
    return laplacian(r, WEIGHTS_REAL_SHIFTED);
}

/* (H J'; J 0) with rows of J that are sums of two others; three of four diagonal entries of H are there. */
static inline dense redundant(rng *r, bool whole)
{
    const int variables = rng_between(r, 4, 20), m = rng_between(r, 2, variables / 2);
    dense d = dense_new(variables + m);
    for (int i = 0; i < variables; ++i)
        if (rng_below(r, 4)) dense_set(&d, i, i, whole ? rng_between(r, 1, 9) : rng_decades(r, -8, 8));
    for (int row = variables; row < d.n; ++row)
        for (int k = 0; k < 3; ++k) set_both(&d, row, rng_below(r, variables), rng_between(r, -2, 2));
    for (int k = rng_between(r, 1, 2); k > 0 && m >= 3; --k) {
        const int sum = variables + rng_below(r, m);
        const int one = variables + rng_below(r, m), two = variables + rng_below(r, m);
        for (int i = 0; i < variables && sum != one && sum != two; ++i)
            if (d.there[one * d.n + i] || d.there[two * d.n + i] || d.there[sum * d.n + i])
                set_both(&d, sum, i, dense_at(&d, one, i) + dense_at(&d, two, i));
    }
    return d;
}

static inline dense redundant_whole(rng *r)
{
    return redundant(r, true);
}

static inline dense redundant_real(rng *r)
{
    return redundant(r, false);
}

/* An exactly singular matrix and a nearly singular one that do not touch, in a random order, the second of
 * any size: what is zero in the first must not hide what is not in the second. */
static inline dense direct_sum(rng *r)
{
    dense one = rng_below(r, 2) ? laplacian_whole(r) : redundant_whole(r);
    dense two = rng_below(r, 2) ? arrow_nearly_singular(r) : nearly_dependent(r);
    const int n = one.n + two.n;
    const double size = rng_decades(r, -20, 20);
    dense d = dense_new(n);
    int32_t *order = test_alloc((size_t)n, sizeof *order);
    rng_permutation(r, n, order);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) {
            const bool first = i < one.n, apart = !first && j < one.n;
            const dense *of = first ? &one : &two;
            const int at = apart ? 0 : (i - (first ? 0 : one.n)) * of->n + j - (first ? 0 : one.n);
            if (!apart && of->there[at]) set_both(&d, order[i], order[j], of->a[at] * (first ? 1 : size));
        }
    free(order);
    dense_free(&one);
    dense_free(&two);
    return d;
}

typedef struct family {
    const char *name;
    dense (*make)(rng *r);
    bool whole; /* whole numbers: their eigenvalues are 0 or far from it */
} family;

static const family FAMILIES[] = {
    {"nearly dependent constraints", nearly_dependent, false},
    {"interior point", interior_point_some_decades, false},
    {"interior point, many decades", interior_point_many_decades, false},
    {"interior point, whole numbers", interior_point_whole_numbers, false},
    {"quasidefinite", quasidefinite_small, false},
    {"quasidefinite, graded", quasidefinite_graded, false},
    {"graded", graded_near, false},
    {"graded, far apart", graded_far, false},
    {"spread", spread, false},
    {"arrow", arrow, false},
    {"arrow, nearly singular", arrow_nearly_singular, false},
    {"whole numbers", whole_numbers, true},
    {"Laplacian, whole numbers", laplacian_whole, true},
    {"Laplacian", laplacian_real, false},
    {"Laplacian, whole numbers, shifted", laplacian_whole_shifted, false},
    {"Laplacian, shifted", laplacian_real_shifted, false},
    {"redundant constraints, whole numbers", redundant_whole, true},
    {"redundant constraints", redundant_real, false},
    {"direct sum", direct_sum, false},
};
enum { FAMILIES_ALL = sizeof FAMILIES / sizeof *FAMILIES };
