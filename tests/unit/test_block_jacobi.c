/* Block-Jacobi through the solver: what M is, on which iterations, and what happens to blocks that are none.
 */
#include "solving.h"

#include "backend/batch_memory.h"
#include "bench/kernels/kernels.h"

static const char *const kernels[] = {"auto", "huard", "huard-t", "jordan", "lu", "ldlt", "llt"};
enum { KERNELS = sizeof kernels / sizeof kernels[0], FIRST_SYMMETRIC = 5 };
static const char *const devices[] = {"reference", "cpu"};

static saddle_info run(const dense *d, saddle_shape shape, const double *b, double *x, const char *format,
                       ...) __attribute__((format(printf, 5, 6)));

/* Solves with method bjacobi and options "name=text,...". */
static saddle_info run(const dense *d, saddle_shape shape, const double *b, double *x, const char *format,
                       ...)
{
    char options[300];
    int used = snprintf(options, sizeof options, "method=bjacobi,");
    va_list args;
    va_start(args, format);
    vsnprintf(options + used, sizeof options - (size_t)used, format, args);
    va_end(args);
    return solve_dense(d, shape, b, x, options);
}

static void random_vector(rng *r, int n, double *b)
{
    for (int i = 0; i < n; ++i) b[i] = rng_unit(r);
}

/* x = the solution of the diagonal block of rows first .. first + m of d, by elimination with row
 * interchanges. */
static void solve_block(const dense *d, int first, int m, const double *b, double *x)
{
    double a[32][33];
    assert_true(m <= 32);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) a[i][j] = dense_at(d, first + i, first + j);
        a[i][m] = b[first + i];
    }
    for (int k = 0; k < m; ++k) {
        int p = k;
        for (int i = k; i < m; ++i)
            if (fabs(a[i][k]) > fabs(a[p][k])) p = i;
        for (int j = 0; j <= m; ++j) {
            const double swap = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = swap;
        }
        for (int i = 0; i < m; ++i)
            for (int j = m; i != k && j >= k; --j) a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    for (int i = 0; i < m; ++i) x[first + i] = a[i][m] / a[i][i];
}

/* krylov none is M^-1 b: with blocks cut out of the natural order it can be computed by hand. */
static void m_is_the_block_diagonal(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    for (int n = 1; n <= 70; n += 23) {
        dense d[2] = {unsymmetric_problem(&r, n), symmetric_problem(&r, n, true)};
        double b[70], x[70], expected[70];
        random_vector(&r, n, b);
        for (int size = 1; size <= 32; size += size < 5 ? 1 : 9) {
            for (int k = 0; k < KERNELS; ++k) {
                const bool symmetric = k >= FIRST_SYMMETRIC;
                for (int device = 0; device < 2; ++device) {
                    run(&d[symmetric], symmetric ? SADDLE_LOWER : SADDLE_GENERAL, b, x,
                        "krylov=none,blocking=grid,order=natural,pairs=off,block_size=%d,block_kernel=%s,"
                        "device=%s",
                        size, kernels[k], devices[device]);
                    for (int first = 0; first < n; first += size)
                        solve_block(&d[symmetric], first, n - first < size ? n - first : size, b, expected);
                    for (int i = 0; i < n; ++i) assert_true(fabs(x[i] - expected[i]) <= 1e-12);
                }
            }
        }
        dense_free(&d[0]);
        dense_free(&d[1]);
    }
}

