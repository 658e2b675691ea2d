/* The direct solver's row in the table of methods, and what info says of its factors. */
#include "method/direct/direct.h"

static void report(const void *factors, saddle_info *info)
{
    const sd_direct *d = factors;
    const sd_factors *f = sd_direct_numbers(d);
    info->factor_nnz = f->nnz;
    info->factor_flops = f->flops < 9e18 ? (int64_t)f->flops : INT64_MAX;
    info->factor_bytes = sd_factors_bytes(f);
    info->fronts = f->tree->fronts;
    info->largest_front = f->largest_front;
    info->levels = f->tree->height;
    info->two_by_two = f->pivots.two_by_two;
    info->perturbed = f->pivots.perturbed;
    info->delayed = f->delayed;
    info->largest_l = d->largest_l;
    info->stale = d->stale;
    info->rescalings = d->drift.rescalings;
    info->factorization = d->rule == SD_PIVOT_POSITIVE ? SADDLE_FACTORIZATION_CHOLESKY
                          : d->rule == SD_PIVOT_STATIC ? SADDLE_FACTORIZATION_STATIC
                                                       : SADDLE_FACTORIZATION_LDLT;
    if (d->plan->general) return;
    if (d->rule == SD_PIVOT_STATIC) {
        info->regularised_positive = d->positive;
        info->regularised_negative = d->negative;
    } else if (d->precision == SD_DOUBLE && f->pivots.perturbed == 0) {
        info->inertia_positive = d->positive;
        info->inertia_negative = d->negative;
        info->inertia_zero = d->zero;
        info->rank = d->positive + d->negative;
        info->inertia_doubt = SADDLE_DOUBT_NOT_EXAMINED;
        info->negative_least = 0;
        info->negative_most = d->plan->n;
        sd_direct_tell_verdict(d, info);
        if (d->negative == 0 && d->zero == 0) info->kind = SADDLE_KIND_SPD;
        if (d->negative > 0 && d->positive > 0) info->kind = SADDLE_KIND_INDEFINITE;
    }
}

static int krylov(const sd_context *c, const sd_problem *p, const void *factors)
{
    (void)c, (void)p, (void)factors;
    return SADDLE_KRYLOV_REFINE;
}

static sd_standing standing(const void *factors)
{
    const sd_direct *d = factors;
    return (sd_standing){.regular = d->rule == SD_PIVOT_THRESHOLD && d->zero == 0,
                         .singular = d->zero > 0,
                         .changed = d->changed,
                         .single = d->precision == SD_SINGLE,
                         .stale = d->stale > 0};
}

const sd_method sd_method_direct = {
    .number = SADDLE_METHOD_DIRECT,
    .name = "the direct solver",
    .options = "|scaling|order|pairs|factorization|threshold|regularise|check|replan|",
    .plan = sd_direct_plan_make,
    .cost = sd_direct_cost,
    .free_plan = sd_direct_plan_free,
    .replan = sd_direct_replan,
    .factor = sd_direct_factor,
    .refactor = sd_direct_refactor,
    .report = report,
    .free_factors = sd_direct_free,
    .krylov = krylov,
    .precondition = sd_direct_precondition,
    .solve = sd_direct_solve,
    .standing = standing,
    .certify = sd_direct_certify,
    .null_vector = sd_direct_null_vector};
