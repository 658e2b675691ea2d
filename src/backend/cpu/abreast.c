/* Systems abreast, for one instruction set: see abreast.h. Residuals are in abreast_residual.c. */
#include "backend/cpu/abreast.h"

#include "backend/cpu/abreast_vector.h"

#include <float.h>
#include <string.h>

INLINE vec get(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* ---- in and out ---- */

static void join(int64_t n, const double *const *from, double *restrict to)
{
    const double *own[W];
    EACH own[c] = from[c];
    for (int64_t i = 0; i < n; ++i) EACH to[i * W + c] = own[c][i];
}

static void part(int64_t n, const double *from, double *const *to)
{
    enum { ROWS = 64 }; /* that stay in the cache */
    for (int64_t first = 0; first < n; first += ROWS) {
        const int64_t end = n - first < ROWS ? n : first + ROWS;
        EACH
        {
            double *const own = to[c];
            for (int64_t i = first; i < end && own; ++i) own[i] = from[i * W + c];
        }
    }
}

static void scale_values(const sd_csr *A, const double *values, const int64_t *target, const double *scale,
                         const double *power, double *scaled)
{
    const vec *const a = (const void *)values;
    const vec p = get(power);
    vec *const to = (void *)scaled;
    for (int32_t i = 0; i < A->n; ++i) {
        const vec mine = all(scale[i]);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k)
            if (target[k] >= 0) to[target[k]] = (mine * (a[k] * p)) * all(scale[A->ind[k]]);
    }
}

/* ---- factorization ---- */

/* The numbers of a factorization at work. */
typedef struct work {
    const sd_sequence *s;
    vec *l, *d, *inverse, *y;
    int64_t *next;
} work;

static work work_of(const sd_sequence *s, const sd_abreast_numbers *m)
{
    return (work){s, (void *)m->l, (void *)m->d, (void *)m->inverse, (void *)m->y, m->next};
}

/* What is found of each system; counts are numbers, so that they share registers. */
typedef struct tally {
    bits bad; /* not 0: refused */
    vec least, negative, zero, perturbed;
} tally;

INLINE vec one_where(bits where)
{
    return choose(where, all(1), all(0));
}

/* Row k: y becomes L's, node by node; returns what the diagonal loses. */
INLINE vec eliminate_row(const work *w, int32_t k, vec limit, bits *bad)
{
    const sd_sequence *s = w->s;
    vec *restrict const y = w->y, *restrict const l = w->l, lost = all(0);
    const int32_t *restrict const row = s->row;
    bits broken = {0};
    for (int64_t t = s->list_ptr[k]; t < s->list_ptr[k + 1]; ++t) {
        const int32_t j = s->list[t];
        const sd_node *const node = &s->node[j];
        const int64_t end = w->next[j];
        const vec *const in = w->inverse + 2 * (int64_t)node->k;
        vec *const own = y + node->k;
        if (node->width == 1) {
            const vec a = own[0], u = a * in[0];
            own[0] = all(0);
            for (int64_t e = node->begin; e < end; ++e) y[row[e]] = fused(-l[e], a, y[row[e]]);
            l[end] = u;
            lost = fused(u, a, lost);
            broken |= ~(bits)(absolute(u) <= limit);
            w->next[j] = end + 1;
            continue;
        }
        const vec a = own[0], b = own[1], u = fused(in[0], a, in[1] * b), v = fused(in[1], a, in[2] * b);
        own[0] = own[1] = all(0);
        for (int64_t e = node->begin; e < end; e += 2)
            y[row[e]] = fused(-l[e], a, fused(-l[e + 1], b, y[row[e]]));
        l[end] = u;
        l[end + 1] = v;
        lost = fused(u, a, fused(v, b, lost));
        broken |= ~(bits)(absolute(u) <= limit) | ~(bits)(absolute(v) <= limit);
        w->next[j] = end + 2;
    }
    *bad |= broken;
    return lost;
}

