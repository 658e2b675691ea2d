/* Incomplete factorizations by elimination: on patterns of levels, held against plain loops. */
#include "failing_allocator.h"
#include "incomplete.h"

static void factors_of_any_level_are_those_of_plain_loops(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const int unknowns[] = {1, 1, 2, 3, 4, 6, 8, 11};
    for (int round = 0; round < 200; ++round) {
        const bool symmetric = rng_below(&r, 2);
        const int per = unknowns[round % 8], nodes = 1 + rng_below(&r, 60 / per);
        dense d = blocks_problem(&r, nodes, per, 4 * fabs(rng_unit(&r)), symmetric);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        int64_t before = -1;
        for (int level = 0; level <= 255; level = 3 * level + 1) {
            const sd_incomplete_rule rule = {.level = level, .threads = 1 + rng_below(&r, 2)};
            sd_incomplete m;
            must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
            dense_factors f = dense_factors_of(&m);
            assert_true(m.shift == 0 && m.restarts == 0 && m.sweeps == 0);
            assert_product(&f, &d, &m);
            assert_plain(&f, &d, symmetric);
            const int64_t entries = m.lower.ptr[m.n] + (symmetric ? 0 : m.upper.ptr[m.n]);
            assert_true(entries >= before); /* more levels, more entries */
            before = entries;
            dense_factors_free(&f);
            sd_incomplete_free(&c, &m);
        }
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* All levels: the product is A everywhere, and outside the pattern both are 0. */
static void all_levels_are_the_complete_factorization(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 40; ++round) {
        const bool symmetric = round % 2;
        dense d = blocks_problem(&r, 1 + rng_below(&r, 70), 1 + rng_below(&r, 2), 3, symmetric);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        const sd_incomplete_rule rule = {.level = 255, .threads = 1};
        sd_incomplete m;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
        dense_factors f = dense_factors_of(&m);
        bool *all = test_alloc((size_t)d.n * (size_t)d.n, sizeof *all);
        for (int k = 0; k < d.n * d.n; ++k) all[k] = true;
        double *a = plain_elimination(&d, all);
        for (int i = 0; i < d.n; ++i)
            for (int j = i; j < d.n; ++j) {
                const double u = a[i * d.n + j] / (symmetric ? sqrt(a[i * (d.n + 1)]) : 1);
                assert_true(fabs(dense_at(&f.upper, i, j) - u) <= ROUNDING * (1 + fabs(u)));
            }
        free(a);
        free(all);
        dense_factors_free(&f);
        sd_incomplete_free(&c, &m);
        sd_csr_free(&c, &B);
        dense_free(&d);
    }
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 6; ++round) {
        const bool symmetric = round % 2;
        const int unknowns = 1 + round / 2;
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = grid_blocks(&c, &r, is_slow() ? 12 : 16, unknowns, symmetric);
        sd_incomplete_rule rule = {.level = round == 2 ? 1 : 0, .threads = 1};
        sd_incomplete one;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &one));
        for (rule.threads = 2; rule.threads <= 5; ++rule.threads) {
            sd_incomplete m;
            must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
            assert_same_bits(&m, &one);
            assert_true(m.flops == one.flops && m.flops > 0);
            sd_incomplete_free(&c, &m);
        }
        sd_incomplete_free(&c, &one);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
    }
}

static void new_values_give_what_a_first_factorization_gives(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 40; ++round) {
        const bool symmetric = round % 2;
        dense d = blocks_problem(&r, 1 + rng_below(&r, 30), 1 + rng_below(&r, 4), 3, symmetric);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        const sd_incomplete_rule rule = {.level = rng_below(&r, 4), .threads = 1};
        sd_incomplete m, fresh;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
        for (int again = 0; again < 3; ++again) { /* indefinite in between: nothing of it may stay */
            for (int32_t i = 0; i < B.n; ++i)
                for (int64_t k = B.ptr[i]; k < B.ptr[i + 1]; ++k)
                    if (B.ind[k] == i) B.val[k] *= again == 1 ? -0.01 : 1.5;
            must(&c, sd_incomplete_again(&c, &B, &rule, &m));
            must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &fresh));
            assert_same_bits(&m, &fresh);
            sd_incomplete_free(&c, &fresh);
        }
        sd_incomplete_free(&c, &m);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

