/*
 * The assembly tree against a dense symbolic elimination on random graphs, and on shapes of any size: what it
 * holds is consistent, its rows are those of the factor or more, every entry of A has its place, groups of
 * subtrees are whole and their stack suffices.
 */
#include "helpers.h"

#include "backend/front.h"
#include "failing_allocator.h"
#include "graphs.h"
#include "plan/tree.h"

enum { ROUNDS = 400, MOST = 40 };

/* The upper triangle by rows, with its diagonal but for some rows, or all entries. */
static sd_csr matrix_of(sd_context *c, const sd_graph *g, bool half, rng *r)
{
    sd_csr A = {.n = g->n, .half = half};
    A.ptr = sd_alloc(c, (int64_t)g->n + 1, sizeof *A.ptr, "test");
    A.ind = sd_alloc(c, g->ptr[g->n] + g->n, sizeof *A.ind, "test");
    for (int32_t i = 0; i < g->n; ++i) {
        bool diagonal = fabs(rng_unit(r)) < 0.8;
        A.ptr[i] = A.nnz;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; ++e) {
            if (diagonal && g->ind[e] > i) {
                A.ind[A.nnz++] = i;
                diagonal = false;
            }
            if (!half || g->ind[e] > i) A.ind[A.nnz++] = g->ind[e];
        }
        if (diagonal) A.ind[A.nnz++] = i;
    }
    A.ptr[g->n] = A.nnz;
    return A;
}

/* The row at a place among a front's own columns and rows. */
static int32_t row_at(const sd_tree *t, int32_t f, int32_t place)
{
    const int32_t columns = sd_front_columns(t, f);
    assert_in_range(place, 0, columns + sd_front_below(t, f) - 1);
    return place < columns ? t->first[f] + place : t->rows[t->row_ptr[f] + place - columns];
}

static void check_fronts(const sd_tree *t)
{
    assert_int_equal(t->first[0], 0);
    assert_int_equal(t->first[t->fronts], t->n);
    for (int32_t f = 0; f < t->fronts; ++f) {
        assert_true(sd_front_columns(t, f) > 0);
        assert_true(t->parent[f] < 0 || t->parent[f] > f);
        assert_true((t->parent[f] < 0) == (sd_front_below(t, f) == 0));
        for (int64_t e = t->row_ptr[f]; e < t->row_ptr[f + 1]; ++e) {
            assert_true(t->rows[e] >= t->first[f + 1] && (e == t->row_ptr[f] || t->rows[e] > t->rows[e - 1]));
            assert_int_equal(row_at(t, t->parent[f], t->place[e]), t->rows[e]);
        }
        if (t->parent[f] >= 0) { /* the first row below is a column of the parent */
            const int32_t first = t->rows[t->row_ptr[f]];
            assert_true(first >= t->first[t->parent[f]] && first < t->first[t->parent[f] + 1]);
            assert_true(t->odd[f] != t->odd[t->parent[f]]);
        }
        for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k)
            assert_int_equal(t->parent[t->child[k]], f);
    }
}

/* Every stored entry goes to its place, or its mirror image does. */
static void check_entries(const sd_csr *A, const sd_tree *t)
{
    int64_t placed = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t p = t->position[i], q = t->position[A->ind[k]];
            if (t->target[k] < 0) {
                assert_false(A->half);
                assert_true(q > p);
                continue;
            }
            const int32_t column = p < q ? p : q, row = p < q ? q : p;
            int32_t f = 0;
            while (t->first[f + 1] <= column) ++f;
            ++placed;
            assert_in_range(t->target[k], t->entry_ptr[column], t->entry_ptr[column + 1] - 1);
            assert_int_equal(row_at(t, f, t->entry_row[t->target[k]]), row);
        }
    }
    assert_int_equal(placed, t->entry_ptr[t->n]);
}

/* Whole subtrees with one parent; and a walk over the two-ended stack never needs more than was planned. */
static void check_groups(const sd_tree *t)
{
    for (int32_t g = 0; g < t->groups; ++g) {
        const int32_t parent = t->parent[t->group_last[g]];
        int64_t live = 0, most = 0;
        for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f) {
            const bool inner = t->parent[f] >= 0 && t->parent[f] <= t->group_last[g];
            assert_int_equal(t->group_of[f], g);
            assert_true(inner || t->parent[f] == parent);
            if (inner) live += sd_rest_size(sd_front_below(t, f));
            if (live > most) most = live;
            for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
                assert_true(t->child[k] >= t->group_first[g]);
                live -= sd_rest_size(sd_front_below(t, t->child[k]));
            }
        }
        assert_int_equal(live, 0);
        assert_int_equal(most, t->group_stack[g]);
    }
}

