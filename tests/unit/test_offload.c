/*
 * Factors that do not fit the memory of a device: whatever limit they are kept to, and so wherever their
 * panels are, all numbers have the same bits, and nothing takes more than was predicted.
 */
#include "device_run.h"
#include "failing_allocator.h"

enum { MOST_COLUMNS = 21 };

/* Numbers that a factorization has for whoever asks. */
typedef struct outcome {
    sd_run_front *front;
    int32_t *variable;
    double *d, *x;
    double largest;
    sd_run_result result;
} outcome;

static const int columns_of[] = {1, 2, 3, 10, MOST_COLUMNS};
enum { COUNTS = sizeof columns_of / sizeof *columns_of };

static outcome outcome_of(device_run *t)
{
    const size_t n = (size_t)t->tree.n, all = n * MOST_COLUMNS;
    const sd_front_runner *on = t->e.backend->fronts;
    outcome o = {.front = test_alloc((size_t)t->tree.fronts, sizeof *o.front),
                 .variable = test_alloc(n, sizeof *o.variable),
                 .d = test_alloc(2 * n, sizeof *o.d),
                 .x = test_alloc(COUNTS * all, sizeof *o.x),
                 .result = t->result};
    assert_int_equal(on->fetch(&t->e, t->run, &(sd_run_pivots){o.front, o.variable, o.d}), SADDLE_OK);
    assert_int_equal(on->largest(&t->e, t->run, &o.largest), SADDLE_OK);
    for (size_t k = 0; k < COUNTS; ++k) {
        double *x = o.x + k * all;
        for (size_t i = 0; i < all; ++i) x[i] = sin((double)i);
        if (on->solve(&t->e, t->run, SD_SOLVE_WHOLE, columns_of[k], x, t->tree.n))
            fail_msg("%s", t->c.message);
    }
    return o;
}

static void outcome_free(outcome *o)
{
    free(o->front);
    free(o->variable);
    free(o->d);
    free(o->x);
}

static void assert_same(const device_run *t, const outcome *a, const outcome *b)
{
    const size_t n = (size_t)t->tree.n;
    assert_memory_equal(a->front, b->front, (size_t)t->tree.fronts * sizeof *a->front);
    assert_memory_equal(a->variable, b->variable, n * sizeof *a->variable);
    assert_memory_equal(a->d, b->d, 2 * n * sizeof *a->d);
    assert_memory_equal(a->x, b->x, COUNTS * MOST_COLUMNS * n * sizeof *a->x);
    assert_memory_equal(&a->largest, &b->largest, sizeof a->largest);
    assert_memory_equal(a->result.signs, b->result.signs, sizeof a->result.signs);
    assert_int_equal(a->result.nnz, b->result.nnz);
    assert_int_equal(a->result.delayed, b->result.delayed);
    assert_int_equal(a->result.panel_bytes, b->result.panel_bytes);
    assert_true(a->result.flops == b->result.flops);
}

/* What is predicted of a run. */
static sd_run_bytes predict(device_run *t, double slack, int64_t limit)
{
    sd_run_bytes b;
    assert_int_equal(
        t->e.backend->fronts->bytes(&t->c, &t->e, 0, &t->tree, &t->s, t->precision, slack, limit, &b),
        SADDLE_OK);
    return b;
}

/* What a test asks of a problem. */
typedef struct asked {
    double u, slack;
    bool delays, restarts;
} asked;

