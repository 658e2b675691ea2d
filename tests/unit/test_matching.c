/*
 * Matchings of largest product: against an optimum over all subsets of columns for small matrices, by their
 * certificate (no scaled entry above 1, all matched ones at 1) for larger ones; singular, empty and extreme
 * matrices; the auction within what it promises.
 */
#include "helpers.h"

#include "csr_of.h"
#include "failing_allocator.h"
#include "prepare/assignment.h"
#include "prepare/matching.h"

#include <float.h>

enum { ROUNDS = 1500, MOST = 9 };

/* ---- matrices ---- */

/* Values of one kind a matrix: few different ones, so that there are ties; many decades; the whole range. */
static double random_value(rng *r, int kind)
{
    const double sign = rng_below(r, 2) ? 1.0 : -1.0;
    if (kind == 0) return sign * (double)(1 + rng_below(r, 3));
    if (kind == 1) return sign * pow(10.0, 6.0 * rng_unit(r));
    if (kind == 2) return sign * pow(10.0, 300.0 * rng_unit(r));
    return rng_below(r, 3) ? sign * pow(10.0, 12.0 * rng_unit(r))
                           : sign * DBL_TRUE_MIN * (1 + rng_below(r, 9));
}

static dense random_matrix(rng *r, int n, double fill, bool symmetric, int kind)
{
    dense d = dense_random(r, n, fill, symmetric);
    for (int i = 0; i < n; ++i) {
        for (int j = symmetric ? i : 0; j < n; ++j) {
            if (!d.there[i * n + j] || dense_at(&d, i, j) == 0) continue;
            const double value = random_value(r, kind);
            dense_set(&d, i, j, value);
            if (symmetric) dense_set(&d, j, i, value);
        }
    }
    return d;
}

/* ---- oracles ---- */

typedef struct optimum {
    int size;
    long double sum;
} optimum;

static bool better(optimum x, optimum y)
{
    return x.size > y.size || (x.size == y.size && x.sum > y.sum);
}

/* Largest matching, and of those the largest sum of logarithms, row by row over all sets of columns. */
static optimum best_matching(const dense *d)
{
    const int n = d->n, sets = 1 << n;
    optimum *best = test_alloc((size_t)sets, sizeof *best), *next = test_alloc((size_t)sets, sizeof *next);
    for (int set = 1; set < sets; ++set) best[set].size = -1;
    for (int i = 0; i < n; ++i) {
        memcpy(next, best, (size_t)sets * sizeof *next);
        for (int set = 0; set < sets; ++set) {
            for (int j = 0; j < n && best[set].size >= 0; ++j) {
                const double value = dense_at(d, i, j);
                if (set >> j & 1 || value == 0) continue;
                const optimum with = {best[set].size + 1, best[set].sum + logl(fabsl((long double)value))};
                if (better(with, next[set | 1 << j])) next[set | 1 << j] = with;
            }
        }
        memcpy(best, next, (size_t)sets * sizeof *next);
    }
    optimum found = best[0];
    for (int set = 1; set < sets; ++set)
        if (better(best[set], found)) found = best[set];
    free(best);
    free(next);
    return found;
}

/* row_of is a matching on nonzeros; gives its size. */
static int assert_matching(const sd_csr *A, const sd_matching *m)
{
    bool *used = test_alloc((size_t)A->n, sizeof *used);
    int size = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            if (m->row_of[A->ind[k]] != i) continue;
            assert_true(A->val[k] != 0);
            assert_false(used[i]);
            used[i] = true;
            ++size;
        }
    }
    int matched = 0;
    for (int32_t j = 0; j < A->n; ++j) {
        assert_in_range(m->row_of[j] + 1, 0, A->n);
        matched += m->row_of[j] >= 0;
    }
    assert_int_equal(matched, size);
    assert_int_equal(m->rank, size);
    free(used);
    return size;
}

/* Positive and finite, the same on both sides where symmetric; false where the range of a double did not
 * suffice. */
