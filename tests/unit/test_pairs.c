/*
 * Pairs from the cycles of a matching: the best split of each cycle against all of them, open paths, zero
 * diagonals; the numbers of the compressed graph; which rows need their pairs.
 */
#include "helpers.h"

#include "csr_of.h"
#include "failing_allocator.h"
#include "prepare/pairs.h"

enum { MOST = 14 };

static void set_both(dense *d, int i, int j, double value)
{
    dense_set(d, i, j, value);
    dense_set(d, j, i, value);
}

/* A random permutation as a matching, on random nonzeros of a symmetric matrix; some diagonals are 0. */
static dense random_cycles(rng *r, int n, int32_t *row_of, double *scale)
{
    dense d = dense_new(n);
    rng_permutation(r, n, row_of);
    for (int i = 0; i < n; ++i) {
        scale[i] = pow(10.0, rng_unit(r));
        if (rng_below(r, 3)) set_both(&d, i, i, pow(10.0, rng_unit(r)));
    }
    for (int j = 0; j < n; ++j) set_both(&d, row_of[j], j, pow(10.0, rng_unit(r)));
    return d;
}

static double log_scaled(const dense *d, const double *scale, int i, int j)
{
    return log(fabs(scale[i] * dense_at(d, i, j) * scale[j]));
}

/* The largest sum over all splits of the cycle through `first`; zero diagonals only where all are. */
static double best_split(const dense *d, const int32_t *row_of, const double *scale, int first)
{
    int row[MOST], length = 0;
    bool diagonal = false;
    for (int t = first; length == 0 || t != first; t = row_of[t]) {
        row[length++] = t;
        diagonal = diagonal || dense_at(d, t, t) != 0;
    }
    double best = -INFINITY;
    for (int start = 0; start < length; ++start) {
        double sum = 0;
        const int single = row[start];
        if (length % 2 && diagonal) sum = log_scaled(d, scale, single, single);
        for (int t = length % 2; t + 1 < length; t += 2)
            sum += log_scaled(d, scale, row[(start + t) % length], row[(start + t + 1) % length]);
        best = fmax(best, sum);
    }
    return best;
}

static double sum_of_split(const dense *d, const int32_t *row_of, const double *scale, const int32_t *partner,
                           int first)
{
    double sum = 0;
    bool diagonal = false, begun = false;
    for (int t = first; !begun || t != first; t = row_of[t], begun = true)
        diagonal = diagonal || dense_at(d, t, t) != 0;
    begun = false;
    for (int t = first; !begun || t != first; t = row_of[t], begun = true) {
        if (partner[t] >= 0)
            sum += 0.5 * log_scaled(d, scale, t, partner[t]);
        else if (diagonal)
            sum += log_scaled(d, scale, t, t);
    }
    return sum;
}

