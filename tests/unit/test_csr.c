/*
 * The library's own form against a dense oracle: every layout, shape, base, width and type of view,
 * sorted or not, with entries that stand twice; taking values anew, expanding, and the symmetry test.
 */
#include "helpers.h"

#include "core/context.h"
#include "failing_allocator.h"
#include "matrix/csr.h"
#include "matrix/inspect.h"

enum { ROUNDS = 3000 };

/* Sorted, every entry once, columns >= row where half. */
static void assert_form(const sd_csr *A)
{
    assert_int_equal(A->ptr[0], 0);
    assert_int_equal(A->ptr[A->n], A->nnz);
    for (int32_t i = 0; i < A->n; ++i) {
        assert_true(A->ptr[i] <= A->ptr[i + 1]);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            assert_in_range(A->ind[k], A->half ? i : 0, A->n - 1);
            if (k > A->ptr[i]) assert_true(A->ind[k] > A->ind[k - 1]);
        }
    }
}

static dense dense_of_csr(const sd_csr *A)
{
    assert_form(A);
    dense d = dense_new(A->n);
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            dense_set(&d, i, A->ind[k], A->val[k]);
            if (A->half) dense_set(&d, A->ind[k], i, A->val[k]);
        }
    }
    return d;
}

static void every_view_becomes_the_matrix_it_shows(void **state)
{
    (void)state;
    rng r = rng_start("every view");
    for (int round = 0; round < ROUNDS; ++round) {
        const bool symmetric = rng_below(&r, 2);
        dense d = dense_random(&r, 1 + rng_below(&r, 9), fabs(rng_unit(&r)), symmetric);
        const view_style style = rng_style(&r, symmetric);
        saddle_matrix A = view_make(&r, &d, style);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr csr;
        sd_map *map = NULL;
        const bool borrow = rng_below(&r, 2);
        assert_int_equal(sd_csr_from_view(&c, &A, borrow, &csr, &map), SADDLE_OK);
        assert_int_equal(csr.half, style.shape == SADDLE_LOWER || style.shape == SADDLE_UPPER);
        if (!borrow) assert_true(!csr.borrowed_ind && !csr.borrowed_val);
        dense got = dense_of_csr(&csr);
        assert_dense_equal(&got, &d);
        dense_free(&got);

        /* new values of the same pattern come by the map (into an owned copy) */
        if (!borrow) {
            for (int64_t k = 0; k < A.entries; ++k) {
                const double doubled = 2 * view_value(&A, k);
                if (A.type == SADDLE_DOUBLE)
                    ((double *)(uintptr_t)A.values)[k] = doubled;
                else
                    ((float *)(uintptr_t)A.values)[k] = (float)doubled;
            }
            sd_csr_take_values(&csr, &A, map);
            got = dense_of_csr(&csr);
            for (int k = 0; k < d.n * d.n; ++k) got.a[k] /= 2;
            assert_dense_equal(&got, &d);
            dense_free(&got);
        }
        sd_free(&c, map);
        sd_csr_free(&c, &csr);
        assert_int_equal(c.bytes, 0);
        view_free(&A);
        dense_free(&d);
    }
}

static void arrays_in_the_librarys_form_are_borrowed(void **state)
{
    (void)state;
    const int32_t ptr[] = {0, 2, 3}, ind[] = {0, 1, 1};
    const double val[] = {1, 2, 3};
    const saddle_matrix A = saddle_symmetric(2, ptr, ind, val);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr csr;
    assert_int_equal(sd_csr_from_view(&c, &A, true, &csr, NULL), SADDLE_OK);
    assert_ptr_equal(csr.ind, ind);
    assert_ptr_equal(csr.val, val);
    sd_csr_free(&c, &csr);
    assert_int_equal(c.bytes, 0);
}

