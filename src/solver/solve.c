/*
 * saddle_solve: right-hand sides one after the other, those that a method solves on its own side by side in
 * panels first. Each is verified on its own; info keeps the worst of them. Nothing is written into the
 * solver.
 */
#include "solver/column.h"
#include "solver/home.h"
#include "solver/staged.h"

#include "matrix/inspect.h"
#include "solve/measure.h"

#include <math.h>
#include <string.h>

enum {
    PANEL_NUMBERS = 8000000, /* in a panel of right-hand sides; more of them would only miss the cache */
    PANEL_LEAST = 8
};

/* Right-hand sides that the first rung solves side by side before they are looked at one by one. */
typedef struct panel {
    int64_t width, count; /* most, and how many there are now */
    double *x;
    sd_answer *answers;
    sd_refinement *memory;
} panel;

/* The factors of the first rung. */
static const void *first_factors(const sd_call *call)
{
    return sd_find_work(call->solver, call->ladder.rung[0].method)->factors;
}

/* The width goes by n alone, so that the same right-hand sides are always solved together. */
static saddle_status make_panel(const sd_call *call, int64_t nrhs, panel *k)
{
    sd_context *c = call->e->context;
    const sd_method *method = call->ladder.rung[0].method;
    const int krylov = sd_krylov_of(call, method, first_factors(call));
    if (!sd_solves_alone(&call->problem, method) || nrhs < 2 ||
        (krylov != SADDLE_KRYLOV_REFINE && krylov != SADDLE_KRYLOV_NONE))
        return SADDLE_OK;
    const int64_t n = call->problem.A->n, room = PANEL_NUMBERS / n;
    k->width = room < PANEL_LEAST ? PANEL_LEAST : room > SD_RHS_BLOCK ? SD_RHS_BLOCK : room;
    if (k->width > nrhs) k->width = nrhs;
    k->x = sd_alloc(c, n * k->width, sizeof *k->x, "solutions");
    k->answers = sd_alloc(c, k->width, sizeof *k->answers, "solutions");
    return k->x && k->answers ? SADDLE_OK : c->status;
}

static void free_panel(sd_context *c, panel *k)
{
    sd_free_all(c, k->x, k->answers);
    sd_refinement_free(c, &k->memory);
}

saddle_status sd_make_rider(sd_call *call, const sd_done *done)
{
    if (!done) return sd_call_board(call, call->method, call->factors);
    call->rider.left = done->left;
    call->rider.rides = 1;
    call->boarded = call->factors;
    return SADDLE_OK;
}

