/*
 * Many systems on one pattern: whole systems are given to threads.
 *
 * A member is a solver that shares the pattern and the plan of another, and has values and factors of its
 * own: one for each system whose factors are kept, otherwise some for each thread. Nothing that a member
 * learns from one system is left for the next (sd_method.reset), and it never makes a plan, so a system has
 * the same bits on any member: which thread takes it does not matter.
 *
 * Where the method can do several systems abreast (method.h) a thread takes as many at a time: their values
 * are taken, all are factored and solved at once, and then each of them goes through the ordinary calls,
 * which take over what is ready, or compute it where it is not.
 */
#include "solver/many.h"

#include "solver/column.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

typedef sd_many_call batch;

/* ---- members ---- */

static void close_member(saddle_solver *m)
{
    sd_work *w = &m->work[0];
    if (w->factors) w->method->free_factors(&m->e, w->factors);
    for (int p = 0; p < SD_PRECISIONS && m->e.backend; ++p) sd_operator_free(&m->e, &m->op[p]);
    sd_free_all(&m->c, m->A.val, m->glance.room, m->experience);
    sd_engine_close(&m->e);
}

static const sd_abreast_method *abreast_of(const sd_many *many)
{
    return many->leader->work[0].method->abreast;
}

static void close_abreast(sd_context *c, sd_many *many)
{
    for (int t = 0; t < many->threads && many->abreast; ++t)
        if (many->abreast[t]) abreast_of(many)->free(c, many->abreast[t]);
    sd_free(c, many->abreast);
    many->abreast = NULL;
    many->threads = 0;
    many->width = 1;
}

void sd_many_close_members(sd_context *c, sd_many *many)
{
    for (int64_t k = 0; k < many->count; ++k) close_member(&many->member[k]);
    sd_free(c, many->member);
    close_abreast(c, many);
    many->member = NULL;
    many->count = 0;
    many->kept = false;
}

void sd_many_forget(saddle_solver *s)
{
    sd_many *const many = &s->many;
    sd_many_free_device(s);
    sd_many_close_members(&s->c, many);
    if (many->leader) {
        sd_work *w = &many->leader->work[0];
        close_member(many->leader);
        if (many->hosted && w->plan) w->method->free_plan(&many->leader->c, w->plan);
        sd_free(&s->c, many->leader);
    }
    sd_device_close(&s->c, &many->host);
    many->leader = NULL;
    many->hosted = false;
}

/* What the caller gave in addition to the matrix is the solver's; members only point to it. */
static void lend_given(const saddle_solver *s, saddle_solver *m)
{
    m->given = s->given;
    m->signs = s->signs;
    m->given_n = s->given_n;
    m->signs_n = s->signs_n;
}

void sd_many_lend_given(saddle_solver *s)
{
    if (s->many.leader) lend_given(s, s->many.leader);
    for (int64_t k = 0; k < s->many.count; ++k) lend_given(s, &s->many.member[k]);
}

/* A solver like s, with a plan to share or, where that is NULL, one of its own; `share` is its part of the
 * memory that the limit leaves. */
static saddle_status open_member(const saddle_solver *s, const sd_many *many, const sd_work *plan,
                                 int64_t share, saddle_solver *m)
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
    if (many->hosted) {
        m->device = SADDLE_DEVICE_CPU;
        m->opened = many->host;
        m->options.simplicial = SADDLE_ON;
        /* dissection gives a device several times fewer rounds than minimum degree, for some more work */
        if (m->options.order == SADDLE_ORDER_AUTO) m->options.order = SADDLE_ORDER_METIS;
    }
    m->options.device = m->device; /* where it stays: the plan is shared */
    m->analysed = true;
    m->shape = s->shape;
    m->A = s->A;
    m->A.val = NULL;
    m->map = s->map;
    lend_given(s, m);
    m->info = sd_info_unknown;
    if (plan) m->work[0] = (sd_work){.method = plan->method, .plan = plan->plan, .planned = true};
    m->experience = sd_alloc_zero(&m->c, 1, sizeof *m->experience, "system");
    return m->experience ? sd_engine_open(&m->c, &m->opened, &m->e, 1) : m->c.status;
}

