/*
 * Incomplete factors by fixed-point sweeps on patterns that are found by thresholds: they have no more
 * entries than they may, and better ones than the matrix has; without thresholds they are complete.
 */
#include "swept_factors.h"

#include "factor/largest.h"

enum { ROUNDS = 40 };

/* |I - (L U)^-1 B| in the norm of Frobenius. */
static double preconditioned_residual(const sd_incomplete *m, const dense *B)
{
    const int n = B->n;
    dense_factors f = dense_factors_of(m);
    double *x = test_alloc((size_t)n, sizeof *x), sum = 0;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            x[i] = dense_at(B, i, j);
            for (int k = 0; k < i; ++k) x[i] -= dense_at(&f.lower, i, k) * x[k];
            x[i] /= dense_at(&f.lower, i, i);
        }
        for (int i = n - 1; i >= 0; --i) {
            for (int k = i + 1; k < n; ++k) x[i] -= dense_at(&f.upper, i, k) * x[k];
            x[i] /= dense_at(&f.upper, i, i);
            sum += (x[i] - (i == j)) * (x[i] - (i == j));
        }
    }
    dense_factors_free(&f);
    free(x);
    return sqrt(sum);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void the_largest_are_selected_exactly(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < ROUNDS; ++round) {
        enum { N = 300 };
        double x[N], sorted[N];
        for (int k = 0; k < N; ++k) {
            const double few[] = {0, 5e-324, 1, 1 + DBL_EPSILON, 1e300, INFINITY};
            x[k] = round % 2 ? few[rng_below(&r, 6)] : fabs(rng_unit(&r)) * pow(10, rng_below(&r, 9));
            sorted[k] = x[k];
        }
        qsort(sorted, N, sizeof *sorted, by_size);
        for (int rank = 1; rank <= N; ++rank)
            assert_true(sd_largest(x, N, rank, 1 + rank % 2) == sorted[rank - 1]);
    }
}

/* With room for every entry and none dropped it ends at a complete factorization. */
static void without_thresholds_it_becomes_complete(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < ROUNDS * KINDS; ++round) {
        const kind k = (kind)(round % KINDS);
        const int n = 2 + rng_below(&r, 8); /* one new entry is then more than hardly any */
        problem p = problem_of(matrix_of(&r, k, n, 0.1));
        const sd_incomplete_rule rule = fill_of(0, 1e30, MANY, 1);
        sd_incomplete m = swept(&p, is_symmetric(k), &rule);
        assert_true(residual_of(&m, &p.d, true) < 1e-14 && m.residual < 1e-14);
        sd_incomplete_free(&p.c, &m);
        problem_free(&p);
    }
}

static void patterns_have_no_more_entries_than_they_may(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = round % 2;
        problem p = problem_of(grid_of(&r, 7 + rng_below(&r, 4), rng_below(&r, 2), symmetric ? 0 : 1));
        const int64_t given = (p.B.nnz - p.B.n) / (symmetric ? 2 : 1);
        int64_t before = INT64_MAX;
        for (double most = 2; most >= 0; most -= 0.5) {
            const sd_incomplete_rule rule = fill_of(0, most, 3, 1);
            sd_incomplete m = swept(&p, symmetric, &rule);
            assert_int_equal(entries_of(&m),
                             (int64_t)(most * (double)given)); /* there are more to choose from */
            sd_incomplete_free(&p.c, &m);
        }
        const double taus[] = {1e-3, 1e-2, 0.1, 100};
        for (int k = 0; k < 4; ++k) {
            const sd_incomplete_rule rule = fill_of(taus[k], 100, 3, 1);
            sd_incomplete m = swept(&p, symmetric, &rule);
            assert_true(entries_of(&m) < before);
            before = entries_of(&m);
            sd_incomplete_free(&p.c, &m);
        }
        assert_int_equal(before, 0);
        problem_free(&p);
    }
}

static void as_many_entries_as_those_of_the_matrix_are_better_chosen(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 6; ++round) {
        const bool symmetric = round % 2;
        dense d = grid_of(&r, 12, 4, symmetric ? 0 : 1);
        scale_to_unit(&d);
        problem p = problem_of(d);
        const sd_incomplete_rule given = sweeps_of(10, 1), found = fill_of(0, 1, 10, 1);
        sd_incomplete m = swept(&p, symmetric, &given), f = swept(&p, symmetric, &found);
        assert_int_equal(entries_of(&f), entries_of(&m));
        assert_true(f.shift == 0 && m.shift == 0);
        assert_true(residual_of(&f, &d, true) < 0.5 * residual_of(&m, &d, true));
        assert_true(preconditioned_residual(&f, &d) < preconditioned_residual(&m, &d));
        sd_incomplete_free(&p.c, &m);
        sd_incomplete_free(&p.c, &f);
        problem_free(&p);
    }
}

/* The first row and column are full: every two rows would get an entry. */
static void a_long_row_brings_no_candidates(void **state)
{
    (void)state;
    enum { N = 400 };
    for (int symmetric = 0; symmetric <= 1; ++symmetric) {
        dense d = dense_new(N);
        for (int i = 0; i < N; ++i) {
            dense_set(&d, i, i, i > 0 ? 2 : N);
            dense_set(&d, i, 0, i > 0 ? -1 : N);
            dense_set(&d, 0, i, i > 0 ? -1 : N);
        }
        problem p = problem_of(d);
        const sd_incomplete_rule rule = fill_of(0, 100, 5, 1);
        sd_incomplete m = swept(&p, symmetric, &rule);
        assert_int_equal(entries_of(&m), (p.B.nnz - N) / (symmetric ? 2 : 1));
        assert_true(m.residual < 1e-14);
        sd_incomplete_free(&p.c, &m);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_selected_exactly),
        cmocka_unit_test(without_thresholds_it_becomes_complete),
        cmocka_unit_test(patterns_have_no_more_entries_than_they_may),
        cmocka_unit_test(a_long_row_brings_no_candidates),
        cmocka_unit_test(as_many_entries_as_those_of_the_matrix_are_better_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
