/* Incomplete factorizations for tests: matrices, and factors as dense ones. */
#pragma once

#include "csr_of.h"
#include "factor/incomplete.h"
#include "failing_allocator.h"

#define ROUNDING 1e-12 /* of factors */

static inline void must(const sd_context *c, saddle_status status)
{
    if (status) fail_msg("%s", c->message);
}

/* A matrix as plain loops see it and as the library does, in a context of its own. */
typedef struct problem {
    sd_context c;
    dense d;
    sd_csr B;
} problem;

/* Of d, which is freed with it. */
static inline problem problem_of(dense d)
{
    problem p = {.d = d};
    sd_context_init(&p.c, NULL, 0);
    p.B = csr_of(&p.c, &p.d);
    return p;
}

/* What was made in its context must have been freed. */
static inline void problem_free(problem *p)
{
    sd_csr_free(&p->c, &p->B);
    assert_int_equal(p->c.bytes, 0);
    dense_free(&p->d);
}

/* The diagonal is `dominance` times the sum of its row and one. */
static inline void give_diagonal(dense *d, double dominance)
{
    for (int i = 0; i < d->n; ++i) {
        double sum = 1;
        for (int j = 0; j < d->n; ++j) sum += j == i ? 0 : fabs(dense_at(d, i, j));
        dense_set(d, i, i, dominance * sum);
    }
}

/* Numbers between -1 and 1, about `entries` a row beside the diagonal, each place blown up to a block. */
static inline dense blocks_problem(rng *r, int nodes, int unknowns, double entries, bool symmetric)
{
    const int n = nodes * unknowns;
    dense d = dense_new(n);
    for (int p = 0; p < nodes; ++p) {
        for (int q = symmetric ? p : 0; q < nodes; ++q) {
            if (p != q && fabs(rng_unit(r)) * nodes > entries) continue;
            for (int a = 0; a < unknowns * unknowns; ++a) {
                const int i = p * unknowns + a / unknowns, j = q * unknowns + a % unknowns;
                if (symmetric && j < i) continue;
                dense_set(&d, i, j, rng_unit(r));
                if (symmetric) dense_set(&d, j, i, dense_at(&d, i, j));
            }
        }
    }
    give_diagonal(&d, 1.0);
    return d;
}

static inline int64_t entries_of(const sd_incomplete *m)
{
    return m->lower.ptr[m->n] + (m->symmetric ? 0 : m->upper.ptr[m->n]);
}

/* Factors as dense matrices: of L the diagonal too, U the transpose of L in L L'. */
typedef struct dense_factors {
    dense lower, upper;
} dense_factors;

static inline dense_factors dense_factors_of(const sd_incomplete *m)
{
    dense_factors f = {dense_new(m->n), dense_new(m->n)};
    for (int i = 0; i < m->n; ++i) {
        dense_set(&f.lower, i, i, m->symmetric ? m->diagonal[i] : 1);
        dense_set(&f.upper, i, i, m->diagonal[i]);
        for (int64_t k = m->lower.ptr[i]; k < m->lower.ptr[i + 1]; ++k) {
            assert_in_range(m->lower.ind[k], 0, i - 1);
            if (k > m->lower.ptr[i]) assert_true(m->lower.ind[k - 1] < m->lower.ind[k]);
            dense_set(&f.lower, i, m->lower.ind[k], m->lower_val[k]);
            if (m->symmetric) dense_set(&f.upper, m->lower.ind[k], i, m->lower_val[k]);
        }
        for (int64_t k = m->symmetric ? 0 : m->upper.ptr[i]; !m->symmetric && k < m->upper.ptr[i + 1]; ++k) {
            assert_in_range(m->upper.ind[k], i + 1, m->n - 1);
            if (k > m->upper.ptr[i]) assert_true(m->upper.ind[k - 1] < m->upper.ind[k]);
            dense_set(&f.upper, i, m->upper.ind[k], m->upper_val[k]);
        }
    }
    return f;
}

static inline void dense_factors_free(dense_factors *f)
{
    dense_free(&f->lower);
    dense_free(&f->upper);
}

/* Factors of a problem, as they were made and as dense ones. */
typedef struct factors {
    sd_incomplete m;
    dense_factors dense;
} factors;

