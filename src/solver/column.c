/* One right-hand side up the ladder: see column.h. */
#include "solver/column.h"

#include "solve/measure.h"
#include "solver/iterate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A right-hand side at work. */
typedef struct solving {
    sd_call *call;
    sd_engine *e;
    const saddle_options *o;
    int32_t n;
    const double *b;
    double *x, *trial;    /* the best so far; room for an attempt */
    saddle_errors errors; /* of x */
    saddle_info *info;
    const double *ready; /* what the first rung found already, or NULL */
    const sd_answer *answer;
    int64_t spent; /* iterations of all attempts, those included that came to nothing */
    bool anew;     /* the solver's factors did not suffice: in single, of a stale plan, not certain */
    const sd_strength *better; /* how they are made anew; NULL: as they were */
} solving;

/* ---- factors ---- */

static void free_own(sd_call *call, sd_own *own)
{
    if (own->factors) own->method->free_factors(call->e, own->factors);
    if (own->plan) own->method->free_plan(call->e->context, own->plan);
    *own = (sd_own){0};
}

void sd_call_end(sd_call *call)
{
    for (int k = 0; k <= SD_RUNGS_MOST; ++k) free_own(call, &call->own[k]);
    if (call->direct) sd_method_direct.free_plan(call->e->context, call->direct);
    sd_free(call->e->context, call->rider.column);
}

saddle_status sd_call_board(sd_call *call, const sd_method *method, const void *factors)
{
    if (!method->board || !sd_solves_alone(&call->problem, method) || call->columns != 1 || call->boarded ||
        call->problem.options->certify == SADDLE_OFF)
        return SADDLE_OK;
    double *c = call->rider.column =
        sd_alloc(call->e->context, 2 * (int64_t)call->problem.A->n, sizeof *c, "vectors of the solve");
    if (!c) return call->e->context->status;
    method->board(&call->problem, factors, &call->rider);
    call->boarded = factors;
    return SADDLE_OK;
}

saddle_status sd_call_certify(sd_call *call, saddle_info *info)
{
    if (!call->method || !call->method->certify || !call->factors) return SADDLE_OK;
    const bool riding = call->rider.rides > 0 && call->factors == call->boarded;
    return call->method->certify(call->e, &call->problem, call->factors, riding ? &call->rider : NULL, info);
}

/* A plan for the method: the solver's, unless that is stale or was not made. */
static saddle_status find_plan(sd_call *call, const sd_method *method, bool anew, sd_own *own,
                               saddle_info *info, const void **plan)
{
    sd_context *c = call->e->context;
    const sd_work *work = sd_find_work(call->solver, method);
    *plan = work && work->planned && !anew ? work->plan : NULL;
    if (!*plan && !anew && method == &sd_method_direct) *plan = call->direct;
    if (*plan || !method->plan) return SADDLE_OK;
    saddle_info planned = *info;
    planned.time_prepare = planned.time_plan = 0;
    saddle_status status = method->plan(c, &call->problem, &own->plan, &planned);
    call->times[SD_TIME_PREPARE] += planned.time_prepare;
    call->times[SD_TIME_PLAN] += planned.time_plan;
    if (!status && method->cost) status = sd_cost_fits(c, method->name, method->cost(own->plan));
    *plan = own->plan;
    return status;
}

/* Factors for this call: a weaker one of the same method makes room. *given_up: too expensive. */
static saddle_status make_own(solving *w, int k, sd_own *own, bool *given_up)
{
    sd_call *call = w->call;
    const sd_ladder *ladder = &call->ladder;
    const sd_method *method = ladder->rung[k].method;
    sd_strength strength = w->better ? *w->better : (sd_strength){0};
    strength.tau = ladder->rung[k].tau;
    strength.most_flops = ladder->most_flops;
    const void *plan = NULL;
    for (int j = 0; j <= SD_RUNGS_MOST; ++j)
        if (call->own[j].method == method) free_own(call, &call->own[j]);
    *own = (sd_own){.method = method, .rung = k};
    const bool stale = w->anew && method->standing && method->standing(call->factors).stale;
    saddle_status status = find_plan(call, method, stale, own, w->info, &plan);
    const double start = sd_seconds();
    if (!status) status = method->factor(w->e, &call->problem, plan, &strength, &own->factors, given_up);
    call->times[SD_TIME_FACTOR] += sd_seconds() - start;
    if (status || *given_up) free_own(call, own);
    return status;
}

