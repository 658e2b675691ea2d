/* Conversion between all layouts and shapes, against the dense oracle, and back again. */
#include "helpers.h"

#include "failing_allocator.h"

static bool is_symmetric(const dense *d)
{
    for (int k = 0; k < d->n * d->n; ++k) {
        const int mirror = k % d->n * d->n + k / d->n;
        if (d->there[k] != d->there[mirror] || d->a[k] != d->a[mirror]) return false;
    }
    return true;
}

/* What saddle.h promises of B besides its entries: sorted, once each, base 0, 64 bits, double. */
static void assert_clean(const saddle_matrix *B)
{
    assert_int_equal(B->base, 0);
    assert_int_equal(B->type, SADDLE_DOUBLE);
    if (B->layout == SADDLE_COORDINATES) {
        assert_null(B->pointers);
        return;
    }
    assert_int_equal(B->pointer_bits, 64);
    assert_null(B->col_indices);
    const int64_t *ptr = B->pointers;
    assert_int_equal(ptr[B->rows], B->entries);
    for (int64_t line = 0; line < B->rows; ++line)
        for (int64_t k = ptr[line] + 1; k < ptr[line + 1]; ++k)
            assert_true(B->indices[k] > B->indices[k - 1]);
}

static void every_view_converts_to_every_layout_and_shape(void **state)
{
    (void)state;
    rng r = rng_start("convert");
    for (int round = 0; round < 1500; ++round) {
        const bool symmetric = rng_below(&r, 3) != 0;
        dense d = dense_random(&r, 1 + rng_below(&r, 7), fabs(rng_unit(&r)), symmetric);
        const bool can_be_symmetric = is_symmetric(&d);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, symmetric)), B;
        for (int to = 0; to < 12; ++to) {
            const saddle_layout layout = (saddle_layout)(to % 3);
            const saddle_shape shape = (saddle_shape)(to / 3);
            char message[SADDLE_MESSAGE_SIZE];
            const saddle_status status = saddle_convert(&A, layout, shape, NULL, &B, message);
            if (shape != SADDLE_GENERAL && !can_be_symmetric) {
                assert_int_equal(status, SADDLE_BAD_MATRIX);
                assert_contains(message, "not symmetric");
                continue;
            }
            assert_int_equal(status, SADDLE_OK);
            assert_int_equal(B.layout, layout);
            assert_int_equal(B.shape, shape);
            assert_int_equal(B.rows, A.rows);
            assert_int_equal(B.columns, A.columns);
            assert_clean(&B);
            dense got = dense_of_view(&B);
            assert_dense_equal(&got, &d);
            dense_free(&got);
            /* and what was converted is a view like any other */
            saddle_matrix back;
            assert_int_equal(saddle_convert(&B, A.layout, A.shape, NULL, &back, NULL), SADDLE_OK);
            got = dense_of_view(&back);
            assert_dense_equal(&got, &d);
            dense_free(&got);
            saddle_matrix_free(&back, NULL);
            saddle_matrix_free(&B, NULL);
            assert_null(B.values);
        }
        view_free(&A);
        dense_free(&d);
    }
}

/* Converted to the same layout and shape, sorted arrays come back bit by bit. */
static void converting_twice_changes_nothing(void **state)
{
    (void)state;
    rng r = rng_start("convert twice");
    for (int round = 0; round < 500; ++round) {
        dense d = dense_random(&r, 1 + rng_below(&r, 7), 0.5, true);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, true)), B, C;
        assert_int_equal(saddle_convert(&A, A.layout, A.shape, NULL, &B, NULL), SADDLE_OK);
        assert_int_equal(saddle_convert(&B, A.layout, A.shape, NULL, &C, NULL), SADDLE_OK);
        assert_int_equal(B.entries, C.entries);
        assert_memory_equal(B.indices, C.indices, (size_t)B.entries * sizeof *B.indices);
        assert_memory_equal(B.values, C.values, (size_t)B.entries * sizeof(double));
        saddle_matrix_free(&B, NULL);
        saddle_matrix_free(&C, NULL);
        view_free(&A);
        dense_free(&d);
    }
}

static void a_matrix_that_is_not_symmetric_names_an_entry(void **state)
{
    (void)state;
    dense d = dense_from(3, (double[]){1, 2, 0, 2, 1, 5, 0, 4, 1});
    saddle_matrix A = view_plain(&d, SADDLE_GENERAL), B;
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_convert(&A, SADDLE_COLUMNS, SADDLE_LOWER, NULL, &B, message), SADDLE_BAD_MATRIX);
    assert_contains(message, "row 2, column 3");
    view_free(&A);
    dense_free(&d);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int round = 0; round < 24; ++round) {
        dense d = dense_random(&r, 5, 0.6, true);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, true));
        const saddle_layout layout = (saddle_layout)(round % 3);
        const saddle_shape shape = (saddle_shape)(round / 3 % 4);
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_matrix B;
            char message[SADDLE_MESSAGE_SIZE];
            const saddle_status status = saddle_convert(&A, layout, shape, &hooks, &B, message);
            if (status) {
                assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
                assert_contains(message, "memory");
            } else {
                saddle_matrix_free(&B, &hooks);
            }
            assert_int_equal(f.live, 0);
            assert_int_equal(status != SADDLE_OK, f.failed);
            if (!f.failed) break;
        }
        view_free(&A);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_converts_to_every_layout_and_shape),
        cmocka_unit_test(converting_twice_changes_nothing),
        cmocka_unit_test(a_matrix_that_is_not_symmetric_names_an_entry),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
