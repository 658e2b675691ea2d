/*
 * The direct solver through the public interface: right answers and right inertia, in every style; singular
 * systems; definite ones; mixed precision; general matrices. What concerns bits, threads, memory and bad
 * input is in test_direct_again.c and test_direct_hard.c.
 */
#include "factoring.h"

static const char *const STYLES[] = {"device=reference",
                                     "device=cpu",
                                     "device=cpu,scaling=none,check=on",
                                     "device=cpu,order=natural,pairs=off",
                                     "device=cpu,threads=3,simplicial=off",
                                     "device=cpu,simplicial=on,check=on",
                                     "device=reference,order=amd,scaling=ruiz"};
enum { STYLES_ALL = sizeof STYLES / sizeof *STYLES };

/* ---- inertia ---- */

static void expect_inertia(const saddle_info *info, const int64_t counts[3], int round)
{
    if (info->inertia_positive == counts[0] && info->inertia_negative == counts[1] &&
        info->inertia_zero == counts[2] && info->rank == counts[0] + counts[1])
        return;
    fail_msg("round %d: inertia (%lld, %lld, %lld), rank %lld, not (%lld, %lld, %lld)", round,
             (long long)info->inertia_positive, (long long)info->inertia_negative,
             (long long)info->inertia_zero, (long long)info->rank, (long long)counts[0], (long long)counts[1],
             (long long)counts[2]);
}

/* Factors in one of the styles; the inertia is this. */
static saddle_solver *factor_in_style(const dense *d, const int64_t counts[3], int round)
{
    saddle_solver *solver = factor_dense(d, SADDLE_LOWER, STYLES[round % STYLES_ALL]);
    const saddle_info info = info_of(solver);
    expect_inertia(&info, counts, round);
    return solver;
}

static void check_inertia(const dense *d, const int64_t counts[3], int round)
{
    saddle_solver *solver = factor_in_style(d, counts, round);
    saddle_destroy(&solver);
}

static void inertia_is_that_of_the_eigenvalues(void **state)
{
    (void)state;
    rng r = rng_start("eigenvalues");
    for (int round = 0; round < 60; ++round) {
        const int n = 1 + rng_below(&r, 40);
        dense d = round % 3 == 0             ? symmetric_problem(&r, n, false)
                  : round % 3 == 1 && n >= 6 ? kkt_problem(&r, n, n / 3, 0)
                                             : indefinite_problem(&r, n);
        double values[64];
        int64_t counts[3];
        jacobi_eigenvalues(&d, values);
        signs_of(values, n, counts);
        check_inertia(&d, counts, round);
        dense_free(&d);
    }
}

static void inertia_is_that_of_the_congruence(void **state)
{
    (void)state;
    rng r = rng_start("congruence");
    for (int round = 0; round < 24; ++round) {
        const int n = 30 + rng_below(&r, 150);
        double e[200];
        int64_t counts[3] = {0, 0, 0};
        for (int k = 0; k < n; ++k) {
            const int which = rng_below(&r, 5) < 3 ? 0 : 1;
            e[k] = (which ? -1 : 1) * (1 + rng_below(&r, 16) / 16.0);
            ++counts[which];
        }
        dense d = congruent_problem(&r, n, e);
        check_inertia(&d, counts, round);
        dense_free(&d);
    }
}

/* ---- solutions ---- */

static void solutions_are_accurate(void **state)
{
    (void)state;
    rng r = rng_start("solutions");
    for (int round = 0; round < 60; ++round) {
        const int n = 1 + rng_below(&r, 120);
        dense d = round % 2 && n >= 6 ? kkt_problem(&r, n, n / 3, 0) : symmetric_problem(&r, n, false);
        double known[128], b[128], x[128];
        char list[160];
        random_vector(&r, n, known);
        dense_times(&d, known, b);
        snprintf(list, sizeof list, "method=direct,%s", STYLES[round % STYLES_ALL]);
        const saddle_info info = solve_dense(&d, round % 4 < 2 ? SADDLE_LOWER : SADDLE_FULL, b, x, list);
        assert_int_equal(info.status, SADDLE_OK);
        assert_true(info.backward_error <= 1e-15 && info.componentwise_error <= 1e-12);
        assert_true(info.first_error <= 1e-10);
        assert_int_equal(info.perturbed, 0);
        if (round % STYLES_ALL == 2) assert_true(info.largest_l <= 100);
        dense_free(&d);
    }
}

