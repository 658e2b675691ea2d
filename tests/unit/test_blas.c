/* The BLAS: products as documented, whatever thread they are called from; its thread count held at 1 between
 * enter and leave, and put back by the last one out. */
#define _GNU_SOURCE
#include "unit/helpers.h"

#include "backend/blas.h"

#include <dlfcn.h>

static void test_product_in_both_precisions(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    enum { M = 7, N = 5, K = 4, LD = 9 };
    double a[LD * K], b[LD * K], c[LD * N];
    float af[LD * K], bf[LD * K], cf[LD * N];
    for (int k = 0; k < LD * K; ++k) {
        af[k] = (float)(a[k] = rng_sixteenth(&r));
        bf[k] = (float)(b[k] = rng_sixteenth(&r));
    }
    for (int k = 0; k < LD * N; ++k) cf[k] = (float)(c[k] = k);
    sd_blas_enter();
    sd_gemm_double(M, N, K, -1, a, LD, b, LD, 1, c, LD);
    sd_gemm_single(M, N, K, -1, af, LD, bf, LD, 1, cf, LD);
    sd_blas_leave();
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < LD; ++i) {
            double expected = j * LD + i;
            for (int k = 0; k < K && i < M; ++k) expected -= a[k * LD + i] * b[k * LD + j];
            assert_true(c[j * LD + i] == expected);
            assert_true(fabs((double)cf[j * LD + i] - expected) <= 1e-6 * 64 * 64 * K);
        }
}

static void test_products_from_several_threads(void **state)
{
    (void)state;
    enum { N = 150, RUNS = 40 };
    double *a = test_alloc(N * N, sizeof *a), *expected = test_alloc(N * N, sizeof *expected);
    rng r = rng_start(__func__);
    for (int k = 0; k < N * N; ++k) a[k] = rng_unit(&r);
    sd_blas_enter();
    sd_gemm_double(N, N, N, 1, a, N, a, N, 0, expected, N);
    int wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
    for (int k = 0; k < RUNS; ++k) {
        double *c = calloc(N * N, sizeof *c);
        if (c) sd_gemm_double(N, N, N, 1, a, N, a, N, 0, c, N);
        wrong += !c || memcmp(c, expected, N * N * sizeof *c) != 0;
        free(c);
    }
    sd_blas_leave();
    assert_int_equal(wrong, 0);
    free(a);
    free(expected);
}

static void test_thread_count_is_held_and_put_back(void **state)
{
    (void)state;
    int (*get)(void) = NULL;
    void (*set)(int) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    memcpy(&get, &symbol, sizeof symbol);
    symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    memcpy(&set, &symbol, sizeof symbol);
    if (!get || !set || sd_blas_is_serial()) skip();
    const double one = 1;
    double product = 0;
    set(2);
    const int before = get();
    sd_blas_enter();
    sd_gemm_double(1, 1, 1, 1, &one, 1, &one, 1, 0, &product, 1);
    assert_int_equal(get(), 1);
    sd_blas_enter();
    sd_blas_leave();
    assert_int_equal(get(), 1);
    sd_blas_leave();
    assert_int_equal(get(), before);
}

/* Nothing is set where no product is made. */
static void test_thread_count_is_left_alone_without_products(void **state)
{
    (void)state;
    int (*get)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    memcpy(&get, &symbol, sizeof symbol);
    if (!get || sd_blas_is_serial()) skip();
    const int before = get();
    sd_blas_enter();
    assert_int_equal(get(), before);
    sd_blas_leave();
    assert_int_equal(get(), before);
}

static void test_name_is_cut(void **state)
{
    (void)state;
    char text[100] = "", cut[4] = "";
    sd_blas_name(text, sizeof text);
    sd_blas_name(cut, sizeof cut);
    assert_true(strlen(text) > 3);
    assert_int_equal(strlen(cut), 3);
    assert_memory_equal(cut, text, 3);
}

/* Names of cores are those of OpenBLAS. What it does not know how to name, we cannot better. */
static void test_core_is_bettered_only_by_more_instructions(void **state)
{
    (void)state;
    assert_string_equal(sd_blas_better_core("Prescott", "SkylakeX"), "SkylakeX");
    assert_string_equal(sd_blas_better_core("Prescott", "Haswell"), "Haswell");
    assert_string_equal(sd_blas_better_core("Zen", "SkylakeX"), "SkylakeX");
    assert_null(sd_blas_better_core("Zen", "Haswell"));
    assert_null(sd_blas_better_core("Cooperlake", "SkylakeX"));
    assert_null(sd_blas_better_core("Cooperlake", "Haswell"));
    assert_null(sd_blas_better_core("Prescott", NULL));
    assert_null(sd_blas_better_core(NULL, "SkylakeX"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product_in_both_precisions),
        cmocka_unit_test(test_products_from_several_threads),
        cmocka_unit_test(test_thread_count_is_held_and_put_back),
        cmocka_unit_test(test_thread_count_is_left_alone_without_products),
        cmocka_unit_test(test_name_is_cut),
        cmocka_unit_test(test_core_is_bettered_only_by_more_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
