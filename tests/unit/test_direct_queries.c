/* The factors as the caller sees them: parts of a solve, pivots, D, scaling, another D, the condition. */
#include "factoring.h"

#include "failing_allocator.h"

static const char *const STYLES[] = {"device=reference", "device=cpu", "device=cpu,scaling=none",
                                     "device=cpu,order=natural,scaling=ruiz", "device=cpu,threads=2"};
enum { STYLES_ALL = sizeof STYLES / sizeof *STYLES };

static void run_part(const saddle_solver *solver, saddle_part part, int64_t nrhs, double *x, int64_t ldx)
{
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_solve_part(solver, part, nrhs, x, ldx, message)) fail_msg("%s", message);
}

static void run_parts(const saddle_solver *solver, int64_t nrhs, double *x, int64_t ldx)
{
    run_part(solver, SADDLE_FORWARD, nrhs, x, ldx);
    run_part(solver, SADDLE_DIAGONAL, nrhs, x, ldx);
    run_part(solver, SADDLE_BACKWARD, nrhs, x, ldx);
}

static void parts_one_after_the_other_are_the_inverse(void **state)
{
    (void)state;
    rng r = rng_start("parts");
    for (int round = 0; round < 40; ++round) {
        const int n = 5 + rng_below(&r, 60), nrhs = 1 + rng_below(&r, 3) * 20, ld = n + rng_below(&r, 4);
        dense d = round % 2 ? indefinite_problem(&r, n) : kkt_problem(&r, n, n / 3, 0);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, STYLES[round % STYLES_ALL]);
        double *b = test_alloc((size_t)(ld * nrhs), sizeof *b),
               *x = test_alloc((size_t)(ld * nrhs), sizeof *x);
        random_vector(&r, ld * nrhs, b);
        memcpy(x, b, (size_t)(ld * nrhs) * sizeof *x);
        run_parts(solver, nrhs, x, ld);
        for (int k = 0; k < nrhs; ++k) {
            double largest = 0;
            for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(x[k * ld + i]));
            if (!(relative_residual_of(&d, b + k * ld, x + k * ld) <= 1e-12 * (1 + largest)))
                fail_msg("round %d: residual %g", round, relative_residual_of(&d, b + k * ld, x + k * ld));
            for (int i = n; i < ld; ++i)
                assert_true(x[k * ld + i] == b[k * ld + i]); /* the gap is not ours */
        }
        free(b);
        free(x);
        saddle_destroy(&solver);
        dense_free(&d);
    }
}

/* L by columns, from e_k = L^-1 (L e_k): the inverse of L is what FORWARD makes of P' S^-1 e_k. */
static void inverse_of_l(const saddle_solver *solver, int n, const int32_t *order, const double *scale,
                         double *inverse)
{
    memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
    for (int k = 0; k < n; ++k) inverse[k * n + order[k]] = 1 / scale[order[k]];
    run_part(solver, SADDLE_FORWARD, n, inverse, n);
}

/* |L^-1 (P S A S P') L'^-1 - D| over the largest of D; column j of L^-1 is inverse[j n ..]. */
static double distance_from_d(const dense *a, const int32_t *order, const double *scale,
                              const double *inverse, const double *d)
{
    const int n = a->n;
    double worst = 0, size = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            long double sum = 0;
            for (int p = 0; p < n; ++p)
                for (int q = 0; q < n; ++q)
                    sum += (long double)inverse[p * n + i] *
                           (scale[order[p]] * dense_at(a, order[p], order[q]) * scale[order[q]]) *
                           inverse[q * n + j];
            const double is = i == j ? d[2 * i] : i == j + 1 ? d[2 * j + 1] : j == i + 1 ? d[2 * i + 1] : 0;
            worst = fmax(worst, fabs((double)sum - is));
            size = fmax(size, fabs(is));
        }
    }
    return worst / size;
}

