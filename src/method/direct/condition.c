/*
 * The condition number |A| |A^-1| in the 1-norm, with |A^-1| estimated.
 *
 * The 1-norm of B = A^-1 is the largest |B e_j|, a convex function's largest value over the unit ball. From a
 * block X of a few vectors of norm 1, signs S = sign(B X) give subgradients B' S, whose largest rows name the
 * unit vectors e_j most worth trying next; each is tried once at most. Every value seen is |B x| of some x of
 * norm 1, so the estimate is never too large. N. J. Higham and F. Tisseur, A block algorithm for matrix
 * 1-norm estimation, with an application to 1-norm pseudospectra, SIAM J. Matrix Anal. Appl. 21 (2000),
 * algorithm 2.4. Their random signs come here from a generator with a fixed start: the same matrix, the same
 * estimate.
 *
 * B is taken of 2^-e A with entries of about 1, so that nothing overflows where A is very large or small.
 */
#include "method/direct/queries.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 4, ROUNDS_MOST = 5, NO_INDEX = -1 };

typedef struct estimating {
    sd_context *c;
    const sd_direct *d;
    int32_t n, t;
    int exponent, threads;
    double *x, *y;         /* a block and what B makes of it */
    double *signs, *older; /* sign(y) of this round and the one before */
    double *height;        /* the largest of each row of B' signs */
    bool *tried;
    int32_t index[COLUMNS]; /* the unit vectors in x; NO_INDEX: something else */
    int32_t best;           /* the one that gave the estimate */
    uint64_t state;         /* of the generator */
    double estimate;
} estimating;

/* y = B x or B' x. */
static saddle_status apply(estimating *q, bool transposed, const double *x, double *y)
{
    const int64_t n = q->n;
    for (int64_t k = 0; k < n * q->t; ++k) y[k] = ldexp(x[k], q->exponent);
    return sd_direct_apply(q->c, q->d, transposed, q->t, y, n, y, n, q->threads, NULL);
}

/* 1 or -1: splitmix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014). */
static double next_sign(estimating *q)
{
    uint64_t z = (q->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) & 1 ? 1 : -1;
}

static bool are_parallel(int32_t n, const double *a, const double *b)
{
    double product = 0;
    for (int32_t i = 0; i < n; ++i) product += a[i] * b[i];
    return fabs(product) == n;
}

/* Whether column j of s is parallel to one of the first k of `others`. */
static bool is_among(const estimating *q, const double *s, int j, const double *others, int k)
{
    for (int other = 0; other < k; ++other)
        if (are_parallel(q->n, s + (int64_t)j * q->n, others + (int64_t)other * q->n)) return true;
    return false;
}

/* Random signs for those columns of s that tell nothing new; there are more than 2t vectors of signs. */
static void make_distinct(estimating *q, double *s, const double *older)
{
    for (int j = 0; j < q->t; ++j) {
        while (is_among(q, s, j, s, j) || (older && is_among(q, s, j, older, q->t)))
            for (int32_t i = 0; i < q->n; ++i) s[(int64_t)j * q->n + i] = next_sign(q);
    }
}

/* The first block: all of B where that is not more, otherwise vectors of equal sizes, the first of ones. */
static void start(estimating *q)
{
    const int32_t n = q->n;
    memset(q->x, 0, (size_t)n * (size_t)q->t * sizeof *q->x);
    for (int j = 0; j < q->t; ++j) {
        q->index[j] = n <= COLUMNS ? j : NO_INDEX;
        if (n <= COLUMNS) q->x[j * n + j] = 1;
        for (int32_t i = 0; i < n && n > COLUMNS; ++i) q->x[(int64_t)j * n + i] = j == 0 ? 1 : next_sign(q);
    }
    if (n <= COLUMNS) return;
    make_distinct(q, q->x, NULL);
    for (int64_t k = 0; k < (int64_t)n * q->t; ++k) q->x[k] /= n;
}

/* Whether the block y says more than those before. */
static bool take_norms(estimating *q)
{
    const double before = q->estimate;
    for (int j = 0; j < q->t; ++j) {
        double norm = 0;
        for (int32_t i = 0; i < q->n; ++i) norm += fabs(q->y[(int64_t)j * q->n + i]);
        if (norm <= q->estimate) continue;
        q->estimate = isnan(norm) ? INFINITY : norm;
        q->best = q->index[j];
    }
    return q->estimate > before;
}

