/*
 * Applications of a block LDL' by levels, by sweeps over blocks and by sweeps over single entries: where they
 * agree, to the last bit or to rounding, and what must hold at any number of sweeps.
 */
#include "solving.h"

#include "inside.h"

enum { N = 150 };

/* A solver that has factored; its engine applies. */
static saddle_solver *factored(const dense *d, const char *list)
{
    const saddle_options options = options_of(list);
    saddle_matrix A = view_plain(d, SADDLE_LOWER);
    saddle_solver *s = NULL;
    assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    view_free(&A);
    return s;
}

/* z = M^-1 r with the factors of the solver. */
static void apply(saddle_solver *s, sd_trisolve how, const double *r, double *z)
{
    const sd_precision precision = ldlt_of(s)->m.factors.precision;
    const sd_two_triangles triangles = sd_ldlt_triangles(&ldlt_of(s)->m, how.kind);
    sd_swept m;
    assert_int_equal(sd_swept_make(&s->e, &triangles, how.sweeps, &m), SADDLE_OK);
    sd_vector from = sd_vector_new(&s->e, precision, s->A.n, "test"),
              to = sd_vector_new(&s->e, precision, s->A.n, "test");
    sd_vector_put(&s->e, r, &from);
    sd_swept_apply(&s->e, &m, &from, &to);
    sd_vector_get(&s->e, &to, z);
    assert_int_equal(s->e.status, SADDLE_OK);
    sd_vector_free(&s->e, &from);
    sd_vector_free(&s->e, &to);
    sd_swept_free(&s->e, &m);
}

static double largest_of(const double *x)
{
    double most = 0;
    for (int i = 0; i < N; ++i) most = fmax(most, fabs(x[i]));
    return most;
}

static double distance(const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < N; ++i) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Half of the diagonal is 0: blocks have 2x2 pivots. */
static dense pairs_problem(rng *r)
{
    dense d = symmetric_problem(r, N, false);
    for (int i = 0; i + 1 < N; i += 2 + rng_below(r, 3)) {
        dense_set(&d, i, i, 0);
        dense_set(&d, i, i + 1, 4);
        dense_set(&d, i + 1, i, 4);
    }
    return d;
}

static void fill_random(rng *r, double *b)
{
    for (int i = 0; i < N; ++i) b[i] = rng_unit(r);
}

/* As many sweeps as there are entries are the exact solve, over whatever they go; one is not; where
 * they end by themselves they are near it, unless the blocks cut pairs apart. */
static void enough_sweeps_are_the_exact_solve(void **state)
{
    (void)state;
    static const char *const devices[] = {"reference", "cpu"}, *const precisions[] = {"double", "single"};
    static const char *const pivots[] = {"bunch-kaufman", "static", "complete"};
    static const int sizes[] = {1, 2, 7, 8, 32};
    rng r = rng_start(__func__);
    double b[N], exact[N], x[N];
    char options[200];
    for (int trial = 0; trial < 20; ++trial) {
        dense d = pairs_problem(&r);
        fill_random(&r, b);
        snprintf(options, sizeof options,
                 "method=ldlt,fill=tau:%s,trisolve=jacobi,device=%s,precision=%s,block_size=%d,pivot=%s",
                 trial % 4 ? "1e-3" : "0.1", devices[trial % 2], precisions[trial / 2 % 2], sizes[trial % 5],
                 pivots[trial % 3]);
        saddle_solver *s = factored(&d, options);
        const double unit = trial / 2 % 2 ? 0x1p-24 : 0x1p-53;
        apply(s, (sd_trisolve){SD_TRISOLVE_EXACT, 0}, b, exact);
        apply(s, (sd_trisolve){SD_TRISOLVE_ENTRIES, N}, b, x);
        if (!(distance(x, exact) <= 1e5 * unit * largest_of(exact)))
            fail_msg("%s: %g apart, of %g", options, distance(x, exact), largest_of(exact));
        apply(s, (sd_trisolve){SD_TRISOLVE_BLOCKS, N}, b, x);
        assert_true(distance(x, exact) <= 1e5 * unit * largest_of(exact));
        apply(s, (sd_trisolve){SD_TRISOLVE_ENTRIES, 0}, b, x);
        if (sizes[trial % 5] > 1) assert_true(distance(x, exact) <= 0.1 * largest_of(exact));
        apply(s, (sd_trisolve){SD_TRISOLVE_ENTRIES, 1}, b, x);
        assert_true(distance(x, exact) > 1e-3 * largest_of(exact));
        saddle_destroy(&s);
        dense_free(&d);
    }
}