static bool assert_scales(const sd_csr *A, bool symmetric, const sd_matching *m)
{
    bool inside = true;
    for (int32_t i = 0; i < A->n; ++i) {
        const double r = m->row_scale[i], s = m->col_scale[i];
        assert_true(r > 0 && r <= DBL_MAX && s > 0 && s <= DBL_MAX);
        if (symmetric) assert_true(r == s);
        inside = inside && r > 0x1p-990 && r < 0x1p990 && s > 0x1p-990 && s < 0x1p990;
    }
    return inside;
}

/* No scaled entry above 1; matched ones not below 1 by more than `slack`. */
static void assert_certificate(const sd_csr *A, const sd_matching *m, double slack)
{
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            const double size = fabs((m->row_scale[i] * A->val[k]) * m->col_scale[j]);
            if (!(size <= 1 + 1e-10)) fail_msg("scaled entry (%d, %d) is 1 + %g", i, j, size - 1);
            if (m->row_of[j] == i && !(size >= 1 - slack))
                fail_msg("matched entry (%d, %d) is 1 - %g", i, j, 1 - size);
        }
    }
}

static void assert_objective(const sd_csr *A, const sd_matching *m, long double sum)
{
    double log_product, log_scaled;
    sd_matching_objective(A, m->row_of, m->row_scale, m->col_scale, &log_product, &log_scaled);
    if (!(fabsl(log_product - sum) <= 1e-9L * (1 + fabsl(sum))))
        fail_msg("sum of logarithms %.15g, the largest is %.15Lg", log_product, sum);
}

static void assert_close(double x, double y, double tolerance)
{
    if (!(fabs(x - y) <= tolerance)) fail_msg("%.17g is not %.17g", x, y);
}

/* ---- tests ---- */

static void a_small_matrix_gets_the_optimum(void **state)
{
    (void)state;
    rng r = rng_start("small matrices");
    int singular = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = rng_below(&r, 2);
        const int n = 1 + rng_below(&r, MOST);
        dense d = random_matrix(&r, n, fabs(rng_unit(&r)), symmetric, rng_below(&r, 4));
        const optimum best = best_matching(&d);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        sd_matching m;
        assert_int_equal(sd_match_product(&c, &A, symmetric, &m), SADDLE_OK);
        assert_int_equal(assert_matching(&A, &m), best.size);
        if (best.size == n || !symmetric) assert_objective(&A, &m, best.sum);
        if (assert_scales(&A, symmetric, &m)) assert_certificate(&A, &m, 1e-10);
        singular += best.size < n;
        sd_matching_free(&c, &m);
        sd_csr_free(&c, &A);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
    assert_in_range(singular, ROUNDS / 10, ROUNDS - ROUNDS / 10); /* both kinds have come up */
}

/* A constraint matrix in the shape of a saddle: a diagonal of many decades, rows of constraints, a few of
 * them on all variables, and no or a small diagonal beside them. */
static dense random_saddle(rng *r, int variables, int constraints, bool regular)
{
    const int n = variables + constraints;
    dense d = dense_new(n);
    for (int i = 0; i < variables; ++i) dense_set(&d, i, i, pow(10.0, 5.0 * rng_unit(r)));
    for (int k = 0; k < constraints; ++k) {
        const int row = variables + k;
        for (int i = 0; i < variables; ++i) {
            if (k >= 3 && i != k && rng_below(r, 30)) continue;
            const double value = pow(10.0, 2.0 * rng_unit(r));
            dense_set(&d, row, i, value);
            dense_set(&d, i, row, value);
        }
        if (regular) dense_set(&d, row, row, -1e-8);
    }
    return d;
}

