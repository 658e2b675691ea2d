/* What the tests of the iterations and of the solver share: problems, and solving with some options. */
#pragma once

#include "helpers.h"

/* A symmetric matrix with entries near the diagonal and here and there, not 0 on the diagonal. */
static inline dense symmetric_problem(rng *r, int n, bool positive)
{
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) {
        for (int step = 1; step <= 3; ++step) {
            const int j = step < 3 ? i + step : rng_below(r, n);
            if (j >= n || j == i) continue;
            const double value = rng_unit(r);
            dense_set(&d, i, j, value);
            dense_set(&d, j, i, value);
        }
    }
    for (int i = 0; i < n; ++i) {
        double sum = 0.5 + fabs(rng_unit(r));
        for (int j = 0; j < n; ++j) sum += j == i ? 0 : fabs(dense_at(&d, i, j));
        dense_set(&d, i, i, positive || rng_below(r, 2) ? sum : -sum);
    }
    return d;
}

static inline dense unsymmetric_problem(rng *r, int n)
{
    dense d = symmetric_problem(r, n, true);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (d.there[i * n + j]) dense_set(&d, i, j, dense_at(&d, i, j) * 0.9 * rng_unit(r));
    return d;
}

/* Options from "name=text,name=text". */
static inline saddle_options options_of(const char *list)
{
    saddle_options options = saddle_options_default();
    options.threads = 1;
    char copy[512], message[SADDLE_MESSAGE_SIZE];
    const char *device = getenv("SADDLE_TEST_DEVICE"); /* the same tests on another device */
    if (device && saddle_options_set(&options, "device", device, message)) fail_msg("%s", message);
    snprintf(copy, sizeof copy, "%s", list);
    for (char *item = copy, *next; item && *item; item = next) {
        next = strchr(item, ',');
        if (next) *next++ = 0;
        char *equals = strchr(item, '=');
        assert_non_null(equals);
        *equals = 0;
        if (saddle_options_set(&options, item, equals + 1, message)) fail_msg("%s", message);
    }
    return options;
}

static inline saddle_info solve_with(const saddle_matrix *A, const double *b, double *x, const char *list)
{
    const saddle_options options = options_of(list);
    saddle_info info = saddle_info_default();
    const saddle_status status = saddle_solve_once(A, b, x, &options, &info);
    assert_int_equal(status, info.status);
    assert_int_equal(info.converged, status == SADDLE_OK);
    for (int64_t i = 0; i < A->rows; ++i) assert_true(isfinite(x[i]));
    if (status)
        assert_true(strlen(info.message) > 0);
    else
        assert_string_equal(info.message, "");
    return info;
}

static inline saddle_info solve_dense(const dense *d, saddle_shape shape, const double *b, double *x,
                                      const char *list)
{
    saddle_matrix A = view_plain(d, shape);
    const saddle_info info = solve_with(&A, b, x, list);
    view_free(&A);
    return info;
}

static inline double relative_residual_of(const dense *d, const double *b, const double *x)
{
    long double above = 0, below = 0;
    for (int i = 0; i < d->n; ++i) {
        long double r = b[i];
        for (int j = 0; j < d->n; ++j) r -= (long double)dense_at(d, i, j) * x[j];
        above += r * r;
        below += (long double)b[i] * b[i];
    }
    return (double)(sqrtl(above) / sqrtl(below));
}
