/*
 * Option absolute: a preconditioner that is symmetric positive definite whatever the signs of A are, for
 * every method that has one and every backend; MINRES with it; what is refused.
 *
 * With SADDLE_TEST_CUDA=1 all of it is done on a GPU instead.
 */
#include "factoring.h"

#include "failing_allocator.h"

static const char *const METHODS[] = {"method=diagonal",
                                      "method=direct,simplicial=off",
                                      "method=direct,simplicial=on",
                                      "method=bjacobi",
                                      "method=bjacobi,block_size=3,block_precision=adaptive",
                                      "method=ldlt",
                                      "method=ldlt,fill=none",
                                      "method=ldlt,fill=none,trisolve=block-jacobi,trisolve_sweeps=5",
                                      "method=ldlt,fill=none,trisolve=jacobi,trisolve_sweeps=6",
                                      "method=jacobi"};
enum { METHODS_ALL = sizeof METHODS / sizeof *METHODS };
static const char *const HOST[] = {"device=reference", "device=cpu", "device=cpu,threads=2"};

static bool is_on_gpu(void)
{
    return getenv("SADDLE_TEST_CUDA") != NULL;
}

static int backends(void)
{
    return is_on_gpu() ? 1 : 3;
}

static const char *backend(int k)
{
    return is_on_gpu() ? "device=cuda" : HOST[k];
}

static const char *joined(char all[256], const char *list, const char *more)
{
    snprintf(all, 256, "absolute=on,%s,%s", list, more);
    return all;
}

static saddle_solver *factor_absolute(const dense *d, const char *list, const char *more)
{
    char all[256];
    return factor_dense(d, SADDLE_LOWER, joined(all, list, more));
}

static double *explicit_inverse(const saddle_solver *s, int n)
{
    const size_t square = (size_t)n * (size_t)n;
    double *x = test_alloc(square, sizeof *x);
    for (int k = 0; k < n; ++k) x[k * n + k] = 1;
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_apply(s, 0, n, x, n, x, n, message)) fail_msg("%s", message);
    return x;
}

/* Symmetric to rounding, with eigenvalues that are all positive. */
static void assert_definite(const double *m, int n, double tolerance, const char *what)
{
    dense d = dense_new(n);
    double largest = 0, values[64];
    for (int k = 0; k < n * n; ++k) largest = fmax(largest, fabs(m[k]));
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            if (!(fabs(m[i * n + j] - m[j * n + i]) <= tolerance * largest))
                fail_msg("%s: %g is not %g", what, m[i * n + j], m[j * n + i]);
            d.a[i * n + j] = 0.5 * (m[i * n + j] + m[j * n + i]);
        }
    jacobi_eigenvalues(&d, values);
    for (int k = 0; k < n; ++k)
        if (!(values[k] > 0)) fail_msg("%s: eigenvalue %g", what, values[k]);
    dense_free(&d);
}

static void every_method_is_positive_definite(void **state)
{
    (void)state;
    rng r = rng_start("definite");
    for (int m = 0; m < METHODS_ALL; ++m)
        for (int k = 0; k < backends(); ++k)
            for (int round = 0; round < 2; ++round) {
                const int n = 20 + rng_below(&r, 30);
                dense d = round ? kkt_problem(&r, n, n / 3, 0) : symmetric_problem(&r, n, false);
                saddle_solver *s = factor_absolute(&d, METHODS[m], backend(k));
                double *inverse = explicit_inverse(s, n);
                assert_definite(inverse, n, strstr(METHODS[m], "adaptive") ? 1e-5 : 1e-11, METHODS[m]);
                free(inverse);
                saddle_destroy(&s);
                dense_free(&d);
            }
}

static void a_definite_matrix_keeps_its_preconditioner(void **state)
{
    (void)state;
    rng r = rng_start("the same");
    for (int m = 0; m < METHODS_ALL; ++m) {
        const int n = 40;
        dense d = symmetric_problem(&r, n, true);
        saddle_solver *s = factor_absolute(&d, METHODS[m], backend(0));
        saddle_solver *plain = factor_absolute(&d, METHODS[m], "absolute=off");
        double *one = explicit_inverse(s, n), *other = explicit_inverse(plain, n), largest = 0;
        for (int k = 0; k < n * n; ++k) largest = fmax(largest, fabs(other[k]));
        for (int k = 0; k < n * n; ++k) assert_true(fabs(one[k] - other[k]) <= 1e-6 * largest);
        free(one);
        free(other);
        saddle_destroy(&s);
        saddle_destroy(&plain);
        dense_free(&d);
    }
}

