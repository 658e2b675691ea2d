/*
 * Values, right-hand sides and solutions in a device's memory: the same answers as from the host, the values
 * factored before the host has seen them where they are like those before, and again where they are not.
 */
#include "backend_or_skip.h"
#include "incomplete.h"
#include "there.h"

#include "solver/home.h"

typedef struct record {
    int again; /* factorizations that were made twice */
} record;

static void take_line(int level, const char *line, void *user)
{
    record *r = user;
    if (level == SADDLE_LOG_INFO && strstr(line, "unlike those before")) ++r->again;
}

/* A solver on the device, which has factored A once; the direct one unless options say otherwise. */
static saddle_solver *open_home(const saddle_matrix *A, const char *list, record *r)
{
    char all[256], message[SADDLE_MESSAGE_SIZE];
    snprintf(all, sizeof all, "device=cuda,method=direct%s%s", *list ? "," : "", list);
    const saddle_options options = options_of(all);
    const saddle_hooks hooks = {.size = sizeof hooks, .log = take_line, .user = r};
    saddle_solver *s = NULL;
    *r = (record){0};
    if (saddle_create(&s, &options, &hooks, message)) fail_msg("%s", message);
    if (saddle_factor(s, A)) fail_msg("%s", saddle_message(s));
    return s;
}

/* Views of one matrix with entries in any order: the map is used. */
static void values_here_and_there(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("values_here_and_there");
    const saddle_shape shapes[] = {SADDLE_LOWER, SADDLE_UPPER, SADDLE_FULL};
    for (int way = 0; way < 12; way += is_about_memory() ? 7 : 1) {
        dense d = kkt_problem(&r, 90, 30, 0);
        const bool single = way % 4 == 3, shuffled = way % 2;
        record log;
        const view_style style = {.layout = shuffled ? SADDLE_COORDINATES : SADDLE_COLUMNS,
                                  .shape = shapes[way % 3],
                                  .type = single ? SADDLE_FLOAT : SADDLE_DOUBLE,
                                  .base = way % 2,
                                  .pointer_bits = 64,
                                  .shuffled = shuffled};
        const rng at = r; /* so that entries come in the same order */
        rng again = at;
        if (single)
            for (int k = 0; k < d.n * d.n; ++k) d.a[k] = (double)(float)d.a[k];
        saddle_matrix A = view_make(&again, &d, style);
        saddle_solver *s = open_home(&A, "", &log);
        const size_t bytes = (size_t)A.entries * (single ? sizeof(float) : sizeof(double));
        for (int step = 0; step < 3; ++step) {
            change(&r, &d);
            if (single)
                for (int k = 0; k < d.n * d.n; ++k) d.a[k] = (double)(float)d.a[k];
            rng same = at;
            saddle_matrix next = view_make(&same, &d, style);
            void *there = put(s, next.values, bytes);
            const void *here = next.values;
            assert_true(sd_home_accepts(s, &next));
            if (step == 1) next.values = there;
            const saddle_status status =
                step == 2 ? saddle_factor_values(s, next.type, there) : saddle_factor(s, &next);
            if (status) fail_msg("way %d, step %d: %s", way, step, saddle_message(s));
            assert_int_equal(log.again, 0);
            assert_solves_everywhere(s, &d, 1);
            if (step == 0) assert_solves_everywhere(s, &d, 5);
            s->e.backend->release(&s->e, there);
            next.values = here;
            view_free(&next);
        }
        saddle_destroy(&s);
        view_free(&A);
        dense_free(&d);
    }
}

