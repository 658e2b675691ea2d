/* Fixed-point sweeps on a pattern that is given, ParIC and ParILU: see fixed_point.h. */
#include "factor/fixed_point.h"

#include "factor/fixed_point_sweep.h"

#include <string.h>

/* Arrays for the numbers of m, where it has none. */
static saddle_status reserve(sd_context *c, sd_incomplete *m)
{
    const char *what = "the entries of an incomplete factorization";
    if (!m->lower_val) m->lower_val = sd_alloc(c, m->lower.ptr[m->n], sizeof *m->lower_val, what);
    if (!m->diagonal) m->diagonal = sd_alloc(c, m->n, sizeof *m->diagonal, what);
    if (!m->lower_val || !m->diagonal) return c->status;
    if (m->symmetric || m->upper_val) return SADDLE_OK;
    m->upper_val = sd_alloc(c, m->upper.ptr[m->n], sizeof *m->upper_val, what);
    return m->upper_val ? SADDLE_OK : c->status;
}

static sd_csr view_of(const sd_pattern *p)
{
    return (sd_csr){.n = p->n, .nnz = p->ptr[p->n], .ptr = p->ptr, .ind = p->ind};
}

static saddle_status take_patterns(sd_sweeping *t, const sd_incomplete *m)
{
    sd_context *c = t->c;
    const char *what = "fixed-point sweeps";
    t->lower.rows = view_of(&m->lower);
    t->lower.rows.val = sd_alloc(c, t->lower.rows.nnz, sizeof(double), what);
    if (!t->lower.rows.val) return c->status;
    if (t->symmetric) return SADDLE_OK;
    const sd_csr upper = view_of(&m->upper);
    if (sd_csr_transpose(c, &upper, &t->upper.rows)) return c->status;
    t->upper.rows.val = sd_alloc(c, upper.nnz, sizeof(double), what);
    return t->upper.rows.val ? SADDLE_OK : c->status;
}

static saddle_status give_numbers(const sd_sweeping *t, sd_incomplete *m)
{
    memcpy(m->diagonal, t->diagonal, (size_t)t->n * sizeof(double));
    memcpy(m->lower_val, t->lower.rows.val, (size_t)t->lower.rows.nnz * sizeof(double));
    if (t->symmetric) return SADDLE_OK;
    sd_csr upper;
    if (sd_csr_transpose(t->c, &t->upper.rows, &upper)) return t->c->status;
    memcpy(m->upper_val, upper.val, (size_t)upper.nnz * sizeof(double));
    sd_csr_free(t->c, &upper);
    return SADDLE_OK;
}

static saddle_status try_sweeps(sd_context *c, const sd_shifted *B, const sd_incomplete_rule *rule,
                                sd_incomplete *m, bool *broken)
{
    sd_sweeping t;
    saddle_status status = sd_sweeping_open(c, B, m->symmetric, rule, &t);
    if (!status) status = take_patterns(&t, m);
    if (!status) status = sd_sweeping_fit(&t);
    if (!status) *broken = !sd_sweeping_guess(&t);
    if (!status && !*broken) status = sd_sweeping_iterate(&t, broken);
    if (!status && !*broken) status = give_numbers(&t, m);
    t.lower.rows.ptr = NULL; /* m's */
    t.lower.rows.ind = NULL;
    sd_sweeping_close(&t, m);
    return status;
}

saddle_status sd_fixed_point(sd_context *c, const sd_csr *B, bool symmetric, const sd_incomplete_rule *rule,
                             sd_incomplete *m)
{
    m->n = B->n;
    m->symmetric = symmetric;
    const saddle_status status = reserve(c, m);
    return status ? status : sd_try_with_shifts(c, B, rule, try_sweeps, m);
}
