/*
 * Blockings: properties that all of them share on random and on awkward graphs, planted groups that those
 * which look at values must find, and cuts of an order.
 */
#include "blockings.h"

#include "failing_allocator.h"

/* ---- what holds for all ---- */

/* Parts that fit and are numbered by their lowest vertices. */
static void assert_parts(const sd_graph *g, int blocking, int most, const int32_t *part, int32_t parts)
{
    int32_t next = 0;
    int *rows = test_alloc((size_t)g->n, sizeof *rows);
    for (int v = 0; v < g->n; ++v) {
        if (part[v] < 0 || part[v] > next || part[v] >= parts)
            fail_msg("%s: part %d of vertex %d, after %d parts", name_of(blocking), part[v], v, next);
        next += part[v] == next;
        rows[part[v]] += sd_graph_size(g, v);
        if (rows[part[v]] > most) fail_msg("%s: part %d has too many rows", name_of(blocking), part[v]);
    }
    assert_int_equal(next, parts);
    free(rows);
}

/* Every part is connected by edges inside it. */
static void assert_connected(const square *s, int blocking, const int32_t *part, int32_t parts)
{
    int *label = test_alloc((size_t)s->n, sizeof *label);
    for (int v = 0; v < s->n; ++v) label[v] = v;
    int pieces = s->n;
    for (int v = 0; v < s->n; ++v) {
        for (int w = 0; w < v; ++w) {
            if (part[v] != part[w] || weight_of(s, v, w) < 0.0 || label[v] == label[w]) continue;
            --pieces;
            const int old = label[w];
            for (int k = 0; k < s->n; ++k)
                if (label[k] == old) label[k] = label[v];
        }
    }
    free(label);
    if (pieces != parts)
        fail_msg("%s: %d parts are in %d connected pieces", name_of(blocking), parts, pieces);
}

/* No two parts with an edge between them fit into one. */
static void assert_nothing_left_to_join(const sd_graph *g, int blocking, int most, const int32_t *part)
{
    int *rows = test_alloc((size_t)g->n, sizeof *rows);
    for (int v = 0; v < g->n; ++v) rows[part[v]] += sd_graph_size(g, v);
    for (int v = 0; v < g->n; ++v) {
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const int p = part[v], q = part[g->ind[k]];
            if (p == q || (g->weight && g->weight[k] == 0.0) || rows[p] + rows[q] > most) continue;
            fail_msg("%s: parts %d and %d fit into one", name_of(blocking), p, q);
        }
    }
    free(rows);
}

static void check_blockings(const square *s, bool weighted, int most)
{
    sd_graph g = square_graph(s, weighted);
    for (int blocking = FIRST; blocking <= LAST; ++blocking) {
        int32_t parts, again;
        int32_t *part = block_graph(&g, blocking, most, &parts);
        int32_t *second = block_graph(&g, blocking, most, &again);
        assert_parts(&g, blocking, most, part, parts);
        assert_int_equal(parts, again);
        assert_memory_equal(part, second, (size_t)s->n * sizeof *part);
        if (most == 1) assert_int_equal(parts, s->n);
        /* rows of similar structure need not be coupled */
        if (blocking != SADDLE_BLOCKING_COSINE) assert_connected(s, blocking, part, parts);
        if ((blocking == SADDLE_BLOCKING_CLUSTERS && s->n <= 100) || /* no degree stands out so far */
            blocking == SADDLE_BLOCKING_PRIORITY || blocking == SADDLE_BLOCKING_PRIORITY_DYNAMIC ||
            blocking == SADDLE_BLOCKING_METIS)
            assert_nothing_left_to_join(&g, blocking, most, part);
        free(second);
        free(part);
    }
    graph_drop(&g);
}

static void every_blocking_gives_parts_that_fit(void **state)
{
    (void)state;
    rng r = rng_start("parts that fit");
    for (int round = 0; round < 300; ++round) {
        const bool sizes = rng_below(&r, 2);
        const int n = rng_below(&r, 60), most = sizes ? 2 + rng_below(&r, 31) : 1 + rng_below(&r, 32);
        square s =
            random_square(&r, n, fabs(rng_unit(&r)) * fabs(rng_unit(&r)), rng_below(&r, STYLES), sizes);
        check_blockings(&s, rng_below(&r, 4) > 0, most);
        square_free(&s);
    }
}