/* The same with less and less memory, from what would just do for everything to the least that will do. */
static void check(const dense *d, sd_precision precision, sd_presolve presolve, const asked *q)
{
    enum { LIMITS = 3 };
    const sd_backend *cuda = cuda_or_skip();
    device_run t;
    if (run_open(&t, cuda, d, precision, q->slack, 0) || run_factor(&t, q->u, presolve, false))
        fail_msg("%s", t.c.message);
    const sd_run_bytes free = predict(&t, q->slack, 0), later = predict(&t, q->slack + 0.8, 0);
    outcome whole = outcome_of(&t);
    assert_int_equal(t.result.offloaded_bytes, 0);
    if (q->delays) assert_true(t.result.delayed > 0);
    run_free(&t);
    const int64_t enough = free.whole, least = q->restarts ? later.least : free.least;
    int64_t before = -1, restarts = 0;
    assert_true(least < enough);
    /* the least comes with room for delays, so that a limit between makes regions too small */
    const int first = !is_about_memory() ? 0 : q->restarts ? 1 : LIMITS - 1;
    const int end = is_about_memory() ? first + 1 : LIMITS;
    for (int k = first; k < end; ++k) {
        const int64_t limit = enough - (enough - least) * (k + 1) / LIMITS;
        if (run_open(&t, cuda, d, precision, q->slack, limit) || run_factor(&t, q->u, presolve, false))
            fail_msg("%s", t.c.message);
        assert_true(t.result.offloaded_bytes > 0);
        if (!q->restarts) assert_true(t.result.offloaded_bytes >= before);
        assert_true(t.result.device_bytes <= limit);
        if (!q->restarts) assert_int_equal(t.result.waits, 1);
        restarts += t.result.restarts;
        before = t.result.offloaded_bytes;
        outcome o = outcome_of(&t);
        assert_same(&t, &o, &whole);
        outcome_free(&o);
        if (run_factor(&t, q->u, presolve, false)) fail_msg("%s", t.c.message); /* in the same memory */
        assert_int_equal(t.result.waits, 1);
        assert_int_equal(t.result.offloaded_bytes, before);
        o = outcome_of(&t);
        assert_same(&t, &o, &whole);
        outcome_free(&o);
        run_free(&t);
    }
    assert_int_equal(q->restarts, restarts > 0);
    outcome_free(&whole);
}

static void check_all(const dense *d, const asked *q)
{
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision)
        for (sd_presolve presolve = SD_PRESOLVE_OFF; presolve <= SD_PRESOLVE_WHOLE; ++presolve)
            if (is_about_memory() ? precision == SD_DOUBLE && presolve == SD_PRESOLVE_WHOLE
                                  : precision == SD_DOUBLE || presolve == SD_PRESOLVE_WHOLE || !is_slow())
                check(d, precision, presolve, q);
}

/* Large fronts in a chain, and many small ones beside it. */
static dense mixed_problem(rng *r)
{
    dense chain = chain_problem(r, 6, 150, 50), other = kkt_problem(r, 400, 150, 0);
    dense d = dense_new(chain.n + other.n);
    for (int i = 0; i < chain.n; ++i)
        for (int j = 0; j < chain.n; ++j)
            if (chain.there[i * chain.n + j]) dense_set(&d, i, j, dense_at(&chain, i, j));
    for (int i = 0; i < other.n; ++i)
        for (int j = 0; j < other.n; ++j)
            if (other.there[i * other.n + j]) dense_set(&d, chain.n + i, chain.n + j, dense_at(&other, i, j));
    for (int i = 0; i < 20; ++i) set_both(&d, 7 * i, chain.n + 11 * i, 0.5);
    dense_free(&chain);
    dense_free(&other);
    return d;
}

static void bits_do_not_depend_on_where_panels_are(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("bits_do_not_depend_on_where_panels_are");
    dense d = mixed_problem(&r);
    check_all(&d, &(asked){.u = 0.01, .slack = 0.5});
    dense_free(&d);
}

/* Pivots that are too small beside the rows that they share with the parent. */
static dense delaying_problem(rng *r, int blocks)
{
    dense d = chain_problem(r, blocks, 170, 70);
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < 60; ++i)
            for (int j = 0; j < 60; ++j) dense_set(&d, 100 * b + i + 10, 100 * b + j + 10, i == j ? 1e-6 : 0);
    return d;
}

static void delayed_columns_leave_panels_that_have_left(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("delayed_columns_leave_panels_that_have_left");
    dense d = delaying_problem(&r, 5), hard = indefinite_problem(&r, 400);
    check_all(&d, &(asked){.u = 0.01, .slack = 3, .delays = true});
    check(&hard, SD_DOUBLE, SD_PRESOLVE_BAND, &(asked){.u = 0.5, .slack = 4, .delays = true});
    dense_free(&d);
    dense_free(&hard);
}

static void regions_that_are_too_small_are_made_larger(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("regions_that_are_too_small_are_made_larger");
    dense d = delaying_problem(&r, is_about_memory() ? 9 : 14);
    check(&d, SD_DOUBLE, SD_PRESOLVE_WHOLE,
          &(asked){.u = 0.5, .slack = 1e-6, .delays = true, .restarts = true});
    dense_free(&d);
}

