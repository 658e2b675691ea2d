/* Create, analyse, factor, query, destroy. Solving is in solve.c. */
#include "solver/device.h"
#include "solver/home.h"
#include "solver/work.h"

#include "backend/resident.h"
#include "core/options.h"
#include "matrix/inspect.h"
#include "prepare/prepare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANALYSE_STEPS = 3 };    /* pattern, values, plan: of the progress */
enum { ROOM_KEPT = 16000000 }; /* bytes: so that small systems are factored again without allocating */

sd_problem sd_problem_of(const saddle_solver *s)
{
    return (sd_problem){.options = &s->options,
                        .A = &s->A,
                        .facts = &s->facts,
                        .op = s->op,
                        .given = s->given.row_scale || s->given.permutation ? &s->given : NULL,
                        .signs = s->signs,
                        .given_n = s->given_n,
                        .signs_n = s->signs_n,
                        .like = s->like,
                        .abreast = s->abreast,
                        .place = s->place,
                        .solved = s->solved,
                        .device = s->device,
                        .threads = sd_team(s->threads),
                        .expensive = s->policy.expensive};
}

const sd_work *sd_find_work(const saddle_solver *s, const sd_method *method)
{
    for (int k = 0; k < SD_RUNGS_MOST; ++k)
        if (s->work[k].method == method) return &s->work[k];
    return NULL;
}

void sd_set_policy(saddle_solver *s, const sd_policy *policy)
{
    s->policy = *policy;
}

void sd_solver_context(const saddle_solver *solver, sd_context *c)
{
    sd_context_init(c, solver ? &solver->c.hooks : NULL, 0);
    if (!solver) return;
    c->limit = solver->options.max_memory;
    c->elsewhere = solver->c.bytes;
    c->threads = sd_team(solver->threads);
}

