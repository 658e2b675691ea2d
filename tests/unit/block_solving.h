/*
 * Applications of factored blocks in long double, with a running bound of what rounding may do to them.
 *
 * A number carries its value and its error in roundings. Every product that is subtracted from a number
 * counts n roundings of its own size, so the bound holds for sums in any order, fused or not.
 */
#pragma once

#include "block_oracle.h"

typedef struct number {
    long double value, error;
} number;

/* One block's factors in long double. */
typedef struct factored {
    int n;
    sd_batch_kernel kernel;
    uint32_t pairs;
    long double a[SQUARE];
} factored;

static inline long double factored_at(const factored *f, int i, int j)
{
    return f->a[i + j * f->n];
}

/* x <- x - c y */
static inline void subtract_product(const factored *f, number *x, long double c, const number *y)
{
    x->value -= c * y->value;
    x->error += fabsl(c) * y->error + (f->n + 1) * fabsl(c * y->value);
}

static inline void divide(const factored *f, number *x, long double d)
{
    x->value /= d;
    x->error = x->error / fabsl(d) + (f->n + 2) * fabsl(x->value);
}

static inline void solve_pair(const factored *f, int s, number *u, number *v)
{
    const long double b = factored_at(f, s + 1, s);
    const long double x = factored_at(f, s, s) / b, y = factored_at(f, s + 1, s + 1) / b;
    const long double t = 1 / (b * (x * y - 1));
    const long double roundings = 8 * (fabsl(x * y) + 1) / fabsl(x * y - 1) + f->n;
    const number p = *u, q = *v;
    u->value = t * (y * p.value - q.value);
    v->value = t * (x * q.value - p.value);
    u->error =
        fabsl(t) * (fabsl(y) * (p.error + roundings * fabsl(p.value)) + q.error + roundings * fabsl(q.value));
    v->error =
        fabsl(t) * (fabsl(x) * (q.error + roundings * fabsl(q.value)) + p.error + roundings * fabsl(p.value));
}

static inline bool is_of_pair(const factored *f, int i, int j)
{
    return (i == j + 1 && f->pairs >> j & 1) || (j == i + 1 && f->pairs >> i & 1);
}

static inline void solve_triangles(const factored *f, number *x)
{
    const int n = f->n;
    for (int j = 0; j < n; ++j) {
        if (is_cholesky(f->kernel)) divide(f, &x[j], factored_at(f, j, j));
        for (int i = j + 1; i < n; ++i)
            if (!is_of_pair(f, i, j)) subtract_product(f, &x[i], factored_at(f, i, j), &x[j]);
    }
    for (int s = 0; s < n && !is_cholesky(f->kernel); ++s) {
        if (f->pairs >> s & 1) {
            solve_pair(f, s, &x[s], &x[s + 1]);
            ++s;
        } else {
            divide(f, &x[s], factored_at(f, s, s));
        }
    }
    for (int j = n - 1; j >= 0; --j) {
        if (is_cholesky(f->kernel)) divide(f, &x[j], factored_at(f, j, j));
        for (int i = 0; i < j; ++i)
            if (!is_of_pair(f, i, j)) subtract_product(f, &x[i], factored_at(f, i, j), &x[j]);
    }
}

static inline void multiply_inverse(const factored *f, number *x)
{
    number b[SD_BLOCK_MOST];
    memcpy(b, x, sizeof *x * (size_t)f->n);
    for (int i = 0; i < f->n; ++i) {
        x[i] = (number){0};
        for (int j = 0; j < f->n; ++j) subtract_product(f, &x[i], -factored_at(f, i, j), &b[j]);
    }
}

static inline void solve_huard(const factored *f, number *x)
{
    const int n = f->n;
    for (int k = 0; k < n; ++k) {
        for (int j = 0; j < k; ++j) subtract_product(f, &x[k], factored_at(f, k, j), &x[j]);
        divide(f, &x[k], factored_at(f, k, k));
        for (int i = 0; i < k; ++i)
            subtract_product(
                f, &x[i], f->kernel == SD_HUARD ? factored_at(f, i, k) : factored_at(f, n - 1 - k, n - 1 - i),
                &x[k]);
    }
}

/* x = F^-1 rhs for block k of a batch that is wholly in the plan. */
static inline void apply_oracle(const batch *b, const factors *f, int32_t k, const double *rhs, number *x)
{
    static factored d;
    const uint8_t *row = f->row + b->start[k], *column = f->column + b->start[k];
    number z[SD_BLOCK_MOST];
    d.n = batch_size(b, k);
    d.kernel = f->kernel;
    d.pairs = f->state[k].pairs;
    for (int at = 0; at < d.n * d.n; ++at) d.a[at] = real_at(f->data, f->precision, b->entry[k] + at);
    for (int i = 0; i < d.n; ++i) {
        const long double value = rhs[row[i]];
        z[i] = (number){value, d.n * fabsl(value)};
    }
    if (f->kernel == SD_JORDAN)
        multiply_inverse(&d, z);
    else if (f->kernel == SD_HUARD || f->kernel == SD_HUARD_TRANSPOSED)
        solve_huard(&d, z);
    else
        solve_triangles(&d, z);
    for (int i = 0; i < d.n; ++i) x[is_symmetric(f->kernel) ? row[i] : column[i]] = z[i];
}

/* max |rhs - A x| / (|A| |x|), norms of rows, in roundings of the batch's precision; 0 where x is 0. */
static inline double residual_of(const batch *b, int32_t k, const double *rhs, const double *x)
{
    const int n = batch_size(b, k);
    long double most = 0, norm = 0, size = 0;
    for (int i = 0; i < n; ++i) {
        long double r = rhs[i], sum = 0;
        for (int j = 0; j < n; ++j) {
            r -= (long double)batch_at(b, k, i, j) * (long double)x[j];
            sum += fabsl((long double)batch_at(b, k, i, j));
        }
        if (!(fabsl(r) <= most)) most = fabsl(r);
        norm = fmaxl(norm, sum);
        size = fmaxl(size, fabsl((long double)x[i]));
    }
    return most == 0 ? 0 : (double)(most / (norm * size) / unit_of(b->precision));
}

/* The larger entry of |A X - I|, or of |X A - I|, for X by columns. */
static inline long double far_from_identity(const batch *b, int32_t k, const void *x, bool left)
{
    const int n = batch_size(b, k);
    long double most = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            long double r = i == j;
            for (int s = 0; s < n; ++s)
                r -= (long double)batch_at(b, k, left ? s : i, left ? j : s) *
                     (long double)real_at(x, b->precision, left ? i + s * n : s + j * n);
            if (!(fabsl(r) <= most)) most = fabsl(r);
        }
    }
    return most;
}

/* min(|A X - I|, |X A - I|) / (|A| |X|) of an inverse X, in the same units: no way to an inverse makes both
 * of them small (Higham, Accuracy and Stability of Numerical Algorithms, chapter 14). */
static inline double inverse_residual(const batch *b, int32_t k, const void *x)
{
    const int n = batch_size(b, k);
    long double norm = 0, size = 0;
    for (int i = 0; i < n; ++i) {
        long double sum = 0, x_sum = 0;
        for (int j = 0; j < n; ++j) {
            sum += fabsl((long double)batch_at(b, k, i, j));
            x_sum += fabsl((long double)real_at(x, b->precision, i + j * n));
        }
        norm = fmaxl(norm, sum);
        size = fmaxl(size, x_sum);
    }
    const long double error = fminl(far_from_identity(b, k, x, false), far_from_identity(b, k, x, true));
    return (double)(error / (norm * size) / unit_of(b->precision));
}