/* Where there is no more room for delays, the next matrix is factored all the same. */
static void a_limit_that_delays_exceed_is_told_and_survived(void **state)
{
    (void)state;
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("a_limit_that_delays_exceed_is_told_and_survived");
    dense d = indefinite_problem(&r, 400);
    device_run t;
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 1e-6, 0), SADDLE_OK);
    const int64_t least = predict(&t, 1e-6, 0).least;
    run_free(&t);
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 1e-6, least), SADDLE_OK);
    assert_int_equal(run_factor(&t, 0.5, SD_PRESOLVE_BAND, false), SADDLE_MEMORY_LIMIT);
    assert_contains(t.c.message, "device_memory");
    t.e.status = SADDLE_OK;
    if (run_factor(&t, 1e-10, SD_PRESOLVE_BAND, false)) fail_msg("%s", t.c.message);
    assert_int_equal(t.result.restarts, 0);
    run_free(&t);
    dense_free(&d);
}

/* D is put, and columns are cleared, where they are. */
static void factors_on_the_host_can_be_changed(void **state)
{
    (void)state;
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("factors_on_the_host_can_be_changed");
    dense d = chain_problem(&r, 5, 150, 50);
    outcome o[2];
    device_run t[2];
    for (int k = 0; k < 2; ++k) {
        const int64_t limit = k == 0 ? 0 : predict(&t[0], 0.5, 0).least;
        if (run_open(&t[k], cuda, &d, SD_DOUBLE, 0.5, limit) ||
            run_factor(&t[k], 0.01, SD_PRESOLVE_WHOLE, true))
            fail_msg("%s", t[k].c.message);
        for (int32_t f = 0; f < t[k].tree.fronts; f += 2) {
            assert_int_equal(cuda->fronts->put(&t[k].e, t[k].run, f, 0, 3, 0), SADDLE_OK);
            assert_int_equal(cuda->fronts->clear(&t[k].e, t[k].run, f, 0, NULL), SADDLE_OK);
        }
        for (int part = 0; part < SD_PARTS; ++part) assert_true(t[k].result.profile.seconds[part] >= 0);
        o[k] = outcome_of(&t[k]);
    }
    assert_true(o[1].result.offloaded_bytes > 0);
    assert_same(&t[1], &o[1], &o[0]);
    for (int k = 0; k < 2; ++k) {
        outcome_free(&o[k]);
        run_free(&t[k]);
    }
    dense_free(&d);
}

/* What is allocated is what was predicted, of all precisions, with a limit and without. */
static void memory_is_what_was_predicted(void **state)
{
    (void)state;
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("memory_is_what_was_predicted");
    dense d = mixed_problem(&r);
    for (int which = 0; which < 2 * SD_PRECISIONS; ++which) {
        device_run t, plan;
        assert_int_equal(run_open(&plan, cuda, &d, which % 2, 0.1, 0), SADDLE_OK);
        const sd_run_bytes all = predict(&plan, 0.1, 0);
        const int64_t limit = which < 2 ? 0 : (all.least + all.whole) / 2;
        const sd_run_bytes b = predict(&plan, 0.1, limit);
        run_free(&plan);
        assert_int_equal(run_open(&t, cuda, &d, which % 2, 0.1, 0), SADDLE_OK);
        t.e.backend->fronts->free(&t.e, t.run);
        const int64_t before = t.c.bytes;
        assert_int_equal(cuda->fronts->make(&t.e, &t.tree, &t.s, which % 2, 0.1, limit, &t.run), SADDLE_OK);
        const int64_t made = t.c.bytes - before - b.host;
        if (run_factor(&t, 0.01, SD_PRESOLVE_WHOLE, false)) fail_msg("%s", t.c.message);
        assert_int_equal(t.c.bytes - before - b.host, made);
        assert_int_equal(t.result.offloaded_bytes, b.host);
        assert_int_equal(b.host > 0, limit > 0);
        assert_true(made <= b.device && b.device <= made + made / 50);
        assert_int_equal(t.result.device_bytes, b.device);
        const int64_t parts = b.plan + b.lists + b.values + b.kept + b.region;
        assert_true(parts < b.device && b.device <= parts + (1 << 16)); /* counters, one for each step */
        assert_true(b.kept >= b.arena && b.arena >= b.work);
        assert_true(b.kept < b.panels + b.arena + b.delays); /* they share it */
        t.c.peak = t.c.bytes;
        outcome o = outcome_of(&t);
        if (limit > 0) assert_true(t.c.peak - before - b.host <= limit);
        outcome_free(&o);
        run_free(&t);
    }
    dense_free(&d);
}

