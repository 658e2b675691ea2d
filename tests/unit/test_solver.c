/*
 * The four verbs: their order, many right-hand sides, threads, cancelling, memory that runs out, and
 * what must not change an answer.
 */
#include "failing_allocator.h"
#include "solving.h"

#include "solve/solver.h"

#include <pthread.h>

enum { N = 24 };

typedef struct problem {
    dense d;
    saddle_matrix A;
    double b[N], x[N];
} problem;

static problem problem_new(rng *r, bool positive)
{
    problem p = {.d = symmetric_problem(r, N, positive)};
    p.A = view_plain(&p.d, SADDLE_LOWER);
    for (int i = 0; i < N; ++i) p.b[i] = rng_unit(r);
    return p;
}

/* The Laplacian of a path: singular, and b is not orthogonal to its null vector. */
static problem singular_problem(rng *r)
{
    problem p = {.d = dense_new(N)};
    for (int i = 0; i < N; ++i) {
        dense_set(&p.d, i, i, i == 0 || i == N - 1 ? 1 : 2);
        if (i > 0) dense_set(&p.d, i, i - 1, -1);
        if (i > 0) dense_set(&p.d, i - 1, i, -1);
        p.b[i] = rng_unit(r);
    }
    p.A = view_plain(&p.d, SADDLE_LOWER);
    return p;
}

static void problem_free(problem *p)
{
    view_free(&p->A);
    dense_free(&p->d);
}

static saddle_solver *create(const char *list, const saddle_hooks *hooks)
{
    const saddle_options options = options_of(list);
    saddle_solver *solver = NULL;
    assert_int_equal(saddle_create(&solver, &options, hooks, NULL), SADDLE_OK);
    assert_non_null(solver);
    return solver;
}

static void calls_in_the_wrong_order_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("order");
    problem p = problem_new(&r, true);
    saddle_solver *solver = create("", NULL);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, &info), SADDLE_WRONG_ORDER);
    assert_contains(info.message, "saddle_factor");
    assert_int_equal(saddle_analyse(solver, &p.A), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, &info), SADDLE_WRONG_ORDER);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, &info), SADDLE_OK);
    assert_int_equal(saddle_analyse(solver, &p.A), SADDLE_OK); /* the factors are gone with it */
    assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, &info), SADDLE_WRONG_ORDER);
    saddle_destroy(&solver);
    assert_null(solver);
    saddle_destroy(&solver);
    saddle_destroy(NULL);
    problem_free(&p);
}

static void missing_and_wrong_arguments_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("arguments");
    problem p = problem_new(&r, true);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_create(NULL, NULL, NULL, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_analyse(NULL, &p.A), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_factor(NULL, &p.A), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve(NULL, 1, p.b, N, p.x, N, &info), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_query(NULL, &info), SADDLE_BAD_ARGUMENT);
    assert_true(strlen(saddle_message(NULL)) > 0);
    saddle_solver *solver = create("", NULL);
    assert_int_equal(saddle_query(solver, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_analyse(solver, NULL), SADDLE_BAD_ARGUMENT);
    assert_true(strlen(saddle_message(solver)) > 0);
    assert_int_equal(saddle_factor(solver, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    assert_string_equal(saddle_message(solver), "");
    assert_int_equal(saddle_solve(solver, 1, NULL, N, p.x, N, &info), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve(solver, 1, p.b, N, NULL, N, &info), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve(solver, -1, p.b, N, p.x, N, &info), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve(solver, 1, p.b, N - 1, p.x, N, &info), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N - 1, &info), SADDLE_BAD_ARGUMENT);
    assert_contains(info.message, "ldx 23");
    assert_int_equal(saddle_solve(solver, 0, NULL, N, NULL, N, &info), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, NULL), SADDLE_OK);
    p.b[3] = NAN;
    assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, &info), SADDLE_BAD_VALUE);
    assert_contains(info.message, "entry 4");
    for (int i = 0; i < N; ++i) assert_true(isfinite(p.x[i]));
    saddle_destroy(&solver);
    problem_free(&p);
}

enum { KEPT = 2048 };

static void keep_line(int level, const char *line, void *user)
{
    char *kept = user; /* of KEPT characters: more than a small solve says */
    const size_t length = strlen(kept);
    if (level == SADDLE_LOG_INFO) snprintf(kept + length, KEPT - length, "%s\n", line);
}

