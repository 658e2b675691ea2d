/*
 * Many systems on one pattern: whole systems are given to threads.
 *
 * A member is a solver that shares the pattern and the plan of another, and has values and factors of its
 * own: one for each system whose factors are kept, otherwise one for each thread. Nothing that a member
 * learns from one system is left for the next (sd_method.reset), and it never makes a plan, so a system has
 * the same bits on any member: which thread takes it does not matter.
 */
#include "solver/solver.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* A call at work. */
typedef struct batch {
    sd_context *c;    /* of the call */
    const char *call; /* its name, in messages */
    const char *stage;
    saddle_matrix A; /* with the values of system 0; NULL: nothing is factored */
    int64_t count, stride;
    const double *b; /* NULL: nothing is solved */
    double *x;
    int64_t ldb, ldx;
    char *results; /* NULL: the caller does not want them */
    size_t size;

    atomic_bool cancelled;
    int64_t first; /* that has failed, count: none; its status, and its message in the context */
    saddle_status status;
} batch;

/* ---- members ---- */

static void close_member(saddle_solver *m)
{
    sd_work *w = &m->work[0];
    if (w->factors) w->method->free_factors(&m->e, w->factors);
    for (int p = 0; p < SD_PRECISIONS && m->e.backend; ++p) sd_operator_free(&m->e, &m->op[p]);
    sd_free_all(&m->c, m->A.val, m->glance.room, m->experience);
    sd_engine_close(&m->e);
}

static void close_members(saddle_solver *s)
{
    for (int64_t k = 0; k < s->many.count; ++k) close_member(&s->many.member[k]);
    sd_free(&s->c, s->many.member);
    s->many.member = NULL;
    s->many.count = 0;
    s->many.kept = false;
}

void sd_many_forget(saddle_solver *s)
{
    close_members(s);
    if (s->many.leader) close_member(s->many.leader);
    sd_free(&s->c, s->many.leader);
    s->many.leader = NULL;
}

/* A solver like s, with the plan of s; `share` is its part of the memory that the limit leaves. */
static saddle_status open_member(const saddle_solver *s, int64_t share, saddle_solver *m)
{
    sd_context_init(&m->c, &s->c.hooks, 0);
    m->c.hooks.log = NULL;
    m->c.hooks.progress = NULL;
    m->options = s->options;
    m->options.method = SADDLE_METHOD_DIRECT;
    m->options.replan = SADDLE_OFF;
    m->options.max_memory = m->c.limit = share;
    m->policy = s->policy;
    m->device = s->device;
    m->threads = 1;
    m->opened = s->opened;
    m->analysed = true;
    m->shape = s->shape;
    m->A = s->A;
    m->A.val = NULL;
    m->map = s->map;
    m->given = s->given;
    m->signs = s->signs;
    m->given_n = s->given_n;
    m->signs_n = s->signs_n;
    m->info = sd_info_unknown;
    const sd_work *plan = sd_find_work(s, &sd_method_direct);
    m->work[0] = (sd_work){.method = plan->method, .plan = plan->plan, .planned = true};
    m->experience = sd_alloc_zero(&m->c, 1, sizeof *m->experience, "system");
    return m->experience ? sd_engine_open(&m->c, &s->opened, &m->e, 1) : m->c.status;
}

/* The one that factors the solver's own values, once for a plan. */
static saddle_status open_leader(saddle_solver *s)
{
    if (s->many.leader) return SADDLE_OK;
    saddle_solver *m = s->many.leader = sd_alloc_zero(&s->c, 1, sizeof *m, "systems");
    if (!m) return s->c.status;
    saddle_status status = open_member(s, s->options.max_memory, m);
    saddle_matrix A = sd_view_of(s->A.n, s->A.n, s->A.nnz, s->A.ptr, s->A.ind, s->A.val);
    A.layout = SADDLE_ROWS;
    A.shape = m->shape = s->A.half ? SADDLE_UPPER : SADDLE_FULL;
    m->map = NULL; /* the solver's form is its own already */
    if (!status) status = sd_factor_checked(m, &A);
    if (!status) return SADDLE_OK;
    sd_tell(&m->c, status, s->c.message);
    sd_many_forget(s);
    return status;
}