static void a_larger_matrix_proves_its_optimum(void **state)
{
    (void)state;
    rng r = rng_start("larger matrices");
    for (int round = 0; round < 40; ++round) {
        const bool symmetric = round % 2, saddle = round % 4 >= 2;
        const int n = 100 + rng_below(&r, 200);
        dense d = saddle
                      ? random_saddle(&r, n, n / 4, rng_below(&r, 2))
                      : random_matrix(&r, n, 0.02 + 0.05 * fabs(rng_unit(&r)), symmetric, rng_below(&r, 2));
        for (int i = 0; i < n && !saddle; ++i) dense_set(&d, i, i, random_value(&r, 1) * 1e-3);
        for (int i = 0; i < n && round % 5 == 0; ++i) {
            dense_set(&d, 7, i, random_value(&r, 1));
            dense_set(&d, i, 7, dense_at(&d, 7, i));
        }
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        sd_matching m, again;
        assert_int_equal(sd_match_product(&c, &A, symmetric, &m), SADDLE_OK);
        assert_int_equal(assert_matching(&A, &m), d.n);
        assert_true(assert_scales(&A, symmetric, &m));
        assert_certificate(&A, &m, 1e-10);
        assert_int_equal(sd_match_product(&c, &A, symmetric, &again), SADDLE_OK);
        assert_memory_equal(m.row_of, again.row_of, (size_t)d.n * sizeof *m.row_of);
        assert_memory_equal(m.row_scale, again.row_scale, (size_t)d.n * sizeof *m.row_scale);
        assert_memory_equal(m.col_scale, again.col_scale, (size_t)d.n * sizeof *m.col_scale);
        sd_matching_free(&c, &m);
        sd_matching_free(&c, &again);
        sd_csr_free(&c, &A);
        dense_free(&d);
    }
}

/* Costs i j, the hardest for shortest paths (R. E. Machol and M. Wien, A "hard" assignment problem, 1976),
 * with noise: every search goes through nearly every row, so that the rows, all of them long, are sorted and
 * cut short. */
static void long_rows_do_not_change_the_optimum(void **state)
{
    (void)state;
    rng r = rng_start("long rows");
    for (int round = 0; round < 6; ++round) {
        const bool symmetric = round % 2;
        dense d = dense_new(150 + 20 * round);
        for (int i = 0; i < d.n; ++i) {
            for (int j = 0; j < d.n; ++j) {
                if ((symmetric && j < i) || (i != j && rng_below(&r, 10) == 0)) continue;
                dense_set(&d, i, j, exp(-0.01 * i * j - 0.05 * rng_unit(&r)));
                if (symmetric) dense_set(&d, j, i, dense_at(&d, i, j));
            }
        }
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        sd_matching m;
        assert_int_equal(sd_match_product(&c, &A, symmetric, &m), SADDLE_OK);
        assert_int_equal(assert_matching(&A, &m), d.n);
        assert_true(assert_scales(&A, symmetric, &m));
        assert_certificate(&A, &m, 1e-10);
        sd_matching_free(&c, &m);
        sd_csr_free(&c, &A);
        dense_free(&d);
    }
}

static int stop_at_third(const saddle_progress *progress, void *user)
{
    int *calls = user;
    assert_string_equal(progress->stage, "prepare");
    return ++*calls == 3;
}

/* The same problem, large enough for several calls between its searches. */
static void a_long_search_can_be_cancelled(void **state)
{
    (void)state;
    dense d = dense_new(600);
    for (int i = 0; i < d.n; ++i)
        for (int j = 0; j < d.n; ++j) dense_set(&d, i, j, exp(-1e-3 * i * j));
    int calls = 0;
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = stop_at_third, .user = &calls};
    sd_context c;
    sd_context_init(&c, &hooks, 0);
    sd_csr A = csr_of(&c, &d);
    sd_matching m;
    assert_int_equal(sd_match_product(&c, &A, false, &m), SADDLE_CANCELLED);
    assert_int_equal(calls, 3);
    assert_null(m.row_of);
    sd_csr_free(&c, &A);
    assert_int_equal(c.bytes, 0);
    dense_free(&d);
}

static int count_calls(const saddle_progress *progress, void *user)
{
    (void)progress;
    ++*(int *)user;
    return 0;
}

/* Ten entries a row that are 1, 2 or 3: distances are equal but for rounding, and a search does not go
 * through all that are. Calls of the hook count the entries that are looked at. */
