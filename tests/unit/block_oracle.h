/*
 * What factors of blocks must satisfy, in long double.
 *
 * Gaussian elimination that was carried out in rounding has |A - L D U| <= c n u |L| |D| |U|, entry by entry
 * and whatever the pivots were (Higham, Accuracy and Stability of Numerical Algorithms, chapter 9); with 2x2
 * pivots, whose multipliers come from products with D^-1, the same holds with |L| |D| |D^-1| in place of |L|.
 * Errors are counted in these units, so that a bound of a few says that nothing but rounding happened, with
 * or without growth.
 */
#pragma once

#include "blocks.h"

enum { SQUARE = SD_BLOCK_MOST * SD_BLOCK_MOST };

/* P A Q = L D U of one block, and the weights of L. */
typedef struct triangles {
    int n;
    const uint8_t *row, *column;
    long double l[SQUARE], weight[SQUARE], d[SQUARE], u[SQUARE];
} triangles;

/* |D| |D^-1| of the 2x2 pivot at s, by which the columns s and s + 1 of |L| are weighed. */
static inline void weigh_pair(triangles *t, int s)
{
    const int n = t->n;
    const long double a = t->d[s + s * n], b = t->d[s + 1 + s * n], c = t->d[s + 1 + (s + 1) * n];
    const long double m = fmaxl(fabsl(a), fmaxl(fabsl(b), fabsl(c)));
    const long double det = fabsl(a / m * (c / m) - b / m * (b / m));
    const long double d[2][2] = {{fabsl(a / m), fabsl(b / m)}, {fabsl(b / m), fabsl(c / m)}};
    const long double inverse[2][2] = {{d[1][1] / det, d[0][1] / det}, {d[0][1] / det, d[0][0] / det}};
    for (int i = 0; i < n; ++i) {
        const long double l[2] = {fabsl(t->l[i + s * n]), fabsl(t->l[i + (s + 1) * n])};
        const long double w[2] = {l[0] * d[0][0] + l[1] * d[1][0], l[0] * d[0][1] + l[1] * d[1][1]};
        for (int k = 0; k < 2; ++k)
            t->weight[i + (s + k) * n] = l[k] + w[0] * inverse[0][k] + w[1] * inverse[1][k];
    }
}

/* Takes apart what batch_factor made of block k of a batch that is wholly in the plan. */
static inline void take_apart(const batch *b, const factors *f, int32_t k, triangles *t)
{
    const int n = t->n = batch_size(b, k);
    const uint32_t pairs = f->state[k].pairs;
    t->row = f->row + b->start[k];
    t->column = is_symmetric(f->kernel) ? t->row : f->column + b->start[k];
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            const int64_t at = i + (int64_t)j * n;
            const long double a = real_at(f->data, f->precision, b->entry[k] + at);
            const bool pivot = i == j || (i == j + 1 && pairs >> j & 1) || (j == i + 1 && pairs >> i & 1);
            t->l[at] = i == j ? 1 : i > j && !pivot ? a : 0;
            t->u[at] = i == j ? 1 : i < j && !pivot ? a : 0;
            t->d[at] = pivot ? a : 0;
            if (is_cholesky(f->kernel) && i == j) t->l[at] = t->u[at] = a, t->d[at] = 1;
            t->weight[at] = fabsl(t->l[at]);
        }
    }
    for (int s = 0; s < n; ++s)
        if (pairs >> s & 1) weigh_pair(t, s);
}

/* The product L D U, and |L| |D| |U| with the weights of L, where A has them: in the order of the block. */
static inline void multiply_back(const triangles *t, long double *product, long double *weight)
{
    const int n = t->n;
    static long double du[SQUARE], abs_du[SQUARE];
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            du[i + j * n] = abs_du[i + j * n] = 0;
            for (int s = i > 0 ? i - 1 : 0; s < n && s <= i + 1; ++s) {
                du[i + j * n] += t->d[i + s * n] * t->u[s + j * n];
                abs_du[i + j * n] += fabsl(t->d[i + s * n] * t->u[s + j * n]);
            }
        }
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            long double sum = 0, abs = 0;
            for (int s = 0; s <= i; ++s) {
                sum += t->l[i + s * n] * du[s + j * n];
                abs += t->weight[i + s * n] * abs_du[s + j * n];
            }
            product[t->row[i] + t->column[j] * n] = sum;
            weight[t->row[i] + t->column[j] * n] = abs;
        }
    }
}