/* y' M^-1 x = x' M^-1 y at any number of sweeps. */
static void a_fixed_number_of_sweeps_is_symmetric(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    double x[N], y[N], of_x[N], of_y[N];
    for (int trial = 0; trial < 6; ++trial) {
        dense d = pairs_problem(&r);
        saddle_solver *s = factored(&d, trial % 2 ? "method=ldlt,trisolve=jacobi,block_size=5"
                                                  : "method=ldlt,trisolve=jacobi,fill=none,device=reference");
        for (int sweeps = 1; sweeps <= 6; ++sweeps) {
            for (sd_trisolve_kind kind = SD_TRISOLVE_BLOCKS; kind <= SD_TRISOLVE_ENTRIES; ++kind) {
                fill_random(&r, x);
                fill_random(&r, y);
                apply(s, (sd_trisolve){kind, sweeps}, x, of_x);
                apply(s, (sd_trisolve){kind, sweeps}, y, of_y);
                double one = 0, other = 0, size = 0;
                for (int i = 0; i < N; ++i) {
                    one += y[i] * of_x[i];
                    other += x[i] * of_y[i];
                    size += fabs(y[i] * of_x[i]) + fabs(x[i] * of_y[i]);
                }
                if (!(fabs(one - other) <= 1e-11 * size))
                    fail_msg("%d sweeps: %.17g and %.17g", sweeps, one, other);
            }
        }
        saddle_destroy(&s);
        dense_free(&d);
    }
}

/* A block of one row is an entry: but for rounding, as one of the two fuses a product with its sum. */
static void blocks_of_one_row_are_entries(void **state)
{
    (void)state;
    static const char *const devices[] = {"reference", "cpu"};
    rng r = rng_start(__func__);
    double b[N], x[N], y[N];
    char options[200];
    for (int trial = 0; trial < 4; ++trial) {
        dense d = symmetric_problem(&r, N, false);
        fill_random(&r, b);
        snprintf(options, sizeof options, "method=ldlt,trisolve=jacobi,block_size=1,device=%s",
                 devices[trial % 2]);
        saddle_solver *s = factored(&d, options);
        for (int sweeps = 1; sweeps <= 6; ++sweeps) {
            apply(s, (sd_trisolve){SD_TRISOLVE_BLOCKS, sweeps}, b, x);
            apply(s, (sd_trisolve){SD_TRISOLVE_ENTRIES, sweeps}, b, y);
            for (int i = 0; i < N; ++i) assert_true(fabs(x[i] - y[i]) <= 1e-13 * (1 + fabs(x[i])));
        }
        saddle_destroy(&s);
        dense_free(&d);
    }
}

/* New values on the plan that is there make N anew. */
static void new_values_are_split_again(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    double b[N], exact[N], x[N];
    dense d = pairs_problem(&r);
    saddle_solver *s = factored(&d, "method=ldlt,trisolve=jacobi,fill=tau:1e-3");
    fill_random(&r, b);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < N; ++i)
            for (int j = 0; j <= i; ++j) {
                if (!d.there[i * N + j]) continue;
                dense_set(&d, i, j, dense_at(&d, i, j) * (1 + 0.3 * rng_unit(&r)));
                if (i != j) dense_set(&d, j, i, dense_at(&d, i, j));
            }
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
        view_free(&A);
        apply(s, (sd_trisolve){SD_TRISOLVE_EXACT, 0}, b, exact);
        apply(s, (sd_trisolve){SD_TRISOLVE_ENTRIES, N}, b, x);
        assert_true(distance(x, exact) <= 1e-10 * largest_of(exact));
    }
    saddle_destroy(&s);
    dense_free(&d);
}

