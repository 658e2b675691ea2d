/*
 * Verification: backward errors of x, after Oettli and Prager (componentwise) and Rigal and Gaches
 * (normwise), and the public functions that multiply with and measure on a caller's view.
 *
 * Rows whose denominator (|A||x| + |b|)_i is 0 have a residual of exactly 0 and count as 0.
 */
#include "solve/measure.h"

#include "backend/cpu/cpu.h"
#include "core/power.h"
#include "solve/measure_rows.h"
#include "solve/measure_there.h"

#include <math.h>

enum {
    NOTHING = -100000, /* the exponent of 0 */
    FOOTROOM = 900,    /* products this far below 1 are not lost, nor the errors of their rounding */
    HEADROOM = 990     /* sums of 2^31 numbers below 2^990 do not overflow */
};

static const double NEAR = 0x1p+200; /* a matrix of this norm, and of entries of 2^-400 and more, */
enum { NEAR_EXPONENT = 400 };        /* is multiplied as it is with numbers that are near 1 too */

/* to = from 2^exponent on the host. */
static void shift(const double *from, int64_t n, int exponent, bool absolute, double *to)
{
    sd_shift(n, from, exponent, to);
    for (int64_t i = 0; i < n && absolute; ++i) to[i] = fabs(to[i]);
}

typedef struct measuring {
    sd_vector b, x, r, weight;
    double *host;
} measuring;

static saddle_status begin(sd_engine *e, int64_t n, measuring *m)
{
    m->b = sd_vector_new(e, SD_DOUBLE, n, "right-hand side");
    m->x = sd_vector_new(e, SD_DOUBLE, n, "solution");
    m->r = sd_vector_new(e, SD_DOUBLE, n, "residual");
    m->weight = sd_vector_new(e, SD_DOUBLE, n, "weights of the residual");
    m->host = sd_alloc(e->context, n, sizeof(double), "scaled vector");
    if (!m->host && !e->status) e->status = e->context->status;
    return e->status;
}

static void put_scaled(sd_engine *e, measuring *m, const double *host, int exponent, bool absolute,
                       sd_vector *to)
{
    shift(host, to->n, exponent, absolute, m->host);
    sd_vector_put(e, m->host, to);
}

static void end(sd_engine *e, measuring *m)
{
    sd_vector_free(e, &m->b);
    sd_vector_free(e, &m->x);
    sd_vector_free(e, &m->r);
    sd_vector_free(e, &m->weight);
    sd_free(e->context, m->host);
}

/* floor(log2 |largest|), far below any other where all are 0. */
static int exponent_of(const double *values, int64_t n)
{
    for (int64_t i = 0; i < n; ++i)
        if (values[i] != 0) return sd_largest_exponent(values, n);
    return NOTHING;
}

/* x = x 2^exponent; in two steps, since 2^exponent alone may lie outside the range of doubles. */
static void scale_by_power(sd_engine *e, int exponent, sd_vector *x)
{
    sd_scale(e, ldexp(1.0, exponent / 2), x);
    sd_scale(e, ldexp(1.0, exponent - exponent / 2), x);
}

/* |r| / |b| in the 2-norm, with r 2^of_r and b 2^of_b given: squared only after both were brought to
 * about 1. Changes r. */
static double relative_residual(sd_engine *e, measuring *m, double norm_r, int of_r, int of_b)
{
    double r2 = 0, b2 = 0;
    if (!(norm_r > 0)) return norm_r;
    const int own = ilogb(norm_r);
    scale_by_power(e, -own, &m->r);
    sd_dot(e, &m->r, &m->r, &r2);
    sd_dot(e, &m->b, &m->b, &b2);
    return ldexp(sqrt(r2) / sqrt(b2), own + of_r - of_b);
}

/* Whether a term of a row could be lost relative to 2^s. */
static bool vanishes(const sd_operator *op, const double *b, const double *x, int s)
{
    const int64_t n = op->sparse.n;
    return op->smallest + sd_smallest_exponent(x, n) < s - FOOTROOM ||
           sd_smallest_exponent(b, n) < s - FOOTROOM;
}

static saddle_status measure_by_rows(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                                     int s, double *residual, saddle_errors *errors, double *share_of_b)
{
    const int32_t n = op->sparse.n;
    sd_scale_of at = {.exponent = s};
    if (sd_engine_reserve(e, n, &op->sparse)) return e->status; /* as sd_measure always leaves it */
    double norm_x = 0, norm_b = 0;
    for (int32_t i = 0; i < n; ++i) {
        norm_x = fmax(norm_x, fabs(x[i]));
        norm_b = fmax(norm_b, fabs(b[i]));
    }
    at.size = op->norm_inf * ldexp(norm_x, op->exponent - s) + ldexp(norm_b, -s);
    const saddle_status status =
        sd_measure_by_rows(e->context, &op->from, b, x, &at, residual, errors, share_of_b);
    if (status && !e->status) e->status = status;
    return status;
}

