/*
 * Device auto: a solver moves to a GPU before the factorization from which on it is predicted to pay, takes
 * its plan and what it has learned along, and stays on the host where it cannot move.
 *
 * The policy of these tests predicts that each factorization saves a second, and a GPU costs so many.
 */
#include "backend_or_skip.h"
#include "failing_allocator.h"
#include "inside.h"
#include "there.h"

enum { N = 90, CONSTRAINTS = 30, STEPS = 8 };

/* What the log said, and an allocator that can be made to fail. */
typedef struct witness {
    failing_allocator memory; /* first, as its hooks have it */
    int moving, staying, returning, planned;
    char why[SADDLE_MESSAGE_SIZE];
    bool cancel;
} witness;

static void take_line(int level, const char *line, void *user)
{
    witness *w = user;
    if (level != SADDLE_LOG_INFO) return;
    w->moving += strstr(line, "a GPU is predicted to save") != NULL;
    w->staying += strstr(line, "staying on the CPU") != NULL;
    w->returning += strstr(line, "returning to the CPU") != NULL;
    w->planned += strstr(line, "planning anew") != NULL;
    if (strstr(line, "on the CPU") || strstr(line, "to the CPU")) snprintf(w->why, sizeof w->why, "%s", line);
}

static int may_cancel(const saddle_progress *progress, void *user)
{
    (void)progress;
    return ((witness *)user)->cancel;
}

/* A solver that moves after `seconds` of gain. */
static saddle_solver *open_auto(const char *list, double seconds, witness *w)
{
    char all[256], message[SADDLE_MESSAGE_SIZE];
    snprintf(all, sizeof all, "method=direct,threads=1,simplicial=off%s%s", *list ? "," : "", list);
    const saddle_options options = options_of(all);
    *w = (witness){0};
    saddle_hooks hooks = failing_hooks(&w->memory);
    hooks.log = take_line;
    hooks.progress = may_cancel;
    hooks.user = w;
    saddle_solver *s = NULL;
    if (saddle_create(&s, &options, &hooks, message)) fail_msg("%s", message);
    sd_policy policy = sd_policy_default;
    policy.device = (sd_device_rule){.host = {.row = 1.0 / N}, .open = seconds};
    sd_set_policy(s, &policy);
    return s;
}

static saddle_status factor(saddle_solver *s, const dense *d)
{
    saddle_matrix A = view_plain(d, SADDLE_LOWER);
    const saddle_status status = saddle_factor(s, &A);
    view_free(&A);
    return status;
}

/* Factors, solves and has the inertia certified; x is for the caller to compare. */
static void step_of(saddle_solver *s, const dense *d, int device, double *x)
{
    double b[N];
    saddle_info info = saddle_info_default();
    for (int i = 0; i < N; ++i) b[i] = 1 + i % 7;
    if (factor(s, d)) fail_msg("%s", saddle_message(s));
    assert_int_equal(info_of(s).device, device);
    assert_int_equal(saddle_solve(s, 1, b, N, x, N, &info), SADDLE_OK);
    assert_true(info.inertia_certain);
    assert_int_equal(info.inertia_negative, CONSTRAINTS);
    assert_true(info.backward_error <= 1e-14);
    assert_solves(d, b, x);
}

/* ---- when ---- */

