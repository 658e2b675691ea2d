/*
 * What `saddle bench blocks` says rests on: blocks that are what their kind promises, residuals that see a
 * wrong entry in any form of result, lines that are read as they were written, and the ratios made of them.
 */
#include "backend/batch_memory.h"
#include "bench/blocks/blocks.h"
#include "bench/blocks/driver/driver.h"
#include "cli/memory.h"
#include "cli/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int32_t sizes[] = {1, 2, 3, 7, 16, 31, 32};

/* One block factored by the reference. */
typedef struct factored {
    double a[1024], b[32], f[1024];
    uint8_t row[32], column[32];
    sd_batch_state state;
} factored;

static void factor(sd_batch_kernel kernel, sd_precision precision, int32_t number, int32_t n, factored *to)
{
    sd_context c;
    sd_engine e;
    const int32_t start[2] = {0, n};
    sd_batch_plan plan;
    float narrow[1024];
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_engine_open_host(&c, &e, SADDLE_DEVICE_REFERENCE, 1), SADDLE_OK);
    assert_int_equal(sd_batch_place(&e, 1, start, NULL, NULL, NULL, &plan), SADDLE_OK);
    sd_batch_factors f = sd_batch_factors_new(&e, &plan, precision);
    assert_int_equal(e.status, SADDLE_OK);
    blocks_make(blocks_kind_of(kernel), precision, number, n, to->a);
    blocks_make_rhs(precision, number, n, to->b);
    for (int32_t k = 0; k < n * n; ++k) narrow[k] = (float)to->a[k];
    const sd_batch x = {&plan, precision == SD_DOUBLE ? (void *)to->a : (void *)narrow, precision};
    const sd_batch_rule rule = {.kernel = kernel};
    bench_factor(&e, &rule, BENCH_DEFAULT, &x, &f);
    for (int32_t k = 0; k < n * n; ++k)
        to->f[k] = precision == SD_DOUBLE ? ((double *)f.data)[k] : (double)((float *)f.data)[k];
    memcpy(to->row, f.row, (size_t)n);
    memcpy(to->column, f.column, (size_t)n);
    to->state = f.state[0];
    sd_batch_factors_free(&e, &f);
    sd_batch_unplace(&e, &plan);
    sd_engine_close(&e);
    assert_int_equal(c.bytes, 0);
}

static double residual(sd_batch_kernel kernel, int32_t n, const factored *r)
{
    const blocks_result result = {blocks_form_of(kernel),
                                  n,
                                  r->f,
                                  r->row,
                                  r->column,
                                  blocks_form_of(kernel) == BLOCKS_LDLT ? r->state.pairs : 0};
    return blocks_residual(&result, r->a, r->b);
}

static void residuals_of_what_the_reference_makes_are_of_the_size_of_rounding(void **state)
{
    (void)state;
    for (int k = 0; k < BENCH_KERNELS; ++k) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            for (int p = 0; p < SD_PRECISIONS; ++p) {
                factored r;
                const double unit = p == SD_DOUBLE ? 1e-16 : 6e-8;
                factor((sd_batch_kernel)k, (sd_precision)p, 5 + (int32_t)s, sizes[s], &r);
                assert_int_equal(r.state.status, SD_BLOCK_OK);
                assert_true(residual((sd_batch_kernel)k, sizes[s], &r) < 30 * unit);
            }
        }
    }
}

static void a_wrong_entry_anywhere_is_seen(void **state)
{
    (void)state;
    const int32_t n = 6;
    for (int k = 0; k < BENCH_KERNELS; ++k) {
        factored r;
        factor((sd_batch_kernel)k, SD_DOUBLE, 8, n, &r);
        for (int32_t at = 0; at < n * n; ++at) {
            const double kept = r.f[at];
            /* above the diagonal the symmetric forms repeat what is below */
            const bool repeated = sd_batch_symmetric(bench_form((sd_batch_kernel)k)) && at % n < at / n;
            r.f[at] += 1e-3;
            const double changed = residual((sd_batch_kernel)k, n, &r);
            if (repeated)
                assert_true(changed < 1e-14);
            else
                assert_true(changed > 1e-8);
            r.f[at] = kept;
        }
    }
}