static void the_log_tells_what_was_tried(void **state)
{
    (void)state;
    rng r = rng_start("log");
    problem p = problem_new(&r, true);
    char kept[KEPT] = "";
    const saddle_hooks hooks = {.log = keep_line, .user = kept};
    const saddle_options options = options_of("method=none,krylov=gmres");
    saddle_solver *solver = NULL;
    assert_int_equal(saddle_create(&solver, &options, &hooks, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    assert_contains(kept, "entries");
    saddle_solve(solver, 1, p.b, p.A.rows, p.x, p.A.rows, NULL);
    assert_contains(kept, "none + gmres");
    saddle_destroy(&solver);
    problem_free(&p);
}

static void bad_options_and_devices_make_no_solver(void **state)
{
    (void)state;
    rng r = rng_start("options");
    problem p = problem_new(&r, true);
    saddle_options options = saddle_options_default();
    saddle_solver *solver = (saddle_solver *)&options;
    options.tol = -1;
    char message[SADDLE_MESSAGE_SIZE] = "";
    assert_int_equal(saddle_create(&solver, &options, NULL, message), SADDLE_BAD_OPTION);
    assert_true(message[0] != 0);
    assert_null(solver);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve_once(&p.A, p.b, p.x, &options, &info), SADDLE_BAD_OPTION);
    assert_int_equal(info.status, SADDLE_BAD_OPTION);
    assert_contains(info.message, "tol");
    setenv("SADDLE_CUDA_MODULE", "/nonexistent/module.so", 1);
    options = options_of("device=cuda");
    assert_int_equal(saddle_create(&solver, &options, NULL, message), SADDLE_NO_DEVICE);
    assert_null(solver);
    assert_int_equal(saddle_solve_once(&p.A, p.b, p.x, &options, &info), SADDLE_NO_DEVICE);
    assert_contains(info.message, "/nonexistent/module.so");
    unsetenv("SADDLE_CUDA_MODULE");
    problem_free(&p);
}

static void a_changed_pattern_is_refused_and_a_new_analysis_helps(void **state)
{
    (void)state;
    rng r = rng_start("patterns");
    problem p = problem_new(&r, true), other = problem_new(&r, true);
    saddle_solver *solver = create("", NULL);
    saddle_matrix pattern = p.A;
    pattern.values = NULL;
    assert_int_equal(saddle_analyse(solver, &pattern), SADDLE_OK); /* values are not looked at */
    assert_int_equal(saddle_factor(solver, &pattern), SADDLE_BAD_ARGUMENT);
    assert_contains(saddle_message(solver), "values");
    assert_int_equal(saddle_factor(solver, &other.A), SADDLE_PATTERN_CHANGED);
    assert_contains(saddle_message(solver), "saddle_analyse");
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &other.A), SADDLE_PATTERN_CHANGED);
    assert_int_equal(saddle_analyse(solver, &other.A), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &other.A), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 1, other.b, N, other.x, N, NULL), SADDLE_OK);
    assert_true(relative_residual_of(&other.d, other.b, other.x) <= 1e-9);
    saddle_destroy(&solver);
    problem_free(&p);
    problem_free(&other);
}

/* With every kind of view, shuffled and with duplicates: the map must take the new values right. */
static void factoring_again_is_like_factoring_afresh(void **state)
{
    (void)state;
    rng r = rng_start("refactor");
    for (int turn = 0; turn < 60; ++turn) {
        dense d = symmetric_problem(&r, N, true), doubled;
        for (int k = 0; k < N * N; ++k) d.a[k] = round(d.a[k] * 16) / 16;
        doubled = dense_copy(&d);
        for (int k = 0; k < N * N; ++k) doubled.a[k] *= 2;
        const view_style style = rng_style(&r, true);
        rng same = r;
        saddle_matrix A = view_make(&r, &d, style), B = view_make(&same, &doubled, style);
        /* duplicates are split at random: take B's values as twice those of A */
        for (int64_t k = 0; k < A.entries; ++k) {
            if (B.type == SADDLE_DOUBLE)
                ((double *)(uintptr_t)B.values)[k] = 2 * view_value(&A, k);
            else
                ((float *)(uintptr_t)B.values)[k] = (float)(2 * view_value(&A, k));
        }
        double b[N], again[N], fresh[N];
        for (int i = 0; i < N; ++i) b[i] = rng_unit(&r);
        saddle_solver *solver = create("method=diagonal", NULL);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        assert_int_equal(saddle_factor(solver, &B), SADDLE_OK);
        view_free(&A); /* not needed afterwards */
        assert_int_equal(saddle_solve(solver, 1, b, N, again, N, NULL), SADDLE_OK);
        saddle_destroy(&solver);
        const saddle_info info = solve_with(&B, b, fresh, "method=diagonal");
        assert_int_equal(info.status, SADDLE_OK);
        assert_memory_equal(again, fresh, sizeof again);
        assert_true(relative_residual_of(&doubled, b, again) <= 1e-9);
        view_free(&B);
        dense_free(&d);
        dense_free(&doubled);
    }
}

