/*
 * What a solver tries, and in which order.
 *
 * A named method is alone. `auto` goes by what the direct solver would cost:
 * - where its predicted work is small it is taken at once;
 * - a matrix that is known to be positive definite and would cost more gets conjugate gradients first, with
 * as many iterations as half of the direct solver's predicted cost pays for; so does a general matrix;
 * - other symmetric matrices, for which a diagonal seldom suffices, get block LDL' with a threshold of 0.01,
 * then 1e-3, 1e-4, then the direct solver, where that fits; a factorization that comes to cost a good part of
 * the direct solver's is given up. What was enough is where the next factorization of the same pattern
 * begins;
 * - what does not fit the memory is left to the iterations.
 * Costs are counted in operations, never in seconds, so that the same matrix is treated the same way
 * everywhere.
 */
#include "solve/solver.h"

#include <math.h>

static const double CHEAP_FLOPS = 3e10; /* of a factorization: a few seconds of one core */
static const double PRODUCT_FLOPS = 20; /* of a factorization that cost as much as an entry in an iteration */
static const double LDLT_SHARE =
    0.1;                        /* of the direct solver's operations: those of small blocks take longer */
enum { LDLT_ITERATIONS = 300 }; /* before a smaller threshold is tried */
static const int64_t ORDER_ENTRIES = 8000000; /* from here on even an ordering is dear */

sd_direct_options sd_direct_request(const saddle_solver *s, sd_precision precision)
{
    return (sd_direct_options){.o = &s->options,
                               .given = s->given.row_scale || s->given.permutation ? &s->given : NULL,
                               .signs = s->signs,
                               .precision = precision,
                               .device = s->device,
                               .threads = s->threads,
                               .sleep = s->sleep};
}

saddle_status sd_plan_direct(saddle_solver *s)
{
    const bool single = s->options.precision != SADDLE_PRECISION_DOUBLE;
    const sd_direct_options q = sd_direct_request(s, single ? SD_SINGLE : SD_DOUBLE);
    double times[2] = {0, 0};
    if (s->device == SADDLE_DEVICE_CUDA)
        return sd_fail(&s->c, SADDLE_NOT_SUPPORTED, "the direct solver runs on the CPU: use device cpu");
    if ((s->given.row_scale || s->given.permutation) && s->given_n != s->A.n)
        return sd_fail(&s->c, SADDLE_BAD_ARGUMENT, "scaling or order were given for n = %lld, and n is %d",
                       (long long)s->given_n, s->A.n);
    const saddle_status status = sd_direct_plan(&s->c, &s->A, s->facts.symmetric, &q, &s->direct, times);
    s->info.time_prepare += times[0];
    s->info.time_plan += times[1];
    if (status) return status;
    s->info.planned_flops = s->direct.tree.flops;
    s->info.planned_nnz = s->direct.tree.nnz;
    s->info.planned_bytes = s->direct.planned_bytes;
    sd_log(&s->c, SADDLE_LOG_INFO, "direct: %d fronts, %.3g operations, %lld entries, about %.0f MB",
           s->direct.tree.fronts, s->direct.tree.flops, (long long)s->info.planned_nnz,
           1e-6 * (double)s->direct.planned_bytes);
    return SADDLE_OK;
}

bool sd_wants_plan(const saddle_solver *s)
{
    if (s->options.method == SADDLE_METHOD_DIRECT) return true;
    if (s->options.method != SADDLE_METHOD_AUTO) return false;
    const bool huge = s->facts.nnz > ORDER_ENTRIES;
    return s->device != SADDLE_DEVICE_CUDA && s->options.krylov == SADDLE_KRYLOV_AUTO &&
           !(huge && (s->facts.kind == SADDLE_KIND_SPD || !s->facts.symmetric));
}

/* Whether what is planned is to be run before anything else. */
static bool is_direct_first(const saddle_solver *s)
{
    return s->direct.tree.flops <= CHEAP_FLOPS;
}

static void add_method(saddle_solver *s, int method, double tau)
{
    s->tau[s->methods] = tau;
    s->method[s->methods++] = method;
}

static saddle_status factor_direct(saddle_solver *s)
{
    const bool single = s->options.precision != SADDLE_PRECISION_DOUBLE;
    const sd_direct_options q = sd_direct_request(s, single ? SD_SINGLE : SD_DOUBLE);
    const bool definite = s->facts.symmetric && s->facts.kind == SADDLE_KIND_SPD;
    if (s->signs && s->signs_n != s->A.n)
        return sd_fail(&s->c, SADDLE_BAD_ARGUMENT, "signs were given for n = %lld, and n is %d",
                       (long long)s->signs_n, s->A.n);
    const saddle_status status = sd_direct_factor(&s->c, &s->A, definite, &q, &s->direct);
    if (!status) sd_direct_tell(&s->direct, &s->info);
    return status;
}

