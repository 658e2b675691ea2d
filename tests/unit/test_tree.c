/*
 * The assembly tree against a dense symbolic elimination: its fronts hold the rows of L and no others but
 * those that amalgamation adds, every entry of A has its place, and the stack with two ends of each group of
 * subtrees has the room that was measured for it.
 */
#include "helpers.h"

#include "failing_allocator.h"
#include "graphs.h"

#include "backend/front.h"
#include "factor/arena.h"
#include "factor/storage.h"
#include "plan/tree.h"

enum { MOST = 40 };

static int32_t front_of(const sd_tree *t, int32_t position)
{
    int32_t f = 0;
    while (t->first[f + 1] <= position) ++f;
    return f;
}

/* The position that stands at a place of a front: its own columns, then its rows. */
static int32_t position_at(const sd_tree *t, int32_t f, int32_t place)
{
    const int32_t columns = sd_front_columns(t, f);
    assert_in_range(place, 0, columns + sd_front_below(t, f) - 1);
    return place < columns ? t->first[f] + place : t->rows[t->row_ptr[f] + place - columns];
}

/* The pattern of L in the tree's own order. */
static void eliminate(const dense *d, const sd_tree *t, bool *l)
{
    const int n = d->n;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) l[i * n + j] = i == j || d->there[t->order[i] * n + t->order[j]];
    for (int j = 0; j < n; ++j)
        for (int i = j + 1; i < n; ++i)
            for (int k = j + 1; k < n && l[i * n + j]; ++k)
                if (l[k * n + j]) l[i * n + k] = true;
}

static void check_postorder(const sd_tree *t)
{
    int32_t size[MOST];
    for (int32_t f = 0; f < t->fronts; ++f) size[f] = 1;
    for (int32_t f = 0; f < t->fronts; ++f) {
        int32_t before = f;
        for (int64_t k = t->child_ptr[f + 1] - 1; k >= t->child_ptr[f];
             --k) { /* each right before the next */
            assert_int_equal(t->parent[t->child[k]], f);
            assert_int_equal(t->child[k], before - 1);
            before -= size[t->child[k]];
            size[f] += size[t->child[k]];
            assert_true(t->odd[t->child[k]] != t->odd[f]);
        }
    }
}

static void check_rows(const sd_tree *t, const bool *l)
{
    const int n = t->n;
    int64_t nnz = 0;
    for (int32_t k = 0; k < n; ++k) { /* column by column: its own front's rows from it on */
        const int32_t f = front_of(t, k), last = t->first[f + 1] - 1;
        for (int32_t i = k; i < n; ++i) {
            bool there = i <= last;
            for (int64_t e = t->row_ptr[f]; e < t->row_ptr[f + 1]; ++e) there |= t->rows[e] == i;
            nnz += there;
            if (l[i * n + k]) assert_true(there);
            if (k == last && i > last) assert_int_equal(there, l[i * n + k]);
        }
    }
    assert_int_equal(t->nnz, nnz);
    for (int32_t f = 0; f < t->fronts; ++f)
        for (int64_t e = t->row_ptr[f]; e < t->row_ptr[f + 1]; ++e) {
            assert_true(e == t->row_ptr[f] || t->rows[e - 1] < t->rows[e]);
            assert_int_equal(position_at(t, t->parent[f], t->place[e]), t->rows[e]);
        }
}

/* Every entry of A, or its mirror image, has one place, and no place has two. */
static void check_entries(const sd_tree *t, const sd_csr *A)
{
    bool taken[MOST * MOST] = {false};
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t s = A->ptr[i]; s < A->ptr[i + 1]; ++s) {
            const int32_t p = t->position[i], q = t->position[A->ind[s]], column = p < q ? p : q;
            const int64_t e = t->target[s];
            assert_int_equal(e < 0, !A->half && p < q);
            if (e < 0) continue;
            assert_in_range(e, t->entry_ptr[column], t->entry_ptr[column + 1] - 1);
            assert_int_equal(position_at(t, front_of(t, column), t->entry_row[e]), p < q ? q : p);
            assert_false(taken[e]);
            taken[e] = true;
        }
    }
    for (int64_t e = 0; e < t->entry_ptr[t->n]; ++e) assert_true(taken[e]);
}

static saddle_status make(sd_context *c, const dense *d, saddle_shape shape, const int32_t *order, sd_csr *A,
                          sd_tree *t)
{
    saddle_matrix view = view_plain(d, shape), all = view_plain(d, SADDLE_GENERAL);
    sd_csr whole = {0};
    sd_graph g = {0};
    *t = (sd_tree){0};
    saddle_status status = sd_csr_from_view(c, &view, false, A, NULL);
    if (!status) status = sd_csr_from_view(c, &all, false, &whole, NULL);
    if (!status) status = sd_graph_from_csr(c, &whole, true, NULL, &g);
    if (!status) status = sd_tree_make(c, A, &g, order, NULL, true, t);
    sd_graph_free(c, &g);
    sd_csr_free(c, &whole);
    view_free(&view);
    view_free(&all);
    return status;
}