static void factors_multiply_to_the_matrix(void **state)
{
    (void)state;
    rng r = rng_start("factors");
    for (int round = 0; round < 20; ++round) {
        const int n = 4 + rng_below(&r, 14);
        dense a = round % 3 ? indefinite_problem(&r, n) : kkt_problem(&r, n, n / 3, 0);
        saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, STYLES[round % STYLES_ALL]);
        int32_t order[32], planned[32];
        double d[64], scale[32], inverse[32 * 32];
        assert_int_equal(saddle_get_pivots(solver, order, d), SADDLE_OK);
        assert_int_equal(saddle_get_order(solver, planned), SADDLE_OK);
        assert_int_equal(saddle_get_scaling(solver, scale), SADDLE_OK);
        assert_permutation(order, n);
        assert_permutation(planned, n);
        inverse_of_l(solver, n, order, scale, inverse);
        for (int j = 0; j < n; ++j) { /* unit lower triangular */
            for (int i = 0; i < j; ++i) assert_true(inverse[j * n + i] == 0);
            assert_true(fabs(inverse[j * n + j] - 1) < 1e-14);
        }
        const double distance = distance_from_d(&a, order, scale, inverse, d);
        if (!(distance < 1e-11)) fail_msg("round %d: %g", round, distance);
        saddle_destroy(&solver);
        dense_free(&a);
    }
}

/* The signs of D's eigenvalues. */
static void signs_of_d(int n, const double *d, int64_t counts[3])
{
    double values[512];
    int many = 0;
    for (int k = 0; k < n; ++k) {
        if (d[2 * k + 1] == 0) {
            values[many++] = d[2 * k];
            continue;
        }
        const double a = d[2 * k], b = d[2 * k + 1], c = d[2 * k + 2];
        values[many++] = 0.5 * (a + c) + hypot(0.5 * (a - c), b);
        values[many++] = 0.5 * (a + c) - hypot(0.5 * (a - c), b);
        ++k;
    }
    signs_of(values, n, counts);
}

static void inertia_of_d_is_that_of_info(void **state)
{
    (void)state;
    rng r = rng_start("inertia of D");
    for (int round = 0; round < 30; ++round) {
        const int n = 1 + rng_below(&r, 120);
        dense a = round % 2 && n > 3 ? kkt_problem(&r, n, n / 4, 0) : symmetric_problem(&r, n, false);
        saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, STYLES[round % STYLES_ALL]);
        double d[256];
        int64_t counts[3];
        assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
        signs_of_d(n, d, counts);
        const saddle_info info = info_of(solver);
        assert_int_equal(counts[0], info.inertia_positive);
        assert_int_equal(counts[1], info.inertia_negative);
        assert_int_equal(counts[2], info.inertia_zero);
        saddle_destroy(&solver);
        dense_free(&a);
    }
}

/* Factors `from`, then `from` times a factor with the same scaling: D takes the factor. */
static void check_folded(const dense *from, double factor, const char *style)
{
    const int n = from->n;
    dense times = scaled_copy(from, factor);
    saddle_solver *solver = factor_dense(from, SADDLE_LOWER, style);
    double before[256], after[256], *b = test_alloc((size_t)n, sizeof *b),
                                    *x = test_alloc((size_t)n, sizeof *x);
    int32_t order[128], same[128];
    assert_int_equal(saddle_get_pivots(solver, order, before), SADDLE_OK);
    saddle_matrix A = view_plain(&times, SADDLE_LOWER);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_get_pivots(solver, same, after), SADDLE_OK);
    assert_memory_equal(order, same, (size_t)n * sizeof *order);
    for (int k = 0; k < 2 * n; ++k)
        assert_true(fabs(after[k] - factor * before[k]) <= 1e-9 * factor * (1 + fabs(before[k])));
    for (int i = 0; i < n; ++i) b[i] = x[i] = factor * (1 + i % 3);
    run_parts(solver, 1, x, n);
    double shrunk[128];
    for (int i = 0; i < n; ++i) shrunk[i] = b[i] / factor;
    assert_true(relative_residual_of(from, shrunk, x) < 1e-9);
    view_free(&A);
    free(b);
    free(x);
    saddle_destroy(&solver);
    dense_free(&times);
}

static void powers_of_two_are_counted_to_d(void **state)
{
    (void)state;
    rng r = rng_start("powers of two");
    static const double factors[] = {0x1p40, 0x1p-40, 0x1p664, 0x1p-664};
    for (int round = 0; round < 16; ++round) {
        dense a = round % 2 ? symmetric_problem(&r, 50, false) : kkt_problem(&r, 60, 20, 0);
        check_folded(&a, factors[round / 4], STYLES[1 + round % (STYLES_ALL - 1)]);
        dense_free(&a);
    }
}

