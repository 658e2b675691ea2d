/*
 * Sequences of matrices on one pattern: when the direct solver matches, scales and orders anew by itself, and
 * when it does not. All is decided from counts, so it is the same in every run and on any number of threads.
 */
#include "failing_allocator.h"
#include "solving.h"

enum { VARIABLES = 900, CONSTRAINTS = 300, ROWS = VARIABLES + CONSTRAINTS, PER_COLUMN = 6, STEPS = 14 };

/* The KKT matrix of a linear program, (Sigma A'; A -1e-8 I), by columns. Sigma is that of a central path:
 * half of the variables tend to zero, the others do not. */
typedef struct program {
    int32_t colptr[ROWS + 1], rowind[ROWS * (PER_COLUMN + 1)];
    double values[ROWS * (PER_COLUMN + 1)], limit[VARIABLES];
    saddle_matrix K;
} program;

static void set_sigma(program *p, double mu)
{
    for (int32_t j = 0; j < VARIABLES; ++j) {
        const double c = p->limit[j], root = sqrt(c * c + 4 * mu);
        const double x = c >= 0 ? (c + root) / 2 : 2 * mu / (root - c);
        p->values[p->colptr[j]] = mu / (x * x);
    }
}

/* `apart`: the most rows between two entries of a column. With few, all are in the first constraints. */
static program *program_new(int apart)
{
    program *p = test_alloc(1, sizeof *p);
    rng r = {5};
    int32_t k = 0;
    for (int32_t j = 0; j < ROWS; ++j) {
        p->colptr[j] = k;
        p->rowind[k] = j;
        p->values[k++] = -1e-8;
        if (j >= VARIABLES) continue;
        p->limit[j] = (j % 2 ? -1 : 1) * pow(10, 2 * rng_unit(&r));
        for (int32_t e = 0, row = rng_below(&r, 40); e < PER_COLUMN && row < CONSTRAINTS; ++e) {
            p->rowind[k] = VARIABLES + row;
            p->values[k++] = rng_unit(&r);
            row += 1 + rng_below(&r, apart);
        }
    }
    p->colptr[ROWS] = k;
    set_sigma(p, 1);
    p->K = saddle_symmetric(ROWS, p->colptr, p->rowind, p->values);
    return p;
}

/* The matrices of a sequence, and what became of each. */
typedef struct outcome {
    saddle_info info[STEPS];
    double x[ROWS];
} outcome;

static saddle_info factor_next(saddle_solver *solver, const program *p)
{
    saddle_info info = saddle_info_default();
    if (saddle_factor(solver, &p->K)) fail_msg("%s", saddle_message(solver));
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    return info;
}

static saddle_solver *solver_with(const char *list)
{
    const saddle_options options = options_of(list);
    saddle_solver *solver = NULL;
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    return solver;
}

/* Steps of a method with these options, mu smaller by this power of ten in each; the last system is solved.
 */
static outcome *run_sequence(const char *list, program *p, double power)
{
    outcome *o = test_alloc(1, sizeof *o);
    static double b[ROWS];
    saddle_solver *solver = solver_with(list);
    for (int k = 0; k < STEPS; ++k) {
        set_sigma(p, pow(10, -power * k));
        o->info[k] = factor_next(solver, p);
    }
    for (int i = 0; i < ROWS; ++i) b[i] = 1 + i % 3;
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_solve(solver, 1, b, ROWS, o->x, ROWS, &info), SADDLE_OK);
    assert_true(info.backward_error <= 1e-14);
    saddle_destroy(&solver);
    return o;
}

static double total_flops(const outcome *o)
{
    double sum = 0;
    for (int k = 0; k < STEPS; ++k) sum += (double)o->info[k].factor_flops;
    return sum;
}