/* Static pivots: not below the least size, and of the sign that is expected. */
INLINE vec make_regular(vec d, int expected, double least, tally *t)
{
    const vec sign = expected ? all(expected) : choose((bits)(d < all(0)), all(-1), all(1));
    const bits small = (bits)(d * sign < all(least));
    t->perturbed += one_where(small);
    return choose(small, sign * all(least), d);
}

INLINE void take_pivot(const work *w, int32_t k, const sd_pivoting *rule, tally *t)
{
    vec d = w->d[2 * (int64_t)k];
    const vec none = all(0);
    if (rule->rule == SD_PIVOT_STATIC)
        d = make_regular(d, rule->signs ? rule->signs[w->s->variable[k]] : 0, rule->regularise, t);
    const vec size = absolute(d);
    if (rule->rule == SD_PIVOT_POSITIVE)
        t->bad |= ~((bits)(d > none) & (bits)(d <= all(DBL_MAX)));
    else if (rule->rule != SD_PIVOT_STATIC)
        t->bad |= ~((bits)(size > all(rule->small)) & (bits)(size <= all(DBL_MAX)));
    t->negative += one_where((bits)(d < none));
    t->zero += one_where((bits)(d == none));
    t->least = smaller(size, t->least);
    w->d[2 * (int64_t)k] = d;
    w->inverse[2 * (int64_t)k] = choose((bits)(d == none), none, all(1) / d);
    w->inverse[2 * (int64_t)k + 1] = none;
}

/* The same of a 2x2 pivot that begins at k. One that falls into two is left to be done alone. */
INLINE void take_pair(const work *w, int32_t k, tally *t)
{
    const vec *const d = w->d + 2 * (int64_t)k, none = all(0);
    vec *const in = w->inverse + 2 * (int64_t)k;
    const vec a = d[0] / d[1], c = d[2] / d[1], determinant = a * c - all(1), size = absolute(determinant);
    const vec scale = all(1) / determinant / d[1];
    const vec sizes = absolute(d[0]) + absolute(d[2]) + all(2) * absolute(d[1]);
    const bits mixed = (bits)(determinant < none);
    t->bad |= ~((bits)(d[1] != none) & (bits)(size > all(8 * DBL_EPSILON)) & (bits)(size <= all(DBL_MAX)));
    in[0] = c * scale;
    in[1] = -scale;
    in[2] = a * scale;
    in[3] = none;
    t->negative += choose(mixed, all(1), all(2) * one_where((bits)(d[0] < none)));
    t->least = smaller(size * d[1] * d[1] / (all(2) * sizes), t->least);
}

static void conclude(const tally *t, int32_t n, int64_t pairs, sd_abreast_outcome *outcome)
{
    EACH outcome[c] = (sd_abreast_outcome){.refused = t->bad[c] != 0,
                                           .least = t->least[c],
                                           .pivots = {.positive = n - (int64_t)(t->negative[c] + t->zero[c]),
                                                      .negative = (int64_t)t->negative[c],
                                                      .zero = (int64_t)t->zero[c],
                                                      .two_by_two = pairs,
                                                      .perturbed = (int64_t)t->perturbed[c]}};
}

static void factor(const sd_sequence *s, const double *values, const sd_pivoting *rule,
                   const sd_abreast_numbers *m, sd_abreast_outcome *outcome)
{
    const vec limit = all(rule->rule == SD_PIVOT_THRESHOLD ? 1 / rule->u : INFINITY);
    const vec *const from = (const void *)values;
    const work w = work_of(s, m);
    int64_t pairs = 0;
    tally t = {.least = all(INFINITY)};
    for (int32_t j = 0; j < s->nodes; ++j) w.next[j] = s->node[j].begin;
    for (int32_t j = 0; j < s->nodes; ++j) {
        const int32_t first = s->node[j].k, last = first + s->node[j].width - 1;
        for (int32_t k = first; k <= last; ++k) {
            vec *const d = w.d + 2 * (int64_t)k;
            for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e)
                w.y[s->column[e]] = from[s->from[e]];
            const vec lost = eliminate_row(&w, k, limit, &t.bad);
            if (k > first) d[-1] = w.y[first];
            d[0] = w.y[k] - lost;
            d[1] = all(0);
            w.y[first] = w.y[k] = all(0);
        }
        if (last > first)
            take_pair(&w, first, &t), ++pairs;
        else
            take_pivot(&w, first, rule, &t);
    }
    conclude(&t, s->n, pairs, outcome);
}

