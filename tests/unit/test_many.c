/* Many systems on one pattern, by several threads: each has its own outcome, and the bits that it has alone.
 */
#include "solving.h"

#include "failing_allocator.h"
#include "systems.h"

enum { N = 30, COUNT = 23 };

static systems systems_new(rng *r)
{
    dense d = symmetric_problem(r, N, false);
    return systems_of(r, &d, COUNT, 3, 0.1);
}

static saddle_solver *solver_of(const char *list, const saddle_hooks *hooks)
{
    const saddle_options options = options_of(list);
    saddle_solver *solver;
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_create(&solver, &options, hooks, message)) fail_msg("%s", message);
    return solver;
}

/* The diagonal of system k vanishes, and with it all of row 0: no x has 1 there. */
static void make_singular(const systems *s, int k)
{
    for (int64_t e = 0; e < s->A.entries; ++e) s->values[k * s->stride + e] = 0;
}

static void assert_same_results(const saddle_result *a, const saddle_result *b, int count)
{
    for (int k = 0; k < count; ++k) {
        assert_int_equal(a[k].status, b[k].status);
        assert_int_equal(a[k].reason, b[k].reason);
        assert_int_equal(a[k].converged, b[k].converged);
        assert_int_equal(a[k].inertia_certain, b[k].inertia_certain);
        assert_int_equal(a[k].inertia_positive, b[k].inertia_positive);
        assert_int_equal(a[k].inertia_negative, b[k].inertia_negative);
        assert_int_equal(a[k].iterations, b[k].iterations);
        assert_memory_equal(&a[k].backward_error, &b[k].backward_error, 3 * sizeof(double));
        assert_string_equal(a[k].message, b[k].message);
    }
}

/* One of them is singular in the middle; by one call, in two, one by one, with 1, 2 and 5 threads. */
static void systems_have_the_same_bits_however_they_are_run(void **state)
{
    (void)state;
    rng r = rng_start("many threads");
    systems s = systems_new(&r);
    double first[COUNT * N], second[COUNT * N], x[COUNT * N];
    saddle_result known[COUNT], results[COUNT];
    make_singular(&s, COUNT / 2);
    for (int threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
        char list[64];
        snprintf(list, sizeof list, "threads=%d%s", threads, threads == 2 ? ",method=direct" : "");
        saddle_solver *solver = solver_of(list, NULL);
        assert_int_equal(
            saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.stride, s.b, N, x, N, results),
            SADDLE_SINGULAR);
        assert_contains(saddle_message(solver), "system 11 of 23");
        if (threads == 1) {
            memcpy(first, x, sizeof x);
            memcpy(known, results, sizeof results);
        }
        assert_memory_equal(x, first, sizeof x);
        assert_same_results(results, known, COUNT);
        memset(x, 1, sizeof x);
        assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, results), SADDLE_OK);
        assert_int_equal(saddle_solve_many(solver, COUNT, s.b, N, x, N, results), SADDLE_SINGULAR);
        assert_memory_equal(x, first, sizeof x);
        assert_same_results(results, known, COUNT);
        /* no witness of the inertia rides along with the second solve: other kernels, the same system */
        assert_int_equal(saddle_solve_many(solver, COUNT, s.b, N, x, N, results), SADDLE_SINGULAR);
        if (threads == 1) memcpy(second, x, sizeof x);
        assert_memory_equal(x, second, sizeof x);
        for (int k = 0; k < COUNT * N; ++k)
            assert_true(fabs(x[k] - first[k]) <= 1e-12 * fabs(first[k]) + 1e-13);
        saddle_destroy(&solver);
    }
    saddle_solver *solver = solver_of("", NULL);
    s.A.values = s.values;
    assert_int_equal(saddle_analyse(solver, &s.A), SADDLE_OK);
    for (int k = COUNT - 1; k >= 0; --k) { /* what came before does not matter either */
        saddle_factor_solve_many(solver, &s.A, 1, s.values + k * s.stride, s.stride, s.b + k * N, N,
                                 x + k * N, N, &results[k]);
    }
    assert_memory_equal(x, first, sizeof x);
    assert_same_results(results, known, COUNT);
    saddle_destroy(&solver);
    for (int k = 0; k < COUNT; ++k) {
        if (k == COUNT / 2) {
            assert_int_equal(known[k].status, SADDLE_SINGULAR);
            assert_true(strlen(known[k].message) > 0);
            continue;
        }
        assert_int_equal(known[k].status, SADDLE_OK);
        assert_int_equal(known[k].converged, 1);
        assert_int_equal(known[k].inertia_certain, 1);
        assert_int_equal(known[k].inertia_positive + known[k].inertia_negative, N);
        assert_true(known[k].backward_error <= 1e-15);
        assert_string_equal(known[k].message, "");
    }
    s.A.values = NULL;
    systems_free(&s);
}