/* Errors in units of n u |L| |D| |U| that are allowed. */
enum { ROUNDINGS = 4 };

/* A - L D U of one block in the order of the pivots, and n u |L| |D| |U|. */
typedef struct difference {
    triangles t;
    long double error[SQUARE], unit[SQUARE];
} difference;

static inline void difference_of(const batch *b, const factors *f, int32_t k, difference *d)
{
    static long double product[SQUARE], weight[SQUARE];
    const int n = batch_size(b, k);
    const long double least = b->precision == SD_DOUBLE ? 0x1p-1074L : 0x1p-149L;
    take_apart(b, f, k, &d->t);
    multiply_back(&d->t, product, weight);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            const int p = d->t.row[i], q = d->t.column[j];
            d->error[i + j * n] = (long double)batch_at(b, k, p, q) - product[p + q * n];
            d->unit[i + j * n] = n * (unit_of(b->precision) * weight[p + q * n] + least);
        }
    }
}

/* max |A - L D U| / (n u |L| |D| |U|), for the kernels that have these. */
static inline double rounding_error(const batch *b, const factors *f, int32_t k)
{
    static difference d;
    long double most = 0;
    difference_of(b, f, k, &d);
    for (int at = 0; at < d.t.n * d.t.n; ++at)
        if (!(fabsl(d.error[at]) / d.unit[at] <= most)) most = fabsl(d.error[at]) / d.unit[at];
    return (double)most;
}

typedef struct eigenvalues {
    long double low, high;
} eigenvalues;

static inline eigenvalues eigenvalues_of(long double a, long double b, long double c)
{
    const long double middle = (a + c) / 2, radius = hypotl((a - c) / 2, b);
    const long double far = middle < 0 ? middle - radius : middle + radius;
    const long double near = far != 0 ? a * (c / far) - b * (b / far) : 0;
    return middle < 0 ? (eigenvalues){far, near} : (eigenvalues){near, far};
}

/* How many eigenvalues were moved, as far as that can be told. */
typedef struct moved {
    int least, most;
} moved;

/* `now` is what became of the eigenvalue `was`, each known to within its doubt; whether it was moved to
 * +-small. */
static inline void check_moved(long double was, long double was_doubt, long double now, long double now_doubt,
                               long double small, moved *m)
{
    const bool stayed = fabsl(now - was) <= was_doubt + now_doubt;
    const bool at_small = fabsl(fabsl(now) - small) <= now_doubt;
    assert_true(stayed || at_small);
    assert_true(fabsl(now) >= small - now_doubt);
    m->most += at_small;
    if (stayed) return;
    ++m->least;
    assert_true(fabsl(was) <= small + was_doubt);
    if (fabsl(was) > was_doubt) assert_true((was < 0) == (now < 0));
}

/*
 * Of factors with pivots of at least `small`: they are those of A but for what was added to the pivots; that
 * went to pivots below `small`, which kept their signs. Returns how many.
 */
static inline moved check_small_pivots(const batch *b, const factors *f, int32_t k, double small)
{
    static difference d;
    const int n = batch_size(b, k);
    moved m = {0, 0};
    difference_of(b, f, k, &d);
    for (int at = 0; at < n * n; ++at)
        if (d.t.d[at] == 0) assert_true(fabsl(d.error[at]) <= ROUNDINGS * d.unit[at]);
    for (int s = 0; s < n; ++s) {
        const int at = s + s * n, next = at + 1 + n;
        if (!(f->state[k].pairs >> s & 1)) {
            check_moved(d.t.d[at] + d.error[at], ROUNDINGS * d.unit[at], d.t.d[at], 0, (long double)small,
                        &m);
            continue;
        }
        const long double doubt = ROUNDINGS * (d.unit[at] + 2 * d.unit[at + 1] + d.unit[next]);
        const eigenvalues now = eigenvalues_of(d.t.d[at], d.t.d[at + 1], d.t.d[next]);
        const eigenvalues was = eigenvalues_of(d.t.d[at] + d.error[at], d.t.d[at + 1] + d.error[at + 1],
                                               d.t.d[next] + d.error[next]);
        const long double coarse = 64 * unit_of(b->precision) * fmaxl(fabsl(now.low), fabsl(now.high));
        check_moved(was.low, doubt, now.low, coarse, (long double)small, &m);
        check_moved(was.high, doubt, now.high, coarse, (long double)small, &m);
        ++s;
    }
    return m;
}

