/*
 * The factorization of the direct solver: values onto the plan, by Cholesky, LDL' or statically, and what
 * they were found to be.
 */
#include "method/direct/direct.h"

#include "factor/rank.h"
#include "prepare/prepare.h"

#include <math.h>
#include <string.h>

/* A column of nothing else is zero. */
static const double SMALL[] = {[SD_DOUBLE] = 1e-150, [SD_SINGLE] = 1e-20};
enum { TEAM_ROWS = 50000 }; /* fewer are looked at faster than a team is called */

saddle_status sd_direct_take_signs(sd_context *c, const sd_problem *p, sd_direct *d)
{
    const sd_tree *t = &d->plan->tree;
    if (!p->signs || d->plan->general) return SADDLE_OK;
    if (p->signs_n != p->A->n)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "signs were given for n = %lld, but n is %d",
                       (long long)p->signs_n, p->A->n);
    if (!d->signs) d->signs = sd_alloc(c, t->n, sizeof *d->signs, "signs");
    if (!d->signs) return c->status;
    for (int32_t k = 0; k < t->n; ++k) d->signs[k] = p->signs[t->order[k]];
    return SADDLE_OK;
}

sd_pivot_rule sd_direct_rule(const sd_direct_plan *plan, const sd_problem *p, bool was_definite, double least)
{
    if (least > 0) return SD_PIVOT_THRESHOLD;
    const bool known = p->facts->symmetric && p->facts->kind == SADDLE_KIND_SPD;
    switch (p->options->factorization) {
    case SADDLE_FACTORIZATION_CHOLESKY: return SD_PIVOT_POSITIVE;
    case SADDLE_FACTORIZATION_STATIC: return SD_PIVOT_STATIC;
    case SADDLE_FACTORIZATION_LDLT: return SD_PIVOT_THRESHOLD;
    default: return !plan->general && (known || was_definite) ? SD_PIVOT_POSITIVE : SD_PIVOT_THRESHOLD;
    }
}

sd_presolve sd_direct_presolve(const saddle_options *options)
{
    switch (options->presolve) {
    case SADDLE_PRESOLVE_OFF: return SD_PRESOLVE_OFF;
    case SADDLE_PRESOLVE_WHOLE: return SD_PRESOLVE_WHOLE;
    default: return SD_PRESOLVE_BAND;
    }
}

sd_pivoting sd_direct_pivoting(sd_pivot_rule rule, sd_precision precision, const saddle_options *options,
                               const int8_t *signs)
{
    return (sd_pivoting){.rule = rule,
                         .u = options->threshold,
                         .small = SMALL[precision],
                         .regularise = options->regularise,
                         .signs = signs};
}

static inline bool is_stale(int64_t matched, const sd_scaled *s)
{
    const double size = matched >= 0 ? fabs(s->values[matched * s->stride]) : 1;
    return !(size >= SD_STALE && size <= SD_GROWN);
}

int64_t sd_direct_count_stale(const sd_direct_plan *plan, const int64_t *matched, const sd_scaled *s,
                              int threads)
{
    int64_t stale = 0;
    const int32_t n = matched ? plan->tree.n : 0;
    if (threads > 1 && n >= TEAM_ROWS) {
#pragma omp parallel for reduction(+ : stale) num_threads(threads)
        for (int32_t j = 0; j < n; ++j) stale += is_stale(matched[j], s);
    } else { /* no team of one: it would cost more than a small matrix */
        for (int32_t j = 0; j < n; ++j) stale += is_stale(matched[j], s);
    }
    return stale;
}

bool sd_direct_is_misscaled(const sd_direct_plan *plan, const int64_t *matched, const sd_scaled *s)
{
    double least = INFINITY, most = 0;
    for (int32_t j = 0; matched && j < plan->tree.n; ++j)
        if (matched[j] >= 0) least = fmin(least, fabs(s->values[matched[j] * s->stride]));
    for (int64_t k = 0; matched && k < plan->tree.entry_ptr[plan->tree.n]; ++k)
        most = fmax(most, fabs(s->values[k * s->stride]));
    return matched && !(most <= SD_MISSCALED * least);
}

