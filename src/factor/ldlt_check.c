/*
 * The reconstruction error of a block LDL', column by column: what is left of
 *
 *     A_ij - sum_k<j C_ik G_k C_jk' - C_ij,   A_jj - sum_k<j C_jk G_k C_jk' - G_j^-1
 *
 * in every block that is touched, whether the factors keep it or not. (Stretching Jacobi, Algorithm 2 and
 * Figure 3, measures |L D L' - A| / |A| in the infinity norm.)
 */
#include "factor/ldlt_column.h"
#include "factor/ldlt_preconditioner.h"

#include <math.h>

typedef struct checking {
    sd_engine *e; /* a host's, for the inverses of G */
    sd_context *c;
    const sd_ldlt_plan *plan;
    sd_block_matrix B; /* as the plan numbers its blocks */
    sd_block_order order;
    sd_ldlt_workspace workspace;
    double *data, *inverse; /* in double, on the host */
    double *sum;            /* of |A - L D L'| in each row */
    double pattern;         /* largest on the pattern */
} checking;

static saddle_status gather_terms(checking *t, int32_t j)
{
    const sd_ldlt_plan *plan = t->plan;
    for (int64_t m = plan->row[j]; m < plan->diagonal[j]; ++m) {
        const int32_t k = plan->list[m].other;
        const int64_t own = plan->diagonal[k] + (plan->number[m] - plan->number[plan->diagonal[k]]);
        sd_ldlt_term *term = sd_ldlt_term_new(t->c, &t->workspace);
        if (!term) return t->c->status;
        *term = (sd_ldlt_term){.data = t->data,
                               .inverse = t->inverse + plan->square[k],
                               .own = &plan->list[own],
                               .tail = &plan->list[own],
                               .count = (int32_t)(plan->row[k + 1] - own),
                               .size = plan->start[k + 1] - plan->start[k],
                               .position = k};
    }
    return SADDLE_OK;
}

/* The larger of the two; NaN where one of them is. */
static void raise(double *most, double x)
{
    if (!isnan(*most) && !(x <= *most)) *most = x;
}

/* Adds |block| to the sums of its rows, and of its columns where it is off the diagonal. */
static void add_up(checking *t, const double *a, int ld, int32_t i, int32_t j, bool kept)
{
    const int32_t *start = t->plan->start;
    for (int r = 0; r < start[i + 1] - start[i]; ++r) {
        for (int q = 0; q < start[j + 1] - start[j]; ++q) {
            const double size = fabs(a[r * ld + q]);
            t->sum[start[i] + r] += size;
            if (i != j) t->sum[start[j] + q] += size;
            if (kept) raise(&t->pattern, size);
        }
    }
}

/* Subtracts S_j as G_j has it, G_j^-1, from what the terms leave of it. */
static void subtract_diagonal(checking *t, int32_t j, int ld)
{
    const int size = t->plan->start[j + 1] - t->plan->start[j];
    const sd_batch_rule rule = {.kernel = SD_LDLT_COMPLETE};
    double s[SD_BLOCK_MOST * SD_BLOCK_MOST];
    double *a = (double *)t->workspace.accumulators + t->workspace.place[j];
    sd_ldlt_invert(t->e, &rule, size, SD_DOUBLE, t->inverse + t->plan->square[j], s);
    for (int r = 0; r < size; ++r)
        for (int q = 0; q < size; ++q) a[r * ld + q] -= s[r + q * size];
}

