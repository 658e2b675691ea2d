/* The factorization of ic and ilu: values into the prepared matrix, factors on the host or on the device,
 * triangles where the iteration runs. */
#include "method/incomplete/incomplete.h"

#include <math.h>

/* Entries that are kept, and how they are computed, as the options say. */
static sd_incomplete_rule rule_of(const sd_problem *p)
{
    const saddle_options *o = p->options;
    sd_incomplete_rule rule = {.level = (int)o->level,
                               .tau = o->fill_tau,
                               .most = o->fill_most,
                               .swept = o->setup == SADDLE_SETUP_SWEEPS,
                               .sweeps = (int)o->sweeps,
                               .threads = p->threads};
    if (o->fill == SADDLE_FILL_NONE) rule.level = 0;
    if (o->fill == SADDLE_FILL_LEVEL) rule.level = (int)o->fill_level;
    if (o->fill == SADDLE_FILL_TAU) rule.level = -1;
    return rule;
}

static sd_precision factor_precision(const sd_problem *p)
{
    switch (p->options->factor_precision) {
    case SADDLE_FACTOR_PRECISION_DOUBLE: return SD_DOUBLE;
    case SADDLE_FACTOR_PRECISION_SINGLE: return SD_SINGLE;
    default: return sd_iteration_precision(p);
    }
}

/* The matrix in its order and scaling; *again where that was there and has got new values. */
static saddle_status take_matrix(sd_context *c, const sd_problem *p, sd_incomplete_state *s, bool *again)
{
    sd_csr whole = {0};
    const sd_csr *A;
    saddle_status status = sd_whole_matrix(c, p->A, &whole, &A);
    *again = s->prepared.source != NULL;
    if (!status && *again)
        sd_prepared_values(A, s->preparation, &s->prepared);
    else if (!status)
        status = sd_prepared_make(c, A, s->preparation, &s->prepared);
    if (!status && s->symmetric) sd_prepared_turn(&s->prepared);
    sd_csr_free(c, &whole);
    return status;
}

static void tell(sd_context *c, const sd_incomplete *m)
{
    if (m->shift == 0) return;
    sd_log(c, SADDLE_LOG_WARNING,
           "%s broke down %d time%s: the matrix was factored with %.2g times the largest entry of each row "
           "added to its diagonal",
           m->symmetric ? "ic" : "ilu", m->restarts, m->restarts == 1 ? "" : "s", m->shift);
}

/* The power of two by which vectors that enter are scaled beside R: R may be 1e-150 where A is 1e300, which
 * only leaves as much out of range. So they are near to 1 between the triangles, in single too. */
static int exponent_of_entering(const saddle_preparation *q)
{
    const int64_t n = q->n;
    if (!q->row_scale) return 0;
    return -(sd_largest_exponent(q->row_scale, n) + sd_smallest_exponent(q->row_scale, n)) / 2;
}

/* Triangles of the numbers where the iteration runs. M stands for A 2^-exponent of the operator (operator.h),
 * the factors for R A C 2^-exponent of the prepared matrix, or for minus that. */
static saddle_status place(sd_engine *e, const sd_problem *p, sd_incomplete_state *s)
{
    const saddle_preparation *q = s->preparation;
    const int32_t blocks = q->blocking == SADDLE_BLOCKING_NONE ? 0 : (int32_t)q->blocks;
    const int exponent = p->op[sd_iteration_precision(p)].exponent - s->prepared.exponent;
    const int entering = exponent_of_entering(q);
    sd_triangles *t = &s->triangles;
    saddle_status status = SADDLE_OK;
    if (!t->lower.ptr)
        status = sd_triangles_make(e, &s->numbers, factor_precision(p), blocks, q->block_start, t);
    else if (s->numbers.diagonal)
        status = sd_triangles_values(e, &s->numbers, t);
    if (!status && !s->numbers.diagonal) status = sd_incomplete_there_fill(e, &s->numbers, &s->there, t);
    if (!status) status = sd_triangles_frame(e, false, q->row_permutation, q->row_scale, entering, 1, t);
    if (!status)
        status = sd_triangles_frame(e, true, q->permutation, q->col_scale, exponent - entering,
                                    s->prepared.negated ? -1 : 1, t);
    return status;
}

/* ---- on a device ---- */

/* Values of the whole matrix in double there: the operator's, or *own, a copy. */
static saddle_status values_there(sd_engine *e, const sd_problem *p, const double **values, int *exponent,
                                  void **own)
{
    const sd_operator *op = &p->op[SD_DOUBLE];
    sd_csr whole = {0};
    const sd_csr *A;
    *own = NULL;
    *exponent = op->exponent;
    *values = op->device[2];
    if (*values) return SADDLE_OK;
    *exponent = 0;
    if (sd_whole_matrix(e->context, p->A, &whole, &A)) return e->status = e->context->status;
    *values = *own = sd_to_backend(e, A->val, A->nnz * (int64_t)sizeof *A->val, "values");
    sd_csr_free(e->context, &whole);
    return e->status;
}