/* Iterations have the same bits; the direct solver takes the columns side by side, in sums of another order.
 */
static void check_many(const char *list, bool bits)
{
    enum { COUNT = 5, LDB = N + 3, LDX = N + 7 };
    rng r = rng_start("many");
    problem p = problem_new(&r, true);
    double b[COUNT * LDB], x[COUNT * LDX], one[N];
    for (int k = 0; k < COUNT * LDB; ++k) b[k] = rng_unit(&r);
    for (int k = 0; k < COUNT * LDX; ++k) x[k] = 77;
    for (int i = 0; i < N; ++i) b[2 * LDB + i] = 0;
    saddle_solver *solver = create(list, NULL);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    saddle_info all = saddle_info_default(), info = saddle_info_default();
    assert_int_equal(saddle_solve(solver, COUNT, b, LDB, x, LDX, &all), SADDLE_OK);
    int64_t iterations = 0;
    double worst = 0;
    for (int k = 0; k < COUNT; ++k) {
        assert_int_equal(saddle_solve(solver, 1, b + k * LDB, N, one, N, &info), SADDLE_OK);
        if (bits) assert_memory_equal(one, x + k * LDX, sizeof one);
        for (int i = 0; i < N; ++i) assert_true(fabs(one[i] - x[k * LDX + i]) <= 1e-12 * (1 + fabs(one[i])));
        for (int i = N; i < LDX; ++i) assert_true(x[k * LDX + i] == 77);
        iterations += info.iterations;
        worst = fmax(worst, info.relative_residual);
        if (k == 2) {
            assert_int_equal(info.reason, SADDLE_REASON_ZERO_RHS);
            assert_true(info.relative_residual == 0 && info.backward_error == 0);
            for (int i = 0; i < N; ++i) assert_true(one[i] == 0);
        }
    }
    if (bits) assert_int_equal(all.iterations, iterations);
    assert_true(bits ? all.relative_residual == worst : all.relative_residual <= 1e-15);
    /* in place */
    assert_int_equal(saddle_solve(solver, COUNT, b, LDB, b, LDB, NULL), SADDLE_OK);
    for (int k = 0; k < COUNT; ++k) assert_memory_equal(b + k * LDB, x + k * LDX, sizeof one);
    saddle_destroy(&solver);
    problem_free(&p);
}

static void many_right_hand_sides_are_solved_as_if_one_by_one(void **state)
{
    (void)state;
    check_many("method=diagonal", true);
    check_many("krylov=cg,method=none", true);
    check_many("method=direct", false);
    check_many("method=direct,device=reference", false);
}

static void one_column_that_fails_makes_the_call_fail(void **state)
{
    (void)state;
    const double rows[] = {2, 1, 0, 1, 2, 0, 0, 0, 0};
    dense d = dense_from(3, rows);
    saddle_matrix A = view_plain(&d, SADDLE_GENERAL);
    double b[9] = {1, 1, 0, 1, 1, 1, 3, 0, 0}, x[9];
    saddle_solver *solver = create("", NULL);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 3, b, 3, x, 3, &info), SADDLE_SINGULAR);
    assert_false(info.converged);
    assert_contains(info.message, "row 3");
    assert_true(fabs(x[0] - 1.0 / 3) < 1e-9 && fabs(x[6] - 2) < 1e-9); /* the others are solved */
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

