/*
 * Errors of several columns at once: one pass over a matrix with all its entries (backend/cpu/columns.c).
 *
 * Columns whose numbers, or whose matrix, are far from 1 are left to sd_measure, which scales them first.
 */
#include "solve/measure_columns.h"

#include <math.h>
#include <string.h>

static const double SAFE = 0x1p+200; /* numbers between this and its inverse need no scaling */
enum {
    MANY = 3, /* columns from which on the whole matrix is worth having */
    ROWS = 64 /* that are turned from columns to rows at a time */
};

saddle_status sd_columns_begin(sd_engine *e, const sd_operator *op, int64_t many, sd_columns *m)
{
    const sd_sparse *s = &op->sparse;
    *m = (sd_columns){.norm_inf = op->norm_inf};
    if (many < MANY || !e->backend->host_memory || op->exponent != 0 || !(op->norm_inf < SAFE) ||
        op->smallest < -400)
        return SADDLE_OK;
    sd_csr stored = {.n = s->n, .nnz = s->nnz, .half = s->half};
    memcpy(&stored.ptr, &s->ptr, sizeof stored.ptr); /* read only, in a struct that could do more */
    memcpy(&stored.ind, &s->ind, sizeof stored.ind);
    memcpy(&stored.val, &s->val, sizeof stored.val);
    saddle_status status = SADDLE_OK;
    m->owned = s->half;
    m->whole = stored;
    if (s->half) status = sd_csr_expand(e->context, &stored, &m->whole);
    const int64_t size = (int64_t)s->n * SD_COLUMNS;
    if (!status) m->b = sd_alloc(e->context, 4 * size, sizeof *m->b, "columns of the solve");
    if (!m->b) {
        if (!status) sd_columns_end(e->context, m);
        return e->context->status;
    }
    m->x = m->b + size;
    m->r = m->x + size;
    m->w = m->r + size;
    m->A = &m->whole;
    return SADDLE_OK;
}

void sd_columns_end(sd_context *c, sd_columns *m)
{
    if (m->owned) sd_csr_free(c, &m->whole);
    sd_free(c, m->b);
    *m = (sd_columns){0};
}

/* Rows [first, end) of a column into the block. */
static void put_rows(const double *from, int64_t first, int64_t end, int c, double *to)
{
    for (int64_t i = first; i < end; ++i) to[i * SD_COLUMNS + c] = from[i];
}

static bool is_safe(int64_t n, const double *x)
{
    double most = 0, least = SAFE;
    for (int64_t i = 0; i < n; ++i) {
        const double size = fabs(x[i]);
        if (!(size <= most)) most = size;
        if (size > 0 && size < least) least = size;
    }
    return most < SAFE && least > 1 / SAFE;
}

static void fill(int64_t n, int count, const sd_column *columns, sd_columns *m)
{
    if (count < SD_COLUMNS) memset(m->b, 0, 2 * (size_t)(n * SD_COLUMNS) * sizeof *m->b);
    for (int64_t first = 0; first < n; first += ROWS) {
        const int64_t end = n - first < ROWS ? n : first + ROWS;
        for (int c = 0; c < count; ++c) {
            put_rows(columns[c].b, first, end, c, m->b);
            put_rows(columns[c].x, first, end, c, m->x);
        }
    }
}

/* Norms and ratios of all columns in one pass over their rows. */
static void conclude(int64_t n, int count, const sd_columns *m, sd_column *columns)
{
    double norm_r[SD_COLUMNS] = {0}, norm_b[SD_COLUMNS] = {0}, norm_x[SD_COLUMNS] = {0};
    double rr[SD_COLUMNS] = {0}, bb[SD_COLUMNS] = {0}, ratio[SD_COLUMNS] = {0}, share[SD_COLUMNS] = {0};
    for (int64_t at = 0; at < n * SD_COLUMNS; at += SD_COLUMNS) {
        for (int c = 0; c < SD_COLUMNS; ++c) {
            const double r = fabs(m->r[at + c]), b = fabs(m->b[at + c]), x = fabs(m->x[at + c]);
            const double inverse = m->w[at + c] > 0 ? 1 / m->w[at + c] : 0;
            norm_r[c] = r > norm_r[c] ? r : norm_r[c];
            norm_b[c] = b > norm_b[c] ? b : norm_b[c];
            norm_x[c] = x > norm_x[c] ? x : norm_x[c];
            rr[c] += r * r;
            bb[c] += b * b;
            ratio[c] = r * inverse > ratio[c] ? r * inverse : ratio[c];
            share[c] = b * inverse > share[c] ? b * inverse : share[c];
        }
    }
    for (int c = 0; c < count; ++c) {
        saddle_errors *e = &columns[c].errors;
        e->backward = norm_r[c] == 0 ? 0 : norm_r[c] / (m->norm_inf * norm_x[c] + norm_b[c]);
        e->componentwise = ratio[c];
        e->relative_residual = norm_r[c] == 0 ? 0 : sqrt(rr[c]) / sqrt(bb[c]);
        columns[c].share_of_b = share[c];
    }
    for (int64_t first = 0; first < n; first += ROWS) {
        const int64_t end = n - first < ROWS ? n : first + ROWS;
        for (int c = 0; c < count; ++c)
            for (int64_t i = first; i < end && columns[c].residual; ++i)
                columns[c].residual[i] = m->r[i * SD_COLUMNS + c];
    }
}

saddle_status sd_columns_measure(sd_engine *e, const sd_operator *op, sd_columns *m, int count,
                                 sd_column *columns)
{
    const int64_t n = op->sparse.n;
    bool together = m->A != NULL && count > 1;
    for (int c = 0; c < count && together; ++c)
        together = is_safe(n, columns[c].b) && is_safe(n, columns[c].x);
    if (together) {
        fill(n, count, columns, m);
        sd_cpu()->columns((int32_t)n, m->A->ptr, m->A->ind, m->A->val, m->b, m->x, m->r, m->w);
        conclude(n, count, m, columns);
        return SADDLE_OK;
    }
    saddle_status status = SADDLE_OK;
    for (int c = 0; c < count && !status; ++c) {
        sd_column *at = &columns[c];
        status = sd_measure(e, op, at->b, at->x, at->residual, &at->errors, &at->share_of_b);
    }
    return status;
}