saddle_status saddle_create(saddle_solver **solver, const saddle_options *options, const saddle_hooks *hooks,
                            char *message)
{
    sd_context c;
    saddle_status status = sd_context_open(&c, hooks);
    if (!solver)
        return sd_tell(&c, sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_create: the solver is NULL"), message);
    *solver = NULL;
    saddle_options taken;
    if (!status) status = sd_options_take(&c, options, &taken);
    if (status) return sd_tell(&c, status, message);
    saddle_solver *s = sd_alloc_zero(&c, 1, sizeof *s, "solver");
    if (!s) return sd_tell(&c, c.status, message);
    c.limit = taken.max_memory;
    s->c = c;
    s->options = taken;
    s->policy = sd_policy_default;
    s->experience = sd_alloc_zero(&s->c, 1, sizeof *s->experience, "solver");
    s->threads = sd_thread_count(taken.threads);
    s->device = taken.device == SADDLE_DEVICE_AUTO ? SADDLE_DEVICE_CPU : taken.device;
    s->info = sd_info_unknown;
    s->info.device = s->device;
    s->info.precision = taken.precision;
    s->info.threads = s->threads;
    s->info.device_index = taken.device_index;
    status = s->experience ? SADDLE_OK : s->c.status;
    if (!status) status = sd_device_open(&s->c, &s->opened, s->device, (int)taken.device_index);
    if (!status) status = sd_engine_open(&s->c, &s->opened, &s->e, s->threads);
    if (!status) sd_report_unused(&s->c, &s->options);
    sd_tell(&s->c, status, message);
    if (status) saddle_destroy(&s);
    *solver = s;
    return status;
}

/* Plans that the caller's scaling or order shaped give way where others have been given since. */
static void forget_given_plans(saddle_solver *s)
{
    const saddle_options *o = &s->options;
    const bool used = o->scaling == SADDLE_SCALING_USER || o->order == SADDLE_ORDER_USER;
    if (!s->given_anew) return;
    s->given_anew = false;
    for (int k = 0; k < SD_RUNGS_MOST && used; ++k) sd_work_forget(s, &s->work[k]);
}

/* What the analysis has predicted stays in info while the plan does. */
static void keep_planned(const saddle_info *from, saddle_info *to)
{
    to->planned_flops = from->planned_flops;
    to->critical_flops = from->critical_flops;
    to->planned_nnz = from->planned_nnz;
    to->planned_bytes = from->planned_bytes;
    to->planned_fronts = from->planned_fronts;
    to->planned_height = from->planned_height;
    to->planned_rows = from->planned_rows;
    to->planned_columns = from->planned_columns;
}

/* With the factors goes what info knows of them and of the values; memory that can be used again stays. */
void sd_forget_factors(saddle_solver *s)
{
    s->factored = false;
    const saddle_info before = s->info;
    s->info = sd_info_unknown;
    s->info.n = before.n;
    s->info.device = before.device;
    s->info.device_index = before.device_index;
    s->info.precision = before.precision;
    s->info.threads = before.threads;
    s->info.values_in_analysis = before.values_in_analysis;
    keep_planned(&before, &s->info);
    s->info.replans = before.replans;
    s->info.time_prepare = before.time_prepare;
    s->info.time_plan = before.time_plan;
    s->e.status = SADDLE_OK;
    for (int k = 0; k < SD_RUNGS_MOST; ++k) {
        sd_work *w = &s->work[k];
        w->ready = false;
        if (w->factors && !w->method->refactor) sd_work_free_factors(s, w);
    }
}

static void free_spare(saddle_solver *s)
{
    if (!s->experience) return;
    sd_free(&s->c, atomic_exchange(&s->experience->spare, NULL));
    s->experience->spare_bytes = 0;
}

static void forget_analysis(saddle_solver *s)
{
    sd_forget_factors(s);
    sd_forget_operators(s);
    s->analysed = s->guessed = false;
    free_spare(s);
    if (s->experience) {
        s->experience->rung = 0;
        s->experience->lost = false;
        s->experience->solve_bytes = 0;
    }
    s->info.n = -1;
    keep_planned(&sd_info_unknown, &s->info);
    s->info.values_in_analysis = s->info.replans = 0;
    s->info.time_prepare = s->info.time_plan = 0;
    for (int k = 0; k < SD_RUNGS_MOST; ++k) sd_work_forget(s, &s->work[k]);
    sd_csr_free(&s->c, &s->A);
    sd_free_all(&s->c, s->map, s->glance.room);
    s->map = NULL;
    s->glance = (sd_glance){0};
}

void saddle_destroy(saddle_solver **solver)
{
    if (!solver || !*solver) return;
    saddle_solver *s = *solver;
    forget_analysis(s);
    saddle_set_given(s, 0, NULL);
    saddle_set_signs(s, 0, NULL);
    sd_engine_close(&s->e);
    sd_device_close(&s->c, &s->opened);
    sd_free(&s->c, s->experience);
    sd_context c = s->c;
    sd_free(&c, s);
    *solver = NULL;
}

/* The beginning of analyse and factor: the engine is older than a fork() may be. */
static void begin_call(saddle_solver *s)
{
    s->e.threads = sd_team_of_call(&s->c, s->threads);
    s->info.threads = s->c.threads = s->e.threads;
}

/* The end of analyse and factor: info says what the call returned. */
static saddle_status conclude(saddle_solver *s, saddle_status status)
{
    s->info.status = status;
    if (status)
        memcpy(s->info.message, s->c.message, sizeof s->info.message);
    else
        s->c.message[0] = s->info.message[0] = '\0';
    s->info.peak_bytes = s->c.peak;
    return status;
}

/* SADDLE_BAD_VALUE, naming an entry of A that is not finite. */
static saddle_status check_arrived(saddle_solver *s)
{
    double nothing = 0;
    for (int64_t k = 0; k < s->A.nnz; ++k) nothing += 0 * s->A.val[k];
    if (nothing == 0) return SADDLE_OK;
    const saddle_matrix view = {.layout = SADDLE_ROWS, .shape = s->shape, .base = s->base};
    return sd_csr_check_sums(&s->c, &view, &s->A);
}

/* Copies the values and checks them: each finite, their sums too, and symmetric where that was said. */
static saddle_status take_values(saddle_solver *s, const saddle_matrix *A)
{
    if (!A->values && A->entries > 0)
        return sd_fail(&s->c, SADDLE_BAD_ARGUMENT, "the values of the matrix are NULL");
    if (!s->A.val) s->A.val = sd_alloc(&s->c, s->A.nnz, sizeof *s->A.val, "values");
    if (!s->A.val) return s->c.status;
    const bool finite = sd_csr_take_values(&s->A, A, s->map);
    if (!finite && sd_view_has_pattern(A)) return sd_view_check_values(&s->c, A, NULL);
    return s->map || !finite ? sd_csr_check_sums(&s->c, A, &s->A) : SADDLE_OK;
}

/* Whether anything but `info.kind` depends on a proof of what A is: the choice of a method or factorization,
 * the certificate, what an iteration may use. */
static bool depends_on_kind(const saddle_options *o)
{
    return o->method != SADDLE_METHOD_DIRECT || o->factorization == SADDLE_FACTORIZATION_AUTO ||
           o->certify != SADDLE_OFF || o->krylov == SADDLE_KRYLOV_CG || o->krylov == SADDLE_KRYLOV_MINRES;
}

saddle_status sd_inspect_values(saddle_solver *s, const saddle_matrix *A, bool arrived)
{
    saddle_status status = arrived ? check_arrived(s) : take_values(s, A);
    if (!status && s->shape == SADDLE_FULL) status = sd_require_symmetric(&s->c, &s->A);
    s->facts = (saddle_facts){
        .size = sizeof s->facts, .rows = A->rows, .columns = A->columns, .entries = A->entries};
    if (!status) status = sd_progress(&s->c, "analyse", 1, ANALYSE_STEPS, NAN);
    const int64_t bytes = sd_inspect_bytes(&s->A);
    if (!status && !s->glance.room && bytes <= ROOM_KEPT)
        s->glance.room = sd_alloc(&s->c, bytes, 1, "row sums");
    if (!status && !s->glance.room && bytes <= ROOM_KEPT) status = s->c.status;
    s->glance.norms = !sd_may_stay_unmeasured(s);
    s->glance.kind = depends_on_kind(&s->options);
    return status ? status : sd_csr_glance(&s->c, &s->A, &s->glance, &s->facts);
}

/* ---- the verbs ---- */

/* Whether the options may lead to a plan that values shape, and that is needed in any case. */
static bool plans_by_values(const saddle_solver *s)
{
    const sd_method *named = sd_method_of(s->options.method);
    if (named) return named->plan;
    return !sd_solves_once(&s->options) || s->A.nnz < s->policy.race.entries;
}

static saddle_status analyse(saddle_solver *s, const saddle_matrix *A)
{
    const double start = sd_seconds();
    forget_analysis(s);
    s->given_anew = false;
    saddle_status status = sd_device_return(s);
    if (!status) status = sd_progress(&s->c, "analyse", 0, ANALYSE_STEPS, NAN);
    if (!status) status = sd_view_check(&s->c, A, NULL);
    if (status) return status;
    saddle_matrix pattern = *A;
    pattern.values = NULL;
    status = sd_csr_from_view(&s->c, &pattern, false, &s->A, &s->map);
    if (status) return status;
    s->fingerprint = sd_view_fingerprint(A);
    s->entries = A->entries;
    s->shape = A->shape;
    s->base = A->base;
    s->analysed = true;
    s->info.n = s->A.n;
    s->info.time_plan = sd_seconds() - start;
    if (A->values && plans_by_values(s)) {
        status = sd_inspect_values(s, A, false);
        if (!status) status = sd_work_plan_ahead(s);
        for (int k = 0; k < SD_RUNGS_MOST; ++k) s->info.values_in_analysis |= s->work[k].plan != NULL;
    }
    return status ? status : sd_progress(&s->c, "analyse", ANALYSE_STEPS, ANALYSE_STEPS, NAN);
}

/* The pattern, which has to be the one that was analysed, or is analysed now. One that has the fingerprint
 * was checked by the analysis; what is read of another is looked at first. */
saddle_status sd_check_pattern(saddle_solver *s, const saddle_matrix *A)
{
    if (!s->analysed) return analyse(s, A);
    saddle_status status = sd_view_check_fields(&s->c, A);
    if (status) return status;
    if (A->rows == s->A.n && A->entries == s->entries && sd_view_fingerprint(A) == s->fingerprint)
        return SADDLE_OK;
    status = sd_view_check(&s->c, A, NULL);
    if (status) return status;
    return sd_fail(&s->c, SADDLE_PATTERN_CHANGED,
                   "the pattern is not the one that was analysed: call saddle_analyse again");
}

/* What info knows of the matrix. */
static void tell_facts(saddle_solver *s)
{
    s->info.nnz = s->facts.nnz;
    s->info.symmetric = s->facts.symmetric;
    s->info.kind = s->facts.kind;
}

/* Factors the values that were taken at `start`. */
static saddle_status factor_from(saddle_solver *s, double start)
{
    saddle_status status = sd_progress(&s->c, "factor", 0, 1, NAN);
    tell_facts(s);
    double spent = -s->info.time_prepare - s->info.time_plan;
    if (!status) status = sd_work_run(s);
    spent += s->info.time_prepare + s->info.time_plan;
    if (!status) status = sd_progress(&s->c, "factor", 1, 1, NAN);
    if (status) return status;
    const sd_sparse *product = &s->op[SD_DOUBLE].sparse;
    sd_log(&s->c, SADDLE_LOG_INFO, "n %d, %lld entries %s, products in %d slices", s->A.n,
           (long long)product->nnz, product->half ? "of a triangle" : "stored", product->slices);
    s->factored = true;
    s->info.time_factor = sd_seconds() - start - spent;
    return SADDLE_OK;
}

/* Factors that were made of arriving values are those of the solver. */
static saddle_status accept_factors(saddle_solver *s, double start)
{
    sd_work *w = sd_work_place(s, s->ladder.rung[0].method);
    tell_facts(s);
    w->ready = s->factored = true;
    sd_report(w->method, w->factors, &s->info);
    s->info.time_factor = sd_seconds() - start;
    return sd_engine_finish(&s->e);
}

saddle_status sd_factor_checked(saddle_solver *s, const saddle_matrix *A)
{
    const double start = sd_seconds();
    sd_forget_factors(s);
    forget_given_plans(s);
    const saddle_status status = sd_inspect_values(s, A, false);
    return status ? status : factor_from(s, start);
}

saddle_status sd_take_matrix(saddle_solver *s, const saddle_matrix *A)
{
    sd_forget_factors(s);
    const saddle_status status = sd_inspect_values(s, A, false);
    return status ? status : sd_make_operators(s);
}

saddle_status sd_factor_taken(saddle_solver *s)
{
    return factor_from(s, sd_seconds());
}

saddle_status sd_plan_values(saddle_solver *s, const saddle_matrix *A, const sd_method *method)
{
    const sd_work *w = sd_find_work(s, method);
    if (w && w->planned && !s->given_anew) return SADDLE_OK;
    sd_forget_factors(s); /* the values are no longer theirs */
    forget_given_plans(s);
    saddle_status status = sd_inspect_values(s, A, false);
    if (!status) status = sd_work_plan(s, method);
    return status ? status : sd_work_check_memory(s, method);
}

/* Memory for the solves to come, as much as one has needed so far, within reason. There is no need for it. */
static void make_spare(saddle_solver *s)
{
    enum { VECTORS_MOST = 32 };
    const int64_t most = VECTORS_MOST * (int64_t)s->A.n * (int64_t)sizeof(double) + SD_NEST_BYTES;
    int64_t bytes = atomic_load(&s->experience->solve_bytes);
    if (bytes > most) bytes = most;
    if (bytes <= SD_NEST_BYTES || bytes <= s->experience->spare_bytes || s->options.max_memory > 0 ||
        !sd_context_can_nest(&s->c))
        return;
    free_spare(s);
    void *spare = sd_alloc(&s->c, bytes, 1, "solves");
    if (spare) s->experience->spare_bytes = bytes;
    atomic_store(&s->experience->spare, spare);
}

saddle_status saddle_analyse(saddle_solver *solver, const saddle_matrix *A)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    saddle_matrix view;
    void *brought = NULL;
    sd_adopt_options(solver);
    begin_call(solver);
    saddle_status status = sd_view_take(&solver->c, A, &view);
    if (!status) status = sd_bring_values(solver, &view, &brought);
    if (status)
        forget_analysis(solver);
    else
        status = analyse(solver, &view);
    sd_free(&solver->c, brought);
    return conclude(solver, status);
}

