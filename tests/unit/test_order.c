/*
 * Orderings of graphs: that every one gives a permutation on every kind of graph, the same one each time, and
 * orders well where it is known what well is. Dense vertices come last. METIS has more in test_metis.c.
 */
#include "helpers.h"

#include "failing_allocator.h"
#include "graphs.h"
#include "prepare/etree.h"
#include "prepare/metis.h"
#include "prepare/prepare.h"

static const int orders[] = {SADDLE_ORDER_METIS, SADDLE_ORDER_ND, SADDLE_ORDER_AMD, SADDLE_ORDER_RCM,
                             SADDLE_ORDER_NATURAL};
enum { ORDERS = 5, ROUNDS = 400 };

static sd_fill_sums fill_under(const sd_graph *g, int order)
{
    sd_context c;
    sd_fill_sums fill;
    int64_t dense_rows;
    sd_context_init(&c, NULL, 0);
    int32_t *perm = order_of(g, order, &dense_rows);
    assert_int_equal(sd_predict_fill(&c, g, perm, &fill), SADDLE_OK);
    free(perm);
    return fill;
}

/* Every ordering twice: a permutation, the same both times, and the graph as it was. */
static void check_orders(const sd_graph *g)
{
    const int64_t edges = g->ptr[g->n];
    int32_t *copy = test_alloc((size_t)edges, sizeof *copy);
    memcpy(copy, g->ind, (size_t)edges * sizeof *copy);
    for (int k = 0; k < ORDERS; ++k) {
        int64_t dense_rows, again;
        int32_t *first = order_of(g, orders[k], &dense_rows), *second = order_of(g, orders[k], &again);
        assert_permutation(first, g->n);
        assert_memory_equal(first, second, (size_t)g->n * sizeof *first);
        assert_int_equal(dense_rows, again);
        assert_memory_equal(copy, g->ind, (size_t)edges * sizeof *copy);
        free(first);
        free(second);
    }
    free(copy);
}

static void random_graphs_get_permutations(void **state)
{
    (void)state;
    rng r = rng_start("random graphs");
    for (int round = 0; round < ROUNDS; ++round) {
        const int n = rng_below(&r, rng_below(&r, 8) ? 40 : 300);
        adjacency a = adjacency_random(&r, n, rng_below(&r, 4) ? fabs(rng_unit(&r)) * 4 / (n + 1) : 0.6);
        sd_graph g = graph_of(&a);
        if (rng_below(&r, 2)) give_sizes(&r, &g);
        check_orders(&g);
        graph_drop(&g);
        adjacency_free(&a);
    }
}

/* Cliques of any sizes, a few edges between them: METIS compresses each to one vertex. */
static void cliques_get_permutations(void **state)
{
    (void)state;
    rng r = rng_start("cliques");
    for (int round = 0; round < 200; ++round) {
        adjacency a = adjacency_new(1 + rng_below(&r, 250));
        const int most = 1 + rng_below(&r, round % 10 ? 12 : a.n);
        for (int begin = 0, end; begin < a.n; begin = end) {
            end = begin + 1 + rng_below(&r, most);
            for (int v = begin; v < end && v < a.n; ++v)
                for (int w = begin; w < v; ++w) adjacency_join(&a, v, w);
        }
        for (int k = rng_below(&r, 3) * rng_below(&r, 20); k > 0; --k)
            adjacency_join(&a, rng_below(&r, a.n), rng_below(&r, a.n));
        sd_graph g = graph_of(&a);
        check_orders(&g);
        graph_drop(&g);
        adjacency_free(&a);
    }
}

static void special_graphs_get_permutations(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 2, 3, 5, 99, 101, 120, 250, 1000};
    for (int k = 0; k < 10; ++k) {
        const int n = sizes[k];
        adjacency none = adjacency_new(n), all = adjacency_new(n);
        for (int v = 0; v < n; ++v)
            for (int w = 0; w < v; ++w) adjacency_join(&all, v, w);
        sd_graph graphs[] = {graph_of(&none), graph_of(&all), graph_path(n), graph_star(n, 0),
                             graph_star(n, n - 1)};
        for (int m = 0; m < 5; ++m) {
            check_orders(&graphs[m]);
            graph_drop(&graphs[m]);
        }
        adjacency_free(&all);
        adjacency_free(&none);
    }
}

