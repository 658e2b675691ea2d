/*
 * The errors of a solution against the same quotients in quadruple precision; the same at any scale
 * of A, b and x; and products with a caller's view.
 */
#include "helpers.h"

#include "failing_allocator.h"

static quad size_of(quad q)
{
    return q < 0 ? -q : q;
}

/* sqrt in quadruple precision: one Newton step on the one in double, of a number near 1. */
static double quotient_of_norms(quad square_above, quad square_below)
{
    return (double)square_above == 0 ? 0 : sqrt((double)(square_above / square_below));
}

static saddle_errors oracle(const dense *d, const double *b, const double *x, double *residual)
{
    const int n = d->n;
    quad norm_a = 0, norm_x = 0, norm_b = 0, norm_r = 0, r2 = 0, b2 = 0, componentwise = 0;
    for (int i = 0; i < n; ++i) {
        quad r = b[i], weight = size_of(b[i]), row = 0;
        for (int j = 0; j < n; ++j) {
            r -= (quad)dense_at(d, i, j) * x[j];
            weight += size_of((quad)dense_at(d, i, j) * x[j]);
            row += size_of(dense_at(d, i, j));
        }
        if (residual) residual[i] = (double)r;
        if (row > norm_a) norm_a = row;
        if (size_of(x[i]) > norm_x) norm_x = size_of(x[i]);
        if (size_of(b[i]) > norm_b) norm_b = size_of(b[i]);
        if (size_of(r) > norm_r) norm_r = size_of(r);
        if (weight > 0 && size_of(r) / weight > componentwise) componentwise = size_of(r) / weight;
        r2 += r * r;
        b2 += (quad)b[i] * b[i];
    }
    const saddle_errors errors = {norm_r == 0 ? 0 : (double)(norm_r / (norm_a * norm_x + norm_b)),
                                  (double)componentwise, quotient_of_norms(r2, b2)};
    return errors;
}

static void assert_close(double got, double expected, const char *what)
{
    const bool same = isinf(expected) ? got == expected : fabs(got - expected) <= 1e-12 * expected + 1e-300;
    if (!same) fail_msg("%s is %.17g, not %.17g", what, got, expected);
}

static void assert_errors(const saddle_errors *got, const saddle_errors *expected)
{
    assert_close(got->backward, expected->backward, "backward error");
    assert_close(got->componentwise, expected->componentwise, "componentwise error");
    assert_close(got->relative_residual, expected->relative_residual, "relative residual");
}

static saddle_errors measure(const saddle_matrix *A, const double *b, const double *x, double *residual)
{
    saddle_errors errors = {-1, -1, -1};
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_measure(A, b, x, residual, 1, NULL, &errors, message)) fail_msg("%s", message);
    return errors;
}

/* x is a solution spoilt by a relative 10^-2 .. 10^-16, so that residuals cancel more or less. */
static void spoilt_solution(rng *r, const dense *d, double *b, double *x)
{
    for (int i = 0; i < d->n; ++i) x[i] = rng_unit(r);
    for (int i = 0; i < d->n; ++i) {
        quad sum = 0;
        for (int j = 0; j < d->n; ++j) sum += (quad)dense_at(d, i, j) * x[j];
        b[i] = (double)sum;
    }
    const double spoilt = pow(10, -2 - rng_below(r, 15));
    for (int i = 0; i < d->n; ++i) x[i] *= 1 + spoilt * rng_unit(r);
}

enum { LARGEST = 12 };

static void errors_agree_with_quadruple_precision(void **state)
{
    (void)state;
    rng r = rng_start("measure");
    for (int round = 0; round < 3000; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = dense_random(&r, 1 + rng_below(&r, LARGEST), fabs(rng_unit(&r)), symmetric);
        double b[LARGEST], x[LARGEST], residual[LARGEST], exact[LARGEST];
        spoilt_solution(&r, &d, b, x);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, symmetric));
        const saddle_errors got = measure(&A, b, x, residual), expected = oracle(&d, b, x, exact);
        assert_errors(&got, &expected);
        for (int i = 0; i < d.n; ++i) assert_true(fabs(residual[i] - exact[i]) <= 1e-12 * fabs(exact[i]));
        view_free(&A);
        dense_free(&d);
    }
}