static void a_scaling_that_costs_more_than_a_new_one_is_replaced(void **state)
{
    (void)state;
    program *p = program_new(110);
    outcome *kept = run_sequence("method=direct,replan=off", p, 0.7);
    outcome *own = run_sequence("method=direct", p, 0.7);
    assert_int_equal(kept->info[STEPS - 1].replans, 0);
    assert_true(own->info[STEPS - 1].rescalings > kept->info[STEPS - 1].rescalings ||
                own->info[STEPS - 1].replans > 0);
    assert_true(total_flops(own) < 0.9 * total_flops(kept));
    free(kept);
    free(own);
    free(p);
}

/* Many variables and few constraints: columns that lose their pivots all end in one front. From one matrix to
 * the next the factorization becomes many times as expensive: it is not made to its end. */
static void a_factorization_far_beyond_its_plan_is_abandoned(void **state)
{
    (void)state;
    program *p = program_new(8);
    saddle_solver *kept = solver_with("method=direct,simplicial=off,replan=off"),
                  *own = solver_with("method=direct,simplicial=off");
    const saddle_info first = factor_next(kept, p);
    factor_next(own, p);
    for (int j = 0; j < VARIABLES; ++j)
        p->values[p->colptr[j]] *= 1e-5; /* no entry is so small as to be lost */
    const saddle_info late = factor_next(kept, p), mended = factor_next(own, p);
    assert_int_equal(late.rescalings, 0);
    assert_true((double)late.factor_flops > 100 * (double)first.factor_flops);
    assert_int_equal(mended.rescalings, 1);
    assert_int_equal(mended.replans, 0);
    assert_true((double)mended.factor_flops < 2 * (double)first.factor_flops);
    saddle_destroy(&kept);
    saddle_destroy(&own);
    free(p);
}

/* A constraint that is switched off, all its entries stored zeros, has nothing to be scaled by, and gets a
 * scaling of its own when it is back with numbers of another size; as long as nothing comes back, none is
 * made. */
static void rows_that_come_back_are_scaled_anew(void **state)
{
    (void)state;
    enum { OFF = 4 }; /* of 1200 rows: too few for another plan */
    program *p = program_new(110), *off = program_new(110);
    static double b[ROWS], x[ROWS];
    for (int32_t j = 0; j < ROWS; ++j)
        for (int32_t k = p->colptr[j]; k < p->colptr[j + 1]; ++k) {
            const bool own = p->rowind[k] >= ROWS - OFF;
            if (own) off->values[k] = 0;
            if (own) p->values[k] *= j >= VARIABLES ? 1e18 : 1e9;
        }
    for (int32_t i = 0; i < ROWS; ++i) b[i] = i < VARIABLES ? 1 : 0;
    off->K.values = off->values;
    saddle_solver *solver = solver_with("method=direct");
    assert_int_equal(factor_next(solver, off).rescalings, 0);
    assert_int_equal(factor_next(solver, off).rescalings, 0);
    saddle_info info = factor_next(solver, p);
    assert_int_equal(info.rescalings, 1);
    assert_int_equal(info.replans, 0);
    assert_int_equal(saddle_solve(solver, 1, b, ROWS, x, ROWS, &info), SADDLE_OK);
    assert_true(info.inertia_certain && info.inertia_zero == 0);
    assert_int_equal(factor_next(solver, p).rescalings, 1);
    saddle_destroy(&solver);
    free(p);
    free(off);
}

static void a_plan_that_suits_is_kept(void **state)
{
    (void)state;
    program *p = program_new(110);
    saddle_solver *solver = solver_with("method=direct");
    rng r = {7};
    for (int k = 0; k < (is_slow() ? 8 : 40); ++k) {
        const saddle_info info = factor_next(solver, p);
        assert_int_equal(info.replans, 0);
        assert_int_equal(info.rescalings, 0);
        set_sigma(p, 1);
        for (int j = 0; j < VARIABLES; ++j) p->values[p->colptr[j]] *= exp2(0.5 * rng_unit(&r));
    }
    saddle_destroy(&solver);
    free(p);
}

static void replan_on_plans_every_time(void **state)
{
    (void)state;
    program *p = program_new(110);
    outcome *o = run_sequence("method=direct,replan=on", p, 0.7);
    for (int k = 0; k < STEPS; ++k) {
        assert_int_equal(o->info[k].replans, k);
        assert_int_equal(o->info[k].stale, 0);
    }
    free(o);
    free(p);
}

