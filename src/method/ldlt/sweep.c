/* A block LDL' by Jacobi sweeps (Stretching Jacobi, sections V and VI), with push-back between them. */
#include "method/ldlt/ldlt.h"

#include <math.h>

static const double DIVERGED = 1e-2; /* of the residual on the pattern, after the sweeps */

/* Adds the weak blocks, as the matrix numbers them, to those that come last; false where there are none, or
 * too many in all. */
static bool add_last(const sd_ldlt_plan *plan, const bool *weak, int32_t most, bool *last)
{
    int64_t added = 0, all = 0;
    for (int32_t i = 0; i < plan->blocks; ++i) {
        added += weak[i] && !last[plan->block_at[i]];
        all += weak[i] || last[plan->block_at[i]];
    }
    for (int32_t i = 0; i < plan->blocks && added > 0 && all <= most; ++i)
        if (weak[i]) last[plan->block_at[i]] = true;
    return added > 0 && all <= most;
}

/* The plan without its numbers, with `last` at the end, ready to run. */
static saddle_status plan_again(const sd_ldlt_making *t, const sd_ldlt_rule *rule, const bool *last)
{
    sd_block_ldlt *m = t->m;
    sd_ldlt_counts counts;
    sd_ldlt_rule pattern = *rule;
    pattern.symbolic = true;
    sd_block_ldlt_free(t->e, m);
    saddle_status status = sd_ldlt_find(t->c, &t->B, &pattern, last, &m->plan, &m->numbers, &counts);
    for (int32_t i = 0; i < t->B.blocks && !status; ++i) m->pushed_back += last[i];
    return status ? status : sd_ldlt_begin_run(t->e, m, t->layout, rule->precision);
}

/*
 * Sweeps. Blocks that are weak after the first one are pushed back, and so are those that are weak after the
 * last, once each; all begins again then. What has small pivots nevertheless is swept with the larger
 * threshold.
 */
static saddle_status sweep(const sd_ldlt_making *t, const sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    const sd_problem *p = t->p;
    sd_context *c = t->c;
    sd_block_ldlt *m = t->m;
    sd_sweep_rule q = {.pivots = {.kernel = rule->kernel, .small = rule->small},
                       .relax = p->options->relax,
                       .sweeps = (int)p->options->sweeps,
                       .rows = p->options->sweep_order == SADDLE_SWEEP_ORDER_ROW,
                       .early = rule->generations > 0 && rule->symbolic};
    int generations = q.early ? 2 : 0;
    bool *weak = sd_alloc_zero(c, t->B.blocks, sizeof *weak, "blocks pushed back");
    bool *last = sd_alloc_zero(c, t->B.blocks, sizeof *last, "blocks pushed back");
    saddle_status status = weak && last ? sd_ldlt_begin_run(t->e, m, t->layout, rule->precision) : c->status;
    for (bool done = false; !done && !status;) {
        status = sd_ldlt_run_sweeps(t->e, &m->schedule, &p->op[sd_iteration_precision(p)].sparse, &q, weak,
                                    &m->numbers, counts, &m->residual);
        const bool ended_early = q.early && counts->perturbed + counts->replaced > 0;
        const bool failed = counts->perturbed > 0;
        q.early = false;
        if (status) break;
        if (failed && generations-- > 0 && add_last(&m->plan, weak, rule->most_pushed, last))
            status = plan_again(t, rule, last);
        else if (failed && !ended_early && p->options->small_pivot == 0 &&
                 q.pivots.small < SD_LDLT_SMALL_AGAIN * t->B.largest)
            q.pivots.small = SD_LDLT_SMALL_AGAIN * t->B.largest;
        else
            done = !ended_early;
    }
    sd_free_all(c, weak, last);
    m->residual /= t->B.largest > 0 ? t->B.largest : 1;
    return status;
}

/* Switches to the exact schedule on the same pattern. */
static saddle_status fall_back(const sd_ldlt_making *t, const sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    const sd_batch_rule pivots = {.kernel = rule->kernel,
                                  .small = fmax(rule->small, SD_LDLT_SMALL * t->B.largest)};
    sd_log(t->c, SADDLE_LOG_WARNING,
           "jacobi: the sweeps diverged (residual %.1e on the pattern): factored on the exact level schedule "
           "instead",
           m->residual);
    m->fallback = true;
    m->residual = NAN;
    return sd_ldlt_refactor(t->e, &m->schedule, &t->p->op[sd_iteration_precision(t->p)].sparse, &pivots,
                            &m->numbers, counts);
}

saddle_status sd_ldlt_make_by_sweeps(const sd_ldlt_making *t, const sd_ldlt_rule *rule,
                                     sd_ldlt_counts *counts)
{
    saddle_status status = sweep(t, rule, counts);
    const bool diverged = !(t->m->residual <= DIVERGED);
    if (!status && diverged && t->p->options->fallback == SADDLE_FALLBACK_EXACT)
        status = fall_back(t, rule, counts);
    return status;
}
