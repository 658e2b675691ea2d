/*
 * Many systems on a device by the direct solver: what the device needs of a factorization that another system
 * left on the host, its scaling and its sequence of pivots, and what comes back.
 *
 * As in abreast.c only the ordinary course is done there: the scaling of the plan, the sequence, pivots that
 * keep the rule and none of which is small, errors that leave nothing to be done, a witness of the inertia
 * that comes back. A system that departs from it takes its own way, on the host.
 */
#include "method/direct/direct.h"

#include "backend/systems_run.h"
#include "solve/refinement.h"

#include <math.h>

struct sd_systems {
    const sd_systems_runner *on;
    const sd_direct *like;
    sd_pivot_rule rule;
    int32_t n;
    int64_t bytes;
    int8_t *signs; /* of static pivots, by k; NULL: of no other */
    sd_systems_run *run;
};

static bool solves(const sd_problem *p)
{
    const saddle_options *o = p->options;
    const bool plain = sd_direct_is_unmeasured(p);
    if (o->krylov != SADDLE_KRYLOV_AUTO && o->krylov != SADDLE_KRYLOV_REFINE &&
        o->krylov != SADDLE_KRYLOV_NONE)
        return false;
    if (plain) return o->certify != SADDLE_ON;
    return o->stop == SADDLE_STOP_ANY || o->stop == SADDLE_STOP_RESIDUAL;
}

/* The caller's entries that make up each entry of A, in their order. */
static saddle_status list_sources(sd_context *c, const sd_map *map, int64_t entries, int64_t nnz,
                                  int32_t **ptr, int32_t **source)
{
    if (!map) return SADDLE_OK;
    int32_t *at = *ptr = sd_alloc_zero(c, nnz + 2, sizeof *at, "map of the entries");
    *source = sd_alloc(c, entries, sizeof **source, "map of the entries");
    if (!at || !*source) return c->status;
    ++at;
    for (int64_t k = 0; k < entries; ++k) ++at[map[k] + 1];
    for (int64_t e = 0; e < nnz; ++e) at[e + 1] += at[e];
    for (int64_t k = 0; k < entries; ++k) (*source)[at[map[k]]++] = (int32_t)k;
    return SADDLE_OK;
}

/* The rounds of the sequence go to the device. */
static saddle_status put_plan(sd_engine *e, const sd_problem *p, const sd_map *map, int64_t entries,
                              sd_systems *g, bool *possible)
{
    sd_context *c = e->context;
    const sd_direct_plan *plan = g->like->plan;
    const sd_sequence *s = &g->like->factors[SD_DOUBLE].simplicial->s;
    sd_rounds rounds;
    int32_t *ptr = NULL, *source = NULL;
    double *random = NULL;
    saddle_status status = sd_rounds_make(c, s, p->A, &plan->tree, plan->matched, &rounds, possible);
    if (!status && *possible) {
        status = list_sources(c, map, entries, p->A->nnz, &ptr, &source);
        random = sd_alloc(c, g->n, sizeof *random, "systems");
        if (!random) status = c->status;
    }
    if (!status && *possible) {
        sd_direct_witness(g->n, random);
        const sd_systems_plan put = {.rounds = &rounds,
                                     .scale = plan->p.row_scale,
                                     .random = random,
                                     .largest_exponent = plan->largest_exponent,
                                     .source_ptr = ptr,
                                     .source = source};
        status = g->on->make(e, &put, &g->run);
        g->bytes = g->on->bytes(&rounds);
    }
    sd_rounds_free(c, &rounds);
    sd_free_all(c, ptr, source, random);
    return status;
}

static void destroy(sd_engine *e, sd_systems *g)
{
    if (!g) return;
    g->on->free(e, g->run);
    sd_free_all(e->context, g->signs, g);
}

static saddle_status make(sd_engine *e, const sd_problem *p, const void *like, const sd_map *map,
                          int64_t entries, sd_systems **made)
{
    const sd_direct *d = like;
    bool possible = false;
    *made = NULL;
    if (!e->backend->systems || !sd_direct_has_course(p, d) || entries > INT32_MAX) return SADDLE_OK;
    sd_systems *g = *made = sd_alloc_zero(e->context, 1, sizeof *g, "systems");
    if (!g) return e->context->status;
    g->on = e->backend->systems;
    g->like = d;
    g->rule = d->rule;
    g->n = p->A->n;
    saddle_status status = SADDLE_OK;
    if (g->rule == SD_PIVOT_STATIC) {
        g->signs = sd_alloc(e->context, g->n, sizeof *g->signs, "signs");
        if (!g->signs) status = e->context->status;
    }
    if (!status) status = put_plan(e, p, map, entries, g, &possible);
    if (status || possible) return status;
    destroy(e, g);
    *made = NULL;
    return SADDLE_OK;
}

