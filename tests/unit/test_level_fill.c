/* Patterns of incomplete factorizations by levels of fill, held against elimination by the rule of sums. */
#include "incomplete.h"

enum { FAR = 1 << 20 };

/* level[i * n + j] by definition: the least sum of the levels of (i, k) and (k, j), plus one, over k below
 * both; 0 where A has an entry. */
static int *levels_of(const dense *d)
{
    const int n = d->n;
    int *level = test_alloc((size_t)n * (size_t)n, sizeof *level);
    for (int k = 0; k < n * n; ++k) level[k] = d->there[k] ? 0 : FAR;
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i)
            for (int j = k + 1; j < n && level[i * n + k] < FAR; ++j) {
                const int by = level[i * n + k] + level[k * n + j] + 1;
                if (by < level[i * n + j]) level[i * n + j] = by;
            }
    return level;
}

static void assert_upper(const sd_pattern *p, const int *level, int n, int k)
{
    int64_t at = 0;
    assert_int_equal(p->n, n);
    for (int i = 0; i < n; ++i) {
        assert_int_equal(p->ptr[i], at);
        for (int j = i + 1; j < n; ++j)
            if (level[i * n + j] <= k) assert_int_equal(p->ind[at++], j);
    }
    assert_int_equal(p->ptr[n], at);
}

static void patterns_are_those_of_the_rule_of_sums(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 120; ++round) {
        const int n = round < 118 ? 1 + rng_below(&r, 60) : 260 + rng_below(&r, 60); /* one chunk, two */
        problem a = problem_of(dense_random(&r, n, 3.0 * fabs(rng_unit(&r)) / n, rng_below(&r, 2)));
        int *level = levels_of(&a.d);
        const int levels[] = {0, 1, 2, 3, rng_below(&r, 20), 255};
        for (int k = 0; k < 6; ++k) {
            sd_pattern p;
            must(&a.c, sd_level_fill(&a.c, &a.B, levels[k], 1 + rng_below(&r, 4), &p));
            assert_upper(&p, level, n, levels[k]);
            sd_pattern_free(&a.c, &p);
        }
        free(level);
        problem_free(&a);
    }
}

/* A path N - 1, 0, 1, ..., N - 2: from its first vertex to vertex i there are i + 1 edges, through all that
 * are below i. */
static void a_level_is_the_length_of_a_path(void **state)
{
    (void)state;
    enum { N = 300 };
    dense d = dense_new(N);
    for (int i = 0; i + 1 < N - 1; ++i) {
        dense_set(&d, i, i + 1, 1);
        dense_set(&d, i + 1, i, 1);
    }
    dense_set(&d, N - 1, 0, 1);
    dense_set(&d, 0, N - 1, 1);
    problem a = problem_of(d);
    for (int k = 0; k <= 255; k += 15) {
        sd_pattern p;
        must(&a.c, sd_level_fill(&a.c, &a.B, k, 2, &p));
        for (int i = 0; i < N - 2; ++i) {
            const bool last = p.ind[p.ptr[i + 1] - 1] == N - 1;
            assert_int_equal(last, i <= k);
            assert_int_equal(p.ptr[i + 1] - p.ptr[i], 1 + last);
        }
        sd_pattern_free(&a.c, &p);
    }
    problem_free(&a);
}

static void threads_find_the_same_pattern(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr A = grid_blocks(&c, &r, 11, 1, false);
    sd_pattern one;
    must(&c, sd_level_fill(&c, &A, 4, 1, &one));
    for (int threads = 2; threads <= 5; ++threads) {
        sd_pattern p;
        must(&c, sd_level_fill(&c, &A, 4, threads, &p));
        assert_memory_equal(p.ptr, one.ptr, (size_t)(A.n + 1) * sizeof *p.ptr);
        assert_memory_equal(p.ind, one.ind, (size_t)one.ptr[A.n] * sizeof *p.ind);
        sd_pattern_free(&c, &p);
    }
    sd_pattern_free(&c, &one);
    sd_csr_free(&c, &A);
    assert_int_equal(c.bytes, 0);
}

