/* Solves with the factors, and refinement. See direct.h. */
#include "solve/direct.h"

#include "factor/rank.h"
#include "solve/measure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPONENT_MOST = 40, /* of two: sizes up to 2^40 are left as they are */
    IDLE_MOST = 2 /* not 1: an error may rise at first, when x is large in a direction that b hardly has */
};

int sd_take_exponent(int32_t n, double *w)
{
    double largest = 0;
    for (int32_t i = 0; i < n; ++i)
        if (fabs(w[i]) > largest) largest = fabs(w[i]);
    const int exponent = largest == 0 || isinf(largest) ? 0 : ilogb(largest);
    if (abs(exponent) <= EXPONENT_MOST) return 0;
    for (int32_t i = 0; i < n; ++i) w[i] = ldexp(w[i], -exponent);
    return exponent;
}

/* Right-hand sides in rows `from` and on of the matrix that is factored, answers in rows `to` and on. */
static saddle_status apply(sd_context *c, const sd_direct *d, int32_t n, int32_t from, int32_t to, int64_t k,
                           const double *r, int64_t ldr, double *z, int64_t ldz, int threads)
{
    const int32_t size = d->tree.n;
    const int32_t *position = d->tree.position;
    const double *scale = d->p.row_scale;
    double *w = sd_alloc(c, (int64_t)size * k, sizeof *w, "right-hand sides");
    int *exponent = sd_alloc(c, k, sizeof *exponent, "right-hand sides");
    saddle_status status = w && exponent ? SADDLE_OK : c->status;
    for (int64_t j = 0; j < k && !status; ++j) {
        double *column = w + j * size;
        if (n < size) memset(column, 0, (size_t)size * sizeof *column);
        for (int32_t i = 0; i < n; ++i) column[position[from + i]] = scale[from + i] * r[j * ldr + i];
        exponent[j] = sd_take_exponent(size, column) - d->exponent;
    }
    if (!status)
        status =
            sd_triangular_solve(c, &d->factors[d->precision], &d->room, SD_SOLVE_WHOLE, k, w, size, threads);
    for (int64_t j = 0; j < k && !status; ++j) {
        const double *column = w + j * size;
        for (int32_t i = 0; i < n; ++i) z[j * ldz + i] = scale[to + i] * column[position[to + i]];
        if (exponent[j] != 0)
            for (int32_t i = 0; i < n; ++i) z[j * ldz + i] = ldexp(z[j * ldz + i], exponent[j]);
    }
    sd_free(c, w);
    sd_free(c, exponent);
    return status;
}

saddle_status sd_direct_apply(sd_context *c, const sd_direct *d, int32_t n, int64_t k, const double *r,
                              int64_t ldr, double *z, int64_t ldz, int threads)
{
    return apply(c, d, n, 0, d->general ? n : 0, k, r, ldr, z, ldz, threads);
}

