/*
 * The direct solver without fronts: whatever is factored column by column has the errors, the inertia, the
 * rank and the bound on L of what fronts give; sequences of pivots are found, kept, refused and replaced.
 */
#include "factoring.h"

enum { SIZE = 60, REPEATS = 20 };

static dense some_problem(rng *r, int kind)
{
    switch (kind) {
    case 0: return indefinite_problem(r, SIZE);
    case 1: return kkt_problem(r, SIZE, SIZE / 3, 0);
    case 2: return symmetric_problem(r, SIZE, true);
    default: return symmetric_problem(r, SIZE, false);
    }
}

/* A x = b is solved; how well is measured anew. */
static void check_solve(const saddle_solver *solver, const dense *d, rng *r)
{
    double b[SIZE], x[SIZE];
    for (int i = 0; i < SIZE; ++i) b[i] = rng_unit(r);
    assert_int_equal(saddle_solve(solver, 1, b, SIZE, x, SIZE, NULL), SADDLE_OK);
    assert_true(relative_residual_of(d, b, x) < 1e-10);
}

static void columns_say_what_fronts_say(void **state)
{
    (void)state;
    rng r = rng_start("columns and fronts");
    int columns = 0, pairs = 0;
    for (int k = 0; k < REPEATS; ++k) {
        dense d = some_problem(&r, k % 4);
        saddle_solver *one = factor_dense(&d, SADDLE_LOWER, "simplicial=on,check=on,factorization=ldlt");
        saddle_solver *other = factor_dense(&d, SADDLE_LOWER, "simplicial=off,factorization=ldlt");
        const saddle_info a = info_of(one), b = info_of(other);
        assert_true(b.simplicial == 0 && b.fronts > 0 && b.sequences == 0);
        assert_true(a.simplicial ? a.fronts == 0 : a.fronts > 0);
        assert_true(a.largest_l <= 100 && a.inertia_certain && b.inertia_certain);
        assert_int_equal(a.inertia_positive, b.inertia_positive);
        assert_int_equal(a.inertia_negative, b.inertia_negative);
        assert_int_equal(a.rank, SIZE);
        check_solve(one, &d, &r);
        check_solve(other, &d, &r);
        columns += a.simplicial;
        pairs += a.two_by_two > 0;
        saddle_destroy(&one);
        saddle_destroy(&other);
        dense_free(&d);
    }
    assert_true(columns > REPEATS / 2); /* otherwise this tests nothing */
    assert_true(pairs > 0);
}

/* Parts of a solve, several right-hand sides, and the pivots: L, D and L' by columns are what they are said
 * to be. */
static void parts_make_the_whole(void **state)
{
    (void)state;
    enum { RHS = 5 };
    rng r = rng_start("parts of columns");
    for (int k = 0; k < REPEATS; ++k) {
        dense d = some_problem(&r, k % 4);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "simplicial=on,krylov=none");
        double b[RHS * SIZE], x[RHS * SIZE], y[RHS * SIZE], one[SIZE], d2[2 * SIZE];
        for (int i = 0; i < RHS * SIZE; ++i) y[i] = b[i] = rng_unit(&r);
        saddle_solve(solver, RHS, b, SIZE, x, SIZE, NULL);
        for (int part = SADDLE_FORWARD; part <= SADDLE_BACKWARD; ++part)
            assert_int_equal(saddle_solve_part(solver, (saddle_part)part, RHS, y, SIZE, NULL), SADDLE_OK);
        for (int i = 0; i < RHS * SIZE; ++i) assert_true(fabs(x[i] - y[i]) <= 1e-9 * (1 + fabs(x[i])));
        for (int j = 0; j < RHS; ++j) { /* alone it has the same bits */
            saddle_solve(solver, 1, b + j * SIZE, SIZE, one, SIZE, NULL);
            assert_memory_equal(one, x + j * SIZE, sizeof one);
        }
        assert_int_equal(saddle_get_pivots(solver, NULL, d2), SADDLE_OK);
        for (int i = 0; i < 2 * SIZE; ++i) d2[i] *= 2; /* D doubled: x is half */
        assert_int_equal(saddle_set_d(solver, d2), SADDLE_OK);
        for (int i = 0; i < SIZE; ++i) one[i] = b[i];
        for (int part = SADDLE_FORWARD; part <= SADDLE_BACKWARD; ++part)
            assert_int_equal(saddle_solve_part(solver, (saddle_part)part, 1, one, SIZE, NULL), SADDLE_OK);
        for (int i = 0; i < SIZE; ++i) assert_true(fabs(2 * one[i] - y[i]) <= 1e-9 * (1 + fabs(y[i])));
        saddle_destroy(&solver);
        dense_free(&d);
    }
}

