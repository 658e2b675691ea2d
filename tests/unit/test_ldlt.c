/* Block LDL' through the solver: methods ldlt and jacobi. */
#include "solving.h"

#include "failing_allocator.h"
#include "inside.h"

#include <limits.h>

/* [D B'; B 0] with some of D zero: pivots must be 2x2, and pairs kept. */
static dense kkt_problem(rng *r, int variables, int constraints)
{
    const int n = variables + constraints;
    dense d = dense_new(n);
    for (int i = 0; i < variables; ++i) dense_set(&d, i, i, 0.5 + fabs(rng_unit(r)));
    for (int k = 0; k < constraints; ++k) {
        if (rng_below(r, 3) > 0) dense_set(&d, k * variables / constraints, k * variables / constraints, 0);
        for (int q = 0; q < 3; ++q) {
            const int j = q == 0 ? k * variables / constraints : rng_below(r, variables);
            const double value = q == 0 ? 1.5 : rng_unit(r);
            dense_set(&d, variables + k, j, value);
            dense_set(&d, j, variables + k, value);
        }
    }
    return d;
}

static void fill_random(rng *r, int n, double *b)
{
    for (int i = 0; i < n; ++i) b[i] = rng_unit(r);
}

enum { N = 180 };

#define LDLT_WEAK                                                                                            \
    "method=ldlt,fill=none,scaling=none,pairs=off,order=natural,blocking=grid,block_size=1,push_back=off"

/* With all its fill the factorization is that of A, whatever the blocks and the pivots: one application
 * solves. */
static void all_fill_is_a_factorization(void **state)
{
    (void)state;
    static const char *const pivots[] = {"bunch-kaufman", "static", "complete"};
    static const char *const devices[] = {"reference", "cpu"};
    rng r = rng_start(__func__);
    double b[N], x[N];
    char options[200];
    for (int trial = 0; trial < 12; ++trial) {
        dense d = trial % 2 ? symmetric_problem(&r, N, false) : kkt_problem(&r, 2 * N / 3, N / 3);
        fill_random(&r, N, b);
        snprintf(
            options, sizeof options,
            "method=ldlt,fill=tau:0,krylov=none,tol=1,pivot=%s,device=%s,block_size=%d,check=on,threads=%d",
            pivots[trial % 3], devices[trial / 3 % 2], 2 + 5 * (trial % 7), 1 + trial % 2);
        const saddle_info info = solve_dense(&d, SADDLE_LOWER, b, x, options);
        assert_true(info.backward_error <= 1e-9);
        if (info.perturbed == 0) {
            assert_true(info.reconstruction_error <= 1e-10);
            assert_true(info.pattern_residual <= 1e-10);
        }
        assert_true(info.levels >= 1 && info.blocks >= 1 && info.factor_nnz > 0);
        dense_free(&d);
    }
}

/* The less is dropped the nearer the factors are to A; what is stored grows. */
static void thresholds_order_the_factors(void **state)
{
    (void)state;
    static const char *const fills[] = {"none", "level:1", "level:3", "tau:0.1", "tau:0.001", "tau:0"};
    enum { FILLS = sizeof fills / sizeof fills[0] };
    rng r = rng_start(__func__);
    double b[N], x[N];
    char options[200];
    dense d = symmetric_problem(&r, N, false);
    saddle_info info[FILLS];
    fill_random(&r, N, b);
    for (int k = 0; k < FILLS; ++k) {
        snprintf(options, sizeof options, "method=ldlt,fill=%s,block_size=4,check=on,push_back=off",
                 fills[k]);
        info[k] = solve_dense(&d, SADDLE_LOWER, b, x, options);
        assert_int_equal(info[k].status, SADDLE_OK);
    }
    for (int k = 0; k < FILLS; ++k) {
        assert_true(info[k].factor_nnz <= info[FILLS - 1].factor_nnz);
        assert_true(info[k].reconstruction_error >= info[FILLS - 1].reconstruction_error);
    }
    assert_true(info[0].factor_nnz <= info[1].factor_nnz && info[1].factor_nnz <= info[2].factor_nnz);
    assert_true(info[3].factor_nnz <= info[4].factor_nnz);
    assert_true(isnan(info[0].fill_tau) && info[3].fill_tau == 0.1);
    dense_free(&d);
}

