/*
 * The direct solver again and again: the same bits at any number of threads and in any factorization, no new
 * memory, several solvers at once, memory limits, failing allocations, cancelling.
 */
#include "factoring.h"

#include "failing_allocator.h"
#include "grids.h"
#include "inside.h"

#include <pthread.h>

static saddle_solver *solver_new(const char *list, const saddle_hooks *hooks)
{
    const saddle_options options = options_of(list);
    saddle_solver *solver = NULL;
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_create(&solver, &options, hooks, message)) fail_msg("%s", message);
    return solver;
}

static void factor_and_solve(saddle_solver *solver, const grid_problem *p, double *x, double *d)
{
    saddle_info info = saddle_info_default();
    if (saddle_factor(solver, &p->A)) fail_msg("%s", saddle_message(solver));
    if (saddle_solve(solver, 1, p->b, p->n, x, p->n, &info)) fail_msg("%s", info.message);
    assert_true(info.backward_error <= 1e-15);
    assert_int_equal(info.inertia_positive, p->n / 2);
    if (d) assert_int_equal(saddle_get_pivots(solver, NULL, d), SADDLE_OK);
}

/* ---- memory ---- */

/* It was short of a fifth or more. Several threads take more, but make do with that where there is a limit.
 * What columns take is predicted with the fronts that may have to do in their place. */
static void check_predicted_memory(const char *simplicial, double most)
{
    grid_problem p = grid_new(60, 1);
    double *x = test_alloc((size_t)p.n, sizeof *x), *y = test_alloc((size_t)p.n, sizeof *y);
    char list[96];
    snprintf(list, sizeof list, "method=direct,threads=1,simplicial=%s", simplicial);
    saddle_solver *solver = solver_new(list, NULL);
    factor_and_solve(solver, &p, x, NULL);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve(solver, 1, p.b, p.n, x, p.n, &info), SADDLE_OK);
    assert_int_equal(info.delayed, 0);
    const double planned = (double)info.planned_bytes, peak = (double)info.peak_bytes;
    if (!(peak <= 1.01 * planned && planned <= most * peak)) fail_msg("%g planned, %g used", planned, peak);
    saddle_destroy(&solver);
    snprintf(list, sizeof list, "method=direct,threads=4,simplicial=%s,max_memory=%.0f", simplicial,
             1.02 * planned);
    solver = solver_new(list, NULL);
    for (int again = 0; again < 2; ++again) {
        factor_and_solve(solver, &p, y, NULL);
        assert_memory_equal(x, y, (size_t)p.n * sizeof *x);
    }
    saddle_destroy(&solver);
    free(x);
    free(y);
    grid_free(&p);
}

static void the_plan_predicts_the_memory_of_one_thread(void **state)
{
    (void)state;
    check_predicted_memory("off", 1.1);
    check_predicted_memory("on", 2.5);
}

/* ---- the same bits ---- */

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    grid_problem p = grid_new(60, 1);
    const size_t bytes = (size_t)p.n * sizeof(double);
    double *x = malloc(bytes), *d = malloc(2 * bytes), *y = malloc(bytes), *e = malloc(2 * bytes);
    saddle_solver *solver = solver_new("method=direct,threads=1", NULL);
    factor_and_solve(solver, &p, x, d);
    assert_true(direct_of(solver)->plan->tree.groups > 1); /* or there would be nothing to share */
    saddle_destroy(&solver);
    for (int run = 0; run < 8; ++run) {
        char list[64];
        snprintf(list, sizeof list, "method=direct,threads=%d", threads[run % 4]);
        solver = solver_new(list, NULL);
        factor_and_solve(solver, &p, y, e);
        assert_memory_equal(x, y, bytes);
        assert_memory_equal(d, e, 2 * bytes);
        saddle_destroy(&solver);
    }
    free(x);
    free(y);
    free(d);
    free(e);
    grid_free(&p);
}

