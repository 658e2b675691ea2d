/* A larger indefinite problem for the tests of the direct solver and of threads. */
#pragma once

#include "helpers.h"

/* (I + L, -I; -I, -I) with the Laplacian L of an m x m grid whose values depend on `seed`: lower triangle by
 * columns. Indefinite, with a tree of some height. */
typedef struct grid_problem {
    int32_t n, *colptr, *rowind;
    double *values, *b;
    saddle_matrix A;
} grid_problem;

static inline void fill_values(grid_problem *p, uint64_t seed)
{
    rng r = {seed};
    const int32_t half = p->n / 2;
    for (int32_t j = 0; j < p->n; ++j) {
        for (int32_t k = p->colptr[j]; k < p->colptr[j + 1]; ++k) {
            const bool diagonal = p->rowind[k] == j;
            const double value = j >= half ? -1 : diagonal ? 4.5 : -1;
            p->values[k] = value * (1 + 0.1 * rng_unit(&r));
        }
    }
}

static inline grid_problem grid_new(int32_t m, uint64_t seed)
{
    const int32_t half = m * m, n = 2 * half;
    grid_problem p = {.n = n,
                      .colptr = test_alloc((size_t)n + 1, sizeof(int32_t)),
                      .rowind = test_alloc(5 * (size_t)n, sizeof(int32_t)),
                      .values = test_alloc(5 * (size_t)n, sizeof(double)),
                      .b = test_alloc((size_t)n, sizeof(double))};
    int32_t k = 0;
    for (int32_t j = 0; j < n; ++j) {
        p.colptr[j] = k;
        p.b[j] = 1 + j % 5;
        p.rowind[k++] = j;
        if (j >= half) continue;
        if (j % m < m - 1) p.rowind[k++] = j + 1;
        if (j + m < half) p.rowind[k++] = j + m;
        p.rowind[k++] = j + half;
    }
    p.colptr[n] = k;
    p.A = saddle_symmetric(n, p.colptr, p.rowind, p.values);
    fill_values(&p, seed);
    return p;
}

static inline void grid_free(grid_problem *p)
{
    free(p->colptr);
    free(p->rowind);
    free(p->values);
    free(p->b);
}
