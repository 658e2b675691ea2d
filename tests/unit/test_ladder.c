/*
 * How solvers go up the ladders of `auto`: every rung, every way from one to the next, races, the limit of
 * memory, cancelling, and what is learned. test_policy.c has how ladders are made.
 */
#include "failing_allocator.h"
#include "inside.h"
#include "solving.h"

#include <math.h>
#include <pthread.h>

/* ---- solvers ---- */

/*
 * Three parts, each an arrow whose hub is eliminated first, and a row of -1: with couplings c beside ones all
 * blocks of fill have a weight between c^2 / (1 - c^2) and a few times that. tau 0.9, 0.3 and 0 keep those of
 * the first part, of the first two, of all; and one iteration is enough only where nothing was left out.
 */
enum { SPOKES = 2, PART = SPOKES + 1, N = 3 * PART + 1 };
static const double couplings[] = {0.695, 0.55, 0.3};
static const char natural[] = "scaling=none,order=natural,pairs=off,blocking=grid,block_size=1,"
                              "factor_precision=double";

static dense three_parts(void)
{
    dense d = dense_new(N);
    for (int part = 0; part < 3; ++part) {
        const int hub = part * PART;
        for (int i = hub; i < hub + PART; ++i) dense_set(&d, i, i, 1);
        for (int i = hub + 1; i < hub + PART; ++i) {
            dense_set(&d, i, hub, couplings[part]);
            dense_set(&d, hub, i, couplings[part]);
        }
    }
    dense_set(&d, N - 1, N - 1, -1);
    return d;
}

static const sd_policy steep = {.expensive = 0,
                                .product = 20,
                                .share = 1e9,
                                .tau = {0.9, 0.3, 0},
                                .iterations = 1,
                                .order_entries = 1000,
                                .guess_entries = INT64_MAX};

static saddle_solver *solver_with(const sd_policy *policy, const char *list, const saddle_hooks *hooks)
{
    const saddle_options options = options_of(list);
    saddle_solver *s = NULL;
    assert_int_equal(saddle_create(&s, &options, hooks, NULL), SADDLE_OK);
    sd_set_policy(s, policy);
    return s;
}

/* Solves for a b that lives in one part. */
static saddle_info solve_part(const saddle_solver *s, const dense *d, int part, saddle_status wanted)
{
    double b[N] = {0}, x[N];
    saddle_info info = saddle_info_default();
    for (int i = part * PART; i < (part + 1) * PART; ++i) b[i] = 1 + i % 3;
    assert_int_equal(saddle_solve(s, 1, b, N, x, N, &info), wanted);
    if (!wanted) assert_true(relative_residual_of(d, b, x) <= 1e-10);
    return info;
}

static void every_rung_is_reached_and_told(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int part = 0; part < 3; ++part) {
        saddle_solver *s = solver_with(&steep, natural, NULL);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), "ldlt ldlt ldlt direct");
        const saddle_info info = solve_part(s, &d, part, SADDLE_OK);
        assert_int_equal(info.method, SADDLE_METHOD_LDLT);
        assert_true(info.fill_tau == steep.tau[part]);
        assert_int_equal(info.tried, part);
        for (int k = 0; k < part; ++k) {
            assert_int_equal(info.tried_list[k].method, SADDLE_METHOD_LDLT);
            assert_int_equal(info.tried_list[k].why_left, SADDLE_REASON_MAXITER);
        }
        assert_int_equal(s->experience->rung, part);
        saddle_destroy(&s);
    }
    view_free(&A);
    dense_free(&d);
}

