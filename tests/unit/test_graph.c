/*
 * Graphs of matrices against dense oracles: their edges with and without a permutation of the rows, edge
 * weights, quotients, and orders of parts made into orders of vertices.
 */
#include "helpers.h"

#include "csr_of.h"
#include "failing_allocator.h"
#include "graphs.h"

#include <float.h>

enum { ROUNDS = 1500, MOST = 14 };

/* B = Q A: row i of A is row new_row[i] of B. */
static dense permuted(const dense *a, const int32_t *new_row)
{
    dense b = dense_new(a->n);
    for (int i = 0; i < a->n; ++i)
        for (int j = 0; j < a->n; ++j)
            if (a->there[i * a->n + j]) dense_set(&b, new_row ? new_row[i] : i, j, dense_at(a, i, j));
    return b;
}

/* Whether g has exactly the edges of the pattern of B + B', ascending; weights where there are any. */
static void assert_edges(const sd_graph *g, const bool *edge)
{
    int64_t k = 0;
    assert_int_equal(g->ptr[0], 0);
    for (int v = 0; v < g->n; ++v) {
        for (int w = 0; w < g->n; ++w) {
            if (v == w || !(edge[v * g->n + w] || edge[w * g->n + v])) continue;
            assert_true(k < g->ptr[v + 1]);
            assert_int_equal(g->ind[k++], w);
        }
        assert_int_equal(g->ptr[v + 1], k);
    }
}

static void the_graph_has_the_edges_of_the_matrix_and_its_transpose(void **state)
{
    (void)state;
    rng r = rng_start("edges");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = rng_below(&r, 2), moved = !symmetric && rng_below(&r, 2);
        dense d = dense_random(&r, rng_below(&r, MOST), fabs(rng_unit(&r)), symmetric);
        int32_t new_row[MOST];
        rng_permutation(&r, d.n, new_row);
        sd_csr A = csr_of(&c, &d);
        sd_graph g;
        assert_int_equal(sd_graph_from_csr(&c, &A, symmetric, moved ? new_row : NULL, &g), SADDLE_OK);
        dense b = permuted(&d, moved ? new_row : NULL);
        assert_int_equal(g.n, d.n);
        assert_edges(&g, b.there);
        assert_null(g.size);
        assert_null(g.weight);
        sd_graph_free(&c, &g);
        sd_csr_free(&c, &A);
        assert_int_equal(c.bytes, 0);
        dense_free(&b);
        dense_free(&d);
    }
}

static double scaled(const dense *d, int i, int j, const double *row_scale, const double *col_scale)
{
    return fabs(row_scale[i] * dense_at(d, i, j) * col_scale[j]);
}

static void weights_are_the_mean_of_both_scaled_entries(void **state)
{
    (void)state;
    rng r = rng_start("weights");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = rng_below(&r, 2), moved = !symmetric && rng_below(&r, 2);
        dense d = dense_random(&r, rng_below(&r, MOST), fabs(rng_unit(&r)), symmetric);
        const int n = d.n;
        int32_t new_row[MOST];
        double row_scale[MOST], col_scale[MOST];
        rng_permutation(&r, n, new_row);
        for (int i = 0; i < n; ++i) {
            row_scale[i] = exp(3 * rng_unit(&r));
            col_scale[i] = symmetric ? row_scale[i] : exp(3 * rng_unit(&r));
        }
        sd_csr A = csr_of(&c, &d);
        sd_graph g;
        const int32_t *rows = moved ? new_row : NULL;
        assert_int_equal(sd_graph_from_csr(&c, &A, symmetric, rows, &g), SADDLE_OK);
        assert_int_equal(sd_graph_weigh(&c, &A, symmetric, rows, row_scale, col_scale, &g), SADDLE_OK);
        int32_t old_row[MOST];
        for (int i = 0; i < n; ++i) old_row[moved ? new_row[i] : i] = i;
        for (int v = 0; v < n; ++v) {
            for (int64_t k = g.ptr[v]; k < g.ptr[v + 1]; ++k) {
                const int w = g.ind[k];
                const double mean = 0.5 * scaled(&d, old_row[v], w, row_scale, col_scale) +
                                    0.5 * scaled(&d, old_row[w], v, row_scale, col_scale);
                assert_true(fabs(g.weight[k] - mean) <= 1e-15 * mean);
            }
        }
        sd_graph_free(&c, &g);
        sd_csr_free(&c, &A);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

static double weight_between(const sd_graph *g, int v, int w)
{
    for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k)
        if (g->ind[k] == w) return g->weight[k];
    return -1;
}

