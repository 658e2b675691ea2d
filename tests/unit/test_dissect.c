/*
 * Nested dissection: separators that separate, orders that are as good as METIS', the same bits at any number
 * of threads and from several callers at once, on graphs of every kind.
 */
#include "helpers.h"

#include "graphs.h"
#include "prepare/dissect.h"
#include "prepare/etree.h"

#include <pthread.h>

static int32_t *order_with(const sd_graph *g, int threads)
{
    sd_context c;
    int32_t *perm = test_alloc((size_t)g->n, sizeof *perm);
    sd_context_init(&c, NULL, 0);
    c.threads = threads;
    assert_int_equal(sd_dissect_order(&c, g, perm), SADDLE_OK);
    assert_int_equal(c.bytes, 0);
    return perm;
}

/* Two grids that have nothing in common, a star, single vertices. */
static sd_graph graph_in_pieces(void)
{
    const int grid = 50 * 50, star = 60, alone = 40, n = 2 * grid + star + alone;
    sd_graph one = graph_grid(50, 50), g = graph_room(n, 2 * one.ptr[grid] + 2 * star);
    for (int v = 0; v < n; ++v) {
        g.ptr[v + 1] = g.ptr[v];
        const int base = v < grid ? 0 : grid;
        if (v < 2 * grid) {
            for (int64_t k = one.ptr[v - base]; k < one.ptr[v - base + 1]; ++k)
                graph_enter(&g, v, base + one.ind[k]);
        } else if (v == 2 * grid) {
            for (int w = 1; w < star; ++w) graph_enter(&g, v, v + w);
        } else if (v < 2 * grid + star) {
            graph_enter(&g, v, 2 * grid);
        }
    }
    graph_drop(&one);
    return g;
}

/* A grid whose nodes have three unknowns each: supervariables. */
static sd_graph graph_of_nodes(void)
{
    sd_graph one = graph_grid(40, 40), g = graph_room(3 * one.n, 9 * one.ptr[one.n] + 6 * (int64_t)one.n);
    for (int v = 0; v < g.n; ++v) {
        const int node = v / 3;
        bool entered = false;
        g.ptr[v + 1] = g.ptr[v];
        for (int64_t k = one.ptr[node]; k <= one.ptr[node + 1]; ++k) {
            const bool last = k == one.ptr[node + 1];
            if (!entered && (last || one.ind[k] > node)) {
                for (int u = 0; u < 3; ++u) graph_enter(&g, v, 3 * node + u);
                entered = true;
            }
            for (int u = 0; u < 3 && !last; ++u) graph_enter(&g, v, 3 * one.ind[k] + u);
        }
    }
    graph_drop(&one);
    return g;
}

static sd_graph graph_at_random(int n, double edges_each)
{
    rng r = rng_start("a random graph");
    adjacency a = adjacency_random(&r, n, edges_each / n);
    sd_graph g = graph_of(&a);
    give_sizes(&r, &g);
    adjacency_free(&a);
    return g;
}

enum { KINDS = 8 };

static sd_graph graph_of_kind(int kind)
{
    switch (kind) {
    case 0: return graph_grid(90, 90);
    case 1: return graph_in_pieces();
    case 2: return graph_of_nodes();
    case 3: return graph_at_random(1500, 5);
    case 4: return graph_at_random(700, 200);
    case 5: return graph_star(5000, 7);
    case 6: return graph_path(6000);
    default: return graph_room(300, 0); /* no edges */
    }
}

static void the_same_bits_at_any_number_of_threads(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 5};
    for (int kind = 0; kind < KINDS; ++kind) {
        sd_graph g = graph_of_kind(kind);
        int32_t *alone = order_with(&g, 1);
        assert_permutation(alone, g.n);
        for (int k = 0; k < 3; ++k) {
            int32_t *together = order_with(&g, threads[k]);
            assert_memory_equal(alone, together, (size_t)g.n * sizeof *alone);
            free(together);
        }
        free(alone);
        graph_drop(&g);
    }
}

static double flops_of(const sd_graph *g, const int32_t *perm)
{
    sd_context c;
    sd_fill_sums fill;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_predict_fill(&c, g, perm, &fill), SADDLE_OK);
    return fill.flops;
}

static void about_as_good_as_metis(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; ++kind) {
        sd_graph g = graph_of_kind(kind);
        int64_t dense_rows;
        int32_t *ours = order_with(&g, 1), *theirs = order_of(&g, SADDLE_ORDER_METIS, &dense_rows);
        assert_true(flops_of(&g, ours) < 1.3 * flops_of(&g, theirs));
        free(ours);
        free(theirs);
        graph_drop(&g);
    }
}

