/*
 * See fixed_point_sweep.h. The sum for (i, j) is the product of a row of L and a column of U. Row i is spread
 * over a vector of zeros and multiplied with every column j that row i has an entry of; the other half is the
 * same with the parts of L and U exchanged, and for L L' there is no other half. So no number is written by
 * two, and no sum depends on who computes it. Rows are shared out in chunks of a fixed number, whose
 * residuals are added in their order.
 */
#include "factor/fixed_point_sweep.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    CHUNK = 64,          /* rows */
    TEAM_ENTRIES = 4000, /* with fewer a team would cost more than the sweep */
    PATIENCE = 3         /* sweeps without a new lowest residual, and it no longer falls */
};
static const double ROUNDING = 4 * DBL_EPSILON; /* a residual */
static const double GROWTH = 10;                /* of the residual on the way: it diverges */
static const double HARMLESS = 0.01;            /* a residual that is none of divergence, however it began */
static const double USELESS = 0.2;              /* one that leaves no factors, however it began */

static int32_t chunks_of(int32_t n)
{
    return n / CHUNK + (n % CHUNK > 0);
}

static int32_t chunk_end(int32_t n, int32_t begin)
{
    return n - begin < CHUNK ? n : begin + CHUNK;
}

/* ---- what there is to begin with ---- */

saddle_status sd_sweeping_open(sd_context *c, const sd_shifted *B, bool symmetric,
                               const sd_incomplete_rule *rule, sd_sweeping *t)
{
    const int32_t n = B->B->n;
    const int threads = rule->threads > 1 && B->B->nnz >= TEAM_ENTRIES ? rule->threads : 1;
    *t = (sd_sweeping){.c = c, .B = B, .n = n, .symmetric = symmetric, .rule = rule, .threads = threads};
    if (!symmetric && sd_csr_transpose(c, B->B, &t->transpose)) return c->status;
    t->diagonal = sd_alloc(c, n, sizeof *t->diagonal, "the diagonal of a factor");
    t->next = sd_alloc(c, n, sizeof *t->next, "the diagonal of a factor");
    t->zeros = sd_alloc_zero(c, (int64_t)threads * n, sizeof *t->zeros, "rows of fixed-point sweeps");
    t->part = sd_alloc(c, chunks_of(n), sizeof *t->part, "residuals of fixed-point sweeps");
    return t->diagonal && t->next && t->zeros && t->part ? SADDLE_OK : c->status;
}

static void half_free(sd_context *c, sd_sweep_half *h)
{
    sd_csr_free(c, &h->rows);
    sd_free_all(c, h->next, h->b);
}

void sd_sweeping_close(sd_sweeping *t, sd_incomplete *m)
{
    m->flops += t->flops;
    m->sweeps = t->sweeps;
    m->residual = t->residual;
    half_free(t->c, &t->lower);
    half_free(t->c, &t->upper);
    sd_csr_free(t->c, &t->transpose);
    sd_free_all(t->c, t->diagonal, t->next, t->zeros, t->part);
}

/* Numbers for the next sweep, and B on the pattern. */
static saddle_status fit_half(sd_sweeping *t, sd_sweep_half *h)
{
    const sd_csr *B = sd_sweeping_matrix(t, h);
    sd_free_all(t->c, h->next, h->b);
    h->next = sd_alloc(t->c, h->rows.nnz, sizeof *h->next, "fixed-point sweeps");
    h->b = sd_alloc(t->c, h->rows.nnz, sizeof *h->b, "fixed-point sweeps");
    if (!h->next || !h->b) return t->c->status;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->threads > 1)
    for (int32_t i = 0; i < t->n; ++i) {
        int64_t from = B->ptr[i];
        for (int64_t k = h->rows.ptr[i]; k < h->rows.ptr[i + 1]; ++k) {
            while (from < B->ptr[i + 1] && B->ind[from] < h->rows.ind[k]) ++from;
            h->b[k] = from < B->ptr[i + 1] && B->ind[from] == h->rows.ind[k] ? B->val[from] : 0;
        }
    }
    return SADDLE_OK;
}

