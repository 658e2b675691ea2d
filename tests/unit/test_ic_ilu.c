/* Methods ic and ilu through the solver: what M is, how its triangular solves are done, and what happens
 * where factorizations break down and sweeps diverge. */
#include "whole_again.h"

#include <stdarg.h>

enum { N = 60 };

static const char *const devices[] = {"reference", "cpu"};

static saddle_info run(const dense *d, bool symmetric, const double *b, double *x, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Method ic or ilu with options "name=text,...". */
static saddle_info run(const dense *d, bool symmetric, const double *b, double *x, const char *format, ...)
{
    char options[400];
    const int used = snprintf(options, sizeof options, "method=%s,", symmetric ? "ic" : "ilu");
    va_list args;
    va_start(args, format);
    vsnprintf(options + used, sizeof options - (size_t)used, format, args);
    va_end(args);
    return solve_dense(d, symmetric ? SADDLE_LOWER : SADDLE_GENERAL, b, x, options);
}

static void random_vector(rng *r, double *b)
{
    for (int i = 0; i < N; ++i) b[i] = rng_unit(r);
}

static dense problem(rng *r, bool symmetric)
{
    return symmetric ? symmetric_problem(r, N, true) : unsymmetric_problem(r, N);
}

/* With all fill M is A: krylov none gives its inverse, by elimination or by enough sweeps of any kind. */
static void complete_factors_are_those_of_A(void **state)
{
    (void)state;
    static const char *const how[] = {"trisolve=exact", "trisolve=jacobi,trisolve_sweeps=60",
                                      "trisolve=block-jacobi,trisolve_sweeps=60", "fill=tau:0,fill_most=100",
                                      "setup=sweeps,sweeps=200"};
    rng r = rng_start(__func__);
    for (int k = 0; k < 5 * 2 * 2; ++k) {
        const bool symmetric = k % 2;
        dense d = problem(&r, symmetric);
        double b[N], x[N];
        random_vector(&r, b);
        run(&d, symmetric, b, x, "krylov=none,device=%s,%s%s", devices[k / 2 % 2],
            k / 4 == 3 ? "" : "level=60,", how[k / 4]);
        const double residual = relative_residual_of(&d, b, x);
        if (!(residual <= 1e-10)) fail_msg("%s: residual %g", how[k / 4], residual);
        dense_free(&d);
    }
}

/* Sweeps make an application that CG can work with, on every blocking. */
static void every_kind_of_solve_preconditions(void **state)
{
    (void)state;
    static const char *const how[] = {
        "trisolve=exact",
        "trisolve=jacobi,trisolve_sweeps=3",
        "trisolve=block-jacobi,trisolve_sweeps=3",
        "trisolve=jacobi",
        "trisolve=block-jacobi",
        "trisolve=auto",
        "tune=on",
        "level=2",
        "fill=tau:0.05",
        "fill=tau:0.05,setup=sweeps",
        "setup=sweeps",
        "precision=mixed",
        "factor_precision=single",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=grid",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=clusters",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=supervariables",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=cosine",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=priority",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=priority-dynamic",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=metis",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=pablo",
        "trisolve=block-jacobi,trisolve_sweeps=2,blocking=adjacent,block_size=3"};
    enum { WAYS = sizeof how / sizeof how[0] };
    rng r = rng_start(__func__);
    for (int k = 0; k < WAYS * 2 * 2; ++k) {
        const bool symmetric = k % 2;
        dense d = problem(&r, symmetric);
        double b[N], x[N];
        random_vector(&r, b);
        const saddle_info info =
            run(&d, symmetric, b, x, "stop=residual,device=%s,%s", devices[k / 2 % 2], how[k / 4]);
        if (info.status) fail_msg("%s: %s", how[k / 4], info.message);
        assert_true(relative_residual_of(&d, b, x) <= 1.1e-10);
        const bool varies = info.trisolve_sweeps == 0;
        assert_int_equal(info.krylov, symmetric ? varies ? SADDLE_KRYLOV_FCG : SADDLE_KRYLOV_CG
                                      : varies  ? SADDLE_KRYLOV_FGMRES
                                                : SADDLE_KRYLOV_GMRES);
        assert_true(info.shift == 0 && info.restarts == 0);
        assert_true(info.dominance > 0);
        dense_free(&d);
    }
}

static void threads_do_not_change_bits(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int k = 0; k < 8; ++k) {
        const bool symmetric = k % 2;
        dense d = problem(&r, symmetric);
        double b[N], x[3][N];
        random_vector(&r, b);
        for (int threads = 1; threads <= 3; ++threads)
            run(&d, symmetric, b, x[threads - 1], "threads=%d,level=%d,%s", threads, k / 4,
                k & 2 ? "trisolve=block-jacobi,trisolve_sweeps=4" : "trisolve=exact");
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_memory_equal(x[0], x[2], sizeof x[0]);
        dense_free(&d);
    }
}

