/* ICT and ILUT held against the same rules by plain loops over dense matrices. */
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

static void assert_same_factors(const dense_factors *are, const dense_factors *wanted)
{
    assert_same_matrix(&are->lower, &wanted->lower);
    assert_same_matrix(&are->upper, &wanted->upper);
}

static void entries_are_kept_by_the_rule(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    static const double most[] = {0.4, 1, 1.5, 3, 1e6}, tau[] = {0, 0.001, 0.01, 0.1};
    for (int round = 0; round < 400; ++round) {
        const bool symmetric = rng_below(&r, 2);
        problem p = problem_of(blocks_problem(&r, 1 + rng_below(&r, 40), 1 + rng_below(&r, 3), 4, symmetric));
        const sd_incomplete_rule rule = {
            .level = -1, .tau = tau[rng_below(&r, 4)], .most = most[rng_below(&r, 5)], .threads = 1};
        factors f = factors_by(&p, symmetric, &rule);
        assert_true(f.m.shift == 0 && f.m.restarts == 0);
        dense_factors wanted = symmetric ? plain_ict(&p.d, &rule) : plain_ilut(&p.d, &rule);
        assert_same_factors(&f.dense, &wanted);
        dense_factors_free(&wanted);
        factors_free(&p, &f);
        problem_free(&p);
    }
}

/* Nothing is dropped: the product is A, and the pattern that of all levels. */
static void without_a_threshold_factors_are_complete(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 60; ++round) {
        const bool symmetric = round % 2;
        problem p = problem_of(blocks_problem(&r, 1 + rng_below(&r, 50), 1 + rng_below(&r, 3), 3, symmetric));
        const sd_incomplete_rule rule = {.level = -1, .tau = 0, .most = 1e9, .threads = 1},
                                 complete = {.level = 255, .threads = 1};
        factors f = factors_by(&p, symmetric, &rule), all = factors_by(&p, symmetric, &complete);
        assert_same_factors(&f.dense, &all.dense);
        factors_free(&p, &f);
        factors_free(&p, &all);
        problem_free(&p);
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
        problem p = problem_of(d);
        for (int most = 1; most <= 4; ++most) {
            const sd_incomplete_rule rule = {.level = -1, .most = most / 4.0, .threads = 1};
            factors f = factors_by(&p, symmetric, &rule);
            for (int j = 1; j < N; ++j) assert_int_equal(f.dense.upper.there[j], j <= 10 * most);
            factors_free(&p, &f);
        }
        problem_free(&p);
    }
}

/* New values keep the pattern that was found, and L U = B holds there. */
static void new_values_keep_the_pattern(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 60; ++round) {
        const bool symmetric = round % 2;
        problem p = problem_of(blocks_problem(&r, 1 + rng_below(&r, 30), 1 + rng_below(&r, 4), 3, symmetric));
        const sd_incomplete_rule rule = {.level = -1, .tau = 0.02, .most = 1.2, .threads = 1};
        factors f = factors_by(&p, symmetric, &rule);
        const int64_t entries = f.m.lower.ptr[f.m.n];
        dense_factors_free(&f.dense);
        give_diagonal(&p.d, 1.25);
        sd_csr_free(&p.c, &p.B);
        p.B = csr_of(&p.c, &p.d);
        must(&p.c, sd_incomplete_again(&p.c, &p.B, &rule, &f.m));
        f.dense = dense_factors_of(&f.m);
        assert_int_equal(f.m.lower.ptr[f.m.n], entries);
        assert_product(&f.dense, &p.d, &f.m);
        factors_free(&p, &f);
        problem_free(&p);
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
        problem p = problem_of(d);
        const sd_incomplete_rule rule = {.level = -1, .tau = 0, .most = 1e9, .threads = 1};
        factors f = factors_by(&p, symmetric, &rule);
        assert_int_equal(f.m.restarts > 0, n > 0);
        assert_product(&f.dense, &p.d, &f.m);
        factors_free(&p, &f);
        problem_free(&p);
    }
}

static void entries_that_overflow_are_an_error(void **state)
{
    (void)state;
    const sd_incomplete_rule rule = {.level = -1, .most = 2, .threads = 1};
    for (int symmetric = 0; symmetric < 2; ++symmetric) assert_overflow_is_an_error(symmetric, &rule);
}

static factorization factorization_of(sd_context *c, rng *r, int side, bool symmetric)
{
    return (factorization){grid_blocks(c, r, side, 1, symmetric),
                           symmetric,
                           {.level = -1, .tau = 1e-3, .most = 4, .threads = 1}};
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    sd_context outer;
    sd_context_init(&outer, NULL, 0);
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        factorization f = factorization_of(&outer, &r, 6, symmetric);
        int64_t k = 1;
        while (allocation_fails(k, factor_twice, &f)) ++k;
        sd_csr_free(&outer, &f.B);
    }
    assert_int_equal(outer.bytes, 0);
}

static void a_factorization_can_be_cancelled(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = cancel_once_begun};
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        sd_context c;
        sd_context_init(&c, &hooks, 0);
        factorization f = factorization_of(&c, &r, 12, symmetric);
        assert_int_equal(factor_twice(&c, &f), SADDLE_CANCELLED);
        sd_csr_free(&c, &f.B);
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
