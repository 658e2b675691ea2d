/*
 * What single blockings find: what clusters grow by, supervariables of expanded graphs, and priority blocking
 * held against the algorithms as they are written down.
 */
#include "blockings.h"

#include "prepare/blocking_parts.h"

/* ---- clusters ---- */

/* The part {0, 1} takes vertex 2, with two edges of 0.6 into it, before 3, with one of 1. */
static void clusters_grow_by_the_sum_of_the_weights(void **state)
{
    (void)state;
    sd_context c;
    int32_t part[4];
    square s = square_new(4);
    join(&s, 0, 1, 5.0);
    join(&s, 0, 2, 0.6);
    join(&s, 1, 2, 0.6);
    join(&s, 1, 3, 1.0);
    sd_graph g = square_graph(&s, true);
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_grow_parts(&c, &g, NULL, SD_GROW_BY_WEIGHT, NULL, 3, part), SADDLE_OK);
    assert_int_equal(part[0], part[1]);
    assert_int_equal(part[0], part[2]);
    assert_int_not_equal(part[0], part[3]);
    graph_drop(&g);
    square_free(&s);
}

/* ---- supervariables ---- */

/* Nodes in a ring, each coupled with its two neighbours, with `unknowns` vertices each. */
static square ring_of_nodes(rng *r, int nodes, int unknowns, int *node)
{
    const int n = nodes * unknowns;
    square s = square_new(n);
    int32_t *order = random_order(r, n);
    for (int k = 0; k < n; ++k) node[order[k]] = k / unknowns;
    for (int v = 0; v < n; ++v) {
        for (int w = 0; w < v; ++w) {
            const int apart = abs(node[v] - node[w]);
            if (apart <= 1 || apart == nodes - 1) join(&s, v, w, 1.0);
        }
    }
    free(order);
    return s;
}

static void supervariables_are_the_nodes(void **state)
{
    (void)state;
    rng r = rng_start("supervariables");
    for (int round = 0; round < 60; ++round) {
        const int nodes = 5 + rng_below(&r, 30), unknowns = 2 + rng_below(&r, 5), n = nodes * unknowns;
        int *node = test_alloc((size_t)n, sizeof *node);
        square s = ring_of_nodes(&r, nodes, unknowns, node);
        for (int blocking = SADDLE_BLOCKING_SUPERVARIABLES; blocking <= SADDLE_BLOCKING_COSINE; ++blocking) {
            /* room for one node, not for two */
            int32_t parts;
            int32_t *part = block(&s, blocking, false, unknowns + rng_below(&r, unknowns), &parts);
            assert_int_equal(parts, nodes);
            assert_same_parts(part, node, n);
            free(part);
            /* room for two: whole nodes, most of them in twos, and only neighbours */
            part = block(&s, blocking, false, 2 * unknowns, &parts);
            assert_true(parts <= nodes * 2 / 3 + 1);
            for (int v = 0; v < n; ++v) {
                for (int w = 0; w < n; ++w) {
                    const int apart = abs(node[v] - node[w]);
                    if (apart == 0) assert_int_equal(part[v], part[w]);
                    if (apart > 1 && apart < nodes - 1) assert_int_not_equal(part[v], part[w]);
                }
            }
            free(part);
        }
        square_free(&s);
        free(node);
    }
}

static void large_supervariables_are_divided_evenly(void **state)
{
    (void)state;
    const int cases[][4] = {{33, 32, 2, 16}, {24, 8, 3, 8}, {100, 32, 4, 25}, {7, 3, 3, 2}, {64, 32, 2, 32}};
    for (int k = 0; k < 5; ++k) {
        const int n = cases[k][0];
        square s = square_new(n);
        for (int v = 0; v < n; ++v)
            for (int w = 0; w < v; ++w) join(&s, v, w, 1.0);
        int32_t parts;
        int32_t *part = block(&s, SADDLE_BLOCKING_SUPERVARIABLES, false, cases[k][1], &parts);
        assert_int_equal(parts, cases[k][2]);
        int *rows = test_alloc((size_t)parts, sizeof *rows);
        for (int v = 0; v < n; ++v) ++rows[part[v]];
        for (int p = 0; p < parts; ++p) assert_in_range(rows[p], cases[k][3], cases[k][3] + 1);
        free(rows);
        free(part);
        square_free(&s);
    }
}