static void the_unknowns_of_a_node_stay_together(void **state)
{
    (void)state;
    sd_graph g = graph_of_nodes();
    int32_t *perm = order_with(&g, 1);
    for (int k = 0; k < g.n; ++k) assert_int_equal(perm[k] / 3, perm[k - k % 3] / 3);
    free(perm);
    graph_drop(&g);
}

/* A part with all that a separator of it needs. */
static sd_part part_of(const sd_graph *g, int32_t *memory)
{
    sd_part part = {.n = g->n, .ptr = memory, .size = memory + g->n + 1, .ind = g->ind};
    for (int v = 0; v <= g->n; ++v) part.ptr[v] = (int32_t)g->ptr[v];
    for (int v = 0; v < g->n; ++v) part.rows += part.size[v] = sd_graph_size(g, v);
    return part;
}

static void separators_separate(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; ++kind) {
        sd_graph g = graph_of_kind(kind);
        const int64_t words = SD_VERTEX_WORDS * (int64_t)g.n + SD_EDGE_WORDS * g.ptr[g.n];
        int32_t *memory = test_alloc((size_t)words, sizeof *memory);
        int32_t *arrays = test_alloc(2 * (size_t)g.n + 1, sizeof *arrays);
        int32_t *side = test_alloc((size_t)g.n, sizeof *side);
        const sd_part part = part_of(&g, arrays);
        int64_t rows[3] = {0};
        assert_true(sd_separate(&part, 1, (sd_region){memory, memory + words}, side));
        for (int v = 0; v < g.n; ++v) {
            assert_in_range(side[v], 0, 2);
            rows[side[v]] += part.size[v];
            for (int64_t k = g.ptr[v]; k < g.ptr[v + 1]; ++k)
                assert_int_not_equal(side[v] + 3 * side[g.ind[k]], 3);
        }
        assert_true(20 * rows[0] <= 13 * part.rows + 20 && 20 * rows[1] <= 13 * part.rows + 20);
        assert_true(kind == 3 || rows[2] <= part.rows / 20); /* a random graph has no small one */
        if (kind == 1) assert_int_equal(rows[2], 0);
        free(side);
        free(arrays);
        free(memory);
        graph_drop(&g);
    }
}

static void too_small_a_region_is_refused(void **state)
{
    (void)state;
    sd_graph g = graph_grid(30, 30);
    int32_t arrays[1801], side[900], memory[9000];
    const sd_part part = part_of(&g, arrays);
    assert_false(sd_separate(&part, 1, (sd_region){memory, memory + 900}, side));
    assert_false(sd_separate(&part, 1, (sd_region){memory, memory + 8999}, side));
    graph_drop(&g);
}

typedef struct job {
    const sd_graph *g;
    const int32_t *order;
    int wrong;
} job;

static void *run_job(void *argument)
{
    job *j = argument;
    sd_context c;
    int32_t *result = malloc((size_t)j->g->n * sizeof *result);
    sd_context_init(&c, NULL, 0);
    c.threads = 2;
    for (int round = 0; round < 3 && result; ++round) {
        j->wrong += sd_dissect_order(&c, j->g, result) != SADDLE_OK;
        j->wrong += memcmp(result, j->order, (size_t)j->g->n * sizeof *result) != 0;
    }
    if (!result) ++j->wrong;
    free(result);
    return NULL;
}

static void callers_at_once_get_what_one_gets_alone(void **state)
{
    (void)state;
    sd_graph g = graph_grid(70, 71);
    pthread_t threads[3];
    int32_t *order = order_with(&g, 1);
    job jobs[3] = {{&g, order, 0}, {&g, order, 0}, {&g, order, 0}};
    for (int k = 0; k < 3; ++k) assert_int_equal(pthread_create(&threads[k], NULL, run_job, &jobs[k]), 0);
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
        assert_int_equal(jobs[k].wrong, 0);
    }
    free(order);
    graph_drop(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_at_any_number_of_threads),
        cmocka_unit_test(about_as_good_as_metis),
        cmocka_unit_test(the_unknowns_of_a_node_stay_together),
        cmocka_unit_test(separators_separate),
        cmocka_unit_test(too_small_a_region_is_refused),
        cmocka_unit_test(callers_at_once_get_what_one_gets_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
