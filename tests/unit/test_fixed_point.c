/*
 * Incomplete factors by fixed-point sweeps on a given pattern: they end at the factors of elimination, their
 * residuals fall, bits depend neither on threads nor on scaling, divergence is found and mended by a shift.
 */
#include "swept_factors.h"

enum { ROUNDS = 40 };

/* That of d, and at random a few places more, with their mirror images. */
static dense pattern_of(rng *r, const dense *d, bool more)
{
    dense p = dense_copy(d);
    const int n = d->n;
    for (int k = 0; k < (more ? 2 * n : 0); ++k) {
        const int i = rng_below(r, n), j = rng_below(r, n);
        p.there[i * n + j] = p.there[j * n + i] = true;
    }
    return p;
}

static void sweeps_end_at_the_factors_of_elimination(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < ROUNDS * KINDS; ++round) {
        const kind k = (kind)(round % KINDS);
        problem p = problem_of(matrix_of(&r, k, 2 + rng_below(&r, 40), 0.01));
        dense pattern = pattern_of(&r, &p.d, rng_below(&r, 2));
        const sd_incomplete_rule rule = sweeps_of(MANY, 1);
        for (int symmetric = 0; symmetric <= is_symmetric(k); ++symmetric) {
            sd_incomplete m;
            must(&p.c, swept_on(&p, &pattern, symmetric, &rule, &m));
            dense_factors f = dense_factors_of(&m);
            assert_plain(&f, &p.d, symmetric);
            assert_true(m.shift == 0 && m.restarts == 0);
            assert_true(m.residual < 1e-14 && m.sweeps > 0 && m.sweeps < MANY && m.flops > 0);
            dense_factors_free(&f);
            sd_incomplete_free(&p.c, &m);
        }
        dense_free(&pattern);
        problem_free(&p);
    }
}

static void assert_near(int64_t count, const double *a, const double *b)
{
    for (int64_t k = 0; k < count; ++k) assert_true(fabs(a[k] - b[k]) <= ROUNDING * (1 + fabs(b[k])));
}

/* The same pattern, once with numbers by elimination, once by sweeps. */
static void patterns_of_levels_get_the_numbers_of_elimination(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < 8; ++round) {
        const bool symmetric = round % 2;
        sd_csr B = grid_blocks(&c, &r, 6, 1 + round / 4, symmetric);
        const sd_incomplete_rule rule = {.level = round / 2 % 3, .sweeps = MANY, .threads = 1};
        sd_incomplete made, m;
        must(&c, sd_incomplete_make(&c, &B, symmetric, &rule, &made));
        m = (sd_incomplete){.lower = made.lower, .upper = made.upper};
        must(&c, sd_fixed_point(&c, &B, symmetric, &rule, &m));
        assert_near(B.n, m.diagonal, made.diagonal);
        assert_near(m.lower.ptr[B.n], m.lower_val, made.lower_val);
        if (!symmetric) assert_near(m.upper.ptr[B.n], m.upper_val, made.upper_val);
        m.lower = m.upper = (sd_pattern){0};
        sd_incomplete_free(&c, &m);
        sd_incomplete_free(&c, &made);
        sd_csr_free(&c, &B);
    }
    assert_int_equal(c.bytes, 0);
}

/* A chain: pivot i is exact after i sweeps, to the last bit, and not before. */
static void every_sweep_makes_a_level_exact(void **state)
{
    (void)state;
    enum { N = 12 };
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) {
        dense_set(&d, i, i, 2);
        if (i > 0) dense_set(&d, i, i - 1, -1);
        if (i > 0) dense_set(&d, i - 1, i, -1);
    }
    double *exact = plain_elimination(&d, d.there);
    problem p = problem_of(d);
    for (int sweeps = 1; sweeps < N; ++sweeps) {
        const sd_incomplete_rule rule = sweeps_of(sweeps, 1);
        sd_incomplete m = swept(&p, false, &rule);
        assert_int_equal(m.sweeps, sweeps);
        for (int i = 0; i < N; ++i) assert_true((m.diagonal[i] == exact[i * (N + 1)]) == (i <= sweeps));
        sd_incomplete_free(&p.c, &m);
    }
    problem_free(&p);
    free(exact);
}

typedef struct history {
    int count, cancel_at;
    double residual[MANY];
} history;

