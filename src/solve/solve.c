/*
 * Solve: attempts in order of strength, each verified on the caller's own matrix.
 *
 * A named method is one attempt. `auto` goes on to the next while none has reached the accuracy asked
 * for, keeps the best x of all, and says what it tried. Nothing is written into the solver.
 */
#include "solve/measure.h"
#include "solve/solver.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* One right-hand side at work. */
typedef struct solving {
    const saddle_solver *s;
    sd_engine *e;
    const double *b;
    double *x, *trial;    /* the best so far; room for an attempt */
    saddle_errors errors; /* of x */
    saddle_info *info;
    sd_direct *own;          /* the direct solver of this call, where the solver has none; it is kept */
    sd_block_ldlt *own_ldlt; /* the same for block LDL' with a smaller threshold */
    const sd_direct *direct; /* that of the last attempt, or NULL */
    const double *ready;     /* what the direct solver found already, or NULL */
    const sd_direct_result *result;
    bool again; /* the solver's factors, in single or of a stale plan, did not suffice */
} solving;

/* Which of the bounds asked for the measured errors keep. */
static saddle_reason judge(const saddle_options *o, const saddle_errors *errors, double share_of_b)
{
    const bool any = o->stop == SADDLE_STOP_ANY;
    if ((any || o->stop == SADDLE_STOP_RESIDUAL) && errors->relative_residual <= o->tol)
        return SADDLE_REASON_RESIDUAL;
    if (any && sd_solves_componentwise(errors->componentwise, share_of_b, o->tol))
        return SADDLE_REASON_COMPONENTWISE;
    if (o->stop == SADDLE_STOP_COMPONENTWISE && errors->componentwise <= o->tol)
        return SADDLE_REASON_COMPONENTWISE;
    if (o->stop == SADDLE_STOP_NORMWISE && errors->backward <= o->tol) return SADDLE_REASON_NORMWISE;
    return SADDLE_REASON_NONE;
}

static void log_attempt(const solving *w, const sd_attempt *attempt, saddle_reason reason, double residual)
{
    char method[24], krylov[24];
    sd_log(w->e->context, SADDLE_LOG_INFO, "%s + %s: %s after %lld iterations, relative residual %.1e",
           saddle_option_word("method", attempt->method, method, sizeof method),
           saddle_option_word("krylov", attempt->krylov, krylov, sizeof krylov), saddle_reason_text(reason),
           (long long)attempt->iterations, residual);
}

/* The factors: the solver's, or those that this call makes for itself. */
static saddle_status find_factors(const solving *w, const sd_direct **found)
{
    const saddle_solver *s = w->s;
    sd_context *c = w->e->context;
    *found = s->direct.factored && !w->again ? &s->direct : w->own;
    if ((*found)->factored) return SADDLE_OK;
    const sd_direct_options q = sd_direct_request(s, SD_DOUBLE);
    double times[2] = {0, 0};
    saddle_status status = sd_direct_plan(c, &s->A, s->facts.symmetric, &q, w->own, times);
    if (!status) status = sd_direct_fits(c, w->own);
    if (!status)
        status =
            sd_direct_factor(c, &s->A, s->facts.symmetric && s->facts.kind == SADDLE_KIND_SPD, &q, w->own);
    if (!status) sd_direct_tell(w->own, w->info);
    return status;
}

/* Factors of block LDL' for method number k: the solver's, or those that this call makes for itself. NULL
 * where they would be too dear. */
static saddle_status find_ldlt(const solving *w, int k, const sd_block_ldlt **found)
{
    bool dear = false;
    *found = k == 0 ? &w->s->ldlt : w->own_ldlt;
    if (k == 0) return SADDLE_OK;
    sd_block_ldlt_free(w->e, w->own_ldlt);
    const saddle_status status =
        sd_make_stronger_ldlt(w->s, w->e, w->s->tau[k], w->s->most_flops, w->own_ldlt, w->info, &dear);
    if (dear) *found = NULL;
    return status;
}

/* Whether there is nothing left to be gained by stronger means. */
static bool is_accurate(const saddle_errors *errors)
{
    return errors->componentwise <= 1e-13 && errors->backward <= 1e-15;
}

