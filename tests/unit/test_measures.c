/*
 * The measures of a prepared matrix in its blocks against a dense oracle, which forms B and goes through its
 * blocks one by one; and matrices at the ends of the range of doubles, where nothing may become NaN.
 */
#include "helpers.h"

#include "core/context.h"
#include "failing_allocator.h"
#include "prepare/prepare.h"

/* A preparation made up at random, on arrays of malloc. */
typedef struct setup {
    saddle_preparation p;
    sd_csr A;
} setup;

static sd_csr csr_of(const dense *d)
{
    sd_csr A = {.n = d->n, .ptr = test_alloc((size_t)d->n + 1, sizeof *A.ptr)};
    A.ind = test_alloc((size_t)(d->n * d->n), sizeof *A.ind);
    A.val = test_alloc((size_t)(d->n * d->n), sizeof *A.val);
    for (int k = 0; k < d->n * d->n; ++k) {
        if (d->there[k]) {
            A.ind[A.nnz] = k % d->n;
            A.val[A.nnz++] = d->a[k];
        }
        if (k % d->n == d->n - 1) A.ptr[k / d->n + 1] = A.nnz;
    }
    return A;
}

static int32_t *random_order(rng *r, int n)
{
    int32_t *order = test_alloc((size_t)n, sizeof *order);
    rng_permutation(r, n, order);
    return order;
}

static double *random_scale(rng *r, int n)
{
    double *scale = test_alloc((size_t)n, sizeof *scale);
    for (int k = 0; k < n; ++k) scale[k] = exp(rng_unit(r));
    return scale;
}

/* Blocks of 1 to `most` rows. */
static setup setup_new(rng *r, const dense *d, bool symmetric, int most)
{
    const int n = d->n;
    setup s = {.A = csr_of(d)};
    s.p.n = n;
    s.p.nnz = s.A.nnz;
    s.p.symmetric = symmetric;
    s.p.row_scale = random_scale(r, n);
    s.p.col_scale = symmetric ? s.p.row_scale : random_scale(r, n);
    s.p.permutation = random_order(r, n);
    s.p.row_permutation = symmetric ? s.p.permutation : random_order(r, n);
    s.p.block_start = test_alloc((size_t)n + 1, sizeof *s.p.block_start);
    for (int k = 0; k < n; ++s.p.blocks) {
        const int rows = 1 + rng_below(r, most);
        k = k + rows < n ? k + rows : n;
        s.p.block_start[s.p.blocks + 1] = k;
    }
    return s;
}

static void setup_free(setup *s)
{
    if (!s->p.symmetric) {
        free(s->p.col_scale);
        free(s->p.row_permutation);
    }
    free(s->p.row_scale);
    free(s->p.permutation);
    free(s->p.block_start);
    free(s->A.ptr);
    free(s->A.ind);
    free(s->A.val);
}

/* ---- the oracle ---- */

static dense prepared(const dense *d, const saddle_preparation *p)
{
    dense B = dense_new(d->n);
    for (int k = 0; k < d->n; ++k) {
        for (int l = 0; l < d->n; ++l) {
            const int i = p->row_permutation[k], j = p->permutation[l];
            const double r = p->row_scale ? p->row_scale[i] : 1.0, s = p->col_scale ? p->col_scale[j] : 1.0;
            if (d->there[i * d->n + j]) dense_set(&B, k, l, r * dense_at(d, i, j) * s);
        }
    }
    return B;
}

typedef struct norms {
    bool there;
    double one, frobenius;
} norms;

static norms batch_norms(const dense *B, const int32_t *start, int I, int J)
{
    norms n = {0};
    for (int l = start[J]; l < start[J + 1]; ++l) {
        double sum = 0;
        for (int k = start[I]; k < start[I + 1]; ++k) {
            n.there |= B->there[k * B->n + l];
            sum += fabs(dense_at(B, k, l));
            n.frobenius += dense_at(B, k, l) * dense_at(B, k, l);
        }
        n.one = fmax(n.one, sum);
    }
    n.frobenius = sqrt(n.frobenius);
    return n;
}