/* The signs of y; false where none of them is new. */
static bool take_signs(estimating *q, bool first)
{
    double *swap = q->older;
    q->older = q->signs;
    q->signs = swap;
    bool fresh = first;
    for (int64_t k = 0; k < (int64_t)q->n * q->t; ++k) q->signs[k] = q->y[k] < 0 ? -1 : 1;
    for (int j = 0; j < q->t && !fresh; ++j) fresh = !is_among(q, q->signs, j, q->older, q->t);
    if (fresh) make_distinct(q, q->signs, first ? NULL : q->older);
    return fresh;
}

/* The row of the largest height, untried ones only or all, other than the first k of `but`; ties go to the
 * first. NO_INDEX where there is none. */
static int32_t find_highest(const estimating *q, bool untried, const int32_t *but, int k)
{
    int32_t highest = NO_INDEX;
    for (int32_t i = 0; i < q->n; ++i) {
        bool out = untried && q->tried[i];
        for (int j = 0; j < k && !out; ++j) out = but[j] == i;
        if (!out && (highest < 0 || q->height[i] > q->height[highest])) highest = i;
    }
    return highest;
}

/* The next block of unit vectors, from the rows of y = B' signs; false where they promise nothing new. */
static bool take_rows(estimating *q, bool first)
{
    const int32_t n = q->n;
    double largest = 0;
    for (int32_t i = 0; i < n; ++i) {
        q->height[i] = 0;
        for (int j = 0; j < q->t; ++j) q->height[i] = fmax(q->height[i], fabs(q->y[(int64_t)j * n + i]));
        largest = fmax(largest, q->height[i]);
    }
    if (!first && q->best >= 0 && q->height[q->best] >= largest) return false;
    int32_t highest[COLUMNS];
    bool fresh = false;
    for (int j = 0; j < q->t; ++j) {
        highest[j] = find_highest(q, false, highest, j);
        fresh = fresh || !q->tried[highest[j]];
    }
    if (!fresh) return false;
    int used = 0;
    for (int j = 0; j < q->t; ++j) {
        const int32_t i = find_highest(q, true, NULL, 0);
        if (i < 0) break;
        q->tried[i] = true;
        q->index[used++] = i;
    }
    q->t = used;
    memset(q->x, 0, (size_t)n * (size_t)q->t * sizeof *q->x);
    for (int j = 0; j < q->t; ++j) q->x[(int64_t)j * n + q->index[j]] = 1;
    return true;
}

static saddle_status estimate(estimating *q)
{
    start(q);
    for (int round = 0;; ++round) {
        saddle_status status = apply(q, false, q->x, q->y);
        if (status) return status;
        if (!take_norms(q) || q->n <= COLUMNS || round == ROUNDS_MOST || isinf(q->estimate)) return SADDLE_OK;
        if (q->t < COLUMNS || !take_signs(q, round == 0)) return SADDLE_OK;
        status = sd_progress(q->c, "solve", round + 1, 0, NAN);
        if (!status) status = apply(q, true, q->signs, q->y);
        if (status) return status;
        if (!take_rows(q, round == 0)) return SADDLE_OK;
    }
}

saddle_status sd_direct_condition(sd_context *c, const sd_direct *d, double norm, int threads,
                                  double *condition)
{
    const int32_t n = d->plan->n, t = n < COLUMNS ? n : COLUMNS;
    estimating q = {.c = c, .d = d, .n = n, .t = t, .threads = threads, .best = NO_INDEX};
    if (d->zero > 0 || !isfinite(norm)) {
        *condition = INFINITY;
        return SADDLE_OK;
    }
    q.exponent = norm > 0 ? ilogb(norm) : 0;
    double *work = sd_alloc(c, (4 * t + 1) * (int64_t)n, sizeof *work, "condition estimate");
    q.tried = sd_alloc_zero(c, n, sizeof *q.tried, "condition estimate");
    saddle_status status = work && q.tried ? SADDLE_OK : c->status;
    if (!status) {
        const int64_t size = (int64_t)n * t;
        q.x = work;
        q.y = work + size;
        q.signs = work + 2 * size;
        q.older = work + 3 * size;
        q.height = work + 4 * size;
        status = estimate(&q);
    }
    if (!status) *condition = ldexp(norm, -q.exponent) * q.estimate;
    sd_free_all(c, work, q.tried);
    return status;
}
