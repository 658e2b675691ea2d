/*
 * Block LDL' in a solver, methods ldlt and jacobi: the preparation, the factorization with its thresholds,
 * what is kept for the next values of the same pattern, and what info says of it.
 *
 * Thresholds are relative to the largest entry of the scaled matrix. A pivot is small below 1e-8; where some
 * had to be moved although their blocks were pushed back, the factorization is made again with 1e-4, for the
 * blocks that are pushed back alone, and for the pivots that are moved as well: perturbations of that size
 * may disturb the preconditioner less than what 1 / 1e-8 does to it. A vector decides.
 */
#include "prepare/prepare.h"
#include "solve/solver.h"

#include <math.h>
#include <stdlib.h>

static const double SMALL = 1e-8, SMALL_AGAIN = 1e-4;
static const double BETTER = 0.9;               /* of what is left of a vector, to be taken for better */
static const double DIVERGED = 1e-2;            /* of the residual on the pattern, after the sweeps */
enum { PUSHED_LEAST = 16, PUSHED_SHARE = 100 }; /* blocks that may be pushed back: some, or one of so many */
enum { STALE_SHARE = 100 }; /* a plan is stale where more than one pivot of so many had to be moved */

static const double CHEAP_FLOPS = 1e10;   /* of a complete factorization: half a second */
static const double MOST_FLOPS = 1e12;    /* for nearly all of it to be kept */
static const double WIDEST_SCALE = 1e18;  /* of rows, and its inverse, for vectors to pass in single */
static const double LARGEST_SINGLE = 100; /* of an inverse: more of them, and rounding grows on its way */
static const double SMALL_SINGLE = 1e-6;  /* pivots below are nothing but rounding there */

/* Entries of a complete factor beside those of A, and what is dropped then. */
static const struct {
    double share, tau;
} tau_of[] = {{15, 1e-4}, {60, 1e-3}};
enum { TAUS = sizeof tau_of / sizeof tau_of[0] };

/* One factorization: of the solver, or of a solve that wants a stronger one. */
typedef struct making {
    const saddle_solver *s;
    sd_context *c;
    sd_engine *e;
    sd_block_ldlt *m;
    double tau; /* NaN: as the options say */
    double most_flops;
    saddle_info *info;
} making;

static bool is_swept(const saddle_solver *s)
{
    return s->options.method == SADDLE_METHOD_JACOBI;
}

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
        return sd_fail(c, SADDLE_NOT_SUPPORTED,
                       "methods ldlt and jacobi want a symmetric matrix: take bjacobi or direct");
    if ((s->given.row_scale || s->given.permutation) && s->given_n != s->A.n)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "scaling or order were given for n = %lld, and n is %d",
                       (long long)s->given_n, s->A.n);
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
 * What is kept of the fill where that is left open: little where a complete factorization, whose entries and
 * operations the preparation has counted, would take long, or many times the memory of A; nearly all
 * otherwise.
 */
static double choose_tau(const making *t)
{
    const saddle_solver *s = t->s;
    const double share = (double)t->m->preparation.factor_nnz / (double)(s->facts.nnz > 0 ? s->facts.nnz : 1);
    const double flops = t->m->preparation.factor_flops;
    if (!isnan(t->tau)) return t->tau;
    if (s->options.fill == SADDLE_FILL_TAU || flops > MOST_FLOPS) return s->options.fill_tau;
    for (int k = 0; k < TAUS; ++k)
        if (share <= tau_of[k].share) return tau_of[k].tau;
    return s->options.fill_tau;
}

static sd_fill_kind choose_fill(const saddle_solver *s)
{
    switch (s->options.fill) {
    case SADDLE_FILL_NONE: return SD_FILL_NONE;
    case SADDLE_FILL_LEVEL: return SD_FILL_LEVEL;
    case SADDLE_FILL_TAU: return SD_FILL_TAU;
    default: return is_swept(s) ? SD_FILL_NONE : SD_FILL_TAU;
    }
}