static inline factors factors_by(problem *p, bool symmetric, const sd_incomplete_rule *rule)
{
    factors f;
    must(&p->c, sd_incomplete_make(&p->c, &p->B, symmetric, rule, &f.m));
    f.dense = dense_factors_of(&f.m);
    return f;
}

static inline void factors_free(problem *p, factors *f)
{
    dense_factors_free(&f->dense);
    sd_incomplete_free(&p->c, &f->m);
}

static inline bool on_pattern(const dense_factors *f, int i, int j)
{
    return f->lower.there[i * f->lower.n + j] || f->upper.there[i * f->lower.n + j];
}

/* What elimination gives that drops every entry outside `there`, by plain loops: L (with a diagonal of
 * ones) and U in one matrix. */
static inline double *plain_elimination(const dense *d, const bool *there)
{
    const int n = d->n;
    double *a = test_alloc((size_t)n * (size_t)n, sizeof *a);
    memcpy(a, d->a, (size_t)n * (size_t)n * sizeof *a);
    for (int k = 0; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            if (!there[i * n + k]) continue;
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; ++j)
                if (there[i * n + j]) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
    return a;
}

/* Compares factors with it; L L' has sqrt(u_kk) in its columns. */
static inline void assert_plain(const dense_factors *f, const dense *d, bool symmetric)
{
    const int n = d->n;
    bool *there = test_alloc((size_t)n * (size_t)n, sizeof *there);
    for (int k = 0; k < n * n; ++k) there[k] = on_pattern(f, k / n, k % n);
    double *a = plain_elimination(d, there);
    for (int k = 0; k < n * n; ++k) {
        const int i = k / n, j = k % n;
        if (!there[k]) continue;
        const double root = symmetric ? sqrt(a[(i < j ? i : j) * (n + 1)]) : 1;
        const double wanted = i > j ? a[k] * root : a[k] / root;
        const double is = i > j ? dense_at(&f->lower, i, j) : dense_at(&f->upper, i, j);
        if (!(fabs(is - wanted) <= ROUNDING * (fabs(wanted) + 1)))
            fail_msg("factor at (%d, %d) is %.17g, not %.17g", i, j, is, wanted);
    }
    free(a);
    free(there);
}

/* (L U)_ij = a_ij + shift S_i [i = j] on the pattern of the factors, to rounding. */
static inline void assert_product(const dense_factors *f, const dense *d, const sd_incomplete *m)
{
    const int n = d->n;
    for (int i = 0; i < n; ++i) {
        double largest = 0;
        for (int j = 0; j < n; ++j) largest = fmax(largest, fabs(dense_at(d, i, j)));
        if (largest == 0) largest = 1;
        for (int j = 0; j < n; ++j) {
            if (!on_pattern(f, i, j)) continue;
            double sum = 0, size = 0;
            for (int k = 0; k <= i && k <= j; ++k) {
                sum += dense_at(&f->lower, i, k) * dense_at(&f->upper, k, j);
                size += fabs(dense_at(&f->lower, i, k) * dense_at(&f->upper, k, j));
            }
            double wanted = dense_at(d, i, j);
            const double by = m->shift * largest;
            if (i == j) wanted += wanted < 0 && !m->symmetric ? -by : by;
            if (!(fabs(sum - wanted) <= 1e-13 * (size + fabs(wanted))))
                fail_msg("(L U) at (%d, %d) is %g, not %g", i, j, sum, wanted);
        }
    }
}

static inline void assert_same_bits(const sd_incomplete *a, const sd_incomplete *b)
{
    const size_t n = (size_t)a->n, lower = (size_t)a->lower.ptr[n];
    assert_memory_equal(a->lower.ptr, b->lower.ptr, (n + 1) * sizeof *a->lower.ptr);
    assert_memory_equal(a->diagonal, b->diagonal, n * sizeof *a->diagonal);
    if (lower > 0) assert_memory_equal(a->lower.ind, b->lower.ind, lower * sizeof *a->lower.ind);
    if (lower > 0) assert_memory_equal(a->lower_val, b->lower_val, lower * sizeof *a->lower_val);
    assert_true(a->shift == b->shift);
    assert_int_equal(a->restarts, b->restarts);
    if (a->symmetric) return;
    const size_t upper = (size_t)a->upper.ptr[n];
    assert_memory_equal(a->upper.ptr, b->upper.ptr, (n + 1) * sizeof *a->upper.ptr);
    if (upper > 0) assert_memory_equal(a->upper.ind, b->upper.ind, upper * sizeof *a->upper.ind);
    if (upper > 0) assert_memory_equal(a->upper_val, b->upper_val, upper * sizeof *a->upper_val);
}