static void parts_work_in_single_precision(void **state)
{
    (void)state;
    rng r = rng_start("single");
    static const double factors[] = {1, 1e200, 1e-200};
    for (int round = 0; round < 9; ++round) {
        dense from = symmetric_problem(&r, 40, false), a = scaled_copy(&from, factors[round % 3]);
        saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, "precision=mixed");
        double b[40], x[40], d[80], residual;
        for (int i = 0; i < 40; ++i) b[i] = x[i] = factors[round % 3] * rng_unit(&r);
        run_parts(solver, 1, x, 40);
        for (int i = 0; i < 40; ++i) b[i] /= factors[round % 3];
        residual = relative_residual_of(&from, b, x);
        if (!(residual < 1e-4)) fail_msg("residual %g", residual);
        assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
        for (int k = 0; k < 80; ++k) assert_true(isfinite(d[k]));
        assert_int_equal(saddle_set_d(solver, d), SADDLE_OK);
        saddle_destroy(&solver);
        dense_free(&a);
        dense_free(&from);
    }
}

static void the_same_d_gives_the_same_bits(void **state)
{
    (void)state;
    rng r = rng_start("same D");
    for (int round = 0; round < 10; ++round) {
        const int n = 40;
        dense a = round % 2 ? symmetric_problem(&r, n, false) : kkt_problem(&r, n, 10, 0);
        saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, STYLES[round % STYLES_ALL]);
        double d[80], b[40], x[40], y[40];
        random_vector(&r, n, b);
        memcpy(x, b, sizeof b);
        memcpy(y, b, sizeof b);
        run_parts(solver, 1, x, n);
        assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
        assert_int_equal(saddle_set_d(solver, d), SADDLE_OK);
        run_parts(solver, 1, y, n);
        assert_memory_equal(x, y, sizeof x);
        saddle_info info = info_of(solver);
        assert_int_equal(info.inertia_positive, -1);
        assert_int_equal(info.rank, -1);
        assert_int_equal(saddle_solve(solver, 1, b, n, x, n, &info), SADDLE_OK);
        assert_int_equal(info.inertia_negative, -1);
        saddle_matrix A = view_plain(&a, SADDLE_LOWER);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK); /* all is as before */
        assert_true(info_of(solver).inertia_positive >= 0);
        view_free(&A);
        saddle_destroy(&solver);
        dense_free(&a);
    }
}

/* Every block of D by the absolute values of its eigenvalues. */
static void make_absolute(int n, double *d)
{
    for (int k = 0; k < n; ++k) {
        const double a = d[2 * k], b = d[2 * k + 1];
        if (b == 0) {
            d[2 * k] = fabs(a);
            continue;
        }
        /* |M| = (M^2 + sqrt(det M^2) I) / trace |M|, with M = (a b; b c) */
        const double c = d[2 * k + 2], root = fabs(a * c - b * b);
        const double trace = sqrt(a * a + 2 * b * b + c * c + 2 * root);
        d[2 * k] = (a * a + b * b + root) / trace;
        d[2 * k + 1] = (a + c) * b / trace;
        d[2 * k + 2] = (b * b + c * c + root) / trace;
        ++k;
    }
}

static void absolute_d_is_a_positive_definite_operator(void **state)
{
    (void)state;
    rng r = rng_start("absolute D");
    int changed = 0;
    for (int round = 0; round < 12; ++round) {
        const int n = 30;
        dense a = round % 2 ? symmetric_problem(&r, n, false) : kkt_problem(&r, n, 8, 0);
        saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, STYLES[round % STYLES_ALL]);
        double d[60], inverse[900], values[30], b[30], x[30];
        assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
        make_absolute(n, d);
        if (saddle_set_d(solver, d) == SADDLE_OK) { /* an |M| that is diagonal has another structure */
            ++changed;
            memset(inverse, 0, sizeof inverse);
            for (int k = 0; k < n; ++k) inverse[k * n + k] = 1;
            run_parts(solver, n, inverse, n);
            dense solved = dense_from(n, inverse);
            jacobi_eigenvalues(&solved, values);
            for (int k = 0; k < n; ++k) assert_true(values[k] > 0);
            dense_free(&solved);
            saddle_info info = saddle_info_default();
            for (int k = 0; k < n; ++k) b[k] = 1;
            assert_int_equal(saddle_solve(solver, 1, b, n, x, n, &info), SADDLE_NOT_CONVERGED); /* not A */
            assert_int_equal(info.iterations, 1);
        }
        saddle_destroy(&solver);
        dense_free(&a);
    }
    assert_true(changed > 0);
}