/* Numbers on the pattern that there is. */
static saddle_status factor_there(sd_engine *e, const sd_problem *p, sd_incomplete_state *s)
{
    sd_context *c = e->context;
    sd_incomplete *m = &s->numbers;
    const double *values;
    void *own;
    int exponent;
    saddle_status status = SADDLE_OK;
    if (s->there.f.n > 0 && s->rule.swept && !s->there.f.change) sd_incomplete_there_free(e, &s->there);
    if (s->there.f.n == 0)
        status = sd_incomplete_there_make(e, &s->prepared, s->preparation, m, s->rule.swept, &s->there);
    sd_free_all(c, m->lower_val, m->upper_val, m->diagonal); /* which are those of other values */
    m->lower_val = m->upper_val = m->diagonal = NULL;
    if (status) {
        sd_incomplete_there_free(e, &s->there);
        return status;
    }
    status = values_there(e, p, &values, &exponent, &own);
    if (!status)
        status = sd_incomplete_there_factor(e, &s->rule, values, exponent, m, &s->there, &s->prepared);
    sd_release(e, own);
    return status;
}

/* The pattern of a first factorization. */
static saddle_status find_pattern(sd_context *c, sd_incomplete_state *s)
{
    sd_incomplete_free(c, &s->numbers);
    return sd_incomplete_pattern(c, &s->prepared.B, s->symmetric, &s->rule, &s->numbers);
}

/* ---- anywhere ---- */

/* Pattern and numbers by the host; a pattern without numbers is not wanted any more, nor is one with some of
 * them, which the next factorization would take for its own. */
static saddle_status make_here(sd_context *c, sd_incomplete_state *s)
{
    sd_incomplete_free(c, &s->numbers);
    const saddle_status status = sd_incomplete_make(c, &s->prepared.B, s->symmetric, &s->rule, &s->numbers);
    if (status) sd_incomplete_free(c, &s->numbers);
    return status;
}

static saddle_status finish(sd_engine *e, const sd_problem *p, sd_incomplete_state *s)
{
    tell(e->context, &s->numbers);
    const saddle_status status = place(e, p, s);
    return status ? status : sd_incomplete_choose(e, p, s);
}

saddle_status sd_incomplete_refactor(sd_engine *e, const sd_problem *p, const void *plan,
                                     const sd_strength *strength, void **factors, bool *given_up)
{
    (void)plan, (void)strength;
    sd_context *c = e->context;
    sd_incomplete_state *s = *factors;
    sd_incomplete *m = &s->numbers;
    const bool device = e->backend->incomplete && p->A->n > 0;
    bool again = s->there.f.n > 0;
    saddle_status status = SADDLE_OK;
    *given_up = false;
    s->rule = rule_of(p);
    if (!again) status = take_matrix(c, p, s, &again);
    if (!status && device && !m->lower.ptr && s->rule.level >= 0) status = find_pattern(c, s);
    const bool known = m->lower.ptr && (again || s->rule.level >= 0);
    if (!status && device && known && sd_incomplete_is_there(e, m, &s->prepared.B))
        status = factor_there(e, p, s);
    else if (!status)
        status = again && m->diagonal ? sd_incomplete_again(c, &s->prepared.B, &s->rule, m) : make_here(c, s);
    return status ? status : finish(e, p, s);
}

/* What fails here is left to be refused, or done again, when the host has looked at the values. */
saddle_status sd_incomplete_refactor_arriving(sd_engine *e, const sd_problem *p, const sd_strength *strength,
                                              void *factors, bool *done)
{
    (void)strength;
    sd_incomplete_state *s = factors;
    const sd_incomplete_rule rule = rule_of(p);
    *done = false;
    if (s->there.f.n > 0 && p->op[SD_DOUBLE].device[2] && rule.swept == s->rule.swept) {
        s->rule = rule;
        saddle_status status = factor_there(e, p, s);
        if (!status) status = finish(e, p, s);
        *done = !status;
        if (status == SADDLE_BAD_VALUE) e->status = SADDLE_OK;
        if (status && status != SADDLE_BAD_VALUE) return status;
    }
    return p->arriving->take(p->arriving);
}

saddle_status sd_incomplete_factor(sd_engine *e, const sd_problem *p, const void *plan, bool symmetric,
                                   void **factors, bool *given_up)
{
    sd_incomplete_state *s = *factors = sd_alloc_zero(e->context, 1, sizeof *s, "factors");
    if (!s) return e->context->status;
    s->preparation = plan;
    s->symmetric = symmetric;
    return sd_incomplete_refactor(e, p, plan, NULL, factors, given_up);
}

void sd_incomplete_state_free(sd_engine *e, void *factors)
{
    sd_incomplete_state *s = factors;
    sd_triangles_free(e, &s->triangles);
    sd_incomplete_there_free(e, &s->there);
    sd_incomplete_free(e->context, &s->numbers);
    sd_prepared_free(e->context, &s->prepared);
    sd_free(e->context, s);
}