/* A path whose first vertices are joined with all others: with three sizes, so that rows are counted. */
static void dense_vertices_come_last_by_degree(void **state)
{
    (void)state;
    const int n = 2000;
    adjacency a = adjacency_new(n);
    for (int v = 1; v < n; ++v) adjacency_join(&a, v, v - 1);
    for (int v = 0; v < n; ++v) {
        adjacency_join(&a, 700, v);
        if (v < 1900) adjacency_join(&a, 10, v);
        if (v >= 100) adjacency_join(&a, 50, v);
        if (v < 440) adjacency_join(&a, 60, v); /* 443 edges: below 10 sqrt(n) = 447 */
    }
    sd_graph g = graph_of(&a);
    for (int sized = 0; sized < 2; ++sized) {
        for (int k = 0; k < 3; ++k) {
            int64_t dense_rows;
            int32_t *perm = order_of(&g, orders[k], &dense_rows);
            assert_permutation(perm, n);
            assert_int_equal(dense_rows, sized ? 1 + 2 + 3 : 3);
            assert_int_equal(perm[n - 3], 10);
            assert_int_equal(perm[n - 2], 50);
            assert_int_equal(perm[n - 1], 700);
            free(perm);
        }
        if (sized) break;
        g.size = test_alloc((size_t)n, sizeof *g.size);
        for (int v = 0; v < n; ++v) g.size[v] = v == 50 ? 2 : v == 700 ? 3 : 1;
    }
    graph_drop(&g);
    adjacency_free(&a);
}

/* Two cliques, interleaved: every degree is above 10 sqrt(n), and still there is something to order. */
static void a_graph_of_nothing_but_dense_vertices_is_ordered(void **state)
{
    (void)state;
    const int cliques = 2, most = 400, n = cliques * most;
    adjacency a = adjacency_new(n);
    for (int v = 0; v < n; ++v)
        for (int w = v % cliques; w < v; w += cliques) adjacency_join(&a, v, w); /* interleaved */
    sd_graph g = graph_of(&a);
    for (int k = 0; k < 2; ++k) {
        int64_t dense_rows;
        free(order_of(&g, orders[k], &dense_rows));
        assert_int_equal(dense_rows, 0);
        assert_int_equal(fill_under(&g, orders[k]).nnz, cliques * (int64_t)most * (most + 1) / 2);
    }
    graph_drop(&g);
    adjacency_free(&a);
}

static void orders_reduce_the_fill_of_a_grid(void **state)
{
    (void)state;
    const int m = 60;
    sd_graph g = graph_grid(m, m);
    const double natural = fill_under(&g, SADDLE_ORDER_NATURAL).flops;
    assert_true(fill_under(&g, SADDLE_ORDER_METIS).flops < 0.25 * natural);
    assert_true(fill_under(&g, SADDLE_ORDER_ND).flops < 0.25 * natural);
    assert_true(fill_under(&g, SADDLE_ORDER_AMD).flops < 0.25 * natural);
    assert_true(fill_under(&g, SADDLE_ORDER_RCM).flops < natural); /* along its diagonals */
    graph_drop(&g);
}

static int64_t bandwidth(const sd_graph *g, const int32_t *perm)
{
    int64_t widest = 0;
    int32_t *position = test_alloc((size_t)g->n, sizeof *position);
    for (int32_t k = 0; k < g->n; ++k) position[perm[k]] = k;
    for (int32_t v = 0; v < g->n; ++v)
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k)
            if (position[v] - position[g->ind[k]] > widest) widest = position[v] - position[g->ind[k]];
    free(position);
    return widest;
}