/* Up to the order of sums: numbers near 1 are measured in one pass, others by kernels. */
static bool same_errors(const saddle_errors *a, const saddle_errors *b)
{
    const double most = 1 + 1e-15;
    return a->backward <= most * b->backward && b->backward <= most * a->backward &&
           a->componentwise <= most * b->componentwise && b->componentwise <= most * a->componentwise &&
           a->relative_residual <= most * b->relative_residual &&
           b->relative_residual <= most * a->relative_residual;
}

/* A 2^a, b 2^(a+x), x 2^x: the quotients have not changed. */
static void errors_do_not_depend_on_the_scale(void **state)
{
    (void)state;
    rng r = rng_start("scales");
    const int of_a[] = {0, 299, -299, 302, -302, 1000, -1000, 1015, -1060, 500, -500};
    for (int round = 0; round < 300; ++round) {
        dense d = dense_random(&r, 2 + rng_below(&r, LARGEST - 2), 0.6, true), scaled = dense_copy(&d);
        double b[LARGEST], x[LARGEST], scaled_b[LARGEST], scaled_x[LARGEST];
        spoilt_solution(&r, &d, b, x);
        saddle_matrix A = view_plain(&d, SADDLE_LOWER);
        const saddle_errors plain = measure(&A, b, x, NULL);
        view_free(&A);
        for (int k = 0; k < (int)(sizeof of_a / sizeof of_a[0]); ++k) {
            for (int ex = -900; ex <= 900; ex += 300) {
                if (abs(of_a[k] + ex) > 960) continue; /* b must not leave the range of doubles */
                for (int i = 0; i < d.n * d.n; ++i) scaled.a[i] = ldexp(d.a[i], of_a[k]);
                for (int i = 0; i < d.n; ++i) {
                    scaled_b[i] = ldexp(b[i], of_a[k] + ex);
                    scaled_x[i] = ldexp(x[i], ex);
                }
                A = view_plain(&scaled, SADDLE_LOWER);
                const saddle_errors got = measure(&A, scaled_b, scaled_x, NULL);
                if (!same_errors(&got, &plain))
                    fail_msg("A 2^%d, x 2^%d: errors %g %g %g, unscaled %g %g %g", of_a[k], ex, got.backward,
                             got.componentwise, got.relative_residual, plain.backward, plain.componentwise,
                             plain.relative_residual);
                view_free(&A);
            }
        }
        dense_free(&scaled);
        dense_free(&d);
    }
}

static const int32_t two_ptr[] = {0, 1, 2}, two_ind[] = {0, 1};

static void a_zero_x_leaves_all_of_b_however_small(void **state)
{
    (void)state;
    const double sizes[] = {1, 1e-100, 1e-200, 1e-310, 4.94e-324, 1e300, 1.7e308}, val[] = {2, 3};
    const double x[] = {0, 0};
    const saddle_matrix A = saddle_symmetric(2, two_ptr, two_ind, val);
    for (int k = 0; k < (int)(sizeof sizes / sizeof sizes[0]); ++k) {
        const double b[] = {sizes[k], sizes[k]};
        const saddle_errors got = measure(&A, b, x, NULL), expected = {1, 1, 1};
        assert_errors(&got, &expected);
    }
}

/* b and Ax of very different size: the quotient with |b| is finite as long as it fits a double. */
static void a_small_b_beside_a_large_x_does_not_vanish(void **state)
{
    (void)state;
    const double val[] = {1, 1}, b[] = {1e-200, 0}, x[] = {1, 0};
    const saddle_matrix A = saddle_symmetric(2, two_ptr, two_ind, val);
    const saddle_errors got = measure(&A, b, x, NULL), expected = {1, 1, 1e200};
    assert_errors(&got, &expected);
    const double large_b[] = {1, 0}, small_x[] = {1, 1e-200};
    const saddle_errors small = measure(&A, large_b, small_x, NULL), expected_small = {5e-201, 1, 1e-200};
    assert_errors(&small, &expected_small);
}