/* A grid of side^3 nodes with its six neighbours and dense blocks: large enough for threads. Freed with
 * sd_csr_free. */
static inline sd_csr grid_blocks(sd_context *c, rng *r, int side, int unknowns, bool symmetric)
{
    const int nodes = side * side * side, n = nodes * unknowns;
    const int step[] = {-side * side, -side, -1, 0, 1, side, side * side};
    sd_csr A = {.n = n, .ptr = sd_alloc_zero(c, n + 1, sizeof *A.ptr, "rows")};
    const int64_t room = (int64_t)7 * unknowns * n;
    A.ind = sd_alloc(c, room, sizeof *A.ind, "columns");
    A.val = sd_alloc(c, room, sizeof *A.val, "values");
    assert_true(A.ptr && A.ind && A.val);
    for (int i = 0; i < n; ++i) {
        const int p = i / unknowns, at[] = {p / (side * side), p / side % side, p % side};
        for (int s = 0; s < 7; ++s) {
            const int axis = s < 3 ? s : 6 - s;
            if ((s < 3 && at[axis] == 0) || (s > 3 && at[axis] == side - 1)) continue;
            for (int u = 0; u < unknowns; ++u) {
                const int j = (p + step[s]) * unknowns + u;
                A.ind[A.nnz] = j;
                A.val[A.nnz++] = i == j               ? 7.5 * unknowns
                                 : symmetric && j < i ? sd_csr_at(&A, j, i)
                                                      : rng_unit(r);
            }
        }
        A.ptr[i + 1] = A.nnz;
    }
    return A;
}

/* ---- errors ---- */

/* Numbers at the end of their range, whose elimination overflows. */
static inline void assert_overflow_is_an_error(bool symmetric, const sd_incomplete_rule *rule)
{
    dense d = dense_new(3);
    for (int k = 0; k < 9; ++k) dense_set(&d, k / 3, k % 3, k % 4 ? 1.7e308 : -1.7e308);
    problem p = problem_of(d);
    sd_incomplete m;
    assert_int_equal(sd_incomplete_make(&p.c, &p.B, symmetric, rule, &m), SADDLE_BAD_VALUE);
    assert_contains(p.c.message, "scale the matrix");
    sd_incomplete_free(&p.c, &m);
    problem_free(&p);
}

/* Whether a call has a k-th allocation, which then fails: it must say so, and leave nothing behind. */
static inline bool allocation_fails(int64_t k, saddle_status (*call)(sd_context *c, const void *input),
                                    const void *input)
{
    failing_allocator f = {.fail_at = k};
    const saddle_hooks hooks = failing_hooks(&f);
    sd_context c;
    sd_context_init(&c, &hooks, 0);
    const saddle_status status = call(&c, input);
    assert_int_equal(f.live, 0);
    assert_int_equal(c.bytes, 0);
    assert_int_equal(status, f.failed ? SADDLE_OUT_OF_MEMORY : SADDLE_OK);
    return f.failed;
}

/* What factor_twice factors: B by a rule, and again with the same values. */
typedef struct factorization {
    sd_csr B;
    bool symmetric;
    sd_incomplete_rule rule;
} factorization;

static inline saddle_status factor_twice(sd_context *c, const void *input)
{
    const factorization *f = input;
    sd_incomplete m;
    saddle_status status = sd_incomplete_make(c, &f->B, f->symmetric, &f->rule, &m);
    if (!status) status = sd_incomplete_again(c, &f->B, &f->rule, &m);
    sd_incomplete_free(c, &m);
    return status;
}

/* A hook that cancels as soon as something is done. */
static inline int cancel_once_begun(const saddle_progress *progress, void *user)
{
    (void)user;
    return progress->done > 0;
}