/* L L' of an indefinite matrix is one of a matrix nearby, which info tells; MINRES goes on with it. */
static void a_breakdown_is_mended_and_told(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = symmetric_problem(&r, N, false);
    double b[N], x[N];
    random_vector(&r, b);
    const saddle_info info = run(&d, true, b, x, "stop=residual,tol=1e-8");
    assert_true(info.shift > 0);
    assert_true(info.restarts > 0);
    assert_int_equal(info.krylov, SADDLE_KRYLOV_MINRES);
    assert_true(info.converged);
    dense_free(&d);
}

static void negate(dense *d)
{
    for (int k = 0; k < d->n * d->n; ++k) d->a[k] = -d->a[k];
}

/* It was shifted until it was positive, and its factors were those of a diagonal matrix. */
static void a_negative_definite_matrix_is_not_shifted(void **state)
{
    (void)state;
    static const char *const how[] = {
        "level=0",         "level=2,scaling=none",       "fill=tau:0.05",
        "setup=sweeps",    "fill=tau:0.05,setup=sweeps", "trisolve=jacobi,trisolve_sweeps=3",
        "precision=mixed", "factor_precision=single"};
    rng r = rng_start(__func__);
    for (int k = 0; k < 8 * 2; ++k) {
        dense d = symmetric_problem(&r, N, true);
        double b[N], x[2][N];
        random_vector(&r, b);
        const saddle_info plus =
            run(&d, true, b, x[0], "krylov=minres,device=%s,%s", devices[k % 2], how[k / 2]);
        negate(&d);
        const saddle_info minus = run(&d, true, b, x[1], "device=%s,%s", devices[k % 2], how[k / 2]);
        if (!minus.converged) fail_msg("%s: %s", how[k / 2], minus.message);
        assert_int_equal(minus.krylov, SADDLE_KRYLOV_MINRES);
        assert_true(minus.shift == 0);
        assert_int_equal(minus.iterations, plus.iterations);
        assert_true(relative_residual_of(&d, b, x[1]) <= 1e-9);
        dense_free(&d);
    }
}

/* They are factored with the smallest shift, whichever sign the other rows have. */
static void rows_of_zeros_have_no_sign(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = symmetric_problem(&r, N, true);
    double b[N], x[2][N];
    random_vector(&r, b);
    for (int k = 0; k < N; ++k) dense_set(&d, 7, k, 0), dense_set(&d, k, 7, 0);
    b[7] = 0;
    saddle_info info[2];
    for (int k = 0; k < 2; ++k) {
        info[k] = run(&d, true, b, x[k], "krylov=minres");
        if (!info[k].converged) fail_msg("%s", info[k].message);
        negate(&d);
    }
    assert_true(info[0].shift > 0 && info[0].shift == info[1].shift);
    assert_int_equal(info[0].iterations, info[1].iterations);
    dense_free(&d);
}

