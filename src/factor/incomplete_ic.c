/*
 * IC on a given pattern: L L' = B on the pattern of L.
 *
 *     l_ij = (b_ij - sum_{k < j} l_ik l_jk) / l_jj,    l_ii = sqrt(b_ii - sum_{k < i} l_ik^2)
 *
 * for j on the pattern of row i, ascending (J. A. Meijerink and H. A. van der Vorst, 1977; Y. Saad, Iterative
 * methods for sparse linear systems, 2nd ed., section 10.3.2). Row i lies in a vector w that is 0 outside its
 * pattern, so the sum is one over all of row j, without a question. Rows that follow one another and have the
 * same pattern but for their own triangle (several unknowns at a node) are made together, w then has a lane
 * for each: row j is read once for all.
 */
#include "factor/incomplete_parts.h"

#include <math.h>
#include <string.h>

enum { LANES_MOST = 8 };

typedef struct ic {
    const sd_shifted *B;
    const sd_pattern *L;
    double *val, *diagonal, *reciprocal;
    int lanes;
    const int32_t *first; /* rows of each group, and the end; NULL: each is one */
    double **w;           /* of each thread: n times lanes */
} ic;

/* Row i of B in its lane of w, where L has an entry. */
static inline void enter_row(const ic *t, int32_t i, double *w, const int lanes)
{
    const sd_csr *const B = t->B->B;
    int64_t b = B->ptr[i];
    const int64_t end = B->ptr[i + 1];
    for (int64_t k = t->L->ptr[i]; k < t->L->ptr[i + 1]; ++k) {
        const int32_t j = t->L->ind[k];
        while (b < end && B->ind[b] < j) ++b;
        if (b < end && B->ind[b] == j) w[(int64_t)j * lanes] = B->val[b];
    }
}

/* sum_k l_jk w_k of one lane. There are four sums, as an addition takes several cycles and the next entry of
 * the row may wait for this one. */
static inline double multiply_row(const int32_t *ind, const double *val, int64_t count, const double *w)
{
    double a = 0, b = 0, c = 0, d = 0;
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        a += val[k] * w[ind[k]];
        b += val[k + 1] * w[ind[k + 1]];
        c += val[k + 2] * w[ind[k + 2]];
        d += val[k + 3] * w[ind[k + 3]];
    }
    if (count & 2) {
        a += val[k] * w[ind[k]];
        b += val[k + 1] * w[ind[k + 1]];
        k += 2;
    }
    if (count & 1) c += val[k] * w[ind[k]];
    return (a + b) + (c + d);
}

/* w_j <- (w_j - sum_k l_jk w_k) / l_jj in every lane; in several lanes two sums are enough. */
static inline void make_entry(const ic *t, int32_t j, double *w, const int lanes)
{
    const int64_t begin = t->L->ptr[j], end = t->L->ptr[j + 1];
    const int32_t *const ind = t->L->ind;
    const double *const val = t->val;
    if (lanes == 1) {
        w[j] = (w[j] - multiply_row(ind + begin, val + begin, end - begin, w)) * t->reciprocal[j];
        return;
    }
    double even[LANES_MOST] = {0}, odd[LANES_MOST] = {0};
    int64_t k = begin;
    for (; k + 1 < end; k += 2) {
        const double *const a = w + (int64_t)ind[k] * lanes, *const b = w + (int64_t)ind[k + 1] * lanes;
        for (int r = 0; r < lanes; ++r) even[r] += val[k] * a[r];
        for (int r = 0; r < lanes; ++r) odd[r] += val[k + 1] * b[r];
    }
    if (k < end)
        for (int r = 0; r < lanes; ++r) even[r] += val[k] * w[(int64_t)ind[k] * lanes + r];
    double *const to = w + (int64_t)j * lanes;
    for (int r = 0; r < lanes; ++r) to[r] = (to[r] - (even[r] + odd[r])) * t->reciprocal[j];
}

/* Takes row i out of its lane; false where its pivot is none. A number that is not finite shows there. */
static inline bool leave_row(const ic *t, int32_t i, const double *w, const int lanes)
{
    double sum = 0;
    for (int64_t k = t->L->ptr[i]; k < t->L->ptr[i + 1]; ++k) {
        const double l = w[(int64_t)t->L->ind[k] * lanes];
        t->val[k] = l;
        sum += l * l;
    }
    const double pivot = t->B->diagonal[i] - sum;
    t->diagonal[i] = sqrt(pivot);
    t->reciprocal[i] = 1 / t->diagonal[i];
    return pivot > SD_PIVOT_ROUNDING * t->B->largest[i] && pivot <= DBL_MAX;
}