/* |D| of a pivot, by its eigenvalues. */
static void absolute_pair(double a, double b, double c, double to[3])
{
    const double half = 0.5 * (a + c), radius = hypot(0.5 * (a - c), b);
    const double l1 = half + radius, l2 = half - radius;
    /* f(M) = f(l2) I + (f(l1) - f(l2)) / (l1 - l2) (M - l2 I) */
    const double slope = (fabs(l1) - fabs(l2)) / (l1 - l2);
    to[0] = fabs(l2) + slope * (a - l2);
    to[1] = slope * b;
    to[2] = fabs(l2) + slope * (c - l2);
}

/* y = S^-1 P' L |D| L' P S^-1 x from the factors as the caller gets them. */
static void multiply(const saddle_solver *s, int n, const double *x, double *y)
{
    int64_t ptr[65];
    int32_t order[64], *ind;
    double d[128], scale[64], w[64], *val;
    assert_int_equal(saddle_get_pivots(s, order, d), SADDLE_OK);
    assert_int_equal(saddle_get_scaling(s, scale), SADDLE_OK);
    assert_int_equal(saddle_get_l(s, ptr, NULL, NULL), SADDLE_OK);
    ind = test_alloc((size_t)ptr[n], sizeof *ind);
    val = test_alloc((size_t)ptr[n], sizeof *val);
    assert_int_equal(saddle_get_l(s, ptr, ind, val), SADDLE_OK);
    for (int k = 0; k < n; ++k) w[k] = x[order[k]] / scale[order[k]];
    for (int j = 0; j < n; ++j)
        for (int64_t e = ptr[j]; e < ptr[j + 1]; ++e) w[j] += val[e] * w[ind[e]];
    for (int k = 0; k < n; ++k) {
        if (d[2 * k + 1] == 0) {
            w[k] *= fabs(d[2 * k]);
            continue;
        }
        double t[3];
        absolute_pair(d[2 * k], d[2 * k + 1], d[2 * k + 2], t);
        const double p = w[k], q = w[k + 1];
        w[k] = t[0] * p + t[1] * q;
        w[++k] = t[1] * p + t[2] * q;
    }
    for (int j = n - 1; j >= 0; --j)
        for (int64_t e = ptr[j]; e < ptr[j + 1]; ++e) w[ind[e]] += val[e] * w[j];
    for (int k = 0; k < n; ++k) y[order[k]] = w[k] / scale[order[k]];
    free(ind);
    free(val);
}

static void the_direct_solver_has_the_absolute_values_of_its_pivots(void **state)
{
    (void)state;
    rng r = rng_start("l |d| l'");
    int64_t pairs = 0;
    for (int round = 0; round < 24; ++round) {
        const int n = 10 + rng_below(&r, 50);
        dense d = round % 2 ? kkt_problem(&r, n, n / 3, 0) : indefinite_problem(&r, n);
        saddle_solver *s = factor_absolute(&d, METHODS[1 + round % 2], backend(round % backends()));
        double b[64], x[64], y[64], largest = 0;
        for (int k = 0; k < n; ++k) b[k] = rng_unit(&r);
        assert_int_equal(saddle_apply(s, round % 3 == 0, 1, b, n, x, n, NULL), SADDLE_OK);
        multiply(s, n, x, y);
        for (int k = 0; k < n; ++k) largest = fmax(largest, fabs(x[k]));
        for (int k = 0; k < n; ++k)
            if (!(fabs(y[k] - b[k]) <= 1e-10 * (1 + largest)))
                fail_msg("round %d: %g is not %g", round, y[k], b[k]);
        pairs += info_of(s).two_by_two;
        saddle_destroy(&s);
        dense_free(&d);
    }
    assert_true(pairs > 0);
}

static saddle_info solve_absolute(const dense *d, const char *list, const char *more)
{
    char all[256];
    double b[400], x[400];
    for (int k = 0; k < d->n; ++k) b[k] = 1 + k % 3;
    saddle_info info = solve_dense(d, SADDLE_LOWER, b, x, joined(all, list, more));
    if (info.status) fail_msg("%s: %s", all, info.message);
    assert_true(relative_residual_of(d, b, x) <= 1e-9);
    return info;
}

static void minres_solves_saddle_point_systems(void **state)
{
    (void)state;
    rng r = rng_start("minres");
    static const char *const methods[] = {"method=direct", "method=ldlt", "method=jacobi", "method=bjacobi",
                                          "method=diagonal"};
    for (int m = 0; m < 5; ++m)
        for (int k = 0; k < backends(); ++k) {
            dense d = kkt_problem(&r, 200, 60, 0);
            char more[64];
            const saddle_info info = solve_absolute(&d, methods[m], backend(k));
            assert_int_equal(info.krylov, SADDLE_KRYLOV_MINRES); /* what auto means */
            if (m < 2) assert_true(info.iterations <= 8);        /* eigenvalues are 1 and -1 */
            snprintf(more, sizeof more, "krylov=sqmr,%s", backend(k));
            assert_int_equal(solve_absolute(&d, methods[m], more).krylov, SADDLE_KRYLOV_SQMR);
            dense_free(&d);
        }
}