static void factoring_again_gives_the_bits_of_the_first_time(void **state)
{
    (void)state;
    static const char *const styles[] = {"method=direct", "method=direct,threads=2",
                                         "method=direct,device=reference", "method=direct,precision=mixed"};
    grid_problem p = grid_new(25, 1), q = grid_new(25, 2);
    const size_t bytes = (size_t)p.n * sizeof(double);
    double *x = malloc(bytes), *d = malloc(2 * bytes), *y = malloc(bytes), *e = malloc(2 * bytes);
    for (int style = 0; style < 4; ++style) {
        saddle_solver *solver = solver_new(styles[style], NULL);
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_analyse(solver, &p.A), SADDLE_OK);
        for (int run = 0; run < 3; ++run) {
            assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
            assert_int_equal(saddle_solve(solver, 1, p.b, p.n, run ? y : x, p.n, &info), SADDLE_OK);
            assert_int_equal(saddle_get_pivots(solver, NULL, run ? e : d), SADDLE_OK);
            if (run > 0) assert_memory_equal(x, y, bytes);
            if (run > 0) assert_memory_equal(d, e, 2 * bytes);
            assert_int_equal(saddle_factor(solver, &q.A), SADDLE_OK); /* something else in between */
        }
        saddle_destroy(&solver);
    }
    free(x);
    free(y);
    free(d);
    free(e);
    grid_free(&p);
    grid_free(&q);
}

/* An arrow analysed with another diagonal: the scaling of that would make zeros of what is no zero now. */
static void values_far_from_those_analysed_keep_their_inertia(void **state)
{
    (void)state;
    enum { N = 50 };
    static const double diagonals[] = {1e-100, 1e-310, 1e300, 1e-9, 0};
    int32_t colptr[N + 2], rowind[2 * N];
    double values[2 * N], b[N + 1], x[N + 1];
    for (int i = 0; i < N; ++i) {
        colptr[i] = 2 * i;
        rowind[2 * i] = i;
        rowind[2 * i + 1] = N;
        values[2 * i + 1] = 1;
        b[i] = i;
    }
    b[N] = 3;
    colptr[N] = colptr[N + 1] = 2 * N;
    const saddle_matrix A = saddle_symmetric(N + 1, colptr, rowind, values);
    for (size_t k = 0; k < sizeof diagonals / sizeof *diagonals; ++k) {
        saddle_solver *solver = solver_new("method=direct", NULL);
        saddle_info info = saddle_info_default();
        for (int i = 0; i < N; ++i) values[2 * i] = diagonals[k];
        assert_int_equal(saddle_analyse(solver, &A), SADDLE_OK);
        for (int i = 0; i < N; ++i) values[2 * i] = 1 + i;
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        assert_int_equal(saddle_solve(solver, 1, b, N + 1, x, N + 1, &info), SADDLE_OK);
        assert_int_equal(info.inertia_positive, N);
        assert_int_equal(info.inertia_negative, 1);
        assert_true(info.componentwise_error <= 1e-14);
        saddle_destroy(&solver);
    }
}

/* ---- memory ---- */

static void a_thousand_factorizations_take_no_new_memory(void **state)
{
    (void)state;
    grid_problem p = grid_new(10, 1);
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    saddle_solver *solver = solver_new("method=direct,threads=1", &hooks);
    int64_t live = 0;
    for (int run = 0; run < 1000; ++run) {
        fill_values(&p, (uint64_t)run);
        const int64_t before = f.allocations;
        assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
        if (run == 1) live = f.live;
        if (run > 1) assert_int_equal(f.allocations - before, 0);
        if (run > 1) assert_int_equal(f.live, live);
    }
    saddle_destroy(&solver);
    assert_int_equal(f.live, 0);
    grid_free(&p);
}

static void a_limit_below_the_plan_is_refused(void **state)
{
    (void)state;
    grid_problem p = grid_new(30, 1);
    saddle_solver *solver = solver_new("method=direct,max_memory=300K", NULL);
    double *x = test_alloc((size_t)p.n, sizeof *x);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_MEMORY_LIMIT);
    assert_int_equal(saddle_solve(solver, 1, p.b, p.n, x, p.n, NULL), SADDLE_WRONG_ORDER);
    saddle_destroy(&solver);
    solver = solver_new("method=direct", NULL);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    const saddle_info info = info_of(solver);
    assert_true(info.planned_bytes > 300000 && info.planned_flops > 0 && info.planned_nnz > p.n);
    saddle_destroy(&solver);
    char list[80];
    snprintf(list, sizeof list, "method=direct,max_memory=%lld", (long long)info.planned_bytes - 1);
    solver = solver_new(list, NULL);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_MEMORY_LIMIT);
    assert_contains(saddle_message(solver), "the direct solver needs about");
    assert_contains(saddle_message(solver), "max_memory");
    saddle_destroy(&solver);
    free(x);
    grid_free(&p);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const styles[] = {"method=direct,threads=1", "method=direct,threads=1,precision=mixed",
                                         "method=direct,threads=1,device=reference,check=on"};
    grid_problem p = grid_new(5, 3);
    double x[100];
    for (int style = 0; style < 3; ++style) {
        int64_t failures = 0;
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            const saddle_options options = options_of(styles[style]);
            char message[SADDLE_MESSAGE_SIZE] = "";
            saddle_solver *solver = NULL;
            saddle_info info = saddle_info_default();
            saddle_status status = saddle_create(&solver, &options, &hooks, message);
            if (!status) {
                status = saddle_factor(solver, &p.A);
                if (status) snprintf(message, sizeof message, "%s", saddle_message(solver));
            }
            if (!status) {
                status = saddle_solve(solver, 1, p.b, p.n, x, p.n, &info);
                if (status) snprintf(message, sizeof message, "%s", info.message);
            }
            saddle_destroy(&solver);
            assert_int_equal(f.live, 0);
            if (!f.failed) break;
            if (status != SADDLE_OUT_OF_MEMORY || !strstr(message, "memory"))
                fail_msg("style %d, allocation %lld: %s, \"%s\"", style, (long long)k,
                         saddle_status_text(status), message);
            ++failures;
        }
        assert_true(failures > 20);
    }
    grid_free(&p);
}