static void a_value_that_is_not_finite_counts_as_the_worst_column(void **state)
{
    (void)state;
    const double rows[] = {2, 1, 1, 3};
    dense d = dense_from(2, rows);
    saddle_matrix A = view_plain(&d, SADDLE_GENERAL);
    saddle_solver *solver = create("maxiter=0", NULL);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    for (int bad = 0; bad < 3; ++bad) {
        double b[6] = {1, 1, 1, 2, 3, 1}, x[6];
        b[2 * bad] = NAN;
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_solve(solver, 3, b, 2, x, 2, &info), SADDLE_BAD_VALUE);
        assert_contains(info.message, "nan");
        for (int i = 0; i < 6; ++i) assert_true(isfinite(x[i]));
    }
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

static void columns_that_would_be_overwritten_are_refused(void **state)
{
    (void)state;
    rng r = rng_start("overwritten");
    problem p = problem_new(&r, true);
    double both[3 * N] = {0};
    saddle_solver *solver = create("", NULL);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 2, both, N, both, N + 1, &info), SADDLE_BAD_ARGUMENT);
    assert_contains(info.message, "same array");
    assert_int_equal(saddle_solve(solver, 1, both, N, both, N + 1, &info), SADDLE_OK);
    info.converged = 0; /* success means converged, of no columns too */
    assert_int_equal(saddle_solve(solver, 0, NULL, N, NULL, N, &info), SADDLE_OK);
    assert_true(info.converged);
    saddle_destroy(&solver);
    problem_free(&p);
}

static void x_is_zero_where_the_device_has_gone(void **state)
{
    (void)state;
    rng r = rng_start("gone");
    problem p = problem_new(&r, true);
    double b[2 * N], x[2 * N];
    for (int i = 0; i < 2 * N; ++i) b[i] = x[i] = NAN;
    saddle_solver *solver = create("", NULL);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    setenv("SADDLE_CUDA_MODULE", "no such file", 1);
    solver->device = SADDLE_DEVICE_CUDA;
    assert_int_equal(saddle_solve(solver, 2, b, N, x, N, &info), SADDLE_NO_DEVICE);
    assert_int_equal(info.status, SADDLE_NO_DEVICE);
    for (int i = 0; i < 2 * N; ++i) assert_true(x[i] == 0);
    unsetenv("SADDLE_CUDA_MODULE");
    saddle_destroy(&solver);
    problem_free(&p);
}

static void check_what_is_known(bool direct)
{
    rng r = rng_start("known");
    problem p = problem_new(&r, true);
    saddle_solver *solver = create(direct ? "method=direct" : "method=diagonal", NULL);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    assert_true(info.n == N && info.nnz > 0 && info.symmetric && info.kind == SADDLE_KIND_SPD);
    assert_true(direct ? info.factor_nnz > N : info.factor_nnz == N);
    assert_true(info.factor_bytes >= (direct ? 8 * info.factor_nnz : 0) && info.perturbed == 0);
    assert_int_equal(info.inertia_positive, direct ? N : -1);
    assert_int_equal(info.rank, direct ? N : -1);
    assert_int_equal(info.planned_nnz, direct ? info.factor_nnz : -1);
    assert_int_equal(saddle_analyse(solver, &p.A), SADDLE_OK);
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    assert_true(info.n == N && info.nnz == -1 && !info.symmetric && info.kind == SADDLE_KIND_UNKNOWN);
    assert_true(info.factor_nnz == -1 && info.factor_bytes == -1 && info.perturbed == -1);
    assert_true(info.inertia_positive == -1 && info.rank == -1);
    assert_int_equal(info.planned_bytes > 0, direct); /* it is known before there are factors */
    assert_int_equal(saddle_analyse(solver, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    assert_true(info.n == -1 && info.planned_bytes == -1);
    saddle_destroy(&solver);
    problem_free(&p);
}

static void what_is_known_goes_with_what_it_was_known_of(void **state)
{
    (void)state;
    check_what_is_known(false);
    check_what_is_known(true);
}

static void the_history_fills_what_room_there_is(void **state)
{
    (void)state;
    rng r = rng_start("history");
    problem p = problem_new(&r, true);
    const saddle_options options = options_of("krylov=cg,method=none");
    double full[200], part[200];
    for (int room = 0; room <= 40; ++room) {
        saddle_info info = saddle_info_default();
        for (int k = 0; k < 200; ++k) part[k] = -1;
        info.history = room == 40 ? full : part;
        info.history_room = room == 40 ? 200 : room;
        assert_int_equal(saddle_solve_once(&p.A, p.b, p.x, &options, &info), SADDLE_OK);
        assert_int_equal(info.history_length, info.iterations);
        if (room == 40) {
            assert_true(full[info.history_length - 1] == info.relative_residual);
            break;
        }
        for (int k = room; k < 200; ++k) assert_true(part[k] == -1);
        for (int k = 0; k < room && k < info.history_length; ++k) assert_true(part[k] >= 0);
    }
    problem_free(&p);
}

static void an_info_of_another_length_is_respected(void **state)
{
    (void)state;
    rng r = rng_start("info");
    problem p = problem_new(&r, true);
    struct {
        saddle_info info;
        unsigned char beyond[32];
    } room;
    const size_t sizes[] = {offsetof(saddle_info, n), offsetof(saddle_info, backward_error),
                            sizeof(saddle_info), sizeof room};
    saddle_solver *solver = create("", NULL);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    for (int k = 0; k < 8; ++k) {
        memset(&room, 0x5a, sizeof room);
        room.info.size = sizes[k % 4];
        room.info.history = NULL;
        room.info.history_room = 0;
        const size_t known = sizes[k % 4] < sizeof(saddle_info) ? sizes[k % 4] : sizeof(saddle_info);
        if (k < 4)
            assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, &room.info), SADDLE_OK);
        else
            assert_int_equal(saddle_query(solver, &room.info), SADDLE_OK);
        assert_int_equal(room.info.size, sizes[k % 4]);
        assert_int_equal(room.info.status, SADDLE_OK);
        for (size_t byte = known; byte < sizeof room; ++byte) {
            const bool history = byte >= offsetof(saddle_info, history) && byte < sizeof(saddle_info);
            if (!history) assert_int_equal(((unsigned char *)&room)[byte], 0x5a);
        }
    }
    saddle_destroy(&solver);
    problem_free(&p);
}

