/*
 * New options for a solver that exists.
 *
 * What only a solve reads is taken over at once. All else waits for the next factorization, since the factors
 * that there are were made by the options before, and a solve that has to make stronger ones goes by these
 * too.
 */
#include "core/options.h"
#include "solver/work.h"

/* Read by solves alone; memory and threads are of every call. */
static const char at_once[] = "|krylov|restart|maxiter|tol|stop|verify|certify|threads|max_memory|";
/* Read by every factorization, and by no plan that could not serve on. */
static const char on_the_plan[] =
    "|krylov|restart|maxiter|tol|stop|verify|certify|threads|max_memory|threshold|regularise|factorization|"
    "small_pivot|check|replan|profile|absolute|";

static saddle_status check(sd_context *c, const saddle_options *old, const saddle_options *taken)
{
    if (old->device == taken->device && old->device_index == taken->device_index) return SADDLE_OK;
    return sd_fail(c, SADDLE_BAD_OPTION,
                   "saddle_set_options: the device of a solver cannot change: create another one");
}

saddle_status saddle_set_options(saddle_solver *solver, const saddle_options *options)
{
    if (!solver) return SADDLE_BAD_ARGUMENT;
    saddle_options taken;
    sd_context *c = &solver->c;
    saddle_status status = sd_options_take(c, options, &taken);
    if (!status) status = check(c, &solver->options, &taken);
    if (status) return sd_tell(c, status, solver->info.message);
    sd_options_copy(&taken, at_once, &solver->options);
    solver->wanted = taken;
    solver->wants_others = solver->many_outdated = true;
    solver->threads = sd_thread_count(taken.threads);
    solver->info.threads = solver->threads;
    c->limit = taken.max_memory;
    sd_report_unused(c, &taken);
    return SADDLE_OK;
}

void sd_adopt_options(saddle_solver *s)
{
    if (!s->wants_others) return;
    const bool planned = !sd_options_differ(&s->options, &s->wanted, on_the_plan);
    s->wants_others = false;
    s->options = s->wanted;
    s->info.precision = s->options.precision;
    if (planned) return;
    sd_forget_factors(s);
    s->experience->rung = 0;
    s->experience->lost = false;
    for (int k = 0; k < SD_RUNGS_MOST; ++k) sd_work_forget(s, &s->work[k]);
}
