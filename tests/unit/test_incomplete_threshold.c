/* ICT and ILUT held against the same rules by plain loops over dense matrices. */
#include "failing_allocator.h"
#include "incomplete.h"

static double norm_of_row(const dense *d, int i)
{
    double sum = 0;
    for (int j = 0; j < d->n; ++j) sum += dense_at(d, i, j) * dense_at(d, i, j);
    return sqrt(sum);
}

static int entries_in(const dense *d, int i, int from, int to)
{
    int count = 0;
    for (int j = from; j < to; ++j) count += j != i && d->there[i * d->n + j];
    return count;
}

static int most_of(double most, int part, int all)
{
    return (int)(most * fmax(part, 0.5 * all));
}

/* Of columns from .. to of a row: drops what is below `least`, then the smallest, of equal ones the last,
 * until `most` are left. Returns how many these are. */
static int keep(double *w, bool *there, int from, int to, double least, int most)
{
    int count = 0;
    for (int j = from; j < to; ++j) {
        there[j] = there[j] && !(fabs(w[j]) < least);
        count += there[j];
    }
    for (; count > most; --count) {
        int smallest = -1;
        for (int j = to - 1; j >= from; --j)
            if (there[j] && (smallest < 0 || fabs(w[j]) < fabs(w[smallest]))) smallest = j;
        there[smallest] = false;
    }
    return count;
}

static dense_factors plain_ilut(const dense *d, const sd_incomplete_rule *rule)
{
    const int n = d->n;
    dense_factors f = {dense_new(n), dense_new(n)};
    double *w = test_alloc((size_t)n, sizeof *w);
    bool *there = test_alloc((size_t)n, sizeof *there);
    for (int i = 0; i < n; ++i) {
        const double least = rule->tau * norm_of_row(d, i);
        const int before = entries_in(d, i, 0, i), all = entries_in(d, i, 0, n);
        for (int j = 0; j < n; ++j) {
            w[j] = dense_at(d, i, j);
            there[j] = j == i || d->there[i * n + j];
        }
        for (int k = 0; k < i; ++k) {
            if (!there[k] || fabs(w[k]) < least) continue;
            for (int j = k + 1; j < n; ++j) {
                if (!f.upper.there[k * n + j]) continue;
                w[j] -= w[k] / dense_at(&f.upper, k, k) * dense_at(&f.upper, k, j);
                there[j] = true;
            }
        }
        const int kept = keep(w, there, 0, i, least, most_of(rule->most, before, all));
        keep(w, there, i + 1, n, least, most_of(rule->most, all, all) - kept);
        dense_set(&f.lower, i, i, 1);
        for (int j = 0; j < n; ++j) {
            if (there[j] && j < i) dense_set(&f.lower, i, j, w[j] / dense_at(&f.upper, j, j));
            if (there[j] && j >= i) dense_set(&f.upper, i, j, w[j]);
        }
    }
    free(w);
    free(there);
    return f;
}

static dense_factors plain_ict(const dense *d, const sd_incomplete_rule *rule)
{
    const int n = d->n;
    dense_factors f = {dense_new(n), dense_new(n)};
    double *w = test_alloc((size_t)n, sizeof *w);
    bool *there = test_alloc((size_t)n, sizeof *there);
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            w[i] = dense_at(d, j, i);
            there[i] = d->there[j * n + i];
            for (int k = 0; k < j; ++k) {
                if (!f.lower.there[i * n + k] || !f.lower.there[j * n + k]) continue;
                w[i] -= dense_at(&f.lower, i, k) * dense_at(&f.lower, j, k);
                there[i] = true;
            }
        }
        keep(w, there, j + 1, n, rule->tau * norm_of_row(d, j),
             most_of(rule->most, entries_in(d, j, j, n), entries_in(d, j, 0, n)));
        there[j] = true;
        const double root = sqrt(w[j]);
        for (int i = j; i < n; ++i) {
            if (!there[i]) continue;
            dense_set(&f.lower, i, j, i == j ? root : w[i] / root);
            dense_set(&f.upper, j, i, i == j ? root : w[i] / root);
        }
    }
    free(w);
    free(there);
    return f;
}

