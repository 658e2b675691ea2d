/*
 * Solves that stay in the memory of a device: right-hand sides are brought there if they are not there
 * already, solved, refined and measured; answers go to where the caller wants them. Whatever is out of the
 * ordinary (a column that is not accurate, zero or not finite, numbers far from 1) is left to the host, which
 * begins anew.
 */
#include "solver/column.h"

#include "backend/resident.h"
#include "solve/refinement_there.h"
#include "solver/home.h"

#include <math.h>
#include <string.h>

enum {
    BYTES_AT_ONCE = 1 << 30, /* of right-hand sides on the device */
    COLUMNS_MOST = 128
};

/* Columns on the device. */
typedef struct block {
    double *b, *x;
    int64_t ldb, ldx;
} block;

static void copy_columns(sd_engine *e, int64_t n, int64_t k, const double *from, int64_t ld_from, double *to,
                         int64_t ld_to)
{
    const int64_t bytes = n * (int64_t)sizeof *to;
    const sd_resident *on = e->backend->resident;
    if (ld_from == n && ld_to == n)
        on->copy(e, from, to, bytes * k);
    else
        for (int64_t j = 0; j < k; ++j) on->copy(e, from + j * ld_from, to + j * ld_to, bytes);
}

/* A call at work. */
typedef struct visit {
    sd_call *call;
    const void *factors;
    const sd_method *method;
    bool measured, refined, b_there, x_there;
    int64_t n, k; /* columns at a time */
    double *room; /* for B, X and corrections of so many */
    sd_answer *answers;
} visit;

/* Where k columns are solved: at their own places, or in the room. A B that is X stays as it is until it is
 * known that nobody will read it again. */
static block place_columns(const visit *v, int64_t k, const double *b, int64_t ldb, double *x, int64_t ldx)
{
    block at = {v->room, v->room + v->n * v->k, v->n, v->n};
    const bool apart = (const double *)x != b;
    if (v->b_there && apart) {
        at.b = (double *)(uintptr_t)b;
        at.ldb = ldb;
    } else {
        copy_columns(v->call->e, v->n, k, b, ldb, at.b, v->n);
    }
    if (v->x_there && apart) {
        at.x = x;
        at.ldx = ldx;
    }
    return at;
}

/* X += A^-1 (B - AX) */
static saddle_status correct(const visit *v, int64_t k, const block *at)
{
    sd_engine *e = v->call->e;
    const sd_operator *op = &v->call->problem.op[SD_DOUBLE];
    double *const z = v->room + 2 * v->n * v->k;
    if (sd_engine_reserve(e, v->n, &op->sparse)) return e->status;
    for (int64_t j = 0; j < k; ++j) {
        sd_vector x = {at->x + j * at->ldx, v->n, SD_DOUBLE}, r = {z + j * v->n, v->n, SD_DOUBLE};
        const sd_vector b = {at->b + j * at->ldb, v->n, SD_DOUBLE};
        sd_spmv(e, &op->sparse, &x, &r);
        sd_axpby(e, 1, &b, -1, &r);
    }
    const saddle_status status = v->method->solve_there(e, v->factors, k, z, v->n, z, v->n);
    for (int64_t j = 0; j < k && !status; ++j) {
        const sd_vector r = {z + j * v->n, v->n, SD_DOUBLE};
        sd_vector x = {at->x + j * at->ldx, v->n, SD_DOUBLE};
        sd_axpy(e, 1, &r, &x);
    }
    return status;
}

/* X by the factors, with a correction where that was asked for; finite or not. */
static saddle_status solve_plainly(const visit *v, int64_t k, const block *at, bool *finite)
{
    sd_engine *e = v->call->e;
    const sd_resident *on = e->backend->resident;
    double of_b = 0, of_x = 0;
    if (sd_engine_reserve(e, v->n * k, NULL)) return e->status;
    on->size(e, v->n, k, at->b, at->ldb, &of_b);
    saddle_status status = v->method->solve_there(e, v->factors, k, at->b, at->ldb, at->x, at->ldx);
    if (!status && v->refined) status = correct(v, k, at);
    if (!status) on->size(e, v->n, k, at->x, at->ldx, &of_x);
    sd_wait(e);
    *finite = isfinite(of_b) && isfinite(of_x);
    return status ? status : e->status;
}

/* The next k columns. */
static saddle_status solve_block(const visit *v, int64_t k, const block *at, bool *final)
{
    sd_call *call = v->call;
    if (!v->measured) return solve_plainly(v, k, at, final);
    saddle_status status = sd_solve_refined_there(
        call->e, v->method->solve_there, v->factors, &call->problem.op[SD_DOUBLE], k, at->b, at->ldb, at->x,
        at->ldx, v->refined, v->answers, call->columns == 1 ? &call->rider : NULL, final);
    for (int64_t j = 0; j < k && !status; ++j)
        *final = *final && sd_is_final(call->problem.options, &v->answers[j]);
    return status;
}