/* The factors of rung k: the solver's, or those that this call makes for itself. *given_up where they would
 * be too expensive. */
static saddle_status find_factors(solving *w, int k, bool *given_up)
{
    const sd_method *method = w->call->ladder.rung[k].method;
    sd_own *own = &w->call->own[w->anew ? SD_RUNGS_MOST : k];
    *given_up = false;
    w->call->method = method;
    if (k == 0 && !w->anew) {
        w->call->factors = sd_find_work(w->call->solver, method)->factors;
        return SADDLE_OK;
    }
    if (own->method != method) {
        const saddle_status status = make_own(w, k, own, given_up);
        if (status || *given_up) w->call->factors = NULL;
        if (status || *given_up) return status;
    }
    w->call->factors = own->factors;
    sd_report(method, w->call->factors, w->info);
    return w->anew ? SADDLE_OK : sd_call_board(w->call, method, own->factors);
}

int sd_krylov_of(const sd_call *call, const sd_method *method, const void *factors)
{
    const int asked = call->problem.options->krylov;
    if (asked != SADDLE_KRYLOV_AUTO) return asked;
    return method->krylov(&call->solver->c, &call->problem, factors);
}

/* ---- verdicts ---- */

/* Which of the requested bounds the measured errors keep. */
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

static saddle_status measure(const solving *w, const double *x, saddle_errors *errors, double *share)
{
    return sd_measure(w->e, &w->call->problem.op[SD_DOUBLE], w->b, x, NULL, errors, share);
}

/* Whether there is nothing left to be gained by stronger means. */
static bool is_accurate(const saddle_errors *errors)
{
    return errors->componentwise <= SD_ACCURATE_COMPONENTWISE && errors->backward <= SD_ACCURATE_BACKWARD;
}

bool sd_is_final(const saddle_options *o, const sd_answer *answer)
{
    return !answer->cancelled && judge(o, &answer->errors, answer->share_of_b) == SADDLE_REASON_RESIDUAL &&
           is_accurate(&answer->errors);
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
    case SADDLE_REASON_NO_ITERATION:
        return w->info->krylov == SADDLE_KRYLOV_NONE
                   ? "krylov none does not iterate: choose another, or auto"
                   : "D was changed, so that there is nothing to refine with: call saddle_factor again";
    case SADDLE_REASON_MAXITER:
        return w->o->precision == SADDLE_PRECISION_SINGLE
                   ? "use precision mixed or double, raise maxiter, or choose another method or krylov"
                   : "raise maxiter, or choose another method or krylov";
    case SADDLE_REASON_PRECISION: return "use precision mixed or double, or a larger tol";
    case SADDLE_REASON_NOT_POSITIVE: return "use krylov minres or sqmr for an indefinite matrix";
    case SADDLE_REASON_PRECONDITIONER: return "use absolute on, krylov sqmr or gmres, or method none";
    case SADDLE_REASON_NOT_SYMMETRIC: return "use krylov gmres or bicgstab";
    case SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER:
        return "use block_kernel ldlt (or llt) with bjacobi, a fixed number of trisolve_sweeps, or krylov "
               "fcg (positive definite) or fgmres";
    case SADDLE_REASON_CANCELLED: return "x is the best found so far";
    case SADDLE_REASON_INCONSISTENT:
        return "to the rounding of the matrix' entries no x satisfies the system; x is the best found";
    case SADDLE_REASON_SINGULAR:
        return "x is a null vector of the matrix to rounding, so that its error says nothing: check the "
               "matrix";
    case SADDLE_REASON_MEMORY: return "what would be tried next does not fit: raise max_memory";
    default: return "choose another method or krylov, or a larger tol";
    }
}