static void placeholders(program *p)
{
    for (int j = 0; j < VARIABLES; ++j) p->values[p->colptr[j]] = 0;
}

/* The first matrix has zeros where the next have values: its plan is not kept, but the next one is. */
static void a_plan_made_from_placeholders_is_replaced_once(void **state)
{
    (void)state;
    for (int analysed = 0; analysed < 2; ++analysed) {
        program *p = program_new(110);
        saddle_solver *solver = solver_with("method=direct"), *fresh = solver_with("method=direct");
        const saddle_info planned = factor_next(fresh, p);
        placeholders(p);
        if (analysed)
            assert_int_equal(saddle_analyse(solver, &p->K), SADDLE_OK);
        else
            factor_next(solver, p);
        set_sigma(p, 1);
        for (int k = 0; k < 3; ++k) {
            const saddle_info info = factor_next(solver, p);
            assert_int_equal(info.replans, 1);
            assert_int_equal(info.factor_flops, planned.factor_flops);
        }
        assert_int_equal(saddle_analyse(solver, &p->K), SADDLE_OK);
        assert_int_equal(factor_next(solver, p).replans, 0); /* since the analysis */
        saddle_destroy(&solver);
        saddle_destroy(&fresh);
        free(p);
    }
}

/* Nor when it is off. */
static void an_order_of_the_callers_is_kept(void **state)
{
    (void)state;
    const char *lists[] = {"method=direct,order=user", "method=direct,replan=off"};
    static int32_t order[ROWS], used[ROWS];
    for (int32_t i = 0; i < ROWS; ++i) order[i] = ROWS - 1 - i;
    const saddle_given given = {.permutation = order};
    for (int l = 0; l < 2; ++l) {
        program *p = program_new(110);
        saddle_solver *solver = solver_with(lists[l]);
        assert_int_equal(saddle_set_given(solver, ROWS, &given), SADDLE_OK);
        placeholders(p);
        factor_next(solver, p);
        assert_int_equal(saddle_get_order(solver, used), SADDLE_OK);
        set_sigma(p, 1);
        for (int k = 0; k < 3; ++k) assert_int_equal(factor_next(solver, p).replans, 0);
        static int32_t still[ROWS];
        assert_int_equal(saddle_get_order(solver, still), SADDLE_OK);
        assert_memory_equal(used, still, sizeof used);
        saddle_destroy(&solver);
        free(p);
    }
}

/* A scaling of the caller's cannot be made anew. */
static void a_scaling_of_the_callers_is_kept(void **state)
{
    (void)state;
    static double scale[ROWS], used[ROWS];
    program *p = program_new(110);
    for (int i = 0; i < ROWS; ++i) scale[i] = 1 + i % 2;
    const saddle_given given = {.row_scale = scale};
    saddle_solver *solver = solver_with("method=direct,scaling=user,pairs=on");
    assert_int_equal(saddle_set_given(solver, ROWS, &given), SADDLE_OK);
    for (int k = 0; k < (is_slow() ? 4 : STEPS); ++k) {
        set_sigma(p, pow(10, -k));
        factor_next(solver, p);
        assert_int_equal(saddle_get_scaling(solver, used), SADDLE_OK);
        assert_memory_equal(scale, used, sizeof scale);
    }
    saddle_destroy(&solver);
    free(p);
}

static void decisions_do_not_depend_on_threads(void **state)
{
    (void)state;
    program *p = program_new(110);
    outcome *one = run_sequence("method=direct,threads=1", p, 0.8);
    outcome *two = run_sequence("method=direct,threads=2", p, 0.8);
    for (int k = 0; k < STEPS; ++k) {
        assert_int_equal(one->info[k].factor_flops, two->info[k].factor_flops);
        assert_int_equal(one->info[k].rescalings, two->info[k].rescalings);
        assert_int_equal(one->info[k].replans, two->info[k].replans);
    }
    assert_memory_equal(one->x, two->x, sizeof one->x);
    free(one);
    free(two);
    free(p);
}