static void rcm_finds_the_band_of_shuffled_paths_and_grids(void **state)
{
    (void)state;
    rng r = rng_start("rcm");
    for (int round = 0; round < 50; ++round) {
        const int rows = 1 + rng_below(&r, 3), columns = 2 + rng_below(&r, 40), n = rows * columns;
        int32_t *name = test_alloc((size_t)n, sizeof *name);
        for (int k = 0; k < n; ++k) name[k] = k;
        for (int k = n - 1; k > 0; --k) {
            const int other = rng_below(&r, k + 1);
            const int32_t swap = name[k];
            name[k] = name[other];
            name[other] = swap;
        }
        adjacency a = adjacency_new(n);
        for (int v = 0; v < n; ++v) {
            if (v % columns) adjacency_join(&a, name[v], name[v - 1]);
            if (v >= columns) adjacency_join(&a, name[v], name[v - columns]);
        }
        sd_graph g = graph_of(&a);
        int64_t dense_rows;
        int32_t *perm = order_of(&g, SADDLE_ORDER_RCM, &dense_rows);
        assert_true(bandwidth(&g, perm) <= (rows == 1 ? 1 : rows + 1));
        free(perm);
        graph_drop(&g);
        adjacency_free(&a);
        free(name);
    }
}

/* Two components, numbered alternately: the one with vertex 0 comes first, each without a gap. */
static void rcm_orders_components_by_their_lowest_vertex(void **state)
{
    (void)state;
    adjacency a = adjacency_new(11);
    for (int v = 2; v < 10; ++v) adjacency_join(&a, v, v - 2); /* 10 stays alone */
    sd_graph g = graph_of(&a);
    int64_t dense_rows;
    int32_t *perm = order_of(&g, SADDLE_ORDER_RCM, &dense_rows);
    for (int k = 0; k < 5; ++k) assert_int_equal(perm[k] % 2, 0);
    for (int k = 5; k < 10; ++k) assert_int_equal(perm[k] % 2, 1);
    assert_int_equal(perm[10], 10);
    assert_int_equal(bandwidth(&g, perm), 1);
    free(perm);
    graph_drop(&g);
    adjacency_free(&a);
}

/* It would take days if every component cost something in n. */
static void rcm_takes_many_components_in_its_stride(void **state)
{
    (void)state;
    const int n = 1000000;
    sd_graph g = graph_room(n, n);
    for (int v = 0; v < n; ++v) {
        g.ptr[v + 1] = g.ptr[v];
        graph_enter(&g, v, v ^ 1);
    }
    int64_t dense_rows;
    int32_t *perm = order_of(&g, SADDLE_ORDER_RCM, &dense_rows);
    for (int v = 0; v < n; ++v) assert_int_equal(perm[v] / 2, v / 2);
    free(perm);
    graph_drop(&g);
}

static void wrong_permutations_are_named(void **state)
{
    (void)state;
    const int32_t good[] = {2, 0, 1}, twice[] = {2, 0, 2}, low[] = {0, -1, 2}, high[] = {0, 1, 3};
    sd_context c;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_order_check(&c, good, 3, "order"), SADDLE_OK);
    assert_int_equal(sd_order_check(&c, good, 0, "order"), SADDLE_OK);
    assert_int_equal(sd_order_check(&c, twice, 3, "order"), SADDLE_BAD_ARGUMENT);
    assert_contains(c.message, "order: position 3 holds 3, and so does position 1");
    assert_int_equal(sd_order_check(&c, low, 3, "order"), SADDLE_BAD_ARGUMENT);
    assert_contains(c.message, "position 2 of 3 holds 0,");
    assert_int_equal(sd_order_check(&c, high, 3, "order"), SADDLE_BAD_ARGUMENT);
    assert_contains(c.message, "position 3 of 3 holds 4,");
    assert_contains(c.message, "(counted from 1)");
    assert_int_equal(c.bytes, 0);
}