/* Whether a vector keeps within the range of single precision when it is scaled. */
static bool fits_single(const making *t)
{
    const double *scale = t->m->preparation.row_scale;
    const double all = ldexp(1.0, t->m->exponent / 2);
    bool fits = all <= WIDEST_SCALE && all >= 1 / WIDEST_SCALE;
    for (int32_t i = 0; i < t->s->A.n && scale && fits; ++i)
        fits = all * scale[i] <= WIDEST_SCALE && all * scale[i] >= 1 / WIDEST_SCALE;
    return fits;
}

/*
 * What is dropped is far beyond the rounding of single precision where the factors are large: there they are
 * kept in half the bytes.
 */
static sd_precision choose_precision(const making *t)
{
    const saddle_solver *s = t->s;
    const int asked = s->options.factor_precision;
    const bool dear = t->m->preparation.factor_flops > CHEAP_FLOPS && !is_swept(s);
    if (sd_iteration_precision(s) == SD_SINGLE) {
        if (asked == SADDLE_FACTOR_PRECISION_DOUBLE)
            sd_log(t->c, SADDLE_LOG_WARNING, "factors are kept in single, as the iteration is in single");
        return SD_SINGLE;
    }
    if (asked == SADDLE_FACTOR_PRECISION_DOUBLE || (asked == SADDLE_FACTOR_PRECISION_AUTO && !dear))
        return SD_DOUBLE;
    if (fits_single(t)) return SD_SINGLE;
    if (asked == SADDLE_FACTOR_PRECISION_SINGLE)
        sd_log(t->c, SADDLE_LOG_WARNING,
               "factors are kept in double: the scaling of the rows is too wide for single precision");
    return SD_DOUBLE;
}

/* Whether the factors are in single because `auto` wants it. */
static bool may_be_spoilt(const making *t, sd_precision precision)
{
    return precision == SD_SINGLE && sd_iteration_precision(t->s) == SD_DOUBLE &&
           t->s->options.factor_precision == SADDLE_FACTOR_PRECISION_AUTO;
}

/* Whether rounding in single precision may spoil them. */
static bool spoilt_by_single(const making *t, const sd_ldlt_rule *rule, double inverse, double matrix)
{
    return may_be_spoilt(t, rule->precision) && !(inverse * matrix <= LARGEST_SINGLE);
}

/* Numbers that may be kept off the diagonal where memory is limited: a fifth of what is left, as they stand
 * twice for a moment, beside their lists. */
static int64_t most_numbers(const making *t, sd_precision precision)
{
    const int64_t limit = t->s->options.max_memory, used = t->c->bytes;
    if (limit <= 0) return 0;
    const int64_t most = (limit - used) / (5 * (int64_t)sd_precision_size(precision));
    return most > 1 ? most : 1;
}

static sd_ldlt_rule rule_of(const making *t, const sd_block_matrix *B)
{
    const saddle_solver *s = t->s;
    static const sd_batch_kernel kernels[] = {SD_LDLT_BUNCH_KAUFMAN, SD_LDLT_STATIC, SD_LDLT_COMPLETE};
    const saddle_options *o = &s->options;
    const sd_precision precision = choose_precision(t);
    const double least = precision == SD_SINGLE ? SMALL_SINGLE : SMALL;
    const double small = t->m->small > 0 ? t->m->small : o->small_pivot > 0 ? o->small_pivot : least;
    const sd_fill_kind fill = choose_fill(s);
    return (sd_ldlt_rule){.symbolic = is_swept(s) && fill != SD_FILL_TAU,
                          .fill = fill,
                          .level = (int)o->fill_level,
                          .tau = choose_tau(t),
                          .most_flops = t->most_flops,
                          .most_inverse =
                              may_be_spoilt(t, precision) && B->largest > 0 ? LARGEST_SINGLE / B->largest : 0,
                          .most = most_numbers(t, precision),
                          .kernel = kernels[o->pivot],
                          .weak = small * B->largest,
                          .small = small * B->largest,
                          .generations = o->push_back == SADDLE_PUSH_BACK_ON ? 1 : 0,
                          .most_pushed = PUSHED_LEAST + B->blocks / PUSHED_SHARE,
                          .precision = precision,
                          .threads = s->threads,
                          .reference = s->device == SADDLE_DEVICE_REFERENCE};
}