/* M has the sign of A, for what does not ask for a positive one; CG tells that A is negative. */
static void ic_of_a_negative_definite_matrix_has_its_sign(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = symmetric_problem(&r, N, true);
    double b[N], x[N];
    random_vector(&r, b);
    negate(&d);
    run(&d, true, b, x, "level=60,krylov=none");
    assert_true(relative_residual_of(&d, b, x) <= 1e-10);
    static const char *const methods[] = {"refine", "sqmr", "gmres", "bicgstab", "minres"};
    for (int k = 0; k < 5; ++k) {
        const saddle_info info = run(&d, true, b, x, "level=60,krylov=%s", methods[k]);
        if (!info.converged) fail_msg("%s: %s", methods[k], info.message);
        if (info.iterations > 3) fail_msg("%s: %d iterations", methods[k], (int)info.iterations);
    }
    for (int k = 0; k < 2; ++k) {
        const saddle_info info = run(&d, true, b, x, "krylov=%s", k ? "fcg" : "cg");
        assert_int_equal(info.reason, SADDLE_REASON_NOT_POSITIVE);
        assert_contains(info.message, "minres");
    }
    const saddle_info varying = run(&d, true, b, x, "trisolve=jacobi");
    assert_true(varying.converged && varying.krylov == SADDLE_KRYLOV_FGMRES);
    dense_free(&d);
}

static void new_values_may_have_the_other_sign(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = symmetric_problem(&r, N, true);
    const saddle_options options = options_of("method=ic,level=1");
    saddle_solver *s = NULL;
    double b[N], x[N];
    random_vector(&r, b);
    assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
    for (int k = 0; k < 4; ++k) {
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        assert_int_equal(saddle_solve(s, 1, b, N, x, N, &info), SADDLE_OK);
        assert_true(info.shift == 0);
        assert_int_equal(info.krylov, k % 2 ? SADDLE_KRYLOV_MINRES : SADDLE_KRYLOV_CG);
        assert_true(relative_residual_of(&d, b, x) <= 1e-9);
        negate(&d);
        view_free(&A);
    }
    saddle_destroy(&s);
    dense_free(&d);
}

/* Auto took CG, since IC had not broken down, and ended where CG found A to be indefinite. */
static void an_indefinite_matrix_that_ic_factors_is_solved(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        saddle_krylov krylov;
    } ways[] = {{"fill=tau:1,fill_most=0", SADDLE_KRYLOV_MINRES},
                {"fill=tau:1,fill_most=0,precision=mixed", SADDLE_KRYLOV_MINRES},
                {"fill=tau:1,fill_most=0,trisolve=jacobi", SADDLE_KRYLOV_FGMRES}};
    rng r = rng_start(__func__);
    dense d = dense_new(N);
    double b[N], x[N];
    for (int i = 0; i < N; ++i) {
        dense_set(&d, i, i, 1.7);
        if (i > 0) dense_set(&d, i, i - 1, -1), dense_set(&d, i - 1, i, -1);
    }
    random_vector(&r, b);
    for (int k = 0; k < 3; ++k) {
        saddle_info info = run(&d, true, b, x, "%s", ways[k].options);
        if (!info.converged) fail_msg("%s: %s", ways[k].options, info.message);
        assert_int_equal(info.krylov, ways[k].krylov);
        assert_true(info.shift == 0);
        assert_true(relative_residual_of(&d, b, x) <= 1e-9);
        info = run(&d, true, b, x, "%s,maxiter=20", ways[k].options);
        assert_true(!info.converged && info.iterations <= 20);
        info = run(&d, true, b, x, "%s,krylov=%s", ways[k].options, k == 2 ? "fcg" : "cg");
        assert_int_equal(info.reason, SADDLE_REASON_NOT_POSITIVE); /* as it was asked for */
    }
    dense_free(&d);
}

/* Where every diagonal entry is 0, matched entries take its place. */
static void ilu_brings_matched_entries_to_the_diagonal(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense from = unsymmetric_problem(&r, N), d = dense_new(N);
    double b[N], x[N];
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            if (from.there[i * N + j]) dense_set(&d, (i + 7) % N, j, dense_at(&from, i, j));
    random_vector(&r, b);
    const saddle_info info = run(&d, false, b, x, "stop=residual");
    assert_true(info.converged);
    assert_true(info.shift == 0);
    dense_free(&from);
    dense_free(&d);
}