/* As many members as that; those of the last call where they serve. */
static saddle_status open_members(saddle_solver *s, int64_t count, bool kept)
{
    if (s->many.count == count && s->many.kept == kept) return SADDLE_OK;
    close_members(s);
    s->many.kept = kept;
    s->many.member = sd_alloc_zero(&s->c, count, sizeof *s->many.member, "systems");
    saddle_status status = s->many.member ? SADDLE_OK : s->c.status;
    const int64_t left = s->options.max_memory - sd_bytes_in_use(&s->c);
    const int64_t share = s->options.max_memory == 0 ? 0 : left > count ? left / count : 1;
    for (int64_t k = 0; k < count && !status; ++k) {
        status = open_member(s, share, &s->many.member[k]);
        s->many.member[k].like = s->many.leader->work[0].factors;
        s->many.count = k + 1;
        if (status) sd_tell(&s->many.member[k].c, status, s->c.message);
    }
    if (status) close_members(s);
    return status;
}

/* ---- systems ---- */

static saddle_status factor_system(const batch *q, int64_t k, saddle_solver *m)
{
    const int64_t bytes = q->A.type == SADDLE_DOUBLE ? sizeof(double) : sizeof(float);
    saddle_matrix A = q->A;
    A.values = (const char *)q->A.values + k * q->stride * bytes;
    sd_work *w = &m->work[0];
    if (w->factors) w->method->reset(w->factors);
    m->c.message[0] = '\0';
    const saddle_status status = sd_factor_checked(m, &A);
    if (status) sd_forget_factors(m);
    m->info.status = status;
    if (status) memcpy(m->info.message, m->c.message, sizeof m->info.message);
    return status;
}

/* info begins as what the factorization left. */
static saddle_status solve_system(const batch *q, int64_t k, const saddle_solver *m, saddle_info *info)
{
    char nest[SD_NEST_BYTES];
    sd_context c;
    sd_engine e = {0};
    sd_solver_context(m, &c);
    sd_context_nest(&c, nest, sizeof nest);
    saddle_status status = sd_engine_open(&c, &m->opened, &e, 1);
    if (!status)
        status = sd_solve_columns(m, &e, 1, q->b + k * q->ldb, q->ldb, q->x + k * q->ldx, q->ldx, info);
    sd_engine_close(&e);
    if (status) memcpy(info->message, c.message, sizeof info->message);
    return status;
}

static void tell(const batch *q, int64_t k, saddle_status status, const saddle_info *info)
{
    if (!q->results) return;
    saddle_result r = {.status = status,
                       .reason = info->reason,
                       .converged = info->converged,
                       .inertia_certain = info->inertia_certain,
                       .inertia_positive = info->inertia_positive,
                       .inertia_negative = info->inertia_negative,
                       .inertia_zero = info->inertia_zero,
                       .iterations = info->iterations,
                       .backward_error = info->backward_error,
                       .componentwise_error = info->componentwise_error,
                       .relative_residual = info->relative_residual};
    if (status) snprintf(r.message, sizeof r.message, "%.*s", (int)sizeof r.message - 1, info->message);
    sd_give(&r, sizeof r, q->results + (size_t)k * q->size, q->size);
}

/* The call says which system was the first to fail, whichever thread was the first to see one. */
static void note_failure(batch *q, int64_t k, saddle_status status, const char *message)
{
#pragma omp critical(sd_many)
    if (k < q->first) {
        q->first = k;
        q->status = status;
        sd_fail(q->c, status, "system %lld of %lld: %s", (long long)k, (long long)q->count, message);
    }
}

/* A system that there is nothing to solve with. */
static void leave_system(batch *q, int64_t k, int32_t n, saddle_status status, const saddle_info *info)
{
    if (q->b) memset(q->x + k * q->ldx, 0, (size_t)n * sizeof *q->x);
    tell(q, k, status, info);
    if (status) note_failure(q, k, status, info->message);
}