/* Every kernel, precision and way of blocking leads to the solution. */
static void every_kernel_precision_and_blocking_solves(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "single", "adaptive"};
    static const char *const blockings[] = {"auto", "grid", "supervariables", "priority", "metis", "none"};
    enum { N = 150 };
    rng r = rng_start(__func__);
    double b[N], x[N];
    for (int trial = 0; trial < 6; ++trial) {
        dense d[2] = {unsymmetric_problem(&r, N), symmetric_problem(&r, N, trial % 2)};
        random_vector(&r, N, b);
        for (int k = 0; k < KERNELS; ++k) {
            for (int p = 0; p < 3; ++p) {
                const bool symmetric = k >= FIRST_SYMMETRIC && (k < KERNELS - 1 || trial % 2);
                const char *kernel = !symmetric && k >= FIRST_SYMMETRIC ? "auto" : kernels[k];
                const saddle_info info = run(&d[symmetric], symmetric ? SADDLE_LOWER : SADDLE_GENERAL, b, x,
                                             "block_kernel=%s,block_precision=%s,blocking=%s,block_size=%d",
                                             kernel, precisions[p], blockings[trial], 2 + 5 * trial);
                assert_int_equal(info.status, SADDLE_OK);
                assert_true(relative_residual_of(&d[symmetric], b, x) <= 1e-10);
                assert_int_equal(info.method, SADDLE_METHOD_BJACOBI);
                assert_int_equal(info.replaced_blocks, 0);
                assert_true(info.blocks >= 1 && info.blocks <= N);
                if (p == 0) assert_int_equal(info.single_blocks, 0);
                if (p == 1) assert_int_equal(info.single_blocks, info.blocks);
                if (p == 2)
                    assert_int_equal(info.single_blocks, info.blocks); /* these are well conditioned */
            }
        }
        dense_free(&d[0]);
        dense_free(&d[1]);
    }
}

/* The iterations in single and mixed precision, and those that want symmetry. */
static void iterations_take_what_they_may(void **state)
{
    (void)state;
    static const char *const krylovs[] = {"cg", "minres", "sqmr", "gmres", "fgmres", "bicgstab"};
    enum { N = 200 };
    rng r = rng_start(__func__);
    double b[N], x[N];
    dense d = symmetric_problem(&r, N, true);
    random_vector(&r, N, b);
    for (int k = 0; k < 6; ++k) {
        saddle_info info = run(&d, SADDLE_UPPER, b, x, "krylov=%s", krylovs[k]);
        assert_int_equal(info.status, SADDLE_OK);
        assert_int_equal(info.block_kernel,
                         SADDLE_BLOCK_KERNEL_LLT); /* known to be definite: it is dominant */
        info = run(&d, SADDLE_UPPER, b, x, "krylov=%s,precision=mixed", krylovs[k]);
        assert_int_equal(info.status, SADDLE_OK);
        info = run(&d, SADDLE_UPPER, b, x, "krylov=%s,precision=single,tol=1e-4", krylovs[k]);
        assert_int_equal(info.status, SADDLE_OK);
        assert_int_equal(info.single_blocks, info.blocks);
        info = run(&d, SADDLE_UPPER, b, x, "krylov=%s,block_kernel=jordan", krylovs[k]);
        if (k < 3) {
            assert_int_equal(info.status, SADDLE_NOT_CONVERGED);
            assert_int_equal(info.reason, SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER);
            assert_contains(info.message, "ldlt");
        } else {
            assert_int_equal(info.status, SADDLE_OK);
        }
    }
    assert_int_equal(run(&d, SADDLE_UPPER, b, x, "block_kernel=huard").krylov, SADDLE_KRYLOV_GMRES);
    assert_int_equal(run(&d, SADDLE_UPPER, b, x, "tol=1e-9").krylov, SADDLE_KRYLOV_CG);
    dense_free(&d);

    d = symmetric_problem(&r, N, false); /* M is indefinite */
    assert_int_equal(run(&d, SADDLE_LOWER, b, x, "tol=1e-9").krylov, SADDLE_KRYLOV_SQMR);
    assert_int_equal(run(&d, SADDLE_LOWER, b, x, "krylov=minres").reason, SADDLE_REASON_PRECONDITIONER);
    dense_free(&d);
}