/* And those that saddle_factor and saddle_solve give. */
static void systems_are_solved_as_by_the_four_verbs(void **state)
{
    (void)state;
    rng r = rng_start("many verbs");
    systems s = systems_new(&r);
    double x[COUNT * N], y[N];
    saddle_result results[COUNT];
    saddle_solver *solver = solver_of("", NULL), *one = solver_of("method=direct,replan=off", NULL);
    s.A.values = s.values;
    assert_int_equal(saddle_analyse(one, &s.A), SADDLE_OK);
    s.A.values = NULL;
    assert_int_equal(saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.stride, s.b, N, x, N, results),
                     SADDLE_OK);
    assert_string_equal(saddle_message(solver), "");
    for (int k = 0; k < COUNT; ++k) {
        saddle_info info = saddle_info_default();
        saddle_matrix A = s.A;
        A.values = s.values + k * s.stride;
        assert_int_equal(saddle_factor(one, &A), SADDLE_OK);
        assert_int_equal(saddle_solve(one, 1, s.b + k * N, N, y, N, &info), SADDLE_OK);
        assert_memory_equal(x + k * N, y, sizeof y);
        assert_true(info.backward_error == results[k].backward_error);
        assert_int_equal(info.inertia_negative, results[k].inertia_negative);
    }
    saddle_destroy(&solver);
    saddle_destroy(&one);
    systems_free(&s);
}

/* Values that are not finite, far from those of the plan, or of another sign: each is the business of one
 * system. */
static void a_system_that_fails_does_not_disturb_the_others(void **state)
{
    (void)state;
    rng r = rng_start("many failures");
    systems s = systems_new(&r);
    double x[COUNT * N], before[COUNT * N];
    saddle_result results[COUNT], known[COUNT];
    saddle_solver *solver = solver_of("threads=2", NULL);
    assert_int_equal(
        saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.stride, s.b, N, before, N, known),
        SADDLE_OK);
    s.values[4 * s.stride + 5] = NAN;
    s.b[9 * N + 1] = INFINITY;
    for (int64_t e = 0; e < s.A.entries; ++e) s.values[13 * s.stride + e] *= e % 2 ? 1e12 : 1e-12;
    assert_int_equal(saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.stride, s.b, N, x, N, results),
                     SADDLE_BAD_VALUE);
    assert_contains(saddle_message(solver), "system 4 of 23");
    assert_int_equal(results[4].status, SADDLE_BAD_VALUE);
    assert_int_equal(results[9].status, SADDLE_BAD_VALUE);
    for (int i = 0; i < N; ++i) assert_true(x[4 * N + i] == 0 && x[9 * N + i] == 0);
    for (int k = 0; k < COUNT; ++k) {
        if (k == 4 || k == 9 || k == 13) continue;
        assert_memory_equal(x + k * N, before + k * N, N * sizeof *x);
        assert_same_results(&results[k], &known[k], 1);
    }
    assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, results), SADDLE_BAD_VALUE);
    assert_int_equal(results[4].status, SADDLE_BAD_VALUE);
    assert_int_equal(results[9].status, SADDLE_OK);
    assert_int_equal(saddle_solve_many(solver, COUNT, s.b, N, x, N, NULL), SADDLE_BAD_VALUE);
    assert_memory_equal(x + 5 * N, before + 5 * N, N * sizeof *x);
    saddle_destroy(&solver);
    systems_free(&s);
}

