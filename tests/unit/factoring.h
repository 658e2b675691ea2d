/* What the tests of the direct solver share: matrices, eigenvalues, and solvers that hold factors. */
#pragma once

#include "solving.h"

/* A solver that has factored d, method direct unless the list says otherwise. */
static inline saddle_solver *factor_hooked(const dense *d, saddle_shape shape, const char *list,
                                           const saddle_hooks *hooks, saddle_status *status)
{
    char all[512], message[SADDLE_MESSAGE_SIZE];
    snprintf(all, sizeof all, "method=direct%s%s", *list ? "," : "", list);
    const saddle_options options = options_of(all);
    saddle_solver *solver = NULL;
    *status = saddle_create(&solver, &options, hooks, message);
    if (*status) return NULL;
    saddle_matrix A = view_plain(d, shape);
    *status = saddle_factor(solver, &A);
    view_free(&A);
    return solver;
}

static inline saddle_solver *factor_dense(const dense *d, saddle_shape shape, const char *list)
{
    saddle_status status;
    saddle_solver *solver = factor_hooked(d, shape, list, NULL, &status);
    if (status) fail_msg("%s: %s", saddle_status_text(status), solver ? saddle_message(solver) : "");
    return solver;
}

static inline saddle_info info_of(const saddle_solver *solver)
{
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    return info;
}

static inline void set_both(dense *d, int i, int j, double value)
{
    dense_set(d, i, j, value);
    dense_set(d, j, i, value);
}

/* A sparse symmetric matrix of any signs, one in four of its diagonal entries 0. */
static inline dense indefinite_problem(rng *r, int n)
{
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) {
        if (rng_below(r, 4)) dense_set(&d, i, i, 2 * rng_unit(r));
        for (int step = 0; step < 3; ++step) {
            const int j = step == 0 ? (i + 1) % n : rng_below(r, n);
            if (j != i) set_both(&d, i, j, rng_unit(r));
        }
    }
    return d;
}

/* (H A'; A 0): m of the n rows are constraints; the last `twice` of them repeat the first. */
static inline dense kkt_problem(rng *r, int n, int m, int twice)
{
    dense d = dense_new(n);
    const int variables = n - m;
    for (int i = 0; i < variables; ++i) dense_set(&d, i, i, 1 + fabs(rng_unit(r)));
    for (int k = 0; k < m; ++k) {
        for (int step = 0; step < 3; ++step) {
            const int j = step == 0 ? k % variables : rng_below(r, variables);
            set_both(&d, variables + k, j, step == 0 ? 3 : rng_unit(r));
        }
    }
    for (int k = 0; k < twice; ++k)
        for (int j = 0; j < variables; ++j) {
            const int at = (variables + m - 1 - k) * n + j;
            d.there[at] = d.there[j * n + variables + m - 1 - k] = false;
            d.a[at] = d.a[j * n + variables + m - 1 - k] = 0;
            if (d.there[(variables + k) * n + j])
                set_both(&d, variables + m - 1 - k, j, dense_at(&d, variables + k, j));
        }
    return d;
}

/* B diag(e) B' with a sparse unit lower triangular B: the signs of e are those of its eigenvalues. Whole
 * sixteenths, so that it is exact. */
static inline dense congruent_problem(rng *r, int n, const double *e)
{
    double *b = test_alloc((size_t)n * (size_t)n, sizeof *b);
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) {
        b[i * n + i] = 1;
        for (int j = 0; j < i; ++j)
            if (rng_below(r, n) < 2) b[i * n + j] = (rng_below(r, 31) - 15) / 16.0;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k <= j; ++k) sum += b[i * n + k] * e[k] * b[j * n + k];
            if (sum != 0) set_both(&d, i, j, sum);
        }
    }
    free(b);
    return d;
}

static inline dense scaled_copy(const dense *d, double factor)
{
    dense to = dense_copy(d);
    for (int k = 0; k < d->n * d->n; ++k) to.a[k] *= factor;
    return to;
}

/* Eigenvalues of a symmetric matrix by Jacobi's rotations. */
static inline void jacobi_eigenvalues(const dense *d, double *values)
{
    const int n = d->n;
    double *a = test_alloc((size_t)n * (size_t)n, sizeof *a);
    memcpy(a, d->a, (size_t)n * (size_t)n * sizeof *a);
    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0, all = 0;
        for (int k = 0; k < n * n; ++k) *(k % (n + 1) ? &off : &all) += a[k] * a[k];
        if (off <= 1e-32 * all) break;
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                if (a[p * n + q] == 0) continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
                const double c = 1 / hypot(t, 1), s = t * c;
                for (int k = 0; k < n; ++k) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k) {
                    const double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                }
            }
        }
    }
    for (int i = 0; i < n; ++i) values[i] = a[i * n + i];
    free(a);
}

/* The eigenvalues that are clearly positive, negative, and neither. */
static inline void signs_of(const double *values, int n, int64_t counts[3])
{
    double largest = 0;
    counts[0] = counts[1] = counts[2] = 0;
    for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(values[i]));
    for (int i = 0; i < n; ++i)
        ++counts[values[i] > 1e-12 * largest ? 0 : values[i] < -1e-12 * largest ? 1 : 2];
}

/* y = d x. */
static inline void dense_times(const dense *d, const double *x, double *y)
{
    for (int i = 0; i < d->n; ++i) {
        long double sum = 0;
        for (int j = 0; j < d->n; ++j) sum += (long double)dense_at(d, i, j) * x[j];
        y[i] = (double)sum;
    }
}

static inline void random_vector(rng *r, int n, double *x)
{
    for (int i = 0; i < n; ++i) x[i] = rng_unit(r);
}

static inline double largest_difference(int64_t n, const double *x, const double *y)
{
    double largest = 0, size = 0;
    for (int64_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return size == 0 ? largest : largest / size;
}