/* " after 2 iterations"; the first of the direct solver's solves is no step of its refinement. */
static const char *effort(const sd_method *method, int krylov, int64_t iterations, saddle_reason reason,
                          char text[48])
{
    const bool refines = method && method->solve && krylov == SADDLE_KRYLOV_REFINE;
    const int64_t count = refines && iterations > 0 ? iterations - 1 : iterations;
    text[0] = '\0';
    if (reason == SADDLE_REASON_NO_ITERATION) return text;
    snprintf(text, 48, refines ? " after %lld step%s of refinement" : " after %lld iteration%s",
             (long long)count, count == 1 ? "" : "s");
    return text;
}

static saddle_status finish(solving *w, saddle_reason reason)
{
    char text[48];
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
    return sd_fail(w->e->context, status_of(reason), "%s%s, relative residual %.2e: %s",
                   saddle_reason_text(reason),
                   effort(w->call->method, info->krylov, info->iterations, reason, text),
                   info->relative_residual, advice(reason, w));
}

/* ---- attempts ---- */

static sd_goal goal_of(const solving *w, const sd_method *method, int64_t maxiter)
{
    const saddle_options *o = w->o;
    /* factors that solve by themselves may be in single, nothing else is */
    return (sd_goal){.tol = o->tol,
                     .stop = o->stop,
                     .precision = method->solve ? SADDLE_PRECISION_DOUBLE : o->precision,
                     .restart = o->restart,
                     .maxiter = maxiter};
}

/* One residual a step, as an iteration has them. */
static void add_history(saddle_info *info, const sd_answer *answer)
{
    for (int64_t k = 0; k < answer->steps; ++k, ++info->history_length)
        if (info->history && info->history_length < info->history_room)
            info->history[info->history_length] = answer->history[k];
}

/* Iterations around factors for an x that is a solution already, though not to the last digits. What they can
 * gain they gain early: on systems of a condition beyond 1e18, where they gain nothing, 980 of them took 50
 * times as long as all that was before. */
enum { POLISH_MOST = 30 };

/* FGMRES with the factors as its preconditioner, where refinement alone came to a halt early. */
static saddle_status iterate_around(solving *w, int64_t maxiter, sd_attempt *attempt, saddle_errors *errors,
                                    double *share)
{
    saddle_errors reached;
    double share_reached;
    sd_attempt stronger = {
        .method = attempt->method, .factors = attempt->factors, .krylov = SADDLE_KRYLOV_FGMRES};
    const sd_goal goal = goal_of(w, attempt->method, maxiter);
    double *x = sd_alloc(w->e->context, w->n, sizeof *x, "vectors of the solve");
    if (!x) return w->e->context->status;
    saddle_status status = sd_iterate(w->e, &w->call->problem, &goal, w->b, x, &stronger, w->info);
    if (!status) status = measure(w, x, &reached, &share_reached);
    if (!status && reached.componentwise < errors->componentwise) {
        memcpy(w->trial, x, (size_t)w->n * sizeof *x);
        *errors = reached;
        *share = share_reached;
        attempt->krylov = stronger.krylov;
        attempt->iterations = stronger.iterations;
    }
    w->spent += stronger.iterations;
    if (stronger.reason == SADDLE_REASON_CANCELLED) attempt->reason = stronger.reason;
    sd_free(w->e->context, x);
    return status;
}

