/*
 * What a factorization on a device tells of itself: waits always, the times of its parts and the tiles of
 * pivots if asked for; where there is none, a warning, and nothing that was not measured.
 */
#include "backend_or_skip.h"
#include "factoring.h"

typedef struct record {
    int warnings;
    char last[256];
} record;

static void take_line(int level, const char *line, void *user)
{
    record *r = user;
    if (level != SADDLE_LOG_WARNING) return;
    ++r->warnings;
    snprintf(r->last, sizeof r->last, "%s", line);
}

/* Factors a matrix, and returns what info says. */
static saddle_info profile_of(const char *device, saddle_switch profile, record *r)
{
    rng random = rng_start(device);
    dense d = kkt_problem(&random, 120, 40, 40);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_options o = saddle_options_default();
    saddle_hooks hooks = {.size = sizeof hooks, .log = take_line, .user = r};
    saddle_info info = saddle_info_default();
    saddle_solver *s = NULL;
    *r = (record){0};
    o.method = SADDLE_METHOD_DIRECT;
    o.profile = profile;
    assert_int_equal(saddle_options_set(&o, "device", device, NULL), SADDLE_OK);
    assert_int_equal(saddle_create(&s, &o, &hooks, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_int_equal(saddle_query(s, &info), SADDLE_OK);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
    return info;
}

static void assert_not_measured(const saddle_info *i)
{
    assert_true(isnan(i->profile_assembly) && isnan(i->profile_factor) && isnan(i->profile_contribution) &&
                isnan(i->profile_other) && isnan(i->profile_presolve));
    assert_int_equal(i->tiles_0, -1);
    assert_int_equal(i->tiles_8, -1);
}

static void the_host_warns_and_measures_nothing(void **state)
{
    (void)state;
    record r;
    const saddle_info on = profile_of("cpu", SADDLE_ON, &r);
    assert_int_equal(r.warnings, 1);
    assert_contains(r.last, "profile has no effect");
    assert_not_measured(&on);
    assert_int_equal(on.waits, -1);
    profile_of("cpu", SADDLE_OFF, &r);
    assert_int_equal(r.warnings, 0);
}

static void a_device_measures_if_asked(void **state)
{
    (void)state;
    record r;
    cuda_or_skip();
    const saddle_info on = profile_of("cuda", SADDLE_ON, &r), off = profile_of("cuda", SADDLE_OFF, &r);
    assert_int_equal(r.warnings, 0);
    assert_not_measured(&off);
    assert_int_equal(off.waits, on.waits);
    assert_true(on.waits >= 1);
    assert_true(on.profile_assembly >= 0 && on.profile_factor >= 0 && on.profile_contribution >= 0 &&
                on.profile_other >= 0 && on.profile_presolve >= 0);
    assert_true(on.tiles_0 >= 0 && on.tiles_8 > 0);
}

/* Factors with each kind of presolve in turn; what is not there is refused, and the message names it. */
static void factor_with_presolves(saddle_device device)
{
    static const char *const words[] = {"off", "band", "whole", "auto"};
    int64_t waits[4];
    rng random = rng_start("presolve");
    dense d = kkt_problem(&random, 120, 40, 40);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    for (int k = 0; k < 4; ++k) {
        const bool refused = device == SADDLE_DEVICE_CPU && (k == 1 || k == 2);
        saddle_options o = saddle_options_default();
        saddle_info info = saddle_info_default();
        saddle_solver *s = NULL;
        o.method = SADDLE_METHOD_DIRECT;
        o.device = device;
        assert_int_equal(saddle_options_set(&o, "presolve", words[k], NULL), SADDLE_OK);
        assert_int_equal(saddle_create(&s, &o, NULL, NULL), SADDLE_OK);
        assert_int_equal(saddle_factor(s, &A), refused ? SADDLE_NOT_SUPPORTED : SADDLE_OK);
        if (refused) assert_contains(saddle_message(s), words[k]);
        if (!refused) assert_int_equal(saddle_query(s, &info), SADDLE_OK);
        waits[k] = info.waits;
        saddle_destroy(&s);
    }
    assert_int_equal(waits[1], waits[0]);
    assert_int_equal(waits[2], waits[1] + (device == SADDLE_DEVICE_CUDA));
    assert_int_equal(waits[3], waits[1]);
    view_free(&A);
    dense_free(&d);
}

/* Very small pivots are examined on the host: a wait of its own where nobody expected them. */
static void small_pivots_are_waited_for_where_they_surprise(void **state)
{
    (void)state;
    cuda_or_skip();
    enum { N = 60 };
    rng random = rng_start("small_pivots_are_waited_for_where_they_surprise");
    dense d = kkt_problem(&random, N, 20, 0), alone = dense_new(N + 1); /* and a row with its diagonal only */
    const saddle_options o = options_of("method=direct,device=cuda,scaling=none,certify=off");
    const double last[] = {1e-9, 1, 1, 1e-9, 1e-9, 1};
    const int64_t waits[] = {1, 1, 1, 2, 1, 1}; /* the first of a small matrix brings them in any case */
    saddle_solver *s = NULL;
    assert_int_equal(saddle_create(&s, &o, NULL, NULL), SADDLE_OK);
    for (int i = 0; i < N * N; ++i)
        if (d.there[i]) dense_set(&alone, i / N, i % N, d.a[i]);
    for (int k = 0; k < 6; ++k) {
        dense_set(&alone, N, N, last[k]);
        saddle_matrix A = view_plain(&alone, SADDLE_LOWER);
        if (saddle_factor(s, &A)) fail_msg("%s", saddle_message(s));
        assert_int_equal(info_of(s).waits, waits[k]);
        view_free(&A);
    }
    saddle_destroy(&s);
    dense_free(&d);
    dense_free(&alone);
}

static void the_host_refuses_inverses(void **state)
{
    (void)state;
    factor_with_presolves(SADDLE_DEVICE_CPU);
}

static void a_device_has_inverses(void **state)
{
    (void)state;
    cuda_or_skip();
    factor_with_presolves(SADDLE_DEVICE_CUDA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pivots_are_waited_for_where_they_surprise),
        cmocka_unit_test(the_host_warns_and_measures_nothing),
        cmocka_unit_test(a_device_measures_if_asked),
        cmocka_unit_test(the_host_refuses_inverses),
        cmocka_unit_test(a_device_has_inverses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