/* The analysis was made of a matrix that the rule refuses: that is nobody's failure. */
static void values_of_the_analysis_need_not_be_factored(void **state)
{
    (void)state;
    rng r = rng_start("many of another rule");
    dense d = symmetric_problem(&r, N, true);
    systems s = systems_of(&r, &d, COUNT, 0, 0.1);
    static const char *const lists[] = {"factorization=cholesky", "factorization=cholesky,simplicial=off",
                                        "factorization=cholesky,simplicial=on"};
    for (int l = 0; l < 3; ++l) {
        double x[COUNT * N], again[COUNT * N], *const first = s.values;
        saddle_result results[COUNT];
        saddle_solver *solver = solver_of(lists[l], NULL);
        for (int64_t e = 0; e < s.A.entries; ++e) first[e] = -first[e];
        s.A.values = first;
        assert_int_equal(saddle_analyse(solver, &s.A), SADDLE_OK);
        assert_int_equal(
            saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.stride, s.b, N, x, N, results),
            SADDLE_NOT_DEFINITE);
        assert_contains(saddle_message(solver), "system 0 of 23");
        assert_int_equal(results[0].status, SADDLE_NOT_DEFINITE);
        for (int i = 0; i < N; ++i) assert_true(x[i] == 0);
        for (int k = 1; k < COUNT; ++k) {
            assert_int_equal(results[k].status, SADDLE_OK);
            assert_true(results[k].inertia_certain && results[k].inertia_positive == N);
            assert_true(results[k].backward_error <= 1e-15);
        }
        assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, results),
                         SADDLE_NOT_DEFINITE);
        assert_int_equal(saddle_solve_many(solver, COUNT, s.b, N, again, N, results), SADDLE_NOT_DEFINITE);
        assert_memory_equal(again, x, sizeof x);
        for (int64_t e = 0; e < s.A.entries; ++e) first[e] = -first[e];
        saddle_destroy(&solver);
    }
    systems_free(&s);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("many arguments");
    systems s = systems_new(&r);
    double x[COUNT * N];
    saddle_solver *solver = solver_of("", NULL), *other = solver_of("method=bjacobi", NULL);
