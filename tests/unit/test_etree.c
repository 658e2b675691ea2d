/*
 * Elimination trees, postorders and column counts against a dense symbolic elimination on random graphs, and
 * against shapes whose factors are known.
 */
#include "helpers.h"

#include "failing_allocator.h"
#include "graphs.h"
#include "prepare/etree.h"

enum { ROUNDS = 2000, MOST = 30 };

/* Eliminates position by position in a dense pattern. */
static void dense_factor(const adjacency *a, const int32_t *perm, bool *lower)
{
    const int n = a->n;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) lower[i * n + j] = i == j || a->edge[perm[i] * n + perm[j]];
    for (int j = 0; j < n; ++j)
        for (int i = j + 1; i < n; ++i)
            for (int k = j + 1; k < n; ++k)
                if (lower[i * n + j] && lower[k * n + j]) lower[i * n + k] = true;
}

/* Children before parents, all once, the descendants of each node right before it, siblings ascending. */
static void assert_postorder(int n, const int32_t *parent, const int32_t *post)
{
    int32_t place[MOST + 1], size[MOST + 1], last_child[MOST + 1];
    for (int k = 0; k < n; ++k) place[k] = -1;
    for (int k = 0; k <= n; ++k) last_child[k] = -1;
    for (int k = 0; k < n; ++k) {
        assert_in_range(post[k], 0, n - 1);
        assert_int_equal(place[post[k]], -1);
        place[post[k]] = k;
        size[post[k]] = 1;
    }
    for (int k = 0; k < n; ++k) {
        const int32_t j = post[k], above = parent[j] < 0 ? n : parent[j];
        assert_true(j > last_child[above]);
        last_child[above] = j;
        if (parent[j] < 0) continue;
        assert_true(place[parent[j]] > k);
        size[parent[j]] += size[j];
    }
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            int32_t k = i;
            while (k >= 0 && k != j) k = parent[k];
            if (k == j) assert_true(place[i] > place[j] - size[j] && place[i] <= place[j]);
        }
}

static void check_against_elimination(sd_context *c, const adjacency *a, const int32_t *perm)
{
    const int n = a->n;
    int32_t parent[MOST], post[MOST], count[MOST], depth[MOST];
    bool *lower = test_alloc((size_t)n * (size_t)n, sizeof *lower);
    sd_graph g = graph_of(a);
    sd_fill_sums fill;
    dense_factor(a, perm, lower);
    assert_int_equal(sd_etree(c, &g, perm, parent), SADDLE_OK);
    assert_int_equal(sd_postorder(c, n, parent, post), SADDLE_OK);
    assert_postorder(n, parent, post);
    assert_int_equal(sd_column_counts(c, &g, perm, parent, post, count), SADDLE_OK);
    assert_int_equal(sd_predict_fill(c, &g, perm, &fill), SADDLE_OK);
    int64_t nnz = 0, height = 0;
    double flops = 0;
    for (int j = n - 1; j >= 0; --j) {
        int first = -1, entries = 0;
        for (int i = n - 1; i > j; --i)
            if (lower[i * n + j]) first = i, ++entries;
        assert_int_equal(parent[j], first);
        assert_int_equal(count[j], entries + 1);
        depth[j] = first < 0 ? 1 : depth[first] + 1;
        if (depth[j] > height) height = depth[j];
        nnz += entries + 1;
        flops += (entries + 1.0) * (entries + 1.0);
    }
    assert_int_equal(fill.nnz, nnz);
    assert_int_equal(fill.height, height);
    assert_true(fill.flops == flops);
    graph_drop(&g);
    free(lower);
}

static void trees_and_counts_are_those_of_the_elimination(void **state)
{
    (void)state;
    rng r = rng_start("trees and counts");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        int32_t perm[MOST];
        const int n = rng_below(&r, MOST + 1);
        adjacency a = adjacency_random(&r, n, rng_below(&r, 3) ? 2.0 / (n + 1) : 0.5 * fabs(rng_unit(&r)));
        rng_permutation(&r, n, perm);
        check_against_elimination(&c, &a, perm);
        adjacency_free(&a);
    }
    assert_int_equal(c.bytes, 0);
}

