/*
 * LDL' without fronts for one instruction set: see backend/simplicial.h.
 *
 * L is so sparse that most loops are over a few entries: what counts is how few instructions, and how short a
 * chain of them, an entry takes. A sequence that is used once is run row by row; one that has places
 * (plan/sequence.h) column by column, which takes 0.55 to 1.05 of the time.
 */
#include "backend/cpu/isa.h"
#include "backend/simplicial_pivots.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define MATH(x) x /* everything is in double */

/* What a row has to keep to, and whether it has. */
typedef struct checked {
    double limit; /* of |l| */
    bool broken;
} checked;

/* Row k: y, which holds A's row, becomes L's, node by node; returns what the diagonal loses. */
INLINE double eliminate_row(sd_simplicial *m, int32_t k, checked *check)
{
    const sd_sequence *s = &m->s;
    double *restrict const y = m->y, *restrict const l = m->l, lost = 0;
    const int32_t *restrict const row = s->row;
    bool broken = false;
    for (int64_t t = s->list_ptr[k]; t < s->list_ptr[k + 1]; ++t) {
        sd_node *const node = &s->node[s->list[t]];
        const int64_t end = node->next;
        const double *const in = m->inverse + 2 * (int64_t)node->k;
        double *const own = y + node->k;
        if (node->width == 1) {
            const double a = own[0], u = a * in[0];
            own[0] = 0;
            for (int64_t e = node->begin; e < end; ++e) y[row[e]] = FUSED(-l[e], a, y[row[e]]);
            l[end] = u;
            lost = FUSED(u, a, lost);
            broken |= !(fabs(u) <= check->limit);
            node->next = end + 1;
            continue;
        }
        const double a = own[0], b = own[1], u = FUSED(in[0], a, in[1] * b), v = FUSED(in[1], a, in[2] * b);
        own[0] = own[1] = 0;
        for (int64_t e = node->begin; e < end; e += 2)
            y[row[e]] = FUSED(-l[e], a, FUSED(-l[e + 1], b, y[row[e]]));
        l[end] = u;
        l[end + 1] = v;
        lost = FUSED(u, a, FUSED(v, b, lost));
        broken |= !(fabs(u) <= check->limit) | !(fabs(v) <= check->limit);
        node->next = end + 2;
    }
    check->broken = broken;
    return lost;
}

/* Row by row: all that has to be known of a sequence is there at once. */
static bool run_rows(sd_simplicial *m, const double *values, const sd_pivoting *given, sd_pivots *pivots)
{
    const sd_sequence *s = &m->s;
    const sd_pivoting rule = *given;
    checked check = {.limit = rule.rule == SD_PIVOT_THRESHOLD ? 1 / rule.u : INFINITY};
    sd_found found = {.least = INFINITY};
    bool ok = true;
    for (int32_t j = 0; j < s->nodes; ++j) s->node[j].next = s->node[j].begin;
    for (int32_t j = 0; j < s->nodes && ok; ++j) {
        const int32_t first = s->node[j].k, last = first + s->node[j].width - 1;
        for (int32_t k = first; k <= last; ++k) {
            double *const d = m->d + 2 * (int64_t)k;
            for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e)
                m->y[s->column[e]] = values[s->from[e]];
            const double lost = eliminate_row(m, k, &check);
            if (k > first) d[-1] = m->y[first];
            d[0] = m->y[k] - lost;
            d[1] = 0;
            m->y[first] = m->y[k] = 0;
            if (check.broken) break;
        }
        ok = !check.broken &&
             (last > first ? sd_take_pair(m, first, &rule, &found) : sd_take_pivot(m, first, &rule, &found));
    }
    sd_found_tell(&found, m, pivots);
    if (!ok) memset(m->y, 0, (size_t)s->n * sizeof *m->y);
    return ok;
}

/* Where the losses of diagonal k add up until it is a pivot: there its inverse has no number yet. */
INLINE double *loss_of(sd_simplicial *m, int32_t k)
{
    return &m->inverse[2 * (int64_t)k + 1];
}

/* The column of a pivot, which has what A and the columns before have left in its place, becomes L's, and its
 * products with itself go to their targets. Returns the targets of the next. */
INLINE const int32_t *eliminate_column(sd_simplicial *m, const sd_node *node, const int32_t *to,
                                       checked *check)
{
    double *const numbers = m->l, *const l = numbers + node->begin;
    const int32_t *const row = m->s.row + node->begin;
    const int64_t entries = node->end - node->begin;
    const double inverse = m->inverse[2 * (int64_t)node->k];
    bool broken = false;
    for (int64_t e = 0; e < entries; ++e) {
        const double a = l[e], u = a * inverse;
        for (int64_t f = 0; f < e; ++f, ++to) numbers[*to] = FUSED(-l[f], a, numbers[*to]);
        l[e] = u;
        *loss_of(m, row[e]) = FUSED(u, a, *loss_of(m, row[e]));
        broken |= !(fabs(u) <= check->limit);
    }
    check->broken = broken;
    return to;
}