static void tell(const making *t, const sd_ldlt_rule *rule, const sd_ldlt_counts *counts)
{
    const sd_block_ldlt *m = t->m;
    const sd_ldlt_plan *plan = &m->plan;
    saddle_info *info = t->info;
    info->blocks = plan->blocks;
    info->block_size = plan->largest;
    info->levels = plan->levels;
    info->factor_nnz = plan->entries + plan->square[plan->blocks];
    info->factor_flops = (int64_t)counts->flops;
    info->factor_bytes = info->factor_nnz * (int64_t)sd_precision_size(m->factors.precision) +
                         plan->row[plan->blocks] * (int64_t)sizeof *plan->list;
    if (m->trisolve.kind == SD_TRISOLVE_ENTRIES)
        info->factor_bytes += plan->square[plan->blocks] * (int64_t)sd_precision_size(m->factors.precision);
    info->two_by_two = counts->two_by_two;
    info->perturbed = counts->perturbed;
    info->pushed_back = m->pushed_back;
    info->generations = m->pushed_back > 0;
    info->replaced_blocks = counts->replaced;
    info->single_blocks = m->factors.precision == SD_SINGLE ? plan->blocks : 0;
    info->fill_tau = rule->fill == SD_FILL_TAU ? m->tau : NAN;
    info->sweeps = is_swept(t->s) && !m->fallback ? t->s->options.sweeps : -1;
    info->fallback = m->fallback;
    static const int words[] = {SADDLE_TRISOLVE_EXACT, SADDLE_TRISOLVE_BLOCK_JACOBI, SADDLE_TRISOLVE_JACOBI};
    info->trisolve = words[m->trisolve.kind];
    info->pattern_residual = m->residual;
    if (counts->full)
        sd_log(t->c, SADDLE_LOG_WARNING,
               "ldlt: fill was left out from where it filled the memory that is allowed");
    if (counts->replaced > 0)
        sd_log(t->c, SADDLE_LOG_WARNING,
               "%lld diagonal blocks went beyond the range of numbers and were replaced",
               (long long)counts->replaced);
}

/* Factors by another rule, in place of those that are there if they do better; those stay where there is no
 * room for both. */
static saddle_status try_rule(const making *t, const sd_block_matrix *B, const sd_ldlt_rule *other,
                              double *error, sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_context *c = t->c;
    sd_block_ldlt *m = t->m;
    sd_ldlt_plan plan = {0};
    sd_ldlt_numbers numbers = {0};
    sd_ldlt_counts again;
    double its_error = INFINITY;
    saddle_status status = sd_ldlt_find(c, B, other, NULL, &plan, &numbers, &again);
    if (!status && !again.dear) status = sd_ldlt_probe(c, B, &plan, &numbers, rule->threads, &its_error);
    if (status == SADDLE_MEMORY_LIMIT) status = SADDLE_OK;
    if (!status && its_error < BETTER * *error) {
        const sd_ldlt_plan other_plan = m->plan;
        const sd_ldlt_numbers other_numbers = m->numbers;
        m->plan = plan;
        m->numbers = numbers;
        plan = other_plan;
        numbers = other_numbers;
        *counts = again;
        *rule = *other;
        *error = its_error;
    }
    sd_ldlt_plan_free(c, &plan);
    sd_ldlt_numbers_free(c, NULL, &numbers);
    return status;
}