/* One residual a step, as an iteration has them. */
static void add_history(saddle_info *info, const sd_direct_result *result)
{
    for (int64_t k = 0; k < result->steps; ++k, ++info->history_length)
        if (info->history && info->history_length < info->history_room)
            info->history[info->history_length] = result->history[k];
}

/* FGMRES with the factors as its preconditioner, where refinement alone came to a halt early. */
static saddle_status iterate_direct(solving *w, sd_attempt *attempt, saddle_errors *errors, double *share)
{
    const saddle_solver *s = w->s;
    const int32_t n = s->A.n;
    saddle_errors reached;
    double share_reached;
    sd_attempt stronger = *attempt;
    stronger.krylov = SADDLE_KRYLOV_FGMRES;
    stronger.iterations = 0;
    double *x = sd_alloc(w->e->context, n, sizeof *x, "vectors of the solve");
    if (!x) return w->e->context->status;
    saddle_status status = sd_run_attempt(s, w->e, w->b, x, &stronger, w->info);
    if (!status) status = sd_measure(w->e, &s->op[SD_DOUBLE], w->b, x, NULL, &reached, &share_reached);
    if (!status && reached.componentwise < errors->componentwise) {
        memcpy(w->trial, x, (size_t)n * sizeof *x);
        *errors = reached;
        *share = share_reached;
        attempt->krylov = stronger.krylov;
    }
    attempt->iterations += stronger.iterations;
    if (stronger.reason == SADDLE_REASON_CANCELLED) attempt->reason = stronger.reason;
    sd_free(w->e->context, x);
    return status;
}

/* w->trial = the direct solver's answer, refined. */
static saddle_status run_direct(solving *w, sd_attempt *attempt, saddle_errors *errors, double *share)
{
    const saddle_solver *s = w->s;
    const bool refined = attempt->krylov == SADDLE_KRYLOV_REFINE;
    sd_direct_result result;
    saddle_status status = find_factors(w, &attempt->direct);
    if (status) return status;
    if (w->ready) {
        memcpy(w->trial, w->ready, (size_t)s->A.n * sizeof *w->trial);
        result = *w->result;
    } else {
        status = sd_direct_solve(w->e, attempt->direct, &s->op[SD_DOUBLE], 1, w->b, s->A.n, w->trial, refined,
                                 &result, NULL);
    }
    if (status) return status;
    *errors = result.errors;
    *share = result.share_of_b;
    add_history(w->info, &result);
    attempt->iterations += result.steps;
    attempt->reason = result.cancelled ? SADDLE_REASON_CANCELLED : SADDLE_REASON_STAGNATION;
    w->info->first_error = result.first_error;
    const bool stronger = s->options.krylov == SADDLE_KRYLOV_AUTO && !attempt->direct->changed &&
                          s->options.precision != SADDLE_PRECISION_SINGLE;
    if (!stronger || is_accurate(errors) || result.cancelled) return SADDLE_OK;
    if (attempt->direct->zero == 0) status = iterate_direct(w, attempt, errors, share);
    const bool single = attempt->direct->precision == SD_SINGLE, stale = attempt->direct->stale > 0;
    if (status || w->again || !(single || stale) || judge(&s->options, errors, *share)) return status;
    sd_log(w->e->context, SADDLE_LOG_INFO,
           single ? "factors in single do not suffice: factoring in double"
                  : "the plan was made for other values: planning and factoring again");
    w->again = true;
    w->ready = NULL;
    return run_direct(w, attempt, errors, share);
}

/* x is finite, or 0. */
static void settle_finite(double *x, int32_t n)
{
    for (int32_t i = 0; i < n; ++i) {
        if (isfinite(x[i])) continue;
        memset(x, 0, (size_t)n * sizeof *x);
        return;
    }
}