/* The first factorization that is on the GPU, from 0 on; STEPS: none. */
static void moves_at(const char *list, double seconds, int first)
{
    rng r = rng_start(list);
    double x[2][STEPS][N];
    for (int run = 0; run < 2; ++run) {
        rng same = r;
        dense d = kkt_problem(&same, N, CONSTRAINTS, 0);
        witness w;
        saddle_solver *s = open_auto(list, seconds, &w);
        for (int k = 0; k < STEPS; ++k) {
            change(&same, &d);
            step_of(s, &d, k < first ? SADDLE_DEVICE_CPU : SADDLE_DEVICE_CUDA, x[run][k]);
        }
        assert_int_equal(w.moving, first < STEPS);
        assert_int_equal(w.planned + w.staying + w.returning, 0);
        saddle_destroy(&s);
        assert_int_equal(w.memory.live, 0);
        dense_free(&d);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
}

static void it_moves_when_the_model_says_so(void **state)
{
    (void)state;
    cuda_or_skip();
    moves_at("factorizations=1", 4.5, 5); /* when five have been made */
    moves_at("factorizations=6", 4.5, 1); /* six are expected, which one has confirmed */
    moves_at("factorizations=1", 0.5, 0); /* the first one pays for it */
    moves_at("", 9.5, 1);                 /* ten are expected where nothing is said */
    moves_at("", 10.5, STEPS);
}

static void what_was_said_stays(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("what_was_said_stays");
    for (int device = SADDLE_DEVICE_CPU; device <= SADDLE_DEVICE_CUDA; ++device) {
        dense d = kkt_problem(&r, N, CONSTRAINTS, 0);
        witness w;
        double x[N];
        saddle_solver *s = open_auto(device == SADDLE_DEVICE_CPU ? "device=cpu" : "device=cuda", 0.5, &w);
        for (int k = 0; k < 3; ++k) step_of(s, &d, device, x);
        assert_int_equal(w.moving, 0);
        saddle_destroy(&s);
        dense_free(&d);
    }
}

/* Another pattern is decided anew, and by method auto too. */
static void another_pattern_begins_on_the_host(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("another_pattern_begins_on_the_host");
    const char *methods[] = {"method=direct", "method=auto"};
    for (int way = 0; way < 2; ++way) {
        dense large = kkt_problem(&r, N, CONSTRAINTS, 0), small = kkt_problem(&r, 5, 1, 0);
        saddle_matrix A = view_plain(&large, SADDLE_LOWER), B = view_plain(&small, SADDLE_LOWER);
        witness w;
        saddle_solver *s = open_auto(methods[way], 4.5, &w);
        for (int turn = 0; turn < 2; ++turn) {
            assert_int_equal(saddle_analyse(s, &A), SADDLE_OK);
            for (int k = 0; k < 3; ++k) {
                assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
                assert_int_equal(info_of(s).device, k == 0 ? SADDLE_DEVICE_CPU : SADDLE_DEVICE_CUDA);
            }
            assert_int_equal(saddle_analyse(s, &B), SADDLE_OK);
            for (int k = 0; k < 3; ++k) {
                assert_int_equal(saddle_factor(s, &B), SADDLE_OK);
                assert_int_equal(info_of(s).device, SADDLE_DEVICE_CPU);
            }
        }
        saddle_destroy(&s);
        view_free(&A);
        view_free(&B);
        dense_free(&large);
        dense_free(&small);
    }
}

/* ---- who does not ---- */

/* What the host would have to look at keeps a system there; and columns one by one. */
static void what_happened_before_counts(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("what_happened_before_counts");
    for (int way = 0; way < 4; ++way) {
        dense d = kkt_problem(&r, N, CONSTRAINTS, way < 2 ? 3 : 0);
        witness w;
        saddle_solver *s = open_auto(way == 3 ? "simplicial=on" : "", 4.5, &w);
        sd_policy policy = s->policy;
        if (way == 1) policy.device.gpu.suspect = 1;
        sd_set_policy(s, &policy);
        for (int k = 0; k < 4; ++k) {
            assert_int_equal(factor(s, &d), SADDLE_OK);
            if (way < 2) assert_true(direct_of(s)->suspects > 0);
        }
        const bool goes = way % 2 == 0;
        assert_int_equal(info_of(s).device, goes ? SADDLE_DEVICE_CUDA : SADDLE_DEVICE_CPU);
        assert_int_equal(w.moving, goes);
        saddle_destroy(&s);
        dense_free(&d);
    }
}

/* Many systems share a plan, which stays where it is while they are there; each is where the solver is. */
static void many_systems_stay(void **state)
{
    (void)state;
    cuda_or_skip();
    enum { COUNT = 5 };
    rng r = rng_start("many_systems_stay");
    dense d = kkt_problem(&r, N, CONSTRAINTS, 0);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    witness w;
    double b[COUNT * N], x[COUNT * N], one[N];
    saddle_result results[COUNT];
    saddle_solver *s = open_auto("factorizations=2", 0.5, &w);
    double *values = test_alloc((size_t)(COUNT * A.entries), sizeof *values);
    for (int64_t k = 0; k < COUNT * A.entries; ++k) values[k] = ((const double *)A.values)[k % A.entries];
    for (int i = 0; i < COUNT * N; ++i) b[i] = 1 + i % 5;
    assert_int_equal(saddle_analyse(s, &A), SADDLE_OK);
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(saddle_factor_many(s, &A, COUNT, values, A.entries, results), SADDLE_OK);
        step_of(s, &d, SADDLE_DEVICE_CPU, one);
        assert_int_equal(saddle_solve_many(s, COUNT, b, N, x, N, results), SADDLE_OK);
        for (int c = 0; c < COUNT; ++c) assert_solves(&d, b + c * N, x + c * N);
    }
    assert_int_equal(w.moving, 0);
    saddle_destroy(&s);
    assert_int_equal(w.memory.live, 0);
    free(values);
    view_free(&A);
    dense_free(&d);
}

