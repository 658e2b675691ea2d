/*
 * ILU on a given pattern: L U = B on the pattern of L + U, L with a diagonal of ones.
 *
 *     for j on row i of L, ascending:  l_ij = w_j / u_jj,  w <- w - l_ij u_j: on the pattern of row i
 *     u_i = what is left of w from i on
 *
 * (Y. Saad, Iterative methods for sparse linear systems, 2nd ed., algorithm 10.4, the IKJ variant). Row i is
 * packed: slot[j] says where entry j of it lies, and for entries outside the pattern names one of a few slots
 * whose numbers nobody reads, so that there is no question in the inner loop. They are several because
 * additions to the same number would wait for each other.
 */
#include "factor/incomplete_parts.h"

#include <math.h>

enum { WASTE = 16 }; /* slots for what is outside the pattern */

typedef struct workspace {
    int32_t *slot;
    double *row;
} workspace;

typedef struct ilu {
    const sd_shifted *B;
    sd_incomplete *m;
    double *reciprocal;
    workspace *work; /* of each thread */
} ilu;

/* Slots of row i: the entries of L, the diagonal, those of U. Its numbers are those of B. */
static void enter_row(const ilu *t, int32_t i, int32_t *slot, double *row)
{
    const sd_csr *const B = t->B->B;
    const sd_pattern *const L = &t->m->lower, *const U = &t->m->upper;
    int32_t at = WASTE;
    for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; ++k) slot[L->ind[k]] = at++;
    const int32_t diagonal = at++;
    slot[i] = diagonal;
    for (int64_t k = U->ptr[i]; k < U->ptr[i + 1]; ++k) slot[U->ind[k]] = at++;
    for (int32_t k = 0; k < at; ++k) row[k] = 0;
    for (int64_t k = B->ptr[i]; k < B->ptr[i + 1]; ++k) row[slot[B->ind[k]]] = B->val[k];
    row[diagonal] = t->B->diagonal[i];
}

/* Takes out what row i has become; false where it is not finite or its pivot is none. */
static bool leave_row(const ilu *t, int32_t i, int32_t *slot, const double *row)
{
    const sd_pattern *const L = &t->m->lower, *const U = &t->m->upper;
    double odd = 0; /* becomes NaN by a number that is not finite */
    const double *from = row + WASTE;
    for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; ++k) {
        slot[L->ind[k]] = L->ind[k] % WASTE;
        odd += *from - *from;
        t->m->lower_val[k] = *from++;
    }
    const double pivot = *from++;
    slot[i] = i % WASTE;
    for (int64_t k = U->ptr[i]; k < U->ptr[i + 1]; ++k) {
        slot[U->ind[k]] = U->ind[k] % WASTE;
        odd += *from - *from;
        t->m->upper_val[k] = *from++;
    }
    t->m->diagonal[i] = pivot;
    t->reciprocal[i] = 1 / pivot;
    return odd == 0 && fabs(pivot) > SD_PIVOT_SMALL * t->B->largest[i] && fabs(pivot) <= DBL_MAX;
}

static bool make_row(const ilu *t, int32_t i, const workspace *work)
{
    const sd_pattern *const L = &t->m->lower, *const U = &t->m->upper;
    const double *const u = t->m->upper_val;
    const int32_t *const ind = U->ind, *const slot = work->slot;
    double *const row = work->row;
    enter_row(t, i, work->slot, row);
    double *entry = row + WASTE;
    for (int64_t k = L->ptr[i]; k < L->ptr[i + 1]; ++k) {
        const int32_t j = L->ind[k];
        const double l = *entry * t->reciprocal[j];
        *entry++ = l;
        for (int64_t e = U->ptr[j]; e < U->ptr[j + 1]; ++e) row[slot[ind[e]]] -= l * u[e];
    }
    return leave_row(t, i, work->slot, row);
}

static bool make_units(void *what, int thread, int32_t from, int32_t to)
{
    const ilu *const t = what;
    bool good = true;
    for (int32_t k = from; k < to && good; ++k) good = make_row(t, k, &t->work[thread]);
    return good;
}

static double count_multiplications(const sd_pattern *L, const sd_pattern *U)
{
    double count = 0;
    for (int64_t k = 0; k < L->ptr[L->n]; ++k) count += (double)(U->ptr[L->ind[k] + 1] - U->ptr[L->ind[k]]);
    return count + (double)L->ptr[L->n];
}

static saddle_status prepare(sd_context *c, ilu *t, int threads)
{
    const sd_incomplete *const m = t->m;
    int64_t longest = 0;
    for (int32_t i = 0; i < m->n; ++i) {
        const int64_t length = m->lower.ptr[i + 1] - m->lower.ptr[i] + m->upper.ptr[i + 1] - m->upper.ptr[i];
        if (length > longest) longest = length;
    }
    t->reciprocal = sd_alloc(c, m->n, sizeof *t->reciprocal, "reciprocal pivots");
    t->work = sd_alloc_zero(c, threads, sizeof *t->work, "rows of factors");
    if (!t->reciprocal || !t->work) return c->status;
    for (int k = 0; k < threads; ++k) {
        workspace *const w = &t->work[k];
        w->slot = sd_alloc(c, m->n, sizeof *w->slot, "places in a row of factors");
        w->row = sd_alloc(c, longest + 1 + WASTE, sizeof *w->row, "a row of factors");
        if (!w->slot || !w->row) return c->status;
        for (int32_t j = 0; j < m->n; ++j) w->slot[j] = j % WASTE;
    }
    return SADDLE_OK;
}

saddle_status sd_try_ilu(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule, sd_incomplete *m,
                         bool *broken)
{
    ilu t = {.B = B, .m = m};
    const double multiplications = count_multiplications(&m->lower, &m->upper);
    sd_units units;
    saddle_status status = sd_units_make(c, &m->lower, NULL, m->n, multiplications, rule->threads, &units);
    if (!status) status = prepare(c, &t, units.threads);
    if (!status) status = sd_units_run(c, &units, make_units, &t, broken);
    m->flops += 2 * multiplications;
    for (int k = 0; k < units.threads && t.work; ++k) sd_free_all(c, t.work[k].slot, t.work[k].row);
    sd_free_all(c, t.work, t.reciprocal);
    sd_units_free(c, &units);
    return status;
}