/* Systems up to so many operations are for a whole device at once, and for one thread of the host each. */
static const double SMALL_FLOPS = 1e8;

/* Whether members of a solver on a device are on the host. */
static saddle_status choose_host(saddle_solver *s)
{
    const sd_work *w = sd_find_work(s, &sd_method_direct);
    s->many.hosted = s->device == SADDLE_DEVICE_CUDA && w->method->cost(w->plan).flops <= SMALL_FLOPS;
    return s->many.hosted ? sd_device_open(&s->c, &s->many.host, SADDLE_DEVICE_CPU, 0) : SADDLE_OK;
}

/* Whether it was refused for its values, which need not be those of any system. */
static bool is_of_values(const saddle_solver *m, saddle_status status)
{
    return (status == SADDLE_NOT_DEFINITE || status == SADDLE_NOT_CONVERGED) && m->work[0].factors;
}

/* The one that factors the solver's own values, once for a plan. */
static saddle_status open_leader(saddle_solver *s)
{
    if (s->many.leader) return SADDLE_OK;
    saddle_status status = choose_host(s);
    if (status) return status;
    saddle_solver *m = s->many.leader = sd_alloc_zero(&s->c, 1, sizeof *m, "systems");
    if (!m) return s->c.status;
    const sd_work *plan = s->many.hosted ? NULL : sd_find_work(s, &sd_method_direct);
    status = open_member(s, &s->many, plan, s->options.max_memory, m);
    saddle_matrix A = sd_view_of(s->A.n, s->A.n, s->A.nnz, s->A.ptr, s->A.ind, s->A.val);
    A.layout = SADDLE_ROWS;
    A.shape = m->shape = s->A.half ? SADDLE_UPPER : SADDLE_FULL;
    m->map = NULL; /* the solver's form is its own already */
    if (!status) status = sd_factor_checked(m, &A);
    if (!status || is_of_values(m, status)) return SADDLE_OK;
    sd_tell(&m->c, status, s->c.message);
    sd_many_forget(s);
    return status;
}

/* What each thread needs for systems abreast, to factor them or to solve with factors that there are; none
 * where the method does not have it. */
static saddle_status open_abreast(sd_context *c, int threads, bool factored, bool solved, sd_many *many)
{
    const sd_abreast_method *method = abreast_of(many);
    const sd_problem p = sd_problem_of(many->leader);
    many->threads = 0;
    many->width = 1;
    many->abreast = NULL;
    if (!method) return SADDLE_OK;
    many->abreast = sd_alloc_zero(c, threads, sizeof *many->abreast, "systems abreast");
    saddle_status status = many->abreast ? SADDLE_OK : c->status;
    for (int t = 0; t < threads && !status; ++t) {
        many->threads = t + 1;
        status = method->make(c, &p, many->leader->work[0].factors, factored, solved, &many->abreast[t]);
        if (!status && !many->abreast[t]) break;
    }
    const bool made = !status && many->abreast[0];
    if (made)
        many->width = method->width(many->abreast[0]);
    else
        close_abreast(c, many);
    return status;
}

/* Whether a limit leaves room for systems abreast, with `members` of them. */
static bool has_room(const sd_context *c, const sd_many *many, int64_t members, int threads)
{
    const sd_work *w = &many->leader->work[0];
    const sd_problem p = sd_problem_of(many->leader);
    if (c->limit == 0) return true;
    if (!w->method->abreast) return false;
    const double each = (double)w->method->cost(w->plan).bytes;
    const double abreast = (double)w->method->abreast->bytes(&p, w->factors);
    return (double)members * each + threads * abreast <= (double)(c->limit - sd_bytes_in_use(c));
}