static double dense_inverse_norm(const dense *B, int begin, int end)
{
    const int m = end - begin;
    dense D = dense_new(m);
    for (int k = 0; k < m; ++k)
        for (int l = 0; l < m; ++l) dense_set(&D, k, l, dense_at(B, begin + k, begin + l));
    double *unit = test_alloc((size_t)m, sizeof *unit), *x = test_alloc((size_t)m, sizeof *x), squares = 0;
    bool regular = true;
    for (int l = 0; l < m && regular; ++l) {
        memset(unit, 0, (size_t)m * sizeof *unit);
        unit[l] = 1;
        regular = dense_solve(&D, unit, x);
        for (int k = 0; k < m && regular; ++k) squares += x[k] * x[k];
    }
    free(unit);
    free(x);
    dense_free(&D);
    return regular ? sqrt(squares) : INFINITY;
}

/* worst_inverse gets the largest norm of an inverse. */
static saddle_preparation oracle(const dense *d, const saddle_preparation *p, double *worst_inverse)
{
    saddle_preparation o = {0};
    const int32_t *start = p->block_start;
    const int blocks = (int)p->blocks;
    dense B = prepared(d, p);
    int *level = test_alloc((size_t)blocks, sizeof *level);
    o.dominance_least = INFINITY;
    o.dominance_largest = -INFINITY;
    for (int I = 0; I < blocks; ++I) {
        const int rows = start[I + 1] - start[I];
        double others = 0, frobenius = 0;
        for (int J = 0; J < blocks; ++J) {
            const norms n = batch_norms(&B, start, I, J);
            if (n.there || I == J) o.stored_entries += rows * (start[J + 1] - start[J]);
            if (I == J) continue;
            others += n.one;
            frobenius += n.frobenius;
            if (J < I && (n.there || batch_norms(&B, start, J, I).there) && level[J] > level[I])
                level[I] = level[J];
        }
        if (++level[I] > o.levels) o.levels = level[I];
        if (rows > o.largest_block) o.largest_block = rows;
        const double dominance = batch_norms(&B, start, I, I).one - others;
        o.dominance_least = fmin(o.dominance_least, dominance);
        o.dominance_largest = fmax(o.dominance_largest, dominance);
        o.dominance_mean += dominance / blocks;
        const double inverse = dense_inverse_norm(&B, start[I], start[I + 1]);
        *worst_inverse = fmax(*worst_inverse, inverse);
        o.block_off_diagonal_dominance += isinf(inverse) ? INFINITY : frobenius * inverse / blocks;
    }
    for (int k = 0; k < B.n; ++k) {
        double sum = 0;
        for (int l = 0; l < B.n; ++l) sum += l == k ? 0 : fabs(dense_at(&B, k, l));
        const double own = fabs(dense_at(&B, k, k));
        o.off_diagonal_dominance += own > 0 ? sum / own / B.n : INFINITY;
    }
    free(level);
    dense_free(&B);
    return o;
}

static void assert_near(double got, double wanted, double scale, const char *what)
{
    if (isinf(wanted) && got == wanted) return;
    if (!(fabs(got - wanted) <= 1e-9 * scale)) fail_msg("%s is %.17g, not %.17g", what, got, wanted);
}

static void measure(const sd_csr *A, saddle_preparation *p)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    assert_int_equal(sd_measure_blocks(&c, A, p), SADDLE_OK);
    assert_int_equal(c.bytes, 0);
}

static void assert_measures(const dense *d, const saddle_preparation *p)
{
    double worst_inverse = 0;
    const saddle_preparation o = oracle(d, p, &worst_inverse);
    assert_int_equal(p->largest_block, o.largest_block);
    assert_int_equal(p->levels, o.levels);
    assert_int_equal(p->stored_entries, o.stored_entries);
    const double size = fabs(o.dominance_least) + fabs(o.dominance_largest);
    assert_near(p->dominance_least, o.dominance_least, size, "the least dominance");
    assert_near(p->dominance_mean, o.dominance_mean, size, "the mean dominance");
    assert_near(p->dominance_largest, o.dominance_largest, size, "the largest dominance");
    assert_near(p->off_diagonal_dominance, o.off_diagonal_dominance, o.off_diagonal_dominance,
                "off-diagonal dominance");
    /* a block that is singular but for rounding has no inverse to compare */
    const double wanted = o.block_off_diagonal_dominance;
    if (worst_inverse < 1e5 || (isinf(wanted) && isinf(p->block_off_diagonal_dominance)))
        assert_near(p->block_off_diagonal_dominance, wanted, wanted, "block off-diagonal dominance");
    else
        assert_true(p->block_off_diagonal_dominance >= 0);
}

