/* Methods at work for a solver: their plans and factors, and the matrix as they multiply with it. */
#include "solver/work.h"

#include "prepare/prepare.h"
#include "solver/device.h"
#include "solver/home.h"

#include <math.h>

void sd_work_free_factors(saddle_solver *s, sd_work *w)
{
    if (w->factors) w->method->free_factors(&s->e, w->factors);
    w->factors = NULL;
}

/* A method is no longer at work. */
void sd_work_forget(saddle_solver *s, sd_work *w)
{
    if (!w->method) return;
    sd_work_free_factors(s, w);
    if (w->method == &sd_method_direct) sd_many_forget(s);
    if (w->plan) w->method->free_plan(&s->c, w->plan);
    *w = (sd_work){0};
}

void sd_forget_operators(saddle_solver *s)
{
    sd_home_free(s);
    for (int p = 0; p < SD_PRECISIONS && s->e.backend; ++p) sd_operator_free(&s->e, &s->op[p]);
}

/* The method's place, a free one where it is not at work yet. */
sd_work *sd_work_place(saddle_solver *s, const sd_method *method)
{
    sd_work *free = NULL;
    for (int k = 0; k < SD_RUNGS_MOST; ++k) {
        if (s->work[k].method == method) return &s->work[k];
        if (!s->work[k].method && !free) free = &s->work[k];
    }
    *free = (sd_work){.method = method};
    return free;
}

/* Whether there is a positive definite form of what the method makes of A. */
static saddle_status check_absolute(saddle_solver *s, const sd_method *method)
{
    if (s->options.absolute == SADDLE_OFF) return SADDLE_OK;
    if (!s->facts.symmetric)
        return sd_fail(&s->c, SADDLE_BAD_OPTION,
                       "absolute requires a symmetric matrix: turn it off, and use krylov gmres or bicgstab");
    if (s->options.method == SADDLE_METHOD_AUTO)
        return sd_fail(&s->c, SADDLE_BAD_OPTION,
                       "absolute needs a named method: direct, ldlt, jacobi, bjacobi or diagonal");
    if (s->options.krylov == SADDLE_KRYLOV_REFINE)
        return sd_fail(
            &s->c, SADDLE_BAD_OPTION,
            "krylov refine needs factors of the matrix, not their absolute values: use krylov auto, "
            "minres or cg, or turn absolute off");
    if (method->absolute) return SADDLE_OK;
    return sd_fail(&s->c, SADDLE_BAD_OPTION,
                   "absolute does not apply to %s: turn it off, or use method direct, ldlt, jacobi, bjacobi "
                   "or diagonal",
                   method->name);
}

/* Whether the method can do anything for A on this device, before it is planned or factored. */
static saddle_status check_method(saddle_solver *s, const sd_method *method)
{
    const int krylov = s->options.krylov;
    const bool wants_positive =
        krylov == SADDLE_KRYLOV_CG || krylov == SADDLE_KRYLOV_FCG || krylov == SADDLE_KRYLOV_MINRES;
    if (s->device == SADDLE_DEVICE_CUDA && !method->on_device)
        return sd_fail(&s->c, SADDLE_NOT_SUPPORTED, "%s runs only on the CPU: use device cpu", method->name);
    if (method->needs_symmetry && !s->facts.symmetric)
        return sd_fail(&s->c, SADDLE_NOT_SUPPORTED,
                       "%s requires a symmetric matrix: use ilu, bjacobi or direct", method->name);
    const saddle_status status = check_absolute(s, method);
    if (status) return status;
    if (method->signed_as_A && s->options.absolute == SADDLE_OFF && wants_positive &&
        s->facts.kind == SADDLE_KIND_INDEFINITE)
        return sd_fail(&s->c, SADDLE_BAD_OPTION,
                       "krylov %s requires a positive definite preconditioner, but the matrix is indefinite "
                       "and so is %s: use krylov sqmr or fgmres, absolute on, or method none",
                       krylov == SADDLE_KRYLOV_CG    ? "cg"
                       : krylov == SADDLE_KRYLOV_FCG ? "fcg"
                                                     : "minres",
                       method->name);
    return SADDLE_OK;
}

/* Plans a method from the values of A, where it is not planned. */
saddle_status sd_work_plan(saddle_solver *s, const sd_method *method)
{
    const sd_problem p = sd_problem_of(s);
    saddle_status status = check_method(s, method);
    if (status) return status;
    sd_work *w = sd_work_place(s, method);
    if (w->planned) return SADDLE_OK;
    status = method->plan ? method->plan(&s->c, &p, &w->plan, &s->info) : SADDLE_OK;
    w->planned = !status;
    if (status) sd_work_forget(s, w);
    return status;
}