/* Column k of the factor lies within its front. */
static void check_fill(const adjacency *a, const sd_tree *t)
{
    const int n = a->n;
    bool *lower = test_alloc((size_t)n * (size_t)n, sizeof *lower);
    int64_t nnz = n;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) lower[i * n + j] = a->edge[t->order[i] * n + t->order[j]];
    for (int32_t f = 0, k = 0; f < t->fronts; ++f) {
        bool own[MOST] = {false};
        for (int32_t i = t->first[f]; i < t->first[f + 1]; ++i) own[i] = true;
        for (int64_t e = t->row_ptr[f]; e < t->row_ptr[f + 1]; ++e) own[t->rows[e]] = true;
        for (; k < t->first[f + 1]; ++k) {
            for (int i = k + 1; i < n; ++i) {
                if (!lower[i * n + k]) continue;
                ++nnz;
                assert_true(own[i]);
                for (int j = k + 1; j < n; ++j)
                    if (lower[j * n + k] && i != j) lower[i * n + j] = true;
            }
        }
    }
    assert_true(nnz <= t->nnz);
    free(lower);
}

static void trees_of_random_graphs_hold_the_factor(void **state)
{
    (void)state;
    rng r = rng_start("trees");
    for (int round = 0; round < ROUNDS; ++round) {
        const int n = 1 + (int)(fabs(rng_unit(&r)) * (MOST - 1));
        adjacency a = adjacency_random(&r, n, pow(fabs(rng_unit(&r)), 3));
        sd_graph g = graph_of(&a);
        sd_context c;
        int32_t order[MOST];
        sd_tree t;
        sd_context_init(&c, NULL, 0);
        rng_permutation(&r, n, order);
        sd_csr A = matrix_of(&c, &g, round % 2, &r);
        assert_int_equal(sd_tree_make(&c, &A, &g, order, &t), SADDLE_OK);
        check_fronts(&t);
        check_entries(&A, &t);
        check_groups(&t);
        check_fill(&a, &t);
        sd_tree_free(&c, &t);
        sd_csr_free(&c, &A);
        graph_drop(&g);
        adjacency_free(&a);
        assert_int_equal(c.bytes, 0);
    }
}

static void a_large_grid_has_many_groups(void **state)
{
    (void)state;
    enum { SIDE = 300 };
    rng r = rng_start("grid");
    sd_graph g = graph_grid(SIDE, SIDE);
    sd_context c;
    sd_tree t;
    int64_t dense_rows;
    int32_t *order = order_of(&g, SADDLE_ORDER_METIS, &dense_rows);
    sd_context_init(&c, NULL, 0);
    sd_csr A = matrix_of(&c, &g, true, &r);
    assert_int_equal(sd_tree_make(&c, &A, &g, order, &t), SADDLE_OK);
    assert_true(t.groups >= 8);
    assert_true(t.flops > 0 && t.rests > 0 && t.height > 3 && t.stored >= t.nnz);
    check_fronts(&t);
    check_groups(&t);
    sd_tree_free(&c, &t);
    sd_csr_free(&c, &A);
    graph_drop(&g);
    free(order);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("allocations of a tree");
    adjacency a = adjacency_random(&r, 30, 0.1);
    sd_graph g = graph_of(&a);
    int32_t order[30];
    sd_context plain;
    sd_context_init(&plain, NULL, 0);
    sd_csr A = matrix_of(&plain, &g, true, &r);
    for (int k = 0; k < 30; ++k) order[k] = 29 - k;
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_tree t;
        sd_context_init(&c, &hooks, 0);
        const saddle_status status = sd_tree_make(&c, &A, &g, order, &t);
        if (!status) sd_tree_free(&c, &t);
        assert_int_equal(f.live, 0);
        if (!f.failed) break;
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
    }
    sd_csr_free(&plain, &A);
    graph_drop(&g);
    adjacency_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_random_graphs_hold_the_factor),
        cmocka_unit_test(a_large_grid_has_many_groups),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