static void general_matrices_refuse_symmetric_kernels(void **state)
{
    (void)state;
    rng r = rng_start(__func__);
    dense d = unsymmetric_problem(&r, 20);
    double b[20], x[20];
    random_vector(&r, 20, b);
    for (int k = FIRST_SYMMETRIC; k < KERNELS; ++k) {
        saddle_matrix A = view_plain(&d, SADDLE_GENERAL);
        char list[80];
        snprintf(list, sizeof list, "method=bjacobi,block_kernel=%s", kernels[k]);
        const saddle_options options = options_of(list);
        saddle_info info = saddle_info_default();
        assert_int_equal(saddle_solve_once(&A, b, x, &options, &info), SADDLE_BAD_OPTION);
        assert_contains(info.message, kernels[k]);
        assert_contains(info.message, "huard");
        view_free(&A);
    }
    dense_free(&d);
}

/* Blocks that are singular, indefinite under llt, or zero are counted, and the solve goes on with the rest.
 */
static void bad_blocks_are_replaced_and_counted(void **state)
{
    (void)state;
    enum { N = 60 };
    rng r = rng_start(__func__);
    double b[N], x[N];
    dense d = symmetric_problem(&r, N, true);
    random_vector(&r, N, b);
    for (int i = 20; i < 24; ++i) /* rows 20 to 23 have only what couples them to others */
        for (int j = 20; j < 24; ++j) dense_set(&d, i, j, 0);
    for (int i = 20; i < 24; ++i) {
        dense_set(&d, i, i + 10, 3);
        dense_set(&d, i + 10, i, 3);
    }
    for (int k = 0; k < KERNELS; ++k) {
        const saddle_info info =
            run(&d, SADDLE_LOWER, b, x, "blocking=grid,block_size=4,pairs=off,block_kernel=%s", kernels[k]);
        assert_int_equal(info.replaced_blocks, 1);
        assert_int_equal(info.status, SADDLE_OK);
        assert_true(relative_residual_of(&d, b, x) <= 1e-10);
    }
    /* pairs bring the coupled rows into one block, which is not singular */
    const saddle_info kept = run(&d, SADDLE_LOWER, b, x, "block_size=4");
    assert_int_equal(kept.status, SADDLE_OK);
    assert_int_equal(kept.replaced_blocks, 0);
    dense_free(&d);

    d = symmetric_problem(&r, N, false);
    const saddle_info indefinite = run(&d, SADDLE_LOWER, b, x, "block_kernel=llt,krylov=gmres");
    assert_true(indefinite.replaced_blocks > 0);
    assert_int_equal(indefinite.status, SADDLE_OK);
    dense_free(&d);

    d = dense_new(3); /* the zero matrix */
    const saddle_info zero = run(&d, SADDLE_LOWER, b, x, "krylov=gmres");
    assert_int_equal(zero.status, SADDLE_SINGULAR);
    dense_free(&d);
}

/* Rows of a general matrix are permuted where its diagonal is zero. */
static void a_zero_diagonal_is_matched_away(void **state)
{
    (void)state;
    enum { N = 80 };
    rng r = rng_start(__func__);
    double b[N], x[N];
    dense plain = unsymmetric_problem(&r, N), d = dense_new(N);
    for (int i = 0; i < N; ++i) /* the rows in another order: the dominant entries leave the diagonal */
        for (int j = 0; j < N; ++j)
            if (plain.there[i * N + j]) dense_set(&d, (i + 7) % N, j, dense_at(&plain, i, j));
    random_vector(&r, N, b);
    const saddle_info info = run(&d, SADDLE_GENERAL, b, x, "block_size=6");
    assert_int_equal(info.status, SADDLE_OK);
    assert_int_equal(info.replaced_blocks, 0);
    assert_true(info.iterations < 40);
    dense_free(&plain);
    dense_free(&d);
}

