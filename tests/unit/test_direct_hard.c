/*
 * The direct solver on what is extreme, degenerate or wrong: sizes of 1e+-200, n = 1, diagonals, a dense row,
 * a dense block, zeros, an empty pattern, values that are not finite, values that have changed a lot.
 */
#include "factoring.h"

static const char *const STYLES[] = {"device=reference", "device=cpu", "device=cpu,scaling=none",
                                     "device=cpu,threads=2", "device=cpu,precision=mixed"};
enum { STYLES_ALL = sizeof STYLES / sizeof *STYLES };

/* Factors and solves for b = d known; the answer is good. */
static saddle_info expect_good(const dense *d, saddle_shape shape, const char *style, rng *r)
{
    const int n = d->n;
    double *known = test_alloc((size_t)n, sizeof *known), *b = test_alloc((size_t)n, sizeof *b),
           *x = test_alloc((size_t)n, sizeof *x);
    char list[160];
    random_vector(r, n, known);
    dense_times(d, known, b);
    snprintf(list, sizeof list, "method=direct,%s", style);
    const saddle_info info = solve_dense(d, shape, b, x, list);
    if (info.status || info.backward_error > 1e-14)
        fail_msg("%s, n %d: %s, backward error %g", style, n, info.message, info.backward_error);
    free(known);
    free(b);
    free(x);
    return info;
}

static void size_changes_neither_pivots_nor_inertia(void **state)
{
    (void)state;
    rng r = rng_start("size");
    static const double factors[] = {0x1p664, 0x1p-664, 1e200, 1e-200, 1e-300};
    for (int round = 0; round < 40; ++round) {
        const double factor = factors[round % 5];
        const int n = 40;
        dense a = round % 2 ? kkt_problem(&r, n, 12, 0) : symmetric_problem(&r, n, false);
        dense b = scaled_copy(&a, factor);
        const char *style = STYLES[round / 5 % STYLES_ALL];
        const saddle_info one = expect_good(&a, SADDLE_LOWER, style, &r);
        const saddle_info other = expect_good(&b, SADDLE_LOWER, style, &r);
        assert_int_equal(one.inertia_positive, other.inertia_positive);
        assert_int_equal(one.inertia_negative, other.inertia_negative);
        assert_int_equal(one.rank, other.rank);
        saddle_solver *p = factor_dense(&a, SADDLE_LOWER, style), *q = factor_dense(&b, SADDLE_LOWER, style);
        int32_t before[40], after[40];
        assert_int_equal(saddle_get_pivots(p, before, NULL), SADDLE_OK);
        assert_int_equal(saddle_get_pivots(q, after, NULL), SADDLE_OK);
        if (round % 5 < 2) assert_memory_equal(before, after, sizeof before); /* the same numbers */
        saddle_destroy(&p);
        saddle_destroy(&q);
        dense_free(&a);
        dense_free(&b);
    }
}

static void one_by_one_and_diagonal(void **state)
{
    (void)state;
    rng r = rng_start("diagonal");
    for (int style = 0; style < STYLES_ALL; ++style) {
        static const double sizes[] = {1, -3, 1e-300, -1e300, 0x1p-1060};
        for (int k = 0; k < 5; ++k) {
            dense d = dense_from(1, &sizes[k]);
            double x, b = 2 * sizes[k];
            char list[80];
            snprintf(list, sizeof list, "method=direct,%s", STYLES[style]);
            assert_int_equal(solve_dense(&d, SADDLE_LOWER, &b, &x, list).status, SADDLE_OK);
            if (!(fabs(x - 2) <= 1e-15)) fail_msg("%s: %g gives %.17g", list, sizes[k], x);
            dense_free(&d);
        }
        dense d = dense_new(50);
        for (int i = 0; i < 50; ++i) dense_set(&d, i, i, (i % 3 ? 1 : -1) * pow(10, i % 20 - 10));
        const saddle_info info = expect_good(&d, SADDLE_LOWER, STYLES[style], &r);
        if (style != 4) assert_int_equal(info.inertia_negative, 17);
        assert_int_equal(info.delayed, 0);
        dense_free(&d);
    }
}

static void a_dense_row_and_a_dense_block(void **state)
{
    (void)state;
    rng r = rng_start("dense");
    for (int style = 0; style < STYLES_ALL; ++style) {
        dense arrow = dense_new(200), block = dense_new(150);
        for (int i = 0; i < 200; ++i) {
            dense_set(&arrow, i, i, i == 77 ? 0 : (i % 2 ? 2 : -2));
            if (i != 77) set_both(&arrow, i, 77, rng_unit(&r));
        }
        for (int i = 0; i < 150; ++i)
            for (int j = 0; j <= i; ++j) set_both(&block, i, j, i == j && i % 3 == 0 ? 0 : rng_unit(&r));
        const saddle_info info = expect_good(&arrow, SADDLE_LOWER, STYLES[style], &r);
        if (info.factor_nnz >= 2000)
            fail_msg("%s: %lld entries, planned %lld, delayed %lld", STYLES[style],
                     (long long)info.factor_nnz, (long long)info.planned_nnz, (long long)info.delayed);
        double values[150];
        int64_t counts[3];
        jacobi_eigenvalues(&block, values);
        signs_of(values, 150, counts);
        const saddle_info full = expect_good(&block, SADDLE_LOWER, STYLES[style], &r);
        if (style != 4) assert_int_equal(full.inertia_positive, counts[0]);
        if (style != 4) assert_int_equal(full.inertia_negative, counts[1]);
        assert_int_equal(full.fronts, 1);
        dense_free(&arrow);
        dense_free(&block);
    }
}