/* ---- what goes along ---- */

/* The plan is the same one, with its order; so is a scaling that was made since, and what was learned. */
static void plan_and_experience_go_along(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("plan_and_experience_go_along");
    dense d = kkt_problem(&r, N, CONSTRAINTS, 0);
    witness w;
    double x[N];
    int32_t before[N], after[N];
    saddle_solver *s = open_auto("factorizations=1,replan=off", 2.5, &w);
    step_of(s, &d, SADDLE_DEVICE_CPU, x);
    const void *plan = sd_find_work(s, &sd_method_direct)->plan;
    for (int i = 0; i < N; i += 2) /* so far apart that the scaling is made anew */
        for (int j = 0; j < N; ++j)
            if (d.there[i * N + j]) set_both(&d, i, j, ldexp(dense_at(&d, i, j), i == j ? 60 : 30));
    for (int k = 0; k < 2; ++k) assert_int_equal(factor(s, &d), SADDLE_OK);
    const saddle_info here = info_of(s);
    assert_int_equal(here.device, SADDLE_DEVICE_CPU);
    assert_true(here.rescalings > 0);
    assert_int_equal(saddle_get_order(s, before), SADDLE_OK);
    assert_int_equal(factor(s, &d), SADDLE_OK);
    const saddle_info there = info_of(s);
    assert_int_equal(there.device, SADDLE_DEVICE_CUDA);
    assert_int_equal(there.rescalings, here.rescalings);
    assert_int_equal(there.replans, here.replans);
    assert_true(there.time_prepare == here.time_prepare);
    assert_ptr_equal(sd_find_work(s, &sd_method_direct)->plan, plan);
    assert_int_equal(saddle_get_order(s, after), SADDLE_OK);
    assert_memory_equal(before, after, sizeof before);
    saddle_destroy(&s);
    dense_free(&d);
}

/* Queries, arrays on the device, parts of a solve, D of the caller's: all of it on the other side. */
static void everything_works_across_the_move(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("everything_works_across_the_move");
    dense d = kkt_problem(&r, N, CONSTRAINTS, 0);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    witness w;
    double pivots[2][2 * N], scale[2][N], condition[2], b[3 * N], x[3 * N];
    int32_t order[N];
    saddle_solver *s = open_auto("factorizations=1", 1.5, &w);
    for (int i = 0; i < 3 * N; ++i) b[i] = 1 + i % 4;
    for (int k = 0; k < 3; ++k) {
        const int there = k == 2;
        assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, A.values),
                         k == 0 ? SADDLE_WRONG_ORDER : SADDLE_OK);
        if (k == 0) assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_int_equal(info_of(s).device, there ? SADDLE_DEVICE_CUDA : SADDLE_DEVICE_CPU);
        assert_int_equal(saddle_get_pivots(s, order, pivots[there]), SADDLE_OK);
        assert_int_equal(saddle_get_scaling(s, scale[there]), SADDLE_OK);
        assert_int_equal(saddle_condition(s, &condition[there], NULL), SADDLE_OK);
        assert_int_equal(saddle_solve(s, 3, b, N, x, N, NULL), SADDLE_OK);
        for (int c = 0; c < 3; ++c) assert_solves(&d, b + c * N, x + c * N);
        assert_int_equal(saddle_set_d(s, pivots[there]), SADDLE_OK);
        assert_int_equal(saddle_set_stream(s, NULL), SADDLE_OK);
    }
    assert_memory_equal(scale[0], scale[1], sizeof scale[0]);
    assert_true(fabs(condition[0] - condition[1]) <= 1e-3 * condition[0]);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_solves_everywhere(s, &d, 2);
    void *values = put(s, A.values, (size_t)A.entries * sizeof(double));
    assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, values), SADDLE_OK);
    assert_solves_everywhere(s, &d, 1);
    s->e.backend->release(&s->e, values);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* ---- where it cannot ---- */