/* w->trial = what the factors give, refined. */
static saddle_status solve_by_factors(solving *w, sd_attempt *attempt, saddle_errors *errors, double *share)
{
    const bool corrections =
        attempt->krylov == SADDLE_KRYLOV_REFINE && !attempt->method->standing(attempt->factors).changed;
    const sd_operator *op = &w->call->problem.op[SD_DOUBLE];
    sd_answer answer;
    if (w->ready && !w->anew) {
        memcpy(w->trial, w->ready, (size_t)w->n * sizeof *w->trial);
        answer = *w->answer;
    } else {
        const saddle_status status = sd_solve_refined(
            w->e, attempt->method->solve, attempt->factors, op, 1, w->b, w->n, w->trial, corrections, &answer,
            attempt->factors == w->call->boarded ? &w->call->rider : NULL, NULL);
        if (status) return status;
    }
    *errors = answer.errors;
    *share = answer.share_of_b;
    add_history(w->info, &answer);
    attempt->iterations = attempt->krylov == SADDLE_KRYLOV_NONE ? 0 : answer.steps;
    attempt->reason = answer.cancelled ? SADDLE_REASON_CANCELLED
                      : corrections    ? SADDLE_REASON_STAGNATION
                                       : SADDLE_REASON_NO_ITERATION;
    w->spent += answer.steps;
    w->info->first_error = answer.first_error;
    return SADDLE_OK;
}

/* Whether factors made anew may do better than these, and how they are made. */
static bool is_worth_another(solving *w, const sd_standing *standing, const saddle_errors *errors,
                             double share)
{
    if (w->anew || judge(w->o, errors, share) == SADDLE_REASON_RESIDUAL) return false;
    w->better = standing->better;
    if (w->better) {
        sd_log(w->e->context, SADDLE_LOG_INFO, "the factors are not certain: factoring with more pivoting");
        return true;
    }
    if (!(standing->single || standing->stale) || judge(w->o, errors, share)) return false;
    sd_log(w->e->context, SADDLE_LOG_INFO,
           standing->single ? "factors in single precision are not accurate enough: factoring in double"
                            : "the plan was made for other values: replanning and refactoring");
    return true;
}

/* The same, and what may help where that is not enough: an iteration around the factors, and factors made
 * again where these are in single, on a stale plan, or not certain to be those of A. */
static saddle_status run_solver(solving *w, int k, int64_t maxiter, sd_attempt *attempt,
                                saddle_errors *errors, double *share)
{
    bool given_up = false;
    saddle_status status = find_factors(w, k, &given_up);
    attempt->factors = w->call->factors;
    if (!status) status = solve_by_factors(w, attempt, errors, share);
    if (status) return status;
    sd_standing standing = attempt->method->standing(attempt->factors);
    const bool stronger =
        w->o->krylov == SADDLE_KRYLOV_AUTO && !standing.changed && w->o->precision != SADDLE_PRECISION_SINGLE;
    if (!stronger || is_accurate(errors) || attempt->reason == SADDLE_REASON_CANCELLED) return SADDLE_OK;
    if (judge(w->o, errors, *share) != SADDLE_REASON_RESIDUAL) status = sd_call_certify(w->call, w->info);
    if (status) return status;
    standing = attempt->method->standing(attempt->factors);
    const int64_t most = judge(w->o, errors, *share) && maxiter > POLISH_MOST ? POLISH_MOST : maxiter;
    if (!standing.singular && !standing.better) status = iterate_around(w, most, attempt, errors, share);
    if (status || !is_worth_another(w, &standing, errors, *share)) return status;
    w->anew = true;
    attempt->krylov = SADDLE_KRYLOV_REFINE; /* again, whatever was tried around the former factors */
    return run_solver(w, k, maxiter, attempt, errors, share);
}

/* x is finite, or it becomes 0: then false. */
static bool settle_finite(double *x, int32_t n)
{
    for (int32_t i = 0; i < n; ++i) {
        if (isfinite(x[i])) continue;
        memset(x, 0, (size_t)n * sizeof *x);
        return false;
    }
    return true;
}