/* Products and divisions of a sweep over one half. */
static double count_flops(const sd_sweep_half *h, const sd_sweep_half *other)
{
    double products = 0;
    for (int64_t k = 0; k < h->rows.nnz; ++k)
        products += (double)(other->rows.ptr[h->rows.ind[k] + 1] - other->rows.ptr[h->rows.ind[k]]);
    return 2 * products + (double)h->rows.nnz;
}

saddle_status sd_sweeping_fit(sd_sweeping *t)
{
    sd_sweep_half *column = sd_sweeping_other(t, &t->lower);
    saddle_status status = fit_half(t, &t->lower);
    if (!status && !t->symmetric) status = fit_half(t, &t->upper);
    if (status) return status;
    t->flops_of_sweep = count_flops(&t->lower, column) + 2 * (double)column->rows.nnz;
    if (!t->symmetric) t->flops_of_sweep += count_flops(&t->upper, &t->lower);
    t->norm = 0;
    for (int64_t k = 0; k < t->lower.rows.nnz; ++k) t->norm += (t->symmetric ? 2 : 1) * fabs(t->lower.b[k]);
    for (int64_t k = 0; k < t->upper.rows.nnz; ++k) t->norm += fabs(t->upper.b[k]);
    for (int32_t i = 0; i < t->n; ++i) t->norm += fabs(t->B->diagonal[i]);
    return SADDLE_OK;
}

/* ---- a sweep ---- */

/* The entry of the diagonal for pivot d of row i; false where it cannot be used. */
static inline bool take_pivot(const sd_sweeping *t, int32_t i, double d, double *diagonal)
{
    *diagonal = t->symmetric ? sqrt(d) : d;
    if (!isfinite(d)) return false;
    return t->symmetric ? d > SD_PIVOT_ROUNDING * t->B->largest[i]
                        : fabs(d) > SD_PIVOT_SMALL * t->B->largest[i];
}

/* Pivots in `d` become entries of the diagonal, and numbers of L are divided by them. */
static bool divide(const sd_sweeping *t, double *d, double *lower)
{
    const sd_csr *L = &t->lower.rows;
    int32_t unusable = 0;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->threads > 1) reduction(+ : unusable)
    for (int32_t i = 0; i < t->n; ++i) unusable += !take_pivot(t, i, d[i], &d[i]);
    if (unusable) return false;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->threads > 1)
    for (int64_t k = 0; k < L->nnz; ++k) lower[k] /= d[L->ind[k]];
    return true;
}

bool sd_sweeping_guess(sd_sweeping *t)
{
    t->beginning = NAN;
    memcpy(t->lower.rows.val, t->lower.b, (size_t)t->lower.rows.nnz * sizeof(double));
    if (!t->symmetric) memcpy(t->upper.rows.val, t->upper.b, (size_t)t->upper.rows.nnz * sizeof(double));
    memcpy(t->diagonal, t->B->diagonal, (size_t)t->n * sizeof(double));
    return divide(t, t->diagonal, t->lower.rows.val);
}

static inline double dot(const sd_csr *Q, int32_t j, const double *row)
{
    double sum = 0;
    for (int64_t k = Q->ptr[j]; k < Q->ptr[j + 1]; ++k) sum += Q->val[k] * row[Q->ind[k]];
    return sum;
}

static inline void spread(const sd_csr *P, int32_t i, double *row)
{
    for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) row[P->ind[k]] = P->val[k];
}

static inline void clear(const sd_csr *P, int32_t i, double *row)
{
    for (int64_t k = P->ptr[i]; k < P->ptr[i + 1]; ++k) row[P->ind[k]] = 0;
}

/* c of row i, which is spread in `row`; returns the sum of what it changes by. */
static double sweep_row(const sd_sweep_half *h, const sd_csr *other, const double *unit, int32_t i,
                        const double *row)
{
    double change = 0;
    for (int64_t k = h->rows.ptr[i]; k < h->rows.ptr[i + 1]; ++k) {
        const int32_t j = h->rows.ind[k];
        const double c = h->b[k] - dot(other, j, row);
        change += fabs(c - (unit ? h->rows.val[k] * unit[j] : h->rows.val[k]));
        h->next[k] = c;
    }
    return change;
}