static void minres_takes_an_absolute_d(void **state)
{
    (void)state;
    rng r = rng_start("minres");
    const int n = 60;
    dense a = symmetric_problem(&r, n, false);
    saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, "krylov=minres");
    double d[120], b[60], x[60];
    saddle_info info = saddle_info_default();
    random_vector(&r, n, b);
    assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
    make_absolute(n, d);
    assert_int_equal(saddle_set_d(solver, d), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 1, b, n, x, n, &info), SADDLE_OK);
    assert_true(info.iterations <= 4); /* two eigenvalues: 1 and -1 */
    saddle_destroy(&solver);
    dense_free(&a);
}

static void another_structure_or_value_of_d_is_refused(void **state)
{
    (void)state;
    const double rows[] = {0, 2, 0, 2, 0, 0, 0, 0, 5};
    dense a = dense_from(3, rows);
    saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, "");
    double d[6], x[3] = {1, 2, 3}, before[3] = {1, 2, 3};
    assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
    int pair = d[1] != 0 ? 0 : 1, single = pair == 0 ? 2 : 0;
    assert_true(d[2 * pair + 1] != 0);
    for (int fault = 0; fault < 5; ++fault) {
        double wrong[6];
        memcpy(wrong, d, sizeof d);
        wrong[fault < 2 ? 2 * pair + 1 : 2 * single + (fault == 2)] = fault == 0   ? 0
                                                                      : fault == 3 ? INFINITY
                                                                      : fault == 4 ? NAN
                                                                                   : 1;
        if (fault == 1) wrong[2 * pair + 3] = 1; /* within a pair */
        assert_int_equal(saddle_set_d(solver, wrong), fault < 3 ? SADDLE_BAD_ARGUMENT : SADDLE_BAD_VALUE);
        assert_contains(saddle_message(solver), "saddle_set_d: d[");
    }
    run_parts(solver, 1, x, 3);
    run_parts(solver, 1, before, 3);
    assert_memory_equal(x, before, sizeof x);
    assert_true(fabs(x[0] - 1) < 1e-15 && fabs(x[1] - 0.5) < 1e-15 && fabs(x[2] - 0.6) < 1e-15);
    assert_int_equal(info_of(solver).rank, 3); /* nothing has changed */
    saddle_destroy(&solver);
    dense_free(&a);
}

/* |A| |A^-1| in the 1-norm by the explicit inverse. */
static double true_condition(const dense *a)
{
    const int n = a->n;
    double norm = 0, other = 0, *e = test_alloc((size_t)n, sizeof *e), *x = test_alloc((size_t)n, sizeof *x);
    for (int j = 0; j < n; ++j) {
        double sum = 0, inverse = 0;
        memset(e, 0, (size_t)n * sizeof *e);
        e[j] = 1;
        assert_true(dense_solve(a, e, x));
        for (int i = 0; i < n; ++i) {
            sum += fabs(dense_at(a, i, j));
            inverse += fabs(x[i]);
        }
        norm = fmax(norm, sum);
        other = fmax(other, inverse);
    }
    free(e);
    free(x);
    return norm * other;
}

static double condition_of(const dense *a, saddle_shape shape, const char *style)
{
    saddle_solver *solver = factor_dense(a, shape, style);
    char message[SADDLE_MESSAGE_SIZE];
    double condition = NAN;
    if (saddle_condition(solver, &condition, message)) fail_msg("%s", message);
    saddle_destroy(&solver);
    return condition;
}

static void condition_is_a_lower_bound_and_near(void **state)
{
    (void)state;
    rng r = rng_start("condition");
    double worst = 1;
    for (int round = 0; round < 120; ++round) {
        const int n = 1 + rng_below(&r, 50);
        const bool general = round % 4 == 3;
        dense a = general                   ? unsymmetric_problem(&r, n)
                  : round % 4 == 2 && n > 8 ? kkt_problem(&r, n, n / 4, 0)
                                            : symmetric_problem(&r, n, false);
        if (round % 4 == 1) /* badly conditioned */
            for (int k = 0; k < n * n; ++k) a.a[k] *= pow(10, -4.0 * (k % n) / n - 4.0 * (int)(k / n) / n);
        const double exact = true_condition(&a);
        const double found =
            condition_of(&a, general ? SADDLE_GENERAL : SADDLE_LOWER, STYLES[round % STYLES_ALL]);
        worst = fmin(worst, found / exact);
        if (!(found <= exact * (1 + 1e-6) && found >= exact / 3))
            fail_msg("round %d, n %d: %g, truly %g", round, n, found, exact);
        if (n <= 4) assert_true(fabs(found - exact) <= 1e-6 * exact);
        dense_free(&a);
    }
    print_message("           the estimate is at least %.2f of the truth\n", worst);
}