/* Each of 0 .. n-1 once. */
static inline bool is_order(const uint8_t *order, int n)
{
    uint64_t seen = 0;
    for (int i = 0; i < n; ++i) seen |= UINT64_C(1) << order[i];
    return seen == (UINT64_C(1) << n) - 1;
}

static inline bool is_identity(const uint8_t *order, int n)
{
    for (int i = 0; i < n; ++i)
        if (order[i] != i) return false;
    return true;
}

/* What holds of the factors of any block, whatever it was: permutations, pairs, counts, finite numbers. */
static inline void assert_well_formed(const batch *b, const factors *f, int32_t k)
{
    const int n = batch_size(b, k);
    const sd_batch_state s = f->state[k];
    const uint8_t *row = f->row + b->start[k], *column = f->column + b->start[k];
    assert_true(is_order(row, n) && is_order(column, n));
    const bool rows_move = has_triangles(f->kernel) && is_pivoted(f->kernel);
    const bool columns_move =
        f->kernel == BENCH_LDU_FULL || f->kernel == SD_HUARD || f->kernel == SD_HUARD_TRANSPOSED;
    if (!rows_move || s.status) assert_true(is_identity(row, n));
    if (!columns_move || s.status) assert_true(is_identity(column, n));
    assert_true(s.status <= SD_BLOCK_NOT_FINITE && s.unused == 0);
    assert_int_equal(s.pairs & (s.pairs << 1), 0);
    assert_int_equal(s.pairs >> (n - 1), 0);
    if (!is_ldlt(f->kernel) || s.status) assert_true(s.pairs == 0 && s.negative == 0);
    if (!(is_ldlt(f->kernel) || is_ldu(f->kernel)) || s.status) assert_int_equal(s.perturbed, 0);
    assert_true(s.negative <= n && s.perturbed <= n);
    for (int64_t at = b->entry[k]; at < b->entry[k + 1]; ++at)
        assert_true(isfinite(real_at(f->data, f->precision, at)));
    for (int j = 0; j < n && is_symmetric(f->kernel); ++j)
        for (int i = 0; i < j; ++i)
            assert_true(real_at(f->data, f->precision, b->entry[k] + i + j * n) ==
                        real_at(f->data, f->precision, b->entry[k] + j + i * n));
}

/* The scaled identity, in the form of its kernel. */
static inline void assert_replaced(const batch *b, const factors *f, int32_t k)
{
    const int n = batch_size(b, k);
    const double tiny = b->precision == SD_DOUBLE ? SD_BLOCK_TINY_DOUBLE : (double)SD_BLOCK_TINY_SINGLE;
    double most = 0;
    bool finite = true;
    for (int at = 0; at < n * n; ++at) {
        const double a = fabs(batch_at(b, k, at % n, at / n));
        finite = finite && isfinite(a);
        if (a > most) most = a;
    }
    if (!finite || most < tiny) most = 1;
    double diagonal = is_cholesky(f->kernel) ? sqrt(most) : f->kernel == SD_JORDAN ? 1 / most : most;
    if (b->precision == SD_SINGLE) diagonal = (float)diagonal;
    for (int at = 0; at < n * n; ++at) {
        const double a = real_at(f->data, f->precision, b->entry[k] + at);
        const double expected = at % n == at / n ? diagonal : 0;
        if (!(fabs(a - expected) <= 4 * unit_of(b->precision) * fabs(expected)))
            fail_msg("%s: block %d (%s, %d rows) has %g at %d, not the %g of its replacement",
                     kernel_names[f->kernel], k, kind_names[b->kind[k]], n, a, at, expected);
    }
}