/* The same with larger thresholds; the best is kept. */
static saddle_status find_again(const making *t, const sd_block_matrix *B, sd_ldlt_rule *rule,
                                sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    sd_ldlt_rule other = *rule;
    double error = INFINITY;
    other.most = most_numbers(t, rule->precision);
    other.weak = SMALL_AGAIN * B->largest;
    saddle_status status = sd_ldlt_probe(t->c, B, &m->plan, &m->numbers, rule->threads, &error);
    if (status == SADDLE_MEMORY_LIMIT) return SADDLE_OK; /* there are factors, if perhaps not the best */
    if (!status) status = try_rule(t, B, &other, &error, rule, counts);
    other.small = other.weak;
    if (!status) status = try_rule(t, B, &other, &error, rule, counts);
    return status;
}

/* The same in double; in single after all where there is no room for it. */
static saddle_status find_in_double(const making *t, const sd_block_matrix *B, sd_ldlt_rule *rule,
                                    sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    const sd_ldlt_rule single = *rule;
    const double asked = t->s->options.small_pivot;
    sd_log(t->c, SADDLE_LOG_INFO, "an inverse of %.1e is too large for single precision: factors in double",
           counts->largest * B->largest);
    sd_block_ldlt_free(t->e, m);
    rule->precision = SD_DOUBLE;
    rule->most_inverse = 0;
    rule->weak = rule->small = (asked > 0 ? asked : SMALL) * B->largest;
    rule->most = most_numbers(t, SD_DOUBLE);
    const saddle_status status = sd_ldlt_find(t->c, B, rule, NULL, &m->plan, &m->numbers, counts);
    if (status != SADDLE_MEMORY_LIMIT) return status;
    *rule = single;
    rule->most_inverse = 0;
    return sd_ldlt_find(t->c, B, rule, NULL, &m->plan, &m->numbers, counts);
}

/*
 * The exact schedule on the host, which finds the pattern; again with larger thresholds where pivots were
 * moved, and in double where an inverse is too large for its rounding in single to be harmless.
 */
static saddle_status find(const making *t, const sd_block_matrix *B, sd_ldlt_rule *rule,
                          sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    saddle_status status = sd_ldlt_find(t->c, B, rule, NULL, &m->plan, &m->numbers, counts);
    if (!status && !rule->symbolic &&
        spoilt_by_single(t, rule, counts->replaced > 0 ? INFINITY : counts->largest, B->largest))
        status = find_in_double(t, B, rule, counts);
    const bool moved = counts->perturbed > 0 && !counts->dear && !rule->symbolic;
    if (!status && moved && t->s->options.small_pivot == 0 && !is_swept(t->s))
        status = find_again(t, B, rule, counts);
    m->pushed_back = counts->pushed_back;
    m->tau = rule->tau;
    m->small = B->largest > 0 ? rule->small / B->largest : 0;
    return status;
}

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
static saddle_status plan_again(const making *t, const sd_block_matrix *B, const sd_csr *layout,
                                const sd_ldlt_rule *rule, const bool *last)
{
    sd_block_ldlt *m = t->m;
    sd_ldlt_counts counts;
    sd_ldlt_rule pattern = *rule;
    pattern.symbolic = true;
    sd_block_ldlt_free(t->e, m);
    saddle_status status = sd_ldlt_find(t->c, B, &pattern, last, &m->plan, &m->numbers, &counts);
    for (int32_t i = 0; i < B->blocks && !status; ++i) m->pushed_back += last[i];
    return status ? status : sd_ldlt_begin_run(t->e, m, layout, rule->precision);
}

/*
 * Sweeps. Blocks that are weak after the first one are pushed back, and so are those that are weak after the
 * last, once each; all begins again then. What has small pivots nevertheless is swept with the larger
 * threshold.
 */
