/*
 * IC by threshold: columns of L one after the other,
 *
 *     w = b_j - sum_{k < j} l_jk l_k,   l_jj = sqrt(w_j),   l_ij = w_i / l_jj for those i > j that are kept:
 *
 * |w_i| >= tau |b_j|_2, and of these the largest (M. T. Jones and P. E. Plassmann, An improved incomplete
 * Cholesky factorization, 1995; C.-J. Lin and J. More', 1999). Columns k with an entry in row j are in a list
 * of that row: each column is in one list, that of the row of its next entry, so that nothing is searched
 * for.
 */
#include "factor/incomplete_parts.h"

#include <math.h>
#include <string.h>

enum { PIECE = 1024 }; /* columns between two looks at whether to go on */

typedef struct ict {
    const sd_shifted *B;
    sd_growing columns;
    sd_candidates k;
    double *diagonal;
    int64_t *next; /* of each column: its next entry */
    int32_t *head; /* of each row: the first column of its list; -1: none */
    int32_t *link; /* of each column: the one after it in its list */
    double flops;
} ict;

static saddle_status prepare(sd_context *c, ict *t)
{
    const int32_t n = t->B->B->n;
    t->diagonal = sd_alloc(c, n, sizeof *t->diagonal, "the diagonal of a factor");
    t->next = sd_alloc(c, n, sizeof *t->next, "places in columns");
    t->head = sd_alloc(c, n, sizeof *t->head, "lists of columns");
    t->link = sd_alloc(c, n, sizeof *t->link, "lists of columns");
    if (!t->diagonal || !t->next || !t->head || !t->link) return c->status;
    for (int32_t j = 0; j < n; ++j) t->head[j] = -1;
    const saddle_status status = sd_candidates_make(c, n, &t->k);
    return status ? status : sd_growing_make(c, n, t->B->B->nnz / 2, &t->columns);
}

static void release(sd_context *c, ict *t)
{
    sd_free_all(c, t->diagonal, t->next, t->head, t->link);
    sd_candidates_free(c, &t->k);
    sd_growing_free(c, &t->columns);
}

/* Column k goes to the list of the row of its next entry. */
static void enlist(ict *t, int32_t k)
{
    if (t->next[k] == t->columns.ptr[k + 1]) return;
    const int32_t row = t->columns.ind[t->next[k]];
    t->link[k] = t->head[row];
    t->head[row] = k;
}

static inline double *place(sd_candidates *k, int32_t i, int32_t j)
{
    if (k->seen[i] != j) {
        k->seen[i] = j;
        k->w[i] = 0;
        k->list[k->count++] = i;
    }
    return &k->w[i];
}

/* Column j below its diagonal, in w; returns w_j. part gets how many entries B has there, all how many it has
 * in its whole column, without the diagonal. */
static double gather(ict *t, int32_t j, int64_t *part, int64_t *all)
{
    const sd_csr *const B = t->B->B;
    double pivot = t->B->diagonal[j];
    t->k.count = 0;
    *all = 0;
    for (int64_t e = B->ptr[j]; e < B->ptr[j + 1]; ++e) {
        *all += B->ind[e] != j;
        if (B->ind[e] > j) *place(&t->k, B->ind[e], j) = B->val[e];
    }
    *part = t->k.count;
    for (int32_t k = t->head[j], following; k >= 0; k = following) {
        const int64_t end = t->columns.ptr[k + 1];
        const double l = t->columns.val[t->next[k]];
        pivot -= l * l;
        t->flops += 2 * (double)(end - t->next[k]);
        for (int64_t e = ++t->next[k]; e < end; ++e)
            *place(&t->k, t->columns.ind[e], j) -= l * t->columns.val[e];
        following = t->link[k];
        enlist(t, k);
    }
    return pivot;
}

static saddle_status make_column(sd_context *c, ict *t, const sd_incomplete_rule *rule, int32_t j,
                                 bool *broken)
{
    const sd_csr *const B = t->B->B;
    int64_t part, all;
    const double pivot = gather(t, j, &part, &all);
    *broken = !(pivot > SD_PIVOT_ROUNDING * t->B->largest[j] && pivot <= DBL_MAX) ||
              !sd_candidates_choose(&t->k, t->k.list, &t->k.count, rule->tau * sd_row_norm(B, j),
                                    sd_most_entries(rule, part, all));
    if (*broken) return SADDLE_OK;
    const saddle_status status = sd_growing_reserve(c, &t->columns, t->k.count);
    if (status) return status;
    t->diagonal[j] = sqrt(pivot);
    t->next[j] = t->columns.count;
    for (int32_t e = 0; e < t->k.count; ++e) {
        t->columns.ind[t->columns.count] = t->k.list[e];
        t->columns.val[t->columns.count++] = t->k.w[t->k.list[e]] / t->diagonal[j];
    }
    t->columns.ptr[j + 1] = t->columns.count;
    enlist(t, j);
    return SADDLE_OK;
}

/* L by rows, of its columns. */
static saddle_status hand_over(sd_context *c, ict *t, sd_incomplete *m)
{
    const sd_pattern columns = {m->n, t->columns.ptr, t->columns.ind};
    int32_t *from;
    saddle_status status = sd_pattern_transpose(c, &columns, &m->lower, &from);
    if (status) return status;
    const int64_t entries = m->lower.ptr[m->n];
    m->lower_val = sd_alloc(c, entries, sizeof *m->lower_val, "the factor L");
    if (!m->lower_val) status = c->status;
    for (int64_t k = 0; k < entries && !status; ++k) m->lower_val[k] = t->columns.val[from[k]];
    m->diagonal = t->diagonal;
    t->diagonal = NULL;
    sd_free(c, from);
    return status;
}

saddle_status sd_try_ict(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule, sd_incomplete *m,
                         bool *broken)
{
    ict t = {.B = B};
    saddle_status status = prepare(c, &t);
    for (int32_t j = 0; j < m->n && !status && !*broken; ++j) {
        if (j % PIECE == 0) status = sd_progress(c, "factor", j, m->n, NAN);
        if (!status) status = make_column(c, &t, rule, j, broken);
    }
    m->flops += t.flops;
    if (!status && !*broken) status = hand_over(c, &t, m);
    release(c, &t);
    return status;
}