static void log_attempt(const solving *w, const sd_attempt *attempt, saddle_reason reason, double residual)
{
    char method[24], krylov[24], text[48];
    if (!w->e->context->hooks.log) return;
    sd_log(w->e->context, SADDLE_LOG_INFO, "%s + %s: %s%s, relative residual %.1e",
           saddle_option_word("method", attempt->method->number, method, sizeof method),
           saddle_option_word("krylov", attempt->krylov, krylov, sizeof krylov), saddle_reason_text(reason),
           effort(attempt->method, attempt->krylov, attempt->iterations, reason, text), residual);
}

/* What an attempt found is kept where it is better. */
static void keep_better(solving *w, bool first, const saddle_errors *errors)
{
    if (!first && !w->info->converged && !(errors->relative_residual < w->errors.relative_residual)) return;
    memcpy(w->x, w->trial, (size_t)w->n * sizeof *w->x);
    w->errors = *errors;
}

/* Iterations for rung k. The attempts share maxiter; a direct solver at the end keeps enough of them to
 * refine, so that it is reached whatever the others take. */
static int64_t iterations_left(const solving *w, int k)
{
    enum { KEPT = 20 };
    const sd_ladder *ladder = &w->call->ladder;
    const int64_t left = w->o->maxiter - w->spent;
    const bool open = ladder->race && k == 0; /* what follows is not known */
    const bool keeps = open || (k + 1 < ladder->rungs && ladder->rung[ladder->rungs - 1].method->solve);
    return keeps && w->o->maxiter > 2 * KEPT ? left - KEPT : left;
}

/* Where krylov auto took conjugate gradients as nothing spoke against A being positive definite, and they
 * have found that it is not: what takes any symmetric A, with as many iterations as are left. */
static saddle_status iterate_on(solving *w, sd_goal goal, sd_attempt *attempt)
{
    const bool flexible = attempt->krylov == SADDLE_KRYLOV_FCG;
    const bool guessed =
        w->o->krylov == SADDLE_KRYLOV_AUTO && !goal.race && (attempt->krylov == SADDLE_KRYLOV_CG || flexible);
    const int64_t before = attempt->iterations;
    goal.maxiter -= before;
    if (!guessed || attempt->reason != SADDLE_REASON_NOT_POSITIVE || goal.maxiter <= 0) return SADDLE_OK;
    sd_log(w->e->context, SADDLE_LOG_INFO, "the matrix is not positive definite: using %s instead of %s",
           flexible ? "fgmres" : "minres", flexible ? "fcg" : "cg");
    attempt->krylov = flexible ? SADDLE_KRYLOV_FGMRES : SADDLE_KRYLOV_MINRES;
    attempt->iterations = 0;
    const saddle_status status = sd_iterate(w->e, &w->call->problem, &goal, w->b, w->trial, attempt, w->info);
    attempt->iterations += before;
    return status;
}

