/* The reference's factorizations of blocks, which are what all others are held against. */
#include "block_oracle.h"

#define EACH_KERNEL(kernel, precision)                                                                       \
    for (sd_batch_kernel kernel = 0; kernel < BENCH_KERNELS; ++kernel)                                       \
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision)

static factors factor_on_reference(const batch *b, sd_batch_kernel kernel, double small)
{
    bench s;
    bench_open(&s, &sd_backend_reference, 1);
    const sd_batch_rule rule = {.kernel = kernel, .small = small};
    factors f = factor_batch(&s.e, b, &rule);
    bench_close(&s);
    return f;
}

/* One block of n rows, written out by rows. */
static batch one_block(sd_precision precision, int n, const double *rows)
{
    batch b = batch_new(precision, 1, &n);
    for (int at = 0; at < n * n; ++at) real_set(b.data, precision, at, rows[at % n * n + at / n]);
    return b;
}

static void assert_order(const uint8_t *order, int n, const int *expected)
{
    for (int i = 0; i < n; ++i) assert_int_equal(order[i], expected[i]);
}

static void every_factorization_multiplies_back_to_its_block(void **state)
{
    (void)state;
    rng r = rng_start("multiplies back");
    EACH_KERNEL(kernel, precision)
    {
        if (!has_triangles(kernel)) continue;
        batch b = batch_of_kinds(&r, precision, is_symmetric(kernel), ALL_KINDS, 2);
        factors f = factor_on_reference(&b, kernel, 0);
        for (int32_t k = 0; k < b.blocks; ++k) {
            if (f.state[k].status) continue;
            const double error = rounding_error(&b, &f, k);
            if (!(error <= ROUNDINGS))
                fail_msg("%s in %s: %g roundings (%s, %d rows)", kernel_names[kernel],
                         precision_name(precision), error, kind_names[b.kind[k]], batch_size(&b, k));
        }
        free_factors(&f);
        batch_free(&b);
    }
}

/* A X = I in rounding, where the blocks are well conditioned. */
static void gauss_jordan_gives_the_inverse(void **state)
{
    (void)state;
    rng r = rng_start("inverse");
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        batch b = batch_of_kinds(&r, precision, false, BLOCK_KINDS, 2);
        factors f = factor_on_reference(&b, SD_JORDAN, 0);
        for (int32_t k = 0; k < b.blocks; ++k) {
            const int n = batch_size(&b, k);
            const bool well = b.kind[k] == DOMINANT || b.kind[k] == PERMUTATION || b.kind[k] == HADAMARD;
            for (int at = 0; at < n * n && well; ++at) {
                long double sum = -(at % n == at / n), size = 0;
                for (int s = 0; s < n; ++s) {
                    const long double term =
                        (long double)batch_at(&b, k, at % n, s) *
                        (long double)real_at(f.data, precision, b.entry[k] + s + at / n * n);
                    sum += term;
                    size += fabsl(term);
                }
                assert_true(fabsl(sum) <= 4 * n * unit_of(precision) * (1 + size));
            }
        }
        free_factors(&f);
        batch_free(&b);
    }
}

/* Below the diagonal Gauss-Huard leaves the entries of A as they were, columns in the order of the pivots;
 * the second storage differs from the first by the place of what is above. */
static void gauss_huard_keeps_the_lower_entries_in_both_storages(void **state)
{
    (void)state;
    rng r = rng_start("huard");
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        batch b = batch_of_kinds(&r, precision, false, BLOCK_KINDS, 1);
        factors f = factor_on_reference(&b, SD_HUARD, 0);
        factors g = factor_on_reference(&b, SD_HUARD_TRANSPOSED, 0);
        assert_memory_equal(f.state, g.state, sizeof *f.state * (size_t)b.blocks);
        assert_memory_equal(f.column, g.column, (size_t)f.rows);
        for (int32_t k = 0; k < b.blocks; ++k) {
            const int n = batch_size(&b, k);
            const uint8_t *column = f.column + b.start[k];
            for (int at = 0; at < n * n; ++at) {
                const int i = at % n, j = at / n, there = i < j ? n - 1 - j + (n - 1 - i) * n : at;
                const double a = real_at(f.data, precision, b.entry[k] + at);
                assert_true(a == real_at(g.data, precision, b.entry[k] + there));
                if (i > j && !f.state[k].status) assert_true(a == batch_at(&b, k, i, column[j]));
            }
        }
        free_factors(&f);
        free_factors(&g);
        batch_free(&b);
    }
}

