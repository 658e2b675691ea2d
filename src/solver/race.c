/*
 * What `auto` does where nothing is planned yet: iterations race the direct solver. It is guessed what that
 * would cost once they have shown that they take more than a few; and where they are given up it is planned
 * by the call, which goes on as a solver does that plans before it factors.
 */
#include "prepare/prepare.h"
#include "solver/column.h"

#include <math.h>

/* Guesses what the direct solver costs, where that can be done, and sets the race by it. */
static void look(sd_race *race)
{
    sd_call *call = race->self;
    sd_context *c = call->e->context;
    const sd_policy *policy = &call->solver->policy;
    sd_outlook o = sd_outlook_of(call->solver);
    if (!sd_policy_guesses(policy, &o) || !o.positive) return;
    if (!call->guessed) {
        const double start = sd_seconds();
        const saddle_status status = sd_guess_flops(c, call->problem.A, &call->guess);
        call->times[SD_TIME_PLAN] += sd_seconds() - start;
        if (status && status != SADDLE_MEMORY_LIMIT) call->e->status = status;
        if (status) return;
        call->guessed = true;
        sd_log(c, SADDLE_LOG_INFO, "the direct solver is guessed to take %.1e operations", call->guess);
    }
    o.guess = isfinite(call->guess) ? call->guess : 0;
    sd_policy_race(policy, &o, &race->first, &race->most);
}

void sd_call_race(sd_call *call, int64_t maxiter, sd_race *race)
{
    const double PESSIMISM = 2; /* of predictions, at most, where the rate grows */
    const sd_outlook o = sd_outlook_of(call->solver);
    *race = (sd_race){.look = look, .self = call, .limit = PESSIMISM * (double)maxiter};
    sd_policy_race(&call->solver->policy, &o, &race->first, &race->most);
}

static void forget_plan(sd_call *call)
{
    if (call->direct) sd_method_direct.free_plan(call->e->context, call->direct);
    call->direct = NULL;
}

/* The direct solver's plan, the call's own. Where there is no room for one, or no way, none is made. */
static saddle_status plan_direct(sd_call *call, saddle_info *info, sd_outlook *o)
{
    sd_context *c = call->e->context;
    saddle_info planned = *info;
    planned.time_prepare = planned.time_plan = 0;
    saddle_status status = sd_method_direct.plan(c, &call->problem, &call->direct, &planned);
    call->times[SD_TIME_PREPARE] += planned.time_prepare;
    call->times[SD_TIME_PLAN] += planned.time_plan;
    if (status) {
        forget_plan(call);
        return status == SADDLE_MEMORY_LIMIT || status == SADDLE_NOT_SUPPORTED ? SADDLE_OK : status;
    }
    const sd_cost cost = sd_method_direct.cost(call->direct);
    info->planned_flops = planned.planned_flops;
    info->critical_flops = planned.critical_flops;
    info->planned_nnz = planned.planned_nnz;
    info->planned_bytes = planned.planned_bytes;
    o->planned = true;
    o->flops = cost.flops;
    o->fits = sd_cost_fits(c, sd_method_direct.name, cost) == SADDLE_OK;
    return SADDLE_OK;
}

/* What is known now that the race is over. */
static saddle_status look_further(sd_call *call, const sd_method *too_large, saddle_info *info, sd_outlook *o)
{
    *o = sd_outlook_of(call->solver);
    o->lost = true;
    o->guess = call->guessed && isfinite(call->guess) ? call->guess : 0;
    o->scarce = too_large && !too_large->solve;
    if (!too_large) return sd_policy_plans(&call->solver->policy, o) ? plan_direct(call, info, o) : SADDLE_OK;
    o->planned = true; /* and does not fit */
    if (o->scarce) forget_plan(call);
    return SADDLE_OK;
}

saddle_status sd_call_decide(sd_call *call, const sd_method *too_large, saddle_info *info)
{
    const saddle_solver *s = call->solver;
    sd_outlook o;
    sd_ladder *l = &call->ladder;
    atomic_store(&s->experience->lost, true);
    const saddle_status status = look_further(call, too_large, info, &o);
    if (status) return status;
    const sd_ladder rest = sd_policy_ladder(&s->policy, &o);
    l->rungs = 1;
    for (int k = 0; k < rest.rungs; ++k) l->rung[l->rungs++] = rest.rung[k];
    l->first = rest.first;
    l->iterations = rest.iterations;
    l->most_flops = rest.most_flops;
    return SADDLE_OK;
}
