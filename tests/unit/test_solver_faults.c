/* The solver in threads, cancelled, without memory; and what must not change an answer. */
#include "failing_allocator.h"
#include "problems.h"

#include "inside.h"

#include <pthread.h>

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
    static const char *const lists[] = {"",
                                        "method=diagonal",
                                        "krylov=gmres,method=none",
                                        "krylov=sqmr,precision=mixed",
                                        "method=direct,precision=mixed",
                                        "method=bjacobi,block_precision=adaptive"};
    for (int l = 0; l < 6; ++l) {
        for (int at = 1;; ++at) {
            canceller c = {.cancel_at = at};
            const saddle_hooks hooks = {.size = sizeof hooks,
                                        .allocate = counted_allocate,
                                        .release = counted_release,
                                        .progress = count_progress,
                                        .user = &c};
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
                /* a direct solve whose residual is 0 has no step to tell of */
                if (info.iterations > 1) assert_contains(c.stages, "solve");
                break;
            }
        }
    }
    problem_free(&p);
}

/* ---- progress ---- */

typedef struct last_report {
    char stage[16];
    int64_t done, total;
    int unfinished; /* stages that were left before done = total, except solve */
} last_report;

static int note_report(const saddle_progress *p, void *user)
{
    last_report *l = user;
    const bool other = strcmp(p->stage, l->stage) != 0;
    if (other && strcmp(l->stage, "analyse") != 0 && l->done != l->total) ++l->unfinished;
    assert_in_range(p->done, 0, p->total);
    snprintf(l->stage, sizeof l->stage, "%s", p->stage);
    l->done = p->done;
    l->total = p->total;
    return 0;
}

/* It stopped at 3 of 5, and then at 2 of 3. */
static void every_stage_ends_with_all_done(void **state)
{
    (void)state;
    rng r = rng_start("progress");
    problem p = problem_new(&r, false);
    static const char *const lists[] = {"",
                                        "method=direct,simplicial=off",
                                        "method=direct,simplicial=on",
                                        "method=ldlt",
                                        "method=jacobi",
                                        "method=bjacobi",
                                        "method=ic,level=1",
                                        "method=ilu",
                                        "method=diagonal"};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; ++l) {
        last_report last = {0};
        const saddle_hooks hooks = {.size = sizeof hooks, .progress = note_report, .user = &last};
        saddle_solver *solver = create(lists[l], &hooks);
        assert_int_equal(saddle_analyse(solver, &p.A), SADDLE_OK);
        assert_string_equal(last.stage, "analyse");
        assert_true(last.done == last.total && last.total > 0);
        for (int again = 0; again < 2; ++again) {
            assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
            assert_string_equal(last.stage, "factor");
            assert_true(last.done == last.total && last.total > 0);
        }
        assert_int_equal(last.unfinished, 0);
        saddle_destroy(&solver);
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
    "method=direct,simplicial=off",
    "method=direct,simplicial=on",
    "method=direct,factorization=static",
    "method=ic,trisolve=block-jacobi,trisolve_sweeps=3",
    "method=ic,fill=tau:0.01,tune=on",
    "method=ic,setup=sweeps",
    "method=ilu,fill=tau:0.01",
    "method=ilu,setup=sweeps,fill=tau:0.01,trisolve=jacobi",
    "method=direct,device=reference",
    "method=direct,precision=mixed",
    "method=bjacobi",
    "method=bjacobi,block_precision=adaptive",
    "method=bjacobi,block_kernel=jordan,precision=mixed,krylov=gmres",
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
            /* a certificate of the inertia that memory is too short for is no reason to withhold x */
            if (status != SADDLE_OUT_OF_MEMORY && info.inertia_doubt != SADDLE_DOUBT_NO_RESOURCES)
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
            } else if (status == SADDLE_NOT_CONVERGED && info.reason == SADDLE_REASON_MEMORY) {
                /* a stronger method did not fit: the best x so far, and its errors */
                assert_true(info.relative_residual <= 1 && info.backward_error <= 1);
                assert_contains(info.message, "raise max_memory");
            } else if (status == unlimited) { /* with a limit the direct solver keeps less */
                assert_true(info.peak_bytes <= limit);
            } else if (status != SADDLE_MEMORY_LIMIT) {
                fail_msg("%s: status %d with a limit of %lld", memory_lists[l], status, (long long)limit);
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

/* Columns that are accurate already when the solve is cancelled stay; those after them are not begun. */
static void a_cancelled_solve_begins_no_further_columns(void **state)
{
    (void)state;
    enum { COLUMNS = 200 };
    rng r = rng_start("columns");
    problem p = problem_new(&r, false);
    double *b = test_alloc(COLUMNS * N, sizeof *b), *x = test_alloc(COLUMNS * N, sizeof *x);
    for (int i = 0; i < COLUMNS * N; ++i) b[i] = rng_unit(&r);
    canceller c = {0};
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = count_progress, .user = &c};
    saddle_solver *solver = create("method=direct", &hooks);
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_factor(solver, &p.A), SADDLE_OK);
    c.calls = 0;
    assert_int_equal(saddle_solve(solver, COLUMNS, b, N, x, N, &info), SADDLE_OK);
    assert_true(c.calls > 2);
    c = (canceller){.cancel_at = 1};
    assert_int_equal(saddle_solve(solver, COLUMNS, b, N, x, N, &info), SADDLE_CANCELLED);
    assert_int_equal(c.calls, 1);
    assert_int_equal(info.reason, SADDLE_REASON_CANCELLED);
    assert_false(info.converged);
    assert_contains(info.message, "of 200 right-hand sides");
    assert_true(relative_residual_of(&p.d, b, x) <= 1e-9);
    for (int i = 0; i < N; ++i) assert_true(x[(COLUMNS - 1) * N + i] == 0);
    saddle_destroy(&solver);
    free(b);
    free(x);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_may_run_at_once_with_the_same_bits),
        cmocka_unit_test(cancelling_works_at_every_report),
        cmocka_unit_test(a_cancelled_solve_begins_no_further_columns),
        cmocka_unit_test(every_stage_ends_with_all_done),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_memory_limit_holds_at_every_value),
        cmocka_unit_test(powers_of_two_change_nothing_but_the_scale),
        cmocka_unit_test(a_permuted_system_has_the_permuted_answer),
        cmocka_unit_test(every_view_of_a_matrix_has_one_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