static void many_right_hand_sides_equal_one_by_one(void **state)
{
    (void)state;
    rng r = rng_start("many right-hand sides");
    enum { N = 80, NRHS = 70, LD = 83 };
    dense d = kkt_problem(&r, N, 25, 0);
    for (int style = 0; style < STYLES_ALL; ++style) {
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, STYLES[style]);
        double *b = test_alloc(NRHS * LD, sizeof *b), *x = test_alloc(NRHS * LD, sizeof *x), one[N];
        saddle_info info = saddle_info_default();
        random_vector(&r, NRHS * LD, b);
        assert_int_equal(saddle_solve(solver, NRHS, b, LD, x, LD, &info), SADDLE_OK);
        for (int k = 0; k < NRHS; ++k) {
            assert_int_equal(saddle_solve(solver, 1, b + k * LD, LD, one, N, &info), SADDLE_OK);
            assert_true(largest_difference(N, x + k * LD, one) <= 1e-12);
        }
        assert_int_equal(saddle_solve(solver, NRHS, b, LD, b, LD, &info), SADDLE_OK); /* in place */
        for (int k = 0; k < NRHS; ++k) assert_memory_equal(b + k * LD, x + k * LD, N * sizeof *b);
        free(b);
        free(x);
        saddle_destroy(&solver);
    }
    dense_free(&d);
}

/* ---- singular systems ---- */

static void expect_consistent(const saddle_solver *solver, const dense *d, rng *r, int round)
{
    double known[256], b[256], x[256];
    saddle_info info = saddle_info_default();
    random_vector(r, d->n, known);
    dense_times(d, known, b);
    if (saddle_solve(solver, 1, b, d->n, x, d->n, &info) != SADDLE_OK || info.backward_error > 1e-14)
        fail_msg("round %d: consistent, but %s (%s), backward error %g", round, info.message,
                 saddle_status_text(info.status), info.backward_error);
    for (int i = 0; i < d->n; ++i) assert_true(isfinite(x[i]) && fabs(x[i]) < 1e8);
}

static void expect_inconsistent(const saddle_solver *solver, int n, rng *r, int round)
{
    double b[256], x[256];
    saddle_info info = saddle_info_default();
    random_vector(r, n, b);
    const saddle_status status = saddle_solve(solver, 1, b, n, x, n, &info);
    if (status != SADDLE_SINGULAR)
        fail_msg("round %d: inconsistent, but %s: %s", round, saddle_status_text(status), info.message);
    for (int i = 0; i < n; ++i) assert_true(isfinite(x[i]));
}

/* Factors in one of the styles; the inertia, and with it the rank, is this, and right-hand sides are told
 * apart. */
static void check_singular(const dense *d, const int64_t counts[3], rng *r, int round)
{
    saddle_solver *solver = factor_in_style(d, counts, round);
    expect_consistent(solver, d, r, round);
    expect_inconsistent(solver, d->n, r, round);
    saddle_destroy(&solver);
}

static void rank_of_a_congruence_is_found(void **state)
{
    (void)state;
    rng r = rng_start("rank");
    for (int round = 0; round < 48; ++round) {
        const int n = 10 + rng_below(&r, 100), missing = 1 + rng_below(&r, n / 5);
        double e[128];
        int64_t counts[3] = {0, 0, 0};
        for (int k = 0; k < n; ++k) {
            const int which = k % (n / missing) == 0 && counts[2] < missing ? 2 : rng_below(&r, 2);
            e[k] = which == 2 ? 0 : (which ? -1 : 1) * (1 + rng_below(&r, 16) / 16.0);
            ++counts[which];
        }
        dense d = congruent_problem(&r, n, e);
        check_singular(&d, counts, &r, round);
        dense_free(&d);
    }
}

static void constraints_that_stand_twice_are_found(void **state)
{
    (void)state;
    rng r = rng_start("constraints twice");
    for (int round = 0; round < 48; ++round) {
        const int n = 20 + rng_below(&r, 80), m = n / 3, twice = 1 + rng_below(&r, m / 3);
        dense d = kkt_problem(&r, n, m, twice);
        const int64_t counts[3] = {n - m, m - twice, twice};
        check_singular(&d, counts, &r, round);
        dense_free(&d);
    }
}

/* (W E; E' 0) with the incidence matrix E of a tree and more edges, E 1 = 0: the pivot that ought to be 0 is
 * the rounding of ten decades of weights, and so is what the null vector has at them. */
