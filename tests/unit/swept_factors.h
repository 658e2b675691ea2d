/* Fixed-point sweeps for tests: matrices, patterns, and how far factors are from their matrix. */
#pragma once

#include "incomplete.h"

#include "factor/fixed_point.h"

enum { MANY = 1000 }; /* sweeps: more than are needed */

typedef enum kind { SPD, M_MATRIX, DOMINANT, KINDS } kind;

static inline bool is_symmetric(kind k)
{
    return k == SPD;
}

/* Symmetric in pattern; rows are dominated by their diagonals, by little where `margin` is small. */
static inline dense matrix_of(rng *r, kind k, int n, double margin)
{
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            if (rng_below(r, n) >= 4) continue;
            const double x = rng_unit(r), y = is_symmetric(k) ? x : rng_unit(r);
            dense_set(&d, i, j, k == M_MATRIX ? -fabs(x) : x);
            dense_set(&d, j, i, k == M_MATRIX ? -fabs(y) : y);
        }
    }
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += fabs(dense_at(&d, i, j));
        dense_set(&d, i, i, (k == DOMINANT && rng_below(r, 2) ? -1 : 1) * ((1 + margin) * sum + margin));
    }
    return d;
}

/* The Laplacian of a grid whose edges have conductivities over some decades, with a wind that blows along
 * them, upwind: an M-matrix. Rows and columns have about the same sums. */
static inline dense grid_of(rng *r, int side, double decades, double wind)
{
    const int n = side * side;
    dense d = dense_new(n);
    for (int i = 0; i < n; ++i) dense_set(&d, i, i, 0.1); /* far from singular */
    for (int i = 0; i < n; ++i) {
        for (int way = 0; way < 2; ++way) {
            if (way == 0 ? i % side == side - 1 : i + side >= n) continue;
            const int j = i + (way == 0 ? 1 : side);
            const double w = pow(10, decades * rng_unit(r) / 2);
            dense_set(&d, i, j, -w);
            dense_set(&d, j, i, -w * (1 + wind));
            d.a[i * n + i] += w * (1 + wind);
            d.a[j * n + j] += w * (1 + wind);
        }
    }
    return d;
}

/* S B S, so that the diagonal is one. */
static inline void scale_to_unit(dense *d)
{
    const int n = d->n;
    double *s = test_alloc((size_t)n, sizeof *s);
    for (int i = 0; i < n; ++i) s[i] = 1 / sqrt(dense_at(d, i, i));
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) d->a[i * n + j] *= s[i] * s[j];
    free(s);
}

static inline sd_pattern triangle_of(sd_context *c, const dense *p, bool upper)
{
    const int n = p->n;
    sd_pattern t = {.n = n, .ptr = sd_alloc(c, n + 1, sizeof *t.ptr, "test")};
    t.ind = sd_alloc(c, (int64_t)n * n, sizeof *t.ind, "test");
    assert_true(t.ptr && t.ind);
    int64_t count = 0;
    for (int i = 0; i < n; ++i) {
        t.ptr[i] = count;
        for (int j = upper ? i + 1 : 0; j < (upper ? n : i); ++j)
            if (p->there[i * n + j]) t.ind[count++] = j;
    }
    t.ptr[n] = count;
    return t;
}

/* Factors without numbers, on the pattern of p. */
static inline sd_incomplete factors_on(sd_context *c, const dense *p, bool symmetric)
{
    sd_incomplete m = {.n = p->n, .symmetric = symmetric, .lower = triangle_of(c, p, false)};
    if (!symmetric) m.upper = triangle_of(c, p, true);
    return m;
}

/* Sweeps on this pattern, or where the rule has no level on one that is found. */
static inline saddle_status swept_on(problem *p, const dense *pattern, bool symmetric,
                                     const sd_incomplete_rule *rule, sd_incomplete *m)
{
    if (rule->level < 0) return sd_fixed_point_fill(&p->c, &p->B, symmetric, rule, m);
    *m = factors_on(&p->c, pattern, symmetric);
    return sd_fixed_point(&p->c, &p->B, symmetric, rule, m);
}

/* On the pattern of the matrix; succeeds. */
static inline sd_incomplete swept(problem *p, bool symmetric, const sd_incomplete_rule *rule)
{
    sd_incomplete m;
    must(&p->c, swept_on(p, &p->d, symmetric, rule, &m));
    return m;
}

/* Sum of |B + shift S - L U|, on the pattern or everywhere, relative to that of |B + shift S| there. */
static inline double residual_of(const sd_incomplete *m, const dense *B, bool everywhere)
{
    const int n = B->n;
    dense_factors f = dense_factors_of(m);
    double sum = 0, norm = 0;
    for (int i = 0; i < n; ++i) {
        double most = 0;
        for (int j = 0; j < n; ++j) most = fmax(most, fabs(dense_at(B, i, j)));
        for (int j = 0; j < n; ++j) {
            if (!everywhere && !on_pattern(&f, i, j)) continue;
            const double sign = !m->symmetric && dense_at(B, i, i) < 0 ? -1 : 1;
            const double b = dense_at(B, i, j) + (i == j ? sign * m->shift * (most > 0 ? most : 1) : 0);
            long double left = b;
            for (int k = 0; k <= i && k <= j; ++k)
                left -= (long double)dense_at(&f.lower, i, k) * dense_at(&f.upper, k, j);
            sum += (double)fabsl(left);
            norm += fabs(b);
        }
    }
    dense_factors_free(&f);
    return sum / norm;
}

static inline sd_incomplete_rule sweeps_of(int sweeps, int threads)
{
    return (sd_incomplete_rule){.level = 0, .swept = true, .sweeps = sweeps, .threads = threads};
}

static inline sd_incomplete_rule fill_of(double tau, double most, int sweeps, int threads)
{
    return (sd_incomplete_rule){
        .level = -1, .tau = tau, .most = most, .swept = true, .sweeps = sweeps, .threads = threads};
}