/* Factors values that may be on a device, of a view that may have no pattern: then it is the analysed one. */
static saddle_status factor_view(saddle_solver *s, saddle_matrix *A)
{
    const double start = sd_seconds();
    bool done = false;
    void *brought = NULL;
    saddle_status status = SADDLE_OK;
    if (sd_home_accepts(s, A)) {
        status = sd_home_factor(s, A, &done);
        return status ? status : done ? accept_factors(s, start) : factor_from(s, start);
    }
    status = sd_bring_values(s, A, &brought);
    if (!status && sd_view_has_pattern(A)) status = sd_check_pattern(s, A);
    if (!status) status = sd_factor_checked(s, A);
    sd_free(&s->c, brought);
    return status;
}

/* The end of saddle_factor and saddle_factor_values. */
static saddle_status end_factor(saddle_solver *s, saddle_status status)
{
    if (!status) make_spare(s);
    if (status) {
        sd_forget_factors(s);
        sd_forget_operators(s);
    }
    return conclude(s, status);
}

saddle_status saddle_factor(saddle_solver *solver, const saddle_matrix *A)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    saddle_matrix view;
    sd_adopt_options(solver);
    begin_call(solver);
    saddle_status status = sd_view_take(&solver->c, A, &view);
    if (!status) status = sd_view_check_fields(&solver->c, &view);
    if (!status) status = factor_view(solver, &view);
    return end_factor(solver, status);
}