static void measures_are_those_of_a_dense_oracle(void **state)
{
    (void)state;
    rng r = rng_start("dense oracle");
    for (int round = 0; round < 1500; ++round) {
        const bool symmetric = rng_below(&r, 2);
        const int n = 1 + rng_below(&r, 40), most = 1 + rng_below(&r, rng_below(&r, 2) ? 4 : 32);
        dense d = dense_random(&r, n, fabs(rng_unit(&r)), symmetric);
        for (int i = 0; i < n && round % 3; ++i) dense_set(&d, i, i, 1.0 + fabs(rng_unit(&r)));
        setup s = setup_new(&r, &d, symmetric, most);
        measure(&s.A, &s.p);
        assert_measures(&d, &s.p);
        setup_free(&s);
        dense_free(&d);
    }
}

static void no_scaling_is_a_scaling_by_one(void **state)
{
    (void)state;
    rng r = rng_start("no scaling");
    for (int round = 0; round < 50; ++round) {
        dense d = dense_random(&r, 1 + rng_below(&r, 20), 0.3, true);
        setup s = setup_new(&r, &d, true, 4);
        free(s.p.row_scale);
        s.p.row_scale = s.p.col_scale = NULL;
        measure(&s.A, &s.p);
        assert_measures(&d, &s.p);
        setup_free(&s);
        dense_free(&d);
    }
}

static void an_empty_matrix_has_no_levels(void **state)
{
    (void)state;
    int64_t ptr[1] = {0};
    int32_t start[1] = {0};
    const sd_csr A = {.ptr = ptr};
    saddle_preparation p = {.block_start = start, .levels = -1, .dominance_mean = NAN};
    measure(&A, &p);
    assert_int_equal(p.levels, 0);
    assert_int_equal(p.stored_entries, 0);
    assert_int_equal(p.largest_block, 0);
    assert_true(p.dominance_least == 0 && p.dominance_mean == 0 && p.dominance_largest == 0);
    assert_true(p.off_diagonal_dominance == 0 && p.block_off_diagonal_dominance == 0);
}

static void levels_follow_the_chain(void **state)
{
    (void)state;
    /* a path in its natural order is one chain; odd before even it has two levels */
    enum { N = 20 };
    rng r = rng_start("chain");
    dense d = dense_new(N);
    for (int i = 0; i < N; ++i) {
        dense_set(&d, i, i, 2);
        if (i > 0) dense_set(&d, i, i - 1, -1); /* one triangle is enough: the pattern is of B + B' */
    }
    setup s = setup_new(&r, &d, false, 1);
    for (int k = 0; k < N; ++k) s.p.permutation[k] = s.p.row_permutation[k] = k;
    measure(&s.A, &s.p);
    assert_int_equal(s.p.levels, N);
    for (int k = 0; k < N; ++k)
        s.p.permutation[k] = s.p.row_permutation[k] = k < N / 2 ? 2 * k : 2 * k - N + 1;
    measure(&s.A, &s.p);
    assert_int_equal(s.p.levels, 2);
    setup_free(&s);
    dense_free(&d);
}

static void a_singular_diagonal_makes_dominance_infinite(void **state)
{
    (void)state;
    const double rows[] = {1, 2, 1, 0, /**/ 2, 4, 0, 1, /**/ 1, 0, 0, 3, /**/ 0, 1, 3, 0};
    rng r = rng_start("singular");
    dense d = dense_from(4, rows);
    setup s = setup_new(&r, &d, false, 2);
    s.p.blocks = 2;
    for (int k = 0; k < 4; ++k) {
        s.p.permutation[k] = s.p.row_permutation[k] = k;
        s.p.row_scale[k] = s.p.col_scale[k] = 1;
    }
    const int32_t start[] = {0, 2, 4};
    memcpy(s.p.block_start, start, sizeof start);
    measure(&s.A, &s.p);
    assert_true(s.p.block_off_diagonal_dominance == INFINITY); /* [1 2; 2 4] */
    assert_true(s.p.off_diagonal_dominance == INFINITY);       /* two zeros on the diagonal */
    s.A.val[1] = s.A.val[3] = 1;                               /* [1 1; 1 4] and [0 3; 3 0] */
    measure(&s.A, &s.p);
    assert_near(s.p.block_off_diagonal_dominance, (sqrt(2) * sqrt(19) / 3 + sqrt(2) * sqrt(2) / 3) / 2, 1,
                "block off-diagonal dominance");
    setup_free(&s);
    dense_free(&d);
}