static void a_query_leaves_the_history_where_it_was(void **state)
{
    (void)state;
    rng r = rng_start("query");
    problem p = problem_new(&r, true);
    saddle_solver *solver = create("", NULL);
    saddle_info info = saddle_info_default();
    double history[50];
    info.history = history;
    info.history_room = 50;
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    assert_int_equal(info.n, N);
    assert_int_equal(info.symmetric, 1);
    assert_int_equal(info.kind, SADDLE_KIND_SPD);
    assert_ptr_equal(info.history, history);
    assert_int_equal(info.history_room, 50);
    saddle_destroy(&solver);
    problem_free(&p);
}

/* ---- threads ---- */

typedef struct job {
    const saddle_solver *solver;
    const double *b;
    double x[N];
    saddle_status status;
    int64_t iterations;
} job;

static void *run_job(void *argument)
{
    job *j = argument;
    saddle_info info = saddle_info_default();
    for (int k = 0; k < 5; ++k) j->status |= saddle_solve(j->solver, 1, j->b, N, j->x, N, &info);
    j->iterations = info.iterations;
    return NULL;
}

static void solves_may_run_at_once_with_the_same_bits(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    rng r = rng_start("threads");
    problem p = problem_new(&r, true);
    double b[THREADS][N];
    job jobs[THREADS];
    pthread_t threads[THREADS];
    saddle_solver *solver = create("threads=2", NULL);
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    for (int t = 0; t < THREADS; ++t) {
        for (int i = 0; i < N; ++i) b[t][i] = rng_unit(&r);
        jobs[t] = (job){.solver = solver, .b = b[t]};
    }
    for (int t = 0; t < THREADS; ++t)
        assert_int_equal(pthread_create(&threads[t], NULL, run_job, &jobs[t]), 0);
    for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; ++t) {
        saddle_info info = saddle_info_default();
        double x[N];
        assert_int_equal(jobs[t].status, SADDLE_OK);
        assert_int_equal(saddle_solve(solver, 1, b[t], N, x, N, &info), SADDLE_OK);
        assert_memory_equal(x, jobs[t].x, sizeof x);
        assert_int_equal(info.iterations, jobs[t].iterations);
    }
    saddle_destroy(&solver);
    problem_free(&p);
}

/* ---- cancelling ---- */

typedef struct canceller {
    failing_allocator memory;
    int calls, cancel_at;
    char stages[64];
} canceller;

static int count_progress(const saddle_progress *progress, void *user)
{
    canceller *c = user;
    const size_t used = strlen(c->stages);
    if (!strstr(c->stages, progress->stage))
        snprintf(c->stages + used, sizeof c->stages - used, "%s ", progress->stage);
    return ++c->calls >= c->cancel_at && c->cancel_at > 0;
}

