/* Solves with the factors, and refinement. See direct.h. */
#include "solve/direct.h"

#include "core/power.h"
#include "factor/rank.h"
#include "solve/measure_columns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPONENT_MOST = 40, /* of two: sizes up to 2^40 are left as they are */
    IDLE_MOST = 2 /* not 1: an error may rise at first, when x is large in a direction that b hardly has */
};

/* The exponent of the largest entry where that is far from 1, otherwise 0. */
static int far_exponent(double largest)
{
    const int exponent = largest == 0 || isinf(largest) ? 0 : ilogb(largest);
    return abs(exponent) <= EXPONENT_MOST ? 0 : exponent;
}

int sd_take_exponent(int32_t n, double *w)
{
    double largest = 0;
    for (int32_t i = 0; i < n; ++i)
        if (fabs(w[i]) > largest) largest = fabs(w[i]);
    const int exponent = far_exponent(largest);
    if (exponent != 0) sd_shift(n, w, -exponent, w);
    return exponent;
}

/* The same of a vector that is yet to be scaled. */
static int shift_of(int32_t n, const double *scale, const double *r)
{
    double largest = 0;
    for (int32_t i = 0; i < n; ++i) {
        const double size = fabs(scale[i] * r[i]);
        largest = size > largest ? size : largest;
    }
    return far_exponent(largest);
}

/* Right-hand sides in rows `from` and on of the matrix that is factored, answers in rows `to` and on. */
static saddle_status apply(sd_context *c, const sd_direct *d, int32_t n, int32_t from, int32_t to, int64_t k,
                           const double *r, int64_t ldr, double *z, int64_t ldz, int threads,
                           sd_solve_memory *memory)
{
    int own[2 * SD_RHS_BLOCK], *shifts = own;
    if (k > SD_RHS_BLOCK) shifts = sd_alloc(c, 2 * k, sizeof *shifts, "right-hand sides");
    if (!shifts) return c->status;
    for (int64_t j = 0; j < k; ++j) {
        shifts[j] = shift_of(n, d->p.row_scale + from, r + j * ldr);
        shifts[k + j] = shifts[j] - d->exponent;
    }
    const sd_solve_frame frame = {.count = n,
                                  .in = from,
                                  .out = to,
                                  .position = d->tree.position,
                                  .scale = d->p.row_scale,
                                  .shift_in = shifts,
                                  .shift_out = shifts + k};
    const saddle_status status = sd_triangular_between(c, &d->factors[d->precision], &d->room, &frame, k, r,
                                                       ldr, z, ldz, threads, memory);
    if (shifts != own) sd_free(c, shifts);
    return status;
}

saddle_status sd_direct_apply(sd_context *c, const sd_direct *d, int32_t n, int64_t k, const double *r,
                              int64_t ldr, double *z, int64_t ldz, int threads, sd_solve_memory *memory)
{
    return apply(c, d, n, 0, d->general ? n : 0, k, r, ldr, z, ldz, threads, memory);
}

saddle_status sd_direct_apply_transposed(sd_context *c, const sd_direct *d, int32_t n, int64_t k,
                                         const double *r, int64_t ldr, double *z, int64_t ldz, int threads)
{
    return apply(c, d, n, d->general ? n : 0, 0, k, r, ldr, z, ldz, threads, NULL);
}

saddle_status sd_direct_null_vector(sd_context *c, const sd_direct *d, const double *b, double *z,
                                    bool *found)
{
    const int32_t n = d->tree.n;
    const sd_factors *f = &d->factors[d->precision];
    *found = false;
    if (d->general || d->zero == 0) return SADDLE_OK;
    double *w = sd_alloc(c, n, sizeof *w, "null vector");
    if (!w) return c->status;
    const int of_b = sd_largest_exponent(b, n);
    for (int32_t i = 0; i < n; ++i) w[d->tree.position[i]] = d->p.row_scale[i] * ldexp(b[i], -of_b);
    saddle_status status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_FORWARD, 1, w, n, 1);
    if (!status) *found = sd_keep_null_space(f, w);
    if (*found) status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_BACKWARD, 1, w, n, 1);
    for (int32_t i = 0; i < n && *found; ++i) z[i] = d->p.row_scale[i] * w[d->tree.position[i]];
    sd_free(c, w);
    return status;
}