static void condition_does_not_depend_on_size_and_is_infinite_where_singular(void **state)
{
    (void)state;
    rng r = rng_start("condition, scaled");
    dense a = kkt_problem(&r, 40, 10, 0);
    const double one = condition_of(&a, SADDLE_LOWER, "");
    static const double factors[] = {1e200, 1e-200, 0x1p900, 1e-290};
    for (int k = 0; k < 4; ++k) {
        dense b = scaled_copy(&a, factors[k]);
        assert_true(fabs(condition_of(&b, SADDLE_LOWER, "") / one - 1) < 1e-9);
        assert_true(fabs(condition_of(&b, SADDLE_LOWER, "scaling=none") / one - 1) < 1e-9);
        dense_free(&b);
    }
    dense singular = kkt_problem(&r, 40, 10, 2), zero = dense_new(3);
    assert_true(isinf(condition_of(&singular, SADDLE_LOWER, "")));
    assert_true(isinf(condition_of(&zero, SADDLE_LOWER, "")));
    dense_free(&a);
    dense_free(&singular);
    dense_free(&zero);
}

/* The planned order, which is known before there are factors. */
static void expect_planned(const saddle_solver *solver, int32_t n)
{
    int32_t order[8];
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_get_order(solver, order), SADDLE_OK);
    assert_int_equal(saddle_get_order(solver, NULL), SADDLE_BAD_ARGUMENT);
    bool seen[8] = {false};
    for (int32_t k = 0; k < n; ++k) {
        assert_in_range(order[k], 0, n - 1);
        assert_false(seen[order[k]]);
        seen[order[k]] = true;
    }
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    assert_in_range(info.planned_fronts, 1, n);
    assert_in_range(info.planned_height, 1, info.planned_fronts);
    assert_in_range(info.planned_rows, 1, n);
    assert_in_range(info.planned_columns, 1, info.planned_rows);
}

static void expect_refused(saddle_solver *solver, saddle_status expected, const char *words)
{
    int32_t order[8];
    double x[16] = {0}, condition;
    char message[SADDLE_MESSAGE_SIZE] = "";
    assert_int_equal(saddle_solve_part(solver, SADDLE_FORWARD, 1, x, 8, message), expected);
    assert_contains(message, words);
    assert_int_equal(saddle_solve_part(solver, SADDLE_FORWARD, 1, x, 8, NULL), expected);
    assert_int_equal(saddle_get_pivots(solver, order, x), expected);
    assert_int_equal(saddle_get_scaling(solver, x), expected);
    assert_int_equal(saddle_set_d(solver, x), expected);
    const saddle_status status = saddle_condition(solver, &condition, message);
    if (status) assert_int_equal(status, expected); /* general matrices have one */
}

