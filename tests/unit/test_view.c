/*
 * Every fault of a caller's view has its status and a message that names the place, in the caller's
 * own counting; and none of them makes the checks read where nothing is.
 */
#include "helpers.h"

#include "matrix/csr.h"

/* 3 x 3, lower triangle by columns, base 0: (0,0) (2,0) (1,1) (2,2) */
static const int32_t colptr[] = {0, 2, 3, 4}, rowind[] = {0, 2, 1, 2};
static const double values[] = {1, 2, 3, 4};

static saddle_matrix sound(void)
{
    return saddle_symmetric(3, colptr, rowind, values);
}

static void check(const saddle_matrix *A, saddle_status expected, const char *words[])
{
    sd_context c;
    saddle_matrix view;
    sd_context_init(&c, NULL, 0);
    const saddle_status taken = sd_view_take(&c, A, &view);
    assert_int_equal(taken ? taken : sd_view_check(&c, &view, NULL), expected);
    for (int k = 0; words[k]; ++k) assert_contains(c.message, words[k]);
    /* the public calls refuse with the same status, message and no crash */
    char message[SADDLE_MESSAGE_SIZE] = "";
    double x[8] = {0}, y[8];
    saddle_facts facts;
    saddle_matrix B;
    saddle_errors errors;
    if (!A) return;
    assert_int_equal(saddle_inspect(A, NULL, &facts, message), expected);
    for (int k = 0; words[k]; ++k) assert_contains(message, words[k]);
    assert_int_equal(saddle_convert(A, SADDLE_ROWS, SADDLE_GENERAL, NULL, &B, message), expected);
    assert_int_equal(saddle_multiply(A, 1, x, 8, y, 8, 1, NULL, message), expected);
    assert_int_equal(saddle_measure(A, x, x, NULL, 1, NULL, &errors, NULL), expected);
    for (int k = 0; words[k]; ++k) assert_contains(message, words[k]);
}

#define CHECK(A, expected, ...) check(A, expected, (const char *[]){__VA_ARGS__, NULL})

static void a_sound_view_passes_in_every_form(void **state)
{
    (void)state;
    rng r = rng_start("views");
    for (int round = 0; round < 2000; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = dense_random(&r, 1 + rng_below(&r, 6), fabs(rng_unit(&r)), symmetric);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, symmetric));
        sd_context c;
        sd_context_init(&c, NULL, 0);
        saddle_facts faults = {0};
        assert_int_equal(sd_view_check(&c, &A, &faults), SADDLE_OK);
        assert_int_equal(faults.out_of_range + faults.wrong_triangle, 0);
        int64_t not_finite = -1;
        assert_int_equal(sd_view_check_values(&c, &A, &not_finite), SADDLE_OK);
        assert_int_equal(not_finite, 0);
        view_free(&A);
        dense_free(&d);
    }
}

static void missing_arrays_are_named(void **state)
{
    (void)state;
    CHECK(NULL, SADDLE_BAD_ARGUMENT, "NULL");
    saddle_matrix A = sound();
    A.pointers = NULL;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "pointers", "NULL");
    A = sound();
    A.indices = NULL;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "indices", "NULL");
    A = sound();
    A.layout = SADDLE_COORDINATES;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "col_indices", "NULL");
    A = sound();
    A.layout = SADDLE_COORDINATES;
    A.col_indices = rowind;
    A.indices = NULL;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "indices", "NULL");
}

static void missing_values_are_named_where_they_are_needed(void **state)
{
    (void)state;
    saddle_matrix A = sound(), B;
    A.values = NULL;
    char message[SADDLE_MESSAGE_SIZE];
    saddle_facts facts;
    double x[3] = {0}, y[3];
    sd_context c;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_view_check(&c, &A, NULL), SADDLE_OK); /* a pattern is good for an analysis */
    assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_BAD_ARGUMENT);
    assert_contains(message, "values");
    assert_int_equal(saddle_multiply(&A, 1, x, 8, y, 8, 1, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_convert(&A, SADDLE_ROWS, SADDLE_FULL, NULL, &B, message), SADDLE_BAD_ARGUMENT);
    assert_contains(message, "values");
}