/* (s_i a) s_j and (s_j a) s_i round differently. */
static void both_ends_of_an_edge_weigh_the_same_to_the_last_bit(void **state)
{
    (void)state;
    rng r = rng_start("equal ends");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < 200; ++round) {
        dense d = dense_random(&r, MOST, 0.5, true);
        double scale[MOST];
        int32_t part[MOST];
        for (int i = 0; i < MOST; ++i) {
            scale[i] = exp(rng_unit(&r));
            part[i] = rng_below(&r, 4);
        }
        sd_csr A = csr_of(&c, &d);
        sd_graph g, q;
        assert_int_equal(sd_graph_from_csr(&c, &A, true, NULL, &g), SADDLE_OK);
        assert_int_equal(sd_graph_weigh(&c, &A, true, NULL, scale, scale, &g), SADDLE_OK);
        assert_int_equal(sd_graph_quotient(&c, &g, part, 4, &q), SADDLE_OK);
        for (int v = 0; v < MOST; ++v)
            for (int w = 0; w < v; ++w) assert_true(weight_between(&g, v, w) == weight_between(&g, w, v));
        for (int v = 0; v < 4; ++v)
            for (int w = 0; w < v; ++w) assert_true(weight_between(&q, v, w) == weight_between(&q, w, v));
        sd_graph_free(&c, &q);
        sd_graph_free(&c, &g);
        sd_csr_free(&c, &A);
        dense_free(&d);
    }
}

static void weights_stay_finite(void **state)
{
    (void)state;
    const double rows[] = {0, 1e300, 0, 1e300, 0, 1e-300, 0, 1e-300, 0}, scale[] = {1e10, 1e10, 1e-20};
    sd_context c;
    sd_context_init(&c, NULL, 0);
    dense d = dense_from(3, rows);
    sd_csr A = csr_of(&c, &d);
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        sd_graph g, q;
        const int32_t part[] = {0, 1, 0};
        assert_int_equal(sd_graph_from_csr(&c, &A, symmetric, NULL, &g), SADDLE_OK);
        assert_int_equal(sd_graph_weigh(&c, &A, symmetric, NULL, scale, scale, &g), SADDLE_OK);
        assert_true(weight_between(&g, 0, 1) == DBL_MAX && weight_between(&g, 1, 0) == DBL_MAX);
        assert_true(weight_between(&g, 1, 2) >= 0 && weight_between(&g, 1, 2) < 1e-300);
        g.weight[2] = g.weight[3] = DBL_MAX;
        assert_int_equal(sd_graph_quotient(&c, &g, part, 2, &q), SADDLE_OK);
        assert_true(weight_between(&q, 0, 1) == DBL_MAX && weight_between(&q, 1, 0) == DBL_MAX);
        sd_graph_free(&c, &q);
        sd_graph_free(&c, &g);
    }
    sd_csr_free(&c, &A);
    dense_free(&d);
}

/* A random graph with sizes and weights that are whole sixteenths, so that their sums are exact. */
static sd_graph random_graph(rng *r, adjacency *a)
{
    *a = adjacency_random(r, 1 + rng_below(r, 20), fabs(rng_unit(r)));
    sd_graph g = graph_of(a);
    const bool sized = rng_below(r, 2), weighed = rng_below(r, 2);
    if (sized) g.size = test_alloc((size_t)g.n, sizeof *g.size);
    for (int v = 0; sized && v < g.n; ++v) g.size[v] = 1 + rng_below(r, 5);
    if (!weighed) return g;
    g.weight = test_alloc((size_t)g.ptr[g.n], sizeof *g.weight);
    for (int v = 0; v < g.n; ++v)
        for (int64_t k = g.ptr[v]; k < g.ptr[v + 1]; ++k)
            if (g.ind[k] > v) g.weight[k] = fabs(rng_sixteenth(r));
    for (int v = 0; v < g.n; ++v)
        for (int64_t k = g.ptr[v]; k < g.ptr[v + 1]; ++k)
            if (g.ind[k] < v) g.weight[k] = weight_between(&g, g.ind[k], v);
    return g;
}

