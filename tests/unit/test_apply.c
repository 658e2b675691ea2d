/*
 * saddle_apply: x = M^-1 b once, for every method and backend. M^-1 is made explicit, a column for each unit
 * vector, and then asked whether it is what its method says.
 *
 * With SADDLE_TEST_CUDA=1 all of it is done on a GPU instead.
 */
#include "factoring.h"

#include "failing_allocator.h"

#include <pthread.h>

typedef enum kind { SYMMETRIC, DEFINITE, GENERAL } kind;

/* Options of a method, and the matrices that it is for. */
static const struct {
    const char *list;
    kind of;
} METHODS[] = {
    {"method=none", GENERAL},
    {"method=diagonal", GENERAL},
    {"method=diagonal,precision=mixed", SYMMETRIC},
    {"method=direct", SYMMETRIC},
    {"method=direct,simplicial=on", SYMMETRIC},
    {"method=direct,simplicial=off,precision=mixed", SYMMETRIC},
    {"method=direct", GENERAL},
    {"method=bjacobi", SYMMETRIC},
    {"method=bjacobi", DEFINITE},
    {"method=bjacobi,block_kernel=jordan,block_size=5", GENERAL},
    {"method=bjacobi,block_kernel=lu,block_size=7", GENERAL},
    {"method=bjacobi,block_kernel=huard", GENERAL},
    {"method=bjacobi,block_kernel=huard-t,block_size=16", GENERAL},
    {"method=bjacobi,block_kernel=huard-t,block_precision=adaptive", GENERAL},
    {"method=bjacobi,block_kernel=jordan", SYMMETRIC},
    {"method=ldlt", SYMMETRIC},
    {"method=ldlt,fill=none,trisolve=block-jacobi,trisolve_sweeps=3", SYMMETRIC},
    {"method=ldlt,fill=none,trisolve=jacobi,trisolve_sweeps=4", SYMMETRIC},
    {"method=jacobi", SYMMETRIC},
    {"method=ic", DEFINITE},
    {"method=ic,level=2,trisolve=jacobi,trisolve_sweeps=3", DEFINITE},
    {"method=ilu", GENERAL},
    {"method=ilu,fill=tau:0.01", GENERAL},
    {"method=ilu,level=1,trisolve=jacobi,trisolve_sweeps=3", GENERAL},
    {"method=ilu,trisolve=block-jacobi,trisolve_sweeps=2,block_size=4", GENERAL},
    {"method=ilu,trisolve=jacobi,trisolve_sweeps=10000", GENERAL}, /* of which few are made */
    {"method=ilu,trisolve=block-jacobi,trisolve_sweeps=10000,block_size=4", GENERAL},
    {"method=ilu,setup=sweeps", GENERAL},
};
enum { METHODS_ALL = sizeof METHODS / sizeof *METHODS };

static const char *const HOST[] = {"device=reference", "device=cpu", "device=cpu,threads=2"};
static const char *const GPU[] = {"device=cuda"};

static bool is_on_gpu(void)
{
    return getenv("SADDLE_TEST_CUDA") != NULL;
}

static int backends(void)
{
    return is_on_gpu() ? 1 : 3;
}

static const char *backend(int k)
{
    return is_on_gpu() ? GPU[k] : HOST[k];
}

static dense problem_of(rng *r, kind of, int n)
{
    if (of == GENERAL) return unsymmetric_problem(r, n);
    return symmetric_problem(r, n, of == DEFINITE);
}

static saddle_solver *factor_listed(const dense *d, kind of, const char *list, const char *more)
{
    char all[256];
    snprintf(all, sizeof all, "%s,%s", list, more);
    return factor_dense(d, of == GENERAL ? SADDLE_GENERAL : SADDLE_LOWER, all);
}

static void apply(const saddle_solver *s, int transposed, int64_t nrhs, const double *b, int64_t ldb,
                  double *x, int64_t ldx)
{
    char message[SADDLE_MESSAGE_SIZE];
    if (saddle_apply(s, transposed, nrhs, b, ldb, x, ldx, message)) fail_msg("%s", message);
}

/* M^-1, or M'^-1, column by column. */
static double *explicit_inverse(const saddle_solver *s, int transposed, int n)
{
    double *unit = test_alloc((size_t)n * (size_t)n, sizeof *unit);
    double *x = test_alloc((size_t)n * (size_t)n, sizeof *x);
    for (int k = 0; k < n; ++k) unit[k * n + k] = 1;
    apply(s, transposed, n, unit, n, x, n);
    free(unit);
    return x;
}