static void every_cycle_gets_its_best_split(void **state)
{
    (void)state;
    rng r = rng_start("cycles");
    for (int round = 0; round < 3000; ++round) {
        const int n = 1 + rng_below(&r, MOST);
        int32_t row_of[MOST], partner[MOST];
        double scale[MOST];
        dense d = random_cycles(&r, n, row_of, scale);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        assert_int_equal(sd_pairs_split(&c, &A, row_of, scale, partner), SADDLE_OK);
        for (int i = 0; i < n; ++i) {
            if (partner[i] >= 0) {
                assert_int_equal(partner[partner[i]], i);
                assert_true(partner[i] == row_of[i] || row_of[partner[i]] == i);
            }
            if (row_of[i] == i) assert_int_equal(partner[i], -1);
            const double want = best_split(&d, row_of, scale, i);
            const double got = sum_of_split(&d, row_of, scale, partner, i);
            if (!(fabs(got - want) <= 1e-7))
                fail_msg("round %d, row %d: %.12g, not %.12g", round, i, got, want);
        }
        sd_csr_free(&c, &A);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* Both halves of an even cycle and all choices of an odd one are the same: the lowest index wins. */
static void ties_go_to_the_lowest_index(void **state)
{
    (void)state;
    dense d = dense_new(7);
    for (int i = 0; i < 7; ++i) dense_set(&d, i, i, 1.0);
    for (int i = 0; i < 4; ++i) set_both(&d, i, (i + 1) % 4, 1.0);
    for (int i = 4; i < 7; ++i) set_both(&d, i, i == 6 ? 4 : i + 1, 1.0);
    const int32_t row_of[7] = {1, 2, 3, 0, 5, 6, 4};
    const double scale[7] = {1, 1, 1, 1, 1, 1, 1};
    int32_t partner[7];
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    assert_int_equal(sd_pairs_split(&c, &A, row_of, scale, partner), SADDLE_OK);
    const int32_t want[7] = {1, 0, 3, 2, -1, 6, 5};
    assert_memory_equal(partner, want, sizeof want);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

static void an_odd_cycle_leaves_no_zero_diagonal(void **state)
{
    (void)state;
    const double rows[9] = {0, 100, 100, 100, 1e-9, 1e-3, 100, 1e-3, 0};
    dense d = dense_from(3, rows);
    const int32_t row_of[3] = {1, 2, 0};
    const double scale[3] = {1, 1, 1};
    int32_t partner[3];
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    assert_int_equal(sd_pairs_split(&c, &A, row_of, scale, partner), SADDLE_OK);
    const int32_t want[3] = {2, -1, 0};
    assert_memory_equal(partner, want, sizeof want);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

/* Column 0 leads to row 2, that to 1, that to 4, which is unmatched; 3 stands alone. */
static void an_open_path_is_cut_from_its_end(void **state)
{
    (void)state;
    dense d = dense_new(5);
    set_both(&d, 2, 0, 1.0);
    set_both(&d, 1, 2, 1.0);
    set_both(&d, 4, 1, 1.0);
    const int32_t row_of[5] = {2, 4, 1, -1, -1};
    const double scale[5] = {1, 1, 1, 1, 1};
    int32_t partner[5];
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    assert_int_equal(sd_pairs_split(&c, &A, row_of, scale, partner), SADDLE_OK);
    const int32_t want[5] = {2, 4, 0, -1, 1};
    assert_memory_equal(partner, want, sizeof want);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

static void a_zero_makes_no_pair(void **state)
{
    (void)state;
    dense d = dense_new(2);
    set_both(&d, 0, 1, 0.0);
    const int32_t row_of[2] = {1, 0};
    const double scale[2] = {1, 1};
    int32_t partner[2];
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    assert_int_equal(sd_pairs_split(&c, &A, row_of, scale, partner), SADDLE_OK);
    assert_int_equal(partner[0], -1);
    assert_int_equal(partner[1], -1);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

static void parts_are_numbered_by_their_first_row(void **state)
{
    (void)state;
    const int32_t partner[6] = {3, -1, 5, 0, -1, 2}, want[6] = {0, 1, 2, 0, 3, 2};
    int32_t part[6];
    assert_int_equal(sd_pairs_parts(6, partner, part), 4);
    assert_memory_equal(part, want, sizeof want);
    assert_int_equal(sd_pairs_parts(0, partner, part), 0);
}

/* Row 0 is large; 1 is small and mended by it; 2 couples to small rows only; 3 too weakly to row 0. */
static void small_diagonals_that_nothing_mends_are_needy(void **state)
{
    (void)state;
    dense d = dense_new(4);
    dense_set(&d, 0, 0, 1.0);
    set_both(&d, 0, 1, -1.0);
    set_both(&d, 1, 2, 1.0);
    set_both(&d, 0, 3, 0.09);
    dense_set(&d, 3, 3, 0.009);
    double scale[4] = {1, 1, 1, 1};
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    sd_need need;
    assert_int_equal(sd_pairs_need(&c, &A, scale, &need), SADDLE_OK);
    assert_int_equal(need.small_diagonals, 3);
    assert_int_equal(need.needy, 2);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    int32_t row_of[MOST], partner[MOST];
    double scale[MOST];
    dense d = random_cycles(&r, MOST, row_of, scale);
    sd_context plain;
    sd_context_init(&plain, NULL, 0);
    sd_csr A = csr_of(&plain, &d);
    for (int way = 0; way < 2; ++way) {
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            sd_need need;
            const saddle_status status =
                way ? sd_pairs_split(&c, &A, row_of, scale, partner) : sd_pairs_need(&c, &A, scale, &need);
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
        cmocka_unit_test(every_cycle_gets_its_best_split),
        cmocka_unit_test(ties_go_to_the_lowest_index),
        cmocka_unit_test(an_odd_cycle_leaves_no_zero_diagonal),
        cmocka_unit_test(an_open_path_is_cut_from_its_end),
        cmocka_unit_test(a_zero_makes_no_pair),
        cmocka_unit_test(parts_are_numbered_by_their_first_row),
        cmocka_unit_test(small_diagonals_that_nothing_mends_are_needy),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
