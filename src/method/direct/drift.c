/*
 * When a plan has become worse than a new one: what the solver decides from operations and delays.
 *
 * A plan (matching, scaling, pairs, order, tree) is made from the values of one matrix, and kept for those
 * that follow. As values drift, pivots that were good are refused, columns are delayed, fronts grow: work is
 * added to what was planned. Two things help. A new matching and scaling in the old order is cheap, and on
 * sequences of interior-point systems nearly always enough; a whole new plan costs several times as much.
 *
 * Nobody knows how long a sequence goes on, so both are bought as skis are (A. R. Karlin, M. S. Manasse,
 * L. Rudolph and D. D. Sleator, Competitive snoopy caching, Algorithmica 3, 1988): when the work that was
 * lost since the last time reaches the price, for the loss is then at most about twice the least possible,
 * whatever follows. The next loss is counted as at least the last, since in these sequences it grows.
 *
 * - Lost to the scaling: the work of a factorization beyond that of the first one after the scaling was made.
 * - Lost to the plan: by which that first one is beyond the least work of any factorization on the plan.
 *
 * A single factorization that turns out to lose twice the price and more than half its work is abandoned, and
 * made again with a new scaling.
 *
 * Where what was bought did not help, the next must be worth twice as much. Work is counted, never timed: the
 * same matrices have the same bits in every run. A plan that was made from placeholders is replaced at once:
 * where many entries that were zero are not zero any more, for a matching does not look at zeros; and where
 * the first matrix that is factored on it would have to be matched and scaled anew.
 */
#include "method/direct/direct.h"

#include "prepare/prepare.h"

#include <math.h>

/* In operations of a factorization, as SD_DELAY_WORK is: for each entry of the whole matrix a matching takes
 * 80 to 250 ns, and minimum degree with the tree 40 to 100. A nested dissection takes up to 4 microseconds: a
 * plan that is made anew in vain costs more than one that is made late. */
static const double MATCHING_PRICE = 1.5e3, ORDER_PRICE = 1e3, DISSECTION_PRICE = 2e4;

static const double HELPED = 0.9; /* of the work before: more than that was not worth it */
static const double NEW_ENTRIES =
    0.05; /* entries a row that are no longer zero: the plan was of placeholders */

static double entries_of(const sd_direct_plan *plan)
{
    return 2 * (double)plan->tree.entry_ptr[plan->tree.n];
}

static double scaling_price(const sd_direct_plan *plan)
{
    return MATCHING_PRICE * entries_of(plan);
}

static double plan_price(const sd_direct_plan *plan, const saddle_options *options)
{
    const double entries = entries_of(plan), ways = (double)plan->p.orderings;
    const bool dissected = plan->p.order == SADDLE_ORDER_METIS || plan->p.order == SADDLE_ORDER_ND ||
                           sd_dissection_pays(options, plan->tree.flops, (double)plan->tree.nnz, entries);
    return (MATCHING_PRICE + ways * (ORDER_PRICE + (dissected ? DISSECTION_PRICE : 0))) * entries;
}

void sd_drift_note(sd_direct *d, bool rescaled)
{
    sd_drift *t = &d->drift;
    const sd_factors *f = sd_direct_numbers(d);
    const double work = f->flops + SD_DELAY_WORK * (double)f->delayed;
    if (t->least == 0) { /* the first on the plan */
        t->least = t->fresh = work;
        t->patience = 1;
    } else if (rescaled) {
        if (t->lost > 0) t->patience = work > HELPED * t->last ? 2 * t->patience : 1;
        t->fresh = work;
        t->lost = 0;
        ++t->rescalings;
    }
    t->last = work;
    t->fresh = fmin(t->fresh, work);
    t->least = fmin(t->least, work);
    t->lost += work - t->fresh;
    t->lost_to_plan += t->fresh - t->least;
}

bool sd_drift_asks_for_scaling(const sd_direct *d)
{
    const sd_drift *t = &d->drift;
    return t->lost + (t->last - t->fresh) > t->patience * scaling_price(d->plan) && t->lost > 0;
}

double sd_drift_limit(const sd_direct *d)
{
    return 2 * (d->drift.fresh + d->drift.patience * scaling_price(d->plan));
}