/* Rung k, and its measurement. */
static saddle_status try_rung(solving *w, int k, saddle_reason *reason)
{
    const sd_ladder *ladder = &w->call->ladder;
    const int64_t left = iterations_left(w, k);
    sd_attempt attempt = {.method = ladder->rung[k].method};
    saddle_errors errors;
    double share = NAN;
    bool given_up = false;
    saddle_status status = find_factors(w, k, &given_up);
    w->info->method = attempt.method->number;
    if (status) return status;
    if (given_up) { /* as if it had not converged */
        *reason = SADDLE_REASON_NONE;
        return SADDLE_OK;
    }
    attempt.factors = w->call->factors;
    attempt.krylov = sd_krylov_of(w->call, attempt.method, w->call->factors);
    const bool by_solves = sd_solves_alone(&w->call->problem, attempt.method) &&
                           (attempt.krylov == SADDLE_KRYLOV_REFINE || attempt.krylov == SADDLE_KRYLOV_NONE);
    if (by_solves) {
        status = run_solver(w, k, left, &attempt, &errors, &share);
    } else {
        sd_race race;
        sd_goal goal = goal_of(w, attempt.method, ladder->iterations < left ? ladder->iterations : left);
        if (k == 0 && ladder->race) {
            sd_call_race(w->call, goal.maxiter, &race);
            goal.race = &race;
        }
        status = sd_iterate(w->e, &w->call->problem, &goal, w->b, w->trial, &attempt, w->info);
        if (!status) status = iterate_on(w, goal, &attempt);
        w->spent += attempt.iterations;
    }
    w->info->krylov = attempt.krylov;
    w->info->iterations = attempt.iterations;
    if (attempt.reason == SADDLE_REASON_SLOW) { /* what follows does not begin with it */
        memset(w->trial, 0, (size_t)w->n * sizeof *w->trial);
        errors = (saddle_errors){.backward = 1, .componentwise = 1, .relative_residual = 1};
    }
    if (!status && !settle_finite(w->trial, w->n) && attempt.reason == SADDLE_REASON_STAGNATION)
        attempt.reason = SADDLE_REASON_OVERFLOW;
    const bool measured = by_solves ? !isnan(errors.backward) : attempt.reason == SADDLE_REASON_SLOW;
    if (!status && !measured) status = measure(w, w->trial, &errors, &share);
    if (status) return status;
    *reason = judge(w->o, &errors, share);
    w->info->converged = *reason != SADDLE_REASON_NONE;
    keep_better(w, k == 0, &errors);
    /* what the iteration took for converged may have been so in its own precision only */
    if (!w->info->converged) *reason = attempt.converged ? SADDLE_REASON_PRECISION : attempt.reason;
    log_attempt(w, &attempt, *reason, errors.relative_residual);
    return SADDLE_OK;
}

/* ---- the ladder ---- */

/* Where `auto` had to go beyond its first rung, the next factorization begins with the one that sufficed. */
static void learn(const sd_call *call, int k)
{
    const sd_ladder *l = &call->ladder;
    sd_experience *experience = call->solver->experience;
    const int begin = l->race ? 1 : 0;
    if (k == 0 || call->solver->options.method != SADDLE_METHOD_AUTO) return;
    if (l->cheapest && l->rung[k].method->solve) atomic_store(&experience->lost, true);
    if (k == begin || l->rung[begin].method != &sd_method_ldlt) return;
    const int found = l->first + k - begin;
    int known = atomic_load(&experience->rung);
    while (known < found && !atomic_compare_exchange_weak(&experience->rung, &known, found)) {
    }
}

/* The errors of an x that was changed; 0 is taken where even that is better. */
static void settle(solving *w)
{
    measure(w, w->x, &w->errors, NULL);
    if (w->errors.relative_residual < 1) return;
    memset(w->x, 0, (size_t)w->n * sizeof *w->x);
    measure(w, w->x, &w->errors, NULL);
}

static const double MOST_OF_B = 0.5; /* relative residual */

/* Whether the system has no solution, which would be so for every method: then that is the reason. An x that
 * is a null vector of A, to rounding, is a solution only where A is certified to be regular. */
static bool is_inconsistent(solving *w, saddle_reason *reason)
{
    saddle_info *info = w->info;
    const sd_method *method = w->call->method;
    const saddle_status status = sd_call_certify(w->call, info);
    if (status && !w->e->status) w->e->status = status;
    if (w->e->status) return true;
    if (method->standing && w->call->factors && method->standing(w->call->factors).certain) return false;
    saddle_reason found = sd_find_inconsistency(w->e, &w->call->problem, method, w->call->factors, w->b, w->x,
                                                info->converged, w->spent);
    if (w->e->status) return true;
    /* an x that leaves most of b has an error that is small because x is huge */
    if (!found && info->converged && !(w->errors.relative_residual < MOST_OF_B))
        found = SADDLE_REASON_SINGULAR;
    if (found == SADDLE_REASON_INCONSISTENT) settle(w);
    if (found == SADDLE_REASON_INCONSISTENT || found == SADDLE_REASON_SINGULAR) info->converged = 0;
    if (found && !info->converged) *reason = found;
    return found != SADDLE_REASON_NONE && found != SADDLE_REASON_SINGULAR;
}