/* Static pivots and Cholesky have no sequence to find. */
static void other_rules_take_the_order_of_the_plan(void **state)
{
    (void)state;
    rng r = rng_start("rules of columns");
    for (int k = 0; k < REPEATS; ++k) {
        dense d = some_problem(&r, k % 4);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "simplicial=on,factorization=static");
        saddle_solver *other = factor_dense(&d, SADDLE_LOWER, "simplicial=off,factorization=static");
        const saddle_info a = info_of(solver), b = info_of(other);
        assert_true(a.simplicial == 1 && a.sequences == 0 && a.two_by_two == 0);
        assert_int_equal(a.regularised_positive + a.regularised_negative, SIZE);
        assert_int_equal(a.planned_nnz, a.factor_nnz);
        assert_true(a.factor_nnz <= b.factor_nnz); /* no zeros of amalgamation */
        check_solve(solver, &d, &r);
        saddle_destroy(&solver);
        saddle_destroy(&other);
        dense_free(&d);
    }
    dense d = symmetric_problem(&r, SIZE, false);
    saddle_status status;
    saddle_solver *solver =
        factor_hooked(&d, SADDLE_LOWER, "simplicial=on,factorization=cholesky", NULL, &status);
    assert_int_equal(status, SADDLE_NOT_DEFINITE);
    saddle_destroy(&solver);
    dense_free(&d);
}

/* Diagonal entries move over many decades: the sequence is refused now and then, and nothing is wrong. */
static void sequences_come_and_go(void **state)
{
    (void)state;
    enum { STEPS = 40 };
    rng r = rng_start("sequences");
    int fronts = 0, columns = 0;
    for (int k = 0; k < 4; ++k) {
        dense d = kkt_problem(&r, SIZE, SIZE / 3, 0);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "simplicial=on,check=on,factorization=ldlt");
        int64_t searches = 0;
        for (int step = 0; step < STEPS; ++step) {
            for (int i = 0; i < SIZE - SIZE / 3; ++i) dense_set(&d, i, i, pow(10, 4 * rng_unit(&r)));
            saddle_matrix A = view_plain(&d, SADDLE_LOWER);
            assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
            const saddle_info info = info_of(solver);
            assert_true(info.largest_l <= 100);
            assert_true(info.inertia_positive == SIZE - SIZE / 3 && info.inertia_negative == SIZE / 3);
            assert_true(info.sequences >= searches || info.replans > 0);
            searches = info.sequences;
            columns += info.simplicial;
            fronts += !info.simplicial;
            check_solve(solver, &d, &r);
            view_free(&A);
        }
        saddle_destroy(&solver);
        dense_free(&d);
    }
    assert_true(fronts > 0 && columns > 0);
}

/* The same values again: the same bits, whether they were factored before or not, with any threads. */
static void the_same_bits(void **state)
{
    (void)state;
    rng r = rng_start("bits of columns");
    for (int k = 0; k < REPEATS; ++k) {
        dense d = some_problem(&r, k % 4);
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "simplicial=on");
        saddle_solver *threads = factor_dense(&d, SADDLE_LOWER, "simplicial=on,threads=3");
        double b[SIZE], x[3][SIZE];
        for (int i = 0; i < SIZE; ++i) b[i] = rng_unit(&r);
        assert_int_equal(saddle_solve(solver, 1, b, SIZE, x[0], SIZE, NULL), SADDLE_OK);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        assert_int_equal(saddle_solve(solver, 1, b, SIZE, x[1], SIZE, NULL), SADDLE_OK);
        assert_int_equal(saddle_solve(threads, 1, b, SIZE, x[2], SIZE, NULL), SADDLE_OK);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_memory_equal(x[0], x[2], sizeof x[0]);
        saddle_destroy(&solver);
        saddle_destroy(&threads);
        view_free(&A);
        dense_free(&d);
    }
}

/* Rows that repeat others: zero pivots, which columns leave to fronts. */
static void singular_ones_go_to_fronts(void **state)
{
    (void)state;
    rng r = rng_start("singular columns");
    for (int k = 0; k < REPEATS; ++k) {
        const int twice = 1 + k % 3;
        dense d = kkt_problem(&r, SIZE, SIZE / 3, twice);
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "simplicial=on");
        const saddle_info info = info_of(solver);
        assert_int_equal(info.rank, SIZE - twice);
        assert_int_equal(info.inertia_zero, twice);
        saddle_destroy(&solver);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_say_what_fronts_say),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(other_rules_take_the_order_of_the_plan),
        cmocka_unit_test(sequences_come_and_go),
        cmocka_unit_test(the_same_bits),
        cmocka_unit_test(singular_ones_go_to_fronts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
