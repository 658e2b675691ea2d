/*
 * Matrices of some hundred rows whose equilibrated form has no eigenvalue below 1e-9 of its norm: their
 * inertia is certain, and the one that LAPACK's eigenvalues tell. Rows are scaled over many decades before
 * Saddle sees them, as interior-point systems are.
 */
#include "hard_matrices.h"

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info);

static const double CLEAR = 1e-9; /* eigenvalues that are larger, beside the norm, have a sign */

/* Ruiz: the largest entry of each row of S A S becomes 1, S being powers of two, so that nothing is rounded.
 */
static void equilibrate(dense *d)
{
    const int n = d->n;
    for (int sweep = 0; sweep < 40; ++sweep) {
        for (int i = 0; i < n; ++i) {
            double largest = 0;
            for (int j = 0; j < n; ++j) largest = fmax(largest, fabs(dense_at(d, i, j)));
            if (largest == 0) continue;
            const int shift = -ilogb(largest) / 2;
            for (int j = 0; j < n; ++j) d->a[i * n + j] = ldexp(d->a[i * n + j], shift);
            for (int j = 0; j < n; ++j) d->a[j * n + i] = ldexp(d->a[j * n + i], shift);
        }
    }
}

/* Eigenvalues of the equilibrated matrix in values, ascending. */
static void eigenvalues_of(const dense *d, double *values)
{
    dense copy = dense_copy(d);
    const int n = d->n, work_size = 2 * n + 1, integers = 1;
    double *work = test_alloc((size_t)work_size, sizeof *work);
    int unused = 0, info = 0;
    equilibrate(&copy);
    dsyevd_("N", "L", &n, copy.a, &n, values, work, &work_size, &unused, &integers, &info);
    assert_int_equal(info, 0);
    free(work);
    dense_free(&copy);
}

/* (D + K, J'; J -R): as an interior-point method has it, rows scaled by 10^+-decades, R zero or not. */
static dense kkt_of(rng *r, int n, int m, double decades, bool regularised)
{
    dense d = kkt_problem(r, n, m, 0);
    for (int k = 0; k < n; ++k) {
        const int i = rng_below(r, n - m), j = rng_below(r, n - m);
        if (i != j) set_both(&d, i, j, 0.3 * rng_unit(r));
    }
    for (int i = n - m; i < n && regularised; ++i) dense_set(&d, i, i, -1e-4);
    for (int i = 0; i < n; ++i) {
        const double scale = rng_decades(r, -decades, decades);
        for (int j = 0; j < n; ++j) d.a[i * n + j] *= scale;
        for (int j = 0; j < n; ++j) d.a[j * n + i] *= scale;
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) d.a[j * n + i] = d.a[i * n + j];
    return d;
}

static dense one_of(rng *r, int number, int n)
{
    switch (number % 4) {
    case 0: return indefinite_problem(r, n);
    case 1: return kkt_of(r, n, n / 3, 0, false);
    case 2: return kkt_of(r, n, n / 4, rng_uniform(r, 2, 10), false);
    default: return kkt_of(r, n, n / 3, rng_uniform(r, 2, 10), true);
    }
}

static void clear_signs_are_certain_and_those_of_lapack(void **state)
{
    (void)state;
    rng r = rng_start("LAPACK");
    int clear = 0, doubts = 0;
    const int count = is_slow() ? 4 : is_full() ? 400 : 16;
    for (int k = 0; k < count; ++k) {
        const int n = rng_between(&r, 60, is_slow() ? 100 : 300);
        dense d = one_of(&r, k, n);
        double *values = test_alloc((size_t)n, sizeof *values), least = INFINITY;
        int negative = 0;
        eigenvalues_of(&d, values);
        for (int i = 0; i < n; ++i) least = fmin(least, fabs(values[i]));
        for (int i = 0; i < n; ++i) negative += values[i] < 0;
        saddle_solver *solver = factor_dense(&d, SADDLE_LOWER, "");
        const saddle_info info = info_of(solver);
        if (least > CLEAR * fmax(-values[0], values[n - 1])) {
            ++clear;
            if (!info.inertia_certain || info.inertia_negative != negative || info.inertia_zero != 0)
                fail_msg("number %d, n %d: %lld negative, %lld zero, certain %d; LAPACK %d", k, n,
                         (long long)info.inertia_negative, (long long)info.inertia_zero, info.inertia_certain,
                         negative);
        }
        doubts += !info.inertia_certain;
        saddle_destroy(&solver);
        free(values);
        dense_free(&d);
    }
    print_message("           %d, %d with clear signs, %d in doubt\n", count, clear, doubts);
    assert_true(clear >= count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clear_signs_are_certain_and_those_of_lapack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
