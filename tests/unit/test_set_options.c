/* saddle_set_options: what takes effect at once, what with the next factorization, and what has it plan anew.
 */
#include "factoring.h"

enum { N = 60 };

typedef struct fixture {
    dense d;
    saddle_matrix A;
    double b[N], x[N];
} fixture;

static fixture make(rng *r, bool positive)
{
    fixture f = {.d = positive ? symmetric_problem(r, N, true) : kkt_problem(r, N, N / 3, 0)};
    f.A = view_plain(&f.d, SADDLE_LOWER);
    for (int k = 0; k < N; ++k) f.b[k] = rng_unit(r);
    return f;
}

static void drop(fixture *f)
{
    view_free(&f->A);
    dense_free(&f->d);
}

static saddle_solver *open(const char *list)
{
    const saddle_options options = options_of(list);
    saddle_solver *s = NULL;
    assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
    return s;
}

static saddle_status set(saddle_solver *s, const char *list)
{
    const saddle_options options = options_of(list);
    return saddle_set_options(s, &options);
}

static saddle_info solve(const saddle_solver *s, fixture *f)
{
    saddle_info info = saddle_info_default();
    saddle_solve(s, 1, f->b, N, f->x, N, &info);
    return info;
}

static void factor(saddle_solver *s, const fixture *f)
{
    if (saddle_factor(s, &f->A)) fail_msg("%s", saddle_message(s));
}

/* After saddle_factor a solver with new options does what one does that was created with them. */
static void a_factorization_later_all_are_in_effect(void **state)
{
    (void)state;
    rng r = rng_start("all");
    static const char *const lists[] = {"method=direct",
                                        "method=direct,order=amd",
                                        "method=direct,scaling=none,order=rcm",
                                        "method=direct,simplicial=off",
                                        "method=direct,simplicial=on,threshold=0.3",
                                        "method=direct,precision=mixed",
                                        "method=ldlt",
                                        "method=ldlt,fill=none",
                                        "method=jacobi",
                                        "method=diagonal,krylov=sqmr",
                                        "method=bjacobi,block_size=4",
                                        "method=bjacobi,block_size=2",
                                        "method=ilu",
                                        "method=ilu,level=2",
                                        "method=none,krylov=minres",
                                        "method=auto"};
    enum { LISTS = sizeof lists / sizeof *lists };
    fixture f = make(&r, false);
    saddle_solver *s = open("");
    for (int round = 0; round < 3 * LISTS; ++round) {
        const char *with = lists[rng_below(&r, LISTS)];
        if (set(s, with)) fail_msg("%s", saddle_message(s));
        factor(s, &f);
        const saddle_info info = solve(s, &f);
        double x[N];
        memcpy(x, f.x, sizeof x);
        saddle_solver *fresh = open(with);
        factor(fresh, &f);
        const saddle_info other = solve(fresh, &f);
        assert_int_equal(info.method, other.method);
        assert_int_equal(info.krylov, other.krylov);
        assert_int_equal(info.status, other.status);
        assert_int_equal(info.precision, other.precision);
        if (memcmp(x, f.x, sizeof x)) fail_msg("round %d: %s has other bits", round, with);
        saddle_destroy(&fresh);
    }
    saddle_destroy(&s);
    drop(&f);
}

static void a_solve_obeys_at_once(void **state)
{
    (void)state;
    rng r = rng_start("at once");
    fixture f = make(&r, true);
    saddle_solver *s = open("method=none,tol=1e-2");
    factor(s, &f);
    const saddle_info rough = solve(s, &f);
    assert_int_equal(set(s, "method=none,tol=1e-12"), SADDLE_OK);
    const saddle_info fine = solve(s, &f);
    assert_true(fine.iterations > rough.iterations && fine.relative_residual <= 1e-12);
    assert_int_equal(set(s, "method=none,maxiter=2,tol=1e-12"), SADDLE_OK);
    assert_int_equal(solve(s, &f).reason, SADDLE_REASON_MAXITER);
    assert_int_equal(set(s, "method=none,krylov=minres"), SADDLE_OK);
    assert_int_equal(solve(s, &f).krylov, SADDLE_KRYLOV_MINRES);
    assert_int_equal(set(s, "method=none,threads=2"), SADDLE_OK);
    assert_int_equal(solve(s, &f).threads, 2);
    assert_int_equal(set(s, "method=none,max_memory=1"), SADDLE_OK);
    assert_int_equal(solve(s, &f).status, SADDLE_MEMORY_LIMIT);
    saddle_destroy(&s);
    drop(&f);
}