static void a_transpose_has_every_entry_once_and_says_where_it_was(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 50; ++round) {
        problem a = problem_of(dense_random(&r, 1 + rng_below(&r, 40), 0.2, false));
        sd_pattern p = {a.B.n, a.B.ptr, a.B.ind}, t, back;
        int32_t *from;
        must(&a.c, sd_pattern_transpose(&a.c, &p, &t, &from));
        must(&a.c, sd_pattern_transpose(&a.c, &t, &back, NULL));
        assert_memory_equal(back.ptr, p.ptr, (size_t)(p.n + 1) * sizeof *p.ptr);
        for (int32_t j = 0; j < p.n; ++j)
            for (int64_t k = t.ptr[j]; k < t.ptr[j + 1]; ++k) {
                const int32_t i = t.ind[k];
                assert_int_equal(p.ind[from[k]], j);
                assert_in_range(from[k], p.ptr[i], p.ptr[i + 1] - 1);
                if (k > t.ptr[j]) assert_true(t.ind[k - 1] < i);
            }
        for (int64_t k = 0; k < p.ptr[p.n]; ++k) assert_int_equal(back.ind[k], p.ind[k]);
        sd_free(&a.c, from);
        sd_pattern_free(&a.c, &t);
        sd_pattern_free(&a.c, &back);
        problem_free(&a);
    }
}

static void assert_levels(sd_context *c, const sd_pattern *p, bool upper)
{
    int32_t levels, *level, *row, *of = test_alloc((size_t)p->n, sizeof *of);
    must(c, sd_pattern_levels(c, p, upper, &levels, &level, &row));
    assert_permutation(row, p->n);
    assert_int_equal(level[0], 0);
    assert_int_equal(level[levels], p->n);
    for (int32_t l = 0; l < levels; ++l) {
        assert_true(level[l] < level[l + 1]);
        for (int32_t k = level[l]; k < level[l + 1]; ++k) {
            if (k > level[l]) assert_true(row[k - 1] < row[k]);
            of[row[k]] = l;
        }
    }
    for (int32_t i = 0; i < p->n; ++i) {
        int32_t above = 0;
        for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k)
            if (of[p->ind[k]] >= above) above = of[p->ind[k]] + 1;
        assert_int_equal(of[i], above);
    }
    sd_free_all(c, level, row);
    free(of);
}

static void levels_are_one_above_what_they_need(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int round = 0; round < 50; ++round) {
        const int n = rng_below(&r, 60);
        problem a = problem_of(dense_random(&r, n, 2.0 / (n + 1), true));
        sd_pattern upper, lower;
        must(&a.c, sd_level_fill(&a.c, &a.B, 1, 1, &upper));
        must(&a.c, sd_pattern_transpose(&a.c, &upper, &lower, NULL));
        assert_levels(&a.c, &upper, true);
        assert_levels(&a.c, &lower, false);
        sd_pattern_free(&a.c, &upper);
        sd_pattern_free(&a.c, &lower);
        problem_free(&a);
    }
}

static saddle_status all_of_it(sd_context *c, const void *input)
{
    const sd_csr *A = input;
    sd_pattern upper = {0}, lower = {0};
    int32_t levels, *level = NULL, *row = NULL, *from = NULL;
    saddle_status status = sd_level_fill(c, A, 3, 1, &upper);
    if (!status) status = sd_pattern_transpose(c, &upper, &lower, &from);
    if (!status) status = sd_pattern_levels(c, &lower, false, &levels, &level, &row);
    sd_free_all(c, level, row, from);
    sd_pattern_free(c, &upper);
    sd_pattern_free(c, &lower);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    sd_context outer;
    sd_context_init(&outer, NULL, 0);
    sd_csr A = grid_blocks(&outer, &r, 8, 1, false);
    int64_t k = 1;
    while (allocation_fails(k, all_of_it, &A)) ++k;
    sd_csr_free(&outer, &A);
}

static void a_search_can_be_cancelled(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = cancel_once_begun};
    sd_context c;
    sd_context_init(&c, &hooks, 0);
    sd_csr A = grid_blocks(&c, &r, 8, 1, false);
    sd_pattern p;
    assert_int_equal(sd_level_fill(&c, &A, 2, 1, &p), SADDLE_CANCELLED);
    sd_csr_free(&c, &A);
    assert_int_equal(c.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_those_of_the_rule_of_sums),
        cmocka_unit_test(a_level_is_the_length_of_a_path),
        cmocka_unit_test(threads_find_the_same_pattern),
        cmocka_unit_test(a_transpose_has_every_entry_once_and_says_where_it_was),
        cmocka_unit_test(levels_are_one_above_what_they_need),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_search_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