static void a_network_of_widely_spread_weights_has_its_rank(void **state)
{
    (void)state;
    rng r = rng_start("network");
    for (int round = 0; round < 60; ++round) {
        const int nodes = 5 + rng_below(&r, 40), edges = nodes + rng_below(&r, nodes);
        dense d = dense_new(edges + nodes);
        for (int e = 0; e < edges; ++e) {
            const int from = e < nodes - 1 ? e + 1 : 1 + rng_below(&r, nodes - 1), to = rng_below(&r, from);
            dense_set(&d, e, e, pow(10, 5 * rng_unit(&r)));
            dense_set(&d, e, edges + from, 1), dense_set(&d, edges + from, e, 1);
            dense_set(&d, e, edges + to, -1), dense_set(&d, edges + to, e, -1);
        }
        const int64_t counts[3] = {edges, nodes - 1, 1};
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, round % 2 ? "device=cpu" : "device=reference");
        const saddle_info info = info_of(solver);
        expect_inertia(&info, counts, round);
        expect_inconsistent(solver, d.n, &r, round);
        saddle_destroy(&solver);
        dense_free(&d);
    }
}

/* ---- definite and quasidefinite ones ---- */

static void cholesky_is_taken_at_the_second_factorization(void **state)
{
    (void)state;
    rng r = rng_start("second factorization");
    double ones[60];
    for (int k = 0; k < 60; ++k) ones[k] = 1;
    dense d = congruent_problem(&r, 60, ones); /* definite, but not by dominance */
    saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "");
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    assert_int_equal(info_of(solver).factorization, SADDLE_FACTORIZATION_LDLT);
    assert_int_equal(info_of(solver).inertia_positive, 60);
    assert_int_equal(info_of(solver).kind, SADDLE_KIND_SPD);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(info_of(solver).factorization, SADDLE_FACTORIZATION_CHOLESKY);
    assert_int_equal(info_of(solver).inertia_positive, 60);
    expect_consistent(solver, &d, &r, 0);
    double *values = (double *)(uintptr_t)A.values;
    for (int64_t k = 0; k < A.entries; ++k) values[k] = -values[k]; /* no longer so */
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(info_of(solver).factorization, SADDLE_FACTORIZATION_LDLT);
    assert_int_equal(info_of(solver).inertia_negative, 60);
    view_free(&A);
    saddle_destroy(&solver);
    dense_free(&d);
}

static void cholesky_of_an_indefinite_matrix_is_refused(void **state)
{
    (void)state;
    rng r = rng_start("not definite");
    for (int round = 0; round < 12; ++round) {
        dense d = round % 2 ? kkt_problem(&r, 50, 10, 0) : symmetric_problem(&r, 50, round == 0);
        saddle_status status;
        saddle_solver *solver = factor_hooked(
            &d, SADDLE_LOWER,
            round % 3 ? "factorization=cholesky" : "factorization=cholesky,device=reference", NULL, &status);
        assert_int_equal(status, round == 0 ? SADDLE_OK : SADDLE_NOT_DEFINITE);
        if (status) {
            double b[50] = {1}, x[50];
            assert_contains(saddle_message(solver), "ldlt");
            assert_int_equal(saddle_solve(solver, 1, b, 50, x, 50, NULL), SADDLE_WRONG_ORDER);
        }
        saddle_destroy(&solver);
        dense_free(&d);
    }
}

/* Where no eigenvalues are counted, none are in no doubt. */
static void without_a_count_there_is_no_certainty(void **state)
{
    (void)state;
    enum { N = 60 };
    rng r = rng_start("no count");
    dense p = kkt_problem(&r, N, N / 3, 0);
    double pivots[2 * N];
    static const char *const lists[] = {"factorization=static", "precision=single", "precision=mixed",
                                        "certify=off", ""};
    for (int l = 0; l < 5; ++l) {
        double b[N], x[N];
        saddle_solver *solver = factor_dense(&p, SADDLE_LOWER, lists[l]);
        saddle_info info = saddle_info_default();
        for (int turn = 0; turn < 2; ++turn) {
            random_vector(&r, N, b);
            saddle_solve(solver, 1, b, N, x, N, &info);
            assert_int_equal(info.inertia_certain, turn == 0 && l == 4);
            assert_int_equal(info.inertia_certain, info.inertia_doubt == SADDLE_DOUBT_NONE);
            info = info_of(solver);
            assert_int_equal(info.inertia_certain, info.inertia_doubt == SADDLE_DOUBT_NONE);
            assert_int_equal(saddle_get_pivots(solver, NULL, pivots), SADDLE_OK);
            assert_int_equal(saddle_set_d(solver, pivots), SADDLE_OK);
        }
        saddle_destroy(&solver);
    }
    dense_free(&p);
}