static void a_solver_is_whole_again_after_a_failed_allocation(void **state)
{
    (void)state;
    grid_problem p = grid_new(8, 3);
    double x[128], y[128];
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    saddle_solver *solver = solver_new("method=direct,threads=1", &hooks);
    factor_and_solve(solver, &p, x, NULL);
    for (int64_t k = 1;; ++k) {
        f.failed = 0;
        f.fail_at = f.allocations + k;
        const saddle_status status = saddle_factor(solver, &p.A);
        if (!f.failed) break;
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
        f.fail_at = 0;
        factor_and_solve(solver, &p, y, NULL);
        assert_memory_equal(x, y, sizeof x);
    }
    saddle_destroy(&solver);
    assert_int_equal(f.live, 0);
    grid_free(&p);
}

/* ---- several at once, and stopping ---- */

typedef struct worker {
    grid_problem *p;
    double *x;
    bool right;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    const saddle_options options = options_of("method=direct,threads=2");
    saddle_solver *solver = NULL;
    saddle_info info = saddle_info_default();
    w->right = saddle_create(&solver, &options, NULL, NULL) == SADDLE_OK;
    for (int run = 0; run < 5 && w->right; ++run)
        w->right = saddle_factor(solver, &w->p->A) == SADDLE_OK &&
                   saddle_solve(solver, 1, w->p->b, w->p->n, w->x, w->p->n, &info) == SADDLE_OK &&
                   info.backward_error <= 1e-15;
    saddle_destroy(&solver);
    return NULL;
}

static void two_solvers_at_once_are_right(void **state)
{
    (void)state;
    grid_problem p[2] = {grid_new(40, 1), grid_new(31, 2)};
    worker w[2] = {{.p = &p[0]}, {.p = &p[1]}};
    double *alone[2];
    pthread_t threads[2];
    for (int k = 0; k < 2; ++k) {
        alone[k] = w[k].x = test_alloc((size_t)p[k].n, sizeof(double));
        work(&w[k]);
        assert_true(w[k].right);
        w[k].x = test_alloc((size_t)p[k].n, sizeof(double));
    }
    for (int k = 0; k < 2; ++k) assert_int_equal(pthread_create(&threads[k], NULL, work, &w[k]), 0);
    for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
    for (int k = 0; k < 2; ++k) {
        assert_true(w[k].right);
        assert_memory_equal(w[k].x, alone[k], (size_t)p[k].n * sizeof(double));
        free(w[k].x);
        free(alone[k]);
        grid_free(&p[k]);
    }
}

/* A tree of one front above all groups: its pieces are shared out, and the bits stay. */
static void one_large_front_has_the_same_bits(void **state)
{
    (void)state;
    enum { N = 400 };
    rng r = rng_start("one front");
    dense d = dense_random(&r, N, 2, true); /* all entries are there */
    double first[2 * N], pivots[2 * N];
    for (int threads = 1; threads <= 3; ++threads) {
        char list[64];
        snprintf(list, sizeof list, "threads=%d", threads);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, list);
        assert_int_equal(direct_of(solver)->plan->tree.fronts, 1);
        assert_int_equal(direct_of(solver)->plan->tree.groups, 0);
        assert_int_equal(saddle_get_pivots(solver, NULL, threads == 1 ? first : pivots), SADDLE_OK);
        if (threads > 1) assert_memory_equal(first, pivots, sizeof first);
        saddle_destroy(&solver);
    }
    dense_free(&d);
}

