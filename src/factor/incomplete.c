/* Which pattern, which numbers, and what is tried again with a shift: see incomplete.h. */
#include "factor/incomplete.h"

#include "factor/fixed_point.h"
#include "factor/incomplete_parts.h"

#include <math.h>
#include <string.h>

/* By then a shift is beyond all entries of a row together, whatever the pattern. */
enum { RESTARTS_MOST = 60 };

/* S, 1 for a row without entries that are not 0, and the diagonal of B. */
static void look_at_rows(const sd_csr *B, double *largest, double *diagonal)
{
    for (int32_t i = 0; i < B->n; ++i) {
        double most = 0;
        diagonal[i] = 0;
        for (int64_t k = B->ptr[i]; k < B->ptr[i + 1]; ++k) {
            most = fmax(most, fabs(B->val[k]));
            if (B->ind[k] == i) diagonal[i] = B->val[k];
        }
        largest[i] = most > 0 ? most : 1;
    }
}

saddle_status sd_try_shifts(sd_context *c, sd_shift_try *attempt, void *self, sd_incomplete *m)
{
    saddle_status status = SADDLE_OK;
    bool broken = true;
    m->shift = m->flops = 0;
    for (m->restarts = 0; broken && !status; m->restarts += broken) {
        if (m->restarts > RESTARTS_MOST)
            return sd_fail(c, SADDLE_BAD_VALUE,
                           "the incomplete factorization breaks down with every shift of the diagonal, up "
                           "to %g times the entries: they are too large, scale the matrix",
                           m->shift);
        m->shift = m->restarts == 0 ? 0 : ldexp(SD_SHIFT_FIRST, m->restarts - 1);
        broken = false;
        status = attempt(self, m, &broken);
    }
    return status;
}

/* A try on the host. */
typedef struct host_try {
    sd_context *c;
    const sd_csr *B;
    const sd_incomplete_rule *rule;
    sd_incomplete_try *attempt;
    double *largest, *own, *diagonal;
} host_try;

static saddle_status try_here(void *self, sd_incomplete *m, bool *broken)
{
    const host_try *t = self;
    for (int32_t i = 0; i < m->n; ++i) {
        const double by = m->shift * t->largest[i];
        t->diagonal[i] = t->own[i] + (t->own[i] < 0 && !m->symmetric ? -by : by);
    }
    const sd_shifted shifted = {t->B, t->diagonal, t->largest};
    return t->attempt(t->c, &shifted, t->rule, m, broken);
}

saddle_status sd_try_with_shifts(sd_context *c, const sd_csr *B, const sd_incomplete_rule *rule,
                                 sd_incomplete_try *attempt, sd_incomplete *m)
{
    host_try t = {.c = c, .B = B, .rule = rule, .attempt = attempt};
    t.largest = sd_alloc(c, m->n, sizeof *t.largest, "the largest entries of rows");
    t.own = sd_alloc(c, m->n, sizeof *t.own, "the diagonal of a matrix");
    t.diagonal = sd_alloc(c, m->n, sizeof *t.diagonal, "a shifted diagonal");
    saddle_status status = t.largest && t.own && t.diagonal ? SADDLE_OK : c->status;
    m->shift = m->flops = 0;
    m->restarts = 0;
    if (!status) look_at_rows(B, t.largest, t.own);
    if (!status) status = sd_try_shifts(c, try_here, &t, m);
    sd_free_all(c, t.largest, t.own, t.diagonal);
    return status;
}

/* The arrays of numbers for the pattern that m has. */
static saddle_status take_numbers(sd_context *c, sd_incomplete *m)
{
    m->diagonal = sd_alloc(c, m->n, sizeof *m->diagonal, "the diagonal of a factor");
    m->lower_val = sd_alloc(c, m->lower.ptr[m->n], sizeof *m->lower_val, "the factor L");
    if (!m->symmetric) m->upper_val = sd_alloc(c, m->upper.ptr[m->n], sizeof *m->upper_val, "the factor U");
    return m->diagonal && m->lower_val && (m->symmetric || m->upper_val) ? SADDLE_OK : c->status;
}

/* L of L L' is by rows what was found by columns. */
static saddle_status symmetric_pattern(sd_context *c, const sd_csr *B, const sd_incomplete_rule *rule,
                                       sd_incomplete *m)
{
    sd_pattern columns;
    saddle_status status = sd_level_fill(c, B, rule->level, rule->threads, &columns);
    if (!status) status = sd_pattern_transpose(c, &columns, &m->lower, NULL);
    sd_pattern_free(c, &columns);
    return status;
}

static saddle_status general_pattern(sd_context *c, const sd_csr *B, const sd_incomplete_rule *rule,
                                     sd_incomplete *m)
{
    const sd_csr pattern = {.n = B->n, .nnz = B->nnz, .ptr = B->ptr, .ind = B->ind};
    sd_csr transpose = {0};
    sd_pattern columns = {0};
    saddle_status status = sd_csr_transpose(c, &pattern, &transpose);
    if (!status) status = sd_level_fill(c, B, rule->level, rule->threads, &m->upper);
    if (!status) {
        const bool symmetric =
            memcmp(B->ptr, transpose.ptr, ((size_t)B->n + 1) * sizeof *B->ptr) == 0 &&
            (B->nnz == 0 || memcmp(B->ind, transpose.ind, (size_t)B->nnz * sizeof *B->ind) == 0);
        if (!symmetric) status = sd_level_fill(c, &transpose, rule->level, rule->threads, &columns);
        if (!status) status = sd_pattern_transpose(c, symmetric ? &m->upper : &columns, &m->lower, NULL);
    }
    sd_pattern_free(c, &columns);
    sd_csr_free(c, &transpose);
    return status;
}

saddle_status sd_incomplete_pattern(sd_context *c, const sd_csr *B, bool symmetric,
                                    const sd_incomplete_rule *rule, sd_incomplete *m)
{
    *m = (sd_incomplete){.symmetric = symmetric, .n = B->n};
    return symmetric ? symmetric_pattern(c, B, rule, m) : general_pattern(c, B, rule, m);
}

saddle_status sd_incomplete_make(sd_context *c, const sd_csr *B, bool symmetric,
                                 const sd_incomplete_rule *rule, sd_incomplete *m)
{
    *m = (sd_incomplete){.symmetric = symmetric, .n = B->n};
    if (rule->level < 0 && rule->swept) return sd_fixed_point_fill(c, B, symmetric, rule, m);
    if (rule->level < 0) return sd_try_with_shifts(c, B, rule, symmetric ? sd_try_ict : sd_try_ilut, m);
    saddle_status status = sd_incomplete_pattern(c, B, symmetric, rule, m);
    if (!status) status = take_numbers(c, m);
    return status ? status : sd_incomplete_again(c, B, rule, m);
}

saddle_status sd_incomplete_again(sd_context *c, const sd_csr *B, const sd_incomplete_rule *rule,
                                  sd_incomplete *m)
{
    if (rule->swept) return sd_fixed_point(c, B, m->symmetric, rule, m);
    return sd_try_with_shifts(c, B, rule, m->symmetric ? sd_try_ic : sd_try_ilu, m);
}

void sd_incomplete_free(sd_context *c, sd_incomplete *m)
{
    sd_pattern_free(c, &m->lower);
    sd_pattern_free(c, &m->upper);
    sd_free_all(c, m->lower_val, m->upper_val, m->diagonal);
    *m = (sd_incomplete){0};
}
