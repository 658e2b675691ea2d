/*
 * saddle_get_l: L with what saddle_get_pivots and saddle_get_scaling give is S A S = P' L D L' P, whether the
 * factors are fronts or columns, with 2x2 pivots, delays, zero pivots and without.
 *
 * With SADDLE_TEST_CUDA=1 the factors are on a GPU.
 */
#include "factoring.h"

#include "failing_allocator.h"

static const char *const LISTS[] = {"simplicial=off,device=cpu",
                                    "simplicial=on,device=cpu",
                                    "simplicial=off,device=reference",
                                    "simplicial=on,device=reference",
                                    "simplicial=off,device=cpu,threads=2",
                                    "simplicial=off,order=natural,scaling=none,pairs=off,device=cpu",
                                    "simplicial=off,factorization=static,device=cpu",
                                    "simplicial=off,precision=mixed,device=cpu"};
static const char *const GPU[] = {"device=cuda", "device=cuda,presolve=off", "device=cuda,presolve=whole",
                                  "device=cuda,precision=mixed",
                                  "device=cuda,order=natural,scaling=none,pairs=off"};

static bool is_on_gpu(void)
{
    return getenv("SADDLE_TEST_CUDA") != NULL;
}

static int lists(void)
{
    return is_on_gpu() ? (int)(sizeof GPU / sizeof *GPU) : (int)(sizeof LISTS / sizeof *LISTS);
}

static const char *list(int k)
{
    return is_on_gpu() ? GPU[k] : LISTS[k];
}

typedef struct lower {
    int64_t *ptr;
    int32_t *ind;
    double *val;
} lower;

static lower get_l(const saddle_solver *s, int n)
{
    lower l = {.ptr = test_alloc((size_t)n + 1, sizeof(int64_t))};
    assert_int_equal(saddle_get_l(s, l.ptr, NULL, NULL), SADDLE_OK);
    const int64_t count = l.ptr[n];
    l.ind = test_alloc((size_t)count, sizeof *l.ind);
    l.val = test_alloc((size_t)count, sizeof *l.val);
    assert_int_equal(saddle_get_l(s, l.ptr, l.ind, l.val), SADDLE_OK);
    assert_int_equal(l.ptr[n], count);
    assert_int_equal(l.ptr[0], 0);
    for (int j = 0; j < n; ++j) {
        assert_true(l.ptr[j + 1] >= l.ptr[j]);
        for (int64_t e = l.ptr[j]; e < l.ptr[j + 1]; ++e) {
            assert_true(l.ind[e] > (e > l.ptr[j] ? l.ind[e - 1] : j) && l.ind[e] < n);
            assert_true(l.val[e] != 0);
        }
    }
    return l;
}

static void lower_free(lower *l)
{
    free(l->ptr);
    free(l->ind);
    free(l->val);
}

/* The largest entry of P S A S P' - L D L', relative to the largest of L D L'. */
static double distance(const saddle_solver *s, const dense *a)
{
    const int n = a->n;
    const size_t square = (size_t)n * (size_t)n;
    lower l = get_l(s, n);
    double *full = test_alloc(square, sizeof *full), *scale = test_alloc((size_t)n, sizeof *scale);
    double *d = test_alloc(2 * (size_t)n, sizeof *d), *ld = test_alloc(square, sizeof *ld);
    int32_t *order = test_alloc((size_t)n, sizeof *order);
    assert_int_equal(saddle_get_pivots(s, order, d), SADDLE_OK);
    assert_int_equal(saddle_get_scaling(s, scale), SADDLE_OK);
    for (int j = 0; j < n; ++j) {
        full[j * n + j] = 1;
        for (int64_t e = l.ptr[j]; e < l.ptr[j + 1]; ++e) full[j * n + l.ind[e]] = l.val[e];
        if (d[2 * j + 1] != 0) assert_true(full[j * n + j + 1] == 0); /* it is D's */
    }
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            ld[j * n + i] = full[j * n + i] * d[2 * j];
            if (d[2 * j + 1] != 0) ld[j * n + i] += full[(j + 1) * n + i] * d[2 * j + 1];
            if (j > 0 && d[2 * j - 1] != 0) ld[j * n + i] += full[(j - 1) * n + i] * d[2 * j - 1];
        }
    double worst = 0, size = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += ld[k * n + i] * full[k * n + j];
            const double is = scale[order[i]] * dense_at(a, order[i], order[j]) * scale[order[j]];
            worst = fmax(worst, fabs(sum - is));
            size = fmax(size, fabs(sum));
        }
    lower_free(&l);
    free(full);
    free(scale);
    free(d);
    free(ld);
    free(order);
    return size > 0 ? worst / size : worst;
}

static void factors_multiply_to_the_matrix(void **state)
{
    (void)state;
    rng r = rng_start("l d l'");
    int64_t delayed = 0, two_by_two = 0;
    for (int round = 0; round < 5 * lists(); ++round) {
        const int n = 3 + rng_below(&r, 70);
        const char *with = list(round % lists());
        dense a = round % 3 == 0   ? indefinite_problem(&r, n)
                  : round % 3 == 1 ? kkt_problem(&r, n, n / 3, 0)
                                   : symmetric_problem(&r, n, true);
        if (strstr(with, "static")) {
            dense_free(&a);
            a = symmetric_problem(&r, n, false);
        }
        saddle_solver *s = factor_dense(&a, SADDLE_LOWER, with);
        const saddle_info info = info_of(s);
        delayed += info.delayed;
        two_by_two += info.two_by_two;
        const double apart = distance(s, &a), most = strstr(with, "mixed") ? 1e-4 : 1e-11;
        if (!(apart < most)) fail_msg("round %d, %s: %g", round, with, apart);
        saddle_destroy(&s);
        dense_free(&a);
    }
    assert_true(delayed > 0 && two_by_two > 0);
}