/* The key has 20 bits of the mantissa in double. */
static double bound_of_multipliers(sd_batch_kernel kernel)
{
    if (is_ldu(kernel) && is_pivoted(kernel)) return 1 + 0x1p-19;
    return kernel == SD_LDLT_COMPLETE ? 1 / (1 - SD_BLOCK_ALPHA) + 0x1p-17 : INFINITY;
}

static void pivoting_bounds_the_multipliers(void **state)
{
    (void)state;
    rng r = rng_start("multipliers");
    static triangles t;
    EACH_KERNEL(kernel, precision)
    {
        if (!isfinite(bound_of_multipliers(kernel)) && kernel != BENCH_LLT_DIAGONAL) continue;
        batch b = batch_of_kinds(&r, precision, is_symmetric(kernel), BLOCK_KINDS, 2);
        factors f = factor_on_reference(&b, kernel, 0);
        for (int32_t k = 0; k < b.blocks; ++k) {
            const int n = batch_size(&b, k);
            take_apart(&b, &f, k, &t);
            for (int at = 0; at < n * n; ++at) {
                const int i = at % n, j = at / n;
                if (kernel == BENCH_LLT_DIAGONAL)
                    assert_true(fabsl(t.l[at]) <= t.l[j + j * n] * (1 + 0x1p-19L));
                else
                    assert_true(fabsl(t.l[at]) <= bound_of_multipliers(kernel));
                if (kernel == BENCH_LDU_FULL && i < j) assert_true(fabsl(t.u[at]) <= 1 + 0x1p-19);
            }
        }
        free_factors(&f);
        batch_free(&b);
    }
}

static void among_equals_the_lowest_row_and_then_column_is_the_pivot(void **state)
{
    (void)state;
    const double ones[] = {2, 2, 0, 2, -2, 0, 0, 0, 2};
    const double shift[] = {0, 0, 3, 3, 0, 0, 0, 3, 0}; /* row i has its entry in column i - 1 */
    /* the pairs 0, 4 and 1, 2 and a diagonal entry, all of one size */
    const double swaps[] = {0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0};
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        batch b[] = {one_block(precision, 3, ones), one_block(precision, 3, shift),
                     one_block(precision, 5, swaps)};
        factors partial = factor_on_reference(&b[0], SD_LDU_PARTIAL, 0);
        assert_order(partial.row, 3, (int[]){0, 1, 2});
        factors full = factor_on_reference(&b[0], BENCH_LDU_FULL, 0); /* what is left has its 4 at (1, 1) */
        assert_order(full.row, 3, (int[]){0, 1, 2});
        assert_order(full.column, 3, (int[]){0, 1, 2});
        factors first = factor_on_reference(&b[0], SD_HUARD, 0);
        assert_order(first.column, 3, (int[]){0, 1, 2});
        factors shifted = factor_on_reference(&b[1], SD_LDU_PARTIAL, 0);
        assert_order(shifted.row, 3, (int[]){1, 2, 0});
        factors both = factor_on_reference(&b[1], BENCH_LDU_FULL, 0);
        assert_order(both.row, 3, (int[]){0, 1, 2});
        assert_order(both.column, 3, (int[]){2, 0, 1});
        factors huard = factor_on_reference(&b[1], SD_HUARD, 0);
        assert_order(huard.column, 3, (int[]){2, 0, 1});
        factors complete = factor_on_reference(&b[2], SD_LDLT_COMPLETE, 0);
        assert_order(complete.row, 5, (int[]){3, 0, 4, 1, 2});
        assert_int_equal(complete.state[0].pairs, 1u << 1 | 1u << 3);
        assert_int_equal(complete.state[0].negative, 3);
        factors kaufman = factor_on_reference(&b[2], SD_LDLT_BUNCH_KAUFMAN, 0);
        assert_order(kaufman.row, 5, (int[]){0, 4, 2, 1, 3});
        factors *all[] = {&partial, &full, &first, &shifted, &both, &huard, &complete, &kaufman};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) free_factors(all[k]);
        for (int k = 0; k < 3; ++k) batch_free(&b[k]);
    }
}