static void the_tree_is_that_of_the_elimination(void **state)
{
    (void)state;
    rng r = rng_start("tree");
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int round = 0; round < 500; ++round) {
        dense d = dense_random(&r, 1 + rng_below(&r, MOST), 0.3 * fabs(rng_unit(&r)), true);
        int32_t order[MOST];
        bool l[MOST * MOST] = {false};
        sd_csr A;
        sd_tree t;
        rng_permutation(&r, d.n, order);
        assert_int_equal(make(&c, &d, round % 2 ? SADDLE_LOWER : SADDLE_FULL, order, &A, &t), SADDLE_OK);
        assert_int_equal(t.first[0], 0);
        assert_int_equal(t.first[t.fronts], d.n);
        for (int32_t k = 0; k < d.n; ++k) assert_int_equal(t.order[t.position[k]], k);
        eliminate(&d, &t, l);
        check_postorder(&t);
        check_rows(&t, l);
        check_entries(&t, &A);
        sd_tree_free(&c, &t);
        sd_csr_free(&c, &A);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* Runs the stack of a group: where each block lies is remembered, so that no block lies in another. */
static void check_stack(const sd_tree *t, int32_t g, int64_t *begin)
{
    int64_t low = 0, high = t->group_stack[g];
    for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f) {
        const int64_t room = sd_rest_size(sd_front_below(t, f));
        const bool inner = t->parent[f] >= 0 && t->group_of[t->parent[f]] == g;
        assert_int_equal(t->group_of[f], g);
        if (inner && t->odd[f]) begin[f] = high -= room;
        if (inner && !t->odd[f]) begin[f] = low, low += room;
        assert_true(low <= high);
        for (int64_t k = t->child_ptr[f + 1] - 1; k >= t->child_ptr[f]; --k) { /* the last is on top */
            const int64_t size = sd_rest_size(sd_front_below(t, t->child[k]));
            if (t->odd[f]) {
                low -= size;
                assert_int_equal(begin[t->child[k]], low);
            } else {
                assert_int_equal(begin[t->child[k]], high);
                high += size;
            }
        }
    }
    assert_int_equal(low, 0);
    assert_int_equal(high, t->group_stack[g]);
}

/* The blocks of a group's roots, which have the same parent, fit into the piece that is taken for them. */
static void check_roots(const sd_tree *t, int32_t g)
{
    const int32_t parent = t->parent[t->group_last[g]];
    int64_t bytes = 0;
    int32_t roots = 0;
    for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f) {
        if (t->parent[f] >= 0 && t->group_of[t->parent[f]] == g) continue;
        assert_int_equal(t->parent[f], parent);
        if (roots++ == 0) assert_int_equal(f, sd_group_root(t, g));
        if (parent >= 0) bytes += sd_storage_round(sd_rest_size(sd_front_below(t, f)) * 8);
    }
    assert_true(roots > 0);
    assert_int_equal(bytes, sd_group_bytes(t, g, 8));
}

/* The graph of a grid as a matrix without values. */
static sd_csr pattern_of(const sd_graph *g)
{
    return (sd_csr){.n = g->n, .nnz = g->ptr[g->n], .ptr = g->ptr, .ind = g->ind};
}

static void groups_are_whole_and_their_stacks_suffice(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int size = 10; size <= 160; size *= 4) {
        sd_graph g = graph_grid(size, size);
        const sd_csr A = pattern_of(&g);
        int32_t *order = test_alloc((size_t)g.n, sizeof *order);
        int64_t dense_rows, in_groups = 0;
        sd_tree t;
        assert_int_equal(sd_order_graph(&c, &g, SADDLE_ORDER_METIS, order, &dense_rows), SADDLE_OK);
        assert_int_equal(sd_tree_make(&c, &A, &g, order, NULL, true, &t), SADDLE_OK);
        int64_t *begin = test_alloc((size_t)t.fronts, sizeof *begin);
        for (int32_t k = 0; k < t.groups; ++k) {
            check_stack(&t, k, begin);
            check_roots(&t, k);
            in_groups += t.group_last[k] - t.group_first[k] + 1;
        }
        for (int32_t f = 0; f < t.fronts; ++f) {
            in_groups += t.group_of[f] < 0;
            if (t.group_of[f] >= 0) continue; /* what is above a group is in none */
            if (t.parent[f] >= 0) assert_int_equal(t.group_of[t.parent[f]], -1);
        }
        assert_int_equal(in_groups, t.fronts);
        if (size == 160) assert_true(t.groups > 4);
        free(begin);
        free(order);
        sd_tree_free(&c, &t);
        graph_drop(&g);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("allocations");
    dense d = dense_random(&r, 25, 0.2, true);
    int32_t order[MOST];
    rng_permutation(&r, d.n, order);
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_csr A = {0};
        sd_tree t;
        sd_context_init(&c, &hooks, 0);
        const saddle_status status = make(&c, &d, SADDLE_LOWER, order, &A, &t);
        sd_tree_free(&c, &t);
        sd_csr_free(&c, &A);
        assert_int_equal(f.live, 0);
        if (!f.failed) break;
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
    }
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_is_that_of_the_elimination),
        cmocka_unit_test(groups_are_whole_and_their_stacks_suffice),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
