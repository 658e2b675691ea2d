/* A block LDL' by levels, on the host: the factorization that finds out which fill is worth keeping. */
#include "method/ldlt/ldlt.h"

#include <math.h>

static const double BETTER = 0.9; /* of what is left of a vector, to be taken for better */

/* Factors by another rule, in place of those that are there if they do better; those stay where there is no
 * room for both. */
static saddle_status try_rule(const sd_ldlt_making *t, const sd_ldlt_rule *other, double *error,
                              sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_context *c = t->c;
    sd_block_ldlt *m = t->m;
    sd_ldlt_plan plan = {0};
    sd_ldlt_numbers numbers = {0};
    sd_ldlt_counts again;
    double its_error = INFINITY;
    saddle_status status = sd_ldlt_find(c, &t->B, other, NULL, &plan, &numbers, &again);
    if (!status && !again.expensive)
        status = sd_ldlt_probe(c, &t->B, &plan, &numbers, rule->threads, &its_error);
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
static saddle_status find_again(const sd_ldlt_making *t, sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    sd_ldlt_rule other = *rule;
    double error = INFINITY;
    other.most = sd_ldlt_most_numbers(t, rule->precision);
    other.weak = SD_LDLT_SMALL_AGAIN * t->B.largest;
    saddle_status status = sd_ldlt_probe(t->c, &t->B, &m->plan, &m->numbers, rule->threads, &error);
    if (status == SADDLE_MEMORY_LIMIT) return SADDLE_OK; /* there are factors, if perhaps not the best */
    if (!status) status = try_rule(t, &other, &error, rule, counts);
    other.small = other.weak;
    if (!status) status = try_rule(t, &other, &error, rule, counts);
    return status;
}

/* The same in double; in single after all where there is no room for it. */
static saddle_status find_in_double(const sd_ldlt_making *t, sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    const sd_ldlt_rule single = *rule;
    const double asked = t->p->options->small_pivot;
    sd_log(t->c, SADDLE_LOG_INFO,
           "an inverse of %.1e is too large for single precision: keeping factors in double",
           counts->largest * t->B.largest);
    sd_block_ldlt_free(t->e, m);
    rule->precision = SD_DOUBLE;
    rule->most_inverse = 0;
    rule->weak = rule->small = (asked > 0 ? asked : SD_LDLT_SMALL) * t->B.largest;
    rule->most = sd_ldlt_most_numbers(t, SD_DOUBLE);
    const saddle_status status = sd_ldlt_find(t->c, &t->B, rule, NULL, &m->plan, &m->numbers, counts);
    if (status != SADDLE_MEMORY_LIMIT) return status;
    *rule = single;
    rule->most_inverse = 0;
    return sd_ldlt_find(t->c, &t->B, rule, NULL, &m->plan, &m->numbers, counts);
}

/*
 * The exact schedule on the host, which finds the pattern; again with larger thresholds where pivots were
 * perturbed, and in double where an inverse is too large for its rounding in single to be harmless.
 */
saddle_status sd_ldlt_make_by_levels(const sd_ldlt_making *t, sd_ldlt_rule *rule, sd_ldlt_counts *counts)
{
    sd_block_ldlt *m = t->m;
    saddle_status status = sd_ldlt_find(t->c, &t->B, rule, NULL, &m->plan, &m->numbers, counts);
    if (!status && !rule->symbolic &&
        sd_ldlt_spoilt(t, rule, counts->replaced > 0 ? INFINITY : counts->largest))
        status = find_in_double(t, rule, counts);
    const bool moved = counts->perturbed > 0 && !counts->expensive && !rule->symbolic;
    if (!status && moved && t->p->options->small_pivot == 0 && !t->state->swept)
        status = find_again(t, rule, counts);
    m->pushed_back = counts->pushed_back;
    m->tau = rule->tau;
    m->small = t->B.largest > 0 ? rule->small / t->B.largest : 0;
    return status;
}
