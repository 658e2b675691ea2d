/*
 * Solves with factors that have no fronts. The right-hand sides of a row lie side by side; loops over one and
 * two of them, the most frequent numbers, are compiled for these. Every column has the bits that it would
 * have alone.
 */
#include "solve/simplicial.h"

#include "solve/triangular.h"

#define INLINE static inline __attribute__((always_inline))

/* to -= a from, of k numbers. */
INLINE void subtract(double *to, double a, const double *from, int32_t k)
{
    for (int32_t r = 0; r < k; ++r) to[r] -= a * from[r];
}
INLINE void subtract_two(double *to, double a, const double *from, double b, const double *next, int32_t k)
{
    for (int32_t r = 0; r < k; ++r) to[r] -= a * from[r] + b * next[r];
}

INLINE void forward(const sd_simplicial *m, double *x, int32_t k)
{
    const double *const l = m->l;
    const int32_t *const row = m->s.row;
    for (int32_t j = 0; j < m->s.nodes; ++j) {
        const sd_node node = m->s.node[j];
        const double *const own = x + (int64_t)node.k * k;
        double a[2] = {own[0], k == 2 ? own[1] : 0};
        const double *const from = k <= 2 ? a : own; /* in registers: the compiler cannot know that x stays */
        if (node.width == 1) {
            for (int64_t e = node.begin; e < node.end; ++e) subtract(x + (int64_t)row[e] * k, l[e], from, k);
            continue;
        }
        double b[2] = {own[k], k == 2 ? own[3] : 0};
        const double *const next = k <= 2 ? b : own + k;
        for (int64_t e = node.begin; e < node.end; e += 2)
            subtract_two(x + (int64_t)row[e] * k, l[e], from, l[e + 1], next, k);
    }
}

/* Row by row, 1x1 pivots among 2x2 ones. */
INLINE void diagonal(const sd_simplicial *m, double *x, int32_t k)
{
    for (int32_t i = 0; i < m->s.n; ++i) {
        const double *const in = m->inverse + 2 * (int64_t)i;
        double *const row = x + (int64_t)i * k, *const next = row + k;
        if (in[1] == 0) {
            for (int32_t r = 0; r < k; ++r) row[r] *= in[0];
            continue;
        }
        for (int32_t r = 0; r < k; ++r) {
            const double a = row[r], b = next[r];
            row[r] = in[0] * a + in[1] * b;
            next[r] = in[1] * a + in[2] * b;
        }
        ++i;
    }
}

/* With D^-1 on the way, where `scaled`: a pass less. */
INLINE void backward(const sd_simplicial *m, double *x, int32_t k, bool scaled)
{
    const double *const l = m->l;
    const int32_t *const row = m->s.row;
    for (int32_t j = m->s.nodes - 1; j >= 0; --j) {
        const sd_node node = m->s.node[j];
        const double *const in = m->inverse + 2 * (int64_t)node.k;
        double *const own = x + (int64_t)node.k * k;
        double a[2], b[2];
        double *const to = k <= 2 ? a : own, *const next = k <= 2 ? b : own + k;
        if (node.width == 1) {
            for (int32_t r = 0; r < k; ++r) to[r] = scaled ? own[r] * in[0] : own[r];
            for (int64_t e = node.begin; e < node.end; ++e) subtract(to, l[e], x + (int64_t)row[e] * k, k);
        } else {
            for (int32_t r = 0; r < k; ++r) {
                const double p = own[r], q = own[k + r];
                to[r] = scaled ? in[0] * p + in[1] * q : p;
                next[r] = scaled ? in[1] * p + in[2] * q : q;
            }
            for (int64_t e = node.begin; e < node.end; e += 2) {
                subtract(to, l[e], x + (int64_t)row[e] * k, k);
                subtract(next, l[e + 1], x + (int64_t)row[e] * k, k);
            }
            for (int32_t r = 0; r < k && k <= 2; ++r) own[k + r] = b[r];
        }
        for (int32_t r = 0; r < k && k <= 2; ++r) own[r] = a[r];
    }
}

INLINE void solve(const sd_simplicial *m, int parts, double *x, int32_t k)
{
    const bool both = (parts & SD_SOLVE_DIAGONAL) && (parts & SD_SOLVE_BACKWARD);
    if (parts & SD_SOLVE_FORWARD) forward(m, x, k);
    if (parts == SD_SOLVE_DIAGONAL) diagonal(m, x, k);
    if (both)
        backward(m, x, k, true);
    else if (parts & SD_SOLVE_BACKWARD)
        backward(m, x, k, false);
}

void sd_simplicial_solve(const sd_simplicial *m, int parts, int32_t k, double *x)
{
    switch (k) {
    case 1: solve(m, parts, x, 1); break;
    case 2: solve(m, parts, x, 2); break;
    default: solve(m, parts, x, k);
    }
}