struct sd_direct_memory {
    int64_t k; /* columns that it is for */
    double *y; /* 3 k n, or NULL where there was no refinement yet */
    int *idle;
    sd_columns columns;
    sd_solve_memory solves;
};

void sd_direct_memory_free(sd_context *c, sd_direct_memory **memory)
{
    sd_direct_memory *m = *memory;
    if (!m) return;
    sd_columns_end(c, &m->columns);
    sd_solve_memory_free(c, &m->solves);
    sd_free(c, m->y);
    sd_free(c, m->idle);
    sd_free(c, m);
    *memory = NULL;
}

static saddle_status reserve(sd_engine *e, const sd_operator *op, int64_t k, bool refined,
                             sd_direct_memory **memory)
{
    sd_context *c = e->context;
    sd_direct_memory *m = *memory;
    if (m && m->k >= k && (m->y || !refined)) return SADDLE_OK;
    sd_direct_memory_free(c, memory);
    m = *memory = sd_alloc_zero(c, 1, sizeof *m, "refinement");
    if (!m) return c->status;
    m->k = k;
    if (refined) m->y = sd_alloc(c, 3 * k * (int64_t)op->sparse.n, sizeof *m->y, "refinement");
    m->idle = sd_alloc(c, k, sizeof *m->idle, "refinement");
    if (!m->idle || (refined && !m->y)) return c->status;
    return sd_columns_begin(e, op, k, &m->columns);
}

/* Columns that are still being refined. */
typedef struct refining {
    sd_engine *e;
    const sd_direct *d;
    const sd_operator *op;
    int32_t n;
    int64_t k;
    const double *b;
    int64_t ldb;
    double *x;         /* the best so far */
    double *y, *r, *z; /* where refinement stands, its residual, a correction; NULL without refinement */
    sd_direct_result *results;
    sd_direct_memory *m;
    int *idle; /* steps since the error was last halved, of each column; IDLE_MOST: it is done */
} refining;

/* What a measurement of y_j says: the better of it and x_j stays. */
static void take_measured(refining *q, int64_t j, const sd_column *found)
{
    const int32_t n = q->n;
    sd_direct_result *at = &q->results[j];
    const double before = at->errors.componentwise, now = found->errors.componentwise;
    q->idle[j] = now <= 0.5 * before || isnan(before) ? 0 : q->idle[j] + 1;
    if (now < before || isnan(before)) {
        memcpy(q->x + j * n, found->x, (size_t)n * sizeof *found->x);
        at->errors = found->errors;
        at->share_of_b = found->share_of_b;
    }
    at->history[at->steps++] = at->errors.relative_residual;
    if (!(now > DBL_EPSILON)) q->idle[j] = IDLE_MOST;
}

/* The first answer of a column. */
static void take_first(refining *q, int64_t j, const sd_column *found, bool corrections)
{
    sd_direct_result *at = &q->results[j];
    at->errors = found->errors;
    at->share_of_b = found->share_of_b;
    at->first_error = at->errors.backward;
    at->history[0] = at->errors.relative_residual;
    at->steps = 1;
    at->cancelled = false;
    q->idle[j] = corrections && at->errors.componentwise > DBL_EPSILON ? 0 : IDLE_MOST;
}

/* Measures y of the columns that are active, SD_COLUMNS of them at a time. */
static saddle_status measure_active(refining *q, bool first, bool corrections)
{
    saddle_status status = SADDLE_OK;
    for (int64_t j = 0; j < q->k && !status;) {
        sd_column columns[SD_COLUMNS];
        int64_t which[SD_COLUMNS];
        int count = 0;
        for (; j < q->k && count < SD_COLUMNS; ++j) {
            if (q->idle[j] >= IDLE_MOST) continue;
            const int64_t at = j * q->n;
            which[count] = j;
            columns[count++] = (sd_column){.b = q->b + j * q->ldb,
                                           .x = q->y ? q->y + at : q->x + at,
                                           .residual = q->r ? q->r + at : NULL};
        }
        status = sd_columns_measure(q->e, q->op, &q->m->columns, count, columns);
        for (int c = 0; c < count && !status; ++c) {
            if (first)
                take_first(q, which[c], &columns[c], corrections);
            else
                take_measured(q, which[c], &columns[c]);
        }
    }
    return status;
}

