/* What the caller gives in addition to the matrix: it is used by the next factorization, whatever was planned
 * before, and what cannot be used is refused with a message. */
#include "factoring.h"

enum { N = 30 };

static saddle_solver *solver_with(const char *list)
{
    const saddle_options options = options_of(list);
    saddle_solver *solver = NULL;
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    return solver;
}

static void reverse(int32_t *order)
{
    for (int32_t k = 0; k < N; ++k) order[k] = N - 1 - k;
}

/* It was ignored: the first plan stayed. */
static void an_order_given_after_a_factorization_is_used_by_the_next(void **state)
{
    (void)state;
    rng r = rng_start("order");
    dense d = symmetric_problem(&r, N, true);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    int32_t natural[N], reversed[N], planned[N], expected[N];
    for (int32_t k = 0; k < N; ++k) natural[k] = k;
    reverse(reversed);
    saddle_solver *solver = solver_with("method=direct,order=user"),
                  *other = solver_with("method=direct,order=user");
    assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.permutation = natural}), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.permutation = reversed}), SADDLE_OK);
    double b[N] = {1}, x[N]; /* until then, the factors are those that there are */
    assert_int_equal(saddle_solve(solver, 1, b, N, x, N, NULL), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_set_given(other, N, &(saddle_given){.permutation = reversed}), SADDLE_OK);
    assert_int_equal(saddle_factor(other, &A), SADDLE_OK);
    assert_int_equal(saddle_get_order(solver, planned), SADDLE_OK);
    assert_int_equal(saddle_get_order(other, expected), SADDLE_OK);
    assert_memory_equal(planned, expected, sizeof planned);
    assert_int_equal(saddle_set_given(solver, N, NULL), SADDLE_OK); /* which leaves nothing to order by */
    assert_int_equal(saddle_factor(solver, &A), SADDLE_BAD_ARGUMENT);
    assert_contains(saddle_message(solver), "no permutation is given");
    saddle_destroy(&solver);
    saddle_destroy(&other);
    view_free(&A);
    dense_free(&d);
}

static void a_scaling_given_after_a_factorization_is_used_by_the_next(void **state)
{
    (void)state;
    rng r = rng_start("scaling");
    dense d = kkt_problem(&r, N, 8, 0);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    double ones[N], powers[N], used[N], b[N] = {1}, x[N];
    for (int k = 0; k < N; ++k) {
        ones[k] = 1;
        powers[k] = ldexp(1, 20 * (k % 3)); /* so bad that the library would replace it by its own */
    }
    saddle_solver *solver = solver_with("method=direct,scaling=user,order=natural,pairs=on");
    assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.row_scale = ones}), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_set_given(solver, N, &(saddle_given){powers, powers, NULL}), SADDLE_OK);
    if (saddle_factor(solver, &A)) fail_msg("%s", saddle_message(solver));
    assert_int_equal(saddle_get_scaling(solver, used), SADDLE_OK);
    for (int k = 1; k < N; ++k) assert_true(used[k] / used[0] == powers[k] / powers[0]);
    assert_int_equal(saddle_solve(solver, 1, b, N, x, N, NULL), SADDLE_OK);
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

static void what_is_no_scaling_and_no_order_is_refused_and_the_old_one_stays(void **state)
{
    (void)state;
    rng r = rng_start("refused");
    dense d = symmetric_problem(&r, N, true);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    static const double bad[] = {0, -1, NAN, INFINITY};
    double scale[N];
    int32_t order[N], wrong[N];
    reverse(order);
    for (int k = 0; k < N; ++k) scale[k] = 2;
    saddle_solver *solver = solver_with("method=direct,scaling=user,order=user");
    assert_int_equal(saddle_set_given(solver, N, &(saddle_given){scale, NULL, order}), SADDLE_OK);
    for (int k = 0; k < 4; ++k) {
        scale[5] = bad[k];
        assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.row_scale = scale}), SADDLE_BAD_VALUE);
        assert_contains(saddle_message(solver), "row_scale");
        assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.col_scale = scale}), SADDLE_BAD_VALUE);
        assert_contains(saddle_message(solver), "col_scale");
    }
    memcpy(wrong, order, sizeof wrong);
    wrong[7] = wrong[8];
    assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.permutation = wrong}), SADDLE_BAD_ARGUMENT);
    assert_contains(saddle_message(solver), "permutation");
    assert_int_equal(saddle_set_given(solver, INT64_MAX, &(saddle_given){0}), SADDLE_BAD_ARGUMENT);
    if (saddle_factor(solver, &A)) fail_msg("%s", saddle_message(solver));
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