/* Powers of two change nothing, whatever the blocks are kept in. */
static void powers_of_two_change_nothing(void **state)
{
    (void)state;
    static const char *const precisions[] = {"double", "single", "adaptive"};
    static const int shifts[] = {-700, -200, -70, 70, 200, 700};
    enum { N = 90 };
    rng r = rng_start(__func__);
    double b[N], x[N], scaled[N];
    dense d = symmetric_problem(&r, N, true);
    random_vector(&r, N, b);
    for (int p = 0; p < 3; ++p) {
        const saddle_info before = run(&d, SADDLE_LOWER, b, x, "block_precision=%s", precisions[p]);
        assert_int_equal(before.status, SADDLE_OK);
        for (int k = 0; k < 6; ++k) {
            dense t = dense_new(N);
            for (int i = 0; i < N; ++i)
                for (int j = 0; j < N; ++j)
                    if (d.there[i * N + j]) dense_set(&t, i, j, ldexp(dense_at(&d, i, j), shifts[k]));
            const saddle_info after = run(&t, SADDLE_LOWER, b, scaled, "block_precision=%s", precisions[p]);
            assert_int_equal(after.status, SADDLE_OK);
            assert_int_equal(after.iterations, before.iterations);
            assert_int_equal(after.single_blocks, before.single_blocks);
            for (int i = 0; i < N; ++i) assert_true(ldexp(scaled[i], shifts[k]) == x[i]);
            dense_free(&t);
        }
    }
    dense_free(&d);
}

/* adaptive keeps a block in double where its condition asks for it. */
static void adaptive_keeps_ill_conditioned_blocks_in_double(void **state)
{
    (void)state;
    enum { N = 40 };
    rng r = rng_start(__func__);
    double b[N], x[N];
    dense d = symmetric_problem(&r, N, true);
    random_vector(&r, N, b);
    for (int i = 8; i < 12; ++i) { /* rows 8 to 11: nearly all ones, of condition beyond 1e6 */
        for (int j = 0; j < N; ++j) {
            const bool inside = j >= 8 && j < 12;
            dense_set(&d, i, j, inside ? 1 + (i == j ? 1e-6 * (i - 7) : 0) : 0);
            dense_set(&d, j, i, dense_at(&d, i, j));
        }
    }
    const saddle_info info =
        run(&d, SADDLE_LOWER, b, x, "blocking=grid,block_size=4,pairs=off,block_precision=adaptive,tol=1e-8");
    assert_int_equal(info.blocks, N / 4);
    assert_int_equal(info.single_blocks, N / 4 - 1);
    assert_int_equal(info.status, SADDLE_OK);
    dense_free(&d);
}

/* A second factorization with the first values, and other numbers of threads, give the same bits. */
static void bits_are_the_same_at_any_number_of_threads_and_again(void **state)
{
    (void)state;
    enum { N = 300 };
    rng r = rng_start(__func__);
    double b[N], x[N], again[N];
    dense d = unsymmetric_problem(&r, N);
    random_vector(&r, N, b);
    run(&d, SADDLE_GENERAL, b, x, "threads=1");
    for (int threads = 2; threads <= 8; threads += 3) {
        run(&d, SADDLE_GENERAL, b, again, "threads=%d", threads);
        assert_memory_equal(x, again, sizeof x);
    }
    saddle_solver *solver = NULL;
    const saddle_options options = options_of("method=bjacobi");
    saddle_matrix A = view_plain(&d, SADDLE_GENERAL);
    double *values = test_alloc((size_t)A.entries, sizeof *values);
    memcpy(values, A.values, (size_t)A.entries * sizeof *values);
    assert_int_equal(saddle_create(&solver, &options, NULL, NULL), SADDLE_OK);
    assert_int_equal(saddle_analyse(solver, &A), SADDLE_OK);
    for (int64_t k = 0; k < A.entries; ++k) values[k] *= 1.5;
    saddle_matrix changed = A;
    changed.values = values;
    assert_int_equal(saddle_factor(solver, &changed), SADDLE_OK);
    assert_int_equal(saddle_factor(solver, &A), SADDLE_OK);
    assert_int_equal(saddle_solve(solver, 1, b, N, again, N, NULL), SADDLE_OK);
    assert_memory_equal(x, again, sizeof x);
    saddle_destroy(&solver);
    free(values);
    view_free(&A);
    dense_free(&d);
}