saddle_status saddle_factor_values(saddle_solver *solver, saddle_type type, const void *values)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    sd_adopt_options(solver);
    begin_call(solver);
    if (!solver->analysed)
        return end_factor(solver,
                          sd_fail(&solver->c, SADDLE_WRONG_ORDER,
                                  "saddle_factor_values: there is no pattern yet: call saddle_analyse "
                                  "or saddle_factor first"));
    if (type != SADDLE_DOUBLE && type != SADDLE_FLOAT)
        return end_factor(solver, sd_fail(&solver->c, SADDLE_BAD_ARGUMENT,
                                          "saddle_factor_values: the type %d is unknown", (int)type));
    saddle_matrix view = {.size = sizeof view,
                          .rows = solver->A.n,
                          .columns = solver->A.n,
                          .entries = solver->entries,
                          .layout = SADDLE_ROWS,
                          .shape = solver->shape,
                          .type = type,
                          .base = solver->base,
                          .values = values};
    return end_factor(solver, factor_view(solver, &view));
}

saddle_status saddle_set_stream(saddle_solver *solver, void *stream)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    const sd_resident *on = solver->e.backend->resident;
    if (!on && stream)
        return conclude(solver, sd_fail(&solver->c, SADDLE_NOT_SUPPORTED,
                                        "saddle_set_stream: there is no GPU: create the solver with device "
                                        "cuda"));
    solver->e.status = SADDLE_OK;
    return conclude(solver, on ? on->use_stream(&solver->e, stream) : SADDLE_OK);
}

/* The inertia is certified when it is asked for, unless a solve has done so before. */
static saddle_status certify(const saddle_solver *s, saddle_info *info)
{
    const sd_method *method = s->factored ? s->ladder.rung[0].method : NULL;
    if (!method || !method->certify || s->options.certify == SADDLE_OFF) return SADDLE_OK;
    sd_context c;
    sd_engine e = {0};
    const sd_problem p = sd_problem_of(s);
    sd_solver_context(s, &c);
    saddle_status status = sd_engine_open(&c, &s->opened, &e, s->threads);
    if (!status) status = method->certify(&e, &p, sd_find_work(s, method)->factors, NULL, info);
    sd_engine_close(&e);
    return status;
}

saddle_status saddle_query(const saddle_solver *solver, saddle_info *info)
{
    if (!solver || !info || info->size < sizeof info->size) return SADDLE_BAD_ARGUMENT;
    saddle_info own = solver->info;
    const saddle_status status = certify(solver, &own);
    sd_info_give(&own, info);
    return status;
}

const char *saddle_message(const saddle_solver *solver)
{
    return solver ? solver->info.message : "the solver is NULL";
}