static void tell(const visit *v, int64_t first, int64_t k, const saddle_info *start, sd_outcome *o)
{
    sd_call *call = v->call;
    for (int64_t j = 0; j < k; ++j) {
        saddle_info column = *start;
        if (first + j > 0) column.history = NULL;
        const saddle_status found = sd_finish_final(call, &v->answers[j], &column);
        sd_take_column(o, first + j, found, &column, call->e->context);
    }
}

static saddle_status reserve(visit *v, int64_t nrhs)
{
    sd_context *c = v->call->e->context;
    const int64_t most = BYTES_AT_ONCE / (v->n * (int64_t)sizeof(double));
    v->k = most < 1 ? 1 : most > COLUMNS_MOST ? COLUMNS_MOST : most;
    if (v->k > nrhs) v->k = nrhs;
    v->answers = sd_alloc(c, v->k, sizeof *v->answers, "solutions");
    if (!v->answers) return c->status;
    const int64_t parts = v->refined && !v->measured ? 3 : 2;
    v->room = sd_allocate(v->call->e, parts * v->n * v->k * (int64_t)sizeof *v->room, "right-hand sides");
    return v->call->e->status;
}

/* What info says of columns that nobody measured. */
static void tell_unmeasured(const visit *v, saddle_info *info)
{
    info->method = v->method->number;
    info->krylov = v->call->problem.options->krylov;
    info->reason = SADDLE_REASON_NOT_MEASURED;
    if (v->refined) info->iterations = 2;
}

static saddle_status run(visit *v, int64_t nrhs, const double *b, int64_t ldb, double *x, int64_t ldx,
                         sd_outcome *o, bool *done)
{
    const saddle_info start = *o->info;
    bool final = true;
    saddle_status status = reserve(v, nrhs);
    if (!status && b == x && nrhs > v->k) return SADDLE_OK; /* the host could not begin anew */
    for (int64_t first = 0; first < nrhs && !status; first += v->k) {
        const int64_t k = nrhs - first < v->k ? nrhs - first : v->k;
        const block at = place_columns(v, k, b + first * ldb, ldb, x + first * ldx, ldx);
        status = solve_block(v, k, &at, &final);
        if (status || !final) break;
        if (at.x != x + first * ldx) copy_columns(v->call->e, v->n, k, at.x, at.ldx, x + first * ldx, ldx);
        if (v->measured) tell(v, first, k, &start, o);
    }
    *done = final && !status;
    return status ? status : v->call->e->status;
}

/* Whether the first rung is factors on the device, which solve by themselves. */
static bool can_stay(const sd_call *call, const sd_method *method, int krylov, bool measured)
{
    const sd_operator *op = &call->problem.op[SD_DOUBLE];
    return call->e->backend->resident && call->problem.A->n > 0 && call->ladder.rungs == 1 &&
           method->solve_there && method->solves_there(call->factors) &&
           sd_solves_alone(&call->problem, method) &&
           (krylov == SADDLE_KRYLOV_REFINE || krylov == SADDLE_KRYLOV_NONE) &&
           (measured || op->exponent == 0);
}

saddle_status sd_solve_there(sd_call *call, bool measured, int64_t nrhs, const double *b, int64_t ldb,
                             double *x, int64_t ldx, saddle_info *info, bool *done)
{
    sd_engine *e = call->e;
    const sd_method *method = call->ladder.rung[0].method;
    const int krylov = sd_krylov_of(call, method, call->factors);
    sd_outcome o = {info, SADDLE_OK};
    *done = false;
    if (!can_stay(call, method, krylov, measured)) return SADDLE_OK;
    visit v = {.call = call,
               .factors = call->factors,
               .method = method,
               .measured = measured,
               .refined = krylov == SADDLE_KRYLOV_REFINE && !method->standing(call->factors).changed,
               .b_there = sd_is_there(call->solver, b),
               .x_there = sd_is_there(call->solver, x),
               .n = call->problem.A->n};
    saddle_status status = run(&v, nrhs, b, ldb, x, ldx, &o, done);
    if (*done && !measured) tell_unmeasured(&v, info);
    sd_release(e, v.room);
    sd_free(e->context, v.answers);
    if (status == SADDLE_MEMORY_LIMIT || status == SADDLE_OUT_OF_MEMORY) { /* the host needs less */
        e->status = status = SADDLE_OK;
        *done = false;
    }
    return status;
}
