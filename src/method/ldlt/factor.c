/* The factorization of block LDL': on the plan that is there, or from the beginning. */
#include "method/ldlt/ldlt.h"

#include <math.h>
#include <stdlib.h>

static const double SHARE_LEAST = 1.0 / 16;

enum { STALE_SHARE = 100 }; /* a plan is stale where more than one pivot of so many had to be perturbed */

/* The largest entry of the inverses of all diagonal blocks. */
static saddle_status largest_inverse(const sd_ldlt_making *t, double *largest)
{
    const sd_block_ldlt *m = t->m;
    const sd_vector inverse = {m->numbers.inverse, m->plan.square[m->plan.blocks], m->numbers.precision};
    sd_engine_reserve(t->e, inverse.n, NULL);
    if (!t->e->status) sd_norm_inf(t->e, &inverse, largest);
    return t->e->status;
}

/* New values on the plan that is there; *stale where too many pivots had to be perturbed. */
static saddle_status refactor(const sd_ldlt_making *t, const sd_ldlt_rule *rule, sd_ldlt_counts *counts,
                              bool *stale)
{
    sd_block_ldlt *m = t->m;
    const sd_operator *op = &t->p->op[sd_iteration_precision(t->p)];
    const sd_batch_rule pivots = {.kernel = rule->kernel, .small = rule->small};
    saddle_status status = SADDLE_OK;
    if (!m->schedule.part) status = sd_ldlt_begin_run(t->e, m, t->layout, rule->precision);
    if (!status) status = sd_ldlt_refactor(t->e, &m->schedule, &op->sparse, &pivots, &m->numbers, counts);
    *stale = counts->perturbed > t->B.n / STALE_SHARE || counts->replaced > 0;
    if (!status && !*stale && rule->precision == SD_SINGLE) {
        double largest = 0;
        status = largest_inverse(t, &largest);
        *stale = sd_ldlt_spoilt(t, rule, largest);
    }
    if (!status && *stale)
        sd_log(t->c, SADDLE_LOG_INFO,
               "the plan is stale (%lld pivots had to be perturbed, or inverses are large): replanning",
               (long long)counts->perturbed);
    return status;
}

/* A plan and its numbers from the beginning. */
static saddle_status make_anew(const sd_ldlt_making *t, sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_block_ldlt_free(t->e, t->m);
    *rule = sd_ldlt_rule_of(t);
    const saddle_status status = sd_ldlt_make_by_levels(t, rule, counts);
    if (status || counts->expensive || !t->state->swept) return status;
    return sd_ldlt_make_by_sweeps(t, rule, counts);
}

/* New values may be of another size than those that R was made for: B is brought near to 1 again, by a power
 * of 4, where it is far from it. What runs on the plan has to know the scaling. */
static void set_units(sd_ldlt_making *t, int of_solve, bool again)
{
    enum { FAR = 40 };
    sd_block_ldlt *m = t->m;
    const double largest = t->B.largest;
    const int size = largest > 0 && isfinite(largest) ? ilogb(largest) : 0;
    const int shift = abs(size) > FAR ? size / 2 * 2 : 0, exponent = of_solve - shift;
    sd_block_matrix_shift(-shift, &t->B);
    if (again && exponent != m->exponent) sd_ldlt_end_run(t->e, m);
    m->shift = shift;
    m->exponent = exponent;
}

/* Whether the plan of the last factorization may serve again. */
static bool has_plan(const sd_ldlt_making *t)
{
    const sd_block_ldlt *m = t->m;
    const double tau = t->strength->tau;
    return m->plan.row != NULL && !t->state->swept && (isnan(tau) || tau == m->tau);
}

/* The matrix in all the forms that a factorization reads. */
static saddle_status begin(sd_ldlt_making *t, const saddle_preparation *plan)
{
    const sd_operator *op = &t->p->op[sd_iteration_precision(t->p)];
    const saddle_status status = sd_whole_matrix(t->c, t->p->A, &t->whole, &t->all);
    t->layout = op->sparse.half ? t->p->A : t->all;
    if (status) return status;
    return sd_block_matrix_make(t->c, t->all, plan->permutation, plan->row_scale, (int32_t)plan->blocks,
                                plan->block_start, &t->B);
}