/* By every method that plans with it, also after a factorization. */
static void what_was_given_for_another_matrix_is_refused_by_the_factorization(void **state)
{
    (void)state;
    rng r = rng_start("another n");
    dense d = symmetric_problem(&r, N, true);
    saddle_matrix A = view_plain(&d, SADDLE_LOWER);
    static const char *const methods[] = {"method=direct,order=user", "method=ldlt,order=user",
                                          "method=bjacobi,order=user", "method=auto,order=user"};
    int32_t order[N];
    int8_t signs[N] = {1};
    reverse(order);
    for (int m = 0; m < 4; ++m) {
        saddle_solver *solver = solver_with(methods[m]);
        assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.permutation = order}), SADDLE_OK);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        for (int k = 0; k < N - 1; ++k) order[k] = k;
        assert_int_equal(saddle_set_given(solver, N - 1, &(saddle_given){.permutation = order}), SADDLE_OK);
        for (int again = 0; again < 2; ++again) {
            assert_int_equal(saddle_factor(solver, &A), SADDLE_BAD_ARGUMENT);
            assert_contains(saddle_message(solver), "given for n = 29, but n is 30");
        }
        reverse(order);
        assert_int_equal(saddle_set_given(solver, N, &(saddle_given){.permutation = order}), SADDLE_OK);
        assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
        saddle_destroy(&solver);
    }
    saddle_solver *solver = solver_with("method=direct,factorization=static");
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_set_signs(solver, N - 1, signs), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_BAD_ARGUMENT);
    assert_contains(saddle_message(solver), "given for n = 29, but n is 30");
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

/* The direct solver factors a matrix of twice the size, and read so much of what was given. */
static void a_general_matrix_takes_what_is_given_for_its_own_size(void **state)
{
    (void)state;
    rng r = rng_start("general");
    dense d = unsymmetric_problem(&r, N);
    saddle_matrix A = view_plain(&d, SADDLE_GENERAL);
    double rows[N], columns[N], b[N] = {1}, x[N];
    int32_t order[N];
    reverse(order);
    for (int k = 0; k < N; ++k) {
        rows[k] = 1 + k % 2;
        columns[k] = 1 + k % 3;
    }
    saddle_solver *solver = solver_with("method=direct,scaling=user,order=user");
    saddle_info info = saddle_info_default();
    assert_int_equal(saddle_set_given(solver, N, &(saddle_given){rows, columns, order}), SADDLE_OK);
    if (saddle_factor(solver, &A)) fail_msg("%s", saddle_message(solver));
    if (saddle_solve(solver, 1, b, N, x, N, &info)) fail_msg("%s", info.message);
    assert_true(relative_residual_of(&d, b, x) <= 1e-12);
    saddle_destroy(&solver);
    view_free(&A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_given_after_a_factorization_is_used_by_the_next),
        cmocka_unit_test(a_scaling_given_after_a_factorization_is_used_by_the_next),
        cmocka_unit_test(what_is_no_scaling_and_no_order_is_refused_and_the_old_one_stays),
        cmocka_unit_test(what_was_given_for_another_matrix_is_refused_by_the_factorization),
        cmocka_unit_test(a_general_matrix_takes_what_is_given_for_its_own_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