/* (S A S)(S^-1 x) = S b: in one scale the small rows would be 0, and so would their errors. */
static void small_rows_do_not_vanish_beside_large_ones(void **state)
{
    (void)state;
    rng r = rng_start("rows");
    for (int round = 0; round < 300; ++round) {
        const bool symmetric = round % 2;
        dense d = dense_random(&r, 2 + rng_below(&r, LARGEST - 2), 0.6, symmetric);
        double b[LARGEST], x[LARGEST], residual[LARGEST], exact[LARGEST];
        int of[LARGEST];
        spoilt_solution(&r, &d, b, x);
        const saddle_errors plain = oracle(&d, b, x, exact);
        for (int i = 0; i < d.n; ++i) of[i] = rng_below(&r, 700) - 350;
        for (int i = 0; i < d.n; ++i) {
            for (int j = 0; j < d.n; ++j)
                if (dense_at(&d, i, j) != 0) dense_set(&d, i, j, ldexp(dense_at(&d, i, j), of[i] + of[j]));
            b[i] = ldexp(b[i], of[i]);
            x[i] = ldexp(x[i], -of[i]);
        }
        saddle_matrix A = view_plain(&d, symmetric ? SADDLE_LOWER : SADDLE_GENERAL);
        const saddle_errors got = measure(&A, b, x, residual), expected = oracle(&d, b, x, exact);
        assert_errors(&got, &expected);
        assert_close(got.componentwise, plain.componentwise, "componentwise error");
        for (int i = 0; i < d.n; ++i) assert_true(fabs(residual[i] - exact[i]) <= 1e-12 * fabs(exact[i]));
        view_free(&A);
        dense_free(&d);
    }
}

static void nothing_overflows_with_a_huge_x(void **state)
{
    (void)state;
    const double val[] = {1e300, 1}, b[] = {1, 1}, x[] = {1.7e308, -1.7e308};
    const saddle_matrix A = saddle_symmetric(2, two_ptr, two_ind, val);
    double residual[2];
    const saddle_errors got = measure(&A, b, x, residual);
    assert_close(got.backward, 1, "backward error");
    assert_close(got.componentwise, 1, "componentwise error");
    assert_true(isinf(got.relative_residual));
    assert_true(isinf(residual[0]) && residual[0] < 0);
    assert_close(residual[1], 1.7e308, "residual");
}

static void no_right_hand_side(void **state)
{
    (void)state;
    const double val[] = {2, 3}, zero[] = {0, 0}, x[] = {1, 0};
    const saddle_matrix A = saddle_symmetric(2, two_ptr, two_ind, val);
    const saddle_errors none = measure(&A, zero, zero, NULL);
    assert_true(none.backward == 0 && none.componentwise == 0 && none.relative_residual == 0);
    const saddle_errors got = measure(&A, zero, x, NULL);
    assert_close(got.backward, 2.0 / 3, "backward error");
    assert_close(got.componentwise, 1, "componentwise error");
    assert_true(isinf(got.relative_residual));
}

static void what_is_not_finite_has_no_errors(void **state)
{
    (void)state;
    const double val[] = {2, 3}, good[] = {1, 1};
    const double odd[] = {NAN, INFINITY, -INFINITY};
    const saddle_matrix A = saddle_symmetric(2, two_ptr, two_ind, val);
    for (int k = 0; k < 3; ++k) {
        const double bad[] = {1, odd[k]};
        double residual[] = {7, 7};
        const saddle_errors of_x = measure(&A, good, bad, residual), of_b = measure(&A, bad, good, residual);
        assert_true(isnan(of_x.backward) && isnan(of_x.componentwise) && isnan(of_x.relative_residual));
        assert_true(isnan(of_b.backward) && isnan(of_b.componentwise) && isnan(of_b.relative_residual));
        assert_true(isnan(residual[0]) && isnan(residual[1])); /* never what stood there before */
    }
}

/* Sixteenths times whole numbers: exact in any order. */
static void products_agree_with_the_dense_oracle(void **state)
{
    (void)state;
    rng r = rng_start("multiply");
    for (int round = 0; round < 2000; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = dense_random(&r, 1 + rng_below(&r, LARGEST), fabs(rng_unit(&r)), symmetric);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, symmetric));
        double x[LARGEST], y[LARGEST], expected[LARGEST];
        for (int i = 0; i < d.n; ++i) x[i] = rng_below(&r, 200) - 100;
        for (int i = 0; i < d.n; ++i) {
            expected[i] = 0;
            for (int j = 0; j < d.n; ++j) expected[i] += dense_at(&d, i, j) * x[j];
        }
        assert_int_equal(saddle_multiply(&A, 1, x, A.rows, y, A.rows, rng_below(&r, 4), NULL, NULL),
                         SADDLE_OK);
        for (int i = 0; i < d.n; ++i) assert_true(y[i] == expected[i]);
        assert_int_equal(saddle_multiply(&A, 1, x, A.rows, x, A.rows, 1, NULL, NULL),
                         SADDLE_OK); /* in place */
        for (int i = 0; i < d.n; ++i) assert_true(x[i] == expected[i]);
        view_free(&A);
        dense_free(&d);
    }
}