static void ties_do_not_widen_the_searches(void **state)
{
    (void)state;
    enum { N = 30000, ROW = 10 };
    rng r = rng_start("ties");
    static int64_t ptr[N + 1];
    static int32_t ind[N * ROW];
    static double val[N * ROW];
    for (int i = 0; i < N; ++i) {
        ptr[i + 1] = (int64_t)ROW * (i + 1);
        for (int k = 0; k < ROW; ++k) { /* one in each tenth of the row: sorted, and none twice */
            ind[i * ROW + k] = (int32_t)(k * (N / ROW) + (int)rng_below(&r, N / ROW));
            val[i * ROW + k] = (double)(1 + rng_below(&r, 3));
        }
    }
    int calls = 0;
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = count_calls, .user = &calls};
    const sd_csr A = {.n = N, .nnz = (int64_t)N * ROW, .ptr = ptr, .ind = ind, .val = val};
    sd_context c;
    sd_context_init(&c, &hooks, 0);
    sd_matching m;
    assert_int_equal(sd_match_product(&c, &A, false, &m), SADDLE_OK);
    if (calls > 4) fail_msg("%d calls: a search goes through too much", calls);
    assert_certificate(&A, &m, 1e-10);
    sd_matching_free(&c, &m);
}

static void a_dominant_diagonal_is_its_own_matching(void **state)
{
    (void)state;
    rng r = rng_start("dominant diagonals");
    dense d = random_matrix(&r, 40, 0.2, true, 1);
    for (int i = 0; i < d.n; ++i) dense_set(&d, i, i, pow(10.0, 100.0 * rng_unit(&r)));
    for (int i = 0; i < d.n; ++i) {
        for (int j = 0; j < i; ++j) {
            if (!d.there[i * d.n + j]) continue;
            const double bound = sqrt(dense_at(&d, i, i)) * sqrt(dense_at(&d, j, j));
            dense_set(&d, i, j, 0.999 * bound);
            dense_set(&d, j, i, 0.999 * bound);
        }
    }
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    sd_matching m;
    assert_int_equal(sd_match_product(&c, &A, true, &m), SADDLE_OK);
    for (int j = 0; j < d.n; ++j) assert_int_equal(m.row_of[j], j);
    assert_certificate(&A, &m, 1e-10);
    sd_matching_free(&c, &m);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

/* An arrow of four rows without a diagonal: rank 2; the rows left over are scaled against the matched ones.
 */
static void unmatched_rows_are_scaled_by_their_neighbours(void **state)
{
    (void)state;
    const double rows[25] = {0,      8, 4, 2, 0, /**/ 8, 0, 0, 0, 0, /**/ 4, 0, 0, 0, 0,
                             /**/ 2, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0};
    dense d = dense_from(5, rows);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    sd_matching m;
    assert_int_equal(sd_match_product(&c, &A, true, &m), SADDLE_OK);
    assert_int_equal(assert_matching(&A, &m), 2);
    assert_true(m.row_of[0] >= 1 && m.row_of[m.row_of[0]] == 0);
    for (int i = 1; i < 4; ++i)
        assert_close(m.row_scale[i] * dense_at(&d, i, 0) * m.row_scale[0], 1.0, 1e-12);
    assert_true(m.row_scale[4] == 1.0);
    sd_matching_free(&c, &m);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

static void nothing_and_next_to_nothing_are_matched(void **state)
{
    (void)state;
    const double values[] = {0.0, 1.0, -DBL_TRUE_MIN, DBL_MAX};
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        for (int n = 0; n < 3; ++n) {
            for (int v = 0; v < 4; ++v) {
                dense d = dense_new(n);
                if (n > 0) dense_set(&d, n - 1, n - 1, values[v]);
                sd_context c;
                sd_context_init(&c, NULL, 0);
                sd_csr A = csr_of(&c, &d);
                for (int auction = 0; auction < 2; ++auction) {
                    sd_matching m;
                    const saddle_status status = auction ? sd_match_auction(&c, &A, symmetric, &m)
                                                         : sd_match_product(&c, &A, symmetric, &m);
                    assert_int_equal(status, SADDLE_OK);
                    assert_int_equal(assert_matching(&A, &m), n > 0 && values[v] != 0);
                    assert_scales(&A, symmetric, &m);
                    assert_certificate(&A, &m, 1e-10);
                    sd_matching_free(&c, &m);
                }
                sd_csr_free(&c, &A);
                assert_int_equal(c.bytes, 0);
                dense_free(&d);
            }
        }
    }
}

static void an_auction_comes_near(void **state)
{
    (void)state;
    rng r = rng_start("auctions");
    int64_t matched = 0, rank = 0;
    for (int round = 0; round < 400; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d =
            random_matrix(&r, 1 + rng_below(&r, 60), 0.3 * fabs(rng_unit(&r)), symmetric, rng_below(&r, 4));
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        sd_matching m, best;
        assert_int_equal(sd_match_auction(&c, &A, symmetric, &m), SADDLE_OK);
        assert_int_equal(sd_match_product(&c, &A, symmetric, &best), SADDLE_OK);
        matched += assert_matching(&A, &m);
        rank += best.rank;
        assert_true(m.rank <= best.rank);
        if (assert_scales(&A, symmetric, &m)) assert_certificate(&A, &m, 1.0);
        if (m.rank == best.rank && m.rank == d.n) {
            double found, optimal, scaled;
            sd_matching_objective(&A, m.row_of, NULL, NULL, &found, &scaled);
            sd_matching_objective(&A, best.row_of, NULL, NULL, &optimal, &scaled);
            assert_true(found <= optimal + 1e-9 * fabs(optimal));
            assert_true(found >= optimal - 1.0 * d.n); /* epsilon a row */
        }
        sd_matching_free(&c, &m);
        sd_matching_free(&c, &best);
        sd_csr_free(&c, &A);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
    assert_true(matched >= rank - rank / 20);
}

/* Rows that have the last column alone, or zeros besides: no matching has more than one of them, and an
 * auction that they fight out would raise its price beyond all numbers. */
static void an_auction_gives_in_where_rows_have_one_choice(void **state)
{
    (void)state;
    enum { FEW = 12 };
    dense d = dense_new(FEW);
    for (int i = 0; i < FEW; ++i) {
        for (int side = 0; side < 2; ++side)
            dense_set(&d, side ? FEW - 1 : i, side ? i : FEW - 1, i % 2 ? 1e-3 * (i + 1) : 7 * i + 1.0);
        dense_set(&d, i, i, i < 6 ? 2.0 : 0.0);
    }
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        sd_matching m;
        assert_int_equal(sd_match_auction(&c, &A, symmetric, &m), SADDLE_OK);
        assert_true(m.rank < FEW);
        for (int i = 0; i < FEW; ++i)
            for (int j = 0; j < FEW; ++j)
                assert_true(m.row_scale[i] * fabs(dense_at(&d, i, j)) * m.col_scale[j] <= 1 + 1e-9);
        for (int i = 0; i < FEW; ++i) assert_true(m.row_scale[i] < 1e20 && m.row_scale[i] > 1e-20);
        sd_matching_free(&c, &m);
        sd_csr_free(&c, &A);
    }
    dense_free(&d);
}

static void the_objective_is_what_it_says(void **state)
{
    (void)state;
    const double rows[9] = {0, 1e300, 0, 1e-300, 2, 0, 0, 5, 0};
    const int32_t row_of[3] = {1, 0, -1};
    const double r[3] = {1e-250, 1e300, 1}, s[3] = {1e10, 1e-40, 1};
    dense d = dense_from(3, rows);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = csr_of(&c, &d);
    double log_product, log_scaled;
    sd_matching_objective(&A, row_of, NULL, NULL, &log_product, &log_scaled);
    assert_close(log_product, 0.0, 1e-12);
    assert_close(log_scaled, 0.0, 1e-12);
    sd_matching_objective(&A, row_of, r, s, &log_product, &log_scaled);
    assert_close(log_scaled, (10 + 10) * log(10.0), 1e-12);
    sd_csr_free(&c, &A);
    dense_free(&d);
}

static void match_with_failures(const dense *d, bool symmetric, bool auction)
{
    sd_context plain;
    sd_context_init(&plain, NULL, 0);
    sd_csr A = csr_of(&plain, d);
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_context_init(&c, &hooks, 0);
        sd_matching m;
        const saddle_status status =
            auction ? sd_match_auction(&c, &A, symmetric, &m) : sd_match_product(&c, &A, symmetric, &m);
        if (!status) sd_matching_free(&c, &m);
        assert_int_equal(f.live, 0);
        assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
        if (!f.failed) break;
    }
    sd_csr_free(&plain, &A);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        for (int auction = 0; auction < 2; ++auction) {
            dense regular = random_saddle(&r, 60, 20, false);
            match_with_failures(&regular, symmetric, auction);
            dense singular = random_matrix(&r, 12, 0.1, symmetric, 0);
            match_with_failures(&singular, symmetric, auction);
            dense_free(&regular);
            dense_free(&singular);
        }
    }
}

