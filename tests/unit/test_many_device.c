/*
 * Many systems on a device: statuses, inertias, errors and solutions are those that the CPU has, whatever
 * becomes of the systems beside one another, with arrays on the host or on the device; and what departs from
 * the ordinary course is done on the host.
 */
#include "backend_or_skip.h"
#include "factoring.h"
#include "inside.h"
#include "systems.h"

enum { N = 40, COUNT = 21 }; /* no multiple of a group */

static systems systems_new(rng *r, int kind, int count)
{
    dense d = kind == 0   ? indefinite_problem(r, N)
              : kind == 1 ? kkt_problem(r, N, N / 3, 0)
              : kind == 2 ? symmetric_problem(r, N, true)
                          : symmetric_problem(r, N, false);
    return systems_of(r, &d, count, 0, 0.03);
}

static saddle_solver *solver_on(const char *device, const char *list)
{
    saddle_solver *solver;
    char message[SADDLE_MESSAGE_SIZE], all[256];
    snprintf(all, sizeof all, "device=%s,order=metis,simplicial=on,threads=2%s%s", device, list[0] ? "," : "",
             list);
    const saddle_options options = options_of(all);
    if (saddle_create(&solver, &options, NULL, message)) fail_msg("%s", message);
    return solver;
}

typedef struct outcomes {
    saddle_status status;
    double x[COUNT * N];
    saddle_result results[COUNT];
    char message[SADDLE_MESSAGE_SIZE];
} outcomes;

static void run(saddle_solver *solver, const systems *s, int count, outcomes *to)
{
    to->status =
        saddle_factor_solve_many(solver, &s->A, count, s->values, s->stride, s->b, N, to->x, N, to->results);
    snprintf(to->message, sizeof to->message, "%s", saddle_message(solver));
}

static void assert_same_system(const outcomes *a, const outcomes *b, int k)
{
    const saddle_result *p = &a->results[k], *q = &b->results[k];
    if (p->status != q->status || p->reason != q->reason)
        fail_msg("system %d: %s, %s; on the CPU %s, %s", k, saddle_status_text(p->status),
                 saddle_reason_text(p->reason), saddle_status_text(q->status), saddle_reason_text(q->reason));
    assert_int_equal(p->converged, q->converged);
    assert_int_equal(p->inertia_certain, q->inertia_certain);
    assert_int_equal(p->inertia_positive, q->inertia_positive);
    assert_int_equal(p->inertia_negative, q->inertia_negative);
    assert_int_equal(p->inertia_zero, q->inertia_zero);
    assert_string_equal(p->message, q->message);
    assert_int_equal(isnan(p->backward_error), isnan(q->backward_error));
    assert_false(p->backward_error > 1e-15 && p->backward_error > 10 * q->backward_error);
    for (int i = 0; i < N; ++i)
        assert_true(fabs(a->x[k * N + i] - b->x[k * N + i]) <= 1e-9 * fabs(b->x[k * N + i]) + 1e-12);
}

static void assert_same(const outcomes *a, const outcomes *b, int count)
{
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->message, b->message);
    for (int k = 0; k < count; ++k) assert_same_system(a, b, k);
}

/* Every kind, every rule, several ways to solve, and every number of systems that leaves a group partly
 * empty. */
static void systems_are_done_on_the_device_as_on_the_cpu(void **state)
{
    (void)state;
    cuda_or_skip();
    static const char *const lists[] = {"", "krylov=none", "verify=off,krylov=refine,certify=off",
                                        "certify=off,stop=residual", "factorization=static,certify=off"};
    rng r = rng_start("many on a device");
    for (int kind = 0; kind < 4; ++kind) {
        systems s = systems_new(&r, kind, COUNT);
        for (int l = 0; l < 5; ++l) {
            const int count = l == 0 ? COUNT : 1 + (7 * kind + 3 * l) % 9;
            saddle_solver *there = solver_on("cuda", lists[l]), *here = solver_on("cpu", lists[l]);
            outcomes a = {0}, b = {0};
            run(there, &s, count, &a);
            run(here, &s, count, &b);
            assert_same(&a, &b, count);
            /* those that are not refined, or are not pivoted, may not be accurate enough */
            if (there->many.departed > count / 2 && l != 1 && l != 4)
                fail_msg("%s, kind %d: systems departed", lists[l], kind);
            run(there, &s, count, &b); /* again, in the same memory */
            assert_memory_equal(a.x, b.x, sizeof(double) * (size_t)(count * N));
            saddle_destroy(&there);
            saddle_destroy(&here);
        }
        systems_free(&s);
    }
}

/* One of them is all zeros, one has no number, one is scaled far off, one needs other pivots, one b is 0. */
static void spoil(const systems *s)
{
    const int64_t entries = s->A.entries;
    for (int64_t e = 0; e < entries; ++e) s->values[2 * s->stride + e] = 0;
    s->values[3 * s->stride + entries / 2] = NAN;
    for (int64_t e = 0; e < entries; ++e) s->values[4 * s->stride + e] *= e % 3 ? 1e9 : 1e-9;
    for (int64_t e = 0; e < entries; ++e) s->values[9 * s->stride + e] *= e % 5 ? 1 : -1;
    for (int64_t e = 0; e < entries; ++e) s->values[10 * s->stride + e] *= 0x1p+500;
    memset(s->b + 11 * N, 0, N * sizeof *s->b);
    s->b[12 * N + 3] = INFINITY;
}