static void other_factors_wait_for_a_factorization(void **state)
{
    (void)state;
    rng r = rng_start("wait");
    fixture f = make(&r, false);
    saddle_solver *s = open("method=direct");
    factor(s, &f);
    double before[N];
    solve(s, &f);
    memcpy(before, f.x, sizeof before);
    assert_int_equal(set(s, "method=ldlt,precision=mixed"), SADDLE_OK);
    const saddle_info info = solve(s, &f);
    assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
    assert_int_equal(info.status, SADDLE_OK);
    assert_memory_equal(f.x, before, sizeof before);
    factor(s, &f);
    assert_int_equal(solve(s, &f).method, SADDLE_METHOD_LDLT);
    saddle_destroy(&s);
    drop(&f);
}

static void the_threshold_changes_on_the_plan(void **state)
{
    (void)state;
    rng r = rng_start("threshold");
    fixture f = make(&r, false);
    saddle_solver *s = open("method=direct,simplicial=off,check=on,threshold=1e-8,scaling=none,pairs=off");
    factor(s, &f);
    int32_t order[2][N];
    assert_int_equal(saddle_get_order(s, order[0]), SADDLE_OK);
    assert_int_equal(set(s, "method=direct,simplicial=off,check=on,threshold=0.4,scaling=none,pairs=off"),
                     SADDLE_OK);
    factor(s, &f);
    const saddle_info info = info_of(s);
    assert_true(info.largest_l <= 2.5 * (1 + 1e-12));
    assert_int_equal(info.replans, 0);
    assert_int_equal(saddle_get_order(s, order[1]), SADDLE_OK);
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    saddle_destroy(&s);
    drop(&f);
}

static void values_alone_plan_anew_too(void **state)
{
    (void)state;
    rng r = rng_start("values");
    fixture f = make(&r, false);
    saddle_solver *s = open("method=direct");
    factor(s, &f);
    assert_int_equal(set(s, "method=direct,order=natural"), SADDLE_OK);
    assert_int_equal(saddle_factor_values(s, SADDLE_DOUBLE, f.A.values), SADDLE_OK);
    int32_t order[N];
    assert_int_equal(saddle_get_order(s, order), SADDLE_OK);
    assert_int_equal(solve(s, &f).status, SADDLE_OK);
    saddle_solver *fresh = open("method=direct,order=natural");
    factor(fresh, &f);
    int32_t other[N];
    assert_int_equal(saddle_get_order(fresh, other), SADDLE_OK);
    assert_memory_equal(order, other, sizeof order);
    saddle_destroy(&fresh);
    saddle_destroy(&s);
    drop(&f);
}

