/*
 * Growth, residuals and inertia of the kernels with pivoting beside LAPACK's on the same blocks: of
 * reference, of the cpu, and with SADDLE_TEST_CUDA=1 of the cuda module.
 */
#include "block_lapack.h"

enum {
    TIMES = 10,  /* allowed of LAPACK's figure, or of one rounding where that is smaller */
    COLUMNS = 4, /* right-hand sides, of which the worst counts */
    EACH = 2     /* blocks of each kind and size */
};

static double largest_of(const batch *b, int32_t k)
{
    double most = 0;
    for (int64_t at = b->entry[k]; at < b->entry[k + 1]; ++at)
        most = fmax(most, fabs(real_at(b->data, b->precision, at)));
    return most;
}

/* The largest of D U, or of D, over the largest of A; 0 for kernels without them. */
static double growth_of(const batch *b, const factors *f, int32_t k, double norm)
{
    static triangles t;
    const int n = batch_size(b, k);
    long double most = 0;
    if (!is_ldu(f->kernel) && !is_ldlt(f->kernel)) return 0;
    take_apart(b, f, k, &t);
    for (int at = 0; at < n * n; ++at) {
        const int i = at % n;
        const long double du = is_ldu(f->kernel) ? t.d[i + i * n] * t.u[at] : t.d[at];
        most = fmaxl(most, fabsl(du));
    }
    return (double)(most / (long double)norm);
}

/* The worst residual of a block's solutions x, and of LAPACK's. */
static void residuals_of(const batch *b, int32_t k, const lapack_block *l, const double *rhs, const double *x,
                         double *mine, double *theirs)
{
    *mine = *theirs = 0;
    for (int64_t c = 0; c < COLUMNS; ++c) {
        const int64_t first = c * b->start[b->blocks] + b->start[k];
        double y[SD_BLOCK_MOST];
        memcpy(y, rhs + first, sizeof *y * (size_t)l->n);
        lapack_solve(l, y);
        *mine = fmax(*mine, residual_of(b, k, rhs + first, x + first));
        *theirs = fmax(*theirs, residual_of(b, k, rhs + first, y));
    }
}

/* Solves with COLUMNS right-hand sides. */
static void solve_all(sd_engine *e, const placed_batch *p, const double *rhs, double *x)
{
    sd_vector v = sd_vector_new(e, p->f.precision, (int64_t)COLUMNS * p->plan.rows, "test");
    sd_vector_put(e, rhs, &v);
    sd_batch_apply(e, &p->f, COLUMNS, &v, &v);
    sd_vector_get(e, &v, x);
    sd_vector_free(e, &v);
}

static int compare_with_lapack(const batch *b, const factors *f, const double *rhs, const double *x)
{
    int compared = 0;
    for (int32_t k = 0; k < b->blocks; ++k) {
        const double norm = largest_of(b, k);
        double mine, theirs;
        lapack_block l;
        lapack_factor(b, k, f->kernel, norm, &l);
        if (b->kind[k] == ZERO_ROW) assert_true(l.info > 0 && f->state[k].status);
        if (l.info || f->state[k].status) continue;
        if (f->kernel == SD_JORDAN) {
            const size_t size = sd_precision_size(b->precision);
            mine = inverse_residual(b, k, (char *)f->data + (size_t)b->entry[k] * size);
            theirs = inverse_residual(b, k, l.a);
        } else {
            residuals_of(b, k, &l, rhs, x, &mine, &theirs);
        }
        const double growth = growth_of(b, f, k, norm);
        if (!(mine <= TIMES * fmax(theirs, 1)) || !(growth <= TIMES * fmax(l.growth, 1)))
            fail_msg("%s in %s (%s, %d rows): residual %g, LAPACK's %g; growth %g, LAPACK's %g",
                     kernel_names[f->kernel], precision_name(b->precision), kind_names[b->kind[k]], l.n, mine,
                     theirs, growth, l.growth);
        ++compared;
    }
    return compared;
}