/* No GPU, or not enough of its memory: on the CPU, and the log says why; it is not tried again. */
static void what_fails_leaves_it_on_the_cpu(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("what_fails_leaves_it_on_the_cpu");
    const char *module = getenv("SADDLE_CUDA_MODULE");
    char kept[4096];
    snprintf(kept, sizeof kept, "%s", module ? module : "");
    const struct {
        const char *list, *why;
        bool none, returns;
    } ways[] = {{"", "no CUDA: the module cannot be loaded", true, false},
                {"device_memory=1000", "device_memory", false, true},
                {"method=auto,device_memory=1000", "device_memory", false, true}};
    for (int way = 0; way < 3; ++way) {
        dense d = kkt_problem(&r, N, CONSTRAINTS, 0);
        witness w;
        double x[N];
        saddle_solver *s = open_auto(ways[way].list, 4.5, &w);
        if (ways[way].none) setenv("SADDLE_CUDA_MODULE", "/nowhere/libsaddle_cuda.so", 1);
        for (int k = 0; k < 4; ++k) step_of(s, &d, SADDLE_DEVICE_CPU, x);
        setenv("SADDLE_CUDA_MODULE", kept, 1);
        if (!module) unsetenv("SADDLE_CUDA_MODULE");
        assert_ptr_equal(s->ladder.rung[0].method, &sd_method_direct);
        assert_int_equal(w.moving, 1);
        assert_int_equal(w.staying, !ways[way].returns);
        assert_int_equal(w.returning, ways[way].returns);
        assert_contains(w.why, ways[way].why);
        saddle_destroy(&s);
        assert_int_equal(w.memory.live, 0);
        dense_free(&d);
    }
}

/* Without memory at any point of the move it stays, returns, or says so; the next factorization is as good as
 * ever, and nothing is left behind. */
static void no_memory_at_any_point_of_the_move(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("no_memory_at_any_point_of_the_move");
    dense d = kkt_problem(&r, N, CONSTRAINTS, 0);
    int quiet = 0, told = 0;
    for (int64_t k = 1;; ++k) {
        witness w;
        double x[N];
        saddle_solver *s = open_auto("factorizations=2", 1.5, &w);
        step_of(s, &d, SADDLE_DEVICE_CPU, x);
        w.memory.allocations = 0;
        w.memory.fail_at = k;
        const saddle_status status = factor(s, &d);
        const bool failed = w.memory.failed;
        w.memory.fail_at = 0;
        assert_true(!status || (failed && status == SADDLE_OUT_OF_MEMORY));
        assert_int_equal(w.moving, 1);
        quiet += failed && !status;
        told += status != SADDLE_OK;
        const int device = s->device;
        if (!status) assert_int_equal(info_of(s).device, device);
        step_of(s, &d, device, x);
        saddle_destroy(&s);
        assert_int_equal(w.memory.live, 0);
        if (!failed) break;
        k += is_about_memory() && k > 20 ? 6 : 0;
    }
    assert_true(quiet > 5);
    assert_int_equal(told, 0);
    dense_free(&d);
}

/* What is cancelled on the way is cancelled, on whichever side; afterwards it goes on there. */
static void a_move_may_be_cancelled(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("a_move_may_be_cancelled");
    dense d = kkt_problem(&r, N, CONSTRAINTS, 0);
    witness w;
    double x[N];
    saddle_solver *s = open_auto("factorizations=2", 1.5, &w);
    step_of(s, &d, SADDLE_DEVICE_CPU, x);
    w.cancel = true;
    assert_int_equal(factor(s, &d), SADDLE_CANCELLED);
    w.cancel = false;
    step_of(s, &d, SADDLE_DEVICE_CUDA, x);
    assert_int_equal(w.returning + w.staying, 0);
    saddle_destroy(&s);
    assert_int_equal(w.memory.live, 0);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_moves_when_the_model_says_so),
        cmocka_unit_test(what_was_said_stays),
        cmocka_unit_test(another_pattern_begins_on_the_host),
        cmocka_unit_test(what_happened_before_counts),
        cmocka_unit_test(many_systems_stay),
        cmocka_unit_test(plan_and_experience_go_along),
        cmocka_unit_test(everything_works_across_the_move),
        cmocka_unit_test(what_fails_leaves_it_on_the_cpu),
        cmocka_unit_test(no_memory_at_any_point_of_the_move),
        cmocka_unit_test(a_move_may_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
