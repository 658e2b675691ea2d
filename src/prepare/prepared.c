/*
 * A prepared matrix with ascending columns, without sorting: entries are listed by columns of B, row by row,
 * and then handed out to rows, column by column. See prepared.h.
 */
#include "prepare/prepared.h"

#include "core/power.h"
#include "prepare/order.h"

#include <math.h>

/* Entries of A by columns of B, in the order of their rows. */
typedef struct by_columns {
    int32_t *position; /* of a column of A in B */
    int64_t *next;     /* n + 1: where the next entry of a column goes; afterwards where it ends */
    int32_t *row;      /* of B */
    int64_t *source;
} by_columns;

static void list_columns(const sd_csr *A, const saddle_preparation *p, by_columns *t)
{
    const int32_t n = A->n;
    sd_invert_order(n, p->permutation, t->position);
    for (int32_t s = 0; s <= n; ++s) t->next[s] = 0;
    for (int64_t k = 0; k < A->nnz; ++k) ++t->next[t->position[A->ind[k]]];
    for (int64_t s = 0, first = 0; s <= n; ++s) {
        const int64_t count = t->next[s];
        t->next[s] = first;
        first += count;
    }
    for (int32_t r = 0; r < n; ++r) {
        const int32_t i = p->row_permutation[r];
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int64_t at = t->next[t->position[A->ind[k]]]++;
            t->row[at] = r;
            t->source[at] = k;
        }
    }
}

static void hand_out(const by_columns *t, const sd_csr *A, const saddle_preparation *p, sd_prepared *m)
{
    const int32_t n = A->n;
    int64_t *const ptr = m->B.ptr;
    ptr[0] = 0;
    for (int32_t r = 0; r < n; ++r) {
        const int32_t i = p->row_permutation[r];
        ptr[r + 1] = ptr[r] + A->ptr[i + 1] - A->ptr[i];
    }
    for (int64_t s = 0, k = 0; s < n; ++s)
        for (; k < t->next[s]; ++k) {
            const int64_t at = ptr[t->row[k]]++;
            m->B.ind[at] = (int32_t)s;
            m->source[at] = t->source[k];
        }
    for (int32_t r = n; r > 0; --r) ptr[r] = ptr[r - 1]; /* each had become the next one's */
    ptr[0] = 0;
}

void sd_prepared_values(const sd_csr *A, const saddle_preparation *p, sd_prepared *m)
{
    sd_csr *B = &m->B;
    double largest = 0;
    for (int32_t r = 0; r < B->n; ++r)
        for (int64_t k = B->ptr[r]; k < B->ptr[r + 1]; ++k) {
            const double s = p->row_scale ? p->row_scale[p->row_permutation[r]] : 1;
            const double t = p->col_scale ? p->col_scale[p->permutation[B->ind[k]]] : 1;
            B->val[k] = sd_scale_both(A->val[m->source[k]], s, t);
            if (fabs(B->val[k]) > largest) largest = fabs(B->val[k]);
        }
    m->exponent = largest > 0 && isfinite(largest) ? ilogb(largest) : 0;
    sd_shift(B->nnz, B->val, -m->exponent, B->val);
    m->negated = false;
}

/* Of row i; 1 where it is not 0 but has no negative diagonal entry. */
static int sign_of_row(const sd_csr *B, int32_t i)
{
    double own = 0, largest = 0;
    for (int64_t k = B->ptr[i]; k < B->ptr[i + 1]; ++k) {
        largest = fmax(largest, fabs(B->val[k]));
        if (B->ind[k] == i) own = B->val[k];
    }
    return own < 0 ? -1 : largest > 0;
}

void sd_prepared_turn(sd_prepared *m)
{
    sd_csr *B = &m->B;
    bool negative = false, other = false;
    for (int32_t i = 0; i < B->n && !other; ++i) {
        const int sign = sign_of_row(B, i);
        negative |= sign < 0;
        other = sign > 0;
    }
    m->negated = negative && !other;
    for (int64_t k = 0; k < B->nnz && m->negated; ++k) B->val[k] = -B->val[k];
}

saddle_status sd_prepared_make(sd_context *c, const sd_csr *A, const saddle_preparation *p, sd_prepared *m)
{
    const int64_t n = A->n;
    by_columns t = {.position = sd_alloc(c, n, sizeof *t.position, "positions"),
                    .next = sd_alloc(c, n + 1, sizeof *t.next, "columns"),
                    .row = sd_alloc(c, A->nnz, sizeof *t.row, "columns"),
                    .source = sd_alloc(c, A->nnz, sizeof *t.source, "columns")};
    *m = (sd_prepared){.B = {.n = A->n, .nnz = A->nnz}};
    m->B.ptr = sd_alloc(c, n + 1, sizeof *m->B.ptr, "prepared matrix");
    m->B.ind = sd_alloc(c, A->nnz, sizeof *m->B.ind, "prepared matrix");
    m->B.val = sd_alloc(c, A->nnz, sizeof *m->B.val, "prepared matrix");
    m->source = sd_alloc(c, A->nnz, sizeof *m->source, "prepared matrix");
    const bool all =
        t.position && t.next && t.row && t.source && m->B.ptr && m->B.ind && m->B.val && m->source;
    if (all) {
        list_columns(A, p, &t);
        hand_out(&t, A, p, m);
        sd_prepared_values(A, p, m);
    }
    sd_free_all(c, t.position, t.next, t.row, t.source);
    if (!all) sd_prepared_free(c, m);
    return all ? SADDLE_OK : c->status;
}

void sd_prepared_free(sd_context *c, sd_prepared *m)
{
    sd_csr_free(c, &m->B);
    sd_free(c, m->source);
    *m = (sd_prepared){0};
}