static void missing_arguments_are_refused(void **state)
{
    (void)state;
    saddle_matrix A = sound(), B;
    saddle_facts facts;
    saddle_errors errors;
    double x[3] = {0}, y[3];
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_inspect(NULL, NULL, &facts, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_inspect(&A, NULL, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_convert(NULL, SADDLE_ROWS, SADDLE_FULL, NULL, &B, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_convert(&A, SADDLE_ROWS, SADDLE_FULL, NULL, NULL, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_convert(&A, (saddle_layout)3, SADDLE_FULL, NULL, &B, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_convert(&A, SADDLE_ROWS, (saddle_shape)4, NULL, &B, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_multiply(NULL, 1, x, 8, y, 8, 1, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_multiply(&A, 1, NULL, 8, y, 8, 1, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_multiply(&A, 1, x, 8, NULL, 8, 1, NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_measure(NULL, x, x, NULL, 1, NULL, &errors, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_measure(&A, NULL, x, NULL, 1, NULL, &errors, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_measure(&A, x, NULL, NULL, 1, NULL, &errors, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_measure(&A, x, x, NULL, 1, NULL, NULL, NULL), SADDLE_BAD_ARGUMENT);
    saddle_matrix_free(NULL, NULL);
}

static void sizes_that_make_no_matrix_are_refused(void **state)
{
    (void)state;
    saddle_matrix A = sound();
    A.rows = A.columns = 0;
    CHECK(&A, SADDLE_BAD_MATRIX, "0 entries", "4"); /* no rows are one thing, entries of them another */
    A = sound();
    A.columns = 4;
    CHECK(&A, SADDLE_NOT_SUPPORTED, "rectangular", "3 x 4");
    A = sound();
    A.rows = A.columns = -1;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "-1");
    A = sound();
    A.entries = -4;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "-4");
    A = sound();
    A.rows = A.columns = INT32_MAX;
    CHECK(&A, SADDLE_NOT_SUPPORTED, "too large", "2147483647");
    A.rows = A.columns = INT64_MAX;
    CHECK(&A, SADDLE_NOT_SUPPORTED, "too large");
    A = sound();
    A.layout = (saddle_layout)3;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "layout 3");
    A = sound();
    A.shape = (saddle_shape)4;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "shape 4");
    A = sound();
    A.type = (saddle_type)2;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "type 2");
    A = sound();
    A.type = (saddle_type)-1;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "type -1");
    A = sound();
    A.base = 2;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "base 2");
    A = sound();
    A.pointer_bits = 16;
    CHECK(&A, SADDLE_BAD_ARGUMENT, "pointer_bits 16");
}

static void pointers_that_do_not_ascend_are_named(void **state)
{
    (void)state;
    const int32_t decreasing[] = {0, 3, 2, 4}, late[] = {1, 2, 3, 4}, negative[] = {0, -1, 2, 4},
                  short_of[] = {0, 1, 2, 3}, beyond[] = {0, 2, 3, INT32_MAX};
    saddle_matrix A = sound();
    A.pointers = decreasing;
    CHECK(&A, SADDLE_BAD_MATRIX, "column 1", "2", "3");
    A.layout = SADDLE_ROWS;
    A.shape = SADDLE_UPPER;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 1");
    A = sound();
    A.pointers = late;
    CHECK(&A, SADDLE_BAD_MATRIX, "column 0", "base");
    A.pointers = negative;
    CHECK(&A, SADDLE_BAD_MATRIX, "column 0", "-1");
    A.pointers = short_of;
    CHECK(&A, SADDLE_BAD_MATRIX, "3 entries", "4");
    A.pointers = beyond;
    CHECK(&A, SADDLE_BAD_MATRIX, "2147483647 entries");
    const int32_t from_one[] = {1, 4, 3, 5};
    A = sound();
    A.base = 1;
    A.pointers = from_one;
    CHECK(&A, SADDLE_BAD_MATRIX, "column 2", "3", "4");
    A.pointers = colptr; /* counted from 0 where base is 1 */
    CHECK(&A, SADDLE_BAD_MATRIX, "column 1", "base, 1");
}

static void pointers_at_the_ends_of_their_type_do_not_overflow(void **state)
{
    (void)state;
    const int64_t lowest[] = {INT64_MIN, 2, 3, 4}, middle[] = {1, INT64_MIN, 3, 5},
                  highest[] = {1, 3, 4, INT64_MAX}, negative[] = {1, 3, 4, INT64_MIN};
    const int64_t *const all[] = {lowest, middle, highest, negative};
    for (int k = 0; k < 4; ++k) {
        saddle_matrix A = sound();
        A.base = 1;
        A.pointer_bits = 64;
        A.pointers = all[k];
        CHECK(&A, SADDLE_BAD_MATRIX, "");
    }
    const int32_t narrow[] = {INT32_MIN, 3, 4, 5}, narrow_last[] = {1, 3, 4, INT32_MIN};
    saddle_matrix A = sound();
    A.base = 1;
    A.pointers = narrow;
    CHECK(&A, SADDLE_BAD_MATRIX, "-2147483648");
    A.pointers = narrow_last;
    CHECK(&A, SADDLE_BAD_MATRIX, "-2147483648");
}

static void indices_out_of_range_are_named_and_counted(void **state)
{
    (void)state;
    const int32_t beyond[] = {0, 3, 1, 2}, below[] = {-1, 2, 1, 2}, lowest[] = {1, 3, 2, INT32_MIN},
                  highest[] = {0, INT32_MAX, INT32_MAX, 2};
    saddle_matrix A = sound();
    A.indices = beyond;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 3, column 0", "3 x 3");
    A.indices = below;
    CHECK(&A, SADDLE_BAD_MATRIX, "row -1, column 0");
    A.indices = highest;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 2147483647, column 0");
    saddle_facts facts;
    assert_int_equal(saddle_inspect(&A, NULL, &facts, NULL), SADDLE_BAD_MATRIX);
    assert_int_equal(facts.out_of_range, 2);
    A.indices = lowest;
    const int32_t from_one[] = {1, 3, 4, 5};
    A.base = 1;
    A.pointers = from_one;
    CHECK(&A, SADDLE_BAD_MATRIX, "row -2147483648, column 3");
    /* with base 1 an index of 0 is out of range, and n is not */
    const int32_t zero[] = {1, 3, 2, 0};
    A.indices = zero;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 0, column 3");
    const int32_t columns[] = {0, 1, 2, 9};
    A = sound();
    A.layout = SADDLE_COORDINATES;
    A.shape = SADDLE_GENERAL;
    A.col_indices = columns;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 2, column 9");
    A = sound();
    A.layout = SADDLE_ROWS;
    A.shape = SADDLE_GENERAL;
    A.indices = beyond;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 0, column 3");
}

static void entries_in_the_wrong_triangle_are_named_and_counted(void **state)
{
    (void)state;
    const int32_t two[] = {0, 0, 1, 0}, ptr[] = {0, 1, 2, 4};
    saddle_matrix A = sound();
    A.shape = SADDLE_UPPER;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 2, column 0", "upper");
    A = sound();
    A.indices = two;
    A.pointers = ptr;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 0, column 1", "lower");
    saddle_facts facts;
    assert_int_equal(saddle_inspect(&A, NULL, &facts, NULL), SADDLE_BAD_MATRIX);
    assert_int_equal(facts.wrong_triangle, 3);
    A.layout = SADDLE_ROWS;
    A.shape = SADDLE_UPPER;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 1, column 0", "upper");
    const int32_t rows[] = {0, 1, 2, 0}, columns[] = {0, 1, 2, 1};
    A = sound();
    A.layout = SADDLE_COORDINATES;
    A.indices = rows;
    A.col_indices = columns;
    CHECK(&A, SADDLE_BAD_MATRIX, "row 0, column 1", "lower");
}

static void values_that_are_not_finite_are_named_and_counted(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int style = 0; style < 3; ++style) {
        for (int which = 0; which < 3; ++which) {
            double with[] = {1, 2, 3, 4};
            float as_float[4];
            const int32_t columns[] = {0, 0, 1, 2}, from_one[] = {1, 3, 4, 5}, rows_one[] = {1, 3, 2, 3};
            with[1] = bad[which];
            for (int k = 0; k < 4; ++k) as_float[k] = (float)with[k];
            saddle_matrix A = sound();
            A.values = with;
            const char *place = "row 2, column 0";
            if (style == 1) {
                A.type = SADDLE_FLOAT;
                A.values = as_float;
                A.layout = SADDLE_COORDINATES;
                A.col_indices = columns;
            }
            if (style == 2) {
                A.layout = SADDLE_ROWS;
                A.shape = SADDLE_UPPER;
                A.base = 1;
                A.pointers = from_one;
                A.indices = rows_one;
                place = "row 1, column 3";
            }
            char message[SADDLE_MESSAGE_SIZE];
            double x[3] = {0}, y[3];
            saddle_facts facts;
            assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_BAD_VALUE);
            assert_int_equal(facts.not_finite, 1);
            assert_contains(message, place);
            assert_contains(message, which == 0 ? "nan" : "inf");
            assert_int_equal(saddle_multiply(&A, 1, x, 8, y, 8, 1, NULL, message), SADDLE_BAD_VALUE);
            assert_contains(message, place);
        }
    }
}

static void all_values_that_are_not_finite_are_counted(void **state)
{
    (void)state;
    const double bad[] = {NAN, 1, INFINITY, -INFINITY};
    saddle_matrix A = sound();
    A.values = bad;
    saddle_facts facts;
    char message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_BAD_VALUE);
    assert_int_equal(facts.not_finite, 3);
    assert_contains(message, "row 0, column 0");
    assert_contains(message, "more entries");
}

/* Finite entries whose sum is not: the matrix they make cannot be worked with. */
static void duplicates_that_overflow_together_are_refused(void **state)
{
    (void)state;
    const int32_t ptr[] = {0, 2, 3}, ind[] = {1, 1, 1};
    const double huge[] = {1.5e308, 1.5e308, 1};
    const saddle_matrix A = saddle_symmetric(2, ptr, ind, huge);
    saddle_matrix B = {0};
    saddle_facts facts;
    saddle_errors errors;
    char message[SADDLE_MESSAGE_SIZE];
    const double x[2] = {1, 1};
    double y[2];
    assert_int_equal(saddle_inspect(&A, NULL, &facts, message), SADDLE_BAD_VALUE);
    assert_contains(message, "row 1, column 0");
    assert_int_equal(saddle_convert(&A, SADDLE_ROWS, SADDLE_FULL, NULL, &B, message), SADDLE_BAD_VALUE);
    assert_int_equal(saddle_multiply(&A, 1, x, 8, y, 8, 1, NULL, message), SADDLE_BAD_VALUE);
    assert_int_equal(saddle_measure(&A, x, x, NULL, 1, NULL, &errors, message), SADDLE_BAD_VALUE);
}

static void a_matrix_without_entries_is_sound(void **state)
{
    (void)state;
    const int32_t ptr[] = {0, 0, 0};
    for (int layout = 0; layout < 3; ++layout) {
        for (int shape = 0; shape < 4; ++shape) {
            saddle_matrix A = {.size = sizeof A,
                               .rows = 2,
                               .columns = 2,
                               .layout = (saddle_layout)layout,
                               .shape = (saddle_shape)shape,
                               .pointer_bits = 32,
                               .pointers = ptr};
            saddle_facts facts;
            saddle_matrix B;
            saddle_errors errors;
            const double x[2] = {1, 2}, b[2] = {0, 0};
            double y[2] = {5, 5};
            assert_int_equal(saddle_inspect(&A, NULL, &facts, NULL), SADDLE_OK);
            assert_int_equal(facts.empty_rows, 2);
            assert_int_equal(facts.missing_diagonal, 2);
            assert_true(facts.largest == 0 && facts.smallest == 0 && facts.norm_frobenius == 0);
            assert_int_equal(saddle_multiply(&A, 1, x, 8, y, 8, 1, NULL, NULL), SADDLE_OK);
            assert_true(y[0] == 0 && y[1] == 0);
            assert_int_equal(saddle_measure(&A, b, x, y, 1, NULL, &errors, NULL), SADDLE_OK);
            assert_true(errors.backward == 0 && errors.componentwise == 0 && errors.relative_residual == 0);
            for (int to = 0; to < 12; ++to) {
                assert_int_equal(
                    saddle_convert(&A, (saddle_layout)(to % 3), (saddle_shape)(to / 3), NULL, &B, NULL),
                    SADDLE_OK);
                assert_int_equal(B.entries, 0);
                saddle_matrix_free(&B, NULL);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_view_passes_in_every_form),
        cmocka_unit_test(missing_arrays_are_named),
        cmocka_unit_test(missing_values_are_named_where_they_are_needed),
        cmocka_unit_test(missing_arguments_are_refused),
        cmocka_unit_test(sizes_that_make_no_matrix_are_refused),
        cmocka_unit_test(pointers_that_do_not_ascend_are_named),
        cmocka_unit_test(pointers_at_the_ends_of_their_type_do_not_overflow),
        cmocka_unit_test(indices_out_of_range_are_named_and_counted),
        cmocka_unit_test(entries_in_the_wrong_triangle_are_named_and_counted),
        cmocka_unit_test(values_that_are_not_finite_are_named_and_counted),
        cmocka_unit_test(all_values_that_are_not_finite_are_counted),
        cmocka_unit_test(duplicates_that_overflow_together_are_refused),
        cmocka_unit_test(a_matrix_without_entries_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