/* A diagonal block of which there are no factors is taken whole: its N is 0, and nothing else changes. */
static void a_block_without_factors_stays_whole(void **state)
{
    (void)state;
    static const double values[] = {0, 1e-310, 1e300, -1e200, NAN, INFINITY};
    rng r = rng_start(__func__);
    double b[N], exact[N], x[N];
    dense d = pairs_problem(&r);
    saddle_solver *s = factored(&d, "method=ldlt,trisolve=jacobi,fill=tau:1e-3");
    const sd_ldlt_plan *plan = &ldlt_of(s)->m.plan;
    const sd_ldlt_factors *f = &ldlt_of(s)->m.factors;
    fill_random(&r, b);
    for (size_t k = 0; k < sizeof values / sizeof values[0]; ++k) {
        const int32_t i = rng_below(&r, plan->blocks);
        double *g = (double *)ldlt_of(s)->m.numbers.inverse + plan->square[i];
        const int32_t squares = (int32_t)(plan->square[i + 1] - plan->square[i]);
        double *kept = test_alloc((size_t)squares, sizeof *kept);
        memcpy(kept, g, (size_t)squares * sizeof *kept);
        for (int32_t q = 0; q < squares; ++q) g[q] = values[k]; /* singular, whatever it is */
        assert_int_equal(sd_ldlt_place_entries(&s->e, SD_LDLT_BUNCH_KAUFMAN, &ldlt_of(s)->m), SADDLE_OK);
        for (int64_t q = 0; q < plan->square[plan->blocks]; ++q)
            assert_true(isfinite(((const double *)f->below)[q]));
        if (squares > 1)
            for (int64_t q = plan->square[i]; q < plan->square[i + 1]; ++q)
                assert_true(((const double *)f->below)[q] == 0);
        memcpy(g, kept, (size_t)squares * sizeof *kept);
        free(kept);
        apply(s, (sd_trisolve){SD_TRISOLVE_EXACT, 0}, b, exact);
        apply(s, (sd_trisolve){SD_TRISOLVE_ENTRIES, N}, b, x);
        assert_true(distance(x, exact) <= 1e-10 * largest_of(exact));
    }
    saddle_destroy(&s);
    dense_free(&d);
}

/* A chain: as many levels as there are blocks. Couplings of `size` beside a diagonal of 1 or -1. */
static dense chain_problem(double size)
{
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) {
        dense_set(&d, i, i, i % 3 ? 1 : -1);
        if (i == 0) continue;
        dense_set(&d, i, i - 1, size);
        dense_set(&d, i - 1, i, size);
    }
    return d;
}

/* What is left open is exact on a CPU; on a GPU it goes by the cost model, and by whether sweeps come near
 * the exact solve. */
static void sweeps_are_taken_where_they_are_faster_and_near(void **state)
{
    (void)state;
    const char *const options = "method=ldlt,scaling=none,order=natural,pairs=off,blocking=grid,block_size=2";
    dense weak = chain_problem(0.05), strong = chain_problem(0.9);
    saddle_solver *s = factored(&weak, options);
    sd_sweep_trial trial;
    assert_int_equal(ldlt_of(s)->m.plan.levels, N / 2);
    assert_int_equal(s->info.trisolve, SADDLE_TRISOLVE_EXACT);
    assert_int_equal(sd_choose_trisolve(&s->e, 0, &ldlt_of(s)->m), SADDLE_OK);
    assert_int_equal(ldlt_of(s)->m.trisolve.kind, SD_TRISOLVE_BLOCKS);
    assert_int_equal(ldlt_of(s)->m.trisolve.sweeps, 4);
    assert_int_equal(sd_choose_trisolve(&s->e, 1, &ldlt_of(s)->m), SADDLE_OK); /* one sweep is not near */
    assert_int_equal(ldlt_of(s)->m.trisolve.kind, SD_TRISOLVE_EXACT);
    const sd_two_triangles triangles = sd_ldlt_triangles(&ldlt_of(s)->m, SD_TRISOLVE_BLOCKS);
    assert_int_equal(sd_swept_try(&s->e, &triangles, 1, &trial), SADDLE_OK);
    assert_true(trial.apart > 1e-3 && !trial.diverged && isnan(trial.residual[0]));
    assert_int_equal(sd_swept_try(&s->e, &triangles, N / 2, &trial), SADDLE_OK);
    assert_true(trial.apart <= 1e-13);
    saddle_destroy(&s);
    s = factored(&strong, options);
    assert_int_equal(sd_choose_trisolve(&s->e, 0, &ldlt_of(s)->m), SADDLE_OK);
    assert_int_equal(ldlt_of(s)->m.trisolve.kind, SD_TRISOLVE_EXACT);
    saddle_destroy(&s);
    dense_free(&weak);
    dense_free(&strong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_sweeps_are_the_exact_solve),
        cmocka_unit_test(a_fixed_number_of_sweeps_is_symmetric),
        cmocka_unit_test(blocks_of_one_row_are_entries),
        cmocka_unit_test(new_values_are_split_again),
        cmocka_unit_test(a_block_without_factors_stays_whole),
        cmocka_unit_test(sweeps_are_taken_where_they_are_faster_and_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