/* Incomplete factors are made of values that are there as of those that are here, with the same bits. */
static void incomplete_factors_of_values_there(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("incomplete_factors_of_values_there");
    static const char *const lists[] = {"method=ic,level=1,trisolve=exact",
                                        "method=ilu,trisolve=jacobi,trisolve_sweeps=3",
                                        "method=ic,setup=sweeps,trisolve=block-jacobi,trisolve_sweeps=2"};
    for (int k = 0; k < 3; ++k) {
        dense d = blocks_problem(&r, 30, 2, 4, true);
        record log[2];
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        saddle_solver *s[] = {open_home(&A, lists[k], &log[0]), open_home(&A, lists[k], &log[1])};
        double *values = (double *)(uintptr_t)A.values, *b = test_alloc(60, sizeof *b);
        double x[2][60];
        for (int i = 0; i < 60; ++i) b[i] = 1;
        for (int64_t i = 0; i < A.entries; ++i) values[i] *= 1 + 1e-3 * rng_unit(&r);
        double *there = put(s[0], values, (size_t)A.entries * sizeof *there);
        assert_true(sd_home_accepts(s[0], &A));
        for (int sign = 0; sign < 2; ++sign) {
            for (int64_t i = 0; i < A.entries && sign == 1; ++i) values[i] = -values[i];
            s[0]->e.backend->upload(&s[0]->e, values, there, A.entries * (int64_t)sizeof *there);
            assert_int_equal(saddle_factor_values(s[0], SADDLE_DOUBLE, there), SADDLE_OK);
            assert_int_equal(saddle_factor(s[1], &A), SADDLE_OK);
            for (int i = 0; i < 2; ++i) {
                saddle_info info = saddle_info_default();
                assert_int_equal(saddle_solve(s[i], 1, b, 60, x[i], 60, &info), SADDLE_OK);
                assert_true(info.shift == 0);
            }
            assert_memory_equal(x[0], x[1], sizeof x[0]);
            assert_int_equal(log[0].again, 0);
        }
        values[5] = NAN;
        s[0]->e.backend->upload(&s[0]->e, values, there, A.entries * (int64_t)sizeof *there);
        assert_int_equal(saddle_factor_values(s[0], SADDLE_DOUBLE, there), SADDLE_BAD_VALUE);
        assert_contains(saddle_message(s[0]), "row");
        s[0]->e.backend->release(&s[0]->e, there);
        for (int i = 0; i < 2; ++i) saddle_destroy(&s[i]);
        view_free(&A);
        free(b);
        dense_free(&d);
    }
}

/* Values that ask for something else are factored again: another rule, another scaling, another size. */
static void values_unlike_those_before(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("values_unlike_those_before");
    for (int way = 0; way < 4; ++way) {
        dense d = symmetric_problem(&r, 80, true);
        record log;
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        saddle_solver *s = open_home(&A, "", &log);
        view_free(&A);
        assert_int_equal(info_of(s).factorization, SADDLE_FACTORIZATION_CHOLESKY);
        if (way == 0) dense_set(&d, 7, 7, -dense_at(&d, 7, 7)); /* no longer positive definite */
        for (int k = 0; k < d.n * d.n && way == 1; ++k) d.a[k] = ldexp(d.a[k], -900);
        for (int i = 0; i < d.n && way == 2; ++i)
            for (int j = 0; j < d.n; ++j)
                if (d.there[i * d.n + j])
                    dense_set(&d, i, j, ldexp(dense_at(&d, i, j), (i % 2 + j % 2) * 40));
        if (way == 3)
            for (int i = 0; i < d.n; ++i) dense_set(&d, i, i, i % 3 ? 1e-12 : 0);
        A = view_plain(&d, SADDLE_LOWER);
        const saddle_status status = saddle_factor(s, &A);
        if (status) fail_msg("way %d: %s", way, saddle_message(s));
        if (way != 3) assert_int_equal(log.again, 1);
        /* as the host has it */
        saddle_solver *host = factor_dense(&d, SADDLE_LOWER, "device=cpu");
        const saddle_info here = info_of(host), there = info_of(s);
        assert_int_equal(here.inertia_negative, there.inertia_negative);
        assert_int_equal(here.inertia_positive, there.inertia_positive);
        saddle_destroy(&host);
        if (way == 0 || way == 3) assert_solves_everywhere(s, &d, 2); /* of the others b is far from A */
        saddle_destroy(&s);
        view_free(&A);
        dense_free(&d);
    }
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("bad_values_are_refused");
    dense d = kkt_problem(&r, 60, 20, 0);
    record log;
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double *values = (double *)(uintptr_t)A.values;
    const size_t bytes = (size_t)A.entries * sizeof *values;
    saddle_solver *s = open_home(&A, "", &log);
    const double before = values[5];
    for (int way = 0; way < 4; ++way) {
        values[5] = way % 2 ? NAN : INFINITY;
        void *there = put(s, values, bytes);
        saddle_matrix bad = A;
        if (way >= 2) bad.values = there;
        assert_int_equal(saddle_factor(s, &bad), SADDLE_BAD_VALUE);
        assert_contains(saddle_message(s), "row");
        double b[60] = {0};
        assert_int_equal(saddle_solve(s, 1, b, 60, b, 60, NULL), SADDLE_WRONG_ORDER);
        s->e.backend->release(&s->e, there);
        values[5] = before;
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, values), SADDLE_OK);
    }
    /* another pattern of as many entries is seen, though the device is at work on its values already */
    int32_t *indices = (int32_t *)(uintptr_t)A.indices;
    int64_t k = 0;
    while (indices[k] + 1 >= 60 || indices[k + 1] == indices[k] + 1 || indices[k + 1] <= indices[k]) ++k;
    ++indices[k];
    assert_int_equal(saddle_factor(s, &A), SADDLE_PATTERN_CHANGED);
    --indices[k];
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_solves_everywhere(s, &d, 1);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