static inline bool make_group(const ic *t, int32_t first, int32_t last, double *w, const int lanes)
{
    const int64_t begin = t->L->ptr[first], end = t->L->ptr[first + 1];
    bool good = true;
    for (int32_t i = first; i < last; ++i) enter_row(t, i, w + (i - first), lanes);
    for (int64_t k = begin; k < end; ++k) make_entry(t, t->L->ind[k], w, lanes);
    for (int32_t i = first; i < last && good; ++i) {
        good = leave_row(t, i, w + (i - first), lanes);
        if (i + 1 < last) make_entry(t, i, w, lanes);
    }
    for (int64_t k = begin; k < end; ++k)
        for (int r = 0; r < lanes; ++r) w[(int64_t)t->L->ind[k] * lanes + r] = 0;
    if (lanes > 1) memset(w + (int64_t)first * lanes, 0, (size_t)((last - first) * lanes) * sizeof *w);
    return good;
}

static inline bool make_groups(const ic *t, double *w, int32_t from, int32_t to, const int lanes)
{
    bool good = true;
    for (int32_t k = from; k < to && good; ++k)
        good = lanes == 1 ? make_group(t, k, k + 1, w, 1)
                          : make_group(t, t->first[k], t->first[k + 1], w, lanes);
    return good;
}

static bool make_units(void *what, int thread, int32_t from, int32_t to)
{
    const ic *const t = what;
    double *const w = t->w[thread];
    switch (t->lanes) {
    case 1: return make_groups(t, w, from, to, 1);
    case 2: return make_groups(t, w, from, to, 2);
    case 4: return make_groups(t, w, from, to, 4);
    default: return make_groups(t, w, from, to, LANES_MOST);
    }
}

/* Whether row i has the pattern of row i - 1, and that row. */
static bool continues(const sd_pattern *L, int32_t i)
{
    const int64_t before = L->ptr[i - 1], begin = L->ptr[i], count = L->ptr[i + 1] - begin;
    if (count != begin - before + 1 || L->ind[begin + count - 1] != i - 1) return false;
    return memcmp(L->ind + before, L->ind + begin, (size_t)(count - 1) * sizeof *L->ind) == 0;
}

/* Groups of at most so many rows; first may be NULL. Returns how many there are. */
static int32_t find_groups(const sd_pattern *L, int most, int32_t *first)
{
    int32_t groups = 0, began = 0;
    for (int32_t i = 0; i < L->n; ++i) {
        if (i > 0 && i - began < most && continues(L, i)) continue;
        if (first) first[groups] = i;
        began = i;
        ++groups;
    }
    if (first) first[groups] = L->n;
    return groups;
}

/* The most lanes of which more than half are in use. */
static int choose_lanes(const sd_pattern *L)
{
    int lanes = LANES_MOST;
    while (lanes > 1 && (double)L->n < 0.6 * lanes * (double)find_groups(L, lanes, NULL)) lanes /= 2;
    return lanes;
}

static double count_multiplications(const sd_pattern *L)
{
    double count = 0;
    for (int64_t k = 0; k < L->ptr[L->n]; ++k) count += (double)(L->ptr[L->ind[k] + 1] - L->ptr[L->ind[k]]);
    return count + 2 * (double)L->ptr[L->n];
}

/* Rows that are made together, if there are enough of them. */
static saddle_status group_rows(sd_context *c, ic *t, int32_t **first, int32_t *groups)
{
    *groups = t->L->n;
    t->lanes = choose_lanes(t->L);
    if (t->lanes == 1) return SADDLE_OK;
    *groups = find_groups(t->L, t->lanes, NULL);
    *first = sd_alloc(c, (int64_t)*groups + 1, sizeof **first, "groups of rows");
    if (!*first) return c->status;
    find_groups(t->L, t->lanes, *first);
    t->first = *first;
    return SADDLE_OK;
}

saddle_status sd_try_ic(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule, sd_incomplete *m,
                        bool *broken)
{
    ic t = {.B = B, .L = &m->lower, .val = m->lower_val, .diagonal = m->diagonal};
    const double multiplications = count_multiplications(t.L);
    sd_units units = {0};
    int32_t *first = NULL, groups;
    saddle_status status = group_rows(c, &t, &first, &groups);
    if (!status) status = sd_units_make(c, t.L, first, groups, multiplications, rule->threads, &units);
    if (!status) {
        t.reciprocal = sd_alloc(c, m->n, sizeof *t.reciprocal, "reciprocal pivots");
        t.w = sd_alloc_zero(c, units.threads, sizeof *t.w, "rows of a factor");
        if (!t.reciprocal || !t.w) status = c->status;
    }
    for (int k = 0; k < units.threads && !status; ++k) {
        t.w[k] = sd_alloc_zero(c, (int64_t)m->n * t.lanes, sizeof **t.w, "a row of a factor");
        if (!t.w[k]) status = c->status;
    }
    if (!status) status = sd_units_run(c, &units, make_units, &t, broken);
    m->flops += 2 * multiplications;
    for (int k = 0; k < units.threads && t.w; ++k) sd_free(c, t.w[k]);
    sd_free_all(c, t.w, t.reciprocal, first);
    sd_units_free(c, &units);
    return status;
}