/* An attempt, and its measurement; what it found is kept where it is better. */
static saddle_status try_method(solving *w, int k, saddle_reason *reason)
{
    const saddle_solver *s = w->s;
    const int method = s->method[k];
    const bool first = k == 0;
    const int64_t left = s->options.maxiter - w->info->iterations;
    sd_attempt attempt = {.method = method,
                          .krylov = sd_choose_krylov(s, method),
                          .maxiter = s->budget < left ? s->budget : left};
    const bool by_solves = method == SADDLE_METHOD_DIRECT &&
                           (attempt.krylov == SADDLE_KRYLOV_REFINE || attempt.krylov == SADDLE_KRYLOV_NONE);
    saddle_errors errors;
    double share = NAN;
    saddle_status status = SADDLE_OK;
    w->info->method = method;
    if (by_solves) {
        attempt.maxiter = left;
        status = run_direct(w, &attempt, &errors, &share);
    } else {
        if (method == SADDLE_METHOD_DIRECT) status = find_factors(w, &attempt.direct);
        if (sd_is_ldlt(method)) status = find_ldlt(w, k, &attempt.ldlt);
        if (!status && sd_is_ldlt(method) && !attempt.ldlt) { /* too dear: as if it had not converged */
            *reason = SADDLE_REASON_NONE;
            return SADDLE_OK;
        }
        if (!status) status = sd_run_attempt(s, w->e, w->b, w->trial, &attempt, w->info);
    }
    w->info->krylov = attempt.krylov;
    w->direct = attempt.direct;
    w->info->iterations += attempt.iterations;
    if (!status) settle_finite(w->trial, s->A.n);
    if (!status && (!by_solves || isnan(errors.backward)))
        status = sd_measure(w->e, &s->op[SD_DOUBLE], w->b, w->trial, NULL, &errors, &share);
    if (status) return status;
    *reason = judge(&s->options, &errors, share);
    w->info->converged = *reason != SADDLE_REASON_NONE;
    if (first || w->info->converged || errors.relative_residual < w->errors.relative_residual) {
        memcpy(w->x, w->trial, (size_t)s->A.n * sizeof *w->x);
        w->errors = errors;
    }
    /* what the iteration took for converged may have been so in its own precision only */
    if (!w->info->converged) *reason = attempt.converged ? SADDLE_REASON_PRECISION : attempt.reason;
    log_attempt(w, &attempt, *reason, errors.relative_residual);
    return SADDLE_OK;
}

/* A row without nonzeros that b asks something of; -1 where there is none. */
static int32_t impossible_row(const sd_csr *A, const double *b, double *touched)
{
    memset(touched, 0, (size_t)A->n * sizeof *touched);
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            if (A->val[k] == 0) continue;
            touched[i] = 1;
            if (A->half) touched[A->ind[k]] = 1;
        }
    }
    for (int32_t i = 0; i < A->n; ++i)
        if (touched[i] == 0 && b[i] != 0) return i;
    return -1;
}

static saddle_status status_of(saddle_reason reason)
{
    switch (reason) {
    case SADDLE_REASON_INCONSISTENT: return SADDLE_SINGULAR;
    case SADDLE_REASON_CANCELLED: return SADDLE_CANCELLED;
    default: return SADDLE_NOT_CONVERGED;
    }
}

/* What to do about it, in a clause. */
static const char *advice(saddle_reason reason, const solving *w)
{
    switch (reason) {
    case SADDLE_REASON_MAXITER:
        if (w->info->krylov == SADDLE_KRYLOV_NONE)
            return "krylov none does not iterate: choose another, or auto";
        return w->s->options.precision == SADDLE_PRECISION_SINGLE
                   ? "use precision mixed or double, raise maxiter, or choose another method or krylov"
                   : "raise maxiter, or choose another method or krylov";
    case SADDLE_REASON_PRECISION: return "use precision mixed or double, or a larger tol";
    case SADDLE_REASON_NOT_POSITIVE: return "use krylov minres or sqmr for an indefinite matrix";
    case SADDLE_REASON_PRECONDITIONER: return "use krylov sqmr or gmres, or method none";
    case SADDLE_REASON_NOT_SYMMETRIC: return "use krylov gmres or bicgstab";
    case SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER:
        return "use block_kernel ldlt (or llt) with bjacobi, a fixed number of trisolve_sweeps, or krylov "
               "fgmres";
    case SADDLE_REASON_CANCELLED: return "x is the best found so far";
    case SADDLE_REASON_INCONSISTENT: return "no x satisfies the system; x is the best found";
    default: return "choose another method or krylov, or a larger tol";
    }
}

