/* The four verbs: their order, their arguments, many right-hand sides, and what info says. */
#include "problems.h"

#include "inside.h"

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
    const saddle_hooks hooks = {.size = sizeof hooks, .log = keep_line, .user = kept};
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

static saddle_status begin_nothing(sd_engine *e)
{
    return sd_fail(e->context, SADDLE_NO_DEVICE, "the device has gone");
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
    sd_backend gone = *solver->opened.backend;
    gone.begin = begin_nothing;
    solver->opened.backend = &gone;
    assert_int_equal(saddle_solve(solver, 2, b, N, x, N, &info), SADDLE_NO_DEVICE);
    assert_int_equal(info.status, SADDLE_NO_DEVICE);
    assert_contains(info.message, "the device has gone");
    for (int i = 0; i < 2 * N; ++i) assert_true(x[i] == 0);
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

static void a_device_that_is_not_there_is_refused_by_its_number(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default();
    char message[SADDLE_MESSAGE_SIZE];
    saddle_solver *solver;
    options.device_index = 3;
    for (int device = SADDLE_DEVICE_AUTO; device <= SADDLE_DEVICE_REFERENCE; ++device) {
        options.device = (saddle_device)device;
        if (device == SADDLE_DEVICE_CUDA) continue; /* test_cuda */
        assert_int_equal(saddle_create(&solver, &options, NULL, message), SADDLE_NO_DEVICE);
        assert_null(solver);
        assert_contains(message, "no device 3");
    }
}

/* verify off: the same x as with it on, and nothing is claimed of it; zero pivots and overflow are still
 * told. */
static void x_is_not_measured_where_that_is_not_wanted(void **state)
{
    (void)state;
    enum { COLUMNS = 3 };
    rng r = rng_start("unmeasured");
    problem p = problem_new(&r, true);
    double b[COLUMNS * N], x[COLUMNS * N], y[COLUMNS * N];
    for (int k = 0; k < COLUMNS * N; ++k) b[k] = rng_unit(&r);
    saddle_solver *plain = create("method=direct,krylov=none,verify=off", NULL);
    saddle_solver *measured = create("method=direct,krylov=none", NULL);
    saddle_info info = saddle_info_default(), other = saddle_info_default();
    assert_int_equal(saddle_factor(plain, &p.A), SADDLE_OK);
    assert_int_equal(saddle_factor(measured, &p.A), SADDLE_OK);
    for (int columns = 1; columns <= COLUMNS; columns += 2) {
        assert_int_equal(saddle_solve(plain, columns, b, N, x, N, &info), SADDLE_OK);
        assert_int_equal(saddle_solve(measured, columns, b, N, y, N, &other), SADDLE_OK);
        assert_memory_equal(x, y, (size_t)(columns * N) * sizeof *x);
        assert_int_equal(info.converged, 0);
        assert_int_equal(info.reason, SADDLE_REASON_NOT_MEASURED);
        assert_true(isnan(info.backward_error) && isnan(info.componentwise_error) &&
                    isnan(info.relative_residual));
        assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
        assert_int_equal(info.krylov, SADDLE_KRYLOV_NONE);
        assert_int_equal(info.inertia_certain, 1);
        assert_int_equal(other.converged, 1);
    }
    memcpy(y, b, sizeof b); /* in place */
    assert_int_equal(saddle_solve(plain, COLUMNS, y, N, y, N, NULL), SADDLE_OK);
    assert_memory_equal(x, y, sizeof x);
    b[N + 3] = INFINITY;
    assert_int_equal(saddle_solve(plain, COLUMNS, b, N, x, N, &info), SADDLE_BAD_VALUE);
    assert_contains(info.message, "right-hand side 2");
    for (int k = 0; k < COLUMNS * N; ++k) assert_true(x[k] == 0);
    b[N + 3] = 1;
    saddle_solver *refined = create("method=direct,krylov=refine,verify=off", NULL);
    assert_int_equal(saddle_factor(refined, &p.A), SADDLE_OK);
    assert_int_equal(saddle_solve(refined, COLUMNS, b, N, x, N, &info), SADDLE_OK);
    assert_true(info.converged == 0 && info.reason == SADDLE_REASON_NOT_MEASURED && info.iterations == 2);
    assert_true(isnan(info.first_error) && info.krylov == SADDLE_KRYLOV_REFINE);
    for (int k = 0; k < COLUMNS; ++k) assert_true(relative_residual_of(&p.d, b + k * N, x + k * N) < 1e-15);
    memcpy(y, b, sizeof b);
    assert_int_equal(saddle_solve(refined, COLUMNS, y, N, y, N, NULL), SADDLE_OK);
    assert_memory_equal(x, y, sizeof x);
    saddle_destroy(&refined);
    saddle_destroy(&plain);
    saddle_destroy(&measured);
    problem_free(&p);

    dense d = dense_from(2, (const double[]){1, 1, 1, 1});
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *singular = create("method=direct,krylov=none,verify=off", NULL);
    assert_int_equal(saddle_factor(singular, &A), SADDLE_OK);
    assert_int_equal(saddle_solve(singular, 1, (const double[]){1, 2}, 2, x, 2, &info), SADDLE_SINGULAR);
    assert_int_equal(saddle_solve(singular, 1, (const double[]){1, 1}, 2, x, 2, &info), SADDLE_OK);
    assert_int_equal(info.converged, 1);
    saddle_destroy(&singular);
    view_free(&A);
    dense_free(&d);
    d = dense_from(1, (const double[]){1e-300});
    A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *tiny = create("method=direct,krylov=none,verify=off", NULL);
    assert_int_equal(saddle_factor(tiny, &A), SADDLE_OK);
    assert_int_equal(saddle_solve(tiny, 1, (const double[]){1e300}, 1, x, 1, &info), SADDLE_NOT_CONVERGED);
    assert_int_equal(info.reason, SADDLE_REASON_OVERFLOW);
    assert_true(x[0] == 0);
    saddle_destroy(&tiny);
    view_free(&A);
    dense_free(&d);
}

/* From the second factorization on there is memory for a solve to work in, which it gives back. */
static void a_solve_works_in_memory_that_is_kept_for_it(void **state)
{
    (void)state;
    enum { LARGE = 400 };
    rng r = rng_start("spare");
    dense d = symmetric_problem(&r, LARGE, false);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double b[LARGE], x[LARGE], y[LARGE];
    saddle_info first = saddle_info_default(), info = saddle_info_default();
    for (int i = 0; i < LARGE; ++i) b[i] = rng_unit(&r);
    saddle_solver *solver = create("method=direct,replan=off", NULL);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_null(atomic_load(&solver->experience->spare));
    assert_int_equal(saddle_solve(solver, 1, b, LARGE, x, LARGE, &first), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    void *spare = atomic_load(&solver->experience->spare);
    assert_non_null(spare);
    assert_int_equal(saddle_solve(solver, 1, b, LARGE, y, LARGE, &info), SADDLE_OK);
    assert_memory_equal(x, y, sizeof x);
    assert_ptr_equal(atomic_load(&solver->experience->spare), spare);
    assert_true(info.peak_bytes >= first.peak_bytes / 2 && info.peak_bytes <= 2 * first.peak_bytes);
    atomic_store(&solver->experience->spare, NULL); /* another solve has it */
    assert_int_equal(saddle_solve(solver, 1, b, LARGE, y, LARGE, &info), SADDLE_OK);
    assert_null(atomic_load(&solver->experience->spare));
    atomic_store(&solver->experience->spare, spare);
    saddle_destroy(&solver);
    solver = create("method=direct,max_memory=100000000", NULL); /* not where memory is limited */
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        assert_int_equal(saddle_solve(solver, 1, b, LARGE, x, LARGE, NULL), SADDLE_OK);
    }
    assert_null(atomic_load(&solver->experience->spare));
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solve_works_in_memory_that_is_kept_for_it),
        cmocka_unit_test(x_is_not_measured_where_that_is_not_wanted),
        cmocka_unit_test(a_device_that_is_not_there_is_refused_by_its_number),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