/* The second matrix makes the solver plan anew, or abandon the factorization: each allocation of that fails
 * in turn, nothing leaks, and the next factorization is as good as ever. */
static void memory_may_fail_while_a_plan_is_made_anew(void **state)
{
    (void)state;
    program *p = program_new(8);
    const saddle_options options = options_of("method=direct");
    for (int abandoned = 0; abandoned < 2; ++abandoned) {
        for (int64_t k = 1, step = is_slow() ? 211 : 7;; k += step) {
            failing_allocator f = {0};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_solver *solver = NULL;
            assert_int_equal(saddle_create(&solver, &options, &hooks, NULL), SADDLE_OK);
            set_sigma(p, 1);
            if (!abandoned) placeholders(p);
            assert_int_equal(saddle_factor(solver, &p->K), SADDLE_OK);
            set_sigma(p, 1);
            for (int j = 0; j < VARIABLES; ++j) p->values[p->colptr[j]] *= 1e-5;
            f.fail_at = f.allocations + k;
            const saddle_status status = saddle_factor(solver, &p->K);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            const bool failed = f.failed;
            const saddle_info info = factor_next(solver, p);
            if (!failed) assert_true(abandoned ? info.rescalings == 1 : info.replans == 1);
            saddle_destroy(&solver);
            assert_int_equal(f.live, 0);
            if (!failed) break;
        }
    }
    free(p);
}

/* The factors of a plan made for symmetric matrices would be those of one triangle and its mirror. */
static void symmetry_may_come_and_go(void **state)
{
    (void)state;
    enum { SMALL = 40 };
    rng r = rng_start("symmetry");
    const char *lists[] = {"method=direct", "method=direct,replan=off"};
    for (int l = 0; l < 2; ++l) {
        dense d = symmetric_problem(&r, SMALL, false);
        saddle_matrix A = view_plain(&d, SADDLE_GENERAL);
        double b[SMALL], x[SMALL], pivots[2 * SMALL], *values = (double *)(uintptr_t)A.values;
        for (int i = 0; i < SMALL; ++i) b[i] = rng_unit(&r);
        saddle_solver *solver = solver_with(lists[l]);
        for (int k = 0; k < 5; ++k) { /* not symmetric at 1 and 3 */
            saddle_info info = saddle_info_default();
            int64_t other = 0;
            while (A.indices[other] == 0) ++other;
            values[other] += k % 2 ? 1 : k > 0 ? -1 : 0;
            if (saddle_factor(solver, &A)) fail_msg("%s", saddle_message(solver));
            assert_int_equal(saddle_solve(solver, 1, b, SMALL, x, SMALL, &info), SADDLE_OK);
            assert_true(info.backward_error <= 1e-14);
            assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
            assert_int_equal(info.symmetric, k % 2 == 0);
            assert_int_equal(info.replans, l == 0 ? k : k > 0);
            const bool factors = k == 0 || (k % 2 == 0 && l == 0);
            assert_int_equal(saddle_get_pivots(solver, NULL, pivots),
                             factors ? SADDLE_OK : SADDLE_WRONG_ORDER);
            assert_int_equal(info.inertia_negative >= 0, factors);
        }
        saddle_destroy(&solver);
        view_free(&A);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scaling_that_costs_more_than_a_new_one_is_replaced),
        cmocka_unit_test(a_factorization_far_beyond_its_plan_is_abandoned),
        cmocka_unit_test(rows_that_come_back_are_scaled_anew),
        cmocka_unit_test(a_plan_that_suits_is_kept),
        cmocka_unit_test(replan_on_plans_every_time),
        cmocka_unit_test(a_plan_made_from_placeholders_is_replaced_once),
        cmocka_unit_test(an_order_of_the_callers_is_kept),
        cmocka_unit_test(a_scaling_of_the_callers_is_kept),
        cmocka_unit_test(decisions_do_not_depend_on_threads),
        cmocka_unit_test(memory_may_fail_while_a_plan_is_made_anew),
        cmocka_unit_test(symmetry_may_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