saddle_status sd_direct_apply_transposed(sd_context *c, const sd_direct *d, int32_t n, int64_t k,
                                         const double *r, int64_t ldr, double *z, int64_t ldz, int threads)
{
    return apply(c, d, n, d->general ? n : 0, 0, k, r, ldr, z, ldz, threads);
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

/* Columns that are still being refined. */
typedef struct refining {
    sd_engine *e;
    const sd_direct *d;
    const sd_operator *op;
    int32_t n;
    int64_t k;
    const double *b;
    double *x;         /* the best so far */
    double *y, *r, *z; /* where refinement stands, its residual, a correction */
    sd_direct_result *results;
    int *idle; /* steps since the error was last halved, of each column; IDLE_MOST: it is done */
} refining;

/* y_j += z_j, measured; the better of it and x_j stays. */
static saddle_status take_correction(refining *q, int64_t j)
{
    const int32_t n = q->n;
    double *y = q->y + j * n;
    const double *z = q->z + j * n;
    sd_direct_result *at = &q->results[j];
    saddle_errors errors;
    double share;
    for (int32_t i = 0; i < n; ++i) y[i] += z[i];
    const saddle_status status = sd_measure(q->e, q->op, q->b + j * n, y, q->r + j * n, &errors, &share);
    if (status) return status;
    const double before = at->errors.componentwise, now = errors.componentwise;
    q->idle[j] = now <= 0.5 * before || isnan(before) ? 0 : q->idle[j] + 1;
    if (now < before || isnan(before)) {
        memcpy(q->x + j * n, y, (size_t)n * sizeof *y);
        at->errors = errors;
        at->share_of_b = share;
    }
    at->history[at->steps++] = at->errors.relative_residual;
    if (!(now > DBL_EPSILON)) q->idle[j] = IDLE_MOST;
    return SADDLE_OK;
}

/* One correction of all columns that are active, side by side. z is compacted for the solve. */
static saddle_status correct(refining *q)
{
    const int32_t n = q->n;
    int64_t many = 0;
    for (int64_t j = 0; j < q->k; ++j)
        if (q->idle[j] < IDLE_MOST) memcpy(q->z + n * many++, q->r + j * n, (size_t)n * sizeof *q->r);
    saddle_status status = sd_direct_apply(q->e->context, q->d, n, many, q->z, n, q->z, n, q->e->threads);
    for (int64_t j = q->k - 1, at = many - 1; j >= 0 && !status; --j)
        if (q->idle[j] < IDLE_MOST) memmove(q->z + j * n, q->z + n * at--, (size_t)n * sizeof *q->z);
    for (int64_t j = 0; j < q->k && !status; ++j)
        if (q->idle[j] < IDLE_MOST) status = take_correction(q, j);
    return status;
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
    saddle_status status = sd_direct_apply(q->e->context, q->d, n, q->k, q->b, n, q->x, n, q->e->threads);
    for (int64_t j = 0; j < q->k && !status; ++j) {
        sd_direct_result *at = &q->results[j];
        status =
            sd_measure(q->e, q->op, q->b + j * n, q->x + j * n, q->r + j * n, &at->errors, &at->share_of_b);
        at->first_error = at->errors.backward;
        at->history[0] = at->errors.relative_residual;
        at->steps = 1;
        at->cancelled = false;
        q->idle[j] = corrections && at->errors.componentwise > DBL_EPSILON ? 0 : IDLE_MOST;
        active += q->idle[j] < IDLE_MOST;
        memcpy(q->y + j * n, q->x + j * n, (size_t)n * sizeof *q->y);
    }
    for (int step = 0; step < SD_REFINEMENT_STEPS && active > 0 && !status; ++step) {
        if (is_cancelled(q, step + 1)) break;
        status = correct(q);
        active = 0;
        for (int64_t j = 0; j < q->k; ++j) active += q->idle[j] < IDLE_MOST;
    }
    return status;
}

saddle_status sd_direct_solve(sd_engine *e, const sd_direct *d, const sd_operator *op, int64_t k,
                              const double *b, double *x, bool corrections, sd_direct_result *results)
{
    const int32_t n = op->sparse.n;
    sd_context *c = e->context;
    refining q = {.e = e, .d = d, .op = op, .n = n, .k = k, .b = b, .x = x, .results = results};
    q.y = sd_alloc(c, 3 * k * (int64_t)n, sizeof *q.y, "refinement");
    q.idle = sd_alloc_zero(c, k, sizeof *q.idle, "refinement");
    saddle_status status = q.y && q.idle ? SADDLE_OK : c->status;
    if (!status) {
        q.r = q.y + k * n;
        q.z = q.r + k * n;
        status = refine(&q, corrections && !d->changed);
    }
    sd_free(c, q.y);
    sd_free(c, q.idle);
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
    const saddle_status status = sd_direct_apply(e->context, inverse->d, n, 1, work, n, work, n, e->threads);
    if (status) e->status = status;
    for (int32_t i = 0; i < n && inverse->exponent != 0; ++i) work[i] = ldexp(work[i], inverse->exponent);
    sd_vector_put(e, work, z);
    sd_free(e->context, work);
}

sd_preconditioner sd_direct_preconditioner(const sd_direct_inverse *inverse)
{
    const sd_direct *d = inverse->d;
    return (sd_preconditioner){precondition, inverse, !d->general && d->negative == 0 && d->zero == 0};
}