/* Blocks are placed anew where delays need more room. */
static void memory_is_told_after_a_restart_too(void **state)
{
    (void)state;
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("memory_is_told_after_a_restart_too");
    dense d = kkt_problem(&r, 300, 250, 0);
    device_run t;
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 1e-6, 0), SADDLE_OK);
    t.e.backend->fronts->free(&t.e, t.run);
    const int64_t before = t.c.bytes;
    assert_int_equal(cuda->fronts->make(&t.e, &t.tree, &t.s, SD_DOUBLE, 1e-6, 0, &t.run), SADDLE_OK);
    const int64_t made = t.c.bytes - before;
    if (run_factor(&t, 0.5, SD_PRESOLVE_BAND, false)) fail_msg("%s", t.c.message);
    const int64_t grown = t.c.bytes - before;
    assert_true(t.result.restarts > 0 && grown > made);
    assert_true(grown <= t.result.device_bytes && t.result.device_bytes <= grown + grown / 50);
    outcome first = outcome_of(&t);
    if (run_factor(&t, 0.5, SD_PRESOLVE_BAND, false)) fail_msg("%s", t.c.message);
    assert_int_equal(t.result.restarts, 0);
    assert_int_equal(t.c.bytes - before, grown);
    outcome second = outcome_of(&t);
    assert_same(&t, &first, &second);
    outcome_free(&first);
    outcome_free(&second);
    run_free(&t);
    dense_free(&d);
}

static void limits_that_are_too_small_say_what_is_needed(void **state)
{
    (void)state;
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("limits_that_are_too_small_say_what_is_needed");
    dense d = mixed_problem(&r);
    device_run t;
    char needed[32];
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 0.1, 0), SADDLE_OK);
    const sd_run_bytes b = predict(&t, 0.1, 0), none = predict(&t, 0.1, b.least - 1);
    run_free(&t);
    assert_int_equal(none.device, 0);
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 0.1, b.least - 1), SADDLE_MEMORY_LIMIT);
    snprintf(needed, sizeof needed, "%lld", (long long)b.least);
    assert_contains(t.c.message, needed);
    assert_contains(t.c.message, "device_memory");
    assert_contains(t.c.message, "device cpu");
    run_free(&t);
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 0.1, b.least), SADDLE_OK);
    run_free(&t);
    dense_free(&d);
}

/* Memory of the device, or of the host, that others have taken: only where that can be arranged. */
static void what_is_free_decides_without_a_limit(void **state)
{
    (void)state;
    const sd_backend *cuda = cuda_or_skip();
    sd_context c;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(cuda->describe(&c, 0), SADDLE_OK);
    if (!strstr(c.message, "emulated")) skip();
    rng r = rng_start("what_is_free_decides_without_a_limit");
    dense d = mixed_problem(&r);
    device_run t;
    char bytes[32];
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 0.1, 0), SADDLE_OK);
    const sd_run_bytes b = predict(&t, 0.1, 0);
    run_free(&t);
    const int64_t reserve = 64 << 20, half = (b.least + b.whole) / 2 + reserve;
    snprintf(bytes, sizeof bytes, "%lld", (long long)half * 64 / 63 + 16384); /* and what an engine has */
    setenv("SADDLE_EMULATED_MEMORY", bytes, 1);
    if (run_open(&t, cuda, &d, SD_DOUBLE, 0.1, 0) || run_factor(&t, 0.01, SD_PRESOLVE_BAND, false))
        fail_msg("%s", t.c.message);
    assert_true(t.result.offloaded_bytes > 0);
    run_free(&t);
    setenv("SADDLE_EMULATED_PINNED", "100000", 1);
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 0.1, 0), SADDLE_OUT_OF_MEMORY);
    assert_contains(t.c.message, "pinned");
    run_free(&t);
    unsetenv("SADDLE_EMULATED_PINNED");
    snprintf(bytes, sizeof bytes, "%lld", (long long)reserve);
    setenv("SADDLE_EMULATED_MEMORY", bytes, 1);
    assert_int_equal(run_open(&t, cuda, &d, SD_DOUBLE, 0.1, 0), SADDLE_OUT_OF_MEMORY);
    assert_contains(t.c.message, "free");
    run_free(&t);
    unsetenv("SADDLE_EMULATED_MEMORY");
    dense_free(&d);
}