static void assert_same_matrix(const dense *is, const dense *wanted)
{
    for (int k = 0; k < is->n * is->n; ++k) {
        if (is->there[k] != wanted->there[k])
            fail_msg("(%d, %d) is %s", k / is->n, k % is->n, is->there[k] ? "kept" : "dropped");
        if (!(fabs(is->a[k] - wanted->a[k]) <= 1e-12 * (1 + fabs(wanted->a[k]))))
            fail_msg("(%d, %d) is %.17g, not %.17g", k / is->n, k % is->n, is->a[k], wanted->a[k]);
    }
}

static void entries_are_kept_by_the_rule(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const double most[] = {0.4, 1, 1.5, 3, 1e6}, tau[] = {0, 0.001, 0.01, 0.1};
    for (int round = 0; round < 400; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = blocks_problem(&r, 1 + rng_below(&r, 40), 1 + rng_below(&r, 3), 4, symmetric);
        const sd_incomplete_rule rule = {
            .level = -1, .tau = tau[rng_below(&r, 4)], .most = most[rng_below(&r, 5)], .threads = 1};
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        sd_incomplete m;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
        assert_true(m.shift == 0 && m.restarts == 0);
        dense_factors f = dense_factors_of(&m);
        dense_factors wanted = symmetric ? plain_ict(&d, &rule) : plain_ilut(&d, &rule);
        assert_same_matrix(&f.lower, &wanted.lower);
        assert_same_matrix(&f.upper, &wanted.upper);
        dense_factors_free(&f);
        dense_factors_free(&wanted);
        sd_incomplete_free(&c, &m);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* Nothing is dropped: the product is A, and the pattern that of all levels. */
static void without_a_threshold_factors_are_complete(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 60; ++round) {
        const bool symmetric = round % 2;
        dense d = blocks_problem(&r, 1 + rng_below(&r, 50), 1 + rng_below(&r, 3), 3, symmetric);
        const sd_incomplete_rule rule = {.level = -1, .tau = 0, .most = 1e9, .threads = 1},
                                 complete = {.level = 255, .threads = 1};
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        sd_incomplete m, all;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
        must(&c, sd_incomplete_make(&c, &B, symmetric, &complete, &all));
        dense_factors f = dense_factors_of(&m), wanted = dense_factors_of(&all);
        assert_same_matrix(&f.lower, &wanted.lower);
        assert_same_matrix(&f.upper, &wanted.upper);
        dense_factors_free(&f);
        dense_factors_free(&wanted);
        sd_incomplete_free(&c, &m);
        sd_incomplete_free(&c, &all);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* Row 0 is full of equal numbers: the first of them are kept. */
static void of_equal_entries_the_first_are_kept(void **state)
{
    (void)state;
    enum { N = 41 };
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        dense d = dense_new(N);
        for (int i = 0; i < N; ++i) {
            dense_set(&d, i, i, N);
            if (i > 0) dense_set(&d, 0, i, i % 2 ? 1 : -1);
            if (i > 0) dense_set(&d, i, 0, i % 2 ? 1 : -1);
        }
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        for (int most = 1; most <= 4; ++most) {
            const sd_incomplete_rule rule = {.level = -1, .most = most / 4.0, .threads = 1};
            sd_incomplete m;
            must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
            dense_factors f = dense_factors_of(&m);
            for (int j = 1; j < N; ++j) assert_int_equal(f.upper.there[j], j <= 10 * most);
            dense_factors_free(&f);
            sd_incomplete_free(&c, &m);
        }
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* New values keep the pattern that was found, and L U = B holds there. */
static void new_values_keep_the_pattern(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 60; ++round) {
        const bool symmetric = round % 2;
        dense d = blocks_problem(&r, 1 + rng_below(&r, 30), 1 + rng_below(&r, 4), 3, symmetric);
        const sd_incomplete_rule rule = {.level = -1, .tau = 0.02, .most = 1.2, .threads = 1};
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        sd_incomplete m;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
        const int64_t entries = m.lower.ptr[m.n];
        give_diagonal(&d, 1.25);
        sd_csr_free(&c, &B);
        B = csr_of(&c, &d);
        must(&c, sd_incomplete_again(&c, &B, &rule, &m));
        dense_factors f = dense_factors_of(&m);
        assert_int_equal(m.lower.ptr[m.n], entries);
        assert_product(&f, &d, &m);
        dense_factors_free(&f);
        sd_incomplete_free(&c, &m);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

static void breakdowns_get_a_shift(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 60; ++round) {
        const bool symmetric = round % 2;
        const int n = round < 6 ? round / 2 : 2 + rng_below(&r, 40);
        dense d = dense_random(&r, n, 0.1, symmetric);
        for (int i = 0; i < n; ++i) dense_set(&d, i, i, symmetric ? -rng_below(&r, 2) : 0);
        const sd_incomplete_rule rule = {.level = -1, .tau = 0, .most = 1e9, .threads = 1};
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        sd_incomplete m;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &m));
        dense_factors f = dense_factors_of(&m);
        assert_int_equal(m.restarts > 0, n > 0);
        assert_product(&f, &d, &m);
        dense_factors_free(&f);
        sd_incomplete_free(&c, &m);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

static void entries_that_overflow_are_an_error(void **state)
{
    (void)state;
    dense d = dense_new(3);
    for (int k = 0; k < 9; ++k) dense_set(&d, k / 3, k % 3, k % 4 ? 1.7e308 : -1.7e308);
    const sd_incomplete_rule rule = {.level = -1, .most = 2, .threads = 1};
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr B = csr_of(&c, &d);
        sd_incomplete m;
        const saddle_status status = sd_incomplete_make(&c, &B, symmetric, &rule, &m);
        assert_int_equal(status, SADDLE_BAD_VALUE);
        assert_contains(c.message, "scale the matrix");
        sd_incomplete_free(&c, &m);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
    }
    dense_free(&d);
}

static saddle_status make_twice(sd_context *c, const sd_csr *B, bool symmetric)
{
    const sd_incomplete_rule rule = {.level = -1, .tau = 1e-3, .most = 4, .threads = 1};
    sd_incomplete m;
    saddle_status status = sd_incomplete_make(c, B, symmetric, &rule, &m);
    if (!status) status = sd_incomplete_again(c, B, &rule, &m);
    sd_incomplete_free(c, &m);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    sd_context outer;
    sd_context_init(&outer, NULL, 0);
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        sd_csr B = grid_blocks(&outer, &r, 6, 1, symmetric);
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = make_twice(&c, &B, symmetric);
            assert_int_equal(f.live, 0);
            assert_int_equal(c.bytes, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
        }
        sd_csr_free(&outer, &B);
    }
    assert_int_equal(outer.bytes, 0);
}

static int refuse(const saddle_progress *progress, void *user)
{
    (void)user;
    return progress->done > 0;
}

static void a_factorization_can_be_cancelled(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = refuse};
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        sd_context c;
        sd_context_init(&c, &hooks, 0);
        sd_csr B = grid_blocks(&c, &r, 12, 1, symmetric);
        assert_int_equal(make_twice(&c, &B, symmetric), SADDLE_CANCELLED);
        sd_csr_free(&c, &B);
        assert_int_equal(c.bytes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_kept_by_the_rule),
        cmocka_unit_test(without_a_threshold_factors_are_complete),
        cmocka_unit_test(of_equal_entries_the_first_are_kept),
        cmocka_unit_test(new_values_keep_the_pattern),
        cmocka_unit_test(breakdowns_get_a_shift),
        cmocka_unit_test(entries_that_overflow_are_an_error),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_factorization_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