/* Whether the memory allows what a method was planned for, and a look at new values in addition. */
saddle_status sd_work_check_memory(saddle_solver *s, const sd_method *method)
{
    const sd_work *w = sd_find_work(s, method);
    if (!method->cost || !w || !w->planned) return SADDLE_OK;
    sd_cost cost = method->cost(w->plan);
    if (cost.bytes > 0 && !s->glance.room) cost.bytes += sd_inspect_bytes(&s->A);
    return sd_cost_fits(&s->c, method->name, cost);
}

/* Makes the plan anew where the method finds that it pays. */
static saddle_status renew_plan(saddle_solver *s, const sd_method *method)
{
    const sd_problem p = sd_problem_of(s);
    sd_work *w = sd_work_place(s, method);
    if (!w->planned || !method->replan || !method->replan(&s->c, &p, w->plan, w->factors, &w->past))
        return SADDLE_OK;
    sd_work_free_factors(s, w);
    if (method == &sd_method_direct) sd_many_forget(s);
    method->free_plan(&s->c, w->plan);
    w->plan = NULL;
    w->planned = false;
    s->info.replans = ++w->past.replans;
    const saddle_status status = sd_work_plan(s, method);
    return status ? status : sd_work_check_memory(s, method);
}

/* Whether one solve is expected, and nothing was said that only the direct solver can do. */
bool sd_solves_once(const saddle_options *o)
{
    return o->factorizations == 1 && o->precision == SADDLE_PRECISION_DOUBLE &&
           o->factorization == SADDLE_FACTORIZATION_AUTO && o->order == SADDLE_ORDER_AUTO &&
           o->scaling == SADDLE_SCALING_AUTO && o->pairs == SADDLE_AUTO;
}

sd_outlook sd_outlook_of(const saddle_solver *s)
{
    return (sd_outlook){.symmetric = s->facts.symmetric,
                        .definite = s->facts.kind == SADDLE_KIND_SPD,
                        .positive = s->facts.negative_diagonal == 0,
                        .dominant = 4 * s->facts.dominant_rows > 3 * (int64_t)s->A.n,
                        .once = sd_solves_once(&s->options),
                        .lost = atomic_load(&s->experience->lost),
                        .n = s->A.n,
                        .nnz = s->facts.nnz,
                        .krylov_named = s->options.krylov != SADDLE_KRYLOV_AUTO,
                        .guess = s->guessed && isfinite(s->guess) ? s->guess : 0,
                        .learned = atomic_load(&s->experience->rung)};
}

/* The same with the plan that there may be. */
static sd_outlook outlook_of(saddle_solver *s)
{
    const sd_work *direct = sd_find_work(s, &sd_method_direct);
    sd_outlook o = sd_outlook_of(s);
    o.planned = direct && direct->planned;
    if (!o.planned) return o;
    o.flops = direct->method->cost(direct->plan).flops;
    o.fits = sd_work_check_memory(s, direct->method) == SADDLE_OK;
    return o;
}

/* What the direct solver may cost, where that may spare the plan of it. */
static saddle_status guess(saddle_solver *s)
{
    const sd_outlook o = outlook_of(s);
    if (s->guessed || !sd_policy_guesses(&s->policy, &o) || sd_policy_races(&s->policy, &o)) return SADDLE_OK;
    const double start = sd_seconds();
    const saddle_status status = sd_guess_flops(&s->c, &s->A, &s->guess);
    s->guessed = !status;
    sd_log(&s->c, SADDLE_LOG_INFO, "the direct solver is guessed to take %.1e operations", s->guess);
    s->info.time_plan += sd_seconds() - start;
    return status == SADDLE_MEMORY_LIMIT ? SADDLE_OK : status;
}

/* What is planned before the ladder is known: a named method, or the direct solver where `auto` needs to
 * compare with it. */
saddle_status sd_work_plan_ahead(saddle_solver *s)
{
    const sd_method *named = sd_method_of(s->options.method);
    if (named) {
        const saddle_status status = sd_work_plan(s, named);
        return status ? status : sd_work_check_memory(s, named);
    }
    saddle_status status = guess(s);
    if (status) return status;
    const sd_outlook o = outlook_of(s);
    if (!sd_policy_plans(&s->policy, &o)) return SADDLE_OK;
    status = sd_work_plan(s, &sd_method_direct);
    const bool without = status == SADDLE_NOT_SUPPORTED || status == SADDLE_MEMORY_LIMIT;
    return without ? SADDLE_OK : status;
}

/* Factors of methods that are no longer on the ladder's first rung only take memory. */
static void free_others(saddle_solver *s, const sd_method *method)
{
    for (int k = 0; k < SD_RUNGS_MOST; ++k)
        if (s->work[k].method && s->work[k].method != method) sd_work_free_factors(s, &s->work[k]);
}