static void *counted_allocate(size_t bytes, void *user)
{
    return failing_allocate(bytes, &((canceller *)user)->memory);
}

static void counted_release(void *block, void *user)
{
    failing_release(block, &((canceller *)user)->memory);
}

static void cancelling_works_at_every_report(void **state)
{
    (void)state;
    rng r = rng_start("cancelling");
    problem p = problem_new(&r, false);
    static const char *const lists[] = {"", "method=diagonal", "krylov=gmres,method=none",
                                        "krylov=sqmr,precision=mixed", "method=direct,precision=mixed"};
    for (int l = 0; l < 5; ++l) {
        for (int at = 1;; ++at) {
            canceller c = {.cancel_at = at};
            const saddle_hooks hooks = {counted_allocate, counted_release, NULL, count_progress, &c};
            saddle_solver *solver = create(lists[l], &hooks);
            saddle_info info = saddle_info_default();
            saddle_status status = saddle_analyse(solver, &p.A);
            if (!status) status = saddle_factor(solver, &p.A);
            if (status) assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
            for (int i = 0; i < N; ++i) p.x[i] = NAN;
            if (!status) {
                status = saddle_solve(solver, 1, p.b, N, p.x, N, &info);
                for (int i = 0; i < N; ++i) assert_true(isfinite(p.x[i]));
                if (status) assert_int_equal(info.reason, SADDLE_REASON_CANCELLED);
            }
            const bool cancelled = c.calls >= at;
            /* cancelled in the very iteration that reached the accuracy, it has done so all the same */
            if (!cancelled || (status == SADDLE_OK && c.calls == at))
                assert_true(info.converged &&
                            fmin(info.relative_residual, info.componentwise_error) <= 1e-10);
            else
                assert_int_equal(status, SADDLE_CANCELLED);
            if (cancelled) {
                if (status) assert_contains(info.message, "cancelled");
                c.cancel_at = 0; /* the solver is as good as before */
                assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
                assert_int_equal(saddle_solve(solver, 1, p.b, N, p.x, N, NULL), SADDLE_OK);
                assert_true(relative_residual_of(&p.d, p.b, p.x) <= 1e-9);
            }
            saddle_destroy(&solver);
            assert_int_equal(c.memory.live, 0);
            if (!cancelled) {
                assert_contains(c.stages, "analyse");
                assert_contains(c.stages, "factor");
                assert_contains(c.stages, "solve");
                break;
            }
        }
    }
    problem_free(&p);
}

/* ---- memory ---- */

static const char *const memory_lists[] = {
    "krylov=cg,method=none",
    "krylov=minres,method=none",
    "krylov=sqmr,method=none",
    "krylov=gmres,method=none",
    "krylov=fgmres",
    "krylov=bicgstab",
    "krylov=refine,maxiter=5",
    "method=diagonal,precision=single,tol=1e-4",
    "method=diagonal,precision=mixed",
    "method=diagonal,device=reference",
    "method=direct",
    "method=direct,factorization=static",
    "method=direct,device=reference",
    "method=direct,precision=mixed",
};
enum { MEMORY_LISTS = sizeof memory_lists / sizeof memory_lists[0] };

/* All four verbs; x must be finite whatever happens. */
static saddle_status all_verbs(const problem *p, const saddle_options *options, const saddle_hooks *hooks,
                               double *x, saddle_info *info)
{
    saddle_solver *solver = NULL;
    saddle_status status = saddle_create(&solver, options, hooks, NULL);
    assert_int_equal(status == SADDLE_OK, solver != NULL);
    if (!status) status = saddle_analyse(solver, &p->A);
    if (!status) status = saddle_factor(solver, &p->A);
    if (solver && status) {
        assert_int_equal(saddle_query(solver, info), SADDLE_OK);
        assert_int_equal(info->status, status);
        assert_contains(info->message, "memory");
    }
    if (!status) {
        for (int i = 0; i < N; ++i) x[i] = NAN;
        status = saddle_solve(solver, 1, p->b, N, x, N, info);
        for (int i = 0; i < N; ++i) assert_true(isfinite(x[i]));
        if (status == SADDLE_OUT_OF_MEMORY || status == SADDLE_MEMORY_LIMIT) {
            assert_int_equal(info->reason, SADDLE_REASON_MEMORY);
            assert_contains(info->message, "memory");
            assert_false(info->converged);
        }
    }
    saddle_destroy(&solver);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    problem p = problem_new(&r, true), singular = singular_problem(&r);
    for (int l = 0; l < 2 * MEMORY_LISTS; ++l) {
        const saddle_options options = options_of(memory_lists[l / 2]);
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_info info = saddle_info_default();
            const saddle_status status = all_verbs(l % 2 ? &singular : &p, &options, &hooks, p.x, &info);
            assert_int_equal(f.live, 0);
            if (!f.failed) break;
            if (status != SADDLE_OUT_OF_MEMORY)
                fail_msg("%s: status %d at allocation %d", memory_lists[l / 2], status, (int)k);
        }
    }
    problem_free(&p);
    problem_free(&singular);
}