static void static_pivots_take_two_neighbours_where_that_is_better(void **state)
{
    (void)state;
    const double swapped[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 4, 1, 0, 0, 1, 0}; /* [0 1; 1 0], [4 1; 1 0] */
    const double weak[] = {1e-3, 1, 0, 1, 1, 0, 0, 0, 1};
    const double strong[] = {1, 1, 0, 1, 1e-3, 0, 0, 0, 1};
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        batch b[] = {one_block(precision, 4, swapped), one_block(precision, 3, weak),
                     one_block(precision, 3, strong)};
        const uint32_t pairs[] = {1, 1, 0};
        const int negative[] = {2, 1, 1};
        for (int k = 0; k < 3; ++k) {
            factors f = factor_on_reference(&b[k], SD_LDLT_STATIC, 0);
            assert_int_equal(f.state[0].status, SD_BLOCK_OK);
            assert_int_equal(f.state[0].pairs, pairs[k]);
            assert_int_equal(f.state[0].negative, negative[k]);
            free_factors(&f);
            batch_free(&b[k]);
        }
    }
}

/* Expected of a block of a kind that every kernel judges alike; -1 where it depends on the numbers. */
static int expected_status(sd_batch_kernel kernel, block_kind kind, int n)
{
    const bool symmetric = is_symmetric(kernel);
    switch (kind) {
    case WITH_NAN:
    case WITH_INFINITY: return SD_BLOCK_NOT_FINITE;
    case ALL_ZERO:
    case DENORMAL:
    case ZERO_ROW: return is_cholesky(kernel) ? SD_BLOCK_INDEFINITE : SD_BLOCK_SINGULAR;
    case DOMINANT: return is_cholesky(kernel) ? -1 : SD_BLOCK_OK;
    case POSITIVE: return SD_BLOCK_OK;
    case ZERO_DIAGONAL:
        if (is_cholesky(kernel)) return SD_BLOCK_INDEFINITE;
        return n == 1 ? SD_BLOCK_SINGULAR : is_pivoted(kernel) && (n > 3 || !symmetric) ? SD_BLOCK_OK : -1;
    case RANDOM:
    case GRADED:
    case PERMUTATION:
    case HADAMARD:
    case SADDLE_POINT: return is_pivoted(kernel) && !is_cholesky(kernel) ? SD_BLOCK_OK : -1;
    default: return -1;
    }
}

static void what_cannot_be_factored_is_reported_and_replaced(void **state)
{
    (void)state;
    rng r = rng_start("replaced");
    EACH_KERNEL(kernel, precision)
    {
        batch b = batch_of_kinds(&r, precision, is_symmetric(kernel), ALL_KINDS, 2);
        factors f = factor_on_reference(&b, kernel, 0);
        int replaced = 0;
        for (int32_t k = 0; k < b.blocks; ++k) {
            const int expected = expected_status(kernel, b.kind[k], batch_size(&b, k));
            assert_well_formed(&b, &f, k);
            if (expected >= 0 && f.state[k].status != expected)
                fail_msg("%s: block %d (%s, %d rows) has status %d, not %d", kernel_names[kernel], k,
                         kind_names[b.kind[k]], batch_size(&b, k), f.state[k].status, expected);
            if (f.state[k].status) assert_replaced(&b, &f, k);
            replaced += f.state[k].status != SD_BLOCK_OK;
        }
        assert_true(replaced >= 5 * 2 * SD_BLOCK_MOST);
        free_factors(&f);
        batch_free(&b);
    }
}

static double tiny_of(sd_precision precision)
{
    return precision == SD_DOUBLE ? SD_BLOCK_TINY_DOUBLE : (double)SD_BLOCK_TINY_SINGLE;
}

static void assert_status(const batch *b, sd_batch_kernel kernel, int expected)
{
    factors f = factor_on_reference(b, kernel, 0);
    if (f.state[0].status != expected)
        fail_msg("%s in %s: status %d, not %d", kernel_names[kernel], precision_name(b->precision),
                 f.state[0].status, expected);
    assert_well_formed(b, &f, 0);
    if (expected) assert_replaced(b, &f, 0);
    free_factors(&f);
}

static void pivots_below_the_tiny_number_are_zero(void **state)
{
    (void)state;
    EACH_KERNEL(kernel, precision)
    {
        const double tiny = tiny_of(precision), less = tiny * (1 - 0x1p-20), b = 1.2 * tiny;
        const double paired[] = {0.6 * b, b, b, 0.6 * b}; /* b (xy - 1) is 0.77 tiny */
        batch one = one_block(precision, 1, &tiny), zero = one_block(precision, 1, &less);
        batch pair = one_block(precision, 2, paired);
        assert_status(&one, kernel, SD_BLOCK_OK);
        assert_status(&zero, kernel, is_cholesky(kernel) ? SD_BLOCK_INDEFINITE : SD_BLOCK_SINGULAR);
        if (is_ldlt(kernel)) assert_status(&pair, kernel, SD_BLOCK_SINGULAR);
        batch_free(&one);
        batch_free(&zero);
        batch_free(&pair);
    }
}