/* Explicit zeros or no entries at all. */
/* Without scaling, or with one made for other values, a small entry is not a zero. */
static void entries_far_below_the_largest_are_pivots_without_scaling(void **state)
{
    (void)state;
    const double rows[] = {0x1p-38, 0, 0, 0, -0x1p29, 0, 0, 0, 0x1p-50};
    dense d = dense_from(3, rows);
    saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "scaling=none,pairs=off,factorization=ldlt");
    const saddle_info info = info_of(solver);
    assert_int_equal(info.inertia_positive, 2);
    assert_int_equal(info.inertia_negative, 1);
    assert_int_equal(info.rank, 3);
    saddle_destroy(&solver);
    dense_free(&d);
}

static void all_zeros_are_singular_and_solve_zero(void **state)
{
    (void)state;
    for (int style = 0; style < STYLES_ALL; ++style) {
        for (int stored = 0; stored < 3; ++stored) {
            dense d = dense_new(6);
            for (int i = 0; i < 6 && stored > 0; ++i) set_both(&d, i, stored == 1 ? i : (i + 1) % 6, 0);
            saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, STYLES[style]);
            saddle_info info = info_of(solver);
            if (style != 4) assert_int_equal(info.rank, 0);
            if (style != 4) assert_int_equal(info.inertia_zero, 6);
            double b[6] = {0}, x[6] = {1, 2, 3, 4, 5, 6};
            assert_int_equal(saddle_solve(solver, 1, b, 6, x, 6, &info), SADDLE_OK);
            for (int i = 0; i < 6; ++i) assert_true(x[i] == 0);
            b[3] = 1;
            assert_int_equal(saddle_solve(solver, 1, b, 6, x, 6, &info), SADDLE_SINGULAR);
            assert_contains(info.message, "row 4");
            for (int i = 0; i < 6; ++i) assert_true(x[i] == 0);
            saddle_destroy(&solver);
            dense_free(&d);
        }
    }
}

/* Column 5 is empty, and the rows 0 .. 2 meet only one column: no matching covers them. */
static void structurally_singular_matrices_have_their_rank(void **state)
{
    (void)state;
    rng r = rng_start("structure");
    for (int style = 0; style < 4; ++style) {
        dense d = dense_new(12);
        for (int i = 0; i < 3; ++i) set_both(&d, i, 6, 1 + i);
        for (int i = 7; i < 12; ++i) dense_set(&d, i, i, i % 2 ? 3 : -3);
        for (int i = 8; i < 12; ++i) set_both(&d, i, i - 1, 1);
        set_both(&d, 3, 4, 2);
        double values[12];
        int64_t counts[3];
        jacobi_eigenvalues(&d, values);
        signs_of(values, 12, counts);
        const saddle_info info = expect_good(&d, SADDLE_LOWER, STYLES[style], &r);
        assert_int_equal(info.inertia_zero, counts[2]);
        assert_int_equal(info.rank, counts[0] + counts[1]);
        dense_free(&d);
    }
}

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("not finite");
    dense d = symmetric_problem(&r, 20, false);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double *values = (double *)(uintptr_t)A.values, b[20] = {1}, x[20];
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    const saddle_options options = options_of("method=direct");
    for (int k = 0; k < 3; ++k) {
        saddle_solver *solver = NULL;
        assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
        const double good = values[7];
        values[7] = bad[k];
        assert_int_equal(saddle_analyse(solver, &A), SADDLE_BAD_VALUE);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_BAD_VALUE);
        assert_true(strlen(saddle_message(solver)) > 0);
        values[7] = good;
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        b[3] = bad[k];
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_solve(solver, 1, b, 20, x, 20, &info), SADDLE_BAD_VALUE);
        for (int i = 0; i < 20; ++i) assert_true(x[i] == 0);
        double block[60] = {0}, answers[60];
        block[0] = block[45] = 1;
        block[23] = bad[k]; /* among good ones */
        assert_int_equal(saddle_solve(solver, 3, block, 20, answers, 20, &info), SADDLE_BAD_VALUE);
        for (int i = 0; i < 60; ++i) assert_true(isfinite(answers[i]));
        b[3] = 0;
        saddle_destroy(&solver);
    }
    view_free(&A);
    dense_free(&d);
}