static double largest_of(const double *x, int count)
{
    double largest = 0;
    for (int k = 0; k < count; ++k) largest = fmax(largest, fabs(x[k]));
    return largest;
}

static double tolerance_of(const char *list)
{
    return strstr(list, "mixed") || strstr(list, "adaptive") || strstr(list, "single") ? 1e-4 : 1e-12;
}

/* x = M^-1 b for random b is what the columns of M^-1 say: M is one matrix. */
static void assert_linear(rng *r, const saddle_solver *s, int n, const double *inverse, const char *what,
                          double tolerance)
{
    double *b = test_alloc((size_t)n, sizeof *b), *x = test_alloc((size_t)n, sizeof *x);
    for (int k = 0; k < n; ++k) b[k] = rng_unit(r) * 0x1p60;
    apply(s, 0, 1, b, n, x, n);
    const double largest = largest_of(x, n);
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += inverse[j * n + i] * b[j];
        if (!(fabs(sum - x[i]) <= 100 * tolerance * largest)) fail_msg("%s: %g is not %g", what, x[i], sum);
    }
    free(b);
    free(x);
}

static void every_method_applies_its_matrix_and_its_transpose(void **state)
{
    (void)state;
    rng r = rng_start("apply");
    for (int m = 0; m < METHODS_ALL; ++m)
        for (int k = 0; k < backends(); ++k) {
            const int n = 20 + rng_below(&r, 20);
            dense d = problem_of(&r, METHODS[m].of, n);
            const double tolerance = tolerance_of(METHODS[m].list);
            saddle_solver *s = factor_listed(&d, METHODS[m].of, METHODS[m].list, backend(k));
            double *inverse = explicit_inverse(s, 0, n), *turned = explicit_inverse(s, 1, n);
            const double largest = largest_of(inverse, n * n);
            assert_true(largest > 0);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    if (!(fabs(inverse[j * n + i] - turned[i * n + j]) <= tolerance * largest))
                        fail_msg("%s %s: entry %d, %d: %g, transposed %g", METHODS[m].list, backend(k), i, j,
                                 inverse[j * n + i], turned[i * n + j]);
            assert_linear(&r, s, n, inverse, METHODS[m].list, tolerance);
            free(inverse);
            free(turned);
            saddle_destroy(&s);
            dense_free(&d);
        }
}

static void general_methods_are_not_symmetric_here(void **state)
{
    (void)state;
    rng r = rng_start("unsymmetric");
    static const char *const lists[] = {"method=direct", "method=ilu", "method=bjacobi"};
    for (int m = 0; m < 3; ++m) { /* or the test above would show nothing */
        dense d = unsymmetric_problem(&r, 30);
        saddle_solver *s = factor_listed(&d, GENERAL, lists[m], backend(0));
        double *inverse = explicit_inverse(s, 0, 30);
        double most = 0;
        for (int i = 0; i < 30; ++i)
            for (int j = 0; j < i; ++j) most = fmax(most, fabs(inverse[j * 30 + i] - inverse[i * 30 + j]));
        assert_true(most > 1e-3);
        free(inverse);
        saddle_destroy(&s);
        dense_free(&d);
    }
}

static void the_direct_solver_applies_the_inverse(void **state)
{
    (void)state;
    rng r = rng_start("inverse");
    for (int round = 0; round < 12; ++round) {
        const int n = 10 + rng_below(&r, 40);
        const kind of = round % 3;
        dense d = problem_of(&r, of, n), t = dense_new(n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) t.a[i * n + j] = dense_at(&d, j, i);
        saddle_solver *s = factor_listed(&d, of, "method=direct", backend(round % backends()));
        double b[64], x[64];
        for (int k = 0; k < n; ++k) b[k] = rng_unit(&r);
        apply(s, 0, 1, b, n, x, n);
        assert_true(relative_residual_of(&d, b, x) < 1e-12);
        apply(s, 7, 1, b, n, x, n);
        assert_true(relative_residual_of(&t, b, x) < 1e-12);
        saddle_destroy(&s);
        dense_free(&d);
        dense_free(&t);
    }
}