static saddle_status sweep(const making *t, const sd_block_matrix *B, const sd_csr *layout,
                           const sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    const saddle_solver *s = t->s;
    sd_context *c = t->c;
    sd_block_ldlt *m = t->m;
    sd_sweep_rule q = {.pivots = {.kernel = rule->kernel, .small = rule->small},
                       .relax = s->options.relax,
                       .sweeps = (int)s->options.sweeps,
                       .rows = s->options.sweep_order == SADDLE_SWEEP_ORDER_ROW,
                       .early = rule->generations > 0 && rule->symbolic};
    int generations = q.early ? 2 : 0;
    bool *weak = sd_alloc_zero(c, B->blocks, sizeof *weak, "blocks pushed back");
    bool *last = sd_alloc_zero(c, B->blocks, sizeof *last, "blocks pushed back");
    saddle_status status = weak && last ? sd_ldlt_begin_run(t->e, m, layout, rule->precision) : c->status;
    for (bool done = false; !done && !status;) {
        status = sd_ldlt_run_sweeps(t->e, &m->schedule, &s->op[sd_iteration_precision(s)].sparse, &q, weak,
                                    &m->numbers, counts, &m->residual);
        const bool ended_early = q.early && counts->perturbed + counts->replaced > 0;
        const bool failed = counts->perturbed > 0;
        q.early = false;
        if (status) break;
        if (failed && generations-- > 0 && add_last(&m->plan, weak, rule->most_pushed, last))
            status = plan_again(t, B, layout, rule, last);
        else if (failed && !ended_early && s->options.small_pivot == 0 &&
                 q.pivots.small < SMALL_AGAIN * B->largest)
            q.pivots.small = SMALL_AGAIN * B->largest;
        else
            done = !ended_early;
    }
    sd_free(c, weak);
    sd_free(c, last);
    m->residual /= B->largest > 0 ? B->largest : 1;
    return status;
}

/* Goes over to the exact schedule on the same pattern. */
static saddle_status fall_back(const making *t, const sd_block_matrix *B, const sd_ldlt_rule *rule,
                               sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    const sd_batch_rule pivots = {.kernel = rule->kernel, .small = fmax(rule->small, SMALL * B->largest)};
    sd_log(t->c, SADDLE_LOG_WARNING,
           "jacobi: the sweeps diverge (residual %.1e on the pattern): factored by levels instead",
           m->residual);
    m->fallback = true;
    m->residual = NAN;
    return sd_ldlt_refactor(t->e, &m->schedule, &t->s->op[sd_iteration_precision(t->s)].sparse, &pivots,
                            &m->numbers, counts);
}

/* The matrix as the operator of this precision stores it: A itself, or all its entries in `whole`. */
static saddle_status find_layout(const making *t, sd_precision precision, sd_csr *whole,
                                 const sd_csr **layout)
{
    const saddle_solver *s = t->s;
    *layout = &s->A;
    if (!s->A.half) return SADDLE_OK;
    const saddle_status status = sd_csr_expand(t->c, &s->A, whole);
    if (!s->op[precision].sparse.half) *layout = whole;
    return status;
}

/* New values on the plan that is there; *stale where too many pivots had to be moved. */
static saddle_status refactor(const making *t, const sd_block_matrix *B, const sd_csr *layout,
                              const sd_ldlt_rule *rule, sd_ldlt_counts *counts, bool *stale)
{
    sd_block_ldlt *m = t->m;
    const sd_batch_rule pivots = {.kernel = rule->kernel, .small = rule->small};
    saddle_status status = SADDLE_OK;
    if (!m->schedule.part) status = sd_ldlt_begin_run(t->e, m, layout, rule->precision);
    if (!status)
        status = sd_ldlt_refactor(t->e, &m->schedule, &t->s->op[sd_iteration_precision(t->s)].sparse, &pivots,
                                  &m->numbers, counts);
    *stale = counts->perturbed > B->n / STALE_SHARE || counts->replaced > 0;
    if (!status && !*stale && rule->precision == SD_SINGLE) {
        const sd_vector inverse = {m->numbers.inverse, m->plan.square[m->plan.blocks], SD_SINGLE};
        double largest = 0;
        sd_engine_reserve(t->e, inverse.n, NULL);
        if (!t->e->status) sd_norm_inf(t->e, &inverse, &largest);
        *stale = spoilt_by_single(t, rule, largest, B->largest);
        status = t->e->status;
    }
    return status;
}