/* The matching was made for pairs beside the diagonal; with the values of now they carry nothing. */
static void stale_choices_are_reported(void **state)
{
    (void)state;
    enum { N = 40 };
    dense d = dense_new(N);
    for (int i = 0; i < N; i += 2) {
        set_both(&d, i, i + 1, 1);
        dense_set(&d, i, i, 1e-3);
        dense_set(&d, i + 1, i + 1, 1e-3);
        if (i > 0) set_both(&d, i, i - 1, 1e-3);
    }
    saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "scaling=mc64");
    assert_int_equal(info_of(solver).stale, 0);
    for (int i = 0; i < N; i += 2) {
        set_both(&d, i, i + 1, 1e-6);
        dense_set(&d, i, i, 1);
        dense_set(&d, i + 1, i + 1, -1);
    }
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_true(info_of(solver).stale >= N / 2);
    double b[N], x[N];
    saddle_info info = saddle_info_default();
    for (int i = 0; i < N; ++i) b[i] = 1;
    assert_int_equal(saddle_solve(solver, 1, b, N, x, N, &info), SADDLE_OK); /* and yet it is right */
    assert_true(info.backward_error <= 1e-15);
    assert_int_equal(info.inertia_positive, N / 2);
    assert_int_equal(saddle_analyse(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(info_of(solver).stale, 0);
    view_free(&A);
    saddle_destroy(&solver);
    dense_free(&d);
}

/* The scaling that the analysis made is 1e160 off: the factors overflow, and the solve plans again. (Left to
 * itself the solver would have planned again before.) */
static void values_far_from_those_of_the_plan_are_solved_all_the_same(void **state)
{
    (void)state;
    enum { N = 51 };
    dense d = dense_new(N);
    for (int i = 0; i < N - 1; ++i) {
        dense_set(&d, i, i, 0x1p-1060);
        set_both(&d, i, N - 1, 1);
    }
    const saddle_options options = options_of("method=direct,replan=off");
    saddle_solver *solver = NULL;
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_analyse(solver, &A), SADDLE_OK);
    view_free(&A);
    for (int i = 0; i < N - 1; ++i) dense_set(&d, i, i, 1);
    A = view_plain(&d, SADDLE_LOWER);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_true(info_of(solver).stale > 0);
    double b[2 * N], x[2 * N];
    saddle_info info = saddle_info_default();
    for (int i = 0; i < 2 * N; ++i) b[i] = 0.02 * i;
    assert_int_equal(saddle_solve(solver, 2, b, N, x, N, &info), SADDLE_OK);
    assert_true(info.backward_error <= 1e-15);
    assert_int_equal(info.inertia_positive, N - 1);
    assert_int_equal(info.inertia_negative, 1);
    view_free(&A);
    saddle_destroy(&solver);
    dense_free(&d);
}

static void another_pattern_is_refused(void **state)
{
    (void)state;
    rng r = rng_start("pattern");
    dense a = symmetric_problem(&r, 20, false), b = dense_copy(&a);
    saddle_solver *solver = factor_dense(&a, SADDLE_LOWER, "");
    for (int k = 0; k < 400; ++k) {
        if (b.there[k] || k % 21 == 0) continue;
        set_both(&b, k / 20, k % 20, 1);
        break;
    }
    saddle_matrix B = view_plain(&b, SADDLE_LOWER);
    assert_int_equal(saddle_factor(solver, &B), SADDLE_PATTERN_CHANGED);
    assert_int_equal(saddle_analyse(solver, &B), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &B), SADDLE_OK);
    view_free(&B);
    saddle_destroy(&solver);
    dense_free(&a);
    dense_free(&b);
}

/* Entries from 1e-300 to 1e300 in one matrix. */
static void wild_sizes_end_with_finite_numbers(void **state)
{
    (void)state;
    rng r = rng_start("wild");
    for (int round = 0; round < 60; ++round) {
        const int n = 2 + rng_below(&r, 30);
        dense d = indefinite_problem(&r, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j)
                if (d.there[i * n + j] && rng_below(&r, 3) == 0)
                    set_both(&d, i, j, dense_at(&d, i, j) * pow(10, 300 * rng_unit(&r)));
        double b[40], x[40];
        char list[80];
        for (int i = 0; i < n; ++i) b[i] = rng_unit(&r) * pow(10, 100 * rng_unit(&r));
        snprintf(list, sizeof list, "method=direct,%s", STYLES[round % STYLES_ALL]);
        solve_dense(&d, SADDLE_LOWER, b, x, list); /* which checks x, status and message */
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_changes_neither_pivots_nor_inertia),
        cmocka_unit_test(one_by_one_and_diagonal),
        cmocka_unit_test(a_dense_row_and_a_dense_block),
        cmocka_unit_test(entries_far_below_the_largest_are_pivots_without_scaling),
        cmocka_unit_test(all_zeros_are_singular_and_solve_zero),
        cmocka_unit_test(structurally_singular_matrices_have_their_rank),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(stale_choices_are_reported),
        cmocka_unit_test(values_far_from_those_of_the_plan_are_solved_all_the_same),
        cmocka_unit_test(another_pattern_is_refused),
        cmocka_unit_test(wild_sizes_end_with_finite_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