/* The zeros of the first rows delay what is eliminated first, from front to front. */
static void delayed_columns_are_where_they_ended(void **state)
{
    (void)state;
    rng r = rng_start("delays");
    int64_t delayed = 0;
    for (int round = 0; round < 10; ++round) {
        const int n = 30 + rng_below(&r, 30), m = n / 3;
        dense a = kkt_problem(&r, n, m, 0), turned = dense_new(n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                if (a.there[i * n + j]) dense_set(&turned, n - 1 - i, n - 1 - j, dense_at(&a, i, j));
        char with[128];
        snprintf(with, sizeof with, "%s,simplicial=off,order=natural,scaling=none,pairs=off",
                 is_on_gpu() ? "device=cuda" : "device=cpu");
        saddle_solver *s = factor_dense(&turned, SADDLE_LOWER, with);
        delayed += info_of(s).delayed;
        const double apart = distance(s, &turned);
        if (!(apart < 1e-11)) fail_msg("round %d: %g", round, apart);
        saddle_destroy(&s);
        dense_free(&a);
        dense_free(&turned);
    }
    assert_true(delayed > 0);
}

static void zero_pivots_have_empty_columns(void **state)
{
    (void)state;
    rng r = rng_start("singular");
    for (int round = 0; round < 2 * lists(); ++round) {
        const char *with = list(round % lists());
        dense a = kkt_problem(&r, 40, 12, 2);
        if (strstr(with, "static") || strstr(with, "mixed")) {
            dense_free(&a);
            continue;
        }
        saddle_solver *s = factor_dense(&a, SADDLE_LOWER, with);
        assert_int_equal(info_of(s).inertia_zero, 2);
        const double apart = distance(s, &a);
        if (!(apart < 1e-11)) fail_msg("round %d, %s: %g", round, with, apart);
        saddle_destroy(&s);
        dense_free(&a);
    }
}

static void either_array_may_be_left_out(void **state)
{
    (void)state;
    rng r = rng_start("either");
    dense a = indefinite_problem(&r, 30);
    saddle_solver *s = factor_dense(&a, SADDLE_LOWER, list(0));
    lower l = get_l(s, 30);
    int64_t ptr[31];
    int32_t *ind = test_alloc((size_t)l.ptr[30], sizeof *ind);
    double *val = test_alloc((size_t)l.ptr[30], sizeof *val);
    assert_int_equal(saddle_get_l(s, ptr, ind, NULL), SADDLE_OK);
    assert_int_equal(saddle_get_l(s, ptr, NULL, val), SADDLE_OK);
    assert_memory_equal(ptr, l.ptr, sizeof ptr);
    assert_memory_equal(ind, l.ind, (size_t)l.ptr[30] * sizeof *ind);
    assert_memory_equal(val, l.val, (size_t)l.ptr[30] * sizeof *val);
    free(ind);
    free(val);
    lower_free(&l);
    saddle_destroy(&s);
    dense_free(&a);
}

static void what_has_no_l_is_refused(void **state)
{
    (void)state;
    rng r = rng_start("refused");
    int64_t ptr[11];
    saddle_solver *s = NULL;
    dense a = unsymmetric_problem(&r, 10), b = symmetric_problem(&r, 10, true), none = dense_new(0);
    assert_int_equal(saddle_get_l(NULL, ptr, NULL, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_create(&s, NULL, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_get_l(s, ptr, NULL, NULL), SADDLE_WRONG_ORDER);
    saddle_destroy(&s);
    s = factor_dense(&a, SADDLE_GENERAL, list(0));
    assert_int_equal(saddle_get_l(s, ptr, NULL, NULL), SADDLE_WRONG_ORDER);
    saddle_destroy(&s);
    s = factor_dense(&b, SADDLE_LOWER, "method=diagonal");
    assert_int_equal(saddle_get_l(s, ptr, NULL, NULL), SADDLE_WRONG_ORDER);
    saddle_destroy(&s);
    s = factor_dense(&b, SADDLE_LOWER, list(0));
    assert_int_equal(saddle_get_l(s, NULL, NULL, NULL), SADDLE_BAD_ARGUMENT);
    saddle_destroy(&s);
    s = factor_dense(&none, SADDLE_LOWER, list(0));
    assert_int_equal(saddle_get_l(s, ptr, NULL, NULL), SADDLE_OK);
    assert_int_equal(ptr[0], 0);
    saddle_destroy(&s);
    dense_free(&a);
    dense_free(&b);
    dense_free(&none);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("memory");
    dense a = kkt_problem(&r, 30, 10, 0);
    failing_allocator f = {0};
    const saddle_hooks hooks = failing_hooks(&f);
    saddle_status status;
    int64_t ptr[31];
    saddle_solver *s = factor_hooked(&a, SADDLE_LOWER, "simplicial=off,device=cpu", &hooks, &status);
    assert_int_equal(status, SADDLE_OK);
    const int64_t live = f.live;
    for (int64_t k = 1;; ++k) {
        f = (failing_allocator){.fail_at = k, .live = live};
        status = saddle_get_l(s, ptr, NULL, NULL);
        assert_int_equal(f.live, live);
        if (!f.failed) break;
        assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
    }
    assert_int_equal(status, SADDLE_OK);
    saddle_destroy(&s);
    dense_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_multiply_to_the_matrix),
        cmocka_unit_test(delayed_columns_are_where_they_ended),
        cmocka_unit_test(zero_pivots_have_empty_columns),
        cmocka_unit_test(either_array_may_be_left_out),
        cmocka_unit_test(what_has_no_l_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
