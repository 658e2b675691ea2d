/*
 * Scalings without a matching: what Ruiz and the column norms promise, on random and on extreme matrices, and
 * the check of a caller's own.
 */
#include "helpers.h"

#include "csr_of.h"
#include "failing_allocator.h"
#include "prepare/scaling.h"

#include <float.h>

/* Spreads the nonzeros over so many decades to either side. */
static dense random_matrix(rng *r, int n, bool symmetric, double decades)
{
    dense d = dense_random(r, n, fabs(rng_unit(r)), symmetric);
    for (int i = 0; i < n; ++i) {
        for (int j = symmetric ? i : 0; j < n; ++j) {
            if (dense_at(&d, i, j) == 0) continue;
            const double value = pow(10.0, decades * rng_unit(r)) * (rng_below(r, 2) ? 1 : -1);
            dense_set(&d, i, j, value);
            if (symmetric) dense_set(&d, j, i, value);
        }
    }
    return d;
}

static void assert_positive(const double *scale, int n)
{
    for (int i = 0; i < n; ++i) assert_true(scale[i] > 0 && scale[i] <= DBL_MAX);
}

/* The largest scaled entry of row i, or of column i of the turned matrix. */
static double scaled_norm(const dense *d, const double *r, const double *s, int i, bool column)
{
    double largest = 0;
    for (int k = 0; k < d->n; ++k) {
        const int row = column ? k : i, col = column ? i : k;
        largest = fmax(largest, fabs(r[row] * dense_at(d, row, col)) * s[col]);
    }
    return largest;
}

static void ruiz_makes_every_norm_one(void **state)
{
    (void)state;
    rng r = rng_start("ruiz");
    for (int round = 0; round < 600; ++round) {
        const bool symmetric = rng_below(&r, 2);
        const int n = 1 + rng_below(&r, 20);
        dense d = random_matrix(&r, n, symmetric, round % 3 == 0 ? 60 : 6);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        double rows[20], cols[20];
        assert_int_equal(sd_scale_ruiz(&c, &A, symmetric, rows, cols), SADDLE_OK);
        assert_positive(rows, n);
        assert_positive(cols, n);
        for (int i = 0; i < 2 * n; ++i) {
            const double norm = scaled_norm(&d, rows, cols, i / 2, i % 2);
            if (norm == 0)
                assert_true((i % 2 ? cols : rows)[i / 2] == 1.0);
            else if (!(fabs(norm - 1) <= 1e-3))
                fail_msg("round %d: norm %d is %.6g", round, i, norm);
        }
        if (symmetric) assert_memory_equal(rows, cols, (size_t)n * sizeof *rows);
        sd_csr_free(&c, &A);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

static void col2_is_the_root_of_the_norm(void **state)
{
    (void)state;
    rng r = rng_start("col2");
    for (int round = 0; round < 300; ++round) {
        const bool symmetric = rng_below(&r, 2);
        const int n = 1 + rng_below(&r, 20);
        dense d = random_matrix(&r, n, symmetric, 100);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        double rows[20], cols[20];
        assert_int_equal(sd_scale_col2(&c, &A, symmetric, rows, cols), SADDLE_OK);
        for (int i = 0; i < n; ++i) {
            long double row = 0, col = 0;
            for (int k = 0; k < n; ++k) {
                row += (long double)dense_at(&d, i, k) * dense_at(&d, i, k);
                col += (long double)dense_at(&d, k, i) * dense_at(&d, k, i);
            }
            const long double want_row = row > 0 ? 1 / sqrtl(sqrtl(row)) : 1;
            const long double want_col = col > 0 ? 1 / sqrtl(sqrtl(col)) : 1;
            assert_true(fabsl(rows[i] - want_row) <= 1e-14L * want_row);
            assert_true(fabsl(cols[i] - want_col) <= 1e-14L * want_col);
        }
        if (symmetric) assert_memory_equal(rows, cols, (size_t)n * sizeof *rows);
        sd_csr_free(&c, &A);
        dense_free(&d);
    }
}

static void extreme_entries_give_finite_scales(void **state)
{
    (void)state;
    const double values[] = {DBL_TRUE_MIN, 1e-300, 1.0, 1e300, DBL_MAX};
    for (int pick = 0; pick < 625; ++pick) {
        double rows[9] = {
            values[pick % 5], values[pick / 5 % 5], 0, 0, 0, values[pick / 25 % 5], 0, values[pick / 125], 0};
        dense d = dense_from(3, rows);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        double r[3], s[3];
        assert_int_equal(sd_scale_ruiz(&c, &A, false, r, s), SADDLE_OK);
        assert_positive(r, 3);
        assert_positive(s, 3);
        for (int i = 0; i < 3; ++i) assert_true(scaled_norm(&d, r, s, i, false) <= 1 + 2e-3);
        assert_int_equal(sd_scale_col2(&c, &A, false, r, s), SADDLE_OK);
        assert_positive(r, 3);
        assert_positive(s, 3);
        sd_csr_free(&c, &A);
        dense_free(&d);
    }
}

static void nothing_is_scaled_by_one(void **state)
{
    (void)state;
    for (int n = 0; n < 3; ++n) {
        dense d = dense_new(n);
        if (n > 1) dense_set(&d, 0, 1, 0.0);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        double r[3], s[3];
        for (int symmetric = 0; symmetric < 2; ++symmetric) {
            assert_int_equal(sd_scale_ruiz(&c, &A, symmetric, r, s), SADDLE_OK);
            for (int i = 0; i < n; ++i) assert_true(r[i] == 1.0 && s[i] == 1.0);
            assert_int_equal(sd_scale_col2(&c, &A, symmetric, r, s), SADDLE_OK);
            for (int i = 0; i < n; ++i) assert_true(r[i] == 1.0 && s[i] == 1.0);
        }
        sd_csr_free(&c, &A);
        dense_free(&d);
    }
}

static void a_bad_scale_is_named(void **state)
{
    (void)state;
    const double bad[] = {0.0, -1.0, NAN, INFINITY, -0.0};
    sd_context c;
    sd_context_init(&c, NULL, 0);
    const double good[3] = {DBL_TRUE_MIN, 1.0, DBL_MAX};
    assert_int_equal(sd_scale_check(&c, good, 3, "row scaling"), SADDLE_OK);
    for (int b = 0; b < 5; ++b) {
        const double scale[4] = {1.0, 2.0, bad[b], bad[b]};
        assert_int_equal(sd_scale_check(&c, scale, 4, "row scaling"), SADDLE_BAD_VALUE);
        assert_contains(c.message, "row scaling");
        assert_contains(c.message, "entry 3 (counted from 1) ");
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    dense d = random_matrix(&r, 8, true, 3);
    sd_context plain;
    sd_context_init(&plain, NULL, 0);
    sd_csr A = csr_of(&plain, &d);
    double rows[8], cols[8];
    for (int way = 0; way < 4; ++way) {
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = way / 2 ? sd_scale_ruiz(&c, &A, way % 2, rows, cols)
                                                 : sd_scale_col2(&c, &A, way % 2, rows, cols);
            assert_int_equal(f.live, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
        }
    }
    sd_csr_free(&plain, &A);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruiz_makes_every_norm_one),
        cmocka_unit_test(col2_is_the_root_of_the_norm),
        cmocka_unit_test(extreme_entries_give_finite_scales),
        cmocka_unit_test(nothing_is_scaled_by_one),
        cmocka_unit_test(a_bad_scale_is_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