static void what_is_no_ordering_of_a_graph_is_refused(void **state)
{
    (void)state;
    sd_context c;
    int32_t perm[4];
    int64_t dense_rows;
    sd_graph g = graph_path(4);
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_order_graph(&c, &g, SADDLE_ORDER_USER, perm, &dense_rows), SADDLE_BAD_ARGUMENT);
    assert_int_equal(sd_order_graph(&c, &g, SADDLE_ORDER_AUTO, perm, &dense_rows), SADDLE_BAD_ARGUMENT);
    graph_drop(&g);
}

/* The number of edges is refused before one is looked at, so that there need not be any. */
static void too_many_edges_are_refused(void **state)
{
    (void)state;
    sd_context c;
    int32_t perm[2];
    int64_t ptr[] = {0, INT64_C(1) << 30, INT64_C(1) << 31};
    const sd_graph g = {.n = 2, .ptr = ptr};
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_metis_order(&c, &g, perm), SADDLE_NOT_SUPPORTED);
    assert_contains(c.message, "2147483648 stored edges");
    assert_contains(c.message, "rcm");
    assert_int_equal(sd_metis_partition(&c, &g, 2, perm), SADDLE_NOT_SUPPORTED);
    int64_t dense_rows;
    static const int ours[] = {SADDLE_ORDER_AMD, SADDLE_ORDER_ND};
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(sd_order_graph(&c, &g, ours[k], perm, &dense_rows), SADDLE_NOT_SUPPORTED);
        assert_contains(c.message, "2147483648 stored edges");
    }
    assert_int_equal(c.bytes, 0);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const int n = 150;
    adjacency a = adjacency_new(n);
    for (int v = 1; v < n; ++v) adjacency_join(&a, v, v - 1);
    for (int v = 0; v < n; ++v) adjacency_join(&a, v, 77);
    sd_graph g = graph_of(&a);
    rng r = rng_start("failing allocations");
    give_sizes(&r, &g);
    give_weights(&r, &g);
    for (int what = 0; what < ORDERS + 1; ++what) {
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            int32_t result[150];
            int64_t dense_rows;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = what < ORDERS
                                             ? sd_order_graph(&c, &g, orders[what], result, &dense_rows)
                                             : sd_order_check(&c, g.ind, 0, "order");
            assert_int_equal(f.live, 0);
            assert_int_equal(c.bytes, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
        }
    }
    graph_drop(&g);
    adjacency_free(&a);
}

/* The same operations, matrix and factorizations: where L has many entries for them, little is to be saved.
 */
static void a_dissection_pays_where_columns_are_long(void **state)
{
    (void)state;
    saddle_options o = saddle_options_default();
    const double flops = 2e8, size = 2e5;
    o.factorizations = 30;
    assert_false(sd_dissection_pays(&o, flops, flops / 100, size));
    assert_true(sd_dissection_pays(&o, flops, flops / 2000, size));
    o.factorizations = 1;
    assert_false(sd_dissection_pays(&o, flops, flops / 2000, size));
    o.factorizations = 10000; /* what is little each time adds up */
    assert_true(sd_dissection_pays(&o, flops, flops / 50, size));
    o.factorizations = 30;
    assert_false(sd_dissection_pays(&o, 0, 0, size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_get_permutations),
        cmocka_unit_test(cliques_get_permutations),
        cmocka_unit_test(special_graphs_get_permutations),
        cmocka_unit_test(dense_vertices_come_last_by_degree),
        cmocka_unit_test(a_graph_of_nothing_but_dense_vertices_is_ordered),
        cmocka_unit_test(orders_reduce_the_fill_of_a_grid),
        cmocka_unit_test(rcm_finds_the_band_of_shuffled_paths_and_grids),
        cmocka_unit_test(rcm_orders_components_by_their_lowest_vertex),
        cmocka_unit_test(rcm_takes_many_components_in_its_stride),
        cmocka_unit_test(wrong_permutations_are_named),
        cmocka_unit_test(what_is_no_ordering_of_a_graph_is_refused),
        cmocka_unit_test(too_many_edges_are_refused),
        cmocka_unit_test(a_dissection_pays_where_columns_are_long),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