#define RUN(on, A, count, values, stride, b, ldb, x, ldx)                                                    \
    saddle_factor_solve_many(on, A, count, values, stride, b, ldb, x, ldx, NULL)
    assert_int_equal(RUN(NULL, &s.A, 1, s.values, s.stride, s.b, N, x, N), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, NULL, 1, s.values, s.stride, s.b, N, x, N), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, &s.A, -1, s.values, s.stride, s.b, N, x, N), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, &s.A, 2, s.values, s.A.entries - 1, s.b, N, x, N), SADDLE_BAD_ARGUMENT);
    assert_contains(saddle_message(solver), "stride");
    assert_int_equal(RUN(solver, &s.A, 2, NULL, s.stride, s.b, N, x, N), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, &s.A, 2, s.values, s.stride, s.b, N - 1, x, N), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, &s.A, 2, s.values, s.stride, s.b, N, x, N - 1), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, &s.A, 2, s.values, s.stride, NULL, N, x, N), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, &s.A, 2, s.values, s.stride, s.b, N, NULL, N), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(solver, &s.A, 2, s.values, s.stride, x, N, x, N + 1), SADDLE_BAD_ARGUMENT);
    assert_int_equal(RUN(other, &s.A, 2, s.values, s.stride, s.b, N, x, N), SADDLE_NOT_SUPPORTED);
    assert_contains(saddle_message(other), "method direct");
    saddle_matrix general = s.A;
    general.shape = SADDLE_GENERAL;
    assert_int_equal(RUN(solver, &general, 2, s.values, s.stride, s.b, N, x, N), SADDLE_NOT_SUPPORTED);
    saddle_result small;
    assert_int_equal(saddle_factor_many_sized(solver, &s.A, 1, s.values, s.stride, &small, 8),
                     SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve_many(solver, 2, s.b, N, x, N, NULL), SADDLE_WRONG_ORDER);
    assert_int_equal(RUN(solver, &s.A, 2, s.values, s.stride, s.b, N, x, N), SADDLE_OK);
    assert_int_equal(saddle_solve_many(solver, 2, s.b, N, x, N, NULL), SADDLE_WRONG_ORDER);
    assert_int_equal(saddle_factor_many(solver, &s.A, 2, s.values, s.stride, NULL), SADDLE_OK);
    assert_int_equal(saddle_solve_many(solver, 3, s.b, N, x, N, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve_many(NULL, 2, s.b, N, x, N, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve_many(solver, 2, NULL, N, x, N, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve_many(solver, 2, s.b, N, x, N, NULL), SADDLE_OK);
    assert_int_equal(RUN(solver, &s.A, 0, NULL, s.stride, NULL, N, NULL, N), SADDLE_OK);
    assert_int_equal(saddle_analyse(solver, &s.A), SADDLE_OK); /* the systems are gone with the plan */
    assert_int_equal(saddle_solve_many(solver, 2, s.b, N, x, N, NULL), SADDLE_WRONG_ORDER);
#undef RUN
    saddle_destroy(&solver);
    saddle_destroy(&other);
    systems_free(&s);
}

/* Both triangles, numbers counted from 1, floats, columns out of order: any view of a symmetric matrix. */
static void any_view_of_a_symmetric_matrix_will_do(void **state)
{
    (void)state;
    rng r = rng_start("many views");
    for (int round = 0; round < 40; ++round) {
        dense d = symmetric_problem(&r, N, false);
        for (int k = 0; k < N * N; ++k) d.a[k] = rint(16 * d.a[k]) / 16; /* so that sums of parts are exact */
        for (int i = 0; i < N; ++i) dense_set(&d, i, i, dense_at(&d, i, i) > 0 ? 9 : -9);
        view_style style = rng_style(&r, true);
        if (style.shape == SADDLE_GENERAL) style.shape = SADDLE_FULL;
        saddle_matrix A = view_make(&r, &d, style);
        double b[2 * N], x[2 * N];
        for (int k = 0; k < 2 * N; ++k) b[k] = rng_unit(&r);
        const size_t number = A.type == SADDLE_DOUBLE ? sizeof(double) : sizeof(float);
        char *values = test_alloc((size_t)(2 * A.entries) + 1, number);
        for (int k = 0; k < 2; ++k)
            memcpy(values + (size_t)(k * A.entries) * number, A.values, (size_t)A.entries * number);
        saddle_result results[2];
        saddle_solver *solver = solver_of("", NULL);
        if (saddle_factor_solve_many(solver, &A, 2, values, A.entries, b, N, x, N, results))
            fail_msg("%s", saddle_message(solver));
        assert_true(relative_residual_of(&d, b, x) < 1e-6);
        assert_true(results[0].backward_error <= 1e-15 && results[1].backward_error <= 1e-15);
        saddle_destroy(&solver);
        free(values);
        view_free(&A);
        dense_free(&d);
    }
}

/* A caller's own allocator; one thread, since it counts. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("many allocations");
    systems s = systems_new(&r);
    enum { FEW = 3 };
    double x[FEW * N];
    for (int kept = 0; kept < 2; ++kept) {
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            const saddle_options options = options_of("threads=1,method=direct");
            saddle_result results[FEW];
            saddle_solver *solver = NULL;
            saddle_status status = saddle_create(&solver, &options, &hooks, NULL);
            if (!status && kept) status = saddle_factor_many(solver, &s.A, FEW, s.values, s.stride, results);
            if (!status && kept) status = saddle_solve_many(solver, FEW, s.b, N, x, N, results);
            if (!status && !kept)
                status =
                    saddle_factor_solve_many(solver, &s.A, FEW, s.values, s.stride, s.b, N, x, N, results);
            saddle_destroy(&solver);
            assert_int_equal(f.live, 0);
            assert_true(f.failed || status == SADDLE_OK);
            if (!f.failed) break;
            assert_true(status == SADDLE_OUT_OF_MEMORY ||
                        status == SADDLE_OK); /* a certificate may do without */
        }
    }
    systems_free(&s);
}