static void a_static_factorization_keeps_the_signs(void **state)
{
    (void)state;
    rng r = rng_start("static");
    for (int round = 0; round < 12; ++round) {
        const int n = 90, m = 30;
        dense d = kkt_problem(&r, n, m, round % 3 == 2 ? 2 : 0);
        int8_t signs[90];
        double known[90], b[90], x[90];
        for (int i = 0; i < n; ++i) signs[i] = i < n - m ? 1 : -1;
        for (int i = n - m; i < n; ++i) dense_set(&d, i, i, round % 3 ? 0 : -1e-4);
        const saddle_options options =
            options_of(round % 2 ? "method=direct,factorization=static"
                                 : "method=direct,factorization=static,device=reference");
        saddle_solver *solver = NULL;
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
        assert_int_equal(saddle_set_signs(solver, n, signs), SADDLE_OK);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        saddle_info info = info_of(solver);
        assert_int_equal(info.factorization, SADDLE_FACTORIZATION_STATIC);
        assert_int_equal(info.delayed, 0);
        assert_int_equal(info.two_by_two, 0);
        assert_int_equal(info.regularised_positive, n - m);
        assert_int_equal(info.regularised_negative, m);
        assert_int_equal(info.inertia_positive, -1);
        random_vector(&r, n, known);
        dense_times(&d, known, b);
        assert_int_equal(saddle_solve(solver, 1, b, n, x, n, &info), SADDLE_OK);
        assert_true(info.backward_error <= 1e-14);
        view_free(&A);
        saddle_destroy(&solver);
        dense_free(&d);
    }
}

static void signs_that_are_none_are_refused(void **state)
{
    (void)state;
    const saddle_options options = options_of("method=direct,factorization=static");
    const int8_t wrong[] = {1, 0, 2, -1}, right[] = {1, 0, -1, -1};
    saddle_solver *solver = NULL;
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_set_signs(solver, 4, wrong), SADDLE_BAD_ARGUMENT);
    assert_contains(saddle_message(solver), "sign 3 (counted from 1) is 2");
    assert_int_equal(saddle_set_signs(solver, -1, right), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_set_given(solver, -1, &(saddle_given){0}), SADDLE_BAD_ARGUMENT);
    assert_contains(saddle_message(solver), "n is -1");
    assert_int_equal(saddle_set_signs(solver, 4, right), SADDLE_OK);
    assert_int_equal(saddle_set_signs(NULL, 4, right), SADDLE_BAD_ARGUMENT);
    saddle_destroy(&solver);
}

/* FGMRES around the factors makes some 24 iterations here that lead to nothing: they were called steps of the
 * refinement, which has at most 15 and the first solve. Where rounding lets them lead to something, they are
 * FGMRES'. */
static void iterations_in_vain_are_not_counted_as_refinement(void **state)
{
    (void)state;
    enum { SIZE = 12, WAYS = 8 };
    dense d = dense_new(SIZE);
    double b[SIZE], x[SIZE];
    int in_vain = 0;
    for (int i = 0; i < SIZE; ++i) {
        for (int j = 0; j < SIZE; ++j) dense_set(&d, i, j, i == j ? 1 + 1e-15 * cos(i) : 1);
        b[i] = (i * 7) % SIZE - 5.4;
    }
    for (int way = 0; way < WAYS; ++way) {
        char options[128];
        snprintf(options, sizeof options, "method=direct,factorization=static,regularise=%g,simplicial=%s",
                 1e-3 * (1 + way / 2), way % 2 ? "on" : "off");
        const saddle_info info = solve_dense(&d, SADDLE_LOWER, b, x, options);
        assert_int_equal(info.status, SADDLE_NOT_CONVERGED);
        if (info.krylov == SADDLE_KRYLOV_FGMRES) continue;
        ++in_vain;
        assert_int_equal(info.krylov, SADDLE_KRYLOV_REFINE);
        assert_in_range(info.iterations, 1, 16);
        assert_contains(info.message, "refinement");
    }
    assert_true(in_vain > 0);
    dense_free(&d);
}