static void the_memory_limit_holds_at_every_value(void **state)
{
    (void)state;
    rng r = rng_start("memory limits");
    problem p = problem_new(&r, true);
    for (int l = 0; l < MEMORY_LISTS; ++l) {
        saddle_options options = options_of(memory_lists[l]);
        saddle_info info = saddle_info_default();
        double x[N];
        const saddle_status unlimited = all_verbs(&p, &options, NULL, x, &info);
        const int64_t peak = info.peak_bytes;
        assert_true(peak > 0);
        /* the direct solver asks for what it may come to need */
        const int64_t enough = info.planned_bytes > peak ? info.planned_bytes : peak;
        for (int64_t limit = 1; limit <= enough + 64; limit += limit < peak - 200 ? 97 : 1) {
            info = saddle_info_default();
            options.max_memory = limit;
            const saddle_status status = all_verbs(&p, &options, NULL, p.x, &info);
            if (limit >= enough) {
                assert_int_equal(status, unlimited);
                assert_memory_equal(p.x, x, sizeof x);
            } else if (limit < peak && status != SADDLE_MEMORY_LIMIT) {
                fail_msg("%s: status %d with a limit of %lld, below the peak of %lld", memory_lists[l],
                         status, (long long)limit, (long long)peak);
            }
        }
    }
    problem_free(&p);
}

/* ---- what must not change an answer ---- */

static void powers_of_two_change_nothing_but_the_scale(void **state)
{
    (void)state;
    rng r = rng_start("scaling");
    const int scales[] = {1, -1, 250, -250, 400, -400, 900, -900, 1000, -1040};
    static const char *const lists[] = {
        "krylov=cg,method=none",           "method=diagonal", "krylov=gmres,method=none",
        "method=diagonal,precision=mixed", "method=direct",   "method=direct,precision=mixed"};
    problem p = problem_new(&r, true);
    dense scaled = dense_copy(&p.d);
    for (int l = 0; l < 6; ++l) {
        saddle_info plain = solve_with(&p.A, p.b, p.x, lists[l]);
        assert_int_equal(plain.status, SADDLE_OK);
        for (int k = 0; k < 10; ++k) {
            for (int of_b = -1000; of_b <= 1000; of_b += 500) {
                const int of_x = of_b - scales[k];
                if (abs(of_x) > 1000) continue;
                double b[N], x[N];
                for (int i = 0; i < N * N; ++i) scaled.a[i] = ldexp(p.d.a[i], scales[k]);
                for (int i = 0; i < N; ++i) b[i] = ldexp(p.b[i], of_b);
                const saddle_info info = solve_dense(&scaled, SADDLE_LOWER, b, x, lists[l]);
                const bool direct = plain.method == SADDLE_METHOD_DIRECT; /* by logarithms: other bits */
                if (info.status || (!direct && info.iterations != plain.iterations))
                    fail_msg("%s: A 2^%d, b 2^%d: %d iterations, not %d %s", lists[l], scales[k], of_b,
                             (int)info.iterations, (int)plain.iterations, info.message);
                const bool exact = scales[k] > -1000; /* entries below 2^-1022 have lost digits */
                for (int i = 0; i < N; ++i) {
                    const double expected = ldexp(p.x[i], of_x);
                    const double off = fabs(x[i] - expected);
                    if (!(off <= (!exact ? 1e-2 : direct ? 1e-12 : 0) * fabs(expected)))
                        fail_msg("%s: A 2^%d, b 2^%d: x_%d is %g, not %g", lists[l], scales[k], of_b, i, x[i],
                                 expected);
                }
            }
        }
    }
    dense_free(&scaled);
    problem_free(&p);
}