/* 1 on the diagonal and -2 below: (I - L)^k grows as 2^k before it is 0. */
static dense far_from_normal(int n)
{
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) {
        dense_set(&d, i, i, 1);
        if (i > 0) dense_set(&d, i, i - 1, -2);
    }
    return d;
}

static void sweeps_that_diverge_are_found_out(void **state)
{
    (void)state;
    enum { ROWS = 53 }; /* x has 53 bits */
    dense d = far_from_normal(ROWS);
    double b[N], x[N] = {0};
    for (int i = 0; i < N; ++i) b[i] = 1;
    const char *const list =
        "order=natural,scaling=none,pairs=off,trisolve=jacobi,trisolve_sweeps=50,tol=1e-6";
    saddle_info info = run(&d, false, b, x, "%s", list);
    assert_true(info.converged && info.fallback);
    assert_int_equal(info.trisolve, SADDLE_TRISOLVE_EXACT);
    info = run(&d, false, b, x, "%s,fallback=none", list);
    assert_int_equal(info.status, SADDLE_NOT_CONVERGED);
    assert_contains(info.message, "diverge");
    info = run(&d, false, b, x,
               "order=natural,scaling=none,pairs=off,trisolve=block-jacobi,"
               "trisolve_sweeps=12,blocking=adjacent,block_size=32,fallback=none,tol=1e-6");
    if (!info.converged) fail_msg("%s", info.message); /* two blocks: two sweeps are exact */
    dense_free(&d);
}

/* L or U of it, or L and L', is bidiagonal, with 1 on the diagonal and these entries beside it. */
static dense of_chains(const double *beside, int kind)
{
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) {
        const double before = i > 0 ? beside[i] : 0;
        dense_set(&d, i, i, kind == 2 ? 1 + before * before : 1);
        if (i == 0) continue;
        if (kind != 1) dense_set(&d, i, i - 1, before);
        if (kind != 0) dense_set(&d, i - 1, i, before);
    }
    return d;
}

/* They did not overflow, and iterations went on with something far from the factors. */
static void sweeps_that_leave_a_large_residual_are_not_used(void **state)
{
    (void)state;
    static const struct {
        int sweeps;
        bool scaled, used; /* a chain that grows, or one that only begins with a large entry */
    } cases[] = {{1, false, true},   {4, false, true}, {8, false, false}, {0, false, true},
                 {12, false, false}, {1, true, true},  {8, true, true}};
    double b[N], x[N], beside[N];
    for (int k = 0; k < 7 * 3; ++k) {
        const int kind = k / 7, sweeps = cases[k % 7].sweeps;
        for (int i = 0; i < N; ++i)
            beside[i] = !cases[k % 7].scaled ? i % 16 > 0 ? -2 : 0 : i == 1 ? 1e4 : -1;
        dense d = of_chains(beside, kind);
        for (int i = 0; i < N; ++i) b[i] = 1;
        char list[160];
        snprintf(list, sizeof list,
                 "order=natural,scaling=none%s,tol=1e-6,trisolve=jacobi,trisolve_sweeps=%d",
                 kind == 2 ? "" : ",pairs=off", sweeps);
        saddle_info info = run(&d, kind == 2, b, x, "%s", list);
        assert_int_equal(info.shift, 0);
        assert_int_equal(info.fallback, !cases[k % 7].used);
        assert_int_equal(info.trisolve, info.fallback ? SADDLE_TRISOLVE_EXACT : SADDLE_TRISOLVE_JACOBI);
        if (info.fallback && !(info.trisolve_residual > 100 && info.converged))
            fail_msg("%s: residual %g, %s", list, info.trisolve_residual, info.message);
        info = run(&d, kind == 2, b, x, "%s,fallback=none,maxiter=1", list);
        if (cases[k % 7].used) {
            assert_int_equal(info.fallback, 0);
        } else {
            char expected[40];
            snprintf(expected, sizeof expected, "%d sweeps are far off", sweeps);
            assert_int_equal(info.status, SADDLE_NOT_CONVERGED);
            assert_contains(info.message, expected);
            assert_contains(info.message, "trisolve exact");
        }
        dense_free(&d);
    }
}

