/* Incomplete factorizations by elimination: on patterns of levels, held against plain loops. */
#include "incomplete.h"

static void factors_of_any_level_are_those_of_plain_loops(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const int unknowns[] = {1, 1, 2, 3, 4, 6, 8, 11};
    for (int round = 0; round < 200; ++round) {
        const bool symmetric = rng_below(&r, 2);
        const int per = unknowns[round % 8], nodes = 1 + rng_below(&r, 60 / per);
        problem p = problem_of(blocks_problem(&r, nodes, per, 4 * fabs(rng_unit(&r)), symmetric));
        int64_t before = -1;
        for (int level = 0; level <= 255; level = 3 * level + 1) {
            const sd_incomplete_rule rule = {.level = level, .threads = 1 + rng_below(&r, 2)};
            factors f = factors_by(&p, symmetric, &rule);
            assert_true(f.m.shift == 0 && f.m.restarts == 0 && f.m.sweeps == 0);
            assert_product(&f.dense, &p.d, &f.m);
            assert_plain(&f.dense, &p.d, symmetric);
            const int64_t entries = entries_of(&f.m);
            assert_true(entries >= before); /* more levels, more entries */
            before = entries;
            factors_free(&p, &f);
        }
        problem_free(&p);
    }
}

/* All levels: the product is A everywhere, and outside the pattern both are 0. */
static void all_levels_are_the_complete_factorization(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 40; ++round) {
        const bool symmetric = round % 2;
        problem p = problem_of(blocks_problem(&r, 1 + rng_below(&r, 70), 1 + rng_below(&r, 2), 3, symmetric));
        const sd_incomplete_rule rule = {.level = 255, .threads = 1};
        factors f = factors_by(&p, symmetric, &rule);
        const int n = p.d.n;
        bool *all = test_alloc((size_t)n * (size_t)n, sizeof *all);
        for (int k = 0; k < n * n; ++k) all[k] = true;
        double *a = plain_elimination(&p.d, all);
        for (int i = 0; i < n; ++i)
            for (int j = i; j < n; ++j) {
                const double u = a[i * n + j] / (symmetric ? sqrt(a[i * (n + 1)]) : 1);
                assert_true(fabs(dense_at(&f.dense.upper, i, j) - u) <= ROUNDING * (1 + fabs(u)));
            }
        free(a);
        free(all);
        factors_free(&p, &f);
        problem_free(&p);
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
        problem p = problem_of(blocks_problem(&r, 1 + rng_below(&r, 30), 1 + rng_below(&r, 4), 3, symmetric));
        const sd_csr *B = &p.B;
        const sd_incomplete_rule rule = {.level = rng_below(&r, 4), .threads = 1};
        sd_incomplete m, fresh;
        must(&p.c, sd_incomplete_make(&p.c, B, symmetric, &rule, &m));
        for (int again = 0; again < 3; ++again) { /* indefinite in between: nothing of it may stay */
            for (int32_t i = 0; i < B->n; ++i)
                for (int64_t k = B->ptr[i]; k < B->ptr[i + 1]; ++k)
                    if (B->ind[k] == i) B->val[k] *= again == 1 ? -0.01 : 1.5;
            must(&p.c, sd_incomplete_again(&p.c, B, &rule, &m));
            must(&p.c, sd_incomplete_make(&p.c, B, symmetric, &rule, &fresh));
            assert_same_bits(&m, &fresh);
            sd_incomplete_free(&p.c, &fresh);
        }
        sd_incomplete_free(&p.c, &m);
        problem_free(&p);
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
        problem p = problem_of(d);
        const sd_incomplete_rule rule = {.level = rng_below(&r, 3), .threads = 1 + rng_below(&r, 2)};
        factors f = factors_by(&p, symmetric, &rule);
        assert_true(f.m.restarts > 0);
        assert_true(f.m.shift == ldexp(SD_SHIFT_FIRST, f.m.restarts - 1));
        assert_product(&f.dense, &p.d, &f.m);
        for (int i = 0; i < f.m.n; ++i) assert_true(symmetric ? f.m.diagonal[i] > 0 : f.m.diagonal[i] != 0);
        factors_free(&p, &f);
        problem_free(&p);
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
                problem p = problem_of(d);
                const sd_incomplete_rule rule = {.level = level, .threads = 1 + rng_below(&r, 3)};
                for (int symmetric = 0; symmetric < 2; ++symmetric) {
                    factors f = factors_by(&p, symmetric, &rule);
                    assert_product(&f.dense, &p.d, &f.m);
                    assert_int_equal(f.m.restarts > 0, shifted);
                    factors_free(&p, &f);
                }
                problem_free(&p);
            }
        }
    }
}

static void entries_that_overflow_are_an_error(void **state)
{
    (void)state;
    const sd_incomplete_rule rule = {.level = 0, .threads = 1};
    assert_overflow_is_an_error(true, &rule);
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
        factorization f = {grid_blocks(&outer, &r, round < 4 ? 5 : 12, 1 + round / 2 % 2 * 2, symmetric),
                           symmetric,
                           {.level = 0, .threads = round < 4 ? 1 : 2}};
        int64_t k = 1;
        while (allocation_fails(k, factor_twice, &f)) k = round < 4 || k < 12 ? k + 1 : k + 7;
        assert_true(k > 10);
        sd_csr_free(&outer, &f.B);
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
        const bool symmetric = round % 2;
        factorization f = {
            grid_blocks(&outer, &r, 24, 1, symmetric), symmetric, {.level = 0, .threads = 1 + round / 2}};
        patience p = {.left = -1};
        for (int left = -1; left < 0 || left < p.calls; left = left < 0 ? 0 : 2 * left + 1) {
            patience q = {.left = left};
            const saddle_hooks hooks = {.size = sizeof hooks, .progress = lose_patience, .user = &q};
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = factor_twice(&c, &f);
            assert_int_equal(status, left < 0 ? SADDLE_OK : SADDLE_CANCELLED);
            assert_int_equal(c.bytes, 0);
            if (left < 0) p = q;
            if (f.rule.threads > 1 && left >= 0) break; /* how often it is told depends on who searches */
        }
        sd_csr_free(&outer, &f.B);
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