static void calls_out_of_order_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("order of calls");
    dense a = symmetric_problem(&r, 8, false), general = unsymmetric_problem(&r, 8);
    saddle_matrix A = view_plain(&a, SADDLE_LOWER), pattern = A;
    pattern.values = NULL;
    const saddle_options direct = options_of("method=direct"), other = options_of("method=diagonal");
    saddle_solver *solver = NULL;
    expect_refused(NULL, SADDLE_BAD_ARGUMENT, "NULL");
    int32_t order[8];
    assert_int_equal(saddle_get_order(NULL, order), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_create(&solver, &direct, NULL, NULL), SADDLE_OK);
    expect_refused(solver, SADDLE_WRONG_ORDER, "saddle_factor first");
    assert_int_equal(saddle_get_order(solver, order), SADDLE_WRONG_ORDER);
    assert_int_equal(saddle_analyse(solver, &pattern), SADDLE_OK);
    expect_refused(solver, SADDLE_WRONG_ORDER, "saddle_factor first");
    assert_int_equal(saddle_get_order(solver, order), SADDLE_WRONG_ORDER);
    assert_int_equal(saddle_analyse(solver, &A), SADDLE_OK);
    expect_refused(solver, SADDLE_WRONG_ORDER, "saddle_factor first");
    expect_planned(solver, 8);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    expect_planned(solver, 8);
    ((double *)(uintptr_t)A.values)[0] = NAN;
    assert_int_equal(saddle_factor(solver, &A), SADDLE_BAD_VALUE); /* the factors of before are gone */
    expect_refused(solver, SADDLE_WRONG_ORDER, "saddle_factor first");
    ((double *)(uintptr_t)A.values)[0] = 1;
    saddle_destroy(&solver);
    assert_int_equal(saddle_create(&solver, &other, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    expect_refused(solver, SADDLE_WRONG_ORDER, "method direct");
    assert_int_equal(saddle_get_order(solver, order), SADDLE_WRONG_ORDER);
    saddle_destroy(&solver);
    solver = factor_dense(&general, SADDLE_GENERAL, "");
    expect_refused(solver, SADDLE_WRONG_ORDER, "not symmetric");
    assert_int_equal(saddle_get_order(solver, order), SADDLE_WRONG_ORDER);
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&a);
    dense_free(&general);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("arguments");
    dense a = symmetric_problem(&r, 8, false);
    saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, "");
    double x[16] = {1}, d[16];
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_solve_part(solver, SADDLE_FORWARD, -1, x, 8, message), SADDLE_BAD_ARGUMENT);
    assert_contains(message, "-1 columns");
    assert_int_equal(saddle_solve_part(solver, SADDLE_FORWARD, 1, x, 7, message), SADDLE_BAD_ARGUMENT);
    assert_contains(message, "ldx 7");
    assert_int_equal(saddle_solve_part(solver, SADDLE_FORWARD, 1, NULL, 8, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve_part(solver, (saddle_part)3, 1, x, 8, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve_part(solver, SADDLE_FORWARD, 0, NULL, 8, message), SADDLE_OK);
    x[9] = INFINITY;
    assert_int_equal(saddle_solve_part(solver, SADDLE_FORWARD, 2, x, 8, message), SADDLE_BAD_VALUE);
    assert_contains(message, "entry 2 of column 2");
    assert_true(x[0] == 1); /* nothing was touched */
    assert_int_equal(saddle_get_order(solver, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_get_scaling(solver, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_get_pivots(solver, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_set_d(solver, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_condition(solver, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
    assert_int_equal(saddle_set_d(solver, d), SADDLE_OK);
    assert_int_equal(saddle_condition(solver, x, message), SADDLE_WRONG_ORDER);
    assert_contains(message, "D was changed");
    saddle_destroy(&solver);
    dense_free(&a);
}

static void allocations_fail_one_after_the_other(void **state)
{
    (void)state;
    rng r = rng_start("allocations");
    dense a = kkt_problem(&r, 30, 8, 0);
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    saddle_status status;
    saddle_solver *solver = factor_hooked(&a, SADDLE_LOWER, "", &hooks, &status);
    assert_int_equal(status, SADDLE_OK);
    const int64_t held = f.live;
    for (int call = 0; call < 4; ++call) {
        for (int64_t k = 1;; ++k) {
            double x[60], condition;
            char message[SADDLE_MESSAGE_SIZE];
            random_vector(&r, 60, x);
            f.failed = 0;
            f.fail_at = f.allocations + k;
            status = call < 3 ? saddle_solve_part(solver, (saddle_part)call, 2, x, 30, message)
                              : saddle_condition(solver, &condition, message);
            assert_int_equal(f.live, held);
            if (!f.failed) break;
            assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
            assert_true(strlen(message) > 0);
        }
        assert_int_equal(status, SADDLE_OK);
    }
    saddle_destroy(&solver);
    assert_int_equal(f.live, 0);
    dense_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_one_after_the_other_are_the_inverse),
        cmocka_unit_test(factors_multiply_to_the_matrix),
        cmocka_unit_test(inertia_of_d_is_that_of_info),
        cmocka_unit_test(powers_of_two_are_counted_to_d),
        cmocka_unit_test(parts_work_in_single_precision),
        cmocka_unit_test(the_same_d_gives_the_same_bits),
        cmocka_unit_test(absolute_d_is_a_positive_definite_operator),
        cmocka_unit_test(minres_takes_an_absolute_d),
        cmocka_unit_test(another_structure_or_value_of_d_is_refused),
        cmocka_unit_test(condition_is_a_lower_bound_and_near),
        cmocka_unit_test(condition_does_not_depend_on_size_and_is_infinite_where_singular),
        cmocka_unit_test(calls_out_of_order_are_refused),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(allocations_fail_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