static void products_keep_extreme_scales(void **state)
{
    (void)state;
    const double entry[] = {1e300, 1e-300, 1e-310, 5e307, 0x1p-1074},
                 factor[] = {1e-300, 1e300, 1e308, 0.5, 0x1p1000};
    for (int k = 0; k < 5; ++k) {
        const double val[] = {entry[k], 2 * entry[k]}, x[] = {factor[k], factor[k]};
        const saddle_matrix A = saddle_symmetric(2, two_ptr, two_ind, val);
        double y[2];
        assert_int_equal(saddle_multiply(&A, 1, x, A.rows, y, A.rows, 1, NULL, NULL), SADDLE_OK);
        assert_close(y[0], entry[k] * factor[k], "product");
        assert_close(y[1], 2 * entry[k] * factor[k], "product");
    }
}

/* A row whose terms overflow only while A stands scaled up. */
static void a_sum_of_small_entries_with_a_huge_x_does_not_overflow(void **state)
{
    (void)state;
    const int32_t ptr[] = {0, 2, 3}, ind[] = {0, 1, 1};
    const double val[] = {1.5e-300, 1.5e-300, 1.5e-300}, x[] = {1.5e308, 1.5e308};
    const saddle_matrix A = saddle_symmetric(2, ptr, ind, val);
    double y[2];
    assert_int_equal(saddle_multiply(&A, 1, x, A.rows, y, A.rows, 1, NULL, NULL), SADDLE_OK);
    assert_close(y[0], 2 * (1.5e-300 * 1.5e308), "product");
    assert_close(y[1], 2 * (1.5e-300 * 1.5e308), "product");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int round = 0; round < 20; ++round) {
        dense d = dense_random(&r, 5, 0.6, true);
        for (int k = 0; round % 4 == 0 && k < 25; ++k) d.a[k] = ldexp(d.a[k], 900); /* a scaled operator */
        view_style style = rng_style(&r, true);
        if (round % 4 == 0) style.type = SADDLE_DOUBLE, style.duplicated = false;
        saddle_matrix A = view_make(&r, &d, style);
        const double x[5] = {1, 2, 3, 4, 5}, b[5] = {5, 4, 3, 2, 1};
        double y[5];
        for (int measured = 0; measured < 2; ++measured) {
            for (int64_t k = 1;; ++k) {
                failing_allocator f = {.fail_at = k};
                const saddle_hooks hooks = failing_hooks(&f);
                saddle_errors errors;
                char message[SADDLE_MESSAGE_SIZE];
                const saddle_status status =
                    measured ? saddle_measure(&A, b, x, y, 1, &hooks, &errors, message)
                             : saddle_multiply(&A, 1, x, A.rows, y, A.rows, 1, &hooks, message);
                assert_int_equal(f.live, 0);
                assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
                if (!f.failed) break;
                assert_contains(message, "memory");
            }
        }
        view_free(&A);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_agree_with_quadruple_precision),
        cmocka_unit_test(errors_do_not_depend_on_the_scale),
        cmocka_unit_test(a_zero_x_leaves_all_of_b_however_small),
        cmocka_unit_test(a_small_b_beside_a_large_x_does_not_vanish),
        cmocka_unit_test(small_rows_do_not_vanish_beside_large_ones),
        cmocka_unit_test(nothing_overflows_with_a_huge_x),
        cmocka_unit_test(no_right_hand_side),
        cmocka_unit_test(what_is_not_finite_has_no_errors),
        cmocka_unit_test(products_agree_with_the_dense_oracle),
        cmocka_unit_test(products_keep_extreme_scales),
        cmocka_unit_test(a_sum_of_small_entries_with_a_huge_x_does_not_overflow),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