/* A new matching and scaling in the order of the plan, which stays. */
static saddle_status rescale(sd_context *c, const sd_csr *M, const sd_problem *q, bool equilibrated,
                             sd_direct *d)
{
    sd_csr whole = {0};
    saddle_preparation p;
    saddle_options o = *q->options;
    if (equilibrated) o.scaling = SADDLE_SCALING_RUIZ;
    saddle_status status = sd_direct_normalise(c, M, &whole);
    if (!status) status = sd_prepare_scaling(c, &whole, &o, &p);
    sd_csr_free(c, &whole);
    if (status) return status;
    sd_preparation_free(c, &d->rescaled);
    sd_free(c, d->rematched);
    d->rescaled = p;
    d->moved = true;
    d->scale = p.row_scale;
    d->largest_exponent = sd_direct_exponent(M, d->scale);
    status = sd_direct_match(c, M, &d->plan->tree, p.matching, &d->rematched);
    d->matched = d->rematched;
    d->nonzeros = sd_count_nonzeros(q->A);
    return status;
}

/* The values, with the scaling at hand. */
static void scale_values(const sd_csr *M, const sd_problem *p, sd_factors *f, sd_direct *d)
{
    const bool known = M->val == p->A->val; /* the facts are those of A */
    const int largest =
        known ? sd_largest_exponent(&p->facts->largest, 1) : sd_largest_exponent(M->val, M->nnz);
    d->exponent = largest - d->largest_exponent;
    sd_factors_take(f, M, d->scale, d->exponent, p->threads);
}

bool sd_direct_may_rescale(const sd_problem *q, const sd_direct *d)
{
    const int scaling = d->plan->p.scaling;
    return q->options->replan != SADDLE_OFF && scaling != SADDLE_SCALING_USER &&
           scaling != SADDLE_SCALING_NONE;
}

bool sd_direct_is_incomplete(const sd_problem *q, const sd_direct *d)
{
    const int64_t before = d->scale == d->plan->p.row_scale ? d->plan->nonzeros : d->nonzeros;
    if (!d->matched || !sd_direct_may_rescale(q, d)) return false;
    const int64_t now = q->facts->explicit_zeros > 0 ? sd_count_nonzeros(q->A) : q->A->nnz;
    for (int32_t j = 0; now > before && j < d->plan->tree.n; ++j)
        if (d->matched[j] < 0) return true;
    return false;
}

/* Whether another is made: this one costs too much, or small entries could be taken for zeros, or rows had
 * nothing that they could be scaled by. */
static bool needs_scaling(const sd_problem *q, const sd_factors *f, const sd_direct *d)
{
    if (sd_direct_may_rescale(q, d) && sd_drift_asks_for_scaling(d)) return true;
    if (sd_direct_is_incomplete(q, d)) return true;
    return d->plan->p.scaling != SADDLE_SCALING_USER && d->stale > 0 &&
           sd_direct_is_misscaled(d->plan, d->matched, &(sd_scaled){f->values, 1});
}

/* A new scaling, and the values with it. */
static saddle_status rescale_values(sd_context *c, const sd_csr *M, const sd_problem *q, sd_factors *f,
                                    sd_direct *d)
{
    sd_log(c, SADDLE_LOG_INFO,
           "the scaling was computed for other values (%.2g operations were lost): rescaling", d->drift.lost);
    const saddle_status status = rescale(c, M, q, false, d);
    if (!status) scale_values(M, q, f, d);
    return status;
}

/* The factorization itself. Several threads have more contribution blocks at once than one: where the limit
 * does not allow that, one thread runs again, as the plan predicted it. The factors are the same. */
static saddle_status run_factors(sd_context *c, const sd_csr *M, sd_factor_options *options, double delays,
                                 sd_factors *f, sd_direct *d)
{
    bool refused = true;
    saddle_status status = SADDLE_OK;
    if (d->plan->columns && f->precision == SD_DOUBLE)
        status = sd_direct_run_columns(c, M, options, f, d, &refused);
    if (status || !refused) return status;
    status = sd_factors_run(c, f, options);
    if (status != SADDLE_MEMORY_LIMIT || options->threads == 1 || f->device) return status;
    sd_log(c, SADDLE_LOG_INFO, "%s; factoring again with one thread, which needs less", c->message);
    const sd_front_kernels *kernels = f->kernels - f->precision;
    const sd_precision precision = f->precision;
    sd_factors_free(c, f);
    status = sd_factors_make(c, &d->plan->tree, kernels, precision, delays, f);
    if (status) return status;
    options->threads = 1;
    sd_factors_take(f, M, d->scale, d->exponent, 1);
    return sd_factors_run(c, f, options);
}

