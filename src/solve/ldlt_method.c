/*
 * Block LDL' in a solver: the preparation, the factorization with its thresholds, and what info says of it.
 *
 * Thresholds are relative to the largest entry of the scaled matrix. A pivot is small below 1e-8; where some had
 * to be moved although their blocks were pushed back, the factorization is made again with 1e-4: perturbations
 * of that size disturb the preconditioner less than what 1 / 1e-8 does to it (numerics).
 */
#include "prepare/prepare.h"
#include "solve/solver.h"

#include <math.h>

static const double SMALL = 1e-8, SMALL_AGAIN = 1e-4;
enum { PUSHED_LEAST = 16, PUSHED_SHARE = 100 }; /* blocks that may be pushed back, at most one of so many */

/* Entries of a complete factor beside those of A, and what is dropped then. */
static const struct {
    double share, tau;
} tau_of[] = {{10, 1e-4}, {30, 1e-3}};
enum { TAUS = sizeof tau_of / sizeof tau_of[0] };

/* The options of the preparation, with what is left open decided: pairs are kept unless A is known to be
 * definite. */
static saddle_options decide(const saddle_solver *s)
{
    saddle_options o = s->options;
    if (o.pairs == SADDLE_PAIRS_AUTO)
        o.pairs = s->facts.kind == SADDLE_KIND_SPD || o.block_size == 1 ? SADDLE_PAIRS_OFF : SADDLE_PAIRS_ON;
    return o;
}

saddle_status sd_plan_ldlt(saddle_solver *s)
{
    sd_context *c = &s->c;
    sd_csr whole = {0};
    saddle_status status = SADDLE_OK;
    if (!s->facts.symmetric)
        return sd_fail(c, SADDLE_NOT_SUPPORTED, "method ldlt wants a symmetric matrix: take bjacobi or direct");
    if (s->A.half) status = sd_csr_expand(c, &s->A, &whole);
    if (!status) {
        const saddle_options o = decide(s);
        const saddle_given *given = s->given.row_scale || s->given.permutation ? &s->given : NULL;
        s->ldlt.preparation.size = sizeof s->ldlt.preparation;
        status = sd_prepare_factor(c, s->A.half ? &whole : &s->A, &o, given, &s->ldlt.preparation);
    }
    sd_csr_free(c, &whole);
    if (status) return status;
    s->info.time_prepare += s->ldlt.preparation.time_total;
    return SADDLE_OK;
}

/*
 * What is kept of the fill where that is left open: little where a complete factorization, whose entries the
 * preparation has counted, would take many times what A does; nearly all where it would not.
 */
static double choose_tau(const saddle_solver *s)
{
    const double share = (double)s->ldlt.preparation.factor_nnz / (double)(s->facts.nnz > 0 ? s->facts.nnz : 1);
    if (s->options.fill == SADDLE_FILL_TAU) return s->options.fill_tau;
    for (int k = 0; k < TAUS; ++k)
        if (share <= tau_of[k].share) return tau_of[k].tau;
    return s->options.fill_tau;
}

static sd_ldlt_rule rule_of(const saddle_solver *s, const sd_block_matrix *B)
{
    static const sd_block_kernel kernels[] = {SD_LDLT_BUNCH_KAUFMAN, SD_LDLT_STATIC, SD_LDLT_COMPLETE};
    const saddle_options *o = &s->options;
    const bool threshold = o->fill == SADDLE_FILL_AUTO || o->fill == SADDLE_FILL_TAU;
    return (sd_ldlt_rule){.fill = threshold                        ? SD_FILL_TAU
                                  : o->fill == SADDLE_FILL_LEVEL ? SD_FILL_LEVEL
                                                                 : SD_FILL_NONE,
                          .level = (int)o->fill_level,
                          .tau = choose_tau(s),
                          .kernel = kernels[o->pivot],
                          .small = (o->small_pivot > 0 ? o->small_pivot : SMALL) * B->largest,
                          .generations = o->push_back == SADDLE_PUSH_BACK_ON ? 1 : 0,
                          .most_pushed = PUSHED_LEAST + B->blocks / PUSHED_SHARE,
                          .precision = sd_iteration_precision(s),
                          .threads = s->threads,
                          .reference = s->device == SADDLE_DEVICE_REFERENCE};
}

static void tell(saddle_solver *s, const sd_ldlt_counts *counts)
{
    const sd_ldlt_plan *plan = &s->ldlt.plan;
    saddle_info *info = &s->info;
    info->blocks = plan->blocks;
    info->block_size = plan->largest;
    info->levels = plan->levels;
    info->factor_nnz = plan->entries + plan->square[plan->blocks];
    info->factor_flops = (int64_t)counts->flops;
    info->factor_bytes = info->factor_nnz * (int64_t)sd_precision_size(s->ldlt.values.precision) +
                         plan->row[plan->blocks] * (int64_t)sizeof *plan->list;
    info->two_by_two = counts->two_by_two;
    info->perturbed = counts->perturbed;
    info->pushed_back = counts->pushed_back;
    info->replaced_blocks = counts->replaced;
}

saddle_status sd_make_ldlt(saddle_solver *s)
{
    sd_context *c = &s->c;
    const saddle_preparation *p = &s->ldlt.preparation;
    sd_csr whole = {0};
    sd_block_matrix B = {0};
    sd_ldlt_counts counts;
    saddle_status status = s->A.half ? sd_csr_expand(c, &s->A, &whole) : SADDLE_OK;
    if (!status)
        status = sd_block_matrix_make(c, s->A.half ? &whole : &s->A, p->permutation, p->row_scale,
                                      (int32_t)p->blocks, p->block_start, &B);
    sd_csr_free(c, &whole);
    if (!status) {
        sd_ldlt_rule rule = rule_of(s, &B);
        status = sd_ldlt_find(c, &B, &rule, &s->ldlt.plan, &s->ldlt.values, &counts);
        s->info.fill_tau = rule.fill == SD_FILL_TAU ? rule.tau : NAN;
        if (!status && counts.perturbed > 0 && s->options.small_pivot == 0) {
            rule.small = SMALL_AGAIN * B.largest;
            sd_ldlt_plan_free(c, &s->ldlt.plan);
            sd_ldlt_values_free(c, &s->ldlt.values);
            status = sd_ldlt_find(c, &B, &rule, &s->ldlt.plan, &s->ldlt.values, &counts);
        }
    }
    sd_block_matrix_free(c, &B);
    if (!status) status = sd_ldlt_place(&s->e, &s->ldlt);
    if (!status) tell(s, &counts);
    return status;
}
