/* Small symmetric problems for the tests of the solver. */
#pragma once

#include "solving.h"

enum { N = 24 };

typedef struct problem {
    dense d;
    saddle_matrix A;
    double b[N], x[N];
} problem;

static inline problem problem_new(rng *r, bool positive)
{
    problem p = {.d = symmetric_problem(r, N, positive)};
    p.A = view_plain(&p.d, SADDLE_LOWER);
    for (int i = 0; i < N; ++i) p.b[i] = rng_unit(r);
    return p;
}

/* The Laplacian of a path: singular, and b is not orthogonal to its null vector. */
static inline problem singular_problem(rng *r)
{
    problem p = {.d = dense_new(N)};
    for (int i = 0; i < N; ++i) {
        dense_set(&p.d, i, i, i == 0 || i == N - 1 ? 1 : 2);
        if (i > 0) dense_set(&p.d, i, i - 1, -1);
        if (i > 0) dense_set(&p.d, i - 1, i, -1);
        p.b[i] = rng_unit(r);
    }
    p.A = view_plain(&p.d, SADDLE_LOWER);
    return p;
}

static inline void problem_free(problem *p)
{
    view_free(&p->A);
    dense_free(&p->d);
}

static inline saddle_solver *create(const char *list, const saddle_hooks *hooks)
{
    const saddle_options options = options_of(list);
    saddle_solver *solver = NULL;
    assert_int_equal(saddle_create(&solver, &options, hooks, NULL), SADDLE_OK);
    assert_non_null(solver);
    return solver;
}