static void run_system(batch *q, int64_t k, saddle_solver *m)
{
    saddle_status status;
    if (atomic_load_explicit(&q->cancelled, memory_order_relaxed)) {
        saddle_info none = sd_info_unknown;
        snprintf(none.message, sizeof none.message, "cancelled before this system");
        leave_system(q, k, m->A.n, SADDLE_CANCELLED, &none);
        return;
    }
    status = q->A.values ? factor_system(q, k, m) : m->info.status;
    if (status || !q->b) {
        leave_system(q, k, m->A.n, status, &m->info);
        return;
    }
    saddle_info info = m->info;
    status = solve_system(q, k, m, &info);
    tell(q, k, status, &info);
    if (status) note_failure(q, k, status, info.message);
}

/* One thread tells how far it has got, and may be told to stop. */
static void run_share(batch *q, int64_t k, const sd_many *many)
{
    const int thread = omp_get_thread_num();
    run_system(q, k, &many->member[many->kept ? k : thread]);
    if (thread == 0 && q->c->hooks.progress) {
        saddle_status status;
#pragma omp critical(sd_many) /* it may write the message */
        status = sd_progress(q->c, q->stage, k, q->count, NAN);
        if (status) atomic_store(&q->cancelled, true);
    }
}

static saddle_status run(batch *q, const sd_many *many, int threads)
{
    enum { CHUNK_MOST = 16, PIECES = 8 };
    const int64_t piece = q->count / (PIECES * threads);
    const int chunk = piece < 1 ? 1 : piece > CHUNK_MOST ? CHUNK_MOST : (int)piece;
    q->first = q->count;
    if (threads > 1) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk)
        for (int64_t k = 0; k < q->count; ++k) run_share(q, k, many);
    } else {
        for (int64_t k = 0; k < q->count; ++k) run_share(q, k, many);
    }
    if (q->first == q->count) return SADDLE_OK;
    return atomic_load(&q->cancelled) ? SADDLE_CANCELLED : q->status;
}

/* ---- the calls ---- */

static int threads_for(const saddle_solver *s, int64_t count)
{
    const int threads = sd_team(s->threads);
    return count < threads ? (count > 1 ? (int)count : 1) : threads;
}

static saddle_status check_results(const batch *q)
{
    const size_t least = offsetof(saddle_result, message) + sizeof((saddle_result *)0)->message;
    if (!q->results || q->size >= least) return SADDLE_OK;
    return sd_fail(q->c, SADDLE_BAD_ARGUMENT, "%s: a saddle_result has size %zu: it must be %zu", q->call,
                   q->size, sizeof(saddle_result));
}

static saddle_status check_vectors(const batch *q, int64_t n)
{
    if (q->ldb < n || q->ldx < n)
        return sd_fail(q->c, SADDLE_BAD_ARGUMENT, "%s: ldb is %lld and ldx %lld, but n is %lld", q->call,
                       (long long)q->ldb, (long long)q->ldx, (long long)n);
    if (q->count > 0 && n > 0 && (!q->b || !q->x))
        return sd_fail(q->c, SADDLE_BAD_ARGUMENT, "%s: b or x is NULL", q->call);
    if (q->b == q->x && q->ldb != q->ldx)
        return sd_fail(q->c, SADDLE_BAD_ARGUMENT,
                       "%s: b and x are the same array, but ldb is %lld and ldx is %lld", q->call,
                       (long long)q->ldb, (long long)q->ldx);
    return SADDLE_OK;
}

static saddle_status check_values(const batch *q, const saddle_solver *s, const void *values)
{
    if (q->count < 0 || q->stride < q->A.entries)
        return sd_fail(q->c, SADDLE_BAD_ARGUMENT, "%s: count is %lld and stride %lld, but A has %lld entries",
                       q->call, (long long)q->count, (long long)q->stride, (long long)q->A.entries);
    if (q->count > 0 && q->A.entries > 0 && !values)
        return sd_fail(q->c, SADDLE_BAD_ARGUMENT, "%s: the values are NULL", q->call);
    if (q->A.shape == SADDLE_GENERAL)
        return sd_fail(q->c, SADDLE_NOT_SUPPORTED, "%s: the shape must be lower, upper or full", q->call);
    if (s->options.method != SADDLE_METHOD_AUTO && s->options.method != SADDLE_METHOD_DIRECT)
        return sd_fail(q->c, SADDLE_NOT_SUPPORTED, "%s: use method direct, or auto", q->call);
    return SADDLE_OK;
}