static void an_indefinite_matrix_gets_a_shift(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 60; ++round) {
        const bool symmetric = round % 2;
        dense d = blocks_problem(&r, 2 + rng_below(&r, 30), 1 + rng_below(&r, 4), 3, symmetric);
        for (int i = 0; i < d.n; ++i) dense_set(&d, i, i, i == 1 ? 0 : 0.1 * rng_unit(&r));
        if (symmetric) dense_set(&d, 0, 0, -1);
        if (!symmetric) dense_set(&d, 0, 0, 0);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        const sd_incomplete_rule rule = {.level = rng_below(&r, 3), .threads = 1 + rng_below(&r, 2)};
        sd_incomplete m;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
        dense_factors f = dense_factors_of(&m);
        assert_true(m.restarts > 0);
        assert_true(m.shift == ldexp(SD_SHIFT_FIRST, m.restarts - 1));
        assert_product(&f, &d, &m);
        for (int i = 0; i < d.n; ++i) assert_true(symmetric ? m.diagonal[i] > 0 : m.diagonal[i] != 0);
        dense_factors_free(&f);
        sd_incomplete_free(&c, &m);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* Rows without entries, with zeros, without a diagonal, and no rows at all. */
static void odd_matrices_are_factored_with_a_shift(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int n = 0; n <= 6; ++n) {
        for (int kind = 0; kind < 4; ++kind) {
            for (int level = 0; level <= 2; ++level) {
                dense d = dense_new(n);
                for (int i = 0; i < n && kind > 0; ++i) {
                    if (kind == 1) dense_set(&d, i, i, 0);
                    if (kind == 2 && i != n / 2) dense_set(&d, i, i, 2);
                    if (kind == 3) dense_set(&d, i, n - 1 - i, 1);
                }
                const bool shifted = n > 0 && (kind < 3 || n > 1);
                sd_context c;
                sd_context_init(&c, NULL, 0);
                sd_csr B = csr_of(&c, &d);
                const sd_incomplete_rule rule = {.level = level, .threads = 1 + rng_below(&r, 3)};
                for (int symmetric = 0; symmetric < 2; ++symmetric) {
                    sd_incomplete m;
                    must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
                    dense_factors f = dense_factors_of(&m);
                    assert_product(&f, &d, &m);
                    assert_int_equal(m.restarts > 0, shifted);
                    dense_factors_free(&f);
                    sd_incomplete_free(&c, &m);
                }
                sd_csr_free(&c, &B);
                assert_int_equal(c.bytes, 0);
                dense_free(&d);
            }
        }
    }
}

static void entries_that_overflow_are_an_error(void **state)
{
    (void)state;
    dense d = dense_new(3);
    for (int k = 0; k < 9; ++k) dense_set(&d, k / 3, k % 3, k % 4 ? 1.7e308 : -1.7e308);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr B = csr_of(&c, &d);
    const sd_incomplete_rule rule = {.level = 0, .threads = 1};
    sd_incomplete m;
    assert_int_equal(sd_incomplete_make(&c, &B, true, &rule, &m), SADDLE_BAD_VALUE);
    assert_contains(c.message, "scale the matrix");
    sd_incomplete_free(&c, &m);
    sd_csr_free(&c, &B);
    assert_int_equal(c.bytes, 0);
    dense_free(&d);
}

static saddle_status make_twice(sd_context *c, const sd_csr *B, bool symmetric,
                                const sd_incomplete_rule *rule)
{
    sd_incomplete m;
    saddle_status status = sd_incomplete_make(c, B, symmetric, rule, &m);
    if (!status) status = sd_incomplete_again(c, B, rule, &m);
    sd_incomplete_free(c, &m);
    return status;
}

/* With one thread and with two, whose numeric part allocates in the caller's thread only. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    sd_context outer;
    sd_context_init(&outer, NULL, 0);
    for (int round = 0; round < 8; ++round) {
        const bool symmetric = round % 2;
        sd_csr B = grid_blocks(&outer, &r, round < 4 ? 5 : 12, 1 + round / 2 % 2 * 2, symmetric);
        const sd_incomplete_rule rule = {.level = 0, .threads = round < 4 ? 1 : 2};
        int64_t last = 0;
        for (int64_t k = 1;; k = round < 4 || k < 12 ? k + 1 : k + 7) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = make_twice(&c, &B, symmetric, &rule);
            assert_int_equal(f.live, 0);
            assert_int_equal(c.bytes, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            last = k;
            if (!f.failed) break;
        }
        assert_true(last > 10);
        sd_csr_free(&outer, &B);
    }
    assert_int_equal(outer.bytes, 0);
}

typedef struct patience {
    int calls, left;
} patience;

static int lose_patience(const saddle_progress *progress, void *user)
{
    patience *p = user;
    assert_string_equal(progress->stage, "factor");
    assert_in_range(progress->done, 0, progress->total);
    ++p->calls;
    return p->left-- == 0;
}

static void a_factorization_can_be_cancelled(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    sd_context outer;
    sd_context_init(&outer, NULL, 0);
    for (int round = 0; round < 4; ++round) {
        sd_csr B = grid_blocks(&outer, &r, 24, 1, round % 2);
        const sd_incomplete_rule rule = {.level = 0, .threads = 1 + round / 2};
        patience p = {.left = -1};
        for (int left = -1; left < 0 || left < p.calls; left = left < 0 ? 0 : 2 * left + 1) {
            patience q = {.left = left};
            const saddle_hooks hooks = {.size = sizeof hooks, .progress = lose_patience, .user = &q};
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = make_twice(&c, &B, round % 2, &rule);
            assert_int_equal(status, left < 0 ? SADDLE_OK : SADDLE_CANCELLED);
            assert_int_equal(c.bytes, 0);
            if (left < 0) p = q;
            if (rule.threads > 1 && left >= 0) break; /* how often it is told depends on who searches */
        }
        sd_csr_free(&outer, &B);
    }
    assert_int_equal(outer.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_of_any_level_are_those_of_plain_loops),
        cmocka_unit_test(all_levels_are_the_complete_factorization),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(new_values_give_what_a_first_factorization_gives),
        cmocka_unit_test(an_indefinite_matrix_gets_a_shift),
        cmocka_unit_test(odd_matrices_are_factored_with_a_shift),
        cmocka_unit_test(entries_that_overflow_are_an_error),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_factorization_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
