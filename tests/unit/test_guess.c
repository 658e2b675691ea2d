/* What a factorization is guessed to cost before anything is ordered. */
#include "helpers.h"

#include "graphs.h"
#include "prepare/etree.h"
#include "prepare/prepare.h"

/* The whole matrix of a box of 7 or 27 points, or of a plane if depth is 1. */
static sd_csr box(int side, int depth, bool full)
{
    const int n = side * side * depth;
    sd_csr A = {.n = n,
                .ptr = test_alloc((size_t)n + 1, sizeof *A.ptr),
                .ind = test_alloc(27 * (size_t)n, sizeof *A.ind)};
    for (int v = 0; v < n; ++v) {
        const int x = v % side, y = v / side % side, z = v / side / side;
        A.ptr[v + 1] = A.ptr[v];
        for (int k = 0; k < 27; ++k) {
            const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
            const bool inside =
                x + dx >= 0 && x + dx < side && y + dy >= 0 && y + dy < side && z + dz >= 0 && z + dz < depth;
            if (inside && (full || abs(dx) + abs(dy) + abs(dz) <= 1))
                A.ind[A.ptr[v + 1]++] = v + dx + side * (dy + side * dz);
        }
    }
    A.nnz = A.ptr[n];
    return A;
}

/* Within the factor of 10 that is claimed, of what an order comes to; nothing for what is no mesh. */
static void meshes_are_guessed_others_are_not(void **state)
{
    (void)state;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    for (int k = 0; k < 4; ++k) {
        sd_csr A = k < 2 ? box(100, 1, k) : box(20, 20, k - 2);
        double guess;
        assert_int_equal(sd_guess_flops(&c, &A, &guess), SADDLE_OK);
        sd_graph g;
        sd_fill_sums fill;
        int64_t dense_rows;
        assert_int_equal(sd_graph_from_csr(&c, &A, true, NULL, &g), SADDLE_OK);
        int32_t *perm = order_of(&g, SADDLE_ORDER_ND, &dense_rows);
        assert_int_equal(sd_predict_fill(&c, &g, perm, &fill), SADDLE_OK);
        assert_true(guess < 10 * fill.flops && fill.flops < 10 * guess);
        free(perm);
        sd_graph_free(&c, &g);
        for (int64_t e = 0; e < A.nnz; ++e) A.ind[e] = (int32_t)(e * 7919 % A.n); /* all over the place */
        assert_int_equal(sd_guess_flops(&c, &A, &guess), SADDLE_OK);
        assert_true(isnan(guess));
        free(A.ptr);
        free(A.ind);
    }
    assert_int_equal(c.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_are_guessed_others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