/* Pattern, plan and members, then the systems. */
static saddle_status run_values(batch *q, saddle_solver *s, const saddle_matrix *A, const void *values,
                                bool solved)
{
    static const double nothing = 0;
    saddle_status status = sd_view_take(q->c, A, &q->A);
    if (!status) status = check_results(q);
    if (!status) status = check_values(q, s, values);
    if (!status && solved) status = check_vectors(q, q->A.rows);
    if (status || q->count == 0) return status;
    q->A.values = values ? values : &nothing; /* a matrix without entries */
    status = sd_check_pattern(s, &q->A);
    if (!status) status = sd_plan_values(s, &q->A, &sd_method_direct);
    const int threads = threads_for(s, q->count);
    if (!status) status = open_leader(s);
    if (!status) status = open_members(s, solved ? threads : q->count, !solved);
    return status ? status : run(q, &s->many, threads);
}

/* info says what the call returned; what it says of factors stays. */
static saddle_status conclude(saddle_solver *s, saddle_status status)
{
    s->info.status = status;
    if (status)
        memcpy(s->info.message, s->c.message, sizeof s->info.message);
    else
        s->c.message[0] = s->info.message[0] = '\0';
    return status;
}

saddle_status saddle_factor_many_sized(saddle_solver *solver, const saddle_matrix *A, int64_t count,
                                       const void *values, int64_t stride, saddle_result *results,
                                       size_t size)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    batch q = {.c = &solver->c,
               .call = "saddle_factor_many",
               .stage = "factor",
               .count = count,
               .stride = stride,
               .results = (char *)results,
               .size = size};
    return conclude(solver, run_values(&q, solver, A, values, false));
}

saddle_status saddle_factor_solve_many_sized(saddle_solver *solver, const saddle_matrix *A, int64_t count,
                                             const void *values, int64_t stride, const double *b, int64_t ldb,
                                             double *x, int64_t ldx, saddle_result *results, size_t size)
{
    double nothing = 0; /* for b and x of no rows */
    if (!solver) return SADDLE_BAD_ARGUMENT;
    const bool empty = A && A->rows == 0 && !b;
    batch q = {.c = &solver->c,
               .call = "saddle_factor_solve_many",
               .stage = "factor",
               .count = count,
               .stride = stride,
               .b = empty ? &nothing : b,
               .ldb = ldb,
               .x = empty ? &nothing : x,
               .ldx = ldx,
               .results = (char *)results,
               .size = size};
    return conclude(solver, run_values(&q, solver, A, values, true));
}

saddle_status saddle_solve_many_sized(const saddle_solver *solver, int64_t count, const double *b,
                                      int64_t ldb, double *x, int64_t ldx, saddle_result *results,
                                      size_t size)
{
    sd_context c;
    double nothing = 0;
    if (!solver) return SADDLE_BAD_ARGUMENT;
    sd_solver_context(solver, &c);
    const bool empty = solver->A.n == 0 && !b;
    batch q = {.c = &c,
               .call = "saddle_solve_many",
               .stage = "solve",
               .count = count,
               .b = empty ? &nothing : b,
               .ldb = ldb,
               .x = empty ? &nothing : x,
               .ldx = ldx,
               .results = (char *)results,
               .size = size};
    if (count == 0) return SADDLE_OK;
    if (!solver->many.kept) return SADDLE_WRONG_ORDER;
    if (count != solver->many.count) return SADDLE_BAD_ARGUMENT;
    saddle_status status = check_results(&q);
    if (!status) status = check_vectors(&q, solver->A.n);
    return status ? status : run(&q, &solver->many, threads_for(solver, count));
}