static void measures_do_not_depend_on_the_unit(void **state)
{
    (void)state;
    rng r = rng_start("units");
    for (int round = 0; round < 200; ++round) {
        const int n = 1 + rng_below(&r, 30);
        dense d = dense_random(&r, n, 0.3, false);
        for (int i = 0; i < n; ++i) dense_set(&d, i, i, 100.0 + rng_sixteenth(&r));
        setup s = setup_new(&r, &d, false, 8);
        measure(&s.A, &s.p);
        const saddle_preparation one = s.p;
        const double unit = rng_below(&r, 2) ? 0x1p960 : 0x1p-960;
        for (int64_t k = 0; k < s.A.nnz; ++k) s.A.val[k] *= unit;
        measure(&s.A, &s.p);
        assert_near(s.p.off_diagonal_dominance, one.off_diagonal_dominance, 1, "off-diagonal dominance");
        assert_near(s.p.block_off_diagonal_dominance, one.block_off_diagonal_dominance,
                    one.block_off_diagonal_dominance, "block off-diagonal dominance");
        assert_near(s.p.dominance_mean / unit, one.dominance_mean, 100, "the mean dominance");
        setup_free(&s);
        dense_free(&d);
    }
}

static void nothing_becomes_nan(void **state)
{
    (void)state;
    const double extremes[] = {0, 1, -1, 1e300, -1e300, 1.7e308, 1e-300, 5e-324, -1e-310, 1e150, 1e-150};
    rng r = rng_start("extremes");
    for (int round = 0; round < 2000; ++round) {
        dense d = dense_random(&r, 1 + rng_below(&r, 12), fabs(rng_unit(&r)), false);
        for (int k = 0; k < d.n * d.n; ++k)
            if (d.there[k]) d.a[k] = extremes[rng_below(&r, 11)];
        setup s = setup_new(&r, &d, false, 5);
        for (int k = 0; k < d.n; ++k)
            if (rng_below(&r, 3) == 0) s.p.row_scale[k] = rng_below(&r, 2) ? 1e150 : 1e-150;
        measure(&s.A, &s.p);
        const double all[] = {s.p.dominance_least, s.p.dominance_mean, s.p.dominance_largest,
                              s.p.off_diagonal_dominance, s.p.block_off_diagonal_dominance};
        for (int k = 0; k < 5; ++k) assert_false(isnan(all[k]));
        setup_free(&s);
        dense_free(&d);
    }
}

static void a_failed_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    rng r = rng_start("allocation failures");
    dense d = dense_random(&r, 20, 0.3, true);
    setup s = setup_new(&r, &d, true, 6);
    for (int64_t k = 1;; ++k) {
        failing_allocator f = {.fail_at = k};
        const saddle_hooks hooks = failing_hooks(&f);
        sd_context c;
        sd_context_init(&c, &hooks, 0);
        const saddle_status status = sd_measure_blocks(&c, &s.A, &s.p);
        assert_int_equal(f.live, 0);
        assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
        if (!f.failed) break;
    }
    setup_free(&s);
    dense_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_are_those_of_a_dense_oracle),
        cmocka_unit_test(no_scaling_is_a_scaling_by_one),
        cmocka_unit_test(an_empty_matrix_has_no_levels),
        cmocka_unit_test(levels_follow_the_chain),
        cmocka_unit_test(a_singular_diagonal_makes_dominance_infinite),
        cmocka_unit_test(measures_do_not_depend_on_the_unit),
        cmocka_unit_test(nothing_becomes_nan),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