/* The same of a 2x2 pivot and its two columns. */
INLINE const int32_t *eliminate_two(sd_simplicial *m, const sd_node *node, const int32_t *to, checked *check)
{
    double *const numbers = m->l, *const l = numbers + node->begin;
    const int32_t *const row = m->s.row + node->begin;
    const int64_t entries = node->end - node->begin;
    const double *const in = m->inverse + 2 * (int64_t)node->k, first = in[0], mixed = in[1], second = in[2];
    bool broken = false;
    for (int64_t e = 0; e < entries; e += 2) {
        const double a = l[e], b = l[e + 1];
        const double u = FUSED(first, a, mixed * b), v = FUSED(mixed, a, second * b);
        for (int64_t f = 0; f < e; f += 2, ++to)
            numbers[*to] = FUSED(-l[f], a, FUSED(-l[f + 1], b, numbers[*to]));
        l[e] = u;
        l[e + 1] = v;
        *loss_of(m, row[e]) = FUSED(u, a, FUSED(v, b, *loss_of(m, row[e])));
        broken |= !(fabs(u) <= check->limit) | !(fabs(v) <= check->limit);
    }
    check->broken = broken;
    return to;
}

/* Column by column: every number is in its place from the beginning, so that no row is gathered, and one
 * column's products do not wait for each other. A number takes the same operations in the same order as row
 * by row. */
static bool run_columns(sd_simplicial *m, const double *values, const sd_pivoting *given, sd_pivots *pivots)
{
    const sd_sequence *s = &m->s;
    const sd_pivoting rule = *given;
    const int64_t entries = s->entry_ptr[s->n], n = s->n;
    const int32_t *to = s->target;
    double *const numbers = m->l;
    checked check = {.limit = rule.rule == SD_PIVOT_THRESHOLD ? 1 / rule.u : INFINITY};
    sd_found found = {.least = INFINITY};
    bool ok = true;
    memset(numbers, 0, (size_t)(m->d + 2 * n - numbers) * sizeof *numbers);
    memset(m->inverse, 0, 2 * (size_t)n * sizeof *m->inverse);
    for (int64_t e = 0; e < entries; ++e) numbers[s->start[e]] = values[e];
    for (int32_t j = 0; j < s->nodes && ok; ++j) {
        const sd_node *const node = &s->node[j];
        const int32_t k = node->k;
        double *const d = m->d + 2 * (int64_t)k;
        d[0] -= *loss_of(m, k);
        if (node->width == 1) {
            ok = sd_take_pivot(m, k, &rule, &found);
            if (ok) to = eliminate_column(m, node, to, &check);
        } else {
            d[2] -= *loss_of(m, k + 1);
            ok = sd_take_pair(m, k, &rule, &found);
            if (ok) to = eliminate_two(m, node, to, &check);
        }
        ok = ok && !check.broken;
    }
    sd_found_tell(&found, m, pivots);
    return ok;
}

static bool run(sd_simplicial *m, const double *values, const sd_pivoting *rule, sd_pivots *pivots)
{
    return m->s.target ? run_columns(m, values, rule, pivots) : run_rows(m, values, rule, pivots);
}

/* ---- solves: loops over one and two right-hand sides, the most frequent numbers, are compiled for these
 * ----
 */

/* to -= a from, of k numbers. */
INLINE void subtract(double *to, double a, const double *from, int32_t k)
{
    for (int32_t r = 0; r < k; ++r) to[r] = FUSED(-a, from[r], to[r]);
}
INLINE void subtract_two(double *to, double a, const double *from, double b, const double *next, int32_t k)
{
    for (int32_t r = 0; r < k; ++r) to[r] = FUSED(-a, from[r], FUSED(-b, next[r], to[r]));
}

INLINE void forward_k(const sd_simplicial *m, double *x, int32_t k)
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

INLINE void backward_k(const sd_simplicial *m, bool scaled, double *x, int32_t k)
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
                to[r] = scaled ? FUSED(in[0], p, in[1] * q) : p;
                next[r] = scaled ? FUSED(in[1], p, in[2] * q) : q;
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

static void forward(const sd_simplicial *m, int32_t k, double *x)
{
    switch (k) {
    case 1: forward_k(m, x, 1); break;
    case 2: forward_k(m, x, 2); break;
    default: forward_k(m, x, k);
    }
}

static void backward(const sd_simplicial *m, bool scaled, int32_t k, double *x)
{
    if (k == 1 && scaled)
        backward_k(m, true, x, 1);
    else if (k == 1)
        backward_k(m, false, x, 1);
    else if (k == 2)
        backward_k(m, scaled, x, 2);
    else
        backward_k(m, scaled, x, k);
}

const sd_simplicial_kernels SD_ISA(simplicial) = {run, forward, backward};
