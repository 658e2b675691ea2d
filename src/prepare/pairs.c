/*
 * The cycles of a symmetric matching, split into 1x1 and 2x2. See pairs.h.
 *
 * A cycle i_0, i_1, ... of length p goes from each column to its matched row. Cut into neighbours it keeps a
 * product of scaled entries w_t = |s a s|(i_t, i_t+1) that is to be large. For odd p one row stays single:
 * with S_t = log w_t+1 + log w_t+3 + ... + log w_t+p-2 the pairs that leave i_t, S_t+2 is S_t - log w_t+1 +
 * log w_t (indices modulo p), so that all p choices cost as much as one (I. S. Duff and S. Pralet, SIAM J.
 * Matrix Anal. Appl. 27 (2005), section 5).
 */
#include "prepare/pairs.h"

#include <math.h>

/* The logarithm of what is not there: below every sum of logarithms that could stand against it, and still
 * finite, so that it can be taken out of a sum again. */
#define ABSENT (-1e12)

/* Sums of logarithms this near to each other, per entry, are equal up to rounding: the lower index wins. */
#define LOG_TIE 1e-9

/* A diagonal entry passes the usual test of threshold pivoting where it is this large relative to entries of
 * at most 1. */
#define SMALL_DIAGONAL 0.01

typedef struct cycle {
    const sd_csr *A;
    const double *scale;
    int32_t *partner;
    int32_t length;
    int32_t *row;   /* the rows in turn */
    double *weight; /* log w_t */
} cycle;

static double log_entry(const cycle *y, int32_t i, int32_t j)
{
    const double value = sd_csr_at(y->A, i, j);
    return value != 0 ? log(fabs(value)) + log(y->scale[i]) + log(y->scale[j]) : ABSENT;
}

/* Pairs the rows at positions t, t + 1, then t + 2, t + 3, ...: so many pairs. */
static void pair_from(const cycle *y, int32_t t, int32_t pairs)
{
    for (int32_t p = 0; p < pairs; ++p, t += 2) {
        const int32_t at = t % y->length;
        if (y->weight[at] <= ABSENT) continue;
        const int32_t i = y->row[at], j = y->row[(at + 1) % y->length];
        y->partner[i] = j;
        y->partner[j] = i;
    }
}

static void split_even(const cycle *y)
{
    double first = 0.0, second = 0.0;
    for (int32_t t = 0; t < y->length; t += 2) {
        first += y->weight[t];
        second += y->weight[t + 1];
    }
    pair_from(y, second > first + LOG_TIE * y->length ? 1 : 0, y->length / 2);
}

static void split_odd(const cycle *y)
{
    const int32_t p = y->length;
    double pairs = 0.0, best = 0.0;
    int32_t single = -1;
    for (int32_t t = 1; t < p; t += 2) pairs += y->weight[t];
    for (int32_t step = 0, t = 0; step < p; ++step) {
        const double all = pairs + log_entry(y, y->row[t], y->row[t]);
        const double tie = LOG_TIE * p;
        if (single < 0 || all > best + tie || (all >= best - tie && t < single)) {
            best = all;
            single = t;
        }
        pairs += y->weight[t] - y->weight[(t + 1) % p];
        t = (t + 2) % p;
    }
    pair_from(y, single + 1, p / 2);
}

/* Follows the matching from row i; a path is closed when it comes back to it. */
static bool follow(cycle *y, const int32_t *row_of, int32_t i, bool *seen)
{
    int32_t t = i;
    y->length = 0;
    do {
        seen[t] = true;
        y->row[y->length++] = t;
        t = row_of[t];
    } while (t >= 0 && t != i);
    for (int32_t k = 0; k + 1 < y->length; ++k) y->weight[k] = log_entry(y, y->row[k], y->row[k + 1]);
    if (t == i) y->weight[y->length - 1] = log_entry(y, y->row[y->length - 1], i);
    return t == i;
}

saddle_status sd_pairs_split(sd_context *c, const sd_csr *A, const int32_t *row_of, const double *scale,
                             int32_t *partner)
{
    const int32_t n = A->n;
    cycle y = {.A = A, .scale = scale, .partner = partner};
    bool *seen = sd_alloc_zero(c, n, sizeof *seen, "rows of cycles");
    bool *inner = seen ? sd_alloc_zero(c, n, sizeof *inner, "rows of cycles") : NULL;
    y.row = inner ? sd_alloc(c, n, sizeof *y.row, "a cycle") : NULL;
    y.weight = y.row ? sd_alloc(c, n, sizeof *y.weight, "a cycle") : NULL;
    if (y.weight) {
        for (int32_t i = 0; i < n; ++i) partner[i] = -1;
        for (int32_t j = 0; j < n; ++j)
            if (row_of[j] >= 0) inner[row_of[j]] = true;
        for (int32_t i = 0; i < n; ++i) { /* open paths begin where no column leads */
            if (inner[i] || row_of[i] < 0) continue;
            follow(&y, row_of, i, seen);
            pair_from(&y, 0, y.length / 2);
        }
        for (int32_t i = 0; i < n; ++i) {
            if (seen[i] || row_of[i] < 0 || row_of[i] == i) continue;
            follow(&y, row_of, i, seen);
            if (y.length % 2 == 0)
                split_even(&y);
            else
                split_odd(&y);
        }
    }
    sd_free_all(c, seen, inner, y.row, y.weight);
    return y.weight ? SADDLE_OK : c->status;
}

int32_t sd_pairs_parts(int32_t n, const int32_t *partner, int32_t *part)
{
    int32_t parts = 0;
    for (int32_t i = 0; i < n; ++i) part[i] = partner[i] >= 0 && partner[i] < i ? part[partner[i]] : parts++;
    return parts;
}

/* Whether elimination of a neighbour with a large diagonal would put a large entry onto row i's diagonal. */
static bool is_mended(const sd_csr *A, const double *scale, const double *diagonal, int32_t i)
{
    for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
        const int32_t j = A->ind[k];
        if (j == i || diagonal[j] < SMALL_DIAGONAL) continue;
        const double size = fabs(scale[i] * A->val[k]) * scale[j];
        if (size * (size / diagonal[j]) >= SMALL_DIAGONAL) return true;
    }
    return false;
}

saddle_status sd_pairs_need(sd_context *c, const sd_csr *A, const double *scale, sd_need *need)
{
    *need = (sd_need){0};
    double *diagonal = sd_alloc(c, A->n, sizeof *diagonal, "scaled diagonal");
    if (!diagonal) return c->status;
    for (int32_t i = 0; i < A->n; ++i) diagonal[i] = fabs(scale[i] * sd_csr_at(A, i, i)) * scale[i];
    for (int32_t i = 0; i < A->n; ++i) {
        if (diagonal[i] >= SMALL_DIAGONAL) continue;
        ++need->small_diagonals;
        need->needy += !is_mended(A, scale, diagonal, i);
    }
    sd_free(c, diagonal);
    return SADDLE_OK;
}