static int64_t bytes(const sd_systems *g)
{
    return g->bytes;
}

static saddle_status reserve(sd_engine *e, sd_systems *g, int64_t count)
{
    return g->on->reserve(e, g->run, count);
}

static saddle_status factor(sd_engine *e, sd_systems *g, const sd_problem *p, int64_t count,
                            const void *values, int64_t stride, bool single, sd_system_outcome *outcome)
{
    const int32_t *order = g->like->plan->tree.order;
    const int32_t *variable = g->like->factors[SD_DOUBLE].simplicial->s.variable;
    const bool signs = g->signs && p->signs && p->signs_n == g->n;
    for (int32_t k = 0; k < g->n && signs; ++k) g->signs[k] = p->signs[order[variable[k]]];
    const sd_systems_rule rule = {
        .pivoting = sd_direct_pivoting(g->rule, SD_DOUBLE, p->options, signs ? g->signs : NULL),
        .suspect = SD_SUSPECT,
        .stale = SD_STALE,
        .grown = SD_GROWN,
        .misscaled = SD_MISSCALED};
    const saddle_status status = g->on->factor(e, g->run, count, values, stride, single, &rule);
    return status || !outcome ? status : g->on->fetch(e, g->run, count, outcome);
}

/* Whether there is an inertia to be certified. */
static bool certifies(const sd_systems *g, const sd_problem *p)
{
    return p->options->certify == SADDLE_ON && g->rule != SD_PIVOT_STATIC && !sd_direct_is_unmeasured(p);
}

static saddle_status solve(sd_engine *e, const sd_systems *g, const sd_problem *p, int64_t count,
                           const double *b, int64_t ldb, double *x, int64_t ldx, sd_system_outcome *outcome)
{
    const sd_systems_goal goal = {.measured = !sd_direct_is_unmeasured(p),
                                  .corrections = p->options->krylov != SADDLE_KRYLOV_NONE,
                                  .certified = certifies(g, p),
                                  .left = sd_direct_left_most(),
                                  .residual = p->options->tol,
                                  .backward = SD_ACCURATE_BACKWARD,
                                  .componentwise = SD_ACCURATE_COMPONENTWISE};
    return g->on->solve(e, g->run, count, b, ldb, x, ldx, &goal, outcome);
}

static saddle_status values_of(sd_engine *e, const sd_systems *g, int64_t k, double *values)
{
    return g->on->values(e, g->run, k, values);
}

/* As info would say it of a system that was done alone. */
static void tell(const sd_systems *g, const sd_problem *p, const sd_system_outcome *o, saddle_result *r)
{
    const bool solved = o->state & SD_SYSTEM_SOLVED, plain = sd_direct_is_unmeasured(p);
    const bool counted = g->rule != SD_PIVOT_STATIC, measured = solved && !plain;
    const bool refined = p->options->krylov != SADDLE_KRYLOV_NONE;
    r->status = SADDLE_OK;
    r->reason = measured ? SADDLE_REASON_RESIDUAL : solved ? SADDLE_REASON_NOT_MEASURED : SADDLE_REASON_NONE;
    r->converged = measured;
    r->inertia_certain = counted && (o->state & SD_SYSTEM_CERTIFIED) != 0;
    r->inertia_positive = counted ? g->n - o->negative - o->zero : -1;
    r->inertia_negative = counted ? o->negative : -1;
    r->inertia_zero = counted ? o->zero : -1;
    r->iterations = measured && refined ? o->steps : solved && plain && refined ? 2 : 0;
    r->backward_error = measured ? o->backward : NAN;
    r->componentwise_error = measured ? o->componentwise : NAN;
    r->relative_residual = measured ? o->residual : NAN;
    r->message[0] = '\0';
}

const sd_systems_method sd_direct_systems = {.make = make,
                                             .free = destroy,
                                             .solves = solves,
                                             .bytes = bytes,
                                             .reserve = reserve,
                                             .factor = factor,
                                             .solve = solve,
                                             .values = values_of,
                                             .tell = tell};