static saddle_status finish(solving *w, saddle_reason reason)
{
    saddle_info *info = w->info;
    info->reason = reason;
    info->backward_error = w->errors.backward;
    info->componentwise_error = w->errors.componentwise;
    info->relative_residual = w->errors.relative_residual;
    /* what the iteration believed of its last step gives way to the truth */
    if (info->history_length == 0) info->history_length = 1;
    if (info->history && info->history_length <= info->history_room)
        info->history[info->history_length - 1] = info->relative_residual;
    if (info->converged) return SADDLE_OK;
    return sd_fail(w->e->context, status_of(reason), "%s after %lld iterations, relative residual %.2e: %s",
                   saddle_reason_text(reason), (long long)info->iterations, info->relative_residual,
                   advice(reason, w));
}

/* The errors of an x that was changed; 0 is taken where even that is better. */
static void settle(solving *w)
{
    const sd_operator *op = &w->s->op[SD_DOUBLE];
    sd_measure(w->e, op, w->b, w->x, NULL, &w->errors, NULL);
    if (w->errors.relative_residual < 1) return;
    memset(w->x, 0, (size_t)w->s->A.n * sizeof *w->x);
    sd_measure(w->e, op, w->b, w->x, NULL, &w->errors, NULL);
}

/* Where `auto` had to go beyond its first method, the next factorization begins with what sufficed. A hint:
 * whichever of several solves comes last leaves its own. */
static void learn(const saddle_solver *s, int k)
{
    if (k == 0 || s->options.method != SADDLE_METHOD_AUTO || s->method[0] != SADDLE_METHOD_LDLT) return;
    atomic_store(&((saddle_solver *)(uintptr_t)s)->learned, s->began + k);
}

static saddle_status run_attempts(solving *w)
{
    const int *methods = w->s->method, count = w->s->methods;
    saddle_reason reason = SADDLE_REASON_NONE;
    for (int k = 0; k < count; ++k) {
        const saddle_status status = try_method(w, k, &reason);
        if (status) return status;
        saddle_info *info = w->info;
        if (info->converged) learn(w->s, k);
        if (reason == SADDLE_REASON_RESIDUAL || reason == SADDLE_REASON_CANCELLED) break;
        const saddle_reason found = sd_find_inconsistency(w->s, w->e, w->b, w->x, info->converged, methods[k],
                                                          w->direct, info->iterations);
        if (w->e->status) return w->e->status;
        if (found == SADDLE_REASON_INCONSISTENT) { /* and that for every method */
            info->converged = 0;
            settle(w);
        }
        if (found && !info->converged) reason = found;
        if (w->e->status) return w->e->status;
        if (found || info->converged || k + 1 == count) break;
        if (info->iterations >= w->s->options.maxiter) break; /* the attempts share them */
        info->tried_list[info->tried].method = methods[k];
        info->tried_list[info->tried].krylov = info->krylov;
        info->tried_list[info->tried++].why_left = reason;
    }
    return finish(w, reason);
}

enum {
    BLOCK_NUMBERS = 8000000, /* in a block of right-hand sides; more of them would only miss the cache */
    BLOCK_LEAST = 8
};

/* Right-hand sides that the direct solver solves side by side before they are looked at one by one. */
typedef struct block {
    int64_t width, count; /* most, and how many there are now */
    double *x;
    sd_direct_result *results;
    sd_direct_memory *memory;
    sd_direct *own;
    sd_block_ldlt *own_ldlt;
} block;