/* The bytes that a factorization by these options takes on the device at least, as a message says. */
static int64_t least_of(const dense *d, const char *options)
{
    char list[128];
    long long least = 0;
    saddle_status status;
    snprintf(list, sizeof list, "%s,device_memory=1000", options);
    saddle_solver *s = factor_hooked(d, SADDLE_LOWER, list, NULL, &status);
    assert_int_equal(status, SADDLE_MEMORY_LIMIT);
    const char *at = strstr(saddle_message(s), "at least ");
    assert_true(at && sscanf(at, "at least %lld", &least) == 1);
    assert_contains(saddle_message(s), "device_memory");
    saddle_destroy(&s);
    return least;
}

/* By the option, as callers have it. */
static void the_option_keeps_a_solver_to_its_limit(void **state)
{
    (void)state;
    cuda_or_skip();
    static const char *const lists[] = {"device=cuda", "device=cuda,precision=mixed",
                                        "device=cuda,presolve=whole"};
    rng r = rng_start("the_option_keeps_a_solver_to_its_limit");
    dense d = mixed_problem(&r);
    double *b = test_alloc(3 * (size_t)d.n, sizeof *b), *x = b + d.n, *y = x + d.n;
    for (int i = 0; i < d.n; ++i) b[i] = cos(i);
    for (int k = 0; k < 3; ++k) {
        char list[128];
        saddle_solver *s = factor_dense(&d, SADDLE_LOWER, lists[k]);
        const saddle_info whole = info_of(s);
        assert_int_equal(saddle_solve(s, 1, b, d.n, x, d.n, NULL), SADDLE_OK);
        saddle_destroy(&s);
        assert_true(whole.device_bytes > 0);
        assert_int_equal(whole.offloaded_bytes, 0);
        snprintf(list, sizeof list, "%s,device_memory=%lld", lists[k], (long long)least_of(&d, lists[k]));
        s = factor_dense(&d, SADDLE_LOWER, list);
        const saddle_info less = info_of(s);
        assert_int_equal(saddle_solve(s, 1, b, d.n, y, d.n, NULL), SADDLE_OK);
        saddle_destroy(&s);
        assert_true(less.device_bytes < whole.device_bytes && less.offloaded_bytes > 0);
        assert_int_equal(less.inertia_negative, whole.inertia_negative);
        assert_memory_equal(x, y, (size_t)d.n * sizeof *x);
    }
    saddle_solver *s = factor_dense(&d, SADDLE_LOWER, "device=cpu");
    assert_int_equal(info_of(s).device_bytes, -1);
    assert_int_equal(info_of(s).offloaded_bytes, -1);
    saddle_destroy(&s);
    free(b);
    dense_free(&d);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("every_allocation_may_fail");
    dense d = chain_problem(&r, 6, 150, 50);
    const int64_t step = is_about_memory() ? 41 : is_slow() ? 7 : 1;
    char list[64];
    snprintf(list, sizeof list, "device=cuda,threads=1,device_memory=%lld",
             (long long)least_of(&d, "device=cuda,threads=1"));
    double *b = test_alloc(2 * (size_t)d.n, sizeof *b);
    for (int i = 0; i < d.n; ++i) b[i] = 1;
    for (int64_t k = 1;; k += step) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        saddle_status status;
        saddle_info info = saddle_info_default();
        saddle_solver *s = factor_hooked(&d, SADDLE_LOWER, list, &hooks, &status);
        if (!status) status = saddle_query(s, &info);
        if (!status && !f.failed) assert_true(info.offloaded_bytes > 0);
        if (!status) status = saddle_solve(s, 1, b, d.n, b + d.n, d.n, NULL);
        saddle_destroy(&s);
        assert_int_equal(f.live, 0);
        if (!f.failed) assert_int_equal(status, SADDLE_OK);
        if (!f.failed) break;
        assert_true(status == SADDLE_OK || status == SADDLE_OUT_OF_MEMORY);
    }
    free(b);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_where_panels_are),
        cmocka_unit_test(delayed_columns_leave_panels_that_have_left),
        cmocka_unit_test(regions_that_are_too_small_are_made_larger),
        cmocka_unit_test(a_limit_that_delays_exceed_is_told_and_survived),
        cmocka_unit_test(factors_on_the_host_can_be_changed),
        cmocka_unit_test(memory_is_what_was_predicted),
        cmocka_unit_test(memory_is_told_after_a_restart_too),
        cmocka_unit_test(limits_that_are_too_small_say_what_is_needed),
        cmocka_unit_test(what_is_free_decides_without_a_limit),
        cmocka_unit_test(the_option_keeps_a_solver_to_its_limit),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
