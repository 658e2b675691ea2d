/* The direct solver's row in the table of methods, and what info says of its factors. */
#include "method/direct/direct.h"

static void tell_verdict(const sd_direct *d, saddle_info *info)
{
    const sd_verdict *v = sd_direct_verdict(d);
    if (!v) return;
    info->inertia_positive = v->positive;
    info->inertia_negative = v->negative;
    info->inertia_zero = v->zero;
    info->rank = v->positive + v->negative;
    info->inertia_certain = v->doubt == SADDLE_DOUBT_NONE;
    info->negative_least = v->least;
    info->negative_most = v->most;
    info->inertia_doubt = v->doubt;
    info->inertia_risk = v->risk;
}

/* What a device measured of the last factorization. */
static void tell_device(const sd_factors *f, saddle_info *info)
{
    const sd_run_profile *p = sd_device_fronts_profile(f);
    info->waits = sd_device_fronts_waits(f);
    info->device_bytes = sd_device_fronts_device_bytes(f);
    info->offloaded_bytes = sd_device_fronts_offloaded_bytes(f);
    if (!p) return;
    int64_t *const tiles[SD_TILE_CLASSES] = {&info->tiles_0, &info->tiles_1, &info->tiles_2,
                                             &info->tiles_3, &info->tiles_4, &info->tiles_5,
                                             &info->tiles_6, &info->tiles_7, &info->tiles_8};
    for (int k = 0; k < SD_TILE_CLASSES; ++k) *tiles[k] = p->tiles[k];
    info->profile_assembly = p->seconds[SD_PART_ASSEMBLY];
    info->profile_factor = p->seconds[SD_PART_FACTOR];
    info->profile_contribution = p->seconds[SD_PART_CONTRIBUTION];
    info->profile_presolve = p->seconds[SD_PART_PRESOLVE];
    info->profile_other = p->seconds[SD_PART_OTHER];
}

static void report(const void *factors, saddle_info *info)
{
    const sd_direct *d = factors;
    const sd_factors *f = sd_direct_numbers(d);
    info->factor_nnz = f->nnz;
    info->factor_flops = f->flops < 9e18 ? (int64_t)f->flops : INT64_MAX;
    info->factor_bytes = sd_factors_bytes(f);
    info->simplicial = f->simplicial != NULL;
    sd_direct_planned(d->plan, info->simplicial, info);
    info->sequences = d->columns.searches;
    info->fronts = f->simplicial ? 0 : f->tree->fronts;
    info->largest_front = f->largest_front;
    info->levels = f->tree->height;
    info->two_by_two = f->pivots.two_by_two;
    info->perturbed = f->pivots.perturbed;
    info->delayed = f->delayed;
    info->largest_l = d->largest_l;
    info->stale = d->stale;
    if (f->device) tell_device(f, info);
    info->rescalings = d->drift.rescalings;
    info->factorization = d->rule == SD_PIVOT_POSITIVE ? SADDLE_FACTORIZATION_CHOLESKY
                          : d->rule == SD_PIVOT_STATIC ? SADDLE_FACTORIZATION_STATIC
                                                       : SADDLE_FACTORIZATION_LDLT;
    info->inertia_doubt = SADDLE_DOUBT_NOT_EXAMINED;
    if (d->plan->general) return;
    if (d->rule == SD_PIVOT_STATIC) {
        info->regularised_positive = d->positive;
        info->regularised_negative = d->negative;
    } else if (d->precision == SD_DOUBLE && f->pivots.perturbed == 0 && !d->changed) {
        info->inertia_positive = d->positive;
        info->inertia_negative = d->negative;
        info->inertia_zero = d->zero;
        info->rank = d->positive + d->negative;
        info->negative_least = 0;
        info->negative_most = d->plan->n;
        tell_verdict(d, info);
        if (info->inertia_negative == 0 && info->inertia_zero == 0) info->kind = SADDLE_KIND_SPD;
        if (info->inertia_negative > 0 && info->inertia_positive > 0) info->kind = SADDLE_KIND_INDEFINITE;
    }
}

/* What the last factorization took stands for the next one. */
static bool counts(const void *plan, const void *factors, sd_counts *to)
{
    const sd_direct_plan *own = plan;
    const sd_direct *d = factors;
    const sd_tree *t = &own->tree;
    if (own->columns) return false;
    *to = (sd_counts){.rows = t->n,
                      .entries = 2 * (double)t->entry_ptr[t->n],
                      .fronts = t->fronts,
                      .levels = (double)t->height,
                      .flops = t->flops,
                      .critical = t->critical_flops,
                      .factor_entries = (double)t->nnz};
    if (!d || !d->factored) return true;
    const sd_factors *f = sd_direct_numbers(d);
    const sd_verdict *v = sd_direct_verdict(d);
    const double more = t->flops > 0 && f->flops > t->flops ? f->flops / t->flops : 1;
    to->flops *= more;
    to->critical *= more;
    to->delayed = (double)f->delayed;
    to->suspects = (double)d->suspects;
    to->again = v && (v->doubt != SADDLE_DOUBT_NONE || v->remedy);
    return true;
}

static int krylov(const sd_context *c, const sd_problem *p, const void *factors)
{
    (void)c, (void)factors;
    return p->options->absolute == SADDLE_ON ? sd_krylov_for(p, true, true) : SADDLE_KRYLOV_REFINE;
}

static sd_standing standing(const void *factors)
{
    const sd_direct *d = factors;
    const sd_verdict *v = sd_direct_verdict(d);
    return (sd_standing){.certain = v && v->doubt == SADDLE_DOUBT_NONE && v->zero == 0,
                         .better = v ? v->remedy : NULL,
                         .regular = d->rule == SD_PIVOT_THRESHOLD && d->zero == 0,
                         .singular = d->zero > 0,
                         .changed = d->changed,
                         .single = d->precision == SD_SINGLE,
                         .stale = d->stale > 0};
}

static saddle_status certify(sd_engine *e, const sd_problem *p, const void *factors, const sd_rider *rider,
                             saddle_info *info)
{
    const saddle_status status = sd_direct_examine(e, p, factors, rider);
    if (!status) report(factors, info);
    return status;
}

const sd_method sd_method_direct = {
    .number = SADDLE_METHOD_DIRECT,
    .name = "the direct solver",
    .on_device = true,
    .options =
        "|scaling|order|pairs|factorization|threshold|regularise|check|certify|replan|simplicial|verify|"
        "factorizations|profile|presolve|device_memory|absolute|",
    .absolute = true,
    .plan = sd_direct_plan_make,
    .cost = sd_direct_cost,
    .move = sd_direct_plan_move,
    .counts = counts,
    .free_plan = sd_direct_plan_free,
    .replan = sd_direct_replan,
    .factor = sd_direct_factor,
    .refactor = sd_direct_refactor,
    .refactor_arriving = sd_direct_refactor_arriving,
    .reset = sd_direct_reset,
    .leave = sd_direct_leave,
    .report = report,
    .free_factors = sd_direct_free,
    .krylov = krylov,
    .precondition = sd_direct_precondition,
    .solve = sd_direct_solve,
    .solve_transposed = sd_direct_solve_transposed,
    .solves_there = sd_direct_solves_there,
    .solve_there = sd_direct_solve_there,
    .standing = standing,
    .board = sd_direct_board,
    .certify = certify,
    .null_vector = sd_direct_null_vector,
    .abreast = &sd_direct_abreast,
    .systems = &sd_direct_systems};