/* What a device cannot see is left to the host: zero and far columns, and some that are not finite. */
static void right_hand_sides_out_of_the_ordinary(void **state)
{
    (void)state;
    cuda_or_skip();
    enum { N = 50 };
    rng r = rng_start("right_hand_sides_out_of_the_ordinary");
    dense d = kkt_problem(&r, N, 15, 0);
    record log;
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *s = open_home(&A, "", &log);
    double b[2 * N], x[2 * N];
    double *there = put(s, NULL, sizeof b);
    for (int way = 0; way < 4; ++way) {
        saddle_info info = saddle_info_default();
        for (int i = 0; i < 2 * N; ++i)
            b[i] = i < N ? 1 : way == 0 ? 0 : way == 1 ? 1e250 : way == 2 ? 1e-290 : i == N + 3 ? NAN : 1;
        s->e.backend->upload(&s->e, b, there, sizeof b);
        const saddle_status status = saddle_solve(s, 2, there, N, there, N, &info);
        assert_int_equal(status, way == 3 ? SADDLE_BAD_VALUE : SADDLE_OK);
        get(s, there, x, sizeof x);
        for (int i = 0; i < 2 * N; ++i) assert_true(isfinite(x[i]));
        if (way == 3) continue;
        assert_solves(&d, b, x);
        if (way > 0) assert_solves(&d, b + N, x + N);
    }
    saddle_destroy(&s);
    /* unmeasured, with a correction and without */
    for (int refined = 0; refined < 2; ++refined) {
        s = open_home(&A, refined ? "verify=off,krylov=refine" : "verify=off,krylov=none", &log);
        assert_solves_everywhere(s, &d, 3);
        saddle_destroy(&s);
    }
    view_free(&A);
    dense_free(&d);
}

static void streams(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("streams");
    dense d = kkt_problem(&r, 40, 10, 0);
    record log;
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_solver *s = open_home(&A, "", &log), *other = open_home(&A, "", &log);
    assert_int_equal(saddle_set_stream(s, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    assert_solves_everywhere(s, &d, 1);
    saddle_destroy(&other);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

static void streams_without_a_gpu(void **state)
{
    (void)state;
    rng r = rng_start("streams_without_a_gpu");
    dense d = kkt_problem(&r, 40, 10, 0);
    int stream;
    saddle_solver *host = factor_dense(&d, SADDLE_LOWER, "device=cpu");
    assert_int_equal(saddle_set_stream(NULL, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_set_stream(host, NULL), SADDLE_OK);
    assert_int_equal(saddle_set_stream(host, &stream), SADDLE_NOT_SUPPORTED);
    assert_contains(saddle_message(host), "device cuda");
    saddle_destroy(&host);
    dense_free(&d);
}

/* On the host, too, values alone may be given. */
static void values_on_the_host(void **state)
{
    (void)state;
    rng r = rng_start("values_on_the_host");
    dense d = kkt_problem(&r, 50, 15, 0);
    const saddle_options options = options_of("method=direct,device=cpu");
    saddle_solver *s = NULL;
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double *values = (double *)(uintptr_t)A.values;
    assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, values), SADDLE_WRONG_ORDER);
    assert_int_equal(saddle_analyse(s, &A), SADDLE_OK);
    assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, values), SADDLE_OK);
    assert_int_equal(saddle_factor_values(s, (saddle_type)7, values), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, NULL), SADDLE_BAD_ARGUMENT);
    values[3] = NAN;
    assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, values), SADDLE_BAD_VALUE);
    assert_contains(saddle_message(s), "row");
    values[3] = 1;
    assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, values), SADDLE_OK);
    assert_int_equal(saddle_factor_values(NULL, SADDLE_DOUBLE, values), SADDLE_BAD_ARGUMENT);
    saddle_destroy(&s);
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_on_the_host),
        cmocka_unit_test(values_here_and_there),
        cmocka_unit_test(incomplete_factors_of_values_there),
        cmocka_unit_test(values_unlike_those_before),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(right_hand_sides_out_of_the_ordinary),
        cmocka_unit_test(streams),
        cmocka_unit_test(streams_without_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