static void systems_that_depart_are_done_on_the_host(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("many departures");
    systems s = systems_new(&r, 0, COUNT);
    saddle_solver *there = solver_on("cuda", ""), *here = solver_on("cpu", "");
    outcomes a = {0}, b = {0}, kept = {0};
    s.A.values = s.values;
    assert_int_equal(saddle_factor(there, &s.A), SADDLE_OK);
    assert_int_equal(saddle_factor(here, &s.A), SADDLE_OK);
    s.A.values = NULL;
    spoil(&s);
    run(there, &s, COUNT, &a);
    run(here, &s, COUNT, &b);
    assert_int_not_equal(b.status, SADDLE_OK);
    assert_same(&a, &b, COUNT);
    assert_true(there->many.departed >= 6 && there->many.departed < COUNT / 2);

    assert_int_equal(saddle_factor_many(there, &s.A, COUNT, s.values, s.stride, kept.results),
                     saddle_factor_many(here, &s.A, COUNT, s.values, s.stride, b.results));
    for (int k = 0; k < COUNT; ++k) {
        assert_int_equal(kept.results[k].status, b.results[k].status);
        assert_int_equal(kept.results[k].inertia_negative, b.results[k].inertia_negative);
        assert_int_equal(kept.results[k].inertia_certain, b.results[k].inertia_certain);
        assert_string_equal(kept.results[k].message, b.results[k].message);
    }
    for (int times = 0; times < 2; ++times) { /* the second without witnesses */
        memcpy(kept.x, s.b, sizeof kept.x);   /* in place */
        kept.status = saddle_solve_many(there, COUNT, kept.x, N, kept.x, N, kept.results);
        b.status = saddle_solve_many(here, COUNT, s.b, N, b.x, N, b.results);
        kept.message[0] = b.message[0] = '\0';
        assert_same(&kept, &b, COUNT);
    }
    assert_int_equal(saddle_solve_many(there, COUNT - 1, s.b, N, kept.x, N, NULL), SADDLE_BAD_ARGUMENT);
    saddle_destroy(&there);
    saddle_destroy(&here);
    systems_free(&s);
}

/* An array on the device, and back. */
static void *there_of(sd_engine *e, const void *from, size_t bytes)
{
    void *to = sd_to_backend(e, from, (int64_t)bytes, "test");
    assert_non_null(to);
    return to;
}

static void arrays_may_be_on_the_device(void **state)
{
    (void)state;
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("many device arrays");
    systems s = systems_new(&r, 1, COUNT);
    sd_context c;
    sd_device d;
    sd_engine e;
    outcomes a = {0}, b = {0};
    sd_context_init(&c, NULL, 0);
    open_engine_on(&c, cuda, 1, &d, &e);
    for (int64_t q = 0; q < s.A.entries; ++q) s.values[5 * s.stride + q] = 0; /* it departs */
    double *values = there_of(&e, s.values, (size_t)(COUNT * s.stride) * sizeof *values);
    double *right = there_of(&e, s.b, sizeof a.x), *x = there_of(&e, a.x, sizeof a.x);
    saddle_solver *solver = solver_on("cuda", "");
    run(solver, &s, COUNT, &b);
    a.status = saddle_factor_solve_many(solver, &s.A, COUNT, values, s.stride, right, N, x, N, a.results);
    cuda->download(&e, x, a.x, sizeof a.x);
    snprintf(a.message, sizeof a.message, "%s", saddle_message(solver));
    assert_same(&a, &b, COUNT);
    assert_memory_equal(a.x, b.x, sizeof a.x);
    assert_int_equal(saddle_factor_many(solver, &s.A, COUNT, values, s.stride, a.results), SADDLE_OK);
    memset(a.x, 0, sizeof a.x);
    a.status = saddle_solve_many(solver, COUNT, right, N, right, N, a.results); /* in place */
    cuda->download(&e, right, a.x, sizeof a.x);
    assert_same(&a, &b, COUNT);
    saddle_destroy(&solver);
    solver = solver_on("cuda", "stop=componentwise"); /* which the device does not do */
    a.status = saddle_factor_solve_many(solver, &s.A, COUNT, values, s.stride, s.b, N, x, N, a.results);
    assert_int_equal(a.status, b.status);
    assert_int_equal(solver->many.departed, COUNT);
    cuda->download(&e, x, a.x, sizeof a.x);
    for (int k = 0; k < COUNT * N; ++k) assert_true(fabs(a.x[k] - b.x[k]) <= 1e-9 * fabs(b.x[k]) + 1e-12);
    saddle_destroy(&solver);
    sd_release(&e, values);
    sd_release(&e, right);
    sd_release(&e, x);
    sd_engine_close(&e);
    sd_device_close(&c, &d);
    systems_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_are_done_on_the_device_as_on_the_cpu),
        cmocka_unit_test(systems_that_depart_are_done_on_the_host),
        cmocka_unit_test(arrays_may_be_on_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