/* max |A x - 1| over the blocks of `rows` rows and one more in turn, A what is on the diagonal of them. */
static double batch_residual(const double *a, const int32_t *start, int32_t blocks, const double *x)
{
    double most = 0;
    for (int32_t k = 0; k < blocks; ++k) {
        const int32_t n = start[k + 1] - start[k];
        for (int32_t i = 0; i < n; ++i) {
            double sum = -1;
            for (int32_t j = 0; j < n; ++j) sum += a[i + j * n] * x[start[k] + j];
            most = fmax(most, fabs(sum));
        }
        a += (int64_t)n * n;
    }
    return most;
}

/* Results that are too many for the caches are written past them: blocks of mixed sizes lie anywhere. */
static void large_batches_of_mixed_sizes_are_factored(void **state)
{
    (void)state;
    static const struct {
        int32_t blocks, rows;
    } batches[] = {{2600, 31}, {10000, 15}, {44000, 7}};
    rng r = rng_start(__func__);
    sd_context c;
    sd_engine e;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_engine_open_host(&c, &e, SADDLE_DEVICE_CPU, 2), SADDLE_OK);
    for (int b = 0; b < 3; ++b) {
        const int32_t blocks = batches[b].blocks;
        int32_t *start = test_alloc((size_t)blocks + 1, sizeof *start);
        for (int32_t k = 0; k < blocks; ++k) start[k + 1] = start[k] + batches[b].rows + k % 2;
        sd_batch_plan plan;
        assert_int_equal(sd_batch_place(&e, blocks, start, NULL, NULL, NULL, &plan), SADDLE_OK);
        sd_batch x = sd_batch_new(&e, &plan, SD_DOUBLE, "blocks");
        sd_batch_factors f = sd_batch_factors_new(&e, &plan, SD_DOUBLE);
        sd_vector ones = sd_vector_new(&e, SD_DOUBLE, plan.rows, "ones"),
                  y = sd_vector_new(&e, SD_DOUBLE, plan.rows, "solution");
        double *a = x.data;
        for (int64_t k = 0; k < plan.entries; ++k) a[k] = rng_unit(&r);
        int64_t entry = 0;
        for (int32_t k = 0; k < blocks; ++k) {
            const int32_t n = start[k + 1] - start[k];
            for (int32_t i = 0; i < n; ++i) a[entry + i * (n + 1)] += 40;
            entry += (int64_t)n * n;
        }
        sd_fill(&e, 1.0, &ones);
        for (int kernel = 0; kernel < BENCH_KERNELS; ++kernel) {
            if (sd_batch_symmetric(bench_form(kernel))) continue;
            const sd_batch_rule rule = {.kernel = kernel};
            bench_factor(&e, &rule, BENCH_DEFAULT, &x, &f);
            sd_batch_apply(&e, &f, 1, &ones, &y);
            assert_true(batch_residual(a, start, blocks, y.data) <= 1e-13);
        }
        sd_vector_free(&e, &y);
        sd_vector_free(&e, &ones);
        sd_batch_factors_free(&e, &f);
        sd_batch_free(&e, &x);
        sd_batch_unplace(&e, &plan);
        free(start);
    }
    sd_engine_close(&e);
    assert_int_equal(c.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m_is_the_block_diagonal),
        cmocka_unit_test(every_kernel_precision_and_blocking_solves),
        cmocka_unit_test(iterations_take_what_they_may),
        cmocka_unit_test(general_matrices_refuse_symmetric_kernels),
        cmocka_unit_test(bad_blocks_are_replaced_and_counted),
        cmocka_unit_test(a_zero_diagonal_is_matched_away),
        cmocka_unit_test(powers_of_two_change_nothing),
        cmocka_unit_test(adaptive_keeps_ill_conditioned_blocks_in_double),
        cmocka_unit_test(bits_are_the_same_at_any_number_of_threads_and_again),
        cmocka_unit_test(large_batches_of_mixed_sizes_are_factored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
