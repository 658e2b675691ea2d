/* The order of the blocks of a block LDL': push-back, and the levels of what is left. */
#include "helpers.h"

#include "factor/block_ldlt.h"

static void assert_order(const sd_block_order *order, const int32_t *at)
{
    for (int32_t p = 0; p < order->blocks; ++p) {
        assert_int_equal(order->at[p], at[p]);
        assert_int_equal(order->position[order->at[p]], p);
    }
}

/* Figure 2 of Stretching Jacobi: of five blocks, the second and third go to the rear and keep their order. */
static void blocks_are_pushed_back_in_one_operation(void **state)
{
    (void)state;
    sd_context c;
    sd_block_order order;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_block_order_make(&c, 5, &order), SADDLE_OK);
    const bool first[] = {false, true, true, false, false}, second[] = {true, false, true, false, false};
    assert_int_equal(sd_push_back(&c, first, &order), SADDLE_OK);
    assert_order(&order, (const int32_t[]){0, 3, 4, 1, 2});
    assert_int_equal(order.generations, 1);
    /* the generation is that of each block, not of the operation: 0 joins 1, behind which it stands */
    assert_int_equal(sd_push_back(&c, second, &order), SADDLE_OK);
    assert_order(&order, (const int32_t[]){3, 4, 0, 1, 2});
    assert_int_equal(order.generation[2], 2);
    sd_block_order_free(&c, &order);
    assert_int_equal(c.bytes, 0);
}

/* The matrix of the figure: 5 x 5 blocks of one row each, blocks 2 and 3 pushed back. What was below the
 * diagonal in their columns comes to stand above it, and is the same number, transposed. */
static void lists_follow_the_order(void **state)
{
    (void)state;
    static const int pairs[][2] = {{1, 0}, {2, 1}, {3, 1}, {4, 2}, {4, 3}};
    const int32_t start[] = {0, 1, 2, 3, 4, 5}, rows[] = {0, 1, 2, 3, 4};
    sd_context c;
    sd_block_matrix B;
    sd_ldlt_plan plan;
    sd_ldlt_numbers numbers;
    sd_ldlt_counts counts;
    dense d = dense_new(5);
    sd_context_init(&c, NULL, 0);
    for (int i = 0; i < 5; ++i) dense_set(&d, i, i, 10 + i);
    for (int k = 0; k < 5; ++k) {
        dense_set(&d, pairs[k][0], pairs[k][1], k + 1);
        dense_set(&d, pairs[k][1], pairs[k][0], k + 1);
    }
    saddle_matrix view = view_plain(&d, SADDLE_GENERAL);
    sd_csr A;
    assert_int_equal(sd_csr_from_view(&c, &view, false, &A, NULL), SADDLE_OK);
    assert_int_equal(sd_block_matrix_make(&c, &A, rows, NULL, 5, start, &B), SADDLE_OK);
    const sd_ldlt_rule rule = {.symbolic = true, .threads = 1};
    const bool last[] = {false, true, true, false, false};
    assert_int_equal(sd_ldlt_find(&c, &B, &rule, last, &plan, &numbers, &counts), SADDLE_OK);
    /* position in the paper's P of each block */
    const int32_t position[] = {0, 3, 4, 1, 2};
    int64_t below = 0;
    for (int32_t i = 0; i < 5; ++i) {
        for (int64_t k = plan.row[i]; k < plan.row[i + 1]; ++k) {
            const sd_ldlt_block *b = &plan.list[k];
            const int32_t own = plan.block_at[i], other = plan.block_at[b->other];
            assert_true(dense_at(&d, own, other) != 0);
            assert_int_equal(k < plan.diagonal[i], b->other < i);
            assert_int_equal(k < plan.diagonal[i], position[other] < position[own]);
            assert_int_equal(b->transposed, k >= plan.diagonal[i]);
            if (k > plan.row[i]) assert_true(plan.list[k - 1].other < b->other);
            below += k < plan.diagonal[i];
        }
    }
    assert_int_equal(below, 5);
    assert_int_equal(plan.entries, 5);
    sd_ldlt_plan_free(&c, &plan);
    sd_block_matrix_free(&c, &B);
    sd_csr_free(&c, &A);
    view_free(&view);
    dense_free(&d);
    assert_int_equal(c.bytes, 0);
}

/* Random graphs, some blocks pushed back: no block of a level reaches another of it through what was
 * eliminated before, and each generation has its own blocks. */
static void levels_of_the_tree_are_independent(void **state)
{
    (void)state;
    enum { N = 60 };
    rng r = rng_start(__func__);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int trial = 0; trial < 20; ++trial) {
        bool edge[N][N] = {{false}}, push[N];
        sd_graph g = {.n = N, .ptr = malloc((N + 1) * sizeof *g.ptr), .ind = malloc(N * N * sizeof *g.ind)};
        sd_block_order order;
        int32_t level[N];
        for (int k = 0; k < 2 * N; ++k) {
            const int i = rng_below(&r, N), j = rng_below(&r, N);
            edge[i][j] = edge[j][i] = i != j;
        }
        g.ptr[0] = 0;
        for (int i = 0; i < N; ++i) {
            g.ptr[i + 1] = g.ptr[i];
            for (int j = 0; j < N; ++j)
                if (edge[i][j]) g.ind[g.ptr[i + 1]++] = j;
        }
        assert_int_equal(sd_block_order_make(&c, N, &order), SADDLE_OK);
        for (int i = 0; i < N; ++i) push[i] = rng_below(&r, 5) == 0;
        assert_int_equal(sd_push_back(&c, push, &order), SADDLE_OK);
        int32_t done = 0;
        for (int32_t generation = 0; generation <= order.generations; ++generation) {
            sd_block_levels levels;
            assert_int_equal(sd_levels_of_tree(&c, &g, &order, generation, &levels), SADDLE_OK);
            for (int32_t l = 0; l < levels.count; ++l)
                for (int32_t k = levels.first[l]; k < levels.first[l + 1]; ++k, ++done) {
                    assert_int_equal(order.generation[levels.block[k]], generation);
                    level[levels.block[k]] = 1000 * generation + l;
                }
            sd_block_levels_free(&c, &levels);
        }
        assert_int_equal(done, N);
        for (int p = 0; p < N; ++p) { /* eliminate, and look at who meets whom */
            const int i = order.at[p];
            for (int a = p + 1; a < N; ++a) {
                if (!edge[i][order.at[a]]) continue;
                assert_true(level[i] < level[order.at[a]]);
                for (int b = p + 1; b < N; ++b)
                    if (b != a && edge[i][order.at[b]]) edge[order.at[a]][order.at[b]] = true;
            }
        }
        sd_block_order_free(&c, &order);
        free(g.ptr);
        free(g.ind);
    }
    assert_int_equal(c.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_pushed_back_in_one_operation),
        cmocka_unit_test(lists_follow_the_order),
        cmocka_unit_test(levels_of_the_tree_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