/* Many tasks may meet a pivot that is not positive at once. */
static void threads_agree_that_a_matrix_is_not_definite(void **state)
{
    (void)state;
    grid_problem p = grid_new(60, 1);
    for (int run = 0; run < 10; ++run) {
        saddle_solver *solver = solver_new("method=direct,factorization=cholesky,threads=3", NULL);
        assert_int_equal(saddle_factor(solver, &p.A), SADDLE_NOT_DEFINITE);
        saddle_destroy(&solver);
    }
    grid_free(&p);
}

typedef struct countdown {
    int calls, stop_at;
} countdown;

static int count_down(const saddle_progress *progress, void *user)
{
    countdown *c = user;
    (void)progress;
    return ++c->calls == c->stop_at;
}

static void cancelling_works_at_every_report(void **state)
{
    (void)state;
    grid_problem p = grid_new(40, 1);
    double *x = test_alloc((size_t)p.n, sizeof *x), *y = test_alloc((size_t)p.n, sizeof *y);
    for (int threads = 1; threads <= 2; ++threads) {
        int reports = 0;
        for (int stop = 1; stop < 1000; stop = stop < 12 ? stop + 1 : stop * 2) {
            countdown c = {0, stop};
            const saddle_hooks hooks = {.size = sizeof hooks, .progress = count_down, .user = &c};
            saddle_solver *solver =
                solver_new(threads == 1 ? "method=direct" : "method=direct,threads=2", &hooks);
            const saddle_status status = saddle_factor(solver, &p.A);
            assert_int_equal(status, c.calls >= stop ? SADDLE_CANCELLED : SADDLE_OK);
            if (status) {
                ++reports;
                c.stop_at = 0;
                factor_and_solve(solver, &p, y, NULL); /* nothing is left of it */
                if (reports > 1) assert_memory_equal(x, y, (size_t)p.n * sizeof *x);
                memcpy(x, y, (size_t)p.n * sizeof *x);
            }
            saddle_destroy(&solver);
        }
        assert_true(reports > 4);
    }
    free(x);
    free(y);
    grid_free(&p);
}

/* ---- progress within a front ---- */

typedef struct way {
    int between; /* reports of the factorization that are neither its beginning nor its end */
    bool cancel; /* at the first of them */
} way;

static int note_way(const saddle_progress *p, void *user)
{
    way *w = user;
    if (strcmp(p->stage, "factor") != 0 || p->total != 1000 || p->done == 0 || p->done >= 1000) return 0;
    ++w->between;
    return w->cancel;
}

/* One front was one step, of seconds where it is large. */
static void a_large_front_reports_on_its_way_and_can_be_stopped(void **state)
{
    (void)state;
    enum { SIZE = 300 }; /* more than a panel */
    rng r = rng_start("large front");
    dense d = dense_new(SIZE);
    for (int i = 0; i < SIZE; ++i)
        for (int j = 0; j <= i; ++j) set_both(&d, i, j, rng_unit(&r));
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int cancel = 0; cancel < 2; ++cancel) {
        way w = {.cancel = cancel};
        const saddle_hooks hooks = {.size = sizeof hooks, .progress = note_way, .user = &w};
        saddle_solver *solver = solver_new("method=direct,order=natural", &hooks);
        assert_int_equal(saddle_factor(solver, &A), cancel ? SADDLE_CANCELLED : SADDLE_OK);
        assert_true(w.between > 0);
        w.cancel = false;
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        saddle_destroy(&solver);
    }
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_front_reports_on_its_way_and_can_be_stopped),
        cmocka_unit_test(the_plan_predicts_the_memory_of_one_thread),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(factoring_again_gives_the_bits_of_the_first_time),
        cmocka_unit_test(a_thousand_factorizations_take_no_new_memory),
        cmocka_unit_test(a_limit_below_the_plan_is_refused),
        cmocka_unit_test(values_far_from_those_analysed_keep_their_inertia),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_solver_is_whole_again_after_a_failed_allocation),
        cmocka_unit_test(one_large_front_has_the_same_bits),
        cmocka_unit_test(threads_agree_that_a_matrix_is_not_definite),
        cmocka_unit_test(cancelling_works_at_every_report),
        /* last: clang 14's OpenMP may abort (kmp_alloc.cpp) in teams after a thread that had one ended */
        cmocka_unit_test(two_solvers_at_once_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