/* A plan and its numbers from the beginning. */
static saddle_status make_anew(const making *t, const sd_block_matrix *B, const sd_csr *layout,
                               sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    const bool swept = is_swept(t->s);
    sd_block_ldlt_free(t->e, m);
    *rule = rule_of(t, B);
    saddle_status status = find(t, B, rule, counts);
    if (status || counts->dear) return status;
    if (swept) status = sweep(t, B, layout, rule, counts);
    const bool diverged = swept && !(m->residual <= DIVERGED);
    if (!status && diverged && t->s->options.fallback == SADDLE_FALLBACK_EXACT)
        status = fall_back(t, B, rule, counts);
    return status;
}

/* New values may be of another size than those that R was made for: B is brought near to 1 again, by a power
 * of 4, where it is far from it. What runs on the plan has to know the scaling. */
static void set_units(const making *t, int of_solve, bool again, sd_block_matrix *B)
{
    enum { FAR = 40 };
    sd_block_ldlt *m = t->m;
    const int size = B->largest > 0 && isfinite(B->largest) ? ilogb(B->largest) : 0;
    const int shift = abs(size) > FAR ? size / 2 * 2 : 0, exponent = of_solve - shift;
    sd_block_matrix_shift(-shift, B);
    if (again && exponent != m->exponent) sd_ldlt_end_run(t->e, m);
    m->shift = shift;
    m->exponent = exponent;
}

static saddle_status make(const making *t, bool *dear)
{
    const saddle_solver *s = t->s;
    sd_block_ldlt *m = t->m;
    const saddle_preparation *p = &m->preparation;
    const sd_precision precision = sd_iteration_precision(s);
    sd_csr whole = {0};
    const sd_csr *layout;
    sd_block_matrix B = {0};
    sd_ldlt_counts counts = {0};
    bool again = m->plan.row != NULL && !is_swept(s) && (isnan(t->tau) || t->tau == m->tau);
    bool stale = false;
    saddle_status status = find_layout(t, precision, &whole, &layout);
    if (!status)
        status = sd_block_matrix_make(t->c, s->A.half ? &whole : &s->A, p->permutation, p->row_scale,
                                      (int32_t)p->blocks, p->block_start, &B);
    if (!status) {
        set_units(t, s->op[precision].exponent, again, &B);
        again = again && (m->factors.precision == SD_DOUBLE || precision == SD_SINGLE || fits_single(t));
        sd_ldlt_rule rule = rule_of(t, &B);
        if (again) rule.precision = m->factors.precision;
        if (again) status = refactor(t, &B, layout, &rule, &counts, &stale);
        if (!status && stale)
            sd_log(t->c, SADDLE_LOG_INFO,
                   "the plan is stale (%lld pivots had to be moved, or inverses are large): planning again",
                   (long long)counts.perturbed);
        if (!status && (!again || stale)) status = make_anew(t, &B, layout, &rule, &counts);
        *dear = counts.dear;
        m->positive = counts.negative + counts.replaced == 0;
        if (!status && !counts.dear) status = sd_place_ldlt(s, t->e, rule.kernel, m);
        if (!status && !counts.dear) tell(t, &rule, &counts);
        if (!status && !counts.dear && s->options.check == SADDLE_CHECK_ON)
            status = sd_ldlt_check(t->e, m, s->A.half ? &whole : &s->A, &t->info->pattern_residual,
                                   &t->info->reconstruction_error);
    }
    sd_csr_free(t->c, &whole);
    sd_block_matrix_free(t->c, &B);
    return status;
}

saddle_status sd_make_ldlt(saddle_solver *s, double tau, double most_flops, bool *dear)
{
    const making t = {s, &s->c, &s->e, &s->ldlt, tau, most_flops, &s->info};
    return make(&t, dear);
}

saddle_status sd_make_stronger_ldlt(const saddle_solver *s, sd_engine *e, double tau, double most_flops,
                                    sd_block_ldlt *m, saddle_info *info, bool *dear)
{
    const making t = {s, e->context, e, m, tau, most_flops, info};
    m->preparation = s->ldlt.preparation;
    return make(&t, dear);
}