/* As many members as the systems or the threads ask for; those of the last call where they serve. */
saddle_status sd_many_open_members(sd_context *c, const saddle_solver *s, sd_many *many, int64_t systems,
                                   int threads, bool kept)
{
    const bool same = many->member && many->kept == kept && (!many->abreast || many->threads == threads);
    if (same && many->count == (kept ? systems : (int64_t)many->width * threads)) return SADDLE_OK;
    sd_many_close_members(c, many);
    if (has_room(c, many, kept ? systems : (int64_t)SD_ABREAST_MOST * threads, threads)) {
        const saddle_status failed = open_abreast(c, threads, true, !kept, many);
        if (failed) return failed;
    }
    const int64_t count = kept ? systems : (int64_t)many->width * threads;
    many->kept = kept;
    many->member = sd_alloc_zero(c, count, sizeof *many->member, "systems");
    saddle_status status = many->member ? SADDLE_OK : c->status;
    const int64_t left = c->limit - sd_bytes_in_use(c);
    const int64_t share = c->limit == 0 ? 0 : left > count ? left / count : 1;
    for (int64_t k = 0; k < count && !status; ++k) {
        status = open_member(s, many, &many->leader->work[0], share, &many->member[k]);
        many->member[k].like = many->leader->work[0].factors;
        many->count = k + 1;
        if (status) sd_tell(&many->member[k].c, status, c->message);
    }
    if (status) sd_many_close_members(c, many);
    return status;
}

/* ---- systems ---- */

static saddle_status take_system(const batch *q, int64_t k, saddle_solver *m)
{
    const int64_t bytes = q->A.type == SADDLE_DOUBLE ? sizeof(double) : sizeof(float);
    saddle_matrix A = q->A;
    A.values = (const char *)q->A.values + k * q->stride * bytes;
    sd_work *w = &m->work[0];
    if (w->factors) w->method->reset(w->factors);
    if (q->plain) {
        m->map = NULL;
        m->shape = A.shape;
    }
    m->c.message[0] = '\0';
    return sd_take_matrix(m, &A);
}

/* There is nothing to solve with, those of a call before least of all. */
static void leave_member(saddle_solver *m, saddle_status status, const char *message)
{
    sd_forget_factors(m);
    m->info.status = status;
    memcpy(m->info.message, message, sizeof m->info.message);
}

/* Factors what was taken with this status. */
static saddle_status factor_system(saddle_solver *m, saddle_status status)
{
    if (!status) status = sd_factor_taken(m);
    if (status)
        leave_member(m, status, m->c.message);
    else
        m->info.status = status;
    return status;
}

/* info begins as what the factorization left. */
static saddle_status solve_system(const batch *q, int64_t k, const saddle_solver *m, const sd_done *done,
                                  saddle_info *info)
{
    char nest[SD_NEST_BYTES];
    sd_context c;
    sd_engine e = {0};
    sd_solver_context(m, &c);
    sd_context_nest(&c, nest, sizeof nest);
    saddle_status status = sd_engine_open(&c, &m->opened, &e, 1);
    if (!status)
        status = sd_solve_columns(m, &e, 1, q->b + k * q->ldb, q->ldb, q->x + k * q->ldx, q->ldx, done, info);
    sd_engine_close(&e);
    if (status) memcpy(info->message, c.message, sizeof info->message);
    return status;
}

void sd_many_tell(const batch *q, int64_t k, const saddle_result *result)
{
    sd_give(result, sizeof *result, q->results + (size_t)k * q->size, q->size);
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
    sd_many_tell(q, k, &r);
}

/* The call says which system was the first to fail, whichever thread was the first to see one. */
void sd_many_note_failure(batch *q, int64_t k, saddle_status status, const char *message)
{
    const int64_t number = q->number ? q->number[k] : k;
#pragma omp critical(sd_many)
    if (number < q->first) {
        q->first = number;
        q->status = status;
        sd_fail(q->c, status, "system %lld of %lld: %s", (long long)number, (long long)q->of, message);
    }
}

/* A system that there is nothing to solve with. */
static void leave_system(batch *q, int64_t k, int32_t n, saddle_status status, const saddle_info *info)
{
    if (q->b) memset(q->x + k * q->ldx, 0, (size_t)n * sizeof *q->x);
    tell(q, k, status, info);
    if (status) sd_many_note_failure(q, k, status, info->message);
}

/* A system on its way: on which member, how taking its values ended, what is done of it abreast. */
typedef struct journey {
    int64_t k;
    saddle_solver *m;
    saddle_status status;
    sd_done done;
} journey;

static bool is_cancelled(batch *q)
{
    return atomic_load_explicit(&q->cancelled, memory_order_relaxed);
}