/* A limit that holds for all of them together: too small for any, and enough. */
static void a_memory_limit_is_shared(void **state)
{
    (void)state;
    rng r = rng_start("many limits");
    systems s = systems_new(&r);
    double x[COUNT * N];
    saddle_result results[COUNT];
    saddle_solver *solver = solver_of("max_memory=120000,method=direct", NULL);
    assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, results),
                     SADDLE_MEMORY_LIMIT);
    saddle_destroy(&solver);
    solver = solver_of("max_memory=20000000,method=direct", NULL);
    assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, results), SADDLE_OK);
    assert_int_equal(saddle_solve_many(solver, COUNT, s.b, N, x, N, results), SADDLE_OK);
    saddle_destroy(&solver);
    systems_free(&s);
}

static int stop_at_five(const saddle_progress *p, void *user)
{
    (void)user;
    return strcmp(p->stage, "factor") == 0 && p->total == COUNT && p->done == 5;
}

static int stop_at_five_if(const saddle_progress *p, void *user)
{
    return *(const bool *)user && stop_at_five(p, NULL);
}

static void cancelling_leaves_the_systems_after_it(void **state)
{
    (void)state;
    rng r = rng_start("many cancelled");
    systems s = systems_new(&r);
    double x[COUNT * N];
    saddle_result results[COUNT];
    saddle_hooks hooks = saddle_hooks_default();
    hooks.progress = stop_at_five;
    saddle_solver *solver = solver_of("threads=1", &hooks);
    assert_int_equal(saddle_factor_solve_many(solver, &s.A, COUNT, s.values, s.stride, s.b, N, x, N, results),
                     SADDLE_CANCELLED);
    for (int k = 0; k < COUNT; ++k)
        assert_int_equal(results[k].status, k <= 5 ? SADDLE_OK : SADDLE_CANCELLED);
    saddle_destroy(&solver);
    systems_free(&s);
}

/* Those after it have no factors then: neither those of a call before, which are of other values, nor any
 * that a solve could take for factors. */
static void systems_that_were_not_factored_are_not_solved(void **state)
{
    (void)state;
    rng r = rng_start("many cancelled, then solved");
    systems s = systems_new(&r);
    for (int again = 0; again < 2; ++again) {
        double x[COUNT * N];
        saddle_result results[COUNT];
        bool stop = false;
        saddle_hooks hooks = saddle_hooks_default();
        hooks.progress = stop_at_five_if;
        hooks.user = &stop;
        saddle_solver *solver = solver_of("threads=1", &hooks);
        if (again)
            assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, NULL), SADDLE_OK);
        stop = true;
        assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, results),
                         SADDLE_CANCELLED);
        stop = false;
        assert_int_equal(saddle_solve_many(solver, COUNT, s.b, N, x, N, results), SADDLE_CANCELLED);
        int solved = 0;
        for (int k = 0; k < COUNT; ++k) {
            solved += results[k].status == SADDLE_OK;
            if (results[k].status == SADDLE_OK) continue;
            assert_int_equal(results[k].status, SADDLE_CANCELLED);
            assert_contains(results[k].message, "cancelled");
            for (int i = 0; i < N; ++i) assert_true(x[k * N + i] == 0);
        }
        assert_in_range(solved, 1, COUNT - 1);
        assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, s.values, s.stride, results), SADDLE_OK);
        assert_int_equal(saddle_solve_many(solver, COUNT, s.b, N, x, N, results), SADDLE_OK);
        saddle_destroy(&solver);
    }
    systems_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_have_the_same_bits_however_they_are_run),
        cmocka_unit_test(systems_are_solved_as_by_the_four_verbs),
        cmocka_unit_test(a_system_that_fails_does_not_disturb_the_others),
        cmocka_unit_test(values_of_the_analysis_need_not_be_factored),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(any_view_of_a_symmetric_matrix_will_do),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_memory_limit_is_shared),
        cmocka_unit_test(cancelling_leaves_the_systems_after_it),
        cmocka_unit_test(systems_that_were_not_factored_are_not_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