static int take_residual(const saddle_progress *progress, void *user)
{
    history *h = user;
    assert_string_equal(progress->stage, "factor");
    assert_true(h->count < MANY);
    h->residual[h->count++] = progress->residual;
    return h->count == h->cancel_at;
}

/* What is made of the problem is told to h. */
static void tell(problem *p, history *h)
{
    p->c.hooks.progress = take_residual;
    p->c.hooks.user = h;
}

static void residuals_are_those_of_the_factors_and_fall(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < ROUNDS * KINDS; ++round) {
        const kind k = (kind)(round % KINDS);
        history h = {0};
        problem p = problem_of(matrix_of(&r, k, 20 + rng_below(&r, 20), 0.1));
        tell(&p, &h);
        for (int sweeps = 1; sweeps <= 6; ++sweeps) {
            const sd_incomplete_rule rule = sweeps_of(sweeps, 1);
            h.count = 0;
            sd_incomplete m = swept(&p, is_symmetric(k), &rule);
            assert_int_equal(h.count, m.sweeps);
            assert_true(h.residual[h.count - 1] == m.residual);
            assert_true(fabs(m.residual - residual_of(&m, &p.d, false)) <= 1e-14 + 1e-10 * m.residual);
            for (int s = 1; s < h.count; ++s) assert_true(h.residual[s] < h.residual[s - 1]);
            sd_incomplete_free(&p.c, &m);
        }
        problem_free(&p);
    }
}

static void a_caller_can_cancel(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    history h = {.cancel_at = 2};
    problem p = problem_of(matrix_of(&r, SPD, 30, 0.01));
    tell(&p, &h);
    const sd_incomplete_rule rule = sweeps_of(9, 1);
    sd_incomplete m;
    assert_int_equal(swept_on(&p, &p.d, true, &rule, &m), SADDLE_CANCELLED);
    assert_int_equal(h.count, 2);
    sd_incomplete_free(&p.c, &m);
    problem_free(&p);
}

/* By powers of two, so that nothing is rounded otherwise. */
static void sweeps_do_not_depend_on_scaling(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = round % 2;
        enum { N = 30 };
        double row[N], col[N];
        dense d = matrix_of(&r, symmetric ? SPD : DOMINANT, N, 0.1), scaled = dense_copy(&d);
        for (int i = 0; i < N; ++i) {
            row[i] = ldexp(1, rng_below(&r, 14) - 7);
            col[i] = symmetric ? row[i] : ldexp(1, rng_below(&r, 14) - 7);
        }
        for (int k = 0; k < N * N; ++k) scaled.a[k] *= row[k / N] * col[k % N];
        problem p = problem_of(d), q = problem_of(scaled);
        const sd_incomplete_rule rule = sweeps_of(2, 1);
        sd_incomplete m = swept(&p, symmetric, &rule), s = swept(&q, symmetric, &rule);
        for (int i = 0; i < N; ++i) {
            assert_true(s.diagonal[i] == m.diagonal[i] * row[i] * (symmetric ? 1 : col[i]));
            for (int64_t k = m.lower.ptr[i]; k < m.lower.ptr[i + 1]; ++k)
                assert_true(s.lower_val[k] ==
                            m.lower_val[k] * row[i] / (symmetric ? 1 : row[m.lower.ind[k]]));
            for (int64_t k = symmetric ? 0 : m.upper.ptr[i]; k < (symmetric ? 0 : m.upper.ptr[i + 1]); ++k)
                assert_true(s.upper_val[k] == m.upper_val[k] * row[i] * col[m.upper.ind[k]]);
        }
        sd_incomplete_free(&p.c, &m);
        sd_incomplete_free(&q.c, &s);
        problem_free(&p);
        problem_free(&q);
    }
}

static void new_values_reuse_the_arrays(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    problem p = problem_of(matrix_of(&r, DOMINANT, 40, 0.1));
    const sd_incomplete_rule rule = sweeps_of(MANY, 1);
    for (int64_t k = 0; k < p.B.nnz; ++k) p.B.val[k] *= 2;
    sd_incomplete m = swept(&p, false, &rule);
    const double *lower = m.lower_val, *upper = m.upper_val, *diagonal = m.diagonal;
    const int64_t bytes = p.c.bytes;
    for (int64_t k = 0; k < p.B.nnz; ++k) p.B.val[k] /= 2;
    must(&p.c, sd_fixed_point(&p.c, &p.B, false, &rule, &m));
    assert_true(lower == m.lower_val && upper == m.upper_val && diagonal == m.diagonal);
    assert_true(bytes == p.c.bytes);
    dense_factors f = dense_factors_of(&m);
    assert_plain(&f, &p.d, false);
    dense_factors_free(&f);
    sd_incomplete_free(&p.c, &m);
    problem_free(&p);
}