/* The width goes by n alone, so that the same right-hand sides are always solved together. */
static saddle_status make_block(const saddle_solver *s, sd_context *c, int64_t nrhs, block *k)
{
    const bool direct = s->direct.factored && s->method[0] == SADDLE_METHOD_DIRECT;
    const int krylov = sd_choose_krylov(s, s->method[0]);
    if (!direct || nrhs < 2 || (krylov != SADDLE_KRYLOV_REFINE && krylov != SADDLE_KRYLOV_NONE))
        return SADDLE_OK;
    const int64_t room = BLOCK_NUMBERS / s->A.n, n = s->A.n;
    k->width = room < BLOCK_LEAST ? BLOCK_LEAST : room > SD_RHS_BLOCK ? SD_RHS_BLOCK : room;
    if (k->width > nrhs) k->width = nrhs;
    k->x = sd_alloc(c, n * k->width, sizeof *k->x, "solutions");
    k->results = sd_alloc(c, k->width, sizeof *k->results, "solutions");
    return k->x && k->results ? SADDLE_OK : c->status;
}

static void free_block(sd_context *c, block *k)
{
    sd_free(c, k->x);
    sd_free(c, k->results);
    sd_direct_memory_free(c, &k->memory);
}

/* The next columns, b still as the caller has them. */
static saddle_status solve_block(const saddle_solver *s, sd_engine *e, int64_t count, const double *b,
                                 int64_t ldb, block *k)
{
    k->count = count;
    const bool refined = sd_choose_krylov(s, SADDLE_METHOD_DIRECT) == SADDLE_KRYLOV_REFINE;
    return sd_direct_solve(e, &s->direct, &s->op[SD_DOUBLE], count, b, ldb, k->x, refined, k->results,
                           &k->memory);
}

/* Where the direct solver's answer is all that can be asked for, nothing else needs to be looked at. */
static bool is_done(const solving *w)
{
    const saddle_options *o = &w->s->options;
    return w->ready && !w->result->cancelled &&
           judge(o, &w->result->errors, w->result->share_of_b) == SADDLE_REASON_RESIDUAL &&
           (is_accurate(&w->result->errors) || o->krylov != SADDLE_KRYLOV_AUTO);
}

static saddle_status finish_ready(solving *w)
{
    saddle_info *info = w->info;
    w->errors = w->result->errors;
    memcpy(w->x, w->ready, (size_t)w->s->A.n * sizeof *w->x);
    add_history(info, w->result);
    info->iterations += w->result->steps;
    info->first_error = w->result->first_error;
    info->converged = 1;
    return finish(w, SADDLE_REASON_RESIDUAL);
}

/* One right-hand side. On a failure of memory or device x is what an earlier attempt found, or 0. */
static saddle_status solve_column(const saddle_solver *s, sd_engine *e, const double *b, double *x,
                                  const block *ready, int64_t at, double *work, saddle_info *info)
{
    const int32_t n = s->A.n;
    solving w = {.s = s,
                 .e = e,
                 .b = work,
                 .x = x,
                 .trial = work + n,
                 .info = info,
                 .own = ready->own,
                 .own_ldlt = ready->own_ldlt};
    if (ready->count > 0) {
        w.ready = ready->x + at * n;
        w.result = &ready->results[at];
    }
    bool zero = true;
    info->method = s->method[0];
    info->krylov = sd_choose_krylov(s, s->method[0]);
    if (is_done(&w)) return finish_ready(&w);
    memcpy(work, b, (size_t)n * sizeof *b); /* b may be x */
    memset(x, 0, (size_t)n * sizeof *x);
    for (int32_t i = 0; i < n; ++i) {
        if (!isfinite(work[i]))
            return sd_fail(e->context, SADDLE_BAD_VALUE,
                           "entry %d of the right-hand side (counted from 1) is %g", i + 1, work[i]);
        zero = zero && work[i] == 0;
    }
    if (zero) {
        info->converged = 1;
        return finish(&w, SADDLE_REASON_ZERO_RHS);
    }
    /* a factorization without zero pivots has met no zero row */
    const bool regular = s->direct.factored && s->direct.rule == SD_PIVOT_THRESHOLD && s->direct.zero == 0;
    const int32_t row = regular ? -1 : impossible_row(&s->A, work, w.trial);
    if (row >= 0) {
        const saddle_status status = sd_measure(e, &s->op[SD_DOUBLE], work, x, NULL, &w.errors, NULL);
        if (status) return status;
        finish(&w, SADDLE_REASON_INCONSISTENT);
        return sd_fail(
            e->context, SADDLE_SINGULAR,
            "row %d (counted from 1) of the matrix is zero and its right-hand side is %g: no x satisfies it",
            row + 1, work[row]);
    }
    return run_attempts(&w);
}