static void conjugate_gradients_solve_definite_ones(void **state)
{
    (void)state;
    rng r = rng_start("cg");
    static const char *const methods[] = {"method=direct", "method=ldlt", "method=bjacobi",
                                          "method=diagonal"};
    for (int m = 0; m < 4; ++m) {
        dense d = symmetric_problem(&r, 100, true);
        const saddle_info info = solve_absolute(&d, methods[m], backend(0));
        assert_int_equal(info.krylov, info.kind == SADDLE_KIND_SPD ? SADDLE_KRYLOV_CG : SADDLE_KRYLOV_MINRES);
        dense_free(&d);
    }
}

static void singular_systems_have_a_definite_preconditioner_too(void **state)
{
    (void)state;
    rng r = rng_start("singular");
    for (int m = 1; m < 3; ++m)
        for (int k = 0; k < backends(); ++k) {
            const int n = 60;
            dense d = kkt_problem(&r, n, 18, 3);
            double b[60], x[60], y[60] = {0};
            for (int i = 0; i < n; ++i) x[i] = rng_unit(&r);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) y[i] += dense_at(&d, i, j) * x[j];
            memcpy(b, y, sizeof b);
            saddle_solver *s = factor_absolute(&d, METHODS[m], backend(k));
            double *inverse = explicit_inverse(s, n);
            assert_definite(inverse, n, 1e-11, METHODS[m]);
            saddle_info info = saddle_info_default();
            assert_int_equal(saddle_solve(s, 1, b, n, x, n, &info), SADDLE_OK);
            assert_true(relative_residual_of(&d, b, x) <= 1e-9);
            assert_int_equal(info_of(s).inertia_zero, 3);
            free(inverse);
            saddle_destroy(&s);
            dense_free(&d);
        }
}

static void the_inertia_is_that_of_the_matrix(void **state)
{
    (void)state;
    rng r = rng_start("inertia");
    dense d = kkt_problem(&r, 90, 30, 0);
    saddle_solver *s = factor_absolute(&d, "method=direct", backend(0));
    saddle_info info = info_of(s);
    assert_int_equal(info.inertia_negative, 30);
    assert_int_equal(info.inertia_positive, 60);
    assert_true(info.inertia_certain);
    double b[90], x[90];
    for (int k = 0; k < 90; ++k) b[k] = 1;
    assert_int_equal(saddle_solve(s, 1, b, 90, x, 90, &info), SADDLE_OK);
    assert_int_equal(info.inertia_negative, 30);
    assert_true(info.inertia_certain);
    double condition;
    assert_int_equal(saddle_condition(s, &condition, NULL), SADDLE_OK);
    assert_true(condition >= 1 && condition < 1e8);
    saddle_destroy(&s);
    dense_free(&d);
}

static void without_iteration_it_is_applied_once(void **state)
{
    (void)state;
    rng r = rng_start("none");
    dense d = symmetric_problem(&r, 40, false);
    for (int m = 0; m < 3; ++m) {
        char all[256];
        double b[40], x[40], y[40];
        for (int k = 0; k < 40; ++k) b[k] = 1;
        saddle_solver *s = factor_dense(&d, SADDLE_LOWER, joined(all, METHODS[m], "krylov=none,verify=off"));
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_solve(s, 1, b, 40, x, 40, &info), SADDLE_NOT_CONVERGED);
        assert_int_equal(info.reason, SADDLE_REASON_NO_ITERATION);
        assert_int_equal(saddle_apply(s, 0, 1, b, 40, y, 40, NULL), SADDLE_OK);
        /* or 0, where that is better */
        for (int k = 0; k < 40; ++k) assert_true(x[k] == 0 || fabs(x[k] - y[k]) <= 1e-12 * fabs(y[k]));
        saddle_destroy(&s);
    }
    dense_free(&d);
}

static void assert_refused(const dense *d, saddle_shape shape, const char *list, const char *says)
{
    saddle_status status;
    saddle_solver *s = factor_hooked(d, shape, list, NULL, &status);
    if (status != SADDLE_BAD_OPTION || !strstr(saddle_message(s), says))
        fail_msg("%s: %s: %s", list, saddle_status_text(status), saddle_message(s));
    saddle_destroy(&s);
}