/* ---- solves ---- */

INLINE void forward(const sd_sequence *s, const vec *restrict l, vec *restrict x, int columns)
{
    const int32_t *const row = s->row;
    for (int32_t j = 0; j < s->nodes; ++j) {
        const sd_node node = s->node[j];
        const vec *const own = x + (int64_t)node.k * columns;
        vec a[2], b[2];
        for (int q = 0; q < columns; ++q) a[q] = own[q];
        if (node.width == 1) {
            for (int64_t e = node.begin; e < node.end; ++e)
                for (int q = 0; q < columns; ++q) {
                    vec *const to = &x[(int64_t)row[e] * columns + q];
                    *to = fused(-l[e], a[q], *to);
                }
            continue;
        }
        for (int q = 0; q < columns; ++q) b[q] = own[columns + q];
        for (int64_t e = node.begin; e < node.end; e += 2)
            for (int q = 0; q < columns; ++q) {
                vec *const to = &x[(int64_t)row[e] * columns + q];
                *to = fused(-l[e], a[q], fused(-l[e + 1], b[q], *to));
            }
    }
}

/* With D^-1 on the way. */
INLINE void backward(const sd_sequence *s, const vec *restrict l, const vec *restrict inverse,
                     vec *restrict x, int columns)
{
    const int32_t *const row = s->row;
    for (int32_t j = s->nodes - 1; j >= 0; --j) {
        const sd_node node = s->node[j];
        const vec *const in = inverse + 2 * (int64_t)node.k;
        vec *const own = x + (int64_t)node.k * columns;
        vec a[2], b[2];
        if (node.width == 1) {
            for (int q = 0; q < columns; ++q) a[q] = own[q] * in[0];
            for (int64_t e = node.begin; e < node.end; ++e)
                for (int q = 0; q < columns; ++q) a[q] = fused(-l[e], x[(int64_t)row[e] * columns + q], a[q]);
        } else {
            for (int q = 0; q < columns; ++q) {
                a[q] = fused(in[0], own[q], in[1] * own[columns + q]);
                b[q] = fused(in[1], own[q], in[2] * own[columns + q]);
            }
            for (int64_t e = node.begin; e < node.end; e += 2) {
                for (int q = 0; q < columns; ++q) {
                    const vec from = x[(int64_t)row[e] * columns + q];
                    a[q] = fused(-l[e], from, a[q]);
                    b[q] = fused(-l[e + 1], from, b[q]);
                }
            }
            for (int q = 0; q < columns; ++q) own[columns + q] = b[q];
        }
        for (int q = 0; q < columns; ++q) own[q] = a[q];
    }
}

static void solve(const sd_sequence *s, const sd_abreast_numbers *m, int columns, double *x)
{
    const work w = work_of(s, m);
    if (columns == 1) {
        forward(s, w.l, (void *)x, 1);
        backward(s, w.l, w.inverse, (void *)x, 1);
    } else {
        forward(s, w.l, (void *)x, 2);
        backward(s, w.l, w.inverse, (void *)x, 2);
    }
}