/* Block LDL' from the threshold on that was enough before, then the direct solver where it fits. */
static saddle_status choose_ldlt(saddle_solver *s, bool possible)
{
    static const double taus[] = {1e-2, 1e-3, 1e-4};
    const int count = sizeof taus / sizeof taus[0], learned = s->learned;
    s->began = learned;
    for (int k = learned; k < count; ++k) add_method(s, SADDLE_METHOD_LDLT, taus[k]);
    if (possible) add_method(s, SADDLE_METHOD_DIRECT, NAN);
    if (s->methods == 0) add_method(s, SADDLE_METHOD_LDLT, taus[count - 1]);
    s->budget = LDLT_ITERATIONS;
    s->most_flops = possible ? LDLT_SHARE * s->direct.tree.flops : 0;
    if (s->method[0] == SADDLE_METHOD_DIRECT) return factor_direct(s);
    return s->ldlt.preparation.block_start ? SADDLE_OK : sd_plan_ldlt(s);
}

static saddle_status choose_auto(saddle_solver *s)
{
    s->budget = INT64_MAX;
    if (sd_wants_plan(s) && !s->direct.planned) {
        const saddle_status status = sd_plan_direct(s);
        if (status && status != SADDLE_NOT_SUPPORTED) return status;
    }
    const bool possible = s->direct.planned && sd_direct_fits(&s->c, &s->direct) == SADDLE_OK;
    if (possible && is_direct_first(s)) {
        add_method(s, SADDLE_METHOD_DIRECT, NAN);
        return factor_direct(s);
    }
    const bool free = s->options.krylov == SADDLE_KRYLOV_AUTO;
    if (free && s->facts.symmetric && s->facts.kind != SADDLE_KIND_SPD) return choose_ldlt(s, possible);
    add_method(s, SADDLE_METHOD_DIAGONAL, NAN);
    if (!possible) add_method(s, SADDLE_METHOD_NONE, NAN);
    if (s->direct.planned && !possible) return SADDLE_OK;
    if (s->device == SADDLE_DEVICE_CUDA || s->options.krylov != SADDLE_KRYLOV_AUTO) return SADDLE_OK;
    if (s->direct.planned)
        s->budget = (int64_t)(0.5 * s->direct.tree.flops / (PRODUCT_FLOPS * (double)(s->facts.nnz + s->A.n)));
    add_method(s, SADDLE_METHOD_DIRECT, NAN);
    return SADDLE_OK;
}

saddle_status sd_choose_methods(saddle_solver *s)
{
    s->methods = 0;
    s->budget = INT64_MAX;
    s->most_flops = 0;
    if (s->options.method == SADDLE_METHOD_AUTO) return choose_auto(s);
    add_method(s, s->options.method, NAN);
    if (s->options.method == SADDLE_METHOD_BJACOBI && !s->blocking.block_start)
        return sd_plan_block_jacobi(s);
    if (sd_is_ldlt(s->options.method) && !s->ldlt.preparation.block_start) return sd_plan_ldlt(s);
    if (s->options.method != SADDLE_METHOD_DIRECT) return SADDLE_OK;
    saddle_status status = s->direct.planned ? SADDLE_OK : sd_plan_direct(s);
    if (!status) status = sd_direct_fits(&s->c, &s->direct);
    return status ? status : factor_direct(s);
}

saddle_status sd_begin_ldlt(saddle_solver *s)
{
    bool dear = false;
    const saddle_status status = sd_make_ldlt(s, s->tau[0], s->most_flops, &dear);
    if (status || !dear) return status;
    sd_log(&s->c, SADDLE_LOG_INFO, "ldlt would cost a good part of the direct solver: left");
    s->method[0] = SADDLE_METHOD_DIRECT;
    s->methods = 1;
    return factor_direct(s);
}

void sd_direct_tell(const sd_direct *d, saddle_info *info)
{
    const sd_factors *f = &d->factors[d->precision];
    info->factor_nnz = f->nnz;
    info->factor_flops = f->flops < 9e18 ? (int64_t)f->flops : INT64_MAX;
    info->factor_bytes = sd_factors_bytes(f);
    info->fronts = d->tree.fronts;
    info->largest_front = f->largest_front;
    info->levels = d->tree.height;
    info->two_by_two = f->pivots.two_by_two;
    info->perturbed = f->pivots.perturbed;
    info->delayed = f->delayed;
    info->largest_l = d->largest_l;
    info->stale = d->stale;
    info->factorization = d->rule == SD_PIVOT_POSITIVE ? SADDLE_FACTORIZATION_CHOLESKY
                          : d->rule == SD_PIVOT_STATIC ? SADDLE_FACTORIZATION_STATIC
                                                       : SADDLE_FACTORIZATION_LDLT;
    if (d->general) return;
    if (d->rule == SD_PIVOT_STATIC) {
        info->regularised_positive = d->positive;
        info->regularised_negative = d->negative;
    } else if (d->precision == SD_DOUBLE && f->pivots.perturbed == 0) {
        info->inertia_positive = d->positive;
        info->inertia_negative = d->negative;
        info->inertia_zero = d->zero;
        info->rank = d->positive + d->negative;
        if (d->negative == 0 && d->zero == 0) info->kind = SADDLE_KIND_SPD;
        if (d->negative > 0 && d->positive > 0) info->kind = SADDLE_KIND_INDEFINITE;
    }
}