static void what_has_no_absolute_value_is_refused(void **state)
{
    (void)state;
    rng r = rng_start("refused");
    dense d = kkt_problem(&r, 30, 10, 0), general = unsymmetric_problem(&r, 30);
    assert_refused(&d, SADDLE_LOWER, "method=auto,absolute=on", "needs a named method");
    assert_refused(&d, SADDLE_LOWER, "method=ilu,absolute=on", "does not apply to incomplete LU");
    assert_refused(&d, SADDLE_LOWER, "method=ic,absolute=on", "does not apply to incomplete Cholesky");
    assert_refused(&d, SADDLE_LOWER, "method=none,absolute=on", "use method direct");
    assert_refused(&d, SADDLE_LOWER, "method=bjacobi,absolute=on,block_kernel=huard", "block_kernel ldlt");
    assert_refused(&d, SADDLE_LOWER, "method=direct,absolute=on,krylov=refine", "minres");
    assert_refused(&general, SADDLE_GENERAL, "method=direct,absolute=on", "symmetric");
    assert_refused(&general, SADDLE_GENERAL, "method=diagonal,absolute=on", "symmetric");
    assert_refused(&d, SADDLE_LOWER, "method=ldlt,krylov=minres", "absolute on"); /* where it would help */
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const saddle_options options = options_of("method=direct,absolute=on");
    saddle_solver *s = NULL;
    assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor_many(s, &A, 1, A.values, A.entries, NULL), SADDLE_BAD_OPTION);
    assert_non_null(strstr(saddle_message(s), "preconditioner"));
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
    dense_free(&general);
}

static void an_indefinite_preconditioner_is_told_of_it(void **state)
{
    (void)state;
    rng r = rng_start("advice");
    dense d = kkt_problem(&r, 30, 10, 0);
    double b[30], x[30];
    for (int k = 0; k < 30; ++k) b[k] = 1;
    const saddle_info info =
        solve_dense(&d, SADDLE_LOWER, b, x, "method=direct,krylov=minres,factorization=ldlt");
    assert_int_equal(info.reason, SADDLE_REASON_PRECONDITIONER);
    assert_non_null(strstr(info.message, "absolute on"));
    dense_free(&d);
}

static void it_changes_with_the_next_factorization(void **state)
{
    (void)state;
    rng r = rng_start("set");
    dense d = kkt_problem(&r, 40, 12, 0);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int m = 0; m < METHODS_ALL; ++m) {
        char all[256];
        double *found[2];
        saddle_solver *s = factor_absolute(&d, METHODS[m], backend(0));
        saddle_solver *plain = factor_absolute(&d, METHODS[m], "absolute=off");
        const saddle_options on = options_of(joined(all, METHODS[m], backend(0)));
        saddle_options off = on;
        off.absolute = SADDLE_OFF;
        for (int turn = 0; turn < 2; ++turn) {
            assert_int_equal(saddle_set_options(s, turn ? &on : &off), SADDLE_OK);
            assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        }
        found[0] = explicit_inverse(s, 40);
        assert_definite(found[0], 40, 1e-5, METHODS[m]);
        assert_int_equal(saddle_set_options(s, &off), SADDLE_OK);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        free(found[0]);
        found[0] = explicit_inverse(s, 40);
        found[1] = explicit_inverse(plain, 40);
        double largest = 0;
        for (int k = 0; k < 1600; ++k) largest = fmax(largest, fabs(found[1][k]));
        for (int k = 0; k < 1600; ++k) assert_true(fabs(found[0][k] - found[1][k]) <= 1e-9 * largest);
        free(found[0]);
        free(found[1]);
        saddle_destroy(&s);
        saddle_destroy(&plain);
    }
    view_free(&A);
    dense_free(&d);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("memory");
    dense d = kkt_problem(&r, 24, 8, 0);
    for (int m = 0; m < METHODS_ALL && !is_on_gpu(); ++m)
        for (int64_t k = 1;; ++k) {
            char all[256];
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_status status;
            saddle_solver *s =
                factor_hooked(&d, SADDLE_LOWER, joined(all, METHODS[m], "device=cpu"), &hooks, &status);
            saddle_destroy(&s);
            assert_int_equal(f.live, 0);
            if (!f.failed) break;
            assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
        }
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_positive_definite),
        cmocka_unit_test(a_definite_matrix_keeps_its_preconditioner),
        cmocka_unit_test(the_direct_solver_has_the_absolute_values_of_its_pivots),
        cmocka_unit_test(minres_solves_saddle_point_systems),
        cmocka_unit_test(conjugate_gradients_solve_definite_ones),
        cmocka_unit_test(singular_systems_have_a_definite_preconditioner_too),
        cmocka_unit_test(the_inertia_is_that_of_the_matrix),
        cmocka_unit_test(without_iteration_it_is_applied_once),
        cmocka_unit_test(what_has_no_absolute_value_is_refused),
        cmocka_unit_test(an_indefinite_preconditioner_is_told_of_it),
        cmocka_unit_test(it_changes_with_the_next_factorization),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