/* ---- divergence ---- */

static void assert_mended(problem *p, bool symmetric)
{
    for (int fill = 0; fill <= 1; ++fill) {
        const sd_incomplete_rule rule = fill ? fill_of(1e-3, 2, 20, 1) : sweeps_of(20, 1);
        sd_incomplete m = swept(p, symmetric, &rule);
        assert_true(m.restarts > 0 && m.shift == ldexp(SD_SHIFT_FIRST, m.restarts - 1));
        const double residual = residual_of(&m, &p->d, false);
        assert_true(residual <= 0.2); /* what is beyond is not taken for factors */
        assert_true(fabs(m.residual - residual) <= 1e-12 + 1e-9 * residual);
        for (int i = 0; i < m.n; ++i)
            assert_true(isfinite(m.diagonal[i]) && (symmetric ? m.diagonal[i] > 0 : m.diagonal[i] != 0));
        sd_incomplete_free(&p->c, &m);
    }
}

/* Every two rows are nearly parallel. It is positive definite, so elimination on the full pattern is exact.
 */
static void divergence_far_from_dominance_is_mended_by_a_shift(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < ROUNDS; ++round) {
        const int n = 24 + rng_below(&r, 20);
        dense d = dense_new(n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) dense_set(&d, i, j, i == j ? 1 : 0.9);
        problem p = problem_of(d);
        assert_mended(&p, true);
        assert_mended(&p, false);
        problem_free(&p);
        d = matrix_of(&r, DOMINANT, n, 0);
        for (int i = 0; i < n; ++i) dense_set(&d, i, i, i % 3 ? 1e-2 * rng_unit(&r) : 0);
        for (int i = 0; i < n; ++i) dense_set(&d, i, (i + 1) % n, 1);
        p = problem_of(d);
        assert_mended(&p, false);
        problem_free(&p);
    }
}

static void pivots_that_are_not_positive_are_mended_by_a_shift(void **state)
{
    (void)state;
    const double negative[] = {1, 0.1, 0, 0.1, -2, 0.1, 0, 0.1, 1};
    const double zero[] = {0, 1, 0, 1, 0, 1, 0, 1, 4};
    const double late[] = {1, 2, 0, 2, 1, 0.1, 0, 0.1, 1}; /* the second pivot is -3 */
    const double empty[] = {1, 0.1, 0, 0.1, 2, 0, 0, 0, 0};
    const double *const all[] = {negative, zero, late, empty};
    for (int k = 0; k < 4; ++k) {
        problem p = problem_of(dense_from(3, all[k]));
        assert_mended(&p, true);
        if (k % 2) assert_mended(&p, false); /* the others have pivots for L U */
        problem_free(&p);
    }
}

/* With numbers at the end of their range a sufficient shift is not finite. */
static void where_no_shift_helps_a_message_says_so(void **state)
{
    (void)state;
    dense d = dense_new(6);
    for (int k = 0; k < 36; ++k) dense_set(&d, k / 6, k % 6, k % 7 ? 1.7e308 : -1.7e308);
    problem p = problem_of(d);
    for (int fill = 0; fill <= 1; ++fill) {
        const sd_incomplete_rule rule = fill ? fill_of(0, 2, 9, 1) : sweeps_of(9, 1);
        sd_incomplete m;
        assert_int_equal(swept_on(&p, &p.d, true, &rule, &m), SADDLE_BAD_VALUE);
        assert_contains(p.c.message, "scale the matrix");
        sd_incomplete_free(&p.c, &m);
    }
    problem_free(&p);
}

/* ---- threads, edges ---- */

/* By the rule alone, and again for the same values. */
static void a_rule_asks_for_sweeps(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int variant = 0; variant < 4; ++variant) {
        const bool symmetric = variant % 2, fill = variant / 2;
        problem p = problem_of(grid_of(&r, 8, 2, symmetric ? 0 : 1));
        const sd_incomplete_rule rule = fill ? fill_of(1e-3, 1.5, 4, 1) : sweeps_of(4, 1);
        sd_incomplete m = swept(&p, symmetric, &rule), made;
        must(&p.c, sd_incomplete_make(&p.c, &p.B, symmetric, &rule, &made));
        assert_same_bits(&m, &made);
        assert_int_equal(made.sweeps, 4);
        /* from the first guess, on the pattern found */
        must(&p.c, sd_incomplete_again(&p.c, &p.B, &rule, &made));
        must(&p.c, sd_fixed_point(&p.c, &p.B, symmetric, &rule, &m));
        assert_same_bits(&m, &made);
        sd_incomplete_free(&p.c, &m);
        sd_incomplete_free(&p.c, &made);
        problem_free(&p);
    }
}