static void awkward_graphs_are_blocked(void **state)
{
    (void)state;
    enum { N = 150 };
    const int mosts[] = {1, 2, 8, 32};
    for (int k = 0; k < 4; ++k) {
        square isolated = square_new(N), complete = square_new(N), path = square_new(N), star = square_new(N);
        for (int v = 0; v < N; ++v) {
            for (int w = 0; w < v; ++w) join(&complete, v, w, 1.0);
            if (v > 0) join(&path, v, v - 1, 1.0);
            if (v != N / 2) join(&star, v, N / 2, 1.0);
        }
        check_blockings(&isolated, true, mosts[k]);
        check_blockings(&complete, true, mosts[k]);
        check_blockings(&path, true, mosts[k]);
        check_blockings(&star, true, mosts[k]);
        square_free(&isolated);
        square_free(&complete);
        square_free(&path);
        square_free(&star);
    }
}

static void no_vertices_make_no_parts(void **state)
{
    (void)state;
    square none = square_new(0);
    for (int blocking = FIRST; blocking <= LAST; ++blocking) {
        int32_t parts;
        free(block(&none, blocking, true, 8, &parts));
        assert_int_equal(parts, 0);
    }
    square_free(&none);
}

static void a_path_is_cut_into_full_parts(void **state)
{
    (void)state;
    enum { N = 96, MOST = 8 };
    square path = square_new(N);
    for (int v = 1; v < N; ++v) join(&path, v, v - 1, 1.0);
    for (int blocking = FIRST; blocking <= LAST; ++blocking) {
        int32_t parts;
        free(block(&path, blocking, true, MOST, &parts));
        if (parts > N / MOST * 3 / 2) fail_msg("%s: %d parts", name_of(blocking), parts);
    }
    square_free(&path);
}

static void a_grid_is_cut_into_nearly_full_parts(void **state)
{
    (void)state;
    const int mosts[] = {2, 3, 8, 32};
    sd_graph g = graph_grid(64, 64);
    for (int k = 0; k < 4; ++k) {
        for (int blocking = FIRST; blocking <= LAST; ++blocking) {
            int32_t parts;
            int32_t *part = block_graph(&g, blocking, mosts[k], &parts);
            assert_parts(&g, blocking, mosts[k], part, parts);
            if (blocking != SADDLE_BLOCKING_PABLO && parts > g.n / mosts[k] * 3 / 2) /* it stops of itself */
                fail_msg("%s: %d parts", name_of(blocking), parts);
            free(part);
        }
    }
    graph_drop(&g);
}

/* ---- values ---- */

/* Groups of `most` vertices that hang together by strong edges, in a net of weak ones. */
static square planted_groups(rng *r, int groups, int most, int *group)
{
    const int n = groups * most;
    square s = square_new(n);
    int32_t *order = random_order(r, n);
    for (int k = 0; k < n; ++k) group[order[k]] = k / most;
    for (int v = 0; v < n; ++v)
        for (int w = 0; w < v; ++w)
            if (rng_below(r, 4) == 0) join(&s, v, w, 1e-4 * fabs(rng_unit(r)));
    for (int k = 0; k < n; ++k)
        if (k % most) join(&s, order[k], order[k - 1 - rng_below(r, k % most)], 1.0 + fabs(rng_unit(r)));
    free(order);
    return s;
}

static void strong_edges_stay_inside(void **state)
{
    (void)state;
    rng r = rng_start("strong edges");
    const int these[] = {SADDLE_BLOCKING_CLUSTERS, SADDLE_BLOCKING_PRIORITY,
                         SADDLE_BLOCKING_PRIORITY_DYNAMIC};
    for (int round = 0; round < 100; ++round) {
        const int groups = 1 + rng_below(&r, 12), most = 2 + rng_below(&r, 12), n = groups * most;
        int *group = test_alloc((size_t)n, sizeof *group);
        square s = planted_groups(&r, groups, most, group);
        for (int k = 0; k < 3; ++k) {
            int32_t parts;
            int32_t *part = block(&s, these[k], true, most, &parts);
            assert_int_equal(parts, groups);
            for (int v = 0; v < n; ++v)
                for (int w = 0; w < n; ++w) assert_int_equal(part[v] == part[w], group[v] == group[w]);
            free(part);
        }
        square_free(&s);
        free(group);
    }
}

static void a_vertex_of_very_high_degree_stays_alone(void **state)
{
    (void)state;
    enum { N = 600, CENTRE = 77, MOST = 8 };
    const int these[] = {SADDLE_BLOCKING_CLUSTERS, SADDLE_BLOCKING_SUPERVARIABLES, SADDLE_BLOCKING_COSINE,
                         SADDLE_BLOCKING_PABLO};
    square wheel = square_new(N);
    for (int v = 1; v < N; ++v) join(&wheel, v, v - 1, 1.0);
    for (int v = 0; v < N; ++v)
        if (v != CENTRE) join(&wheel, v, CENTRE, 10.0);
    for (int k = 0; k < 4; ++k) {
        int32_t parts;
        int32_t *part = block(&wheel, these[k], true, MOST, &parts);
        for (int v = 0; v < N; ++v)
            if (v != CENTRE && part[v] == part[CENTRE]) fail_msg("%s", name_of(these[k]));
        assert_true(parts < N / 4); /* and the rest goes on without it */
        free(part);
    }
    square_free(&wheel);
}