/* L is done after one sweep, U is not for long. */
static void each_triangle_of_ilu_takes_the_sweeps_that_it_needs(void **state)
{
    (void)state;
    dense d = dense_new(N);
    double b[N], x[N];
    for (int i = 0; i < N; ++i) {
        dense_set(&d, i, i, 1);
        if (i > 0) dense_set(&d, i - 1, i, -0.9);
        b[i] = 1;
    }
    for (int blocks = 0; blocks < 2; ++blocks) {
        const saddle_info info = run(&d, false, b, x, "order=natural,scaling=none,pairs=off,trisolve=%s",
                                     blocks ? "block-jacobi,block_size=2" : "jacobi");
        assert_true(info.converged);
        assert_int_equal(info.trisolve_sweeps, 0);
        if (info.iterations > 8) fail_msg("%d iterations", (int)info.iterations);
    }
    dense_free(&d);
}

/* A beam that is clamped at both ends: cubic elements of length 1, a displacement and a slope at each node.
 * Between the two of a node A has a zero, which IC(0) leaves one, and then it breaks down. */
static dense clamped_beam(void)
{
    static const double element[4][4] = {{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            double sum = 0;
            for (int first = i - i % 2 - 2; first <= i;
                 first += 2) /* of the elements that row i is part of */
                if (j >= first && j < first + 4) sum += element[i - first][j - first];
            if (sum != 0) dense_set(&d, i, j, sum);
        }
    }
    return d;
}

/* By sweeps as by elimination: few, which have not converged, and many; on a pattern that is found, too. */
static void stiffness_that_breaks_down_gets_a_shift(void **state)
{
    (void)state;
    static const char *const how[] = {"setup=exact", "setup=sweeps,sweeps=3", "setup=sweeps,sweeps=40",
                                      "setup=sweeps,sweeps=3,fill=tau:0.1"};
    dense d = clamped_beam();
    double b[N], x[N];
    for (int i = 0; i < N; ++i) b[i] = 1;
    for (int k = 0; k < 4; ++k) {
        const saddle_info info = run(&d, true, b, x, "krylov=cg,stop=residual,tol=1e-8,%s", how[k]);
        if (!info.converged) fail_msg("%s: %s", how[k], info.message);
        if (!(info.restarts > 0)) fail_msg("%s: no shift", how[k]);
        assert_true(info.shift == ldexp(1e-3, (int)info.restarts - 1));
        assert_int_equal(info.sweeps > 0, k > 0);
        if (k > 0) assert_true(info.pattern_residual <= 0.2);
        assert_true(relative_residual_of(&d, b, x) <= 1.1e-8);
    }
    const saddle_info complete = run(&d, true, b, x, "krylov=none,level=1");
    assert_true(complete.shift == 0); /* with that entry nothing is missing */
    assert_true(relative_residual_of(&d, b, x) <= 1e-8);
    dense_free(&d);
}

/* Factors of new values in the old memory, as if they had been the first. */
static void refactoring_gives_the_bits_of_factoring(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int k = 0; k < 8; ++k) {
        const bool symmetric = k % 2;
        dense d = problem(&r, symmetric);
        char list[200];
        snprintf(list, sizeof list, "method=%s,scaling=none,%s", symmetric ? "ic" : "ilu",
                 k / 2 == 0   ? "level=1"
                 : k / 2 == 1 ? "trisolve=block-jacobi,trisolve_sweeps=3"
                 : k / 2 == 2 ? "trisolve=jacobi,trisolve_sweeps=3"
                              : "setup=sweeps");
        const saddle_options options = options_of(list);
        double b[N], x[2][N];
        random_vector(&r, b);
        saddle_matrix A = view_plain(&d, symmetric ? SADDLE_LOWER : SADDLE_GENERAL);
        for (int again = 0; again < 2; ++again) {
            saddle_solver *s = NULL;
            double *values = (double *)(uintptr_t)A.values;
            assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
            for (int64_t i = 0; again && i < A.entries; ++i) values[i] *= 2;
            if (again) assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
            for (int64_t i = 0; again && i < A.entries; ++i) values[i] /= 2;
            assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
            assert_int_equal(saddle_solve(s, 1, b, N, x[again], N, NULL), SADDLE_OK);
            saddle_destroy(&s);
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        view_free(&A);
        dense_free(&d);
    }
}