/* A pivot that is infinite, which in the inverse would leave nothing but zeros, and an infinite entry beside
 * pivots that are not. */
static void what_overflows_on_the_way_is_not_finite(void **state)
{
    (void)state;
    for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision) {
        const double large = precision == SD_DOUBLE ? 1e308 : 3e38, root = sqrt(large);
        const double pivot[] = {1, large, 1, -large}, beside[] = {1 / root, 2 * root, 0, 1};
        batch a = one_block(precision, 2, pivot), b = one_block(precision, 2, beside);
        assert_status(&a, BENCH_LDU, SD_BLOCK_NOT_FINITE);
        assert_status(&a, SD_LDU_PARTIAL, SD_BLOCK_NOT_FINITE);
        assert_status(&a, SD_JORDAN, SD_BLOCK_NOT_FINITE);
        assert_status(&b, BENCH_LDU, SD_BLOCK_NOT_FINITE);
        assert_status(&b, SD_LDU_PARTIAL, SD_BLOCK_NOT_FINITE);
        batch_free(&a);
        batch_free(&b);
    }
}

static void small_pivots_are_moved_away_from_zero_and_counted(void **state)
{
    (void)state;
    rng r = rng_start("small pivots");
    const double small = 0x1p-10;
    EACH_KERNEL(kernel, precision)
    {
        if (!is_ldu(kernel) && !is_ldlt(kernel)) continue;
        batch b = batch_of_kinds(&r, precision, is_symmetric(kernel), ALL_KINDS, 2);
        factors f = factor_on_reference(&b, kernel, small);
        int count = 0;
        for (int32_t k = 0; k < b.blocks; ++k) {
            const bool spread = b.kind[k] == SPREAD || b.kind[k] == GRADED || b.kind[k] == HUGE_ENTRIES;
            assert_well_formed(&b, &f, k);
            assert_true(f.state[k].status == SD_BLOCK_OK || f.state[k].status == SD_BLOCK_NOT_FINITE);
            if (f.state[k].status) assert_replaced(&b, &f, k);
            if (f.state[k].status || spread) continue;
            if (b.kind[k] == ALL_ZERO) assert_int_equal(f.state[k].perturbed, batch_size(&b, k));
            const moved m = check_small_pivots(&b, &f, k, small);
            assert_in_range(f.state[k].perturbed, m.least, m.most);
            count += f.state[k].perturbed;
        }
        assert_true(count > b.blocks / 16);
        free_factors(&f);
        batch_free(&b);
    }
}

/* Of pairs as they are taken: eigenvalues of any signs and sizes, b small beside a - c too. */
static void eigenvalues_of_pairs_keep_their_signs_when_they_are_moved(void **state)
{
    (void)state;
    rng r = rng_start("pairs");
    int one = 0, two = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const double small = 1e-6 * power_of_ten(&r, 6);
        const double a = rng_below(&r, 4) ? rng_unit(&r) * power_of_ten(&r, 16) : 0;
        const double b = rng_unit(&r) * power_of_ten(&r, 16), c = rng_unit(&r) * power_of_ten(&r, 16);
        if (!(fabs(b) > 1e-30)) continue;
        sd_pair_double p = {a, b, c};
        const eigenvalues was = eigenvalues_of(a, b, c);
        const int count = sd_pair_clamp_double(&p, small);
        const eigenvalues now = eigenvalues_of(p.a, p.b, p.c);
        const long double doubt = 64 * DBL_EPSILON * fmaxl(fabsl(now.low), fabsl(now.high));
        if (count == 0) assert_true(p.a == a && p.b == b && p.c == c);
        assert_true(!sd_pair_is_zero_double(p));
        const long double sharp = 64 * 0x1p-64L * fmaxl(fabsl(was.low), fabsl(was.high));
        if (doubt > small / 4) continue; /* there is no such pair in double */
        moved m = {0, 0};
        check_moved(was.low, sharp, now.low, doubt, (long double)small, &m);
        check_moved(was.high, sharp, now.high, doubt, (long double)small, &m);
        assert_in_range(count, m.least, m.most);
        assert_int_equal(sd_pair_negative_double(p), (now.low < 0) + (now.high < 0));
        one += count == 1;
        two += count == 2;
    }
    assert_true(one > 1000 && two > 100);
}