static void a_pattern_has_no_values(void **state)
{
    (void)state;
    rng r = rng_start("patterns");
    for (int round = 0; round < 300; ++round) {
        dense d = dense_random(&r, 1 + rng_below(&r, 6), 0.5, true);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, true)), pattern = A;
        pattern.values = NULL;
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr csr, full;
        assert_int_equal(sd_csr_from_view(&c, &pattern, false, &csr, NULL), SADDLE_OK);
        assert_null(csr.val);
        assert_form(&csr);
        if (csr.half) {
            assert_int_equal(sd_csr_expand(&c, &csr, &full), SADDLE_OK);
            assert_null(full.val);
            assert_form(&full);
            sd_csr_free(&c, &full);
        } else {
            bool same, value;
            assert_int_equal(sd_csr_symmetry(&c, &csr, &same, &value, NULL, NULL), SADDLE_OK);
            assert_true(same);
        }
        sd_csr_free(&c, &csr);
        view_free(&A);
        dense_free(&d);
    }
}

static void expanding_a_half_gives_all_entries(void **state)
{
    (void)state;
    rng r = rng_start("expand");
    for (int round = 0; round < ROUNDS; ++round) {
        dense d = dense_random(&r, 1 + rng_below(&r, 9), fabs(rng_unit(&r)), true);
        view_style style = rng_style(&r, true);
        style.shape = rng_below(&r, 2) ? SADDLE_LOWER : SADDLE_UPPER;
        saddle_matrix A = view_make(&r, &d, style);
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr half, full;
        assert_int_equal(sd_csr_from_view(&c, &A, true, &half, NULL), SADDLE_OK);
        assert_int_equal(sd_csr_expand(&c, &half, &full), SADDLE_OK);
        assert_false(full.half);
        dense got = dense_of_csr(&full);
        assert_dense_equal(&got, &d);
        dense_free(&got);
        sd_csr_free(&c, &half);
        sd_csr_free(&c, &full);
        assert_int_equal(c.bytes, 0);
        view_free(&A);
        dense_free(&d);
    }
}

static void take_csr(sd_context *c, const dense *d, sd_csr *csr)
{
    saddle_matrix A = view_plain(d, SADDLE_GENERAL);
    assert_int_equal(sd_csr_from_view(c, &A, false, csr, NULL), SADDLE_OK);
    view_free(&A);
}

/* One value changed, one entry taken away, or nothing: the test must see which, and name a culprit. */
static void symmetry_is_found_and_its_violation_named(void **state)
{
    (void)state;
    rng r = rng_start("symmetry");
    for (int round = 0; round < 2 * ROUNDS; ++round) {
        const int n = 2 + rng_below(&r, 7), faults = rng_below(&r, 4);
        dense d = dense_random(&r, n, fabs(rng_unit(&r)), true);
        for (int f = 0; f < faults; ++f) {
            const int i = rng_below(&r, n), j = rng_below(&r, n);
            if (rng_below(&r, 2)) {
                if (d.there[i * n + j]) d.a[i * n + j] += 1;
            } else {
                d.there[i * n + j] = false;
                d.a[i * n + j] = 0;
            }
        }
        bool pattern = true, value = true;
        for (int k = 0; k < n * n; ++k) {
            const int mirror = k % n * n + k / n;
            pattern = pattern && d.there[k] == d.there[mirror];
            value = value && d.there[k] == d.there[mirror] && d.a[k] == d.a[mirror];
        }
        sd_context c;
        sd_context_init(&c, NULL, 0);
        sd_csr csr;
        take_csr(&c, &d, &csr);
        bool got_pattern, got_value;
        int32_t i = -2, j = -2;
        assert_int_equal(sd_csr_symmetry(&c, &csr, &got_pattern, &got_value, &i, &j), SADDLE_OK);
        assert_int_equal(got_pattern, pattern);
        assert_int_equal(got_value, value);
        if (!value) {
            assert_in_range(i, 0, n - 1);
            assert_in_range(j, 0, n - 1);
            assert_true(d.there[i * n + j]);
            if (d.there[j * n + i] && d.a[i * n + j] == d.a[j * n + i])
                fail_msg("entry (%d, %d) is named, and its mirror image is there and equal", i, j);
        }
        assert_int_equal(sd_require_symmetric(&c, &csr), value ? SADDLE_OK : SADDLE_BAD_MATRIX);
        if (!value) assert_contains(c.message, d.there[j * n + i] ? "differs from" : "only one is stored");
        sd_csr_free(&c, &csr);
        assert_int_equal(c.bytes, 0);
        dense_free(&d);
    }
}