static void warn(sd_context *c, const sd_ldlt_counts *counts)
{
    if (counts->full)
        sd_log(c, SADDLE_LOG_WARNING, "ldlt: further fill was dropped when the memory limit was reached");
    if (counts->replaced > 0)
        sd_log(c, SADDLE_LOG_WARNING, "%lld diagonal blocks overflowed and were replaced",
               (long long)counts->replaced);
}

/* The factors are there: how solves are done with them, and how good they are. */
static saddle_status conclude(const sd_ldlt_making *t)
{
    sd_ldlt_state *state = t->state;
    sd_block_ldlt *m = t->m;
    m->positive = state->counts.negative + state->counts.replaced == 0;
    state->pattern = m->residual;
    state->reconstruction = NAN;
    const saddle_status status = sd_ldlt_prepare_solves(t->e, t->p, state->rule.kernel, m);
    if (status) return status;
    warn(t->c, &state->counts);
    if (t->p->options->check == SADDLE_OFF) return SADDLE_OK;
    return sd_ldlt_check(t->e, m, t->all, &state->pattern, &state->reconstruction);
}

static saddle_status make(sd_ldlt_making *t, bool *given_up)
{
    const sd_precision precision = sd_iteration_precision(t->p);
    sd_ldlt_state *state = t->state;
    bool again = has_plan(t), stale = false;
    set_units(t, t->p->op[precision].exponent, again);
    again =
        again && (t->m->factors.precision == SD_DOUBLE || precision == SD_SINGLE || sd_ldlt_fits_single(t));
    state->rule = sd_ldlt_rule_of(t);
    state->counts = (sd_ldlt_counts){0};
    saddle_status status = SADDLE_OK;
    if (again) {
        state->rule.precision = t->m->factors.precision;
        status = refactor(t, &state->rule, &state->counts, &stale);
    }
    if (!status && (!again || stale)) status = make_anew(t, &state->rule, &state->counts);
    state->replanned = stale;
    *given_up = state->counts.expensive;
    return status || *given_up ? status : conclude(t);
}

/* With room for so many parts in five of the memory that is left: see sd_ldlt_most_numbers. */
static saddle_status factor_within(sd_engine *e, const sd_problem *p, const void *plan,
                                   const sd_strength *strength, double share, sd_ldlt_state *state,
                                   bool *given_up)
{
    sd_ldlt_making t = {.p = p,
                        .strength = strength,
                        .share = share,
                        .c = e->context,
                        .e = e,
                        .state = state,
                        .m = &state->m};
    saddle_status status = begin(&t, plan);
    if (!status) status = make(&t, given_up);
    sd_csr_free(t.c, &t.whole);
    sd_block_matrix_free(t.c, &t.B);
    return status;
}

/* What else is needed beside the fill that is kept is known only roughly: where the limit does not allow it,
 * less fill is kept, so that more memory never serves worse. */
saddle_status sd_ldlt_factor_again(sd_engine *e, const sd_problem *p, const void *plan,
                                   const sd_strength *strength, void **factors, bool *given_up)
{
    sd_ldlt_state *state = *factors;
    saddle_status status = factor_within(e, p, plan, strength, 1, state, given_up);
    for (double share = 0.5; status == SADDLE_MEMORY_LIMIT && share >= SHARE_LEAST; share *= 0.5) {
        sd_log(e->context, SADDLE_LOG_INFO, "%s; factoring again with less fill", e->context->message);
        e->status = SADDLE_OK;
        sd_block_ldlt_free(e, &state->m);
        status = factor_within(e, p, plan, strength, share, state, given_up);
    }
    return status;
}

saddle_status sd_ldlt_factor(sd_engine *e, const sd_problem *p, const void *plan, const sd_strength *strength,
                             bool swept, void **factors, bool *given_up)
{
    sd_ldlt_state *state = *factors = sd_alloc_zero(e->context, 1, sizeof *state, "factors");
    if (!state) return e->context->status;
    state->swept = swept;
    state->m.preparation = plan;
    state->m.residual = NAN;
    return sd_ldlt_factor_again(e, p, plan, strength, factors, given_up);
}
