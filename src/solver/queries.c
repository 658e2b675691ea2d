/* The public queries of the direct solver's factors; what they do is in method/direct. */
#include "method/direct/queries.h"
#include "matrix/inspect.h"
#include "solver/solver.h"

#include <math.h>

/* *found = the direct solver's factors of A's values; SADDLE_WRONG_ORDER where there are none. The context is
 * that of a call that only reads the solver. */
static saddle_status find_direct(sd_context *c, const saddle_solver *s, const char *call, sd_direct **found)
{
    sd_solver_context(s, c);
    *found = NULL;
    if (!s) return sd_fail(c, SADDLE_BAD_ARGUMENT, "%s: the solver is NULL", call);
    const sd_work *work = sd_find_work(s, &sd_method_direct);
    if (!s->factored || !work || !work->ready)
        return sd_fail(c, SADDLE_WRONG_ORDER,
                       "%s: there are no factors: use method direct and call saddle_factor first", call);
    *found = work->factors;
    return SADDLE_OK;
}

/* The same of A itself. */
static saddle_status find_symmetric(sd_context *c, const saddle_solver *s, const char *call,
                                    sd_direct **found)
{
    const saddle_status status = find_direct(c, s, call, found);
    if (status || !(*found)->plan->general) return status;
    return sd_fail(c, SADDLE_WRONG_ORDER,
                   "%s: the matrix is not symmetric: it was factored through a symmetric matrix of twice its "
                   "size",
                   call);
}

saddle_status saddle_solve_part(const saddle_solver *solver, saddle_part part, int64_t nrhs, double *x,
                                int64_t ldx, char *message)
{
    sd_context c;
    sd_direct *d;
    saddle_status status = find_symmetric(&c, solver, "saddle_solve_part", &d);
    if (!status) status = sd_direct_part(&c, d, part, nrhs, x, ldx, sd_team(solver->threads));
    return sd_tell(&c, status, message);
}

saddle_status saddle_get_order(const saddle_solver *solver, int32_t *order)
{
    sd_context c;
    sd_direct *d;
    const sd_work *work = solver ? sd_find_work(solver, &sd_method_direct) : NULL;
    const bool planned = work && work->planned && !solver->factored && !solver->info.status;
    const sd_direct_plan *plan = planned ? work->plan : NULL;
    if (!plan || plan->general) {
        const saddle_status status = find_symmetric(&c, solver, "saddle_get_order", &d);
        if (status) return status;
        plan = d->plan;
    }
    if (!order) return SADDLE_BAD_ARGUMENT;
    sd_direct_get_order(plan, order);
    return SADDLE_OK;
}

saddle_status saddle_get_pivots(const saddle_solver *solver, int32_t *order, double *d)
{
    sd_context c;
    sd_direct *direct;
    saddle_status status = find_symmetric(&c, solver, "saddle_get_pivots", &direct);
    if (!status) status = sd_direct_get_pivots(&c, direct, order, d);
    return status;
}

saddle_status saddle_get_l(const saddle_solver *solver, int64_t *pointers, int32_t *indices, double *values)
{
    sd_context c;
    sd_direct *d;
    const saddle_status status = find_symmetric(&c, solver, "saddle_get_l", &d);
    if (status) return status;
    if (!pointers) return SADDLE_BAD_ARGUMENT;
    return sd_direct_get_l(&c, d, pointers, indices, values);
}

saddle_status saddle_get_scaling(const saddle_solver *solver, double *scale)
{
    sd_context c;
    sd_direct *d;
    const saddle_status status = find_symmetric(&c, solver, "saddle_get_scaling", &d);
    if (status) return status;
    if (!scale) return SADDLE_BAD_ARGUMENT;
    sd_direct_get_scaling(d, scale);
    return SADDLE_OK;
}

saddle_status saddle_set_d(saddle_solver *solver, const double *d)
{
    sd_context c;
    sd_direct *direct;
    saddle_status status = find_symmetric(&c, solver, "saddle_set_d", &direct);
    if (!status && !d) status = sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_set_d: d is NULL");
    if (!status) status = sd_direct_set_d(&c, direct, d);
    if (solver) sd_tell(&c, status, solver->info.message);
    if (status) return status;
    saddle_info *info = &solver->info;
    info->inertia_positive = info->inertia_negative = info->inertia_zero = info->rank = -1;
    info->regularised_positive = info->regularised_negative = -1;
    info->inertia_certain = 0;
    info->negative_least = info->negative_most = -1;
    info->inertia_doubt = SADDLE_DOUBT_NOT_EXAMINED;
    info->inertia_risk = NAN;
    return SADDLE_OK;
}

saddle_status saddle_condition(const saddle_solver *solver, double *condition, char *message)
{
    sd_context c;
    sd_direct *d;
    saddle_status status = find_direct(&c, solver, "saddle_condition", &d);
    if (!status && !condition)
        status = sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_condition: condition is NULL");
    if (!status && d->changed)
        status = sd_fail(&c, SADDLE_WRONG_ORDER,
                         "saddle_condition: D was changed, so the factors are no longer those of A: call "
                         "saddle_factor again");
    double norm = status ? NAN : solver->facts.norm_one;
    if (!status && isnan(norm)) status = sd_csr_norm(&c, &solver->A, &norm);
    if (!status) status = sd_direct_condition(&c, d, norm, sd_team(solver->threads), condition);
    return sd_tell(&c, status, message);
}