/* Row 2 has (2,0), whose mirror is missing, before (2,1), which is sound: (2,0) is to be named. */
static void the_entry_without_a_mirror_is_named_and_not_a_later_one(void **state)
{
    (void)state;
    dense d = dense_from(3, (double[]){1, 0, 0, 0, 1, 5, 7, 5, 1});
    sd_context c;
    sd_context_init(&c, NULL, 0);
    sd_csr csr;
    take_csr(&c, &d, &csr);
    bool pattern, value;
    int32_t i, j;
    assert_int_equal(sd_csr_symmetry(&c, &csr, &pattern, &value, &i, &j), SADDLE_OK);
    assert_false(pattern);
    assert_int_equal(i, 2);
    assert_int_equal(j, 0);
    sd_csr_free(&c, &csr);
    dense_free(&d);
}

static void fingerprints_tell_patterns_apart_and_not_values(void **state)
{
    (void)state;
    rng r = rng_start("fingerprints");
    for (int round = 0; round < 1000; ++round) {
        dense d = dense_random(&r, 2 + rng_below(&r, 6), 0.5, true);
        view_style style = rng_style(&r, true);
        style.duplicated = style.shuffled = false;
        saddle_matrix A = view_make(&r, &d, style);
        const uint64_t print = sd_view_fingerprint(&A);
        dense other = dense_copy(&d);
        for (int k = 0; k < d.n * d.n; ++k) other.a[k] *= 2;
        view_style elsewhere = style;
        elsewhere.base = 1 - style.base;
        elsewhere.pointer_bits = 96 - style.pointer_bits;
        elsewhere.type = (saddle_type)(1 - style.type);
        saddle_matrix B = view_make(&r, &other, elsewhere);
        assert_true(sd_view_fingerprint(&B) == print);
        view_free(&B);
        const int i = rng_below(&r, d.n), j = rng_below(&r, d.n);
        other.there[i * d.n + j] = other.there[j * d.n + i] = !d.there[i * d.n + j];
        B = view_make(&r, &other, style);
        assert_true(sd_view_fingerprint(&B) != print);
        view_free(&B);
        view_free(&A);
        dense_free(&other);
        dense_free(&d);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("failing allocations");
    for (int round = 0; round < 20; ++round) {
        dense d = dense_random(&r, 5, 0.6, true);
        saddle_matrix A = view_make(&r, &d, rng_style(&r, true));
        for (int64_t k = 1;; ++k) {
            failing_allocator f = {.fail_at = k};
            const saddle_hooks hooks = failing_hooks(&f);
            sd_context c;
            sd_context_init(&c, &hooks, 0);
            sd_csr csr = {0}, full = {0};
            sd_map *map = NULL;
            saddle_status status = sd_csr_from_view(&c, &A, false, &csr, &map);
            if (!status && csr.half) status = sd_csr_expand(&c, &csr, &full);
            if (!status && !csr.half) status = sd_require_symmetric(&c, &csr);
            sd_csr_free(&c, &csr);
            sd_csr_free(&c, &full);
            sd_free(&c, map);
            assert_int_equal(f.live, 0);
            assert_int_equal(c.bytes, 0);
            assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
            if (!f.failed) break;
        }
        view_free(&A);
        dense_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_becomes_the_matrix_it_shows),
        cmocka_unit_test(arrays_in_the_librarys_form_are_borrowed),
        cmocka_unit_test(a_pattern_has_no_values),
        cmocka_unit_test(expanding_a_half_gives_all_entries),
        cmocka_unit_test(symmetry_is_found_and_its_violation_named),
        cmocka_unit_test(the_entry_without_a_mirror_is_named_and_not_a_later_one),
        cmocka_unit_test(fingerprints_tell_patterns_apart_and_not_values),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
