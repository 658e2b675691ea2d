/* What a block LDL' is made by, where the options leave it open. */
#include "method/ldlt/ldlt.h"

#include <math.h>

enum { PUSHED_LEAST = 16, PUSHED_SHARE = 100 }; /* blocks that may be pushed back: some, or one of so many */
static const double MOST_FLOPS = 1e12;    /* of a complete factorization, for nearly all of it to be kept */
static const double WIDEST_SCALE = 1e18;  /* of rows, and its inverse, for vectors to pass in single */
static const double LARGEST_SINGLE = 100; /* of an inverse: more of them, and rounding grows on its way */
static const double SMALL_SINGLE = 1e-6;  /* pivots below are nothing but rounding there */

/* Entries of a complete factor relative to those of A, and what is dropped then. */
static const struct {
    double share, tau;
} tau_of[] = {{15, 1e-4}, {60, 1e-3}};
enum { TAUS = sizeof tau_of / sizeof tau_of[0] };

/*
 * What is kept of the fill if that is left open: little where a complete factorization, whose entries and
 * operations the preparation has counted, would take long, or many times the memory of A; nearly all
 * otherwise.
 */
static double choose_tau(const sd_ldlt_making *t)
{
    const sd_problem *p = t->p;
    const double share =
        (double)t->m->preparation->factor_nnz / (double)(p->facts->nnz > 0 ? p->facts->nnz : 1);
    const double flops = t->m->preparation->factor_flops;
    if (!isnan(t->strength->tau)) return t->strength->tau;
    if (p->options->fill == SADDLE_FILL_TAU || flops > MOST_FLOPS) return p->options->fill_tau;
    for (int k = 0; k < TAUS; ++k)
        if (share <= tau_of[k].share) return tau_of[k].tau;
    return p->options->fill_tau;
}

static sd_fill_kind choose_fill(const sd_ldlt_making *t)
{
    switch (t->p->options->fill) {
    case SADDLE_FILL_NONE: return SD_FILL_NONE;
    case SADDLE_FILL_LEVEL: return SD_FILL_LEVEL;
    case SADDLE_FILL_TAU: return SD_FILL_TAU;
    default: return t->state->swept ? SD_FILL_NONE : SD_FILL_TAU;
    }
}

/* Whether a vector keeps within the range of single precision when it is scaled. */
bool sd_ldlt_fits_single(const sd_ldlt_making *t)
{
    const double *scale = t->m->preparation->row_scale;
    const double all = ldexp(1.0, t->m->exponent / 2);
    bool fits = all <= WIDEST_SCALE && all >= 1 / WIDEST_SCALE;
    for (int32_t i = 0; i < t->p->A->n && scale && fits; ++i)
        fits = all * scale[i] <= WIDEST_SCALE && all * scale[i] >= 1 / WIDEST_SCALE;
    return fits;
}

/*
 * What is dropped is far beyond the rounding of single precision where the factors are large: there they are
 * kept in half the bytes.
 */
static sd_precision choose_precision(const sd_ldlt_making *t)
{
    const sd_problem *p = t->p;
    const int asked = p->options->factor_precision;
    const bool expensive = t->m->preparation->factor_flops > p->expensive && !t->state->swept;
    if (sd_iteration_precision(p) == SD_SINGLE) {
        if (asked == SADDLE_FACTOR_PRECISION_DOUBLE)
            sd_log(t->c, SADDLE_LOG_WARNING,
                   "factors are kept in single, because the iteration is in single");
        return SD_SINGLE;
    }
    if (asked == SADDLE_FACTOR_PRECISION_DOUBLE || (asked == SADDLE_FACTOR_PRECISION_AUTO && !expensive))
        return SD_DOUBLE;
    if (sd_ldlt_fits_single(t)) return SD_SINGLE;
    if (asked == SADDLE_FACTOR_PRECISION_SINGLE)
        sd_log(t->c, SADDLE_LOG_WARNING,
               "factors are kept in double: the range of the row scaling is too wide for single precision");
    return SD_DOUBLE;
}

/* Whether the factors are in single because `auto` chose it. */
static bool may_be_spoilt(const sd_ldlt_making *t, sd_precision precision)
{
    return precision == SD_SINGLE && sd_iteration_precision(t->p) == SD_DOUBLE &&
           t->p->options->factor_precision == SADDLE_FACTOR_PRECISION_AUTO;
}

/* Whether rounding in single precision may spoil them. */
bool sd_ldlt_spoilt(const sd_ldlt_making *t, const sd_ldlt_rule *rule, double inverse)
{
    return may_be_spoilt(t, rule->precision) && !(inverse * t->B.largest <= LARGEST_SINGLE);
}

/* Numbers that may be kept off the diagonal where memory is limited: a fifth of what is left, as they exist
 * twice for a moment, in addition to their lists. */
int64_t sd_ldlt_most_numbers(const sd_ldlt_making *t, sd_precision precision)
{
    const int64_t limit = t->p->options->max_memory, used = sd_bytes_in_use(t->c);
    if (limit <= 0) return 0;
    const int64_t most =
        (int64_t)(t->share * (double)(limit - used)) / (5 * (int64_t)sd_precision_size(precision));
    return most > 1 ? most : 1;
}

sd_ldlt_rule sd_ldlt_rule_of(const sd_ldlt_making *t)
{
    const sd_problem *p = t->p;
    static const sd_batch_kernel kernels[] = {SD_LDLT_BUNCH_KAUFMAN, SD_LDLT_STATIC, SD_LDLT_COMPLETE};
    const saddle_options *o = p->options;
    const sd_precision precision = choose_precision(t);
    const double least = precision == SD_SINGLE ? SMALL_SINGLE : SD_LDLT_SMALL;
    const double small = t->m->small > 0 ? t->m->small : o->small_pivot > 0 ? o->small_pivot : least;
    const sd_fill_kind fill = choose_fill(t);
    return (sd_ldlt_rule){
        .symbolic = t->state->swept && fill != SD_FILL_TAU,
        .fill = fill,
        .level = (int)o->fill_level,
        .tau = choose_tau(t),
        .most_flops = t->strength->most_flops,
        .most_inverse = may_be_spoilt(t, precision) && t->B.largest > 0 ? LARGEST_SINGLE / t->B.largest : 0,
        .most = sd_ldlt_most_numbers(t, precision),
        .kernel = kernels[o->pivot],
        .weak = small * t->B.largest,
        .small = small * t->B.largest,
        .generations = o->push_back == SADDLE_ON ? 1 : 0,
        .most_pushed = PUSHED_LEAST + t->B.blocks / PUSHED_SHARE,
        .precision = precision,
        .threads = p->threads,
        .reference = p->device == SADDLE_DEVICE_REFERENCE};
}
