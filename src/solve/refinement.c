/* Refinement of columns side by side. See refinement.h. */
#include "solve/refinement.h"

#include "core/power.h"
#include "solve/measure_columns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int sd_far_exponent(double largest)
{
    const int exponent = largest == 0 || isinf(largest) ? 0 : ilogb(largest);
    return abs(exponent) <= SD_FAR_EXPONENT ? 0 : exponent;
}

int sd_take_exponent(int32_t n, double *w)
{
    double largest = 0;
    for (int32_t i = 0; i < n; ++i)
        if (fabs(w[i]) > largest) largest = fabs(w[i]);
    const int exponent = sd_far_exponent(largest);
    if (exponent != 0) sd_shift(n, w, -exponent, w);
    return exponent;
}

struct sd_refinement {
    int64_t k;    /* columns that it is for */
    double *y;    /* 3 k n, or NULL where there was no refinement yet */
    double *both; /* 2 n, for a column and its rider; NULL: there was none */
    int *idle;
    sd_columns columns;
    sd_solve_memory solves;
};

void sd_refinement_free(sd_context *c, sd_refinement **memory)
{
    sd_refinement *m = *memory;
    if (!m) return;
    sd_columns_end(c, &m->columns);
    sd_solve_memory_free(c, &m->solves);
    sd_free_all(c, m->y, m->both, m->idle, m);
    *memory = NULL;
}

static saddle_status reserve(sd_engine *e, const sd_operator *op, int64_t k, bool refined,
                             sd_refinement **memory)
{
    sd_context *c = e->context;
    sd_refinement *m = *memory;
    if (m && m->k >= k && (m->y || !refined)) return SADDLE_OK;
    sd_refinement_free(c, memory);
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
    sd_column_solver solve;
    const void *self;
    const sd_operator *op;
    int32_t n;
    int64_t k;
    const double *b;
    int64_t ldb;
    double *x;         /* the best so far */
    double *y, *r, *z; /* where refinement stands, its residual, a correction; NULL without refinement */
    sd_answer *answers;
    sd_rider *rider;
    sd_refinement *m;
    int *idle; /* steps since the error was last halved, of each column; SD_IDLE_MOST: it is done */
} refining;

bool sd_answer_next(sd_answer *at, const saddle_errors *errors, double share_of_b, int *idle)
{
    const double before = at->errors.componentwise, now = errors->componentwise;
    const bool better = now < before || isnan(before);
    *idle = now <= 0.5 * before || isnan(before) ? 0 : *idle + 1;
    if (better) {
        at->errors = *errors;
        at->share_of_b = share_of_b;
    }
    at->history[at->steps++] = at->errors.relative_residual;
    if (!(now > DBL_EPSILON)) *idle = SD_IDLE_MOST;
    return better;
}

int sd_answer_begin(sd_answer *at, const saddle_errors *errors, double share_of_b, bool corrections)
{
    at->errors = *errors;
    at->share_of_b = share_of_b;
    at->first_error = at->errors.backward;
    at->history[0] = at->errors.relative_residual;
    at->steps = 1;
    at->cancelled = false;
    return corrections && at->errors.componentwise > DBL_EPSILON ? 0 : SD_IDLE_MOST;
}

/* What a measurement of y_j says: the better of it and x_j stays. */
static void take_measured(refining *q, int64_t j, const sd_column *found)
{
    const int32_t n = q->n;
    if (sd_answer_next(&q->answers[j], &found->errors, found->share_of_b, &q->idle[j]))
        memcpy(q->x + j * n, found->x, (size_t)n * sizeof *found->x);
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
            if (q->idle[j] >= SD_IDLE_MOST) continue;
            const int64_t at = j * q->n;
            which[count] = j;
            columns[count++] = (sd_column){.b = q->b + j * q->ldb,
                                           .x = q->y ? q->y + at : q->x + at,
                                           .residual = q->r ? q->r + at : NULL};
        }
        status = sd_columns_measure(q->e, q->op, &q->m->columns, count, columns);
        for (int c = 0; c < count && !status; ++c) {
            if (first)
                q->idle[which[c]] = sd_answer_begin(&q->answers[which[c]], &columns[c].errors,
                                                    columns[c].share_of_b, corrections);
            else
                take_measured(q, which[c], &columns[c]);
        }
    }
    return status;
}