/* x = 0 from this column on: what is not solved is not left as the caller had it. */
static void clear_columns(int32_t n, int64_t first, int64_t nrhs, double *x, int64_t ldx)
{
    for (int64_t k = first; k < nrhs; ++k) memset(x + k * ldx, 0, (size_t)n * sizeof *x);
}

/* Whether column `a` went worse than `b`, both with or both without success: the larger residual, and
 * beyond all of them one that could not be measured. */
static bool is_worse(const saddle_info *a, const saddle_info *b)
{
    if (isnan(b->relative_residual)) return false;
    return !(a->relative_residual <= b->relative_residual);
}

/* The worst of the columns so far, and what is added up over all of them. */
typedef struct outcome {
    saddle_info info;
    saddle_status status;
} outcome;

/* Column k ended so. */
static void take_column(outcome *o, int64_t k, saddle_status found, const saddle_info *column,
                        const sd_context *c)
{
    const bool worse =
        k == 0 || (found && !o->status) || (!found == !o->status && is_worse(column, &o->info));
    const int64_t iterations = (k == 0 ? 0 : o->info.iterations) + column->iterations;
    const int64_t length = k == 0 ? column->history_length : o->info.history_length;
    if (worse) {
        o->info = *column;
        memcpy(o->info.message, c->message, sizeof o->info.message);
        o->status = found;
    }
    o->info.iterations = iterations;
    o->info.history_length = length;
}

/* Nothing more is solved. */
static void give_up(outcome *o, saddle_status status, const sd_context *c)
{
    o->status = status;
    o->info.converged = 0;
    memcpy(o->info.message, c->message, sizeof o->info.message);
}

/* Whether a column's end is that of the columns after it too. */
static bool is_final(const sd_engine *e, saddle_status status)
{
    return e->status || status == SADDLE_CANCELLED || status == SADDLE_OUT_OF_MEMORY ||
           status == SADDLE_MEMORY_LIMIT;
}

/* The columns one after the other, those that the direct solver takes side by side in blocks; `done` counts
 * those that have an x. */
static void run_columns(const saddle_solver *s, sd_engine *e, int64_t nrhs, const double *b, int64_t ldb,
                        double *x, int64_t ldx, block *ready, double *work, outcome *o, int64_t *done)
{
    const saddle_info start = o->info;
    for (int64_t k = 0; k < nrhs; ++k) {
        const int64_t at = ready->width > 0 ? k % ready->width : 0, left = nrhs - k;
        if (ready->width > 0 && at == 0) {
            const saddle_status failed =
                solve_block(s, e, left < ready->width ? left : ready->width, b + k * ldb, ldb, ready);
            if (failed) {
                give_up(o, failed, e->context);
                return;
            }
        }
        saddle_info column = start;
        column.iterations = 0;
        if (k > 0) column.history = NULL; /* the history is that of the first */
        const saddle_status found = solve_column(s, e, b + k * ldb, x + k * ldx, ready, at, work, &column);
        take_column(o, k, found, &column, e->context);
        *done = k + 1;
        if (is_final(e, found)) {
            give_up(o, found ? found : e->status, e->context);
            return;
        }
    }
}

/* All columns; info keeps the worst of them. */
static saddle_status solve_columns(const saddle_solver *s, sd_engine *e, int64_t nrhs, const double *b,
                                   int64_t ldb, double *x, int64_t ldx, saddle_info *info)
{
    const int32_t n = s->A.n;
    sd_context *c = e->context;
    outcome o = {*info, SADDLE_OK};
    int64_t done = 0;
    sd_direct own = {0};
    sd_block_ldlt own_ldlt = {0};
    block ready = {.own = &own, .own_ldlt = &own_ldlt};
    o.info.converged = nrhs == 0; /* nothing was asked for */
    double *work = sd_alloc(c, 2 * (int64_t)n, sizeof *work, "vectors of the solve");
    if (!work || make_block(s, c, nrhs, &ready))
        give_up(&o, c->status, c);
    else
        run_columns(s, e, nrhs, b, ldb, x, ldx, &ready, work, &o, &done);
    clear_columns(n, done, nrhs, x, ldx);
    o.info.history = info->history;
    *info = o.info;
    if (o.status) memcpy(c->message, o.info.message, sizeof o.info.message);
    sd_free(c, work);
    free_block(c, &ready);
    sd_direct_free(c, &own);
    sd_block_ldlt_free(e, &own_ldlt);
    return o.status;
}

