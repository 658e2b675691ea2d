/*
 * Blockings: properties that all of them share on random and on awkward graphs, and what is particular to
 * each: planted groups, supervariables of expanded graphs, and the algorithms of priority blocking as they
 * are written down.
 */
#include "helpers.h"

#include "core/context.h"
#include "failing_allocator.h"
#include "prepare/blocking.h"

#include <float.h>

enum { FIRST = SADDLE_BLOCKING_CLUSTERS, LAST = SADDLE_BLOCKING_PABLO };

static const char *name_of(int blocking)
{
    static const char *const names[] = {"clusters",         "supervariables", "cosine", "priority",
                                        "priority-dynamic", "metis",          "pablo"};
    return names[blocking - FIRST];
}

/* ---- graphs: edges in a square, entry (v, w) is the weight or -1 for none ---- */

typedef struct square {
    int n;
    double *weight;
    int *size; /* NULL: one row each */
} square;

static square square_new(int n)
{
    square s = {n, test_alloc((size_t)n * (size_t)n, sizeof(double)), NULL};
    for (int k = 0; k < n * n; ++k) s.weight[k] = -1.0;
    return s;
}

static void square_free(square *s)
{
    free(s->weight);
    free(s->size);
}

static void join(square *s, int v, int w, double weight)
{
    s->weight[v * s->n + w] = s->weight[w * s->n + v] = weight;
}

static double weight_of(const square *s, int v, int w)
{
    return s->weight[v * s->n + w];
}

static int size_of(const square *s, int v)
{
    return s->size ? s->size[v] : 1;
}

/* On arrays of malloc, so that graphs can be made for any context. */
static sd_graph graph_of(const square *s, bool weighted)
{
    const int n = s->n;
    sd_graph g = {.n = n, .ptr = test_alloc((size_t)n + 1, sizeof *g.ptr)};
    g.ind = test_alloc((size_t)n * (size_t)n, sizeof *g.ind);
    if (weighted) g.weight = test_alloc((size_t)n * (size_t)n, sizeof *g.weight);
    if (s->size) g.size = test_alloc((size_t)n, sizeof *g.size);
    int64_t count = 0;
    for (int v = 0; v < n; ++v) {
        if (s->size) g.size[v] = s->size[v];
        for (int w = 0; w < n; ++w) {
            if (weight_of(s, v, w) < 0.0) continue;
            g.ind[count] = w;
            if (weighted) g.weight[count] = weight_of(s, v, w);
            ++count;
        }
        g.ptr[v + 1] = count;
    }
    return g;
}

static void graph_free(sd_graph *g)
{
    free(g->ptr);
    free(g->ind);
    free(g->size);
    free(g->weight);
}

enum { UNIFORM, DISTINCT, WITH_ZEROS, EXTREME, STYLES };

static double random_weight(rng *r, int style)
{
    switch (style) {
    case UNIFORM: return 1.0;
    case DISTINCT: return (double)(1 + (rng_next(r) >> 24)); /* whole: sums are exact */
    case WITH_ZEROS: return rng_below(r, 3);
    default: return pow(10.0, 300.0 * rng_unit(r)) * (rng_below(r, 4) ? 1.0 : 1e-8);
    }
}

static square random_square(rng *r, int n, double fill, int style, bool sizes)
{
    square s = square_new(n);
    for (int v = 0; v < n; ++v)
        for (int w = 0; w < v; ++w)
            if (fabs(rng_unit(r)) < fill) join(&s, v, w, random_weight(r, style));
    if (sizes) {
        s.size = test_alloc((size_t)n, sizeof *s.size);
        for (int v = 0; v < n; ++v) s.size[v] = 1 + rng_below(r, 2);
    }
    return s;
}

/* A random order of 0 .. n-1, on a new array. */
static int *random_order(rng *r, int n)
{
    int *order = test_alloc((size_t)n, sizeof *order);
    for (int k = 0; k < n; ++k) {
        const int other = rng_below(r, k + 1);
        order[k] = order[other];
        order[other] = k;
    }
    return order;
}

/* ---- what holds for all ---- */

static int32_t *block(const square *s, int blocking, bool weighted, int most, int32_t *parts)
{
    sd_graph g = graph_of(s, weighted);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    int32_t *part = test_alloc((size_t)s->n, sizeof *part);
    for (int v = 0; v < s->n; ++v) part[v] = -7;
    *parts = -7;
    const saddle_status status = sd_block_graph(&c, &g, blocking, most, part, parts);
    if (status) fail_msg("%s: %s", name_of(blocking), c.message);
    assert_int_equal(c.bytes, 0);
    graph_free(&g);
    return part;
}

/* Parts that fit and are numbered by their lowest vertices. */
static void assert_parts(const square *s, int blocking, int most, const int32_t *part, int32_t parts)
{
    int32_t next = 0;
    int *rows = test_alloc((size_t)s->n, sizeof *rows);
    for (int v = 0; v < s->n; ++v) {
        if (part[v] < 0 || part[v] > next || part[v] >= parts)
            fail_msg("%s: part %d of vertex %d, after %d parts", name_of(blocking), part[v], v, next);
        next += part[v] == next;
        rows[part[v]] += size_of(s, v);
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

static void check_blockings(const square *s, bool weighted, int most)
{
    for (int blocking = FIRST; blocking <= LAST; ++blocking) {
        int32_t parts, again;
        int32_t *part = block(s, blocking, weighted, most, &parts);
        int32_t *second = block(s, blocking, weighted, most, &again);
        assert_parts(s, blocking, most, part, parts);
        assert_int_equal(parts, again);
        assert_memory_equal(part, second, (size_t)s->n * sizeof *part);
        if (most == 1) assert_int_equal(parts, s->n);
        /* rows of similar structure need not be coupled */
        if (blocking != SADDLE_BLOCKING_COSINE) assert_connected(s, blocking, part, parts);
        free(second);
        free(part);
    }
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

/* ---- values ---- */

/* Groups of `most` vertices that hang together by strong edges, in a net of weak ones. */
static square planted_groups(rng *r, int groups, int most, int *group)
{
    const int n = groups * most;
    square s = square_new(n);
    int *order = random_order(r, n);
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

/* ---- supervariables ---- */

/* Nodes in a ring, each coupled with its two neighbours, with `unknowns` vertices each. */
static square ring_of_nodes(rng *r, int nodes, int unknowns, int *node)
{
    const int n = nodes * unknowns;
    square s = square_new(n);
    int *order = random_order(r, n);
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

static void assert_same_parts(const int32_t *part, const int *node, int n)
{
    for (int v = 0; v < n; ++v)
        for (int w = 0; w < n; ++w) assert_int_equal(part[v] == part[w], node[v] == node[w]);
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
        int *perm = random_order(&r, n);
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
    sd_graph g = graph_of(&s, true);
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
    graph_free(&g);
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
        cmocka_unit_test(strong_edges_stay_inside),
        cmocka_unit_test(a_vertex_of_very_high_degree_stays_alone),
        cmocka_unit_test(a_dense_matrix_is_blocked_all_the_same),
        cmocka_unit_test(supervariables_are_the_nodes),
        cmocka_unit_test(large_supervariables_are_divided_evenly),
        cmocka_unit_test(the_cosine_forgives_a_missing_entry),
        cmocka_unit_test(priority_blocking_is_algorithm_1),
        cmocka_unit_test(dynamic_priority_blocking_is_algorithm_2),
        cmocka_unit_test(a_grid_cuts_every_k_rows),
        cmocka_unit_test(pairs_are_not_cut),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(what_is_no_blocking_of_a_graph_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