static void none_and_diagonal_are_what_they_say(void **state)
{
    (void)state;
    rng r = rng_start("diagonal");
    for (int k = 0; k < backends(); ++k) {
        dense d = unsymmetric_problem(&r, 20);
        double b[20], x[20];
        for (int i = 0; i < 20; ++i) b[i] = rng_sixteenth(&r);
        saddle_solver *s = factor_listed(&d, GENERAL, "method=none", backend(k));
        apply(s, 1, 1, b, 20, x, 20);
        for (int i = 0; i < 20; ++i) assert_true(fabs(x[i] - b[i]) <= 1e-15 * fabs(b[i]));
        saddle_destroy(&s);
        s = factor_listed(&d, GENERAL, "method=diagonal", backend(k));
        apply(s, 1, 1, b, 20, x, 20);
        for (int i = 0; i < 20; ++i)
            assert_true(fabs(x[i] - b[i] / dense_at(&d, i, i)) <= 1e-14 * fabs(x[i]));
        saddle_destroy(&s);
        dense_free(&d);
    }
}

static void columns_side_by_side_and_in_place_are_what_they_are_alone(void **state)
{
    (void)state;
    rng r = rng_start("columns");
    for (int m = 0; m < METHODS_ALL; ++m)
        for (int transposed = 0; transposed < 2; ++transposed) {
            enum { MANY = 40 };
            const int n = 12 + rng_below(&r, 20), ld = n + 2, size = ld * MANY;
            dense d = problem_of(&r, METHODS[m].of, n);
            saddle_solver *s = factor_listed(&d, METHODS[m].of, METHODS[m].list, backend(m % backends()));
            double *b = test_alloc((size_t)size, sizeof *b), *x = test_alloc((size_t)size, sizeof *x);
            double *one = test_alloc((size_t)n, sizeof *one);
            for (int k = 0; k < size; ++k) b[k] = x[k] = rng_unit(&r);
            apply(s, transposed, MANY, x, ld, x, ld); /* in place */
            for (int k = 0; k < MANY; ++k) {
                apply(s, transposed, 1, b + k * ld, n, one, n);
                const double most = tolerance_of(METHODS[m].list) * largest_of(one, n);
                for (int i = 0; i < n; ++i)
                    if (!(fabs(one[i] - x[k * ld + i]) <= most)) fail_msg("%s", METHODS[m].list);
                for (int i = n; i < ld; ++i) assert_true(x[k * ld + i] == b[k * ld + i]); /* not ours */
            }
            free(b);
            free(x);
            free(one);
            saddle_destroy(&s);
            dense_free(&d);
        }
}

/* Triangles are solved with for several columns at once, and each has the bits that it has alone. On a GPU
 * sweeps over one column are products with the pieces of long rows, over several they are not: they agree to
 * rounding. */
static void columns_of_triangles_have_the_bits_that_they_have_alone(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        kind of;
    } ways[] = {{"method=ic", DEFINITE},
                {"method=ic,level=1,trisolve=block-jacobi,trisolve_sweeps=3", DEFINITE},
                {"method=ic,trisolve=jacobi", DEFINITE}, /* as many sweeps as a column needs */
                {"method=ic,factor_precision=single", DEFINITE},
                {"method=ilu,trisolve=jacobi,trisolve_sweeps=4", GENERAL},
                {"method=ilu,level=1", GENERAL}};
    enum { N = 60, MANY = 19 }; /* two panels and part of a third */
    rng r = rng_start(__func__);
    for (int m = 0; m < 6 * backends(); ++m) {
        dense d = problem_of(&r, ways[m % 6].of, N);
        saddle_solver *s = factor_listed(&d, ways[m % 6].of, ways[m % 6].list, backend(m / 6));
        double b[N * MANY], x[N * MANY], one[N];
        for (int k = 0; k < N * MANY; ++k) b[k] = ldexp(rng_unit(&r), k / N);
        for (int transposed = 0; transposed < 2; ++transposed) {
            apply(s, transposed, MANY, b, N, x, N);
            for (int k = 0; k < MANY; ++k) {
                apply(s, transposed, 1, b + k * N, N, one, N);
                if (!is_on_gpu()) assert_memory_equal(one, x + k * N, sizeof one);
                const double most = tolerance_of(ways[m % 6].list) * largest_of(one, N);
                for (int i = 0; i < N; ++i) assert_true(fabs(one[i] - x[k * N + i]) <= most);
            }
        }
        saddle_destroy(&s);
        dense_free(&d);
    }
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    rng r = rng_start("threads");
    for (int m = 0; m < METHODS_ALL && !is_on_gpu(); ++m) {
        const int n = 60;
        dense d = problem_of(&r, METHODS[m].of, n);
        double *found[2];
        for (int k = 0; k < 2; ++k) {
            saddle_solver *s = factor_listed(&d, METHODS[m].of, METHODS[m].list, HOST[1 + k]);
            found[k] = explicit_inverse(s, 1, n);
            saddle_destroy(&s);
        }
        assert_memory_equal(found[0], found[1], (size_t)(n * n) * sizeof(double));
        free(found[0]);
        free(found[1]);
        dense_free(&d);
    }
}

