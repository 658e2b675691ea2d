/*
 * Plans that are kept: of one solver, factored for values A, then B, then A again, the last factors are those
 * of the first time to the last bit, with every method; and for B the plan is still the one that was made
 * for A. Only what a user has: the public header.
 */
#include "solving.h"

enum { SIDE = 20, HALF = SIDE * SIDE, ROWS = 2 * HALF };

/* (L, -I; -I, -D): L a Laplacian of a grid with edges of random weights, D diagonal. Which entries of the
 * factors are large depends on the weights. Lower triangle by columns. */
typedef struct grid {
    int32_t colptr[ROWS + 1], rowind[4 * ROWS];
    double values[4 * ROWS];
    saddle_matrix A;
} grid;

static void grid_values(grid *g, uint64_t seed)
{
    rng r = {seed};
    for (int32_t j = 0; j < ROWS; ++j)
        for (int32_t k = g->colptr[j]; k < g->colptr[j + 1]; ++k) {
            const bool diagonal = g->rowind[k] == j;
            const double weight = exp2(2 * rng_unit(&r));
            g->values[k] = j >= HALF ? -2 - weight : diagonal ? 12 + weight : -weight;
        }
}

static grid *grid_new(uint64_t seed)
{
    grid *g = test_alloc(1, sizeof *g);
    int32_t k = 0;
    for (int32_t j = 0; j < ROWS; ++j) {
        g->colptr[j] = k;
        g->rowind[k++] = j;
        if (j >= HALF) continue;
        if (j % SIDE < SIDE - 1) g->rowind[k++] = j + 1;
        if (j + SIDE < HALF) g->rowind[k++] = j + SIDE;
        g->rowind[k++] = j + HALF;
    }
    g->colptr[ROWS] = k;
    grid_values(g, seed);
    g->A = saddle_symmetric(ROWS, g->colptr, g->rowind, g->values);
    return g;
}

/* Factors, solves, and measures x by itself. */
static saddle_info answer(const char *list, saddle_solver *solver, const grid *g, const double *b, double *x)
{
    saddle_info info = saddle_info_default();
    if (saddle_factor(solver, &g->A)) fail_msg("%s: %s", list, saddle_message(solver));
    if (saddle_solve(solver, 1, b, ROWS, x, ROWS, &info)) fail_msg("%s: %s", list, info.message);
    saddle_errors errors;
    assert_int_equal(saddle_measure(&g->A, b, x, NULL, 1, NULL, &errors, NULL), SADDLE_OK);
    assert_true(errors.relative_residual <= 1e-10 || errors.componentwise <= 1e-10);
    return info;
}

static void assert_same_facts(const saddle_info *a, const saddle_info *b)
{
    assert_int_equal(a->method, b->method);
    assert_int_equal(a->factor_nnz, b->factor_nnz);
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->perturbed, b->perturbed);
    assert_int_equal(a->two_by_two, b->two_by_two);
    assert_int_equal(a->pushed_back, b->pushed_back);
    assert_int_equal(a->iterations, b->iterations);
}

enum { BITS = 1, SHOWN = 2 };

/*
 * A, then B on the plan of A, then A again, and once more. BITS: the first time had the same bits (with a
 * threshold the first factorization finds the pattern as it goes, adding in another order, and is the same to
 * rounding). SHOWN: B alone would have been planned otherwise, so that a solver that planned again is found
 * out.
 */
static void check_kept(const char *list, int what)
{
    const saddle_options options = options_of(list);
    grid *a = grid_new(1), *b = grid_new(2);
    static double rhs[ROWS], first[ROWS], other[ROWS], second[ROWS], third[ROWS];
    rng r = {3};
    for (int i = 0; i < ROWS; ++i) rhs[i] = rng_unit(&r);
    saddle_solver *solver, *fresh;
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_create(&fresh, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_analyse(solver, &a->A), SADDLE_OK);
    const saddle_info of_a = answer(list, solver, a, rhs, first), of_b = answer(list, solver, b, rhs, other);
    const saddle_info again = answer(list, solver, a, rhs, second);
    answer(list, solver, b, rhs, other);
    answer(list, solver, a, rhs, third);
    if (memcmp(second, third, sizeof second) != 0) fail_msg("%s: other bits on the plan that was kept", list);
    if (what & BITS && memcmp(first, second, sizeof first) != 0)
        fail_msg("%s: not the bits of the first time", list);
    for (int i = 0; i < ROWS; ++i)
        if (!(fabs(first[i] - second[i]) <= 1e-13))
            fail_msg("%s: x[%d] is %g, and was %g", list, i, second[i], first[i]);
    assert_same_facts(&of_a, &again);
    assert_int_equal(of_b.factor_nnz, of_a.factor_nnz);
    assert_int_equal(of_b.levels, of_a.levels);
    if (what & SHOWN) assert_int_not_equal(answer(list, fresh, b, rhs, other).factor_nnz, of_b.factor_nnz);
    saddle_destroy(&solver);
    saddle_destroy(&fresh);
    free(a);
    free(b);
}

static void a_plan_is_kept_with_the_same_bits(void **state)
{
    (void)state;
    check_kept("method=direct", BITS);
    check_kept("method=direct,threads=2", BITS);
    check_kept("method=direct,device=reference", BITS);
    check_kept("method=diagonal", BITS);
    check_kept("method=none", BITS);
    check_kept("method=bjacobi", BITS | SHOWN);
    check_kept("method=bjacobi,block_precision=single,threads=2", BITS | SHOWN);
    check_kept("method=jacobi", BITS | SHOWN);
    check_kept("method=jacobi,sweep_order=block,relax=0.9,sweeps=9", BITS | SHOWN);
    check_kept("method=ldlt,fill=none", SHOWN);
    check_kept("method=ldlt,fill=tau:1e-2", SHOWN);
    check_kept("method=ldlt,fill=tau:1e-2,threads=2", SHOWN);
    check_kept("method=ldlt,fill=tau:1e-2,device=reference", SHOWN);
    check_kept("method=ldlt,fill=tau:1e-2,factor_precision=single", SHOWN);
    check_kept("method=ldlt,fill=tau:1e-2,trisolve=block-jacobi", SHOWN);
}

/* The order of elimination is that of A until a new analysis is asked for, which then sees the values of B.
 */
static void a_new_analysis_makes_a_new_plan(void **state)
{
    (void)state;
    const char *list = "method=direct,scaling=mc64";
    const saddle_options options = options_of(list);
    grid *a = grid_new(1), *b = grid_new(2);
    static double kept[ROWS], changed[ROWS], rhs[ROWS], x[ROWS];
    for (int i = 0; i < ROWS; ++i) rhs[i] = 1;
    saddle_solver *solver;
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    answer(list, solver, a, rhs, x);
    assert_int_equal(saddle_get_scaling(solver, kept), SADDLE_OK);
    answer(list, solver, b, rhs, x);
    assert_int_equal(saddle_get_scaling(solver, changed), SADDLE_OK);
    assert_memory_equal(kept, changed, sizeof kept);
    assert_int_equal(saddle_analyse(solver, &b->A), SADDLE_OK);
    answer(list, solver, b, rhs, x);
    assert_int_equal(saddle_get_scaling(solver, changed), SADDLE_OK);
    assert_true(memcmp(kept, changed, sizeof kept) != 0);
    saddle_destroy(&solver);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_kept_with_the_same_bits),
        cmocka_unit_test(a_new_analysis_makes_a_new_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