static void a_permuted_system_has_the_permuted_answer(void **state)
{
    (void)state;
    rng r = rng_start("permutation");
    for (int round = 0; round < 20; ++round) {
        problem p = problem_new(&r, round % 2);
        int order[N];
        for (int i = 0; i < N; ++i) order[i] = i;
        for (int i = N - 1; i > 0; --i) {
            const int j = rng_below(&r, i + 1), swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        dense permuted = dense_new(N);
        double b[N], x[N];
        for (int i = 0; i < N; ++i) {
            b[i] = p.b[order[i]];
            for (int j = 0; j < N; ++j)
                if (p.d.there[order[i] * N + order[j]])
                    dense_set(&permuted, i, j, dense_at(&p.d, order[i], order[j]));
        }
        const saddle_info one = solve_with(&p.A, p.b, p.x, ""),
                          other = solve_dense(&permuted, SADDLE_UPPER, b, x, "");
        assert_int_equal(one.status, SADDLE_OK);
        assert_int_equal(other.status, SADDLE_OK);
        assert_true(llabs(one.iterations - other.iterations) <= 2);
        double largest = 0;
        for (int i = 0; i < N; ++i) largest = fmax(largest, fabs(p.x[i]));
        for (int i = 0; i < N; ++i) assert_true(fabs(x[i] - p.x[order[i]]) <= 1e-7 * largest);
        dense_free(&permuted);
        problem_free(&p);
    }
}

/* Every view of one matrix gives the same answer; those with the same form inside the same bits. */
static void every_view_of_a_matrix_has_one_answer(void **state)
{
    (void)state;
    rng r = rng_start("views");
    dense d = symmetric_problem(&r, N, true);
    for (int k = 0; k < N * N; ++k) d.a[k] = round(d.a[k] * 16) / 16;
    double b[N], half[N], whole[N], x[N];
    for (int i = 0; i < N; ++i) b[i] = rng_unit(&r);
    assert_int_equal(solve_dense(&d, SADDLE_LOWER, b, half, "").status, SADDLE_OK);
    assert_int_equal(solve_dense(&d, SADDLE_GENERAL, b, whole, "").status, SADDLE_OK);
    for (int turn = 0; turn < 100; ++turn) {
        const view_style style = rng_style(&r, true);
        saddle_matrix A = view_make(&r, &d, style);
        const saddle_info info = solve_with(&A, b, x, "");
        assert_int_equal(info.status, SADDLE_OK);
        const bool triangle = style.shape == SADDLE_LOWER || style.shape == SADDLE_UPPER;
        assert_memory_equal(x, triangle ? half : whole, sizeof x);
        view_free(&A);
    }
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_in_the_wrong_order_are_refused),
        cmocka_unit_test(missing_and_wrong_arguments_are_refused),
        cmocka_unit_test(the_log_tells_what_was_tried),
        cmocka_unit_test(bad_options_and_devices_make_no_solver),
        cmocka_unit_test(a_changed_pattern_is_refused_and_a_new_analysis_helps),
        cmocka_unit_test(factoring_again_is_like_factoring_afresh),
        cmocka_unit_test(many_right_hand_sides_are_solved_as_if_one_by_one),
        cmocka_unit_test(one_column_that_fails_makes_the_call_fail),
        cmocka_unit_test(a_value_that_is_not_finite_counts_as_the_worst_column),
        cmocka_unit_test(columns_that_would_be_overwritten_are_refused),
        cmocka_unit_test(x_is_zero_where_the_device_has_gone),
        cmocka_unit_test(what_is_known_goes_with_what_it_was_known_of),
        cmocka_unit_test(the_history_fills_what_room_there_is),
        cmocka_unit_test(an_info_of_another_length_is_respected),
        cmocka_unit_test(a_query_leaves_the_history_where_it_was),
        cmocka_unit_test(solves_may_run_at_once_with_the_same_bits),
        cmocka_unit_test(cancelling_works_at_every_report),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_memory_limit_holds_at_every_value),
        cmocka_unit_test(powers_of_two_change_nothing_but_the_scale),
        cmocka_unit_test(a_permuted_system_has_the_permuted_answer),
        cmocka_unit_test(every_view_of_a_matrix_has_one_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