/* Enough sweeps, in either order, are the exact schedule. */
static void sweeps_end_at_the_exact_factors(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    double b[N], x[N], exact[N];
    for (int trial = 0; trial < 6; ++trial) {
        dense d = trial % 2 ? symmetric_problem(&r, N, false) : kkt_problem(&r, 2 * N / 3, N / 3);
        fill_random(&r, N, b);
        solve_dense(&d, SADDLE_LOWER, b, exact,
                    "method=ldlt,fill=none,krylov=none,tol=1,push_back=off,small_pivot=1e-8");
        static const char *const orders[] = {"row", "block"};
        for (int k = 0; k < 2; ++k) {
            char options[200];
            snprintf(
                options, sizeof options,
                "method=jacobi,sweeps=200,sweep_order=%s,krylov=none,tol=1,push_back=off,small_pivot=1e-8",
                orders[k]);
            const saddle_info info = solve_dense(&d, SADDLE_LOWER, b, x, options);
            double largest = 0, apart = 0;
            for (int i = 0; i < N; ++i) {
                largest = fmax(largest, fabs(exact[i]));
                apart = fmax(apart, fabs(exact[i] - x[i]));
            }
            assert_int_equal(info.fallback, 0);
            assert_int_equal(info.sweeps_exact, 1);
            assert_true(info.sweeps > 1 && info.sweeps < 200); /* as many as it took, not those asked for */
            assert_true(info.pattern_residual <= 1e-8);
            assert_true(apart <= 1e-6 * largest);
        }
        dense_free(&d);
    }
}

/* Sweeps that diverge are told, and replaced by the exact schedule unless that is forbidden. */
static void divergence_is_detected(void **state)
{
    (void)state;
    enum { M = 60 };
    double b[M], x[M];
    dense d = dense_new(M); /* a chain with large couplings: many levels in its own order, and not dominant */
    for (int i = 0; i < M; ++i) {
        dense_set(&d, i, i, i % 2 ? -1 : 1);
        for (int step = 1; step <= 3 && i + step < M; ++step) {
            dense_set(&d, i, i + step, 0.9);
            dense_set(&d, i + step, i, 0.9);
        }
        b[i] = 1;
    }
    const char *const common =
        "method=jacobi,sweeps=6,sweep_order=block,scaling=none,pairs=off,order=natural,"
        "blocking=grid,block_size=1,push_back=off";
    char options[300];
    snprintf(options, sizeof options, "%s,fallback=none", common);
    const saddle_info swept = solve_dense(&d, SADDLE_LOWER, b, x, options);
    assert_true(!(swept.pattern_residual <= 1e-2));
    assert_int_equal(swept.fallback, 0);
    assert_int_equal(swept.sweeps, 6);
    assert_int_equal(swept.sweeps_exact, 0);
    const saddle_info exact = solve_dense(&d, SADDLE_LOWER, b, x, common);
    assert_int_equal(exact.fallback, 1);
    dense_free(&d);
}

/* Solved the same, to the last bit, at any number of threads, and again with the same values. */
static void the_same_bits_at_any_number_of_threads(void **state)
{
    (void)state;
    enum { M = 900 };
    rng r = rng_start(__func__);
    static double b[M], first[M], x[M];
    const int n = is_slow() ? M / 3 : M;
    dense d = kkt_problem(&r, 2 * n / 3, n / 3);
    fill_random(&r, n, b);
    static const char *const methods[] = {"method=ldlt", "method=jacobi", "method=ldlt,trisolve=block-jacobi",
                                          "method=ldlt,trisolve=jacobi"};
    for (int k = 0; k < 4; ++k) {
        for (int threads = 1; threads <= 3; ++threads) {
            char options[200];
            snprintf(options, sizeof options, "%s,block_size=4,threads=%d", methods[k], threads);
            solve_dense(&d, SADDLE_LOWER, b, threads == 1 ? first : x, options);
            if (threads > 1) assert_memory_equal(first, x, (size_t)n * sizeof *x);
        }
    }
    dense_free(&d);
}

