/* Arrays in the memory of the device that a solver is on, and solves with them. */
#pragma once

#include "factoring.h"

#include "solver/solver.h"

static inline void *put(saddle_solver *s, const void *host, size_t bytes)
{
    void *there = s->e.backend->allocate(&s->e, (int64_t)bytes, "test");
    assert_non_null(there);
    if (host) s->e.backend->upload(&s->e, host, there, (int64_t)bytes);
    return there;
}

static inline void get(saddle_solver *s, const void *there, void *host, size_t bytes)
{
    s->e.backend->download(&s->e, there, host, (int64_t)bytes);
    assert_int_equal(s->e.status, SADDLE_OK);
}

/* x solves d x = b to rounding. */
static inline void assert_solves(const dense *d, const double *b, const double *x)
{
    assert_true(relative_residual_of(d, b, x) <= 1e-10);
}

/* The solver, which has factored d, solves with b and x here and there, and in place. */
static inline void assert_solves_everywhere(saddle_solver *s, const dense *d, int64_t nrhs)
{
    const size_t n = (size_t)d->n, ld = n + 3, bytes = ld * (size_t)nrhs * sizeof(double);
    double *b = test_alloc(ld * (size_t)nrhs, sizeof *b), *x = test_alloc(ld * (size_t)nrhs, sizeof *x);
    for (size_t k = 0; k < ld * (size_t)nrhs; ++k) b[k] = 1 + (double)(k % 5);
    double *b_there = put(s, b, bytes), *x_there = put(s, b, bytes);
    for (int way = 0; way < 5; ++way) { /* bit 0: b is there; bit 1: x is; 4: both are one */
        const double *from = way == 4 ? x_there : way & 1 ? b_there : b;
        double *to = way == 4 || way & 2 ? x_there : x;
        saddle_info info = saddle_info_default();
        if (way == 4) s->e.backend->upload(&s->e, b, x_there, (int64_t)bytes);
        const saddle_status status = saddle_solve(s, nrhs, from, (int64_t)ld, to, (int64_t)ld, &info);
        if (status) fail_msg("way %d: %s", way, info.message);
        if (to == x_there) get(s, x_there, x, bytes);
        for (int64_t k = 0; k < nrhs; ++k) assert_solves(d, b + k * (int64_t)ld, x + k * (int64_t)ld);
        memset(x, 0, bytes);
    }
    s->e.backend->release(&s->e, b_there);
    s->e.backend->release(&s->e, x_there);
    free(b);
    free(x);
}

/* New values on the same pattern. */
static inline void change(rng *r, dense *d)
{
    for (int i = 0; i < d->n; ++i)
        for (int j = 0; j <= i; ++j)
            if (d->there[i * d->n + j]) set_both(d, i, j, dense_at(d, i, j) * (1 + 0.1 * rng_unit(r)));
}