/* It was "stagnation after 1 iterations". */
static void without_an_iteration_none_is_told(void **state)
{
    (void)state;
    rng r = rng_start("no iteration");
    dense d = kkt_problem(&r, 40, 10, 0);
    double b[40], x[40];
    random_vector(&r, 40, b);
    const char *const lists[] = {"method=direct,krylov=none,tol=0", "method=diagonal,krylov=none,tol=0"};
    for (int k = 0; k < 2; ++k) {
        const saddle_info info = solve_dense(&d, SADDLE_LOWER, b, x, lists[k]);
        assert_int_equal(info.reason, SADDLE_REASON_NO_ITERATION);
        assert_int_equal(info.iterations, 0);
        assert_contains(info.message, "krylov none does not iterate");
        assert_null(strstr(info.message, "after"));
    }
    dense_free(&d);
}

/* ---- precision, general matrices ---- */

static void mixed_precision_reaches_double(void **state)
{
    (void)state;
    rng r = rng_start("mixed");
    for (int round = 0; round < 12; ++round) {
        dense d = round % 2 ? kkt_problem(&r, 90, 30, 0) : symmetric_problem(&r, 90, false);
        double known[90], b[90], x[90];
        random_vector(&r, 90, known);
        dense_times(&d, known, b);
        const saddle_info info = solve_dense(&d, SADDLE_LOWER, b, x, "method=direct,precision=mixed");
        assert_int_equal(info.status, SADDLE_OK);
        assert_true(info.backward_error <= 1e-15);
        assert_true(info.first_error > 1e-12); /* it was single before */
        dense_free(&d);
    }
}

/* A Hilbert matrix: single precision is of no use here. */
static void mixed_precision_falls_back_to_double(void **state)
{
    (void)state;
    enum { N = 10 };
    dense d = dense_new(N);
    double b[N], x[N], one[N];
    for (int i = 0; i < N; ++i) {
        one[i] = 1;
        for (int j = 0; j < N; ++j) dense_set(&d, i, j, 1.0 / (1 + i + j));
    }
    dense_times(&d, one, b);
    const saddle_info info =
        solve_dense(&d, SADDLE_LOWER, b, x, "method=direct,precision=mixed,tol=1e-15,stop=normwise");
    assert_int_equal(info.status, SADDLE_OK);
    assert_true(info.backward_error <= 1e-15);
    dense_free(&d);
}

static void general_matrices_are_solved_through_symmetric_ones(void **state)
{
    (void)state;
    rng r = rng_start("general");
    for (int round = 0; round < 24; ++round) {
        const int n = 1 + rng_below(&r, 80);
        dense d = round % 2 ? unsymmetric_problem(&r, n) : dense_random(&r, n, 0.2, false);
        if (round % 2 == 0) /* rows exchanged: nothing on the diagonal */
            for (int i = 0; i < n; ++i) dense_set(&d, i, (i + 1) % n, 70 + rng_unit(&r));
        double known[80], b[80], x[80];
        random_vector(&r, n, known);
        dense_times(&d, known, b);
        const saddle_info info = solve_dense(&d, SADDLE_GENERAL, b, x,
                                             round % 3 ? "method=direct" : "method=direct,device=reference");
        assert_int_equal(info.status, SADDLE_OK);
        assert_true(info.backward_error <= 1e-14);
        if (!info.symmetric) assert_int_equal(info.inertia_positive, -1); /* that of another matrix */
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inertia_is_that_of_the_eigenvalues),
        cmocka_unit_test(inertia_is_that_of_the_congruence),
        cmocka_unit_test(solutions_are_accurate),
        cmocka_unit_test(many_right_hand_sides_equal_one_by_one),
        cmocka_unit_test(rank_of_a_congruence_is_found),
        cmocka_unit_test(constraints_that_stand_twice_are_found),
        cmocka_unit_test(a_network_of_widely_spread_weights_has_its_rank),
        cmocka_unit_test(cholesky_is_taken_at_the_second_factorization),
        cmocka_unit_test(cholesky_of_an_indefinite_matrix_is_refused),
        cmocka_unit_test(without_a_count_there_is_no_certainty),
        cmocka_unit_test(a_static_factorization_keeps_the_signs),
        cmocka_unit_test(signs_that_are_none_are_refused),
        cmocka_unit_test(iterations_in_vain_are_not_counted_as_refinement),
        cmocka_unit_test(without_an_iteration_none_is_told),
        cmocka_unit_test(mixed_precision_reaches_double),
        cmocka_unit_test(mixed_precision_falls_back_to_double),
        cmocka_unit_test(general_matrices_are_solved_through_symmetric_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