/* The next columns, b still as the caller has them. */
static saddle_status solve_panel(const sd_call *call, int64_t count, const double *b, int64_t ldb, panel *k)
{
    const sd_method *method = call->ladder.rung[0].method;
    const void *factors = first_factors(call);
    const bool refined = sd_krylov_of(call, method, factors) == SADDLE_KRYLOV_REFINE;
    k->count = count;
    return sd_solve_refined(call->e, method->solve, factors, &call->problem.op[SD_DOUBLE], count, b, ldb,
                            k->x, refined && !method->standing(factors).changed, k->answers, NULL,
                            &k->memory);
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

void sd_take_column(sd_outcome *o, int64_t k, saddle_status found, const saddle_info *column,
                    const sd_context *c)
{
    const bool worse = k == 0 || (found && !o->status) || (!found == !o->status && is_worse(column, o->info));
    const int64_t iterations = (k == 0 ? 0 : o->info->iterations) + column->iterations;
    const int64_t length = k == 0 ? column->history_length : o->info->history_length;
    double *const history = o->info->history;
    if (worse) {
        *o->info = *column;
        memcpy(o->info->message, c->message, sizeof o->info->message);
        o->status = found;
    }
    o->info->history = history;
    o->info->iterations = iterations;
    o->info->history_length = length;
}

/* Nothing more is solved. */
static void give_up(sd_outcome *o, saddle_status status, const sd_context *c)
{
    o->status = status;
    o->info->converged = 0;
    memcpy(o->info->message, c->message, sizeof o->info->message);
}

/* The columns so far were good enough without the steps that were cancelled; no others are begun. */
static void skip_rest(int64_t done, int64_t nrhs, sd_outcome *o, sd_context *c)
{
    give_up(o,
            sd_fail(c, SADDLE_CANCELLED, "cancelled after %lld of %lld right-hand sides", (long long)done,
                    (long long)nrhs),
            c);
    o->info->reason = SADDLE_REASON_CANCELLED;
}

/* Whether a column's end is that of the columns after it too. */
static bool is_final(const sd_engine *e, saddle_status status)
{
    return e->status || status == SADDLE_CANCELLED || status == SADDLE_OUT_OF_MEMORY ||
           status == SADDLE_MEMORY_LIMIT;
}

/* The only column: there is nothing to compare it with. */
static void run_column(sd_call *call, const double *b, double *x, const sd_done *done, double *work,
                       sd_outcome *o)
{
    o->info->iterations = 0;
    o->status = sd_solve_column(call, b, x, done ? done->x : NULL, done ? done->answer : NULL, work, o->info);
    if (o->status || call->e->status) give_up(o, o->status ? o->status : call->e->status, call->e->context);
}

/* The columns one after the other, those that are solved side by side in panels; `done` counts those that
 * have an x. */
static void run_columns(sd_call *call, int64_t nrhs, const double *b, int64_t ldb, double *x, int64_t ldx,
                        panel *ready, double *work, sd_outcome *o, int64_t *done)
{
    sd_engine *e = call->e;
    const saddle_info start = *o->info;
    const int64_t n = call->problem.A->n;
    for (int64_t k = 0; k < nrhs; ++k) {
        const int64_t at = ready->width > 0 ? k % ready->width : 0, left = nrhs - k;
        if (k > 0 && at == 0 && ready->count > 0 && ready->answers[0].cancelled) {
            skip_rest(k, nrhs, o, e->context);
            return;
        }
        if (ready->width > 0 && at == 0) {
            const int64_t count = left < ready->width ? left : ready->width;
            const saddle_status failed = solve_panel(call, count, b + k * ldb, ldb, ready);
            if (failed) {
                give_up(o, failed, e->context);
                return;
            }
        }
        saddle_info column = start;
        column.iterations = 0;
        if (k > 0) column.history = NULL; /* the history is that of the first */
        const bool known = ready->count > 0;
        const saddle_status found =
            sd_solve_column(call, b + k * ldb, x + k * ldx, known ? ready->x + at * n : NULL,
                            known ? &ready->answers[at] : NULL, work, &column);
        sd_take_column(o, k, found, &column, e->context);
        *done = k + 1;
        if (is_final(e, found)) {
            give_up(o, found ? found : e->status, e->context);
            return;
        }
    }
}

/* ---- solutions that are not to be measured ---- */

bool sd_may_stay_unmeasured(const saddle_solver *s)
{
    const int krylov = s->options.krylov;
    return s->options.verify == SADDLE_OFF &&
           (krylov == SADDLE_KRYLOV_NONE || krylov == SADDLE_KRYLOV_REFINE);
}

/* Zero pivots leave something open in any case. */
static bool is_taken_unmeasured(const saddle_solver *s, const sd_call *call)
{
    return sd_may_stay_unmeasured(s) && sd_solves_alone(&call->problem, call->method) &&
           !call->method->standing(call->factors).singular;
}

/* The operators with the norm that measuring needs, where it was left out. */
static saddle_status complete_operators(sd_context *c, sd_problem *p, sd_operator own[SD_PRECISIONS])
{
    if (!isnan(p->op[SD_DOUBLE].norm_inf)) return SADDLE_OK;
    memcpy(own, p->op, SD_PRECISIONS * sizeof *own);
    p->op = own;
    return sd_csr_norm(c, p->A, &own[SD_DOUBLE].norm_inf);
}

bool sd_is_finite(int64_t n, const double *x)
{
    enum { LANES = 4 };
    double nothing[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; ++l) nothing[l] += 0 * x[i + l];
    for (; i < n; ++i) nothing[0] += 0 * x[i];
    return nothing[0] + nothing[1] + nothing[2] + nothing[3] == 0;
}

/* r = b - A x in double: enough for a correction that nobody measures (R. D. Skeel, Iterative refinement
 * implies numerical stability for Gaussian elimination, Math. Comp. 35, 1980). Where A's entries are so far
 * from 1 that products could overflow: as for measuring. */
static saddle_status plain_residual(sd_call *call, double *b, double *x, double *r)
{
    sd_engine *e = call->e;
    const sd_operator *op = &call->problem.op[SD_DOUBLE];
    const int32_t n = op->sparse.n;
    sd_vector from = {.n = n, .precision = SD_DOUBLE, .data = x}, to = from;
    saddle_errors errors;
    if (op->exponent != 0 || !e->backend->host_memory) return sd_measure(e, op, b, x, r, &errors, NULL);
    to.data = r;
    if (sd_engine_reserve(e, n, &op->sparse)) return e->status;
    sd_spmv(e, &op->sparse, &from, &to);
    for (int32_t i = 0; i < n; ++i) r[i] = b[i] - r[i];
    return e->status;
}

/* x by the factors, and one correction. x may be b; work has 2 n numbers. */
static saddle_status refine_once(sd_call *call, const double *b, double *x, double *work,
                                 sd_solve_memory *memory)
{
    const int32_t n = call->problem.A->n;
    const sd_method *method = call->method;
    double *const kept = work, *const r = work + n;
    memcpy(kept, b, (size_t)n * sizeof *b);
    saddle_status status = method->solve(call->e, call->factors, 1, kept, n, x, n, memory);
    if (status || !sd_is_finite(n, x)) return status;
    status = plain_residual(call, kept, x, r);
    if (!status) status = method->solve(call->e, call->factors, 1, r, n, r, n, memory);
    for (int32_t i = 0; i < n && !status; ++i) x[i] += r[i];
    return status;
}

static saddle_status solve_unmeasured(sd_call *call, int64_t nrhs, const double *b, int64_t ldb, double *x,
                                      int64_t ldx, const sd_done *done, saddle_info *info)
{
    sd_context *c = call->e->context;
    const int32_t n = call->problem.A->n;
    const bool refined = call->problem.options->krylov == SADDLE_KRYLOV_REFINE &&
                         !call->method->standing(call->factors).changed;
    double *work =
        refined && !done ? sd_alloc(c, 2 * (int64_t)n, sizeof *work, "vectors of the solve") : NULL;
    saddle_status status = refined && !done && !work ? c->status : SADDLE_OK;
    sd_solve_memory memory = {0};
    info->method = call->method->number;
    info->krylov = call->problem.options->krylov;
    for (int64_t k = 0; k < nrhs && !status; ++k)
        if (!sd_is_finite(n, b + k * ldb))
            status = sd_fail(c, SADDLE_BAD_VALUE,
                             "an entry of right-hand side %lld (counted from 1) is NaN or infinite",
                             (long long)k + 1);
    if (done && !status)
        memcpy(x, done->x, (size_t)n * sizeof *x);
    else if (!status && !refined)
        status = call->method->solve(call->e, call->factors, nrhs, b, ldb, x, ldx, NULL);
    for (int64_t k = 0; k < nrhs && !status && refined && !done; ++k)
        status = refine_once(call, b + k * ldb, x + k * ldx, work, &memory);
    if (refined) info->iterations = 2;
    sd_free(c, work);
    sd_solve_memory_free(c, &memory);
    if (status) {
        clear_columns(n, 0, nrhs, x, ldx);
        return status;
    }
    info->reason = SADDLE_REASON_NOT_MEASURED;
    for (int64_t k = 0; k < nrhs; ++k) {
        if (sd_is_finite(n, x + k * ldx)) continue;
        clear_columns(n, k, k + 1, x, ldx);
        info->reason = SADDLE_REASON_OVERFLOW;
        status =
            sd_fail(c, SADDLE_NOT_CONVERGED, "solution %lld (counted from 1) overflows", (long long)k + 1);
    }
    return status;
}

/* The end of a call: the certificate, and what it cost besides. */
static void end_call(sd_call *call, int64_t nrhs, sd_outcome *o)
{
    sd_engine *e = call->e;
    saddle_info *info = o->info;
    if (nrhs > 0 && !is_final(e, o->status) && call->problem.options->certify == SADDLE_ON) {
        const saddle_status status = sd_call_certify(call, info);
        if (status) give_up(o, status, e->context);
    }
    if (o->status) memcpy(e->context->message, info->message, sizeof info->message);
    sd_call_end(call);
    info->time_prepare += call->times[SD_TIME_PREPARE];
    info->time_plan += call->times[SD_TIME_PLAN];
    info->time_factor += call->times[SD_TIME_FACTOR];
}

/* On the host, whatever device the methods work on. */
static void solve_here(sd_call *call, int64_t nrhs, const double *b, int64_t ldb, double *x, int64_t ldx,
                       const sd_done *done, sd_outcome *o)
{
    sd_context *c = call->e->context;
    const int32_t n = call->problem.A->n;
    int64_t ended = 0;
    panel ready = {0};
    double *work = sd_alloc(c, 2 * (int64_t)n, sizeof *work, "vectors of the solve");
    if (!work || make_panel(call, nrhs, &ready))
        give_up(o, c->status, c);
    else if (nrhs == 1)
        run_column(call, b, x, done, work, o), ended = 1;
    else
        run_columns(call, nrhs, b, ldb, x, ldx, &ready, work, o, &ended);
    clear_columns(n, ended, nrhs, x, ldx);
    sd_free(c, work);
    free_panel(c, &ready);
}

/* x = 0 wherever it is: there is no solution. */
static void clear_anywhere(sd_call *call, int64_t nrhs, double *x, int64_t ldx)
{
    sd_engine *e = call->e;
    const int32_t n = call->problem.A->n;
    if (!sd_is_there(call->solver, x)) {
        clear_columns(n, 0, nrhs, x, ldx);
        return;
    }
    const saddle_status status = e->status;
    e->status = SADDLE_OK;
    for (int64_t k = 0; k < nrhs; ++k) sd_fill(e, 0, &(sd_vector){x + k * ldx, n, SD_DOUBLE});
    if (status) e->status = status;
}

/* All columns by what the host can see of them. */
static void solve_seen(sd_call *call, bool unmeasured, int64_t nrhs, const double *b, int64_t ldb, double *x,
                       int64_t ldx, const sd_done *done, sd_outcome *o)
{
    sd_context *c = call->e->context;
    sd_staged at;
    const saddle_status status = sd_stage_columns(call->solver, call->e, nrhs, b, ldb, x, ldx, &at);
    if (status) {
        give_up(o, status, c);
        clear_anywhere(call, nrhs, x, ldx);
        sd_free(c, at.memory);
        return;
    }
    if (unmeasured)
        o->status = solve_unmeasured(call, nrhs, at.b, at.ldb, at.x, at.ldx, done, o->info);
    else
        solve_here(call, nrhs, at.b, at.ldb, at.x, at.ldx, done, o);
    if (unmeasured && o->status) give_up(o, o->status, c);
    sd_unstage_columns(call->solver, call->e, nrhs, x, ldx, &at);
}

/* All columns, on the host or on the device; info keeps the worst of them. */
saddle_status sd_solve_columns(const saddle_solver *s, sd_engine *e, int64_t nrhs, const double *b,
                               int64_t ldb, double *x, int64_t ldx, const sd_done *done, saddle_info *info)
{
    sd_context *c = e->context;
    sd_call call = {.solver = s, .problem = sd_problem_of(s), .e = e, .columns = nrhs, .ladder = s->ladder};
    call.method = s->ladder.rung[0].method;
    call.factors = first_factors(&call);
    sd_outcome o = {info, SADDLE_OK};
    sd_operator completed[SD_PRECISIONS];
    bool there = false;
    info->converged = nrhs == 0; /* nothing was requested */
    const bool unmeasured = nrhs > 0 && is_taken_unmeasured(s, &call);
    saddle_status status = SADDLE_OK;
    if (!unmeasured) status = complete_operators(c, &call.problem, completed);
    if (!status && !unmeasured) status = sd_make_rider(&call, done);
    if (!status && nrhs > 0 && !done)
        status = sd_solve_there(&call, !unmeasured, nrhs, b, ldb, x, ldx, info, &there);
    if (status) {
        give_up(&o, status, c);
        clear_anywhere(&call, nrhs, x, ldx);
    } else if (!there) {
        solve_seen(&call, unmeasured, nrhs, b, ldb, x, ldx, done, &o);
    }
    end_call(&call, nrhs, &o);
    return o.status;
}

saddle_status sd_check_columns(sd_context *c, const saddle_solver *s, const char *call, int64_t nrhs,
                               const double *b, int64_t ldb, const double *x, int64_t ldx)
{
    if (!s) return sd_fail(c, SADDLE_BAD_ARGUMENT, "%s: the solver is NULL", call);
    if (!s->factored) return sd_fail(c, SADDLE_WRONG_ORDER, "%s: call saddle_factor first", call);
    if (nrhs < 0 || ldb < s->A.n || ldx < s->A.n) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "%s: invalid sizes: %lld right-hand sides, ldb %lld, ldx %lld, n %d", call,
                       (long long)nrhs, (long long)ldb, (long long)ldx, s->A.n);
    }
    if (nrhs > 0 && s->A.n > 0 && (!b || !x))
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "%s: b or x is NULL", call);
    if (nrhs > 1 && b == x && ldb != ldx) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "%s: b and x are the same array, but ldb is %lld and ldx is %lld", call,
                       (long long)ldb, (long long)ldx);
    }
    return SADDLE_OK;
}