static void enter(int32_t n, const int32_t *place, const double *scale, int columns, const double *const *r,
                  double *x, double *largest)
{
    vec *const to = (void *)x;
    for (int q = 0; q < columns; ++q) {
        const vec *const from = (const void *)r[q];
        vec most = all(0);
        for (int32_t i = 0; i < n; ++i) {
            const vec scaled = all(scale[i]) * from[i];
            most = larger(absolute(scaled), most);
            to[(int64_t)place[i] * columns + q] = scaled;
        }
        memcpy(largest + q * W, &most, sizeof most);
    }
}

static void shift(int32_t n, int columns, const double *half, const double *rest, double *x)
{
    vec *const row = (void *)x;
    for (int k = 0; k < columns; ++k) {
        const vec p = get(half + k * W), q = get(rest + k * W);
        for (int32_t i = 0; i < n; ++i) row[(int64_t)i * columns + k] = row[(int64_t)i * columns + k] * p * q;
    }
}

static void leave(int32_t n, const int32_t *place, const double *scale, const double *half,
                  const double *rest, int columns, const double *x, double *const *r)
{
    const vec *const from = (const void *)x;
    for (int k = 0; k < columns; ++k) {
        const vec p = get(half + k * W), q = get(rest + k * W);
        vec *const to = (void *)r[k];
        for (int32_t i = 0; i < n; ++i) to[i] = all(scale[i]) * from[(int64_t)place[i] * columns + k] * p * q;
    }
}

/* ---- the witness, and vectors ---- */

static void send(const sd_csr *A, const double *values, const double *scale, const double *from, double *to)
{
    const vec *const a = (const void *)values, *const x = (const void *)from;
    vec *const column = (void *)to;
    memset(to, 0, (size_t)A->n * sizeof *column);
    for (int32_t i = 0; i < A->n; ++i) {
        const vec mine = all(scale[i]) * x[i];
        vec sum = all(0);
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            sum += a[k] * (all(scale[j]) * x[j]);
            if (j != i) column[j] += a[k] * mine;
        }
        column[i] += sum;
    }
}

static void arrive(int32_t n, const double *scale, const double *column, double *x, double *square)
{
    const vec *const from = (const void *)column;
    vec *const to = (void *)x, sum = all(0);
    for (int32_t i = 0; i < n; ++i) {
        to[i] -= from[i] / all(scale[i]);
        sum += to[i] * to[i];
    }
    memcpy(square, &sum, sizeof sum);
}

static void add(int64_t n, const double *z, double *restrict x)
{
    for (int64_t k = 0; k < n * W; ++k) x[k] += z[k];
}

static void replace(int64_t n, const double *chosen, const double *y, double *x)
{
    const vec *const from = (const void *)y;
    vec *const to = (void *)x;
    const bits where = (bits)(get(chosen) != all(0));
    for (int64_t i = 0; i < n; ++i) to[i] = choose(where, from[i], to[i]);
}

static void find_finite(int64_t n, const double *x, bool *is)
{
    const vec *const from = (const void *)x;
    vec nothing = all(0); /* NaN where a number is not finite */
    for (int64_t i = 0; i < n; ++i) nothing += all(0) * from[i];
    EACH is[c] = nothing[c] == 0;
}

#ifdef __AVX512F__
SD_CPU_DECLARE(avx2);
#define NARROWER (&sd_avx2_abreast)
#else
#define NARROWER NULL /* the others round in another way: FUSED of isa.h */
#endif

const sd_abreast_kernels SD_ISA(abreast) = {.width = W,
                                            .narrower = NARROWER,
                                            .join = join,
                                            .part = part,
                                            .scale = scale_values,
                                            .factor = factor,
                                            .solve = solve,
                                            .enter = enter,
                                            .shift = shift,
                                            .leave = leave,
                                            .residual = SD_ISA(abreast_residual),
                                            .difference = SD_ISA(abreast_difference),
                                            .send = send,
                                            .arrive = arrive,
                                            .add = add,
                                            .replace = replace,
                                            .finite = find_finite};