static void what_is_not_finite_has_an_infinite_residual(void **state)
{
    (void)state;
    factored r;
    factor(SD_JORDAN, SD_DOUBLE, 1, 4, &r);
    r.f[5] = NAN;
    assert_true(isinf(residual(SD_JORDAN, 4, &r)));
}

static void lapacks_form_has_the_diagonal_in_u(void **state)
{
    (void)state;
    const double a[4] = {2, 4, 1, 5}, lu[4] = {4, 0.5, 5, -1.5}; /* rows exchanged */
    const uint8_t row[2] = {1, 0};
    const blocks_result r = {BLOCKS_LU, 2, lu, row, NULL, 0};
    assert_true(blocks_residual(&r, a, NULL) == 0.0);
}

static void kinds_are_what_they_promise(void **state)
{
    (void)state;
    double a[1024];
    for (int32_t block = 0; block < 20; ++block) {
        const int32_t n = 1 + block % 32;
        blocks_make(BLOCKS_DEFINITE, SD_DOUBLE, block, n, a);
        for (int32_t i = 0; i < n; ++i) {
            double others = 0;
            for (int32_t j = 0; j < n; ++j) {
                assert_true(a[i * n + j] == a[j * n + i]);
                if (i != j) others += fabs(a[i * n + j]);
            }
            assert_true(a[i * n + i] > others || n < 3);
        }
        blocks_make(BLOCKS_GENERAL, SD_SINGLE, block, n, a);
        for (int32_t k = 0; k < n * n; ++k) assert_true(a[k] == (double)(float)a[k] && fabs(a[k]) <= 1);
    }
}

static void places_of_mixed_blocks_add_up(void **state)
{
    (void)state;
    int64_t row = 0, entry = 0, seen[33] = {0};
    for (int32_t k = 0; k < 25000; ++k) {
        const int32_t n = blocks_rows(0, k);
        int64_t first, at;
        assert_in_range(n, 1, 32);
        ++seen[n];
        if (k % 997 == 0 || k > 24990) {
            blocks_place(0, k, &first, &at);
            assert_int_equal(first, row);
            assert_int_equal(at, entry);
        }
        row += n;
        entry += (int64_t)n * n;
    }
    for (int n = 1; n <= 32; ++n) assert_in_range(seen[n], 500, 1100);
    blocks_place(8, 3, &row, &entry);
    assert_int_equal(row, 24);
    assert_int_equal(entry, 192);
}

static void medians_are_in_the_middle(void **state)
{
    (void)state;
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 100};
    assert_true(median_of(odd, 3) == 3 && median_of(even, 4) == 3);
}

/* A report of lines as a driver writes them. */
static blocks_report told(const char *const *lines)
{
    blocks_report t = {.device = "cpu"};
    for (; *lines; ++lines)
        assert_true(block_row_parse(*lines, one_more(&t.rows, &t.row_count, &t.row_room, sizeof *t.rows)));
    return t;
}

#define LINE(part, work, who, name, size, batch, seconds, bytes, flops)                                      \
    "measured part=" part " work=" work " who=" who " name=" name                                            \
    " version=default precision=double size=" size " batch=" batch " rows=4000 seconds=" seconds             \
    " bytes=" bytes " flops=" flops " residual=nan replaced=0 two_by_two=0"