void sd_drift_abandoned(sd_direct *d)
{
    d->drift.last = sd_drift_limit(d);
    d->drift.lost += d->drift.last;
}

int64_t sd_count_nonzeros(const sd_csr *A)
{
    int64_t count = 0;
    for (int64_t k = 0; k < A->nnz; ++k) count += A->val[k] != 0;
    return count;
}

/* Whether A, the first matrix on a plan, is one that the plan could have been made from. */
static bool suits(const sd_direct_plan *plan, const sd_csr *A)
{
    const double *scale = plan->p.row_scale;
    double least = INFINITY, most = 0;
    if (!plan->matched || plan->general || plan->tilt) return true;
    for (int32_t i = 0; i < A->n; ++i)
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k)
            most = fmax(most, fabs(scale[i] * A->val[k] * scale[A->ind[k]]));
    for (int32_t j = 0; j < A->n; ++j) {
        const int32_t i = plan->p.matching[j];
        if (i < 0) continue;
        const int32_t row = A->half && j < i ? j : i, column = row == i ? j : i;
        const int64_t k = sd_find_index(A->ind, A->ptr[row], A->ptr[row + 1], column);
        least = fmin(least, fabs(scale[i] * A->val[k] * scale[j]));
    }
    return most <= SD_MISSCALED * least;
}

/* The new plan after the last that was given up: has it helped? */
static void judge_past(const sd_direct *d, sd_past *past)
{
    if (past->work > 0) past->patience = d->drift.least > HELPED * past->work ? 2 * past->patience : 1;
    past->work = 0;
}

bool sd_direct_replan(sd_context *c, const sd_problem *p, const void *plan, const void *factors,
                      sd_past *past)
{
    const sd_direct_plan *old = plan;
    const sd_direct *d = factors;
    const bool general = !p->facts->symmetric;
    if (general != old->general && (general || p->options->replan != SADDLE_OFF)) {
        /* what a plan of symmetric matrices would factor is one triangle of A and its mirror */
        sd_log(c, SADDLE_LOG_INFO, "the plan was made for a %s matrix: planning anew",
               general ? "symmetric" : "general");
        past->work = 0;
        return true;
    }
    if (p->options->replan == SADDLE_OFF || p->options->order == SADDLE_ORDER_USER) return false;
    if (p->options->replan == SADDLE_ON) return d != NULL;
    if (past->patience == 0) past->patience = 1;
    if (d) judge_past(d, past);
    const int64_t nonzeros = p->facts->explicit_zeros > 0 ? sd_count_nonzeros(p->A) : p->A->nnz;
    const double more = (double)(nonzeros - old->nonzeros);
    const double price = past->patience * plan_price(old, p->options);
    if (more > NEW_ENTRIES * past->patience * (double)p->A->n) {
        sd_log(c, SADDLE_LOG_INFO, "%.0f entries were zero when the plan was made: planning anew", more);
    } else if (!d) {
        if (suits(old, p->A)) return false;
        sd_log(c, SADDLE_LOG_INFO, "the plan was made from values unlike these: planning anew");
    } else if (d->drift.lost_to_plan + (d->drift.fresh - d->drift.least) > price) {
        sd_log(c, SADDLE_LOG_INFO,
               "%.2g operations were lost on this plan, a new one costs about %.2g: planning anew",
               d->drift.lost_to_plan, price);
    } else {
        return false;
    }
    past->work = d ? d->drift.fresh : 0;
    return true;
}

void sd_direct_reset(void *factors)
{
    sd_direct *d = factors;
    d->scale = d->plan->p.row_scale;
    d->moved = true;
    d->matched = d->plan->matched;
    d->largest_exponent = d->plan->largest_exponent;
    d->was_definite = false;
    d->drift = (sd_drift){0};
    d->columns = (sd_columns_state){0};
    atomic_store(&d->examined->state, 0);
}

saddle_status sd_direct_begin_like(sd_context *c, const sd_problem *p, sd_factors *f, sd_direct *d)
{
    const sd_direct *like = p->like;
    if (!like || like->plan != d->plan) return SADDLE_OK; /* a plan of its own has a sequence of its own */
    d->columns.given = true;
    return f->precision == SD_DOUBLE ? sd_factors_share_sequence(c, f, &like->factors[SD_DOUBLE]) : SADDLE_OK;
}