/* One thread tells how far it has got, and may be told to stop. */
static void report(batch *q, int64_t k)
{
    saddle_status status;
    if (!q->c->hooks.progress || omp_get_thread_num() != 0) return;
#pragma omp critical(sd_many) /* it may write the message */
    status = sd_progress(q->c, q->stage, k, q->count, NAN);
    if (status) atomic_store(&q->cancelled, true);
}

/* The rest of a system whose values, if there are new ones, were taken. */
static void run_system(batch *q, journey *j)
{
    saddle_solver *const m = j->m;
    if (is_cancelled(q)) {
        saddle_info none = sd_info_unknown;
        snprintf(none.message, sizeof none.message, "cancelled before this system");
        if (q->A.values) leave_member(m, SADDLE_CANCELLED, none.message);
        leave_system(q, j->k, m->A.n, SADDLE_CANCELLED, &none);
        return;
    }
    saddle_status status = q->A.values ? factor_system(m, j->status) : m->info.status;
    if (status || !q->b) {
        leave_system(q, j->k, m->A.n, status, &m->info);
    } else {
        saddle_info info = m->info;
        status = solve_system(q, j->k, m, j->done.x ? &j->done : NULL, &info);
        tell(q, j->k, status, &info);
        if (status) sd_many_note_failure(q, j->k, status, info.message);
    }
    report(q, j->k);
}

/* ---- systems abreast ---- */

/* Those that can go abreast do so, as far as that goes. */
static void run_abreast(const batch *q, int count, journey *journeys, const sd_abreast_method *method,
                        sd_abreast *abreast)
{
    sd_problem problems[SD_ABREAST_MOST];
    const sd_problem *p[SD_ABREAST_MOST];
    void *factors[SD_ABREAST_MOST];
    const double *b[SD_ABREAST_MOST];
    journey *which[SD_ABREAST_MOST];
    sd_done done[SD_ABREAST_MOST];
    int many = 0;
    for (int c = 0; c < count; ++c) {
        const saddle_solver *m = journeys[c].m;
        if (q->A.values ? journeys[c].status != SADDLE_OK : m->info.status != SADDLE_OK) continue;
        problems[many] = sd_problem_of(m);
        p[many] = &problems[many];
        factors[many] = q->A.values && q->b ? NULL : m->work[0].factors;
        if (q->b) b[many] = q->b + journeys[c].k * q->ldb;
        which[many++] = &journeys[c];
    }
    if (3 * many <= method->width(abreast)) return; /* alone is faster */
    if (q->A.values)
        method->factor(abreast, many, p, factors);
    else
        method->load(abreast, many, p, (const void *const *)factors);
    if (q->b) method->solve(abreast, b, done);
    for (int c = 0; c < many; ++c) {
        saddle_solver *const m = which[c]->m;
        if (q->b && done[c].x && (!done[c].answer || sd_is_final(&m->options, done[c].answer)))
            which[c]->done = done[c];
        if (!q->A.values) continue;
        m->abreast = abreast;
        m->place = c;
        m->solved = which[c]->done.x != NULL;
    }
}

/* The systems from `first` on, `most` of them if there are as many, by one thread. */
static void run_piece(batch *q, int64_t first, int most, const sd_many *many)
{
    const int thread = omp_get_thread_num();
    const int count = q->count - first < most ? (int)(q->count - first) : most;
    journey journeys[SD_ABREAST_MOST];
    for (int c = 0; c < count; ++c) {
        saddle_solver *m = &many->member[many->kept ? first + c : (int64_t)thread * many->width + c];
        journeys[c] = (journey){.k = first + c, .m = m};
        if (q->A.values && !is_cancelled(q)) journeys[c].status = take_system(q, first + c, m);
    }
    if (many->abreast && !is_cancelled(q))
        run_abreast(q, count, journeys, abreast_of(many), many->abreast[thread]);
    for (int c = 0; c < count; ++c) {
        run_system(q, &journeys[c]);
        if (q->A.values) journeys[c].m->abreast = NULL;
    }
}

