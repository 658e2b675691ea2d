/*
 * The inertia of a symmetric matrix of doubles, and whether a system is consistent, exactly, by rational
 * arithmetic (GMP): the oracle of what the solver decides in floating point. Elimination with any pivot that
 * is not zero; where the whole diagonal of a symmetric matrix is zero, with a 2x2 pivot (0 b; b 0), which has
 * one eigenvalue of each sign (Sylvester).
 */
#pragma once

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct exact_inertia {
    int64_t positive, negative, zero;
} exact_inertia;

/* a -= b c / d */
static inline void exact_subtract(mpq_t a, const mpq_t b, const mpq_t c, const mpq_t d, mpq_t room)
{
    if (mpq_sgn(b) == 0 || mpq_sgn(c) == 0) return;
    mpq_mul(room, b, c);
    mpq_div(room, room, d);
    mpq_sub(a, a, room);
}

static inline void exact_swap(mpq_t *a, int n, int i, int j)
{
    if (i == j) return;
    for (int k = 0; k < n; ++k) mpq_swap(a[i * n + k], a[j * n + k]);
    for (int k = 0; k < n; ++k) mpq_swap(a[k * n + i], a[k * n + j]);
}

/* The first that is not zero on the diagonal from k on; -1 where there is none. */
static inline int exact_diagonal(mpq_t *a, int n, int k)
{
    for (int i = k; i < n; ++i)
        if (mpq_sgn(a[i * n + i]) != 0) return i;
    return -1;
}

/* Rows and columns p, q with an entry that is not zero, from k on. */
static inline bool exact_entry(mpq_t *a, int n, int k, int *p, int *q)
{
    for (*p = k; *p < n; ++*p)
        for (*q = *p + 1; *q < n; ++*q)
            if (mpq_sgn(a[*p * n + *q]) != 0) return true;
    return false;
}

/* A full matrix by rows. */
static inline exact_inertia exact_inertia_of(int n, const double *matrix)
{
    exact_inertia found = {0, 0, 0};
    mpq_t *a = malloc(((size_t)n * (size_t)n + 1) * sizeof *a), room;
    mpq_init(room);
    for (int k = 0; k < n * n; ++k) {
        mpq_init(a[k]);
        mpq_set_d(a[k], matrix[k]);
    }
    for (int k = 0, p, q; k < n;) {
        const int at = exact_diagonal(a, n, k);
        if (at >= 0) {
            exact_swap(a, n, k, at);
            for (int i = k + 1; i < n; ++i)
                for (int j = k + 1; j < n && mpq_sgn(a[i * n + k]) != 0; ++j)
                    exact_subtract(a[i * n + j], a[i * n + k], a[k * n + j], a[k * n + k], room);
            ++*(mpq_sgn(a[k * n + k]) > 0 ? &found.positive : &found.negative);
            ++k;
        } else if (exact_entry(a, n, k, &p, &q)) {
            exact_swap(a, n, k, p);
            exact_swap(a, n, k + 1, q);
            for (int i = k + 2; i < n; ++i)
                for (int j = k + 2; j < n; ++j) {
                    exact_subtract(a[i * n + j], a[i * n + k], a[(k + 1) * n + j], a[k * n + k + 1], room);
                    exact_subtract(a[i * n + j], a[i * n + k + 1], a[k * n + j], a[k * n + k + 1], room);
                }
            ++found.positive;
            ++found.negative;
            k += 2;
        } else {
            found.zero = n - k;
            break;
        }
    }
    for (int k = 0; k < n * n; ++k) mpq_clear(a[k]);
    mpq_clear(room);
    free(a);
    return found;
}

/* The rank of a full matrix by rows. */
static inline int exact_rank_of(int rows, int columns, const double *matrix)
{
    mpq_t *a = malloc(((size_t)rows * (size_t)columns + 1) * sizeof *a), room;
    int rank = 0;
    mpq_init(room);
    for (int k = 0; k < rows * columns; ++k) {
        mpq_init(a[k]);
        mpq_set_d(a[k], matrix[k]);
    }
    for (int c = 0; c < columns && rank < rows; ++c) {
        int p = rank;
        while (p < rows && mpq_sgn(a[p * columns + c]) == 0) ++p;
        if (p == rows) continue;
        for (int j = 0; j < columns; ++j) mpq_swap(a[p * columns + j], a[rank * columns + j]);
        for (int i = rank + 1; i < rows; ++i)
            for (int j = columns - 1; j >= c; --j)
                exact_subtract(a[i * columns + j], a[i * columns + c], a[rank * columns + j],
                               a[rank * columns + c], room);
        ++rank;
    }
    for (int k = 0; k < rows * columns; ++k) mpq_clear(a[k]);
    mpq_clear(room);
    free(a);
    return rank;
}

/* Whether Ax = b has a solution: b adds nothing to the rank. */
static inline bool exact_is_consistent(int n, const double *matrix, const double *b)
{
    double *both = malloc((size_t)n * (size_t)(n + 1) * sizeof *both);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) both[i * (n + 1) + j] = matrix[i * n + j];
        both[i * (n + 1) + n] = b[i];
    }
    const bool consistent = exact_rank_of(n, n + 1, both) == exact_rank_of(n, n, matrix);
    free(both);
    return consistent;
}