static saddle_status check_column(checking *t, int32_t j)
{
    sd_ldlt_workspace *d = &t->workspace;
    const sd_ldlt_plan *plan = t->plan;
    const int ld = sd_ldlt_ld(plan->start[j + 1] - plan->start[j], SD_DOUBLE);
    saddle_status status = gather_terms(t, j);
    if (status) return status;
    sd_ldlt_touch(d, j);
    d->met[j].level = -1;
    sd_ldlt_meet_matrix(&t->B, t->order.position, j, d);
    for (int32_t k = 0; k < d->terms; ++k)
        for (int32_t q = 0; q < d->term[k].count; ++q) sd_ldlt_touch(d, d->term[k].tail[q].other);
    for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k) {
        sd_ldlt_touch(d, plan->list[k].other);
        d->met[plan->list[k].other].level = -1;
    }
    status = sd_ldlt_accumulate(t->c, &t->B, j, d);
    if (!status) {
        sd_ldlt_subtract(&t->B, j, d);
        subtract_diagonal(t, j, ld);
        for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k) {
            const sd_ldlt_block *b = &plan->list[k];
            double *a = (double *)d->accumulators + d->place[b->other];
            const double *c = t->data + b->entry;
            for (uint32_t q = b->rows; q; q &= q - 1)
                for (uint32_t r = b->columns; r; r &= r - 1)
                    a[__builtin_ctz(r) * ld + __builtin_ctz(q)] -= *c++;
        }
        for (int32_t k = 0; k < d->count; ++k) {
            const int32_t i = d->touched[k];
            add_up(t, (double *)d->accumulators + d->place[i], ld, i, j, d->met[i].level < 0);
        }
    }
    sd_ldlt_clear(d);
    return status ? status : t->e->status;
}

/* The infinity norm of the matrix that is factored. */
static double norm_of(const sd_csr *A)
{
    double most = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        double sum = 0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) sum += fabs(A->val[k]);
        most = fmax(most, sum);
    }
    return most;
}

static double *fetch(sd_engine *e, const void *numbers, int64_t count, sd_precision precision)
{
    const sd_vector v = {(void *)(uintptr_t)numbers, count, precision};
    double *host = sd_alloc(e->context, count, sizeof *host, "check of the factors");
    if (!host) e->status = e->context->status;
    if (host && count > 0) sd_vector_get(e, &v, host);
    return host;
}

static saddle_status check_columns(checking *t, double *pattern, double *all)
{
    saddle_status status = SADDLE_OK;
    double most = 0;
    for (int32_t j = 0; j < t->plan->blocks && !status; ++j) {
        status = check_column(t, j);
        if (!status && j % 1024 == 0) status = sd_progress(t->c, "check", j, t->plan->blocks, NAN);
    }
    for (int32_t r = 0; r < t->plan->n; ++r) raise(&most, t->sum[r]);
    const double norm = norm_of(&t->B.rows);
    *pattern = t->B.largest > 0 ? t->pattern / t->B.largest : t->pattern;
    *all = norm > 0 ? most / norm : most;
    return status;
}

saddle_status sd_ldlt_check(sd_engine *e, const sd_block_ldlt *m, const sd_csr *A, double *pattern,
                            double *all)
{
    sd_context *c = e->context;
    const sd_ldlt_plan *plan = &m->plan;
    const sd_precision precision = m->factors.precision;
    sd_engine host = {0};
    checking t = {.e = &host, .c = c, .plan = plan};
    t.data = fetch(e, m->factors.data, plan->entries, precision);
    t.inverse = fetch(e, m->factors.inverse, plan->square[plan->blocks], precision);
    t.sum = sd_alloc_zero(c, plan->n, sizeof *t.sum, "check of the factors");
    saddle_status status = t.data && t.inverse && t.sum ? e->status : c->status;
    if (!status) status = sd_engine_open_host(c, &host, SADDLE_DEVICE_CPU, 1);
    if (!status)
        status =
            sd_block_matrix_make(c, A, m->order, m->preparation->row_scale, plan->blocks, plan->start, &t.B);
    if (!status) sd_block_matrix_shift(-m->shift, &t.B);
    if (!status) status = sd_block_order_make(c, plan->blocks, &t.order);
    if (!status) status = sd_ldlt_workspace_make(c, &t.B, SD_DOUBLE, false, &t.workspace);
    if (!status) status = check_columns(&t, pattern, all);
    sd_ldlt_workspace_free(c, &t.workspace);
    sd_block_order_free(c, &t.order);
    sd_block_matrix_free(c, &t.B);
    sd_engine_close(&host);
    sd_free_all(c, t.data, t.inverse, t.sum);
    return status;
}