/* Factors the values as they are scaled; with a new scaling if they are not worth it. */
static saddle_status run_values(sd_context *c, const sd_csr *M, const sd_problem *p,
                                sd_factor_options *options, double delays, sd_factors *f, sd_direct *d)
{
    saddle_status status = SADDLE_OK;
    bool rescaled = !options->ready && needs_scaling(p, f, d);
    const bool limited = !rescaled && d->drift.fresh > 0 && sd_direct_may_rescale(p, d) &&
                         options->pivoting.rule == SD_PIVOT_THRESHOLD;
    if (rescaled) status = rescale_values(c, M, p, f, d);
    if (status) return status;
    options->most_flops = limited ? sd_drift_limit(d) : 0;
    status = run_factors(c, M, options, delays, f, d);
    if (limited &&
        (status == SADDLE_MEMORY_LIMIT || (!status && f->abandoned))) { /* delays take memory too */
        sd_drift_abandoned(d);
        options->most_flops = 0;
        rescaled = true;
        status = rescale_values(c, M, p, f, d);
        if (!status) status = run_factors(c, M, options, delays, f, d);
    }
    if (!status && (options->pivoting.rule != SD_PIVOT_POSITIVE || f->definite))
        sd_drift_note(d, rescaled || d->unlike);
    return status;
}

/* Whether what was computed abreast is what this factorization would compute. */
static bool takes_ready(const sd_problem *p, const sd_strength *strength, const sd_direct *d)
{
    const sd_direct *like = p->like;
    return p->abreast && like->plan == d->plan && strength->precision == SD_DOUBLE &&
           strength->threshold == 0 && !strength->equilibrated && d->scale == d->plan->p.row_scale &&
           !d->tilt && !d->unlike;
}

/* Bytes on the device for factors: those in the other precision, if there are any, have the rest. */
static int64_t device_memory(const sd_problem *p, const sd_direct *d, sd_precision precision)
{
    const sd_factors *other = &d->factors[precision == SD_DOUBLE ? SD_SINGLE : SD_DOUBLE];
    const int64_t limit = p->options->device_memory;
    if (limit == 0 || !other->device) return limit;
    const int64_t left = limit - sd_device_fronts_device_bytes(other);
    return left > 1 ? left : 1;
}

/* Runs a factorization by one rule in one precision. */
static saddle_status run(sd_context *c, const sd_csr *M, sd_pivot_rule rule, const sd_problem *p,
                         const sd_strength *strength, sd_direct *d)
{
    const sd_precision precision = strength->precision;
    sd_factors *f = &d->factors[precision];
    saddle_status status = SADDLE_OK;
    const double delays = rule == SD_PIVOT_THRESHOLD ? SD_DELAY_ROOM : 0;
    if (!f->tree) {
        status = sd_factors_make(c, &d->plan->tree, sd_direct_kernels(p->device), precision, delays, f);
        if (!status && d->device) {
            status = sd_device_fronts_make(d->device, &d->plan->schedule, device_memory(p, d, precision), f);
            if (status) sd_factors_free(c, f); /* they are made whole, or not at all */
        }
    }
    if (!status) status = sd_direct_begin_like(c, p, f, d);
    if (!status) status = sd_direct_take_signs(c, p, d);
    if (!status && strength->equilibrated) status = rescale(c, M, p, true, d);
    if (status) return status;
    sd_factor_options options = {
        .pivoting = sd_direct_pivoting(rule, precision, p->options, p->signs ? d->signs : NULL),
        .threads = p->threads,
        .profile = p->options->profile == SADDLE_ON,
        .presolve = sd_direct_presolve(p->options)};
    options.pivoting.u = fmax(options.pivoting.u, strength->threshold);
    d->rule = rule;
    d->precision = precision;
    d->columns.once = p->options->factorizations == 1;
    f->again = !d->columns.once && !d->columns.given;
    sd_ready ready;
    if (takes_ready(p, strength, d) && sd_direct_is_ready(p, rule, &ready)) {
        d->exponent = ready.exponent;
        d->stale = ready.stale;
        options.ready = &ready.numbers;
    } else {
        const sd_scaled scaled = {f->values, 1};
        scale_values(M, p, f, d);
        d->stale =
            d->unlike ? d->plan->tree.n : sd_direct_count_stale(d->plan, d->matched, &scaled, p->threads);
    }
    return run_values(c, M, p, &options, delays, f, d);
}