/* Any bits but those of NaN and infinity, and numbers near 1, where a logarithm loses most. */
static void costs_are_logarithms(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    rng r = rng_start("costs");
    double *value = test_alloc(COUNT, sizeof *value), *cost = test_alloc(COUNT, sizeof *cost);
    int64_t *ptr = test_alloc(COUNT + 1, sizeof *ptr);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int k = 0; k <= COUNT; ++k) ptr[k] = k;
    for (int round = 0; round < 300; ++round) {
        for (int k = 0; k < COUNT; ++k) {
            const uint64_t bits = rng_next(&r) >> (round % 3 == 1 ? rng_below(&r, 64) : 0);
            memcpy(&value[k], &bits, sizeof bits);
            if (round % 3 == 2) value[k] = 1.0 + ldexp(rng_unit(&r), -rng_below(&r, 52) - 1);
            if (!isfinite(value[k])) value[k] = 0.0;
        }
        const sd_csr A = {.n = COUNT, .nnz = COUNT, .ptr = ptr, .val = value};
        assert_int_equal(sd_matching_costs(&c, &A, false, cost), SADDLE_OK);
        for (int k = 0; k < COUNT; ++k) {
            const long double exact = -logl(fabsl((long double)value[k]));
            if (value[k] == 0)
                assert_true(cost[k] == HUGE_VAL);
            else if (!(fabsl((long double)cost[k] - exact) <= 2 * DBL_EPSILON * fabsl(exact)))
                fail_msg("the cost of %a is %.17g, not %.17Lg", value[k], cost[k], exact);
        }
    }
    free(ptr);
    free(value);
    free(cost);
}