/* New values on the same pattern: as if it were the first time, to rounding; and a plan that no longer fits
 * is made again. */
static void new_values_take_the_plan_that_is_there(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    double b[N], x[N];
    dense d = kkt_problem(&r, 2 * N / 3, N / 3);
    const saddle_options options = options_of("method=ldlt,fill=tau:1e-3");
    saddle_solver *solver;
    saddle_info info = saddle_info_default();
    int64_t nnz = 0;
    fill_random(&r, N, b);
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < N; ++i)
            for (int j = 0; j <= i; ++j)
                if (d.there[i * N + j] && round == 3) /* values of another kind altogether */
                    dense_set(&d, i, j, i == j ? 1e-12 : dense_at(&d, i, j) * pow(10, 4 * rng_unit(&r)));
                else if (d.there[i * N + j])
                    dense_set(&d, i, j, dense_at(&d, i, j) * (1 + 0.1 * rng_unit(&r)));
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < i; ++j)
                if (d.there[i * N + j]) dense_set(&d, j, i, dense_at(&d, i, j));
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        const saddle_status status = saddle_solve(solver, 1, b, N, x, N, &info);
        if (round < 3) {
            assert_int_equal(status, SADDLE_OK);
            assert_true(relative_residual_of(&d, b, x) <= 1e-9 || info.componentwise_error <= 1e-9);
        }
        assert_true(info.factor_nnz > 0 && info.levels > 0);
        assert_int_equal(info.replanned, round == 3);
        assert_int_equal(round > 0 && info.factor_nnz != nnz,
                         round == 3); /* another pattern is another plan */
        nnz = info.factor_nnz;
        view_free(&A);
    }
    saddle_destroy(&solver);
    dense_free(&d);
}

enum { MANY = 600, WEAK = 6 };

/* A few rows first whose pivots vanish or are small: fewer than make a plan stale. */
static dense weak_rows_first(rng *r)
{
    dense d = symmetric_problem(r, MANY, true);
    for (int i = 0; i < WEAK; ++i) {
        for (int j = 0; j < MANY; ++j) {
            if (!d.there[i * MANY + j]) continue;
            const double value = i == j ? (i % 2 ? 1e-6 : 1e-12) : j < WEAK ? 0 : 0.1;
            dense_set(&d, i, j, value);
            dense_set(&d, j, i, value);
        }
    }
    return d;
}

/* Where the larger threshold for small pivots was taken it stays with the plan: the same values again move
 * the same pivots, more than the smaller one would. */
static void a_plan_keeps_the_threshold_that_it_was_made_with(void **state)
{
    static const char *const options[] = {LDLT_WEAK, LDLT_WEAK, LDLT_WEAK ",small_pivot=1e-8"};
    (void)state;
    rng r = rng_start(__func__);
    int larger = 0;
    for (int round = 0; round < 2; ++round) {
        dense d = weak_rows_first(&r);
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        saddle_solver *solver = NULL;
        int64_t moved[3];
        for (int k = 0; k < 3; ++k) {
            const saddle_options o = options_of(options[k]);
            saddle_info info = saddle_info_default();
            if (k != 1) saddle_destroy(&solver);
            if (k != 1) assert_int_equal(saddle_create(&solver, &o, NULL, NULL), SADDLE_OK);
            assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
            assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
            moved[k] = info.perturbed;
        }
        assert_int_equal(moved[0], moved[1]);
        larger += moved[0] > moved[2];
        saddle_destroy(&solver);
        view_free(&A);
        dense_free(&d);
    }
    assert_true(larger > 0);
}

static int cancel_later(const saddle_progress *where, void *user)
{
    int *left = user;
    (void)where;
    return --*left < 0;
}