static saddle_status check_factor(sd_context *c, const sd_problem *p, sd_direct *d)
{
    d->largest_l = NAN;
    if (p->options->check == SADDLE_OFF) return SADDLE_OK;
    d->largest_l = sd_factors_largest(sd_direct_numbers(d));
    if (d->rule != SD_PIVOT_THRESHOLD || d->largest_l <= 1 / p->options->threshold) return SADDLE_OK;
    return sd_fail(
        c, SADDLE_NOT_CONVERGED,
        "the factor is not stable: its largest entry is %g, but 1/threshold is %g; try another scaling",
        d->largest_l, 1 / p->options->threshold);
}

void sd_direct_matrix(const sd_direct *d, const sd_csr *A, sd_csr *M)
{
    *M = d->plan->general ? d->plan->augmented : *A;
    if (d->plan->general) M->val = d->augmented;
    if (d->tilt) M->val = d->tilted;
}

/* The caller's scaling of a balanced matrix. */
static saddle_status combine(sd_context *c, sd_direct *d)
{
    const int32_t n = d->plan->tree.n;
    d->outer = d->scale;
    if (!d->tilt) return SADDLE_OK;
    if (!d->combined) d->combined = sd_alloc(c, n, sizeof *d->combined, "scaling");
    if (!d->combined) return c->status;
    for (int32_t i = 0; i < n; ++i) d->combined[i] = ldexp(d->scale[i], d->tilt[i]);
    d->outer = d->combined;
    return SADDLE_OK;
}

/* A balance of these values. *other where it is not the one that there is, if there is one. */
static saddle_status balance_anew(sd_context *c, const sd_csr *M, bool kept, sd_direct *d, bool *other)
{
    int32_t *tilt = sd_alloc(c, M->n, sizeof *tilt, "balance");
    const saddle_status status = tilt ? sd_direct_balance(c, M, tilt) : c->status;
    if (!status) {
        const size_t bytes = (size_t)M->n * sizeof *tilt;
        *other = *other || !kept || memcmp(d->tilt, tilt, bytes) != 0;
        memcpy(d->tilt, tilt, bytes);
        d->lost = d->bearable = sd_direct_tilted(M, d->tilt, d->tilted);
    }
    sd_free(c, tilt);
    return status;
}

/* Balances M where its values ask for it, anew where the balance that there is loses more entries than it did
 * when it was made; *other where the scaling that there is belongs to another one. */
static saddle_status find_balance(sd_context *c, sd_csr *M, const sd_problem *p, sd_direct *d, bool *other)
{
    const bool known = M->val == p->A->val;
    const bool far = p->options->scaling != SADDLE_SCALING_USER &&
                     (known ? sd_direct_are_far(p->facts->largest, p->facts->smallest) : sd_direct_is_far(M));
    const int32_t *before = d->scale == d->plan->p.row_scale ? d->plan->tilt : d->tilt;
    *other = far != (before != NULL);
    d->lost = 0;
    if (!far) {
        sd_free(c, d->tilt);
        d->tilt = NULL;
        return SADDLE_OK;
    }
    if (!d->tilt) d->tilt = sd_alloc_zero(c, M->n, sizeof *d->tilt, "balance");
    if (!d->tilted) d->tilted = sd_alloc(c, M->nnz, sizeof *d->tilted, "balanced matrix");
    if (!d->tilt || !d->tilted) return c->status;
    const bool kept = before && sd_direct_is_balanced(M, before);
    if (kept && before != d->tilt) memcpy(d->tilt, before, (size_t)M->n * sizeof *before);
    if (kept) d->lost = sd_direct_tilted(M, d->tilt, d->tilted);
    saddle_status status = SADDLE_OK;
    if (!kept || d->lost > d->bearable) status = balance_anew(c, M, kept, d, other);
    M->val = d->tilted;
    return status;
}

/* The matrix that is factored: A, or the symmetric one of a general A; balanced where its entries are far
 * apart. */
static saddle_status find_matrix(sd_context *c, const sd_problem *p, sd_direct *d, sd_csr *M)
{
    bool other = false;
    if (d->plan->general) {
        const int64_t nnz = d->plan->augmented.nnz;
        if (!d->augmented) d->augmented = sd_alloc(c, nnz, sizeof *d->augmented, "augmented matrix");
        if (!d->augmented) return c->status;
        sd_direct_augment(p->A, d->augmented);
    }
    *M = d->plan->general ? d->plan->augmented : *p->A;
    if (d->plan->general) M->val = d->augmented;
    saddle_status status = find_balance(c, M, p, d, &other);
    if (!status && other) status = rescale(c, M, p, false, d);
    d->unlike = other;
    return status;
}