static void quotients_add_up_sizes_and_weights(void **state)
{
    (void)state;
    rng r = rng_start("quotients");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        adjacency a;
        sd_graph g = random_graph(&r, &a), q;
        const int parts = 1 + rng_below(&r, g.n + 3); /* some may be empty */
        int32_t part[20], size[24] = {0};
        bool edge[24 * 24] = {0};
        double weight[24 * 24] = {0};
        for (int v = 0; v < g.n; ++v) {
            part[v] = rng_below(&r, parts);
            size[part[v]] += g.size ? g.size[v] : 1;
        }
        for (int v = 0; v < g.n; ++v) {
            for (int64_t k = g.ptr[v]; k < g.ptr[v + 1]; ++k) {
                const int place = part[v] * parts + part[g.ind[k]];
                edge[place] = true;
                if (g.weight) weight[place] += g.weight[k];
            }
        }
        assert_int_equal(sd_graph_quotient(&c, &g, part, parts, &q), SADDLE_OK);
        assert_int_equal(q.n, parts);
        assert_edges(&q, edge);
        for (int p = 0; p < parts; ++p) {
            assert_int_equal(q.size[p], size[p]);
            for (int64_t k = q.ptr[p]; g.weight && k < q.ptr[p + 1]; ++k)
                assert_true(q.weight[k] == weight[p * parts + q.ind[k]]);
        }
        if (!g.weight) assert_null(q.weight);
        sd_graph_free(&c, &q);
        assert_int_equal(c.bytes, 0);
        graph_drop(&g);
        adjacency_free(&a);
    }
}

static void an_order_of_parts_becomes_one_of_their_vertices(void **state)
{
    (void)state;
    rng r = rng_start("expanding");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        const int n = rng_below(&r, 20), parts = 1 + rng_below(&r, n + 3);
        int32_t part[20], part_order[24], order[20];
        for (int v = 0; v < n; ++v) part[v] = rng_below(&r, parts);
        rng_permutation(&r, parts, part_order);
        assert_int_equal(sd_expand_order(&c, n, part, parts, part_order, order), SADDLE_OK);
        int done = 0;
        for (int k = 0; k < parts; ++k) {
            for (int v = 0; v < n; ++v)
                if (part[v] == part_order[k]) assert_int_equal(order[done++], v);
        }
        assert_int_equal(done, n);
        assert_int_equal(c.bytes, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int round = 0; round < 8; ++round) {
        const bool symmetric = round % 2;
        dense d = dense_random(&r, 6, 0.6, symmetric);
        const int32_t new_row[] = {1, 2, 3, 4, 5, 0}, part[] = {0, 1, 1, 0, 2, 2}, part_order[] = {2, 0, 1};
        const double ones[] = {1, 1, 1, 1, 1, 1};
        const int32_t *rows = round < 4 && !symmetric ? new_row : NULL;
        sd_context plain;
        sd_context_init(&plain, NULL, 0);
        sd_csr A = csr_of(&plain, &d);
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_graph g = {0}, q = {0};
            int32_t order[6];
            sd_context_init(&c, &hooks, 0);
            saddle_status status = sd_graph_from_csr(&c, &A, symmetric, rows, &g);
            if (!status) status = sd_graph_weigh(&c, &A, symmetric, rows, ones, ones, &g);
            if (!status) status = sd_graph_quotient(&c, &g, part, 3, &q);
            if (!status) status = sd_expand_order(&c, 6, part, 3, part_order, order);
            sd_graph_free(&c, &q);
            sd_graph_free(&c, &g);
            assert_int_equal(f.live, 0);
            assert_int_equal(c.bytes, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
        }
        sd_csr_free(&plain, &A);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_graph_has_the_edges_of_the_matrix_and_its_transpose),
        cmocka_unit_test(weights_are_the_mean_of_both_scaled_entries),
        cmocka_unit_test(both_ends_of_an_edge_weigh_the_same_to_the_last_bit),
        cmocka_unit_test(weights_stay_finite),
        cmocka_unit_test(quotients_add_up_sizes_and_weights),
        cmocka_unit_test(an_order_of_parts_becomes_one_of_their_vertices),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