static sd_fill_sums fill_of(const sd_graph *g)
{
    sd_context c;
    sd_fill_sums fill;
    sd_context_init(&c, NULL, 0);
    int32_t *perm = test_alloc((size_t)g->n, sizeof *perm);
    for (int32_t k = 0; k < g->n; ++k) perm[k] = k;
    assert_int_equal(sd_predict_fill(&c, g, perm, &fill), SADDLE_OK);
    free(perm);
    return fill;
}

static void a_path_has_two_entries_a_column(void **state)
{
    (void)state;
    sd_graph g = graph_path(1000);
    const sd_fill_sums fill = fill_of(&g);
    assert_int_equal(fill.nnz, 1999);
    assert_int_equal(fill.height, 1000);
    assert_true(fill.flops == 4.0 * 999 + 1);
    graph_drop(&g);
}

static void an_arrow_fills_in_only_where_its_point_comes_first(void **state)
{
    (void)state;
    const int n = 500;
    sd_graph g = graph_star(n, 0);
    sd_fill_sums fill = fill_of(&g);
    assert_int_equal(fill.nnz, n * (n + 1) / 2);
    assert_int_equal(fill.height, n);
    graph_drop(&g);
    g = graph_star(n, n - 1);
    fill = fill_of(&g);
    assert_int_equal(fill.nnz, 2 * n - 1);
    assert_int_equal(fill.height, 2);
    graph_drop(&g);
}

/* Row by row, column (i, j) of an m x m grid reaches from itself to the place below it: m + 1 entries from
 * the second row on (less in the first, whose left part is not filled, and in the last). */
static void a_grid_in_its_natural_order_fills_its_band(void **state)
{
    (void)state;
    const int m = 40;
    sd_graph g = graph_grid(m, m);
    const sd_fill_sums fill = fill_of(&g);
    int64_t nnz = 0;
    for (int k = 0; k < m * m; ++k) {
        const int i = k / m, j = k % m;
        /* below: this row's rest, and of the next row what stands above or left of (i + 1, j) */
        nnz += 1 + (m - 1 - j > 0) + (i + 1 < m);
        if (i > 0) nnz += m - 1 - j - (m - 1 - j > 0); /* row i is filled to its end by the row above */
        if (i + 1 < m) nnz += j;                       /* and row i + 1 up to (i + 1, j) by this one */
    }
    assert_int_equal(fill.nnz, nnz);
    assert_int_equal(fill.height, m * m);
    graph_drop(&g);
}

static void sums_of_a_large_dense_factor_do_not_overflow(void **state)
{
    (void)state;
    const int64_t n = 100000;
    sd_graph g = graph_star((int)n, 0);
    const sd_fill_sums fill = fill_of(&g);
    assert_true(fill.nnz == n * (n + 1) / 2);
    const double exact = (double)n * (double)(n + 1) * (double)(2 * n + 1) / 6;
    assert_true(fabs(fill.flops - exact) <= 1e-9 * exact);
    graph_drop(&g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sd_graph g = graph_grid(5, 4);
    int32_t perm[20];
    for (int k = 0; k < 20; ++k) perm[k] = k;
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_fill_sums fill;
        sd_context_init(&c, &hooks, 0);
        const saddle_status status = sd_predict_fill(&c, &g, perm, &fill);
        assert_int_equal(f.live, 0);
        assert_int_equal(c.bytes, 0);
        assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
        if (!f.failed) break;
    }
    graph_drop(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_and_counts_are_those_of_the_elimination),
        cmocka_unit_test(a_path_has_two_entries_a_column),
        cmocka_unit_test(an_arrow_fills_in_only_where_its_point_comes_first),
        cmocka_unit_test(a_grid_in_its_natural_order_fills_its_band),
        cmocka_unit_test(sums_of_a_large_dense_factor_do_not_overflow),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