/* By the rule that fits; Cholesky gives way to LDL' if that is left open. */
static saddle_status run_rules(sd_context *c, const sd_csr *M, const sd_problem *p,
                               const sd_strength *strength, sd_direct *d)
{
    const sd_pivot_rule rule = sd_direct_rule(d->plan, p, d->was_definite, strength->threshold);
    const saddle_status status = run(c, M, rule, p, strength, d);
    if (status || rule != SD_PIVOT_POSITIVE || sd_direct_numbers(d)->definite) return status;
    if (p->options->factorization == SADDLE_FACTORIZATION_CHOLESKY)
        return sd_fail(c, SADDLE_NOT_DEFINITE,
                       "a pivot is not positive: the matrix is not positive definite; use factorization "
                       "ldlt, or auto");
    return run(c, M, SD_PIVOT_THRESHOLD, p, strength, d);
}

void sd_direct_begin(sd_direct *d)
{
    const sd_verdict *before = sd_direct_verdict(d);
    if (before && (before->doubt || before->remedy)) d->was_definite = false; /* Cholesky did not see it */
    d->factored = d->changed = false;
    atomic_store(&d->examined->state, 0);
}

saddle_status sd_direct_conclude(sd_context *c, const sd_csr *M, const sd_problem *p, sd_direct *d)
{
    saddle_status status = combine(c, d);
    if (!status) status = sd_solve_room_make(c, sd_direct_numbers(d), &d->room);
    if (!status) status = check_factor(c, p, d);
    if (status) return status;
    const sd_factors *f = sd_direct_numbers(d);
    if (f->simplicial) { /* counted as they came */
        d->positive = f->pivots.positive;
        d->negative = f->pivots.negative;
        d->zero = f->pivots.zero;
    } else {
        d->negative = f->signs[0], d->zero = f->signs[1], d->positive = f->signs[2];
    }
    d->suspects = 0;
    /* |D| is made on the host; what a solve would fetch later would not outlive it */
    if (p->options->absolute == SADDLE_ON) status = sd_factors_fetch(c, f);
    if (!status && d->rule == SD_PIVOT_THRESHOLD && d->precision == SD_DOUBLE)
        status = sd_settle_small_pivots(c, M, d);
    d->was_definite = !status && d->negative == 0 && d->zero == 0 && d->rule != SD_PIVOT_STATIC;
    d->factored = !status;
    return status;
}

saddle_status sd_direct_refactor(sd_engine *e, const sd_problem *p, const void *plan,
                                 const sd_strength *strength, void **factors, bool *given_up)
{
    (void)plan;
    sd_context *c = e->context;
    sd_direct *d = *factors;
    sd_csr M;
    *given_up = false;
    d->device = e->backend->fronts ? e : NULL;
    sd_direct_begin(d);
    saddle_status status = find_matrix(c, p, d, &M);
    if (!status) status = run_rules(c, &M, p, strength, d);
    return status ? status : sd_direct_conclude(c, &M, p, d);
}

saddle_status sd_direct_factor(sd_engine *e, const sd_problem *p, const void *plan,
                               const sd_strength *strength, void **factors, bool *given_up)
{
    sd_direct *d = sd_alloc_zero(e->context, 1, sizeof *d, "factors");
    if (d) d->examined = sd_alloc_zero(e->context, 1, sizeof *d->examined, "factors");
    if (!d || !d->examined) { /* nothing that could be refactored */
        sd_free(e->context, d);
        return e->context->status;
    }
    *factors = d;
    d->plan = plan;
    d->scale = d->plan->p.row_scale;
    d->matched = d->plan->matched;
    d->largest_exponent = d->plan->largest_exponent;
    return sd_direct_refactor(e, p, plan, strength, factors, given_up);
}

void sd_direct_leave(sd_engine *e, void *factors)
{
    sd_direct *d = factors;
    for (int p = 0; p < SD_PRECISIONS; ++p) sd_factors_free(e->context, &d->factors[p]);
    sd_solve_room_free(e->context, &d->room);
    d->factored = false;
    d->moved = true; /* the other device has not heard of the scaling */
}

void sd_direct_free(sd_engine *e, void *factors)
{
    sd_context *c = e->context;
    sd_direct *d = factors;
    sd_direct_leave(e, d);
    sd_preparation_free(c, &d->rescaled);
    sd_free_all(c, d->rematched, d->augmented, d->signs, d->tilt, d->tilted, d->combined, d->examined, d);
}