static void ratios_go_to_the_right_rows(void **state)
{
    (void)state;
    static const char *const lines[] = {
        LINE("kernels", "gemm", "machine", "gemm", "0", "0", "0.5", "0", "1e9"),
        LINE("kernels", "copy", "machine", "copy", "4", "1000", "2e-6", "256000", "0"),
        LINE("kernels", "copy", "machine", "copy", "8", "1000", "7e-6", "256000", "0"),
        LINE("kernels", "factor", "saddle", "ldu-full", "4", "1000", "8e-6", "256000", "4000"),
        LINE("kernels", "factor", "saddle", "jordan", "4", "1000", "1e-5", "256000", "4000"),
        LINE("kernels", "factor", "saddle", "ldlt-static", "4", "1000", "1e-5", "256000", "4000"),
        LINE("kernels", "factor", "lapack", "getrf", "4", "1000", "4e-5", "256000", "4000"),
        LINE("kernels", "factor", "lapack", "getrf+getri", "4", "1000", "9e-5", "256000", "4000"),
        LINE("mixed", "factor", "saddle", "huard", "0", "1000", "3e-5", "3e5", "4000"),
        LINE("mixed", "factor", "saddle", "huard", "19", "990", "1e-5", "2e5", "4000"),
        NULL};
    blocks_report t = told(lines);
    assert_true(fabs(block_row_copies(&t, &t.rows[3]) - 4) < 1e-12);
    assert_true(fabs(block_row_speed_up(&t, &t.rows[3]) - 5) < 1e-12);
    assert_true(fabs(block_row_speed_up(&t, &t.rows[4]) - 9) < 1e-12);
    assert_true(isnan(block_row_speed_up(&t, &t.rows[5]))); /* sytrf was not run */
    assert_null(block_row_peer(&t, &t.rows[6]));
    assert_true(fabs(block_row_peak(&t, &t.rows[3]) - 25) < 1e-9);
    assert_true(fabs(block_row_mixed(&t, &t.rows[8]) - 2) < 1e-12);
    free(t.rows);
}

static void the_break_even_is_where_both_have_taken_as_long(void **state)
{
    (void)state;
    static const char *const lines[] = {
        LINE("apply", "copy", "machine", "copy", "4", "1000", "2e-6", "2000", "0"),
        LINE("apply", "factor", "saddle", "jordan", "4", "1000", "30e-6", "1", "1"),
        LINE("apply", "factor", "saddle", "huard", "4", "1000", "10e-6", "1", "1"),
        LINE("apply", "apply", "saddle", "jordan", "4", "1000", "4e-6", "1000", "1"),
        LINE("apply", "apply", "saddle", "huard", "4", "1000", "5e-6", "1000", "1"),
        NULL};
    blocks_report t = told(lines);
    assert_true(fabs(blocks_break_even(&t, "double", 4) - 20) < 1e-6);
    assert_true(isnan(blocks_break_even(&t, "single", 4)) && isnan(blocks_break_even(&t, "double", 8)));
    assert_true(fabs(block_row_floor(&t, &t.rows[3]) - 25) < 1e-9);
    t.rows[4].seconds = 3e-6;
    assert_true(isinf(blocks_break_even(&t, "double", 4)));
    t.rows[2].seconds = 40e-6;
    t.rows[4].seconds = 5e-6;
    assert_true(blocks_break_even(&t, "double", 4) == 0);
    free(t.rows);
}

static void lines_of_another_form_are_refused(void **state)
{
    (void)state;
    block_row row;
    assert_false(block_row_parse("step 1 2", &row));
    assert_false(block_row_parse("measured part=kernels", &row));
    assert_false(block_row_parse(LINE("kernels", "copy", "machine", "copy", "x", "1", "1", "1", "1"), &row));
    assert_false(block_row_parse(LINE("kernels", "copy", "machine", "copy", "-1", "1", "1", "1", "1"), &row));
    assert_false(block_row_parse(
        LINE("kernels", "copy", "machine", "a-name-that-is-far-too-long-for-one", "1", "1", "1", "1", "1"),
        &row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_of_what_the_reference_makes_are_of_the_size_of_rounding),
        cmocka_unit_test(a_wrong_entry_anywhere_is_seen),
        cmocka_unit_test(what_is_not_finite_has_an_infinite_residual),
        cmocka_unit_test(lapacks_form_has_the_diagonal_in_u),
        cmocka_unit_test(kinds_are_what_they_promise),
        cmocka_unit_test(places_of_mixed_blocks_add_up),
        cmocka_unit_test(medians_are_in_the_middle),
        cmocka_unit_test(ratios_go_to_the_right_rows),
        cmocka_unit_test(the_break_even_is_where_both_have_taken_as_long),
        cmocka_unit_test(lines_of_another_form_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