static void a_dense_matrix_is_blocked_all_the_same(void **state)
{
    (void)state;
    enum { N = 200, MOST = 8 };
    square complete = square_new(N);
    for (int v = 0; v < N; ++v)
        for (int w = 0; w < v; ++w) join(&complete, v, w, 1.0);
    for (int blocking = FIRST; blocking <= LAST; ++blocking) {
        int32_t parts;
        free(block(&complete, blocking, true, MOST, &parts));
        if (parts > N / MOST * 3 / 2) fail_msg("%s: %d parts", name_of(blocking), parts);
    }
    square_free(&complete);
}

/* ---- cuts ---- */

static void a_grid_cuts_every_k_rows(void **state)
{
    (void)state;
    for (int n = 0; n < 70; ++n) {
        for (int most = 1; most <= 32; ++most) {
            int32_t start[71];
            const int32_t blocks = sd_block_cut(n, NULL, NULL, most, start);
            assert_int_equal(blocks, (n + most - 1) / most);
            for (int b = 0; b < blocks; ++b) assert_int_equal(start[b], b * most);
            assert_int_equal(start[blocks], n);
        }
    }
}

static void pairs_are_not_cut(void **state)
{
    (void)state;
    rng r = rng_start("pairs");
    for (int round = 0; round < 500; ++round) {
        const int n = rng_below(&r, 80), most = 2 + rng_below(&r, 31);
        int32_t *perm = random_order(&r, n);
        int32_t *partner = test_alloc((size_t)n, sizeof *partner), start[81];
        for (int k = 0; k < n; ++k) partner[k] = -1;
        for (int k = 0; k + 1 < n; ++k) {
            if (rng_below(&r, 2)) continue;
            partner[perm[k]] = perm[k + 1];
            partner[perm[k + 1]] = perm[k];
            ++k;
        }
        const int32_t blocks = sd_block_cut(n, perm, partner, most, start);
        assert_int_equal(start[blocks], n);
        for (int b = 0; b < blocks; ++b) {
            const int begin = start[b], end = start[b + 1], rows = end - begin;
            assert_int_equal(b == 0 ? begin : 0, 0);
            assert_in_range(rows, 1, most);
            if (end == n) continue;
            assert_int_not_equal(partner[perm[end - 1]], perm[end]);
            /* as full as the pairs allow */
            if (rows < most) assert_true(rows == most - 1 && partner[perm[end]] == perm[end + 1]);
        }
        free(partner);
        free(perm);
    }
}

/* ---- failures ---- */

static void a_failed_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    rng r = rng_start("allocation failures");
    square s = random_square(&r, 120, 0.15, DISTINCT, true);
    sd_graph g = square_graph(&s, true);
    int32_t part[120], parts;
    for (int blocking = FIRST; blocking <= LAST; ++blocking) {
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            const saddle_status status = sd_block_graph(&c, &g, blocking, 8, part, &parts);
            assert_int_equal(f.live, 0);
            assert_int_equal(c.bytes, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
        }
    }
    graph_drop(&g);
    square_free(&s);
}

static void what_is_no_blocking_of_a_graph_is_refused(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    int64_t ptr[1] = {0};
    const sd_graph g = {.n = 0, .ptr = ptr};
    int32_t parts;
    const int these[] = {SADDLE_BLOCKING_AUTO, SADDLE_BLOCKING_NONE, SADDLE_BLOCKING_GRID,
                         SADDLE_BLOCKING_PAIRS, LAST + 1};
    for (int k = 0; k < 5; ++k) {
        assert_int_equal(sd_block_graph(&c, &g, these[k], 8, NULL, &parts), SADDLE_BAD_ARGUMENT);
        assert_contains(c.message, "blocking");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_blocking_gives_parts_that_fit),
        cmocka_unit_test(awkward_graphs_are_blocked),
        cmocka_unit_test(no_vertices_make_no_parts),
        cmocka_unit_test(a_path_is_cut_into_full_parts),
        cmocka_unit_test(a_grid_is_cut_into_nearly_full_parts),
        cmocka_unit_test(strong_edges_stay_inside),
        cmocka_unit_test(a_vertex_of_very_high_degree_stays_alone),
        cmocka_unit_test(a_dense_matrix_is_blocked_all_the_same),
        cmocka_unit_test(a_grid_cuts_every_k_rows),
        cmocka_unit_test(pairs_are_not_cut),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(what_is_no_blocking_of_a_graph_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