/* Whether a search or a stronger rung failed for want of memory alone. What was found before stays, with its
 * errors, and is the result. */
static bool is_out_of_limit(solving *w, saddle_status status)
{
    if (status != SADDLE_MEMORY_LIMIT) return false;
    sd_log(w->e->context, SADDLE_LOG_INFO, "%s: %s", w->call->method->name, w->e->context->message);
    w->e->status = SADDLE_OK;
    w->info->converged = 0;
    return true;
}

/* Whether a rung that was chosen after a race failed for want of memory, and there are others that need less.
 */
static bool needs_less(solving *w, int k, saddle_status status)
{
    const sd_ladder *l = &w->call->ladder;
    if (status != SADDLE_MEMORY_LIMIT || !l->race || l->rung[k].method->light) return false;
    sd_log(w->e->context, SADDLE_LOG_INFO, "%s; trying what needs less", w->e->context->message);
    w->e->status = SADDLE_OK;
    return true;
}

static void add_tried(saddle_info *info, int method, int krylov, saddle_reason why)
{
    info->tried_list[info->tried].method = method;
    info->tried_list[info->tried].krylov = krylov;
    info->tried_list[info->tried++].why_left = why;
}

/* A rung above the first that does not fit: the one below it is the last that was tried. */
static void leave_rung(saddle_info *info, saddle_method method, saddle_krylov krylov, int64_t iterations)
{
    add_tried(info, info->method, krylov, SADDLE_REASON_MEMORY);
    info->method = method;
    info->krylov = krylov;
    info->iterations = iterations;
}

static saddle_status climb(solving *w)
{
    const sd_ladder *ladder = &w->call->ladder;
    saddle_info *info = w->info;
    saddle_reason reason = SADDLE_REASON_NONE;
    /* a race that a column of this call has lost is over */
    for (int k = ladder->race && ladder->rungs > 1, next = k; k < ladder->rungs; k = next) {
        const saddle_method method = info->method;
        const saddle_krylov krylov = info->krylov;
        const int64_t iterations = info->iterations;
        const saddle_status status = try_rung(w, k, &reason);
        if (k > 0 && needs_less(w, k, status)) {
            const saddle_status other = sd_call_decide(w->call, ladder->rung[k].method, info);
            if (other) return other;
            next = 1;
            continue;
        }
        if (k > 0 && is_out_of_limit(w, status)) {
            leave_rung(info, method, krylov, iterations);
            reason = SADDLE_REASON_MEMORY;
            break;
        }
        if (status) return status;
        if (info->converged) learn(w->call, k);
        if (reason == SADDLE_REASON_RESIDUAL || reason == SADDLE_REASON_CANCELLED) break;
        const bool ended = reason != SADDLE_REASON_SLOW && is_inconsistent(w, &reason);
        if (is_out_of_limit(w, w->e->status)) {
            reason = SADDLE_REASON_MEMORY;
            break;
        }
        if (w->e->status) return w->e->status;
        if (ladder->race && k == 0 && !ended && !info->converged) {
            const saddle_status open = sd_call_decide(w->call, NULL, info);
            if (open) return open;
        }
        for (next = k + 1; next < ladder->rungs && iterations_left(w, next) <= 0;) ++next;
        if (ended || info->converged || next == ladder->rungs) break;
        add_tried(info, w->call->method->number, info->krylov, reason);
    }
    return finish(w, reason);
}

/* ---- right-hand sides that need no attempt ---- */