/* X = A^-1 B for k columns, and the same of the rider where k is 1: two columns cost little more than one. */
static saddle_status solve_along(refining *q, int64_t k, const double *b, int64_t ldb, double *x)
{
    const int32_t n = q->n;
    const size_t bytes = (size_t)n * sizeof(double);
    if (!q->rider || !q->rider->waiting || k > 1)
        return q->solve(q->e, q->self, k, b, ldb, x, n, &q->m->solves);
    if (!q->m->both) q->m->both = sd_alloc(q->e->context, 2 * (int64_t)n, sizeof *b, "vectors of the solve");
    double *const both = q->m->both;
    if (!both) return q->e->context->status;
    memcpy(both, b, bytes);
    memcpy(both + n, q->rider->column, bytes);
    const saddle_status status = q->solve(q->e, q->self, 2, both, n, both, n, &q->m->solves);
    memcpy(x, both, bytes);
    memcpy(q->rider->column, both + n, bytes);
    if (!status) q->rider->arrived(q->rider);
    return status;
}

/* One correction of all columns that are active, side by side. z is compacted for the solve. */
static saddle_status correct(refining *q)
{
    const int32_t n = q->n;
    int64_t many = 0;
    for (int64_t j = 0; j < q->k; ++j)
        if (q->idle[j] < SD_IDLE_MOST) memcpy(q->z + n * many++, q->r + j * n, (size_t)n * sizeof *q->r);
    saddle_status status = solve_along(q, many, q->z, n, q->z);
    for (int64_t j = 0, at = 0; j < q->k && !status; ++j) {
        if (q->idle[j] >= SD_IDLE_MOST) continue;
        const double *z = q->z + n * at++;
        double *y = q->y + j * n;
        for (int32_t i = 0; i < n; ++i) y[i] += z[i];
    }
    return status ? status : measure_active(q, false, true);
}

/* Tells the caller of a step, who may have had enough: what was found so far stays. */
static bool is_cancelled(refining *q, int64_t step)
{
    const double residual = q->answers[0].errors.relative_residual;
    const bool cancelled = sd_progress(q->e->context, "solve", step, SD_REFINEMENT_STEPS + 1, residual);
    for (int64_t j = 0; j < q->k; ++j) q->answers[j].cancelled = cancelled;
    return cancelled;
}

static saddle_status refine(refining *q, bool corrections)
{
    const int32_t n = q->n;
    int64_t active = 0;
    saddle_status status = solve_along(q, q->k, q->b, q->ldb, q->x);
    if (status) return status;
    if (corrections) memcpy(q->y, q->x, (size_t)(n * q->k) * sizeof *q->y);
    status = measure_active(q, true, corrections);
    for (int64_t j = 0; j < q->k; ++j) active += q->idle[j] < SD_IDLE_MOST;
    for (int step = 0; step < SD_REFINEMENT_STEPS && active > 0 && !status; ++step) {
        if (is_cancelled(q, step + 1)) break;
        status = correct(q);
        active = 0;
        for (int64_t j = 0; j < q->k; ++j) active += q->idle[j] < SD_IDLE_MOST;
    }
    return status;
}

saddle_status sd_solve_refined(sd_engine *e, sd_column_solver solve, const void *self, const sd_operator *op,
                               int64_t k, const double *b, int64_t ldb, double *x, bool corrections,
                               sd_answer *answers, sd_rider *rider, sd_refinement **memory)
{
    const int32_t n = op->sparse.n;
    refining q = {.e = e,
                  .solve = solve,
                  .self = self,
                  .op = op,
                  .n = n,
                  .k = k,
                  .b = b,
                  .ldb = ldb,
                  .x = x,
                  .answers = answers,
                  .rider = rider};
    sd_refinement *own = NULL, **held = memory ? memory : &own;
    saddle_status status = reserve(e, op, k, corrections, held);
    if (!status) {
        q.m = *held;
        q.idle = q.m->idle;
        memset(q.idle, 0, (size_t)k * sizeof *q.idle);
        if (corrections) {
            q.y = q.m->y;
            q.r = q.y + k * n;
            q.z = q.r + k * n;
        }
        status = refine(&q, corrections);
    }
    sd_refinement_free(e->context, &own);
    if (status && !e->status) e->status = status;
    return status;
}