bool sd_operator_is_near(const sd_operator *op)
{
    return op->norm_inf < NEAR && op->smallest - op->exponent >= -NEAR_EXPONENT;
}

void sd_errors_of(const sd_residual_norms *found, double norm_inf, saddle_errors *errors)
{
    const bool none = found->largest_r == 0;
    errors->backward = none ? 0 : found->largest_r / (norm_inf * found->largest_x + found->largest_b);
    errors->componentwise = found->ratio;
    errors->relative_residual = none ? 0 : sqrt(found->square_r) / sqrt(found->square_b);
}

/* In one pass over the matrix, where b and x are on the host and near 1: *done. */
static saddle_status measure_near(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                                  double *residual, saddle_errors *errors, double *share_of_b, bool *done)
{
    const sd_cpu_isa *cpu = sd_cpu();
    sd_residual_norms found;
    *done = false;
    if (e->backend != cpu->backend || !sd_operator_is_near(op)) return SADDLE_OK;
    if (sd_engine_reserve(e, op->sparse.n, &op->sparse)) return e->status;
    *done = cpu->residual(&op->sparse, e->threads, b, x, e->scratch, residual, &found);
    if (!*done) return SADDLE_OK;
    sd_errors_of(&found, op->norm_inf, errors);
    if (share_of_b) *share_of_b = found.share;
    return SADDLE_OK;
}

/* The same with the kernels of any backend, b 2^-s and x in m; |b| takes the place of b. */
static void measure_by_kernels(sd_engine *e, const sd_operator *op, const double *b, int s, int of_b,
                               measuring *m, double *residual, saddle_errors *errors, double *share_of_b)
{
    double norm_r = 0, norm_b = 0, norm_x = 0;
    sd_residual_dd(e, &op->sparse, &m->x, &m->b, &m->r);
    sd_spmv_abs(e, &op->sparse, &m->x, &m->weight);
    if (residual) sd_vector_get(e, &m->r, residual);
    put_scaled(e, m, b, -s, true, &m->b); /* |b| has the norms of b */
    sd_axpy(e, 1.0, &m->b, &m->weight);
    sd_norm_inf(e, &m->r, &norm_r);
    sd_norm_inf(e, &m->b, &norm_b);
    sd_norm_inf(e, &m->x, &norm_x);
    errors->backward = norm_r == 0 ? 0 : norm_r / (op->norm_inf * norm_x + norm_b);
    sd_ratio_max(e, &m->r, &m->weight, &errors->componentwise);
    if (share_of_b) sd_ratio_max(e, &m->b, &m->weight, share_of_b);
    if (of_b != s) put_scaled(e, m, b, -of_b, true, &m->b);
    errors->relative_residual = relative_residual(e, m, norm_r, s, of_b);
}

/* Both sides of the equation brought to about 1 first: b 2^-s and (A 2^-exponent)(x 2^(exponent-s)). */
static saddle_status measure_scaled(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                                    double *residual, saddle_errors *errors, double *share_of_b)
{
    const int32_t n = op->sparse.n;
    bool done = false;
    const int of_b = exponent_of(b, n), of_ax = op->exponent + exponent_of(x, n);
    const int larger = of_b > of_ax ? of_b : of_ax, s = larger < NOTHING / 2 ? 0 : larger;
    if (vanishes(op, b, x, s)) return measure_by_rows(e, op, b, x, s, residual, errors, share_of_b);
    measuring m;
    if (!begin(e, n, &m)) {
        put_scaled(e, &m, x, op->exponent - s, false, &m.x);
        put_scaled(e, &m, b, -s, false, &m.b);
        sd_engine_reserve(e, n, &op->sparse);
        if (!e->status) measure_near(e, op, m.b.data, m.x.data, residual, errors, share_of_b, &done);
        if (!done) measure_by_kernels(e, op, b, s, of_b, &m, residual, errors, share_of_b);
        if (residual) shift(residual, n, s, false, residual);
    }
    end(e, &m);
    return e->status;
}