/* A full matrix has its costs computed for one triangle and copied to the other. */
static void costs_of_both_triangles_are_the_same(void **state)
{
    (void)state;
    rng r = rng_start("mirrored costs");
    for (int round = 0; round < 20; ++round) {
        dense d = random_matrix(&r, 40 + rng_below(&r, 30), 0.95, true, round % 4);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr A = csr_of(&c, &d);
        double *one = test_alloc((size_t)A.nnz, sizeof *one), *two = test_alloc((size_t)A.nnz, sizeof *two);
        assert_true(A.nnz >= 32 * (int64_t)A.n);
        assert_int_equal(sd_matching_costs(&c, &A, false, one), SADDLE_OK);
        assert_int_equal(sd_matching_costs(&c, &A, true, two), SADDLE_OK);
        assert_memory_equal(one, two, (size_t)A.nnz * sizeof *one);
        free(one);
        free(two);
        sd_csr_free(&c, &A);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_logarithms),
        cmocka_unit_test(costs_of_both_triangles_are_the_same),
        cmocka_unit_test(a_small_matrix_gets_the_optimum),
        cmocka_unit_test(a_larger_matrix_proves_its_optimum),
        cmocka_unit_test(long_rows_do_not_change_the_optimum),
        cmocka_unit_test(a_long_search_can_be_cancelled),
        cmocka_unit_test(ties_do_not_widen_the_searches),
        cmocka_unit_test(a_dominant_diagonal_is_its_own_matching),
        cmocka_unit_test(unmatched_rows_are_scaled_by_their_neighbours),
        cmocka_unit_test(nothing_and_next_to_nothing_are_matched),
        cmocka_unit_test(an_auction_comes_near),
        cmocka_unit_test(an_auction_gives_in_where_rows_have_one_choice),
        cmocka_unit_test(the_objective_is_what_it_says),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