/* One correction of all columns that are active, side by side. z is compacted for the solve. */
static saddle_status correct(refining *q)
{
    const int32_t n = q->n;
    int64_t many = 0;
    for (int64_t j = 0; j < q->k; ++j)
        if (q->idle[j] < IDLE_MOST) memcpy(q->z + n * many++, q->r + j * n, (size_t)n * sizeof *q->r);
    saddle_status status =
        sd_direct_apply(q->e->context, q->d, n, many, q->z, n, q->z, n, q->e->threads, &q->m->solves);
    for (int64_t j = 0, at = 0; j < q->k && !status; ++j) {
        if (q->idle[j] >= IDLE_MOST) continue;
        const double *z = q->z + n * at++;
        double *y = q->y + j * n;
        for (int32_t i = 0; i < n; ++i) y[i] += z[i];
    }
    return status ? status : measure_active(q, false, true);
}

/* Tells the caller of a step, who may have had enough: what was found so far stays. */
static bool is_cancelled(refining *q, int64_t step)
{
    const double residual = q->results[0].errors.relative_residual;
    const bool cancelled = sd_progress(q->e->context, "solve", step, SD_REFINEMENT_STEPS + 1, residual);
    for (int64_t j = 0; j < q->k; ++j) q->results[j].cancelled = cancelled;
    return cancelled;
}

static saddle_status refine(refining *q, bool corrections)
{
    const int32_t n = q->n;
    int64_t active = 0;
    saddle_status status =
        sd_direct_apply(q->e->context, q->d, n, q->k, q->b, q->ldb, q->x, n, q->e->threads, &q->m->solves);
    if (status) return status;
    if (corrections) memcpy(q->y, q->x, (size_t)(n * q->k) * sizeof *q->y);
    status = measure_active(q, true, corrections);
    for (int64_t j = 0; j < q->k; ++j) active += q->idle[j] < IDLE_MOST;
    for (int step = 0; step < SD_REFINEMENT_STEPS && active > 0 && !status; ++step) {
        if (is_cancelled(q, step + 1)) break;
        status = correct(q);
        active = 0;
        for (int64_t j = 0; j < q->k; ++j) active += q->idle[j] < IDLE_MOST;
    }
    return status;
}

saddle_status sd_direct_solve(sd_engine *e, const sd_direct *d, const sd_operator *op, int64_t k,
                              const double *b, int64_t ldb, double *x, bool corrections,
                              sd_direct_result *results, sd_direct_memory **memory)
{
    const int32_t n = op->sparse.n;
    sd_context *c = e->context;
    refining q = {.e = e, .d = d, .op = op, .n = n, .k = k, .b = b, .ldb = ldb, .x = x, .results = results};
    const bool refined = corrections && !d->changed;
    sd_direct_memory *own = NULL, **held = memory ? memory : &own;
    saddle_status status = reserve(e, op, k, refined, held);
    if (!status) {
        q.m = *held;
        q.idle = q.m->idle;
        memset(q.idle, 0, (size_t)k * sizeof *q.idle);
        if (refined) {
            q.y = q.m->y;
            q.r = q.y + k * n;
            q.z = q.r + k * n;
        }
        status = refine(&q, refined);
    }
    sd_direct_memory_free(c, &own);
    if (status && !e->status) e->status = status;
    return status;
}

/* z = (2^-exponent A)^-1 r */
static void precondition(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const sd_direct_inverse *inverse = self;
    const int32_t n = inverse->n;
    if (e->status) return;
    double *work = sd_alloc(e->context, n, sizeof *work, "preconditioner");
    if (!work) {
        e->status = e->context->status;
        return;
    }
    sd_vector_get(e, r, work);
    const saddle_status status =
        sd_direct_apply(e->context, inverse->d, n, 1, work, n, work, n, e->threads, NULL);
    if (status) e->status = status;
    if (inverse->exponent != 0) sd_shift(n, work, inverse->exponent, work);
    sd_vector_put(e, work, z);
    sd_free(e->context, work);
}

sd_preconditioner sd_direct_preconditioner(const sd_direct_inverse *inverse)
{
    const sd_direct *d = inverse->d;
    return (sd_preconditioner){precondition, inverse, !d->general && d->negative == 0 && d->zero == 0, true};
}
