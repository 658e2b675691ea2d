/* Refinement in a device's memory: see refinement_there.h. */
#include "solve/refinement_there.h"

#include "solve/measure_there.h"

#include <math.h>

typedef struct refining {
    sd_engine *e;
    sd_there_solver solve;
    const void *self;
    const sd_operator *op;
    int64_t n, k;
    const double *b;
    int64_t ldb;
    double *x; /* the best so far */
    int64_t ldx;
    double *y, *r, *z, *weight; /* where refinement stands, its residual, corrections: n k each; n */
    sd_answer *answers;
    sd_resident_norms *found;
    int *idle; /* as in refinement.c */
} refining;

static sd_vector vector_at(const refining *q, const double *data)
{
    return (sd_vector){.data = (void *)(uintptr_t)data, .n = q->n, .precision = SD_DOUBLE};
}

static void copy_column(const refining *q, const double *from, double *to)
{
    const sd_vector x = vector_at(q, from);
    sd_vector y = vector_at(q, to);
    sd_copy(q->e, &x, &y);
}

/* Measures the columns that are active; false where one cannot be measured so. */
static bool measure_active(const refining *q, bool first, bool corrections)
{
    for (int64_t j = 0; j < q->k; ++j)
        if (q->idle[j] < SD_IDLE_MOST)
            sd_begin_measuring_there(q->e, q->op, q->b + j * q->ldb, q->y + j * q->n, q->r + j * q->n,
                                     q->weight, &q->found[j]);
    sd_wait(q->e);
    for (int64_t j = 0; j < q->k && !q->e->status; ++j) {
        if (q->idle[j] >= SD_IDLE_MOST) continue;
        saddle_errors errors;
        double share;
        if (!sd_found_there(&q->found[j], q->op->norm_inf, &errors, &share)) return false;
        if (first)
            q->idle[j] = sd_answer_begin(&q->answers[j], &errors, share, corrections);
        else if (sd_answer_next(&q->answers[j], &errors, share, &q->idle[j]))
            copy_column(q, q->y + j * q->n, q->x + j * q->ldx);
    }
    return true;
}

/* Z = A^-1 Z for k columns, and the same of the rider where k is 1, in the second column of z. */
static saddle_status solve_along(const refining *q, int64_t k, sd_rider *rider)
{
    const int64_t n = q->n, bytes = n * (int64_t)sizeof(double);
    const bool rides = rider && rider->waiting && k == 1;
    if (rides) q->e->backend->upload(q->e, rider->column, q->z + n, bytes);
    const saddle_status status = q->solve(q->e, q->self, rides ? 2 : k, q->z, n, q->z, n);
    if (!rides || status) return status;
    q->e->backend->download(q->e, q->z + n, rider->column, bytes);
    if (!q->e->status) rider->arrived(rider);
    return q->e->status;
}

/* One correction of all columns that are active. */
static saddle_status correct(const refining *q, sd_rider *rider, bool *near)
{
    int64_t many = 0, at = 0;
    for (int64_t j = 0; j < q->k; ++j)
        if (q->idle[j] < SD_IDLE_MOST) copy_column(q, q->r + j * q->n, q->z + q->n * many++);
    const saddle_status status = solve_along(q, many, rider);
    for (int64_t j = 0; j < q->k && !status; ++j) {
        if (q->idle[j] >= SD_IDLE_MOST) continue;
        const sd_vector z = vector_at(q, q->z + q->n * at++);
        sd_vector y = vector_at(q, q->y + j * q->n);
        sd_axpy(q->e, 1, &z, &y);
    }
    if (!status) *near = measure_active(q, false, true);
    return status ? status : q->e->status;
}

static int64_t count_active(const refining *q)
{
    int64_t active = 0;
    for (int64_t j = 0; j < q->k; ++j) active += q->idle[j] < SD_IDLE_MOST;
    return active;
}

static bool is_cancelled(const refining *q, int64_t step)
{
    const double residual = q->answers[0].errors.relative_residual;
    const bool cancelled = sd_progress(q->e->context, "solve", step, SD_REFINEMENT_STEPS + 1, residual);
    for (int64_t j = 0; j < q->k; ++j) q->answers[j].cancelled = cancelled;
    return cancelled;
}

static saddle_status refine(const refining *q, bool corrections, sd_rider *rider, bool *near)
{
    for (int64_t j = 0; j < q->k; ++j) copy_column(q, q->b + j * q->ldb, q->z + j * q->n);
    saddle_status status = solve_along(q, q->k, rider);
    for (int64_t j = 0; j < q->k && !status; ++j) {
        copy_column(q, q->z + j * q->n, q->y + j * q->n);
        copy_column(q, q->z + j * q->n, q->x + j * q->ldx);
    }
    if (!status) *near = measure_active(q, true, corrections);
    if (!status) status = q->e->status;
    for (int step = 0; step < SD_REFINEMENT_STEPS && *near && !status && count_active(q) > 0; ++step) {
        if (is_cancelled(q, step + 1)) break;
        status = correct(q, rider, near);
    }
    return status;
}

/* Everything that it works in: columns on the device, the rest on the host. */
static saddle_status reserve(refining *q)
{
    sd_engine *e = q->e;
    const int64_t size = q->n * q->k, more = q->k == 1 ? q->n : 0; /* for a rider */
    q->y = sd_allocate(e, (3 * size + more + q->n) * (int64_t)sizeof *q->y, "refinement");
    q->found = sd_alloc(e->context, q->k, sizeof *q->found, "refinement");
    q->idle = sd_alloc_zero(e->context, q->k, sizeof *q->idle, "refinement");
    if (!q->found || !q->idle) return e->context->status;
    if (!q->y) return e->status;
    q->r = q->y + size;
    q->weight = q->r + size;
    q->z = q->weight + q->n;
    return sd_engine_reserve(e, q->n, &q->op->sparse);
}

saddle_status sd_solve_refined_there(sd_engine *e, sd_there_solver solve, const void *self,
                                     const sd_operator *op, int64_t k, const double *b, int64_t ldb,
                                     double *x, int64_t ldx, bool corrections, sd_answer *answers,
                                     sd_rider *rider, bool *measured)
{
    refining q = {.e = e,
                  .solve = solve,
                  .self = self,
                  .op = op,
                  .n = op->sparse.n,
                  .k = k,
                  .b = b,
                  .ldb = ldb,
                  .x = x,
                  .ldx = ldx,
                  .answers = answers};
    *measured = false;
    if (op->exponent != 0 || !sd_operator_is_near(op)) return SADDLE_OK;
    saddle_status status = reserve(&q);
    if (!status) status = refine(&q, corrections, rider, measured);
    sd_release(e, q.y);
    sd_free_all(e->context, q.found, q.idle);
    return status;
}