/* Where the first answer is all that can be requested, nothing else needs to be looked at. */
static bool is_done(const solving *w)
{
    return w->ready && (sd_is_final(w->o, w->answer) ||
                        (!w->answer->cancelled && w->o->krylov != SADDLE_KRYLOV_AUTO &&
                         judge(w->o, &w->answer->errors, w->answer->share_of_b) == SADDLE_REASON_RESIDUAL));
}

static saddle_status finish_answer(solving *w)
{
    saddle_info *info = w->info;
    w->errors = w->answer->errors;
    add_history(info, w->answer);
    info->iterations = info->krylov == SADDLE_KRYLOV_NONE ? 0 : w->answer->steps;
    info->first_error = w->answer->first_error;
    info->converged = 1;
    return finish(w, SADDLE_REASON_RESIDUAL);
}

saddle_status sd_finish_final(sd_call *call, const sd_answer *answer, saddle_info *info)
{
    const sd_method *first = call->ladder.rung[0].method;
    solving w = {.call = call,
                 .e = call->e,
                 .o = call->problem.options,
                 .info = info,
                 .answer = answer,
                 .errors = answer->errors};
    info->method = first->number;
    info->krylov = sd_krylov_of(call, first, call->factors);
    return finish_answer(&w);
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

/* Such a row, where neither the diagonal nor the factors of the first rung say that there is none. */
static saddle_status check_rows(solving *w)
{
    const sd_method *method = w->call->ladder.rung[0].method;
    const sd_work *work = sd_find_work(w->call->solver, method);
    if (w->call->problem.facts->zero_diagonal == 0) return SADDLE_OK;
    if (method->standing && method->standing(work->factors).regular) return SADDLE_OK;
    const int32_t row = impossible_row(w->call->problem.A, w->b, w->trial);
    if (row < 0) return SADDLE_OK;
    const saddle_status status = measure(w, w->x, &w->errors, NULL);
    if (status) return status;
    finish(w, SADDLE_REASON_INCONSISTENT);
    return sd_fail(
        w->e->context, SADDLE_SINGULAR,
        "row %d (counted from 1) of the matrix is zero but its right-hand side is %g: no x satisfies it",
        row + 1, w->b[row]);
}

/* b is finite; *zero where all of it is 0. */
static saddle_status check_rhs(const solving *w, bool *zero)
{
    *zero = true;
    for (int32_t i = 0; i < w->n; ++i) {
        if (!isfinite(w->b[i]))
            return sd_fail(w->e->context, SADDLE_BAD_VALUE,
                           "entry %d of the right-hand side (counted from 1) is %g", i + 1, w->b[i]);
        *zero = *zero && w->b[i] == 0;
    }
    return SADDLE_OK;
}

saddle_status sd_solve_column(sd_call *call, const double *b, double *x, const double *ready,
                              const sd_answer *answer, double *work, saddle_info *info)
{
    const sd_method *first = call->ladder.rung[0].method;
    const int32_t n = call->problem.A->n;
    solving w = {.call = call,
                 .e = call->e,
                 .o = call->problem.options,
                 .n = n,
                 .b = work,
                 .x = x,
                 .trial = work + n,
                 .info = info,
                 .ready = ready,
                 .answer = answer};
    bool zero;
    info->method = first->number;
    info->krylov = sd_krylov_of(call, first, sd_find_work(call->solver, first)->factors);
    if (is_done(&w)) {
        memcpy(x, ready, (size_t)n * sizeof *x);
        return finish_answer(&w);
    }
    memcpy(work, b, (size_t)n * sizeof *b); /* b may be x */
    memset(x, 0, (size_t)n * sizeof *x);
    saddle_status status = check_rhs(&w, &zero);
    if (status) return status;
    if (zero) {
        info->converged = 1;
        return finish(&w, SADDLE_REASON_ZERO_RHS);
    }
    status = check_rows(&w);
    return status ? status : climb(&w);
}
