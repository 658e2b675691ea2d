/*
 * ILUT: rows of L and U one after the other, with two thresholds (Y. Saad, ILUT: a dual threshold incomplete
 * LU factorization, 1994; Iterative methods for sparse linear systems, 2nd ed., section 10.4).
 *
 *     w = b_i;  for k < i ascending, w_k not 0:  dropped where |w_k| < tau |b_i|_2,
 *                                                or else l_ik = w_k / u_kk, w <- w - l_ik u_k
 *
 * Of what is left the entries from tau |b_i|_2 on, the largest of those before i and the largest behind it.
 * Saad drops by |l_ik|; |w_k| is what the row loses with it, whatever the scaling of row k. Which k comes
 * next is asked of a heap, as an update may put entries before i where there were none.
 */
#include "factor/incomplete_parts.h"

#include <math.h>
#include <string.h>

enum { PIECE = 1024 }; /* rows between two looks at whether to go on */

typedef struct ilut {
    const sd_shifted *B;
    sd_growing lower, upper;
    sd_candidates k; /* its list: those behind i */
    int32_t *heap, heap_count;
    int32_t *before, before_count; /* those before i that were not dropped */
    double *diagonal, *reciprocal;
    double flops;
} ilut;

static saddle_status prepare(sd_context *c, ilut *t)
{
    const int32_t n = t->B->B->n;
    t->heap = sd_alloc(c, n, sizeof *t->heap, "a heap of columns");
    t->before = sd_alloc(c, n, sizeof *t->before, "columns of a row");
    t->diagonal = sd_alloc(c, n, sizeof *t->diagonal, "the diagonal of a factor");
    t->reciprocal = sd_alloc(c, n, sizeof *t->reciprocal, "reciprocal pivots");
    if (!t->heap || !t->before || !t->diagonal || !t->reciprocal) return c->status;
    saddle_status status = sd_candidates_make(c, n, &t->k);
    if (!status) status = sd_growing_make(c, n, t->B->B->nnz / 2, &t->lower);
    if (!status) status = sd_growing_make(c, n, t->B->B->nnz / 2, &t->upper);
    return status;
}

static void release(sd_context *c, ilut *t)
{
    sd_free_all(c, t->heap, t->before, t->diagonal, t->reciprocal);
    sd_candidates_free(c, &t->k);
    sd_growing_free(c, &t->lower);
    sd_growing_free(c, &t->upper);
}

static void heap_push(ilut *t, int32_t column)
{
    int32_t at = t->heap_count++;
    for (; at > 0 && t->heap[(at - 1) / 2] > column; at = (at - 1) / 2) t->heap[at] = t->heap[(at - 1) / 2];
    t->heap[at] = column;
}

static int32_t heap_pop(ilut *t)
{
    const int32_t least = t->heap[0], last = t->heap[--t->heap_count];
    int32_t at = 0;
    for (int32_t child; (child = 2 * at + 1) < t->heap_count; at = child) {
        if (child + 1 < t->heap_count && t->heap[child + 1] < t->heap[child]) ++child;
        if (t->heap[child] >= last) break;
        t->heap[at] = t->heap[child];
    }
    t->heap[at] = last;
    return least;
}

static inline double *place(ilut *t, int32_t j, int32_t i)
{
    if (t->k.seen[j] != i) {
        t->k.seen[j] = i;
        t->k.w[j] = 0;
        if (j < i)
            heap_push(t, j);
        else if (j > i)
            t->k.list[t->k.count++] = j;
    }
    return &t->k.w[j];
}

/* False where an entry of L is not finite. */
static bool eliminate(ilut *t, int32_t i, double least)
{
    while (t->heap_count > 0) {
        const int32_t k = heap_pop(t);
        const double l = t->k.w[k] * t->reciprocal[k];
        if (fabs(t->k.w[k]) < least) continue;
        if (!(fabs(l) <= DBL_MAX)) return false;
        t->before[t->before_count++] = k;
        t->flops += 1 + 2 * (double)(t->upper.ptr[k + 1] - t->upper.ptr[k]);
        for (int64_t e = t->upper.ptr[k]; e < t->upper.ptr[k + 1]; ++e)
            *place(t, t->upper.ind[e], i) -= l * t->upper.val[e];
    }
    return true;
}

/* Row i of B, and how many entries it has before i and in all, without the diagonal. */
static void enter_row(ilut *t, int32_t i, int64_t *part, int64_t *all)
{
    const sd_csr *const B = t->B->B;
    t->k.count = t->heap_count = t->before_count = 0;
    *part = *all = 0;
    for (int64_t e = B->ptr[i]; e < B->ptr[i + 1]; ++e) {
        if (B->ind[e] == i) continue;
        *place(t, B->ind[e], i) = B->val[e];
        *part += B->ind[e] < i;
        ++*all;
    }
    *place(t, i, i) = t->B->diagonal[i];
}

/* The numbers of L are times `factor`, which is NULL for U. */
static saddle_status append(sd_context *c, sd_growing *g, int32_t i, const int32_t *list, int32_t count,
                            const double *w, const double *factor)
{
    const saddle_status status = sd_growing_reserve(c, g, count);
    for (int32_t e = 0; e < count && !status; ++e) {
        g->ind[g->count] = list[e];
        g->val[g->count++] = factor ? w[list[e]] * factor[list[e]] : w[list[e]];
    }
    g->ptr[i + 1] = g->count;
    return status;
}

static saddle_status make_row(sd_context *c, ilut *t, const sd_incomplete_rule *rule, int32_t i, bool *broken)
{
    const double least = rule->tau * sd_row_norm(t->B->B, i);
    int64_t part, all;
    enter_row(t, i, &part, &all);
    const bool finite = eliminate(t, i, least);
    const double pivot = t->k.w[i];
    const int64_t most = sd_most_entries(rule, all, all);
    *broken =
        !finite || !(fabs(pivot) > SD_PIVOT_SMALL * t->B->largest[i] && fabs(pivot) <= DBL_MAX) ||
        !sd_candidates_choose(&t->k, t->before, &t->before_count, least, sd_most_entries(rule, part, all)) ||
        !sd_candidates_choose(&t->k, t->k.list, &t->k.count, least, most - t->before_count);
    if (*broken) return SADDLE_OK;
    t->diagonal[i] = pivot;
    t->reciprocal[i] = 1 / pivot;
    const saddle_status status = append(c, &t->lower, i, t->before, t->before_count, t->k.w, t->reciprocal);
    return status ? status : append(c, &t->upper, i, t->k.list, t->k.count, t->k.w, NULL);
}

static void hand_over(sd_growing *g, int32_t n, sd_pattern *p, double **val)
{
    *p = (sd_pattern){n, g->ptr, g->ind};
    *val = g->val;
    *g = (sd_growing){0};
}

saddle_status sd_try_ilut(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule,
                          sd_incomplete *m, bool *broken)
{
    ilut t = {.B = B};
    saddle_status status = prepare(c, &t);
    for (int32_t i = 0; i < m->n && !status && !*broken; ++i) {
        if (i % PIECE == 0) status = sd_progress(c, "factor", i, m->n, NAN);
        if (!status) status = make_row(c, &t, rule, i, broken);
    }
    m->flops += t.flops;
    if (!status && !*broken) {
        hand_over(&t.lower, m->n, &m->lower, &m->lower_val);
        hand_over(&t.upper, m->n, &m->upper, &m->upper_val);
        m->diagonal = t.diagonal;
        t.diagonal = NULL;
    }
    release(c, &t);
    return status;
}