/* Memory that a factorization has made for a solve to work in, NULL where there is none, or where another
 * solve has it. */
static void *take_spare(const saddle_solver *s, sd_context *c)
{
    if (!s || !sd_context_can_nest(c)) return NULL;
    void *spare = atomic_exchange(&s->experience->spare, NULL);
    if (!spare) return NULL;
    sd_context_nest(c, spare, (size_t)s->experience->spare_bytes);
    c->elsewhere -= s->experience->spare_bytes; /* what is taken from it is counted */
    return spare;
}

static void give_spare(const saddle_solver *s, const sd_context *c, void *spare)
{
    if (!s) return;
    int64_t known = atomic_load(&s->experience->solve_bytes);
    while (known < c->total && !atomic_compare_exchange_weak(&s->experience->solve_bytes, &known, c->total)) {
    }
    if (spare) atomic_store(&s->experience->spare, spare);
}

saddle_status saddle_solve(const saddle_solver *solver, int64_t nrhs, const double *b, int64_t ldb, double *x,
                           int64_t ldx, saddle_info *info)
{
    const double start = sd_seconds();
    char nest[SD_NEST_BYTES];
    sd_context c;
    sd_engine e = {0};
    saddle_info own = solver ? solver->info : sd_info_unknown;
    const double before = own.time_prepare + own.time_plan + own.time_factor;
    sd_solver_context(solver, &c);
    void *spare = take_spare(solver, &c);
    if (!spare) sd_context_nest(&c, nest, sizeof nest);
    if (info && sd_info_has_history(info)) {
        own.history = info->history;
        own.history_room = info->history_room;
    }
    saddle_status status = sd_check_columns(&c, solver, "saddle_solve", nrhs, b, ldb, x, ldx);
    double nothing = 0;
    if (!status && solver->A.n == 0) { /* there may be no arrays, and one column is as good as many */
        b = x = &nothing;
        nrhs = nrhs > 0;
    }
    if (!status) {
        own.threads = sd_team_of_call(&c, solver->threads);
        status = sd_engine_open(&c, &solver->opened, &e, solver->threads);
        if (status && !sd_is_there(solver, x))
            clear_columns(solver->A.n, 0, nrhs, x, ldx);
        else if (!status)
            status = sd_solve_columns(solver, &e, nrhs, b, ldb, x, ldx, NULL, &own);
    }
    sd_engine_close(&e);
    own.status = status;
    if (status)
        memcpy(own.message, c.message, sizeof own.message);
    else
        own.message[0] = '\0';
    if (status == SADDLE_OUT_OF_MEMORY || status == SADDLE_MEMORY_LIMIT) own.reason = SADDLE_REASON_MEMORY;
    if (status == SADDLE_DEVICE_FAILED) own.reason = SADDLE_REASON_DEVICE;
    own.peak_bytes = c.elsewhere + c.peak;
    give_spare(solver, &c, spare);
    if (solver && solver->c.peak > own.peak_bytes) own.peak_bytes = solver->c.peak;
    own.time_solve = sd_seconds() - start - (own.time_prepare + own.time_plan + own.time_factor - before);
    if (info && info->size >= sizeof info->size) sd_info_give(&own, info);
    return status;
}

saddle_status saddle_solve_once(const saddle_matrix *A, const double *b, double *x,
                                const saddle_options *options, saddle_info *info)
{
    saddle_solver *solver = NULL;
    char message[SADDLE_MESSAGE_SIZE];
    saddle_status status = saddle_create(&solver, options, NULL, message);
    if (!status && solver->options.factorizations == 0) solver->options.factorizations = 1;
    if (!status) status = saddle_factor(solver, A);
    if (!status) {
        status = saddle_solve(solver, 1, b, A->rows, x, A->rows, info);
    } else if (info && solver) {
        saddle_query(solver, info);
    } else if (info && info->size >= sizeof info->size) {
        saddle_info none = sd_info_unknown;
        none.status = status;
        memcpy(none.message, message, sizeof message);
        sd_info_give(&none, info);
    }
    saddle_destroy(&solver);
    return status;
}