static double sweep_both(sd_sweeping *t, int32_t i, double *row)
{
    const sd_csr *L = &t->lower.rows, *column = &sd_sweeping_other(t, &t->lower)->rows;
    const double old = t->symmetric ? t->diagonal[i] * t->diagonal[i] : t->diagonal[i];
    spread(L, i, row);
    double change = sweep_row(&t->lower, column, t->diagonal, i, row);
    if (t->symmetric) change *= 2;
    t->next[i] = t->B->diagonal[i] - dot(column, i, row);
    change += fabs(t->next[i] - old);
    clear(L, i, row);
    if (t->symmetric) return change;
    spread(column, i, row);
    change += sweep_row(&t->upper, L, NULL, i, row);
    clear(column, i, row);
    return change;
}

double sd_sweep(sd_sweeping *t, bool *usable)
{
    const int32_t chunks = chunks_of(t->n);
    double change = 0;
#pragma omp parallel for schedule(dynamic) num_threads(t->threads) if (t->threads > 1)
    for (int32_t p = 0; p < chunks; ++p) {
        double *row = t->zeros + (t->threads > 1 ? omp_get_thread_num() : 0) * (int64_t)t->n;
        double sum = 0;
        for (int32_t i = p * CHUNK; i < chunk_end(t->n, p * CHUNK); ++i) sum += sweep_both(t, i, row);
        t->part[p] = sum;
    }
    for (int32_t p = 0; p < chunks; ++p) change += t->part[p];
    *usable = divide(t, t->next, t->lower.next);
    t->flops += t->flops_of_sweep;
    return t->norm > 0 ? change / t->norm : change;
}

static void exchange(double **a, double **b)
{
    double *swap = *a;
    *a = *b;
    *b = swap;
}

void sd_sweeping_accept(sd_sweeping *t)
{
    exchange(&t->lower.rows.val, &t->lower.next);
    exchange(&t->upper.rows.val, &t->upper.next);
    exchange(&t->diagonal, &t->next);
}

/* ---- many ---- */

saddle_status sd_sweeps_iterate(sd_context *c, const sd_incomplete_rule *rule, sd_sweeps *s, bool *broken)
{
    bool usable;
    double lowest = s->sweep(s->self, &usable);
    if (isnan(s->beginning)) s->beginning = lowest;
    int in_vain = 0;
    for (s->sweeps = 0; usable;) {
        s->accept(s->self);
        s->residual = s->sweep(s->self, &usable);
        ++s->sweeps;
        const saddle_status status = sd_progress(c, "factor", s->sweeps, rule->sweeps, s->residual);
        if (status) return status;
        in_vain = s->residual < lowest ? 0 : in_vain + 1;
        lowest = fmin(lowest, s->residual);
        if (!(s->residual <= GROWTH * fmax(s->beginning, HARMLESS))) break;
        if (s->residual <= ROUNDING || s->sweeps >= rule->sweeps || in_vain >= PATIENCE) {
            *broken = !(s->residual <= fmax(fmin(s->beginning, USELESS), HARMLESS));
            return SADDLE_OK;
        }
    }
    *broken = true;
    return SADDLE_OK;
}

static double sweep_here(void *self, bool *usable)
{
    return sd_sweep(self, usable);
}

static void accept_here(void *self)
{
    sd_sweeping_accept(self);
}

saddle_status sd_sweeping_iterate(sd_sweeping *t, bool *broken)
{
    sd_sweeps s = {sweep_here, accept_here, t, t->beginning, t->residual, t->sweeps};
    const saddle_status status = sd_sweeps_iterate(t->c, t->rule, &s, broken);
    t->beginning = s.beginning;
    t->residual = s.residual;
    t->sweeps = s.sweeps;
    return status;
}
