/*
 * Block-Jacobi transposed: z = M'^-1 r on the host, by one thread.
 *
 * Every kernel's solve (backend/batch.h) is a chain of elementary steps, and the transposed solve is their
 * transposes in the opposite order. Of Gauss-Huard, step k of which is
 *
 *     x_k -= sum_j<k a_kj x_j,    x_k /= a_kk,    x_i -= a_ik x_k for i < k,
 *
 * these are, from the last k to the first, x_k -= sum_i<k a_ik x_i, x_k /= a_kk, x_j -= a_kj x_k for j < k.
 * Of L D U they are U', D, L'. Symmetric kernels need none of this.
 */
#include "factor/block_jacobi.h"

#include <string.h>

/* A block's factors on the host. */
typedef struct block {
    int n;
    sd_batch_kernel kernel;
    const void *a;
    sd_precision precision;
    int64_t entry;
} block;

static double at(const block *f, int i, int j)
{
    const int64_t k = f->entry + i + (int64_t)j * f->n;
    return f->precision == SD_DOUBLE ? ((const double *)f->a)[k] : (double)((const float *)f->a)[k];
}

/* What the first part of a step of Gauss-Huard has at (i, k), i < k. */
static double above(const block *f, int i, int k)
{
    return f->kernel == SD_HUARD ? at(f, i, k) : at(f, f->n - 1 - k, f->n - 1 - i);
}

static void solve_huard(const block *f, double *x)
{
    for (int k = f->n - 1; k >= 0; --k) {
        for (int i = 0; i < k; ++i) x[k] -= above(f, i, k) * x[i];
        x[k] /= at(f, k, k);
        for (int j = 0; j < k; ++j) x[j] -= at(f, k, j) * x[k];
    }
}

static void solve_ldu(const block *f, double *x)
{
    for (int j = 0; j < f->n; ++j)
        for (int i = 0; i < j; ++i) x[j] -= at(f, i, j) * x[i];
    for (int j = 0; j < f->n; ++j) x[j] /= at(f, j, j);
    for (int j = f->n - 1; j >= 0; --j)
        for (int i = j + 1; i < f->n; ++i) x[j] -= at(f, i, j) * x[i];
}

static void multiply(const block *f, double *x)
{
    double b[SD_BLOCK_MOST];
    memcpy(b, x, sizeof *x * (size_t)f->n);
    for (int j = 0; j < f->n; ++j) {
        x[j] = 0;
        for (int i = 0; i < f->n; ++i) x[j] += at(f, i, j) * b[i];
    }
}

/* An array of the backend's on the host. */
static void *bring(sd_engine *e, const void *from, int64_t bytes)
{
    if (e->backend->host_memory || !from || e->status) return (void *)(uintptr_t)from;
    void *to = sd_alloc(e->context, bytes, 1, "factors of blocks");
    if (!to) e->status = e->context->status;
    if (to) e->backend->download(e, from, to, bytes);
    return to;
}

static void drop(sd_engine *e, const void *brought)
{
    if (!e->backend->host_memory) sd_free(e->context, (void *)(uintptr_t)brought);
}

static void bring_part(sd_engine *e, const sd_block_part *from, sd_block_part *to)
{
    const sd_batch_plan *p = &from->plan;
    const int64_t rows = p->rows * (int64_t)sizeof *p->source;
    *to = *from;
    to->factors.plan = &to->plan;
    to->factors.data = to->factors.row = to->factors.column = NULL;
    to->plan.job = NULL;
    to->plan.source = to->plan.target = NULL;
    if (p->count == 0) return;
    to->plan.job = bring(e, p->job, p->count * (int64_t)sizeof *p->job);
    to->plan.source = bring(e, p->source, rows);
    to->plan.target = p->target == p->source ? to->plan.source : bring(e, p->target, rows);
    to->factors.data =
        bring(e, from->factors.data, p->entries * (int64_t)sd_precision_size(from->factors.precision));
    to->factors.row = bring(e, from->factors.row, p->rows);
    to->factors.column = bring(e, from->factors.column, p->rows);
}

saddle_status sd_block_jacobi_bring(sd_engine *e, const sd_block_jacobi *from, sd_block_jacobi *to)
{
    *to = *from;
    for (int p = 0; p < SD_PRECISIONS; ++p) bring_part(e, &from->part[p], &to->part[p]);
    return e->status;
}

void sd_block_jacobi_drop(sd_engine *e, sd_block_jacobi *m)
{
    for (int p = 0; p < SD_PRECISIONS; ++p) {
        const sd_block_part *part = &m->part[p];
        if (part->plan.target != part->plan.source) drop(e, part->plan.target);
        drop(e, part->plan.source);
        drop(e, part->plan.job);
        drop(e, part->factors.data);
        drop(e, part->factors.row);
        drop(e, part->factors.column);
    }
    *m = (sd_block_jacobi){0};
}

/* Rows of the job, of which those of one size follow one another. */
static int rows_of(const sd_batch_plan *plan, int32_t k)
{
    int size = 1;
    while (k >= plan->first[size + 1]) ++size;
    return size;
}

static void solve_part(const sd_block_part *part, const double *r, double *z)
{
    const sd_batch_plan *plan = &part->plan;
    const sd_batch_factors *f = &part->factors;
    for (int32_t k = 0; k < plan->count; ++k) {
        const sd_batch_job job = plan->job[k];
        const block b = {rows_of(plan, k), f->kernel, f->data, f->precision, job.entry};
        const int32_t *source = plan->source ? plan->source + job.row : NULL;
        const int32_t *target = plan->target ? plan->target + job.row : NULL;
        const uint8_t *row = f->row + job.row, *column = f->column + job.row;
        double x[SD_BLOCK_MOST];
        for (int i = 0; i < b.n; ++i) x[i] = r[target ? target[column[i]] : job.row + column[i]];
        switch (b.kernel) {
        case SD_JORDAN: multiply(&b, x); break;
        case SD_LDU_PARTIAL: solve_ldu(&b, x); break;
        default: solve_huard(&b, x);
        }
        for (int i = 0; i < b.n; ++i) z[source ? source[row[i]] : job.row + row[i]] = x[i];
    }
}

void sd_block_jacobi_transposed(const sd_block_jacobi *m, const double *r, double *z)
{
    int32_t rows = 0;
    for (int p = 0; p < SD_PRECISIONS; ++p) {
        if (m->part[p].plan.count == 0) continue;
        solve_part(&m->part[p], r, z);
        rows = m->part[p].plan.rows;
    }
    if (m->exponent) sd_shift(rows, z, -m->exponent, z);
}