/* Scales that bring a huge or tiny matrix to 1 are beyond the range of single: no vector may be. */
static void matrices_of_any_size_are_solved_with_factors_in_single(void **state)
{
    (void)state;
    static const char *const how[] = {"precision=mixed", "factor_precision=single",
                                      "precision=mixed,scaling=mc64", "precision=mixed,scaling=none"};
    static const int sizes[] = {-990, -300, 300, 990};
    rng r = rng_start(__func__);
    for (int k = 0; k < 4 * 4 * 2 * 2; ++k) {
        const bool symmetric = k % 2;
        dense d = problem(&r, symmetric);
        double b[N], x[N];
        random_vector(&r, b);
        for (int i = 0; i < N * N; ++i) d.a[i] = ldexp(d.a[i], sizes[k / 4 % 4]);
        const saddle_info info =
            run(&d, symmetric, b, x, "stop=residual,device=%s,%s", devices[k / 2 % 2], how[k / 16]);
        if (!info.converged) fail_msg("2^%d, %s: %s", sizes[k / 4 % 4], how[k / 16], info.message);
        dense_free(&d);
    }
}

static void a_solver_is_whole_again_after_a_failed_allocation(void **state)
{
    (void)state;
    static const char *const how[] = {"level=1", "fill=tau:0.02", "setup=sweeps",
                                      "setup=sweeps,fill=tau:0.02",
                                      "trisolve=block-jacobi,trisolve_sweeps=3"};
    rng r = rng_start(__func__);
    for (int k = 0; k < 5 * 2; ++k) {
        const bool symmetric = k % 2;
        dense d = problem(&r, symmetric);
        saddle_matrix A = view_plain(&d, symmetric ? SADDLE_LOWER : SADDLE_GENERAL);
        double b[N];
        char list[200];
        random_vector(&r, b);
        snprintf(list, sizeof list, "method=%s,tol=1e-8,%s", symmetric ? "ic" : "ilu", how[k / 2]);
        assert_whole_again(&A, b, list, !strstr(list, "tau")); /* a pattern that was found stays */
        view_free(&A);
        dense_free(&d);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = unsymmetric_problem(&r, N);
    double b[N], x[N] = {0};
    random_vector(&r, b);
    saddle_info info = solve_dense(&d, SADDLE_GENERAL, b, x, "method=ic");
    assert_int_equal(info.status, SADDLE_NOT_SUPPORTED);
    assert_contains(info.message, "ilu");
    info = run(&d, false, b, x, "trisolve=block-jacobi,blocking=none");
    assert_int_equal(info.status, SADDLE_BAD_OPTION);
    assert_contains(info.message, "blocking");
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_factors_are_those_of_A),
        cmocka_unit_test(every_kind_of_solve_preconditions),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(a_breakdown_is_mended_and_told),
        cmocka_unit_test(a_negative_definite_matrix_is_not_shifted),
        cmocka_unit_test(rows_of_zeros_have_no_sign),
        cmocka_unit_test(ic_of_a_negative_definite_matrix_has_its_sign),
        cmocka_unit_test(new_values_may_have_the_other_sign),
        cmocka_unit_test(an_indefinite_matrix_that_ic_factors_is_solved),
        cmocka_unit_test(ilu_brings_matched_entries_to_the_diagonal),
        cmocka_unit_test(sweeps_that_diverge_are_found_out),
        cmocka_unit_test(sweeps_that_leave_a_large_residual_are_not_used),
        cmocka_unit_test(each_triangle_of_ilu_takes_the_sweeps_that_it_needs),
        cmocka_unit_test(stiffness_that_breaks_down_gets_a_shift),
        cmocka_unit_test(refactoring_gives_the_bits_of_factoring),
        cmocka_unit_test(matrices_of_any_size_are_solved_with_factors_in_single),
        cmocka_unit_test(a_solver_is_whole_again_after_a_failed_allocation),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