/* The first factorization and the one on a known pattern: wherever it is, the caller can end it, and begin
 * again. */
static void factorizations_can_be_cancelled(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = kkt_problem(&r, 2 * N / 3, N / 3);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const saddle_options options = options_of("method=ldlt,fill=tau:1e-6,block_size=2");
    int left = INT_MAX, looks[2];
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = cancel_later, .user = &left};
    saddle_solver *solver;
    assert_int_equal(saddle_create(&solver, &options, &hooks, NULL), SADDLE_OK);
    assert_int_equal(saddle_analyse(solver, &A), SADDLE_OK);
    for (int again = 0; again < 2; ++again) {
        left = INT_MAX;
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        looks[again] = INT_MAX - left;
        for (int k = 0; again && k < looks[again]; ++k) {
            left = k;
            assert_int_equal(saddle_factor(solver, &A), SADDLE_CANCELLED);
        }
    }
    assert_true(looks[1] > 3); /* more than those of every factorization */
    left = INT_MAX;
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

static saddle_status factor_within(const saddle_matrix *A, const char *list, int64_t bytes)
{
    saddle_options o = options_of(list);
    saddle_solver *solver;
    o.max_memory = bytes;
    saddle_status status = saddle_create(&solver, &o, NULL, NULL);
    if (!status) status = saddle_factor(solver, A);
    saddle_destroy(&solver);
    return status;
}

/* The second threshold is tried where there is room for it: what can be factored with one is factored. */
static void a_second_threshold_needs_no_more_memory(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = weak_rows_first(&r);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    int refused = 0, done = 0;
    for (int64_t bytes = 100000; bytes < 2000000; bytes += bytes / (is_slow() ? 6 : 30)) {
        const saddle_status one = factor_within(&A, LDLT_WEAK ",small_pivot=1e-8", bytes);
        const saddle_status two = factor_within(&A, LDLT_WEAK, bytes);
        assert_true(one == SADDLE_OK || one == SADDLE_MEMORY_LIMIT);
        assert_int_equal(one, two);
        refused += one != SADDLE_OK;
        done += one == SADDLE_OK;
    }
    assert_true(refused > 0 && done > 0);
    view_free(&A);
    dense_free(&d);
}