static void the_direct_solver_is_the_last_rung(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    sd_policy blunt = steep;
    for (int k = 0; k < 3; ++k) blunt.tau[k] = 0.95; /* none of them is enough for the last part */
    saddle_solver *s = solver_with(&blunt, natural, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    for (int again = 0; again < 2; ++again) {
        const saddle_info info = solve_part(s, &d, 2, SADDLE_OK);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_int_equal(info.tried, again ? 0 : 3);
        assert_int_equal(info.inertia_negative, 1);
        assert_true(isnan(info.fill_tau)); /* nothing of ldlt's factors is left in it */
        assert_int_equal(info.replaced_blocks, -1);
        assert_int_equal(s->experience->rung, 3);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK); /* begins with what was enough */
        assert_string_equal(words_of(&s->ladder), "direct");
        assert_int_equal(s->info.inertia_negative, 1);
    }
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

static void too_expensive_a_preconditioner_gives_way_to_the_direct_solver(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    sd_policy poor = steep;
    poor.share = 1e-6;
    poor.tau[0] = 0;
    saddle_solver *s = solver_with(&poor, natural, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_string_equal(words_of(&s->ladder), "direct");
    assert_int_equal(solve_part(s, &d, 2, SADDLE_OK).method, SADDLE_METHOD_DIRECT);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* The next factorization of the pattern begins with the rung that sufficed; another pattern knows nothing. */
static void what_sufficed_is_learned_for_the_pattern(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *s = solver_with(&steep, natural, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    solve_part(s, &d, 1, SADDLE_OK);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_int_equal(s->ladder.first, 1);
    assert_true(s->info.fill_tau == steep.tau[1]);
    assert_int_equal(solve_part(s, &d, 2, SADDLE_OK).tried, 1);
    assert_int_equal(s->experience->rung, 2);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_int_equal(s->ladder.first, 2);
    assert_int_equal(solve_part(s, &d, 0, SADDLE_OK).tried, 0);
    assert_int_equal(s->experience->rung, 2); /* an easy one does not unlearn it */
    assert_int_equal(saddle_analyse(s, &A), SADDLE_OK);
    assert_int_equal(s->experience->rung, 0);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

typedef struct job {
    const saddle_solver *s;
    const dense *d;
    int part;
} job;

static void *run_job(void *argument)
{
    const job *j = argument;
    for (int k = 0; k < 20; ++k) solve_part(j->s, j->d, j->part, SADDLE_OK);
    return NULL;
}

static void what_is_learned_does_not_depend_on_who_ends_last(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int round = 0; round < 4; ++round) {
        saddle_solver *s = solver_with(&steep, natural, NULL);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        pthread_t threads[3];
        job jobs[3];
        for (int t = 0; t < 3; ++t) {
            jobs[t] = (job){s, &d, orders[round % 3][t]};
            if (round < 3)
                solve_part(s, &d, jobs[t].part, SADDLE_OK);
            else
                assert_int_equal(pthread_create(&threads[t], NULL, run_job, &jobs[t]), 0);
        }
        for (int t = 0; t < 3 && round == 3; ++t) pthread_join(threads[t], NULL);
        assert_int_equal(s->experience->rung, 2);
        saddle_destroy(&s);
    }
    view_free(&A);
    dense_free(&d);
}

/* Without room for the direct solver it is not on the ladder, and not tried. */
static void the_limit_of_memory_leaves_the_direct_solver_out(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    enum { SIZE = 800 };
    dense d = symmetric_problem(&r, SIZE, false);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *s = solver_with(&steep, "", NULL);
    assert_int_equal(saddle_analyse(s, &A), SADDLE_OK);
    char list[64];
    snprintf(list, sizeof list, "max_memory=%lld", (long long)s->info.planned_bytes - 1);
    saddle_destroy(&s);
    sd_policy mild = sd_policy_default;
    mild.expensive = mild.hopeless = 0;
    s = solver_with(&mild, list, NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_string_equal(words_of(&s->ladder), "ldlt ldlt ldlt");
    assert_true(s->ladder.most_flops == 0);
    double b[SIZE], x[SIZE];
    for (int i = 0; i < SIZE; ++i) b[i] = rng_unit(&r);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve(s, 1, b, SIZE, x, SIZE, &info), SADDLE_OK);
    assert_int_equal(info.method, SADDLE_METHOD_LDLT);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

enum { CHAIN = 100 };

/* A Laplacian, which takes CG as many iterations as it has rows, and what it is with a larger diagonal. */
static dense chain(double diagonal)
{
    dense d = dense_new(CHAIN);
    for (int i = 0; i < CHAIN; ++i) dense_set(&d, i, i, diagonal);
    for (int i = 1; i < CHAIN; ++i) {
        dense_set(&d, i, i - 1, -1);
        dense_set(&d, i - 1, i, -1);
    }
    return d;
}

static void definite_matrices_go_from_iterations_to_the_direct_solver(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    enum { REFINEMENT_MOST = 16 };
    dense d = chain(2);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double b[CHAIN], x[CHAIN];
    for (int i = 0; i < CHAIN; ++i) b[i] = rng_unit(&r);
    for (int huge = 0; huge < 2; ++huge) { /* with a plan, and without one before it is needed */
        sd_policy p = steep;
        p.product = 1e9; /* so that an iteration is all that the direct solver's cost pays for */
        if (huge) p.order_entries = 1;
        saddle_solver *s = solver_with(&p, huge ? "maxiter=60" : "", NULL);
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), huge ? "diagonal none direct" : "diagonal direct");
        assert_int_equal(isnan(s->info.planned_flops), huge);
        const saddle_status status = saddle_solve(s, 1, b, CHAIN, x, CHAIN, &info);
        assert_int_equal(status, SADDLE_OK);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_int_equal(info.tried, 1); /* for `none` there are no iterations left */
        assert_int_equal(info.tried_list[0].why_left, SADDLE_REASON_MAXITER);
        assert_true(info.iterations <= REFINEMENT_MOST); /* its own, not those that were in vain */
        saddle_destroy(&s);
    }
    view_free(&A);
    dense_free(&d);
}

/* ---- races ---- */

/* 5 iterations before it is judged, and up to 50. */
static sd_policy sprint(void)
{
    sd_policy p = sd_policy_default;
    p.race = (sd_race_rule){
        .entries = 1, .order_row = 50, .step_row = 1, .first_order = 0.1, .most = 1, .general = 1};
    return p;
}

static saddle_info race(saddle_solver *s, const dense *d, int columns, double *x)
{
    double b[3 * CHAIN];
    for (int i = 0; i < columns * CHAIN; ++i) b[i] = 1 + i % 7;
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve(s, columns, b, CHAIN, x, CHAIN, &info), SADDLE_OK);
    for (int k = 0; k < columns; ++k)
        assert_true(relative_residual_of(d, b + k * CHAIN, x + k * CHAIN) <= 1e-10);
    return info;
}

static void a_race_that_is_won_plans_nothing(void **state)
{
    (void)state;
    dense d = chain(4);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const sd_policy p = sprint();
    double x[3 * CHAIN];
    saddle_solver *s = solver_with(&p, "factorizations=1", NULL);
    for (int again = 0; again < 2; ++again) {
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        const saddle_info info = race(s, &d, 3, x);
        assert_int_equal(info.method, SADDLE_METHOD_DIAGONAL);
        assert_int_equal(info.tried, 0);
        assert_true(info.iterations > 3 * 5 && isnan(info.planned_flops) && !s->experience->lost);
    }
    saddle_destroy(&s);
    s = solver_with(&p, "", NULL); /* more than one is expected: factors are worth having */
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_string_equal(words_of(&s->ladder), "direct");
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* The direct solver takes over, once for all columns, with its predictions and times; the next factorization
 * of the pattern begins with it. The bits and the choice are those of any number of threads. */
static void a_race_that_is_lost_ends_with_the_direct_solver(void **state)
{
    (void)state;
    dense d = chain(2);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const sd_policy p = sprint();
    double x[2][3 * CHAIN];
    int64_t spent[2];
    for (int threads = 0; threads < 2; ++threads) {
        char list[64];
        snprintf(list, sizeof list, "factorizations=1,threads=%d", threads + 1);
        saddle_solver *s = solver_with(&p, list, NULL);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), "diagonal");
        saddle_info info = race(s, &d, 1, x[threads]);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_int_equal(info.tried, 1);
        assert_int_equal(info.tried_list[0].method, SADDLE_METHOD_DIAGONAL);
        assert_int_equal(info.tried_list[0].why_left, SADDLE_REASON_SLOW);
        assert_int_equal(info.inertia_positive, CHAIN);
        assert_true(info.planned_flops > 0 && info.time_prepare > 0 && info.time_solve > 0);
        spent[threads] = info.iterations;
        info = race(s, &d, 3, x[threads]);
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_true(s->experience->lost);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_string_equal(words_of(&s->ladder), "direct");
        assert_int_equal(race(s, &d, 1, x[threads]).tried, 0);
        saddle_destroy(&s);
    }
    assert_int_equal(spent[0], spent[1]);
    assert_memory_equal(x[0], x[1], CHAIN * sizeof(double));
    view_free(&A);
    dense_free(&d);
}

/* A race that is not given up before the iterations end: it left none for the direct solver. */
static void a_race_leaves_iterations_for_the_direct_solver(void **state)
{
    (void)state;
    dense d = chain(2);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    sd_policy p = sprint();
    p.race.order_row = 1e9;
    double x[CHAIN];
    saddle_solver *s = solver_with(&p, "factorizations=1,maxiter=45", NULL);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    const saddle_info info = race(s, &d, 1, x);
    assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
    assert_int_equal(info.tried_list[0].why_left, SADDLE_REASON_MAXITER);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* Where the direct solver does not fit after a race, ldlt or iterations do; with more memory never worse. */
static void what_follows_a_race_keeps_the_limit_of_memory(void **state)
{
    (void)state;
    dense d = chain(2);
    dense_set(&d, CHAIN - 1, CHAIN - 1, 0); /* not definite */
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const sd_policy p = sprint();
    int solved[SADDLE_METHOD_JACOBI + 1] = {0};
    bool once = false;
    for (int limit = 20000; limit < 400000; limit += 4000) {
        char list[64];
        double b[CHAIN], x[CHAIN];
        for (int i = 0; i < CHAIN; ++i) b[i] = 1 + i % 7;
        snprintf(list, sizeof list, "factorizations=1,max_memory=%d", limit);
        saddle_solver *s = solver_with(&p, list, NULL);
        saddle_info info = saddle_info_default();
        saddle_status status = saddle_factor(s, &A);
        if (!status) status = saddle_solve(s, 1, b, CHAIN, x, CHAIN, &info);
        assert_true(!status || (!once && (status == SADDLE_MEMORY_LIMIT || status == SADDLE_NOT_CONVERGED)));
        assert_true(info.peak_bytes <= limit);
        once = once || !status;
        if (!status) ++solved[info.method];
        saddle_destroy(&s);
    }
    assert_true(solved[SADDLE_METHOD_DIRECT] > 0);
    view_free(&A);
    dense_free(&d);
}

/* ---- memory ---- */

/* Where a stronger rung does not fit, what the weaker ones found is the answer, with its errors. It was a
 * failure that knew none. */
static void what_does_not_fit_leaves_the_best_so_far(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double b[N] = {0}, x[N];
    int solved = 0, kept = 0;
    for (int i = 2 * PART; i < N; ++i) b[i] = 1 + i % 3;
    for (int limit = 20000; limit < 200000; limit += 250) {
        char list[256];
        snprintf(list, sizeof list, "%s,max_memory=%d", natural, limit);
        saddle_solver *s = solver_with(&steep, list, NULL);
        saddle_info info = saddle_info_default();
        saddle_status status = saddle_factor(s, &A);
        if (!status) status = saddle_solve(s, 1, b, N, x, N, &info);
        solved += !status && info.method == SADDLE_METHOD_LDLT;
        if (info.reason == SADDLE_REASON_MEMORY && status == SADDLE_NOT_CONVERGED) {
            ++kept;
            assert_true(fabs(info.relative_residual - relative_residual_of(&d, b, x)) <= 1e-12);
            assert_true(info.relative_residual < 1);
            assert_true(info.tried > 0 && info.tried_list[info.tried - 1].why_left == SADDLE_REASON_MEMORY);
        }
        saddle_destroy(&s);
    }
    assert_true(solved > 0 && kept > 0);
    view_free(&A);
    dense_free(&d);
}

/* ---- cancelling and failures on the way up ---- */

typedef struct watcher {
    failing_allocator memory;
    int calls, cancel_at;
} watcher;

static void *watched_allocate(size_t bytes, void *user)
{
    return failing_allocate(bytes, &((watcher *)user)->memory);
}

static void watched_release(void *memory, void *user)
{
    failing_release(memory, &((watcher *)user)->memory);
}

static int watch(const saddle_progress *progress, void *user)
{
    watcher *w = user;
    (void)progress;
    return ++w->calls == w->cancel_at;
}

/* A call that is cancelled, or has no memory, at any time on the ladder says so, and leaves nothing behind;
 * the next one is as good as ever. */
static void every_rung_may_be_cancelled_or_fail(void **state)
{
    (void)state;
    dense d = three_parts();
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    int cancelled = 0, failed = 0;
    sd_policy raced = steep; /* and after a race that is lost at once */
    raced.race = (sd_race_rule){.entries = 1, .step_row = 1, .signed_first = 1};
    for (int turn = 0; turn < 4; ++turn) {
        const bool memory = turn & 1;
        for (int at = 1;; ++at) {
            watcher w = {0};
            const saddle_hooks hooks = {.size = sizeof hooks,
                                        .allocate = watched_allocate,
                                        .release = watched_release,
                                        .progress = watch,
                                        .user = &w};
            saddle_solver *s = solver_with(turn < 2 ? &steep : &raced,
                                           turn < 2 ? natural : "factorizations=1,certify=off", &hooks);
            assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
            double b[N] = {0}, x[N];
            for (int i = 2 * PART; i < 3 * PART; ++i) b[i] = 1;
            saddle_info info = saddle_info_default();
            w.calls = 0;
            w.memory.allocations = 0;
            w.memory.fail_at = memory ? at : 0;
            w.cancel_at = memory ? 0 : at;
            const saddle_status status = saddle_solve(s, 1, b, N, x, N, &info);
            const bool hit = memory ? w.memory.failed : w.calls >= at;
            for (int i = 0; i < N; ++i) assert_true(isfinite(x[i]));
            if (memory && hit) assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
            if (!memory && hit && status) assert_int_equal(status, SADDLE_CANCELLED);
            cancelled += !memory && hit && status;
            failed += memory && hit;
            w.cancel_at = 0;
            w.memory.fail_at = 0;
            solve_part(s, &d, 2, SADDLE_OK);
            saddle_destroy(&s);
            assert_int_equal(w.memory.live, 0);
            if (!hit) break;
        }
    }
    assert_true(cancelled >= 3 && failed > 100); /* at every rung */
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_that_is_won_plans_nothing),
        cmocka_unit_test(a_race_that_is_lost_ends_with_the_direct_solver),
        cmocka_unit_test(a_race_leaves_iterations_for_the_direct_solver),
        cmocka_unit_test(what_follows_a_race_keeps_the_limit_of_memory),
        cmocka_unit_test(every_rung_is_reached_and_told),
        cmocka_unit_test(the_direct_solver_is_the_last_rung),
        cmocka_unit_test(too_expensive_a_preconditioner_gives_way_to_the_direct_solver),
        cmocka_unit_test(what_sufficed_is_learned_for_the_pattern),
        cmocka_unit_test(what_is_learned_does_not_depend_on_who_ends_last),
        cmocka_unit_test(the_limit_of_memory_leaves_the_direct_solver_out),
        cmocka_unit_test(definite_matrices_go_from_iterations_to_the_direct_solver),
        cmocka_unit_test(what_does_not_fit_leaves_the_best_so_far),
        cmocka_unit_test(every_rung_may_be_cancelled_or_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
