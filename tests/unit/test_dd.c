/*
 * Double-double accumulation against exact sums: products of doubles with few bits, summed exactly
 * in __float128, on sums that cancel down to their last bits.
 */
#include "helpers.h"

#include "core/dd.h"

static double magnitude(quad q)
{
    return (double)(q < 0 ? -q : q);
}

/* The error bound of Dot2: |result - s| <= u |s| + (n u)^2 sum |a x|, here of n additions. */
static void check_sum(int n, const double *a, const double *x, const char *what)
{
    double hi = 0, lo = 0;
    quad exact = 0, size = 0;
    for (int k = 0; k < n; ++k) {
        sd_dd_add_product(&hi, &lo, a[k], x[k]);
        exact += (quad)a[k] * x[k];
        size += magnitude((quad)a[k] * x[k]);
    }
    const double result = hi + lo, u = 0x1p-53;
    const double bound = u * magnitude(exact) + (double)n * n * u * u * magnitude(size);
    if (!(magnitude(exact - result) <= bound))
        fail_msg("%s: %d terms, off by %g where %g is allowed", what, n, magnitude(exact - result), bound);
}

static void random_products_are_added_to_twice_the_precision(void **state)
{
    (void)state;
    rng r = rng_start("products");
    for (int round = 0; round < 2000; ++round) {
        const int n = 1 + rng_below(&r, 50);
        double a[50], x[50];
        for (int k = 0; k < n; ++k) {
            a[k] = ldexp(rng_unit(&r), rng_below(&r, 20));
            x[k] = rng_unit(&r);
        }
        check_sum(n, a, x, "random");
    }
}

/* The second half takes the first away again, but for one small term. */
static void sums_that_cancel_keep_what_is_left(void **state)
{
    (void)state;
    rng r = rng_start("cancellation");
    for (int round = 0; round < 2000; ++round) {
        const int half = 1 + rng_below(&r, 20);
        double a[41], x[41];
        for (int k = 0; k < half; ++k) {
            a[k] = rng_unit(&r);
            x[k] = ldexp(rng_unit(&r), rng_below(&r, 30));
            a[2 * half - 1 - k] = -a[k];
            x[2 * half - 1 - k] = x[k];
        }
        a[2 * half] = 0x1p-40;
        x[2 * half] = 1 + rng_unit(&r);
        check_sum(2 * half + 1, a, x, "cancelling");
    }
}

static void plain_doubles_would_lose_these(void **state)
{
    (void)state;
    double hi = 0, lo = 0;
    const double terms[] = {0x1p60, 1, -0x1p60, 0x1p-20};
    for (int k = 0; k < 4; ++k) sd_dd_add(&hi, &lo, terms[k]);
    assert_true(hi + lo == 1 + 0x1p-20);
    hi = lo = 0;
    /* (1 + e)^2 - 1 - 2e = e^2 */
    const double e = 0x1p-30;
    sd_dd_add_product(&hi, &lo, 1 + e, 1 + e);
    sd_dd_add(&hi, &lo, -1);
    sd_dd_add(&hi, &lo, -2 * e);
    assert_true(hi + lo == e * e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_products_are_added_to_twice_the_precision),
        cmocka_unit_test(sums_that_cancel_keep_what_is_left),
        cmocka_unit_test(plain_doubles_would_lose_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