saddle_status sd_measure(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                         double *residual, saddle_errors *errors, double *share_of_b)
{
    const int32_t n = op->sparse.n;
    bool done = false;
    if (op->exponent == 0) {
        saddle_status status = measure_near(e, op, b, x, residual, errors, share_of_b, &done);
        if (!status && !done) status = sd_measure_there(e, op, b, x, residual, errors, share_of_b, &done);
        if (status || done) return status;
    }
    errors->backward = errors->componentwise = errors->relative_residual = NAN;
    if (share_of_b) *share_of_b = NAN;
    for (int32_t i = 0; i < n && residual; ++i) residual[i] = NAN;
    for (int32_t i = 0; i < n; ++i)
        if (!isfinite(x[i]) || !isfinite(b[i])) return SADDLE_OK;
    return measure_scaled(e, op, b, x, residual, errors, share_of_b);
}

/* An operator on a caller's view, on the CPU. */
typedef struct viewed {
    sd_context c;
    sd_engine e;
    sd_csr csr;
    sd_operator op;
} viewed;

static saddle_status view_open(const saddle_matrix *given, int threads, sd_sums sums,
                               const saddle_hooks *hooks, viewed *v)
{
    *v = (viewed){0};
    saddle_matrix A;
    saddle_status status = sd_context_open(&v->c, hooks);
    if (!status) status = sd_view_take(&v->c, given, &A);
    if (!status) status = sd_view_check(&v->c, &A, NULL);
    if (!status) status = sd_view_check_values(&v->c, &A, NULL);
    if (!status) status = sd_engine_open_host(&v->c, &v->e, SADDLE_DEVICE_CPU, sd_thread_count(threads));
    if (!status) status = sd_csr_from_view(&v->c, &A, true, &v->csr, NULL);
    if (!status) status = sd_operator_make(&v->e, &v->csr, SD_DOUBLE, sums, &v->op);
    return status;
}

static void view_close(viewed *v)
{
    if (v->e.backend) sd_operator_free(&v->e, &v->op);
    sd_csr_free(&v->c, &v->csr);
    sd_engine_close(&v->e);
}

/* y = Ax for one column, x and y on the host. */
static void multiply_column(viewed *v, const double *x, double *y, sd_vector *in, sd_vector *out)
{
    sd_vector_put(&v->e, x, in);
    /* an A that was scaled up must not overflow with a large x */
    const int of_x = v->op.exponent < 0 ? sd_largest_exponent(x, in->n) : 0;
    const int down = of_x > HEADROOM ? of_x - HEADROOM : 0;
    if (down) scale_by_power(&v->e, -down, in);
    sd_spmv(&v->e, &v->op.sparse, in, out);
    if (v->op.exponent) scale_by_power(&v->e, v->op.exponent + down, out);
    sd_vector_get(&v->e, out, y);
}

saddle_status saddle_multiply(const saddle_matrix *A, int64_t columns, const double *x, int64_t ldx,
                              double *y, int64_t ldy, int threads, const saddle_hooks *hooks, char *message)
{
    viewed v;
    /* few columns are not worth the memory of both triangles */
    const sd_sums sums = columns > 2 ? SD_SUMS_IN_ORDER_WHOLE : SD_SUMS_IN_ORDER;
    saddle_status status = view_open(A, threads, sums, hooks, &v);
    if (!status && ((A->rows > 0 && (!x || !y)) || columns < 0 || ldx < A->rows || ldy < A->rows)) {
        status = sd_fail(
            &v.c, SADDLE_BAD_ARGUMENT,
            "saddle_multiply: x or y is NULL, or columns %lld, ldx %lld, ldy %lld do not match %lld rows",
            (long long)columns, (long long)ldx, (long long)ldy, (long long)A->rows);
    }
    if (!status && A->rows > 0) {
        sd_vector in = sd_vector_new(&v.e, SD_DOUBLE, A->rows, "x");
        sd_vector out = sd_vector_new(&v.e, SD_DOUBLE, A->rows, "y");
        for (int64_t k = 0; k < columns && !v.e.status; ++k)
            multiply_column(&v, x + k * ldx, y + k * ldy, &in, &out);
        sd_vector_free(&v.e, &in);
        sd_vector_free(&v.e, &out);
        status = v.e.status;
    }
    view_close(&v);
    return sd_tell(&v.c, status, message);
}

saddle_status saddle_measure(const saddle_matrix *A, const double *b, const double *x, double *residual,
                             int threads, const saddle_hooks *hooks, saddle_errors *errors, char *message)
{
    viewed v;
    saddle_status status = view_open(A, threads, SD_SUMS_BY_SLICES, hooks, &v);
    if (!status && ((A->rows > 0 && (!b || !x)) || !errors))
        status = sd_fail(&v.c, SADDLE_BAD_ARGUMENT, "saddle_measure: b, x or errors is NULL");
    if (!status && A->rows == 0)
        *errors = (saddle_errors){0};
    else if (!status)
        status = sd_measure(&v.e, &v.op, b, x, residual, errors, NULL);
    view_close(&v);
    return sd_tell(&v.c, status, message);
}