/* `auto` begins the next factorization with the threshold that sufficed, and that wants a plan of its own. */
static void another_threshold_makes_another_plan(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = kkt_problem(&r, 2 * N / 3, N / 3);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    const saddle_options options = options_of("method=ldlt,fill=tau:0.5");
    const sd_strength stronger = {.tau = 1e-6};
    saddle_info info = saddle_info_default();
    saddle_solver *solver;
    bool given_up;
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    const int64_t few = solver->info.factor_nnz;
    const sd_problem p = sd_problem_of(solver);
    const sd_work *work = sd_find_work(solver, &sd_method_ldlt);
    void *factors = work->factors;
    assert_int_equal(work->method->refactor(&solver->e, &p, work->plan, &stronger, &factors, &given_up),
                     SADDLE_OK);
    work->method->report(factors, &info);
    assert_true(info.factor_nnz > few);
    assert_true(info.fill_tau == 1e-6);
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

/* Factors in single, all else in double: the accuracy is that of double, on values that were found and on
 * those of a plan, by levels and by sweeps. Rows whose scaling leaves the range of single keep them in
 * double. */
static void factors_in_single_serve_a_double_iteration(void **state)
{
    (void)state;
    static const char *const how[] = {"", ",device=reference", ",trisolve=block-jacobi", ",trisolve=jacobi",
                                      ",krylov=sqmr"};
    rng r = rng_start(__func__);
    double b[N], x[N];
    char options[100];
    dense d = kkt_problem(&r, 2 * N / 3, N / 3);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    saddle_info info = saddle_info_default();
    fill_random(&r, N, b);
    for (size_t k = 0; k < sizeof how / sizeof how[0]; ++k) {
        saddle_solver *solver;
        snprintf(options, sizeof options, "method=ldlt,factor_precision=single,tol=1e-13%s", how[k]);
        const saddle_options o = options_of(options);
        assert_int_equal(saddle_create(&solver, &o, NULL, NULL), SADDLE_OK);
        for (int round = 0; round < 2; ++round) {
            assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
            assert_int_equal(saddle_solve(solver, 1, b, N, x, N, &info), SADDLE_OK);
            assert_true(info.single_blocks == info.blocks && info.blocks > 1);
            assert_true(relative_residual_of(&d, b, x) <= 1e-12 || info.componentwise_error <= 1e-12);
        }
        saddle_destroy(&solver);
    }
    const int64_t bytes = info.factor_bytes;
    info = solve_dense(&d, SADDLE_LOWER, b, x, "method=ldlt,tol=1e-13");
    assert_true(info.single_blocks == 0 && info.factor_bytes > bytes);
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            if (d.there[i * N + j]) d.a[i * N + j] *= (i % 2 ? 1e-60 : 1) * (j % 2 ? 1e-60 : 1);
    info = solve_dense(&d, SADDLE_LOWER, b, x, "method=ldlt,factor_precision=single");
    assert_int_equal(info.single_blocks, 0);
    view_free(&A);
    dense_free(&d);
}

/* Values of another size on the plan that is there: what is scaled by powers of two follows them, and where
 * they leave the range of single precision so do the factors. */
static void values_of_any_size_take_the_plan(void **state)
{
    (void)state;
    static const char *const how[] = {"method=ldlt,factor_precision=single,tol=1e-12",
                                      "method=ldlt,precision=mixed",
                                      "method=ldlt,precision=single,krylov=refine,fill=tau:1e-6,tol=1e-5",
                                      "method=ldlt,krylov=refine,fill=tau:1e-6"};
    static const double size[] = {1, 1, 1024, 1e45, 1e-60, 1e200, 1};
    rng r = rng_start(__func__);
    double b[N], x[N];
    dense d = symmetric_problem(&r, N, true);
    fill_random(&r, N, b);
    for (size_t k = 0; k < sizeof how / sizeof how[0]; ++k) {
        const saddle_options options = options_of(how[k]);
        saddle_solver *solver;
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
        for (size_t s = 0; s < sizeof size / sizeof size[0]; ++s) {
            dense scaled = dense_new(N);
            for (int i = 0; i < N; ++i)
                for (int j = 0; j < N; ++j)
                    if (d.there[i * N + j]) dense_set(&scaled, i, j, size[s] * dense_at(&d, i, j));
            saddle_matrix A = view_plain(&scaled, SADDLE_LOWER);
            assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
            if (saddle_solve(solver, 1, b, N, x, N, &info))
                fail_msg("%s, values times %g: %s", how[k], size[s], info.message);
            view_free(&A);
            dense_free(&scaled);
        }
        saddle_destroy(&solver);
    }
    dense_free(&d);
}

/* The application is symmetric where symmetric iterations want it, and what is not is refused. */
static void symmetric_iterations_take_symmetric_applications(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    double b[N], x[N];
    dense d = kkt_problem(&r, 2 * N / 3, N / 3), p = symmetric_problem(&r, N, true);
    fill_random(&r, N, b);
    saddle_info info = solve_dense(&d, SADDLE_LOWER, b, x, "method=ldlt,krylov=sqmr");
    assert_int_equal(info.status, SADDLE_OK);
    info = solve_dense(&d, SADDLE_LOWER, b, x,
                       "method=ldlt,krylov=sqmr,trisolve=block-jacobi,trisolve_sweeps=40");
    assert_int_equal(info.status, SADDLE_OK);
    info = solve_dense(&d, SADDLE_LOWER, b, x, "method=ldlt,krylov=sqmr,trisolve=jacobi,trisolve_sweeps=100");
    assert_int_equal(info.status, SADDLE_OK);
    assert_int_equal(info.trisolve, SADDLE_TRISOLVE_JACOBI);
    static const char *const adaptive[] = {"method=ldlt,krylov=sqmr,trisolve=block-jacobi",
                                           "method=ldlt,krylov=sqmr,trisolve=jacobi"};
    for (int k = 0; k < 2; ++k) {
        info = solve_dense(&d, SADDLE_LOWER, b, x, adaptive[k]);
        assert_int_equal(info.reason, SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER);
    }
    info = solve_dense(&p, SADDLE_LOWER, b, x, "method=ldlt");
    assert_int_equal(info.status, SADDLE_OK);
    assert_int_equal(info.krylov, SADDLE_KRYLOV_CG);
    dense_free(&d);
    dense_free(&p);
}

/* They were refused by the solve, after all of the factorization. */
static void what_needs_positive_factors_is_refused_before_an_indefinite_matrix_is_factored(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    double b[N], x[N];
    static const char *const lists[] = {"method=ldlt,krylov=minres", "method=ldlt,krylov=cg",
                                        "method=jacobi,krylov=minres"};
    dense d = kkt_problem(&r, 2 * N / 3, N / 3), p = symmetric_problem(&r, N, true);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    fill_random(&r, N, b);
    for (int k = 0; k < 3; ++k) {
        const saddle_options options = options_of(lists[k]);
        saddle_solver *s = NULL;
        assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
        assert_int_equal(saddle_analyse(s, &A), SADDLE_BAD_OPTION);
        assert_int_equal(saddle_factor(s, &A), SADDLE_BAD_OPTION);
        assert_contains(saddle_message(s), "use krylov sqmr or fgmres");
        assert_null(sd_find_work(s, sd_method_of(options.method)));
        saddle_destroy(&s);
    }
    assert_int_equal(solve_dense(&p, SADDLE_LOWER, b, x, lists[0]).status, SADDLE_OK);
    /* the diagonal of this one, with eigenvalues 1.9, 1.9 and -0.8, does not show it */
    dense hidden = dense_from(3, (const double[]){1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1});
    const saddle_info info = solve_dense(&hidden, SADDLE_LOWER, b, x, lists[0]);
    assert_int_equal(info.reason, SADDLE_REASON_PRECONDITIONER);
    view_free(&A);
    dense_free(&d);
    dense_free(&p);
    dense_free(&hidden);
}

/* Blocks whose own matrix is singular go to the end, where they are not. */
static void singular_blocks_are_pushed_back(void **state)
{
    (void)state;
    enum { M = 64 };
    double b[M], x[M];
    dense d = dense_new(M);
    for (int i = 0; i < M; ++i) {
        if (i >= 8) dense_set(&d, i, i, 2);
        b[i] = i + 1;
        if (i + 8 < M) dense_set(&d, i, i + 8, 1), dense_set(&d, i + 8, i, 1);
    }
    const char *const common =
        "scaling=none,pairs=off,order=natural,blocking=grid,block_size=4,krylov=none,tol=1";
    char options[300];
    snprintf(options, sizeof options, "method=ldlt,fill=tau:0,%s", common);
    saddle_info info = solve_dense(&d, SADDLE_LOWER, b, x, options);
    assert_int_equal(info.pushed_back, 2);
    assert_int_equal(info.perturbed, 0);
    assert_true(info.backward_error <= 1e-14);
    snprintf(options, sizeof options, "method=ldlt,fill=tau:0,push_back=off,%s", common);
    info = solve_dense(&d, SADDLE_LOWER, b, x, options);
    assert_int_equal(info.pushed_back, 0);
    assert_true(info.perturbed >= 8);
    snprintf(options, sizeof options, "method=jacobi,sweeps=100,%s", common);
    info = solve_dense(&d, SADDLE_LOWER, b, x, options);
    assert_int_equal(info.pushed_back, 2);
    assert_int_equal(info.perturbed, 0);
    dense_free(&d);
}

static void sizes_and_odd_matrices(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    double b[40], x[40];
    static const char *const methods[] = {"ldlt", "jacobi", "ldlt,trisolve=jacobi"};
    for (int k = 0; k < 3; ++k) {
        char options[200];
        for (int n = 1; n <= 40; n += n < 4 ? 1 : 12) {
            dense d = symmetric_problem(&r, n, false);
            fill_random(&r, n, b);
            for (int size = 1; size <= 32; size += 31) {
                snprintf(options, sizeof options, "method=%s,block_size=%d", methods[k], size);
                assert_int_equal(solve_dense(&d, SADDLE_LOWER, b, x, options).status, SADDLE_OK);
            }
            dense_free(&d);
        }
        dense huge = symmetric_problem(&r, 20, false), zero = dense_new(6);
        for (int i = 0; i < 20; ++i)
            for (int j = 0; j < 20; ++j)
                if (huge.there[i * 20 + j]) dense_set(&huge, i, j, dense_at(&huge, i, j) * 1e200);
        fill_random(&r, 20, b);
        snprintf(options, sizeof options, "method=%s", methods[k]);
        assert_int_equal(solve_dense(&huge, SADDLE_LOWER, b, x, options).status, SADDLE_OK);
        snprintf(options, sizeof options, "method=%s,precision=mixed", methods[k]);
        assert_int_equal(solve_dense(&huge, SADDLE_LOWER, b, x, options).status, SADDLE_OK);
        for (int i = 0; i < 6; ++i) dense_set(&zero, i, i, 0);
        snprintf(options, sizeof options, "method=%s", methods[k]);
        assert_int_equal(solve_dense(&zero, SADDLE_LOWER, b, x, options).status, SADDLE_SINGULAR);
        dense unsymmetric = unsymmetric_problem(&r, 20);
        assert_int_equal(solve_dense(&unsymmetric, SADDLE_GENERAL, b, x, options).status,
                         SADDLE_NOT_SUPPORTED);
        dense_free(&huge);
        dense_free(&zero);
        dense_free(&unsymmetric);
    }
}

/* Every allocation fails in turn: a status, and nothing is lost. */
static void allocations_may_fail(void **state)
{
    (void)state;
    enum { M = 40 };
    rng r = rng_start(__func__);
    double b[M], x[M];
    dense d = kkt_problem(&r, 2 * M / 3 + 1, M / 3);
    fill_random(&r, M, b);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    static const char *const lists[] = {"method=ldlt,check=on", "method=jacobi,trisolve=jacobi"};
    for (int method = 0; method < 2; ++method) {
        const saddle_options options = options_of(lists[method]);
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_solver *solver = NULL;
            saddle_status status = saddle_create(&solver, &options, &hooks, NULL);
            if (!status) status = saddle_factor(solver, &A);
            if (!status) status = saddle_factor(solver, &A); /* on the plan that is there */
            if (!status) status = saddle_solve(solver, 1, b, M, x, M, NULL);
            saddle_destroy(&solver);
            assert_int_equal(f.live, 0);
            if (!f.failed) {
                assert_int_equal(status, SADDLE_OK);
                break;
            }
            assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
        }
    }
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fill_is_a_factorization),
        cmocka_unit_test(thresholds_order_the_factors),
        cmocka_unit_test(sweeps_end_at_the_exact_factors),
        cmocka_unit_test(divergence_is_detected),
        cmocka_unit_test(the_same_bits_at_any_number_of_threads),
        cmocka_unit_test(new_values_take_the_plan_that_is_there),
        cmocka_unit_test(a_plan_keeps_the_threshold_that_it_was_made_with),
        cmocka_unit_test(factorizations_can_be_cancelled),
        cmocka_unit_test(a_second_threshold_needs_no_more_memory),
        cmocka_unit_test(another_threshold_makes_another_plan),
        cmocka_unit_test(factors_in_single_serve_a_double_iteration),
        cmocka_unit_test(values_of_any_size_take_the_plan),
        cmocka_unit_test(symmetric_iterations_take_symmetric_applications),
        cmocka_unit_test(what_needs_positive_factors_is_refused_before_an_indefinite_matrix_is_factored),
        cmocka_unit_test(singular_blocks_are_pushed_back),
        cmocka_unit_test(sizes_and_odd_matrices),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