static void bits_are_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int variant = 0; variant < 4; ++variant) {
        const bool symmetric = variant % 2, fill = variant / 2;
        problem p = problem_of(grid_of(&r, 32, 2, symmetric ? 0 : 1));
        assert_true(p.B.nnz > 4000); /* or there would be no team */
        sd_incomplete_rule rule = fill ? fill_of(1e-3, 1.5, 5, 1) : sweeps_of(5, 1);
        sd_incomplete one = swept(&p, symmetric, &rule);
        for (rule.threads = 2; rule.threads <= 3; ++rule.threads) {
            sd_incomplete m = swept(&p, symmetric, &rule);
            assert_same_bits(&m, &one);
            assert_true(m.residual == one.residual && m.sweeps == one.sweeps && m.flops == one.flops);
            sd_incomplete_free(&p.c, &m);
        }
        sd_incomplete_free(&p.c, &one);
        problem_free(&p);
    }
}

static void no_rows_and_one_row(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; ++variant) {
        const bool symmetric = variant % 2, fill = variant / 2 % 2;
        dense d = dense_new(variant / 4);
        if (d.n > 0) dense_set(&d, 0, 0, 4);
        problem p = problem_of(d);
        const sd_incomplete_rule rule = fill ? fill_of(0.1, 2, 3, 2) : sweeps_of(3, 2);
        sd_incomplete m = swept(&p, symmetric, &rule);
        assert_true(m.residual == 0 && m.shift == 0);
        if (d.n > 0) assert_true(m.diagonal[0] == (symmetric ? 2 : 4));
        assert_int_equal(entries_of(&m), 0);
        sd_incomplete_free(&p.c, &m);
        problem_free(&p);
    }
}

/* Sweeps on a pattern that is another's, or on one that is found. */
typedef struct sweeping {
    const sd_csr *B;
    const sd_incomplete *pattern;
    bool symmetric, fill;
} sweeping;

static saddle_status sweep(sd_context *c, const void *input)
{
    const sweeping *s = input;
    const sd_incomplete_rule rule = fill_of(1e-3, 2, 3, 1);
    sd_incomplete m = {.lower = s->pattern->lower, .upper = s->pattern->upper};
    const saddle_status status =
        (s->fill ? sd_fixed_point_fill : sd_fixed_point)(c, s->B, s->symmetric, &rule, &m);
    if (!s->fill) m.lower = m.upper = (sd_pattern){0};
    sd_incomplete_free(c, &m);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int variant = 0; variant < 4; ++variant) {
        const bool symmetric = variant % 2, fill = variant / 2;
        problem p = problem_of(matrix_of(&r, symmetric ? SPD : DOMINANT, 30, 0.1));
        sd_incomplete pattern = factors_on(&p.c, &p.d, symmetric);
        const sweeping s = {&p.B, &pattern, symmetric, fill};
        int64_t k = 1;
        while (allocation_fails(k, sweep, &s)) ++k;
        sd_incomplete_free(&p.c, &pattern);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_end_at_the_factors_of_elimination),
        cmocka_unit_test(patterns_of_levels_get_the_numbers_of_elimination),
        cmocka_unit_test(every_sweep_makes_a_level_exact),
        cmocka_unit_test(residuals_are_those_of_the_factors_and_fall),
        cmocka_unit_test(a_caller_can_cancel),
        cmocka_unit_test(sweeps_do_not_depend_on_scaling),
        cmocka_unit_test(new_values_reuse_the_arrays),
        cmocka_unit_test(divergence_far_from_dominance_is_mended_by_a_shift),
        cmocka_unit_test(pivots_that_are_not_positive_are_mended_by_a_shift),
        cmocka_unit_test(where_no_shift_helps_a_message_says_so),
        cmocka_unit_test(a_rule_asks_for_sweeps),
        cmocka_unit_test(bits_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(no_rows_and_one_row),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