static void a_changed_d_is_applied(void **state)
{
    (void)state;
    rng r = rng_start("set_d");
    const int n = 20;
    dense d = symmetric_problem(&r, n, true);
    saddle_solver *s = factor_listed(&d, SYMMETRIC, "method=direct", backend(0));
    double pivots[2 * 20], b[20], x[20], y[20];
    for (int k = 0; k < n; ++k) b[k] = rng_unit(&r);
    apply(s, 0, 1, b, n, x, n);
    assert_int_equal(saddle_get_pivots(s, NULL, pivots), SADDLE_OK);
    for (int k = 0; k < 2 * n; ++k) pivots[k] *= 2;
    assert_int_equal(saddle_set_d(s, pivots), SADDLE_OK);
    apply(s, 0, 1, b, n, y, n);
    for (int k = 0; k < n; ++k) assert_true(fabs(2 * y[k] - x[k]) <= 1e-13 * fabs(x[k]));
    saddle_destroy(&s);
    dense_free(&d);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    rng r = rng_start("wrong");
    dense d = symmetric_problem(&r, 6, true);
    char message[SADDLE_MESSAGE_SIZE];
    double b[12] = {1, 2, 3, 4, 5, 6}, x[12];
    saddle_solver *s = NULL;
    assert_int_equal(saddle_apply(NULL, 0, 1, b, 6, x, 6, message), SADDLE_BAD_ARGUMENT);
    assert_non_null(strstr(message, "the solver is NULL"));
    assert_int_equal(saddle_create(&s, NULL, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_apply(s, 0, 1, b, 6, x, 6, message), SADDLE_WRONG_ORDER);
    assert_non_null(strstr(message, "call saddle_factor first"));
    assert_int_equal(saddle_apply(s, 0, 1, b, 6, x, 6, NULL), SADDLE_WRONG_ORDER);
    saddle_destroy(&s);
    s = factor_listed(&d, SYMMETRIC, "method=diagonal", backend(0));
    assert_int_equal(saddle_apply(s, 0, -1, b, 6, x, 6, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_apply(s, 0, 1, b, 5, x, 6, message), SADDLE_BAD_ARGUMENT);
    assert_non_null(strstr(message, "ldb 5"));
    assert_int_equal(saddle_apply(s, 0, 1, b, 6, x, 5, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_apply(s, 0, 1, NULL, 6, x, 6, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_apply(s, 0, 1, b, 6, NULL, 6, NULL), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_apply(s, 0, 0, NULL, 6, NULL, 6, message), SADDLE_OK);
    assert_string_equal(message, "");
    b[3] = NAN;
    assert_int_equal(saddle_apply(s, 0, 1, b, 6, x, 6, message), SADDLE_BAD_VALUE);
    assert_non_null(strstr(message, "right-hand side 1"));
    for (int k = 0; k < 6; ++k) assert_true(x[k] == 0);
    saddle_destroy(&s);
    dense_free(&d);
}

static void what_overflows_becomes_zero(void **state)
{
    (void)state;
    dense d = dense_new(3);
    for (int k = 0; k < 3; ++k) dense_set(&d, k, k, 1e-200);
    char message[SADDLE_MESSAGE_SIZE];
    const double b[6] = {1, 2, 3, 1e300, 1, 1};
    static const char *const lists[] = {"method=direct", "method=diagonal", "method=ldlt"};
    for (int m = 0; m < 3; ++m) {
        double x[6];
        saddle_solver *s = factor_listed(&d, SYMMETRIC, lists[m], backend(0));
        assert_int_equal(saddle_apply(s, 0, 2, b, 3, x, 3, message), SADDLE_NOT_CONVERGED);
        assert_non_null(strstr(message, "solution 2"));
        for (int k = 0; k < 3; ++k) {
            assert_true(fabs(x[k] - b[k] / 1e-200) <= 1e-14 * x[k]);
            assert_true(x[3 + k] == 0);
        }
        saddle_destroy(&s);
    }
    dense_free(&d);
}

static void an_empty_matrix_is_applied(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS_ALL; ++m) {
        dense d = dense_new(0);
        saddle_solver *s = factor_listed(&d, METHODS[m].of, METHODS[m].list, backend(0));
        apply(s, 1, 3, NULL, 0, NULL, 0);
        saddle_destroy(&s);
        dense_free(&d);
    }
}

/* ---- two threads of the caller's ---- */

enum { SIDE = 40 };
typedef struct job {
    const saddle_solver *s;
    const double *b;
    double x[SIDE * 3];
    int transposed, failures;
} job;

static void *run_job(void *given)
{
    job *j = given;
    for (int round = 0; round < 5; ++round)
        j->failures += saddle_apply(j->s, j->transposed, 3, j->b, SIDE, j->x, SIDE, NULL) != SADDLE_OK;
    return NULL;
}

static void two_threads_apply_at_once(void **state)
{
    (void)state;
    rng r = rng_start("two threads");
    double b[SIDE * 3];
    for (int k = 0; k < SIDE * 3; ++k) b[k] = rng_unit(&r);
    for (int m = 0; m < METHODS_ALL; ++m) {
        dense d = problem_of(&r, METHODS[m].of, SIDE);
        saddle_solver *s = factor_listed(&d, METHODS[m].of, METHODS[m].list, backend(backends() - 1));
        job jobs[4];
        pthread_t thread[4];
        for (int k = 0; k < 4; ++k) jobs[k] = (job){.s = s, .b = b, .transposed = k % 2};
        for (int k = 0; k < 4; ++k) assert_int_equal(pthread_create(&thread[k], NULL, run_job, &jobs[k]), 0);
        for (int k = 0; k < 4; ++k) assert_int_equal(pthread_join(thread[k], NULL), 0);
        for (int k = 0; k < 4; ++k) {
            assert_int_equal(jobs[k].failures, 0);
            assert_memory_equal(jobs[k].x, jobs[k % 2].x, sizeof b);
        }
        saddle_destroy(&s);
        dense_free(&d);
    }
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rng r = rng_start("memory");
    const int n = 24;
    double b[24], x[24];
    for (int k = 0; k < n; ++k) b[k] = 1;
    for (int m = 0; m < METHODS_ALL && !is_on_gpu(); ++m)
        for (int transposed = 0; transposed < 2; ++transposed) {
            dense d = problem_of(&r, METHODS[m].of, n);
            failing_allocator f = {0};
            const saddle_hooks hooks = failing_hooks(&f);
            saddle_status status;
            saddle_solver *s = factor_hooked(&d, METHODS[m].of == GENERAL ? SADDLE_GENERAL : SADDLE_LOWER,
                                             METHODS[m].list, &hooks, &status);
            assert_int_equal(status, SADDLE_OK);
            const int64_t live = f.live;
            for (int64_t k = 1;; ++k) {
                f = (failing_allocator){.fail_at = k, .live = live};
                status = saddle_apply(s, transposed, 1, b, n, x, n, NULL);
                assert_int_equal(f.live, live);
                if (!f.failed) break;
                assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
                for (int i = 0; i < n; ++i) assert_true(x[i] == 0);
            }
            assert_int_equal(status, SADDLE_OK);
            saddle_destroy(&s);
            assert_int_equal(f.live, 0);
            dense_free(&d);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_applies_its_matrix_and_its_transpose),
        cmocka_unit_test(general_methods_are_not_symmetric_here),
        cmocka_unit_test(the_direct_solver_applies_the_inverse),
        cmocka_unit_test(none_and_diagonal_are_what_they_say),
        cmocka_unit_test(columns_side_by_side_and_in_place_are_what_they_are_alone),
        cmocka_unit_test(columns_of_triangles_have_the_bits_that_they_have_alone),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_changed_d_is_applied),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(what_overflows_becomes_zero),
        cmocka_unit_test(an_empty_matrix_is_applied),
        cmocka_unit_test(two_threads_apply_at_once),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