static void a_result_may_take_the_place_of_its_block(void **state)
{
    (void)state;
    rng r = rng_start("in place");
    EACH_KERNEL(kernel, precision)
    {
        batch b = batch_of_kinds(&r, precision, is_symmetric(kernel), ALL_KINDS, 1);
        factors f = factor_on_reference(&b, kernel, 0);
        bench s;
        bench_open(&s, &sd_backend_reference, 1);
        const sd_batch_rule rule = {.kernel = kernel};
        placed_batch p;
        place_batch(&s.e, &b, NULL, NULL, NULL, &p);
        void *apart = p.f.data;
        p.f.data = p.x.data;
        bench_factor(&s.e, &rule, BENCH_DEFAULT, &p.x, &p.f);
        factors g = get_factors(&s.e, &p);
        assert_memory_equal(f.data, g.data, (size_t)f.entries * sd_precision_size(precision));
        assert_memory_equal(f.state, g.state, (size_t)f.blocks * sizeof *f.state);
        p.f.data = apart;
        unplace_batch(&s.e, &p);
        free_factors(&f);
        free_factors(&g);
        bench_close(&s);
        batch_free(&b);
    }
}

static void blocks_that_are_not_in_the_plan_are_left_alone(void **state)
{
    (void)state;
    rng r = rng_start("some blocks");
    batch b = batch_of_kinds(&r, SD_DOUBLE, false, BLOCK_KINDS, 1);
    bool *wanted = test_alloc((size_t)b.blocks, sizeof *wanted);
    for (int32_t k = 0; k < b.blocks; ++k) wanted[k] = rng_below(&r, 3) > 0;
    factors all = factor_on_reference(&b, BENCH_LDU_FULL, 0);
    bench s;
    bench_open(&s, &sd_backend_reference, 1);
    const sd_batch_rule rule = {.kernel = BENCH_LDU_FULL};
    placed_batch p;
    place_batch(&s.e, &b, wanted, NULL, NULL, &p);
    factors f = factor_placed(&s.e, &p, &rule, BENCH_DEFAULT);
    const char *next = f.data;
    for (int32_t k = 0; k < b.blocks; ++k) {
        const size_t bytes = (size_t)(b.entry[k + 1] - b.entry[k]) * sizeof(double);
        const sd_batch_state untouched = {0xa5a5a5a5, UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
        assert_memory_equal(&f.state[k], wanted[k] ? &all.state[k] : &untouched, sizeof untouched);
        for (int32_t row = b.start[k]; row < b.start[k + 1]; ++row) {
            assert_int_equal(f.row[row], wanted[k] ? all.row[row] : UNTOUCHED);
            assert_int_equal(f.column[row], wanted[k] ? all.column[row] : UNTOUCHED);
        }
        if (!wanted[k]) continue;
        assert_memory_equal(next, (double *)all.data + b.entry[k], bytes);
        next += bytes;
    }
    unplace_batch(&s.e, &p);
    bench_close(&s);
    free_factors(&all);
    free_factors(&f);
    free(wanted);
    batch_free(&b);
}

static void an_empty_batch_is_nothing_to_do(void **state)
{
    (void)state;
    EACH_KERNEL(kernel, precision)
    {
        batch b = batch_new(precision, 0, NULL);
        factors f = factor_on_reference(&b, kernel, 0);
        assert_true(f.entries == 0 && f.rows == 0 && f.blocks == 0);
        free_factors(&f);
        batch_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_factorization_multiplies_back_to_its_block),
        cmocka_unit_test(gauss_jordan_gives_the_inverse),
        cmocka_unit_test(gauss_huard_keeps_the_lower_entries_in_both_storages),
        cmocka_unit_test(pivoting_bounds_the_multipliers),
        cmocka_unit_test(among_equals_the_lowest_row_and_then_column_is_the_pivot),
        cmocka_unit_test(static_pivots_take_two_neighbours_where_that_is_better),
        cmocka_unit_test(what_cannot_be_factored_is_reported_and_replaced),
        cmocka_unit_test(pivots_below_the_tiny_number_are_zero),
        cmocka_unit_test(what_overflows_on_the_way_is_not_finite),
        cmocka_unit_test(small_pivots_are_moved_away_from_zero_and_counted),
        cmocka_unit_test(eigenvalues_of_pairs_keep_their_signs_when_they_are_moved),
        cmocka_unit_test(a_result_may_take_the_place_of_its_block),
        cmocka_unit_test(blocks_that_are_not_in_the_plan_are_left_alone),
        cmocka_unit_test(an_empty_batch_is_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