static void many_systems_keep_theirs(void **state)
{
    (void)state;
    rng r = rng_start("many");
    fixture f = make(&r, false);
    saddle_solver *s = open("method=direct");
    double *values = test_alloc(2 * (size_t)f.A.entries, sizeof *values), b[2 * N], x[2 * N];
    for (int64_t k = 0; k < 2 * f.A.entries; ++k) values[k] = view_value(&f.A, k % f.A.entries);
    for (int k = 0; k < 2 * N; ++k) b[k] = f.b[k % N];
    saddle_matrix A = f.A;
    A.type = SADDLE_DOUBLE;
    assert_int_equal(saddle_factor_many(s, &A, 2, values, A.entries, NULL), SADDLE_OK);
    assert_int_equal(set(s, "method=direct,order=amd"), SADDLE_OK);
    assert_int_equal(saddle_solve_many(s, 2, b, N, x, N, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor_many(s, &A, 2, values, A.entries, NULL), SADDLE_OK);
    assert_int_equal(saddle_solve_many(s, 2, b, N, x, N, NULL), SADDLE_OK);
    assert_true(relative_residual_of(&f.d, b, x) < 1e-10);
    assert_int_equal(set(s, "method=ldlt"), SADDLE_OK);
    assert_int_equal(saddle_factor_many(s, &A, 2, values, A.entries, NULL), SADDLE_NOT_SUPPORTED);
    saddle_destroy(&s);
    free(values);
    drop(&f);
}

/* What many systems are factored by is what the options of now ask for: factors on another plan are gone. */
static void many_systems_leave_the_factors_unless_they_plan_anew(void **state)
{
    (void)state;
    rng r = rng_start("many beside one");
    fixture f = make(&r, false);
    saddle_solver *s = open("method=direct");
    assert_int_equal(saddle_factor(s, &f.A), SADDLE_OK);
    assert_int_equal(set(s, "method=direct,threshold=0.1,tol=1e-8"), SADDLE_OK);
    assert_int_equal(saddle_factor_many(s, &f.A, 1, f.A.values, f.A.entries, NULL), SADDLE_OK);
    assert_int_equal(solve(s, &f).status, SADDLE_OK);
    assert_int_equal(set(s, "method=direct,order=rcm"), SADDLE_OK);
    assert_int_equal(solve(s, &f).status, SADDLE_OK);
    assert_int_equal(saddle_factor_many(s, &f.A, 1, f.A.values, f.A.entries, NULL), SADDLE_OK);
    assert_int_equal(solve(s, &f).status, SADDLE_WRONG_ORDER);
    assert_int_equal(saddle_solve_many(s, 1, f.b, N, f.x, N, NULL), SADDLE_OK);
    factor(s, &f);
    assert_int_equal(solve(s, &f).status, SADDLE_OK);
    assert_true(relative_residual_of(&f.d, f.b, f.x) < 1e-10);
    saddle_destroy(&s);
    drop(&f);
}

static void what_is_wrong_changes_nothing(void **state)
{
    (void)state;
    rng r = rng_start("wrong");
    fixture f = make(&r, false);
    saddle_solver *s = open("method=direct,device=cpu");
    saddle_options options = saddle_options_default();
    assert_int_equal(saddle_set_options(NULL, &options), SADDLE_BAD_ARGUMENT);
    factor(s, &f);
    options.device = SADDLE_DEVICE_REFERENCE;
    assert_int_equal(saddle_set_options(s, &options), SADDLE_BAD_OPTION);
    assert_non_null(strstr(saddle_message(s), "device"));
    options.device = SADDLE_DEVICE_CPU;
    options.device_index = 1;
    assert_int_equal(saddle_set_options(s, &options), SADDLE_BAD_OPTION);
    options.device_index = 0;
    options.threshold = 7;
    assert_int_equal(saddle_set_options(s, &options), SADDLE_BAD_OPTION);
    assert_non_null(strstr(saddle_message(s), "threshold"));
    options.size = 3;
    assert_int_equal(saddle_set_options(s, &options), SADDLE_BAD_OPTION);
    factor(s, &f);
    assert_int_equal(solve(s, &f).method, SADDLE_METHOD_DIRECT);
    saddle_destroy(&s);
    drop(&f);
}

static void null_is_the_defaults(void **state)
{
    (void)state;
    rng r = rng_start("defaults");
    fixture f = make(&r, true);
    saddle_solver *s = NULL; /* device auto, as that cannot change */
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_NONE;
    options.tol = 1e-2;
    assert_int_equal(saddle_create(&s, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_set_options(s, NULL), SADDLE_OK); /* before anything is known */
    factor(s, &f);
    const saddle_info info = solve(s, &f);
    assert_int_equal(info.method, SADDLE_METHOD_DIRECT);
    assert_true(info.relative_residual <= 1e-10);
    saddle_destroy(&s);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factorization_later_all_are_in_effect),
        cmocka_unit_test(a_solve_obeys_at_once),
        cmocka_unit_test(other_factors_wait_for_a_factorization),
        cmocka_unit_test(the_threshold_changes_on_the_plan),
        cmocka_unit_test(values_alone_plan_anew_too),
        cmocka_unit_test(many_systems_keep_theirs),
        cmocka_unit_test(many_systems_leave_the_factors_unless_they_plan_anew),
        cmocka_unit_test(what_is_wrong_changes_nothing),
        cmocka_unit_test(null_is_the_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