static void run_kernel(rng *r, sd_engine *e, sd_batch_kernel kernel, sd_precision precision)
{
    batch b = batch_of_kinds(r, precision, sd_batch_symmetric(kernel), BLOCK_KINDS, EACH);
    for (int32_t k = 0; k < b.blocks && is_cholesky(kernel); ++k) {
        double a[SQUARE];
        b.kind[k] = b.kind[k] == ZERO_ROW ? ZERO_ROW : POSITIVE;
        fill_block(r, batch_size(&b, k), b.kind[k], true, precision, a);
        batch_set(&b, k, a);
    }
    placed_batch p;
    place_batch(e, &b, NULL, NULL, NULL, &p);
    const sd_batch_rule rule = {.kernel = kernel};
    sd_batch_factor(e, &rule, &p.x, &p.f);
    factors f = get_factors(e, &p);
    const size_t count = (size_t)COLUMNS * (size_t)p.plan.rows;
    double *rhs = test_alloc(count, sizeof *rhs), *x = test_alloc(count, sizeof *x);
    for (size_t i = 0; i < count; ++i) rhs[i] = (float)rng_unit(r);
    solve_all(e, &p, rhs, x);
    /* all but the exactly singular ones, and those of the rest that rounding or ties made so */
    assert_true(compare_with_lapack(&b, &f, rhs, x) > b.blocks * 5 / 6);
    free(rhs);
    free(x);
    free_factors(&f);
    unplace_batch(e, &p);
    batch_free(&b);
}

static void run_backend(const sd_backend *backend)
{
    rng r = rng_start(backend->name);
    bench s;
    bench_open(&s, backend, 1);
    for (sd_batch_kernel kernel = 0; kernel < SD_BATCH_KERNELS; ++kernel)
        for (sd_precision precision = 0; precision < SD_PRECISIONS; ++precision)
            if (is_pivoted(kernel)) run_kernel(&r, &s.e, kernel, precision);
    bench_close(&s);
}

static void reference_is_as_stable_as_lapack(void **state)
{
    (void)state;
    run_backend(&sd_backend_reference);
}

static void the_cpu_is_as_stable_as_lapack(void **state)
{
    (void)state;
    run_backend(sd_cpu()->backend);
}

static void the_cuda_module_is_as_stable_as_lapack(void **state)
{
    (void)state;
    run_backend(cuda_or_skip());
}

/*
 * Of L D L' = A + E with |E| <= ROUNDINGS n u |L| |D| |L'|: where no eigenvalue is within |E| of 0, D has as
 * many negative ones as A (and L L' exists where there is none).
 */
static void inertia_is_that_of_the_eigenvalues(void **state)
{
    (void)state;
    rng r = rng_start("inertia");
    static difference d;
    for (int step = 0; step < (SD_JORDAN - SD_LLT) * SD_PRECISIONS; ++step) {
        const sd_batch_kernel kernel = (sd_batch_kernel)(SD_LLT + step / SD_PRECISIONS);
        batch b = batch_of_kinds(&r, (sd_precision)(step % SD_PRECISIONS), true, BLOCK_KINDS, EACH);
        bench s;
        bench_open(&s, &sd_backend_reference, 1);
        const sd_batch_rule rule = {.kernel = kernel};
        factors f = factor_batch(&s.e, &b, &rule);
        int certain = 0;
        for (int32_t k = 0; k < b.blocks; ++k) {
            const int n = batch_size(&b, k);
            double w[SD_BLOCK_MOST], doubt = 0;
            int negative = 0, near = 0;
            lapack_eigenvalues(&b, k, w);
            if (!f.state[k].status) {
                difference_of(&b, &f, k, &d);
                for (int at = 0; at < n * n; ++at) doubt = fmax(doubt, n * ROUNDINGS * (double)d.unit[at]);
            }
            doubt += 1e3 * n * unit_of(b.precision) * fmax(fabs(w[0]), fabs(w[n - 1]));
            for (int i = 0; i < n; ++i) {
                negative += w[i] < 0;
                near += fabs(w[i]) <= doubt;
            }
            if (near > 0) continue;
            ++certain;
            if (is_cholesky(kernel))
                assert_true(!f.state[k].status == !negative);
            else if (!f.state[k].status)
                assert_int_equal(f.state[k].negative, negative);
        }
        assert_true(certain > b.blocks / 2);
        free_factors(&f);
        bench_close(&s);
        batch_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_is_as_stable_as_lapack),
        cmocka_unit_test(the_cpu_is_as_stable_as_lapack),
        cmocka_unit_test(the_cuda_module_is_as_stable_as_lapack),
        cmocka_unit_test(inertia_is_that_of_the_eigenvalues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