/* The factors of a rung; *given_up where they would be too expensive. */
static saddle_status factor_rung(saddle_solver *s, const sd_rung *rung, bool *given_up)
{
    const sd_method *method = rung->method;
    const sd_problem p = sd_problem_of(s);
    const sd_strength strength = {
        .tau = rung->tau, .most_flops = s->ladder.most_flops, .precision = sd_iteration_precision(&p)};
    saddle_status status = renew_plan(s, method);
    if (!status) status = sd_work_plan(s, method);
    if (status) return status;
    sd_work *w = sd_work_place(s, method);
    free_others(s, method);
    *given_up = false;
    status = w->factors ? method->refactor(&s->e, &p, w->plan, &strength, &w->factors, given_up)
                        : method->factor(&s->e, &p, w->plan, &strength, &w->factors, given_up);
    w->ready = !status && !*given_up;
    if (w->ready) sd_report(method, w->factors, &s->info);
    return status;
}

/* The first rung; the last one, the direct solver, where that is given up as too expensive. */
static saddle_status factor_first(saddle_solver *s)
{
    bool given_up;
    saddle_status status = factor_rung(s, &s->ladder.rung[0], &given_up);
    if (status || !given_up) return status;
    sd_log(&s->c, SADDLE_LOG_INFO, "ldlt would cost a large part of what the direct solver costs: gave up");
    s->ladder.rung[0] = s->ladder.rung[s->ladder.rungs - 1];
    s->ladder.rungs = 1;
    return factor_rung(s, &s->ladder.rung[0], &given_up);
}

/* Decides what is tried, and factors for the first of it. Where `auto` finds that it does not fit after all,
 * because of delayed pivots, say, it goes on to what needs less; plans stay, for the next values, as long as
 * there is room for them. */
static saddle_status factor_what_fits(saddle_solver *s)
{
    const sd_method *named = sd_method_of(s->options.method);
    sd_outlook outlook = outlook_of(s);
    saddle_status status;
    for (;;) {
        s->ladder = named ? sd_ladder_of(named) : sd_policy_ladder(&s->policy, &outlook);
        status = factor_first(s);
        if (status != SADDLE_MEMORY_LIMIT || named || s->ladder.rung[0].method->light ||
            sd_device_has_moved(s))
            return status;
        sd_log(&s->c, SADDLE_LOG_INFO, "%s; trying what needs less", s->c.message);
        outlook.scarce = !s->ladder.rung[0].method->solve;
        outlook.fits = false;
        s->e.status = SADDLE_OK;
        for (int k = 0; k < SD_RUNGS_MOST; ++k) {
            if (outlook.scarce)
                sd_work_forget(s, &s->work[k]);
            else if (s->work[k].method)
                sd_work_free_factors(s, &s->work[k]);
        }
    }
}

/* The matrix as iterations and measurements multiply with it. An operator that uses A's own arrays
 * stays. */
saddle_status sd_make_operators(saddle_solver *s)
{
    saddle_status status = SADDLE_OK;
    for (int p = 0; p < SD_PRECISIONS && !status; ++p) {
        if (p != SD_DOUBLE && s->options.precision == SADDLE_PRECISION_DOUBLE) continue;
        if (sd_operator_refresh(&s->op[p], &s->A, &s->facts)) continue;
        if (p == SD_DOUBLE && sd_home_refresh(s)) continue;
        sd_operator_free(&s->e, &s->op[p]);
        status = sd_operator_make(&s->e, &s->A, p, SD_SUMS_BY_SLICES, &s->op[p]);
        /* the norm has the same bits whether the operator is new or not */
        if (!status) sd_operator_refresh(&s->op[p], &s->A, &s->facts);
    }
    return status ? status : sd_home_make(s);
}

bool sd_work_is_direct(saddle_solver *s)
{
    const sd_method *named = sd_method_of(s->options.method);
    const sd_outlook outlook = outlook_of(s);
    const sd_ladder ladder = named ? sd_ladder_of(named) : sd_policy_ladder(&s->policy, &outlook);
    return ladder.rungs == 1 && ladder.rung[0].method == &sd_method_direct;
}

/* On the device that the solver is on. */
static saddle_status factor_there(saddle_solver *s)
{
    saddle_status status = sd_make_operators(s);
    if (!status) status = factor_what_fits(s);
    return status ? status : sd_engine_finish(&s->e); /* every solve has an engine of its own */
}

/* Plans, decides and factors, now that the values are known. */
saddle_status sd_work_run(saddle_solver *s)
{
    saddle_status status = sd_work_plan_ahead(s);
    if (status) return status;
    sd_device_choose(s);
    status = factor_there(s);
    if (status && sd_device_give_up(s, status)) status = factor_there(s);
    if (!status && s->ladder.rung[0].method == &sd_method_direct) ++s->runs;
    return status;
}