static void the_cosine_forgives_a_missing_entry(void **state)
{
    (void)state;
    enum { NODES = 12, UNKNOWNS = 4, N = NODES * UNKNOWNS };
    rng r = rng_start("cosine");
    bool exact_differs = false;
    for (int round = 0; round < 20; ++round) {
        int node[N];
        square s = ring_of_nodes(&r, NODES, UNKNOWNS, node);
        for (int from = 0; from < NODES;
             from += 4) { /* one coupling of node `from` with the next is missing */
            int v = 0, w = 0;
            while (node[v] != from) ++v;
            while (node[w] != from + 1) ++w;
            join(&s, v, w, -1.0);
        }
        int32_t parts;
        int32_t *part = block(&s, SADDLE_BLOCKING_COSINE, false, UNKNOWNS, &parts);
        assert_int_equal(parts, NODES);
        assert_same_parts(part, node, N);
        free(part);
        part = block(&s, SADDLE_BLOCKING_SUPERVARIABLES, false, UNKNOWNS, &parts);
        for (int v = 0; v < N; ++v)
            for (int w = 0; w < N; ++w) exact_differs |= (part[v] == part[w]) != (node[v] == node[w]);
        free(part);
        square_free(&s);
    }
    assert_true(exact_differs); /* its amalgamation finds the nodes only by chance */
}

/* ---- priority blocking as it is written down ---- */

typedef struct item {
    int i, j;
    double weight;
    bool gone;
} item;

typedef struct literal {
    const square *s;
    int most;
    int *label, *rows;
    double *near; /* weights between blocks, or 0 */
    item *heap;
    int count;
} literal;

static literal literal_new(const square *s, int most)
{
    const size_t n = (size_t)s->n;
    literal l = {.s = s, .most = most};
    l.label = test_alloc(n, sizeof *l.label);
    l.rows = test_alloc(n, sizeof *l.rows);
    l.near = test_alloc(n * n, sizeof *l.near);
    l.heap = test_alloc(n * n * n, sizeof *l.heap);
    for (int v = 0; v < s->n; ++v) {
        l.label[v] = v;
        l.rows[v] = size_of(s, v);
        for (int w = 0; w < s->n; ++w) {
            const double weight = fmax(0.0, weight_of(s, v, w));
            l.near[v * s->n + w] = weight;
            if (v < w && weight > 0.0) l.heap[l.count++] = (item){v, w, weight, false};
        }
    }
    return l;
}

static void literal_free(literal *l)
{
    free(l->label);
    free(l->rows);
    free(l->near);
    free(l->heap);
}

/* The heaviest, and of equal ones that which came into the heap first; NULL when it is empty. */
static item *remove_largest(literal *l)
{
    item *best = NULL;
    for (int k = 0; k < l->count; ++k)
        if (!l->heap[k].gone && (!best || l->heap[k].weight > best->weight)) best = &l->heap[k];
    if (best) best->gone = true;
    return best;
}

/* Block b becomes part of block a; with dynamic weights the edges that fall together go into the heap. */
static void literal_merge(literal *l, int a, int b, bool dynamic)
{
    const int n = l->s->n;
    for (int k = 0; k < n; ++k) {
        const double one = l->near[a * n + k], two = l->near[b * n + k];
        l->near[a * n + k] = l->near[k * n + a] = one + two;
        l->near[b * n + k] = l->near[k * n + b] = 0.0;
        if (dynamic && k != a && k != b && one > 0.0 && two > 0.0)
            l->heap[l->count++] = (item){a, k, one + two, false};
    }
    for (int v = 0; v < n; ++v)
        if (l->label[v] == b) l->label[v] = a;
    l->rows[a] += l->rows[b];
}

static void assert_literal(const square *s, int most, bool dynamic)
{
    literal l = literal_new(s, most);
    for (item *next = remove_largest(&l); next; next = remove_largest(&l)) {
        const int a = l.label[next->i], b = l.label[next->j];
        if (a != b && l.rows[a] + l.rows[b] <= most) literal_merge(&l, a, b, dynamic);
    }
    int32_t parts;
    int32_t *part =
        block(s, dynamic ? SADDLE_BLOCKING_PRIORITY_DYNAMIC : SADDLE_BLOCKING_PRIORITY, true, most, &parts);
    assert_same_parts(part, l.label, s->n);
    free(part);
    literal_free(&l);
}

static void priority_blocking_is_algorithm_1(void **state)
{
    (void)state;
    rng r = rng_start("Algorithm 1");
    for (int round = 0; round < 300; ++round) {
        square s =
            random_square(&r, rng_below(&r, 30), fabs(rng_unit(&r)), rng_below(&r, STYLES), rng_below(&r, 2));
        assert_literal(&s, 2 + rng_below(&r, 31), false);
        square_free(&s);
    }
}

static void dynamic_priority_blocking_is_algorithm_2(void **state)
{
    (void)state;
    rng r = rng_start("Algorithm 2");
    for (int round = 0; round < 300; ++round) {
        square s = random_square(&r, rng_below(&r, 30), fabs(rng_unit(&r)), DISTINCT, rng_below(&r, 2));
        assert_literal(&s, 2 + rng_below(&r, 31), true);
        square_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_grow_by_the_sum_of_the_weights),
        cmocka_unit_test(supervariables_are_the_nodes),
        cmocka_unit_test(large_supervariables_are_divided_evenly),
        cmocka_unit_test(the_cosine_forgives_a_missing_entry),
        cmocka_unit_test(priority_blocking_is_algorithm_1),
        cmocka_unit_test(dynamic_priority_blocking_is_algorithm_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