saddle_status sd_many_run(batch *q, const sd_many *many, int threads)
{
    enum { CHUNK_MOST = 16, PIECES = 8 };
    /* as many pieces for each thread, so that none is left without work */
    const int64_t rounds = (q->count + (int64_t)threads * many->width - 1) / ((int64_t)threads * many->width);
    const int wide = (int)((q->count + rounds * threads - 1) / (rounds * threads));
    const int64_t pieces = (q->count + wide - 1) / wide, part = pieces / (PIECES * threads);
    const int most = CHUNK_MOST / wide, chunk = part < 1 ? 1 : part > most ? most : (int)part;
    if (threads > 1) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk)
        for (int64_t k = 0; k < pieces; ++k) run_piece(q, k * wide, wide, many);
    } else {
        for (int64_t k = 0; k < pieces; ++k) run_piece(q, k * wide, wide, many);
    }
    if (q->first == INT64_MAX) return SADDLE_OK;
    return atomic_load(&q->cancelled) ? SADDLE_CANCELLED : q->status;
}

/* ---- the calls ---- */

int sd_many_threads(const saddle_solver *s, int64_t count)
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
    if (s->options.absolute == SADDLE_ON)
        return sd_fail(q->c, SADDLE_BAD_OPTION,
                       "%s: absolute makes a preconditioner, not a solver: turn it off", q->call);
    return SADDLE_OK;
}

/* Pattern and plan, of the values of system 0 where there is none yet. */
static saddle_status plan_first(const batch *q, saddle_solver *s)
{
    saddle_matrix A = q->A;
    const sd_work *w = s->analysed ? sd_find_work(s, &sd_method_direct) : NULL;
    const bool planned = w && w->planned && !s->given_anew;
    const int64_t number = A.type == SADDLE_DOUBLE ? sizeof(double) : sizeof(float);
    void *copy = NULL;
    saddle_status status = SADDLE_OK;
    if (!planned && sd_is_on_device(&s->e, A.values)) {
        A.values = copy = sd_alloc(&s->c, A.entries, (size_t)number, "values");
        if (!copy) return s->c.status;
        s->e.backend->download(&s->e, q->A.values, copy, A.entries * number);
        status = s->e.status;
    }
    if (!status) status = sd_check_pattern(s, &A);
    if (!status) status = sd_plan_values(s, &A, &sd_method_direct);
    sd_free(&s->c, copy);
    return status;
}

/* Pattern, plan and members, then the systems. */
static saddle_status run_values(batch *q, saddle_solver *s, const saddle_matrix *A, const void *values,
                                bool solved)
{
    static const double nothing = 0;
    sd_adopt_options(s);
    if (s->many_outdated) sd_many_forget(s);
    s->many_outdated = false;
    saddle_status status = sd_view_take(q->c, A, &q->A);
    if (!status) status = check_results(q);
    if (!status) status = check_values(q, s, values);
    if (!status && solved) status = check_vectors(q, q->A.rows);
    if (status || q->count == 0) return status;
    q->A.values = values ? values : &nothing; /* a matrix without entries */
    status = plan_first(q, s);
    if (!status) status = open_leader(s);
    bool done = false;
    if (!status && s->many.hosted) status = sd_many_run_values(q, s, !solved, &done);
    if (status || done) return status;
    const int threads = sd_many_threads(s, q->count);
    status = sd_many_open_members(&s->c, s, &s->many, q->count, threads, !solved);
    return status ? status : sd_many_run_here(q, s, &s->many, threads);
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
               .of = count,
               .first = INT64_MAX,
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
               .of = count,
               .first = INT64_MAX,
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
               .of = count,
               .first = INT64_MAX,
               .b = empty ? &nothing : b,
               .ldb = ldb,
               .x = empty ? &nothing : x,
               .ldx = ldx,
               .results = (char *)results,
               .size = size};
    if (count == 0) return SADDLE_OK;
    const int64_t kept = sd_many_kept(&solver->many);
    if (kept < 0) return SADDLE_WRONG_ORDER;
    if (count != kept) return SADDLE_BAD_ARGUMENT;
    saddle_status status = check_results(&q);
    if (!status) status = check_vectors(&q, solver->A.n);
    if (status) return status;
    if (!solver->many.kept) return sd_many_run_kept(&q, solver);
    const int threads = sd_many_threads(solver, count);
    sd_many many = solver->many;
    (void)open_abreast(&c, threads, false, true, &many); /* without it they are solved one at a time */
    status = sd_many_run_here(&q, solver, &many, threads);
    close_abreast(&c, &many);
    return status;
}