static saddle_status check_call(sd_context *c, const saddle_solver *s, int64_t nrhs, const double *b,
                                int64_t ldb, const double *x, int64_t ldx)
{
    if (!s) return sd_fail(c, SADDLE_BAD_ARGUMENT, "saddle_solve: the solver is NULL");
    if (!s->factored) return sd_fail(c, SADDLE_WRONG_ORDER, "saddle_solve: call saddle_factor first");
    if (nrhs < 0 || ldb < s->A.n || ldx < s->A.n) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "saddle_solve: %lld right-hand sides, ldb %lld, ldx %lld, and n is %d",
                       (long long)nrhs, (long long)ldb, (long long)ldx, s->A.n);
    }
    if (nrhs > 0 && s->A.n > 0 && (!b || !x))
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "saddle_solve: b or x is NULL");
    if (nrhs > 1 && b == x && ldb != ldx) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "saddle_solve: b and x are the same array, but ldb is %lld and ldx %lld",
                       (long long)ldb, (long long)ldx);
    }
    return SADDLE_OK;
}

saddle_status saddle_solve(const saddle_solver *solver, int64_t nrhs, const double *b, int64_t ldb, double *x,
                           int64_t ldx, saddle_info *info)
{
    const double start = sd_seconds();
    sd_context c;
    sd_engine e = {0};
    saddle_info own = solver ? solver->info : saddle_info_default();
    sd_solver_context(solver, &c);
    if (info && sd_info_has_history(info)) {
        own.history = info->history;
        own.history_room = info->history_room;
    }
    saddle_status status = check_call(&c, solver, nrhs, b, ldb, x, ldx);
    double nothing = 0;
    if (!status && solver->A.n == 0) { /* there may be no arrays, and one column is as good as many */
        b = x = &nothing;
        nrhs = nrhs > 0;
    }
    if (!status) {
        status = sd_engine_open(&c, &e, solver->device, solver->threads);
        if (status)
            clear_columns(solver->A.n, 0, nrhs, x, ldx);
        else
            status = solve_columns(solver, &e, nrhs, b, ldb, x, ldx, &own);
    }
    sd_engine_close(&e);
    own.status = status;
    if (status)
        memcpy(own.message, c.message, sizeof own.message);
    else
        own.message[0] = '\0';
    if (status == SADDLE_OUT_OF_MEMORY || status == SADDLE_MEMORY_LIMIT) own.reason = SADDLE_REASON_MEMORY;
    if (status == SADDLE_DEVICE_FAILED) own.reason = SADDLE_REASON_DEVICE;
    own.peak_bytes = solver ? solver->c.bytes + c.peak : c.peak;
    if (solver && solver->c.peak > own.peak_bytes) own.peak_bytes = solver->c.peak;
    own.time_solve = sd_seconds() - start;
    if (info && info->size >= sizeof info->size) sd_info_give(&own, info);
    return status;
}

saddle_status saddle_solve_once(const saddle_matrix *A, const double *b, double *x,
                                const saddle_options *options, saddle_info *info)
{
    saddle_solver *solver = NULL;
    char message[SADDLE_MESSAGE_SIZE];
    saddle_status status = saddle_create(&solver, options, NULL, message);
    if (!status) status = saddle_factor(solver, A);
    if (!status) {
        status = saddle_solve(solver, 1, b, A->rows, x, A->rows, info);
    } else if (info && solver) {
        saddle_query(solver, info);
    } else if (info && info->size >= sizeof info->size) {
        saddle_info none = saddle_info_default();
        none.status = status;
        memcpy(none.message, message, sizeof message);
        sd_info_give(&none, info);
    }
    saddle_destroy(&solver);
    return status;
}
