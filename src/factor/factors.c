/* Factors in their two forms: fronts, or the columns of a sequence of pivots. See multifrontal.h. */
#include "factor/multifrontal.h"

#include "factor/device_fronts.h"

#include <math.h>
#include <string.h>

saddle_status sd_factors_make(sd_context *c, const sd_tree *t, const sd_front_kernels *kernels,
                              sd_precision precision, double delays, sd_factors *f)
{
    *f = (sd_factors){.tree = t, .precision = precision, .kernels = &kernels[precision], .delays = delays};
    f->values = sd_alloc(c, t->entry_ptr[t->n], sizeof *f->values, "values of the scaled matrix");
    if (f->values) return SADDLE_OK;
    f->tree = NULL; /* nothing was prepared */
    return c->status;
}

void sd_factors_free(sd_context *c, sd_factors *f)
{
    sd_device_fronts_free(c, f);
    sd_fronts_free(c, f);
    sd_simplicial_free(c, f->plain);
    sd_simplicial_free(c, f->found);
    sd_free(c, f->values);
    *f = (sd_factors){0};
}

/* A team costs as much as scaling some ten thousand entries. */
enum { TEAM_ENTRIES = 100000 };

/* Row i of A; power is 2^-exponent, or 0 where that is no number. */
static inline void take_row(const sd_csr *A, int32_t i, const double *scale, int exponent, double power,
                            const int64_t *restrict target, double *restrict values)
{
    const double own = scale[i];
    const int64_t end = A->ptr[i + 1];
    for (int64_t k = A->ptr[i]; k < end && power > 0; ++k)
        if (target[k] >= 0) values[target[k]] = own * (A->val[k] * power) * scale[A->ind[k]];
    for (int64_t k = A->ptr[i]; k < end && !(power > 0); ++k)
        if (target[k] >= 0) values[target[k]] = own * ldexp(A->val[k], -exponent) * scale[A->ind[k]];
}

void sd_factors_take(sd_factors *f, const sd_csr *A, const double *scale, int exponent, int threads)
{
    const int64_t *const target = f->tree->target;
    const bool near = exponent >= -1022 && exponent <= 1022; /* then a product with 2^-exponent is exact */
    const double power = near ? ldexp(1, -exponent) : 0;
    if (threads > 1 && A->nnz >= TEAM_ENTRIES) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int32_t i = 0; i < A->n; ++i) take_row(A, i, scale, exponent, power, target, f->values);
    } else { /* no team of one: it would cost more than a small matrix */
        for (int32_t i = 0; i < A->n; ++i) take_row(A, i, scale, exponent, power, target, f->values);
    }
}

int64_t sd_factors_bytes(const sd_factors *f)
{
    int64_t bytes = 0;
    if (f->simplicial) return sd_simplicial_bytes(f->simplicial);
    if (f->device) return sd_device_fronts_bytes(f);
    for (int32_t k = 0; k < f->tree->fronts; ++k)
        bytes += sd_panel_bytes(f->front[k].rows, f->front[k].columns, f->precision);
    return bytes;
}

double sd_factors_largest(const sd_factors *f)
{
    double largest = 0;
    if (f->simplicial) return sd_simplicial_largest(f->simplicial);
    if (f->device) return sd_device_fronts_largest(f);
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const double here = f->kernels->largest(&f->front[k]);
        if (!(here <= largest)) largest = here;
        if (isnan(here)) return here;
    }
    return largest;
}

void sd_put_d(sd_factors *f, int32_t r, int64_t k, double d, double e)
{
    const sd_run run = sd_run_of(f, r);
    if (f->precision == SD_DOUBLE) {
        ((double *)run.d)[2 * k] = d;
        ((double *)run.d)[2 * k + 1] = e;
    } else {
        ((float *)run.d)[2 * k] = (float)d;
        ((float *)run.d)[2 * k + 1] = (float)e;
    }
    if (f->device) sd_device_fronts_put(f, r, k, d, e);
    if (!f->simplicial) return;
    f->simplicial->least = 0; /* not known any more */
    /* the second of a 2x2 pivot completes it */
    const bool second = k > 0 && ((double *)run.d)[2 * k - 1] != 0;
    sd_simplicial_invert(f->simplicial, (int32_t)(second ? k - 1 : k));
}

/* ---- the two ways ---- */

saddle_status sd_factors_run(sd_context *c, sd_factors *f, const sd_factor_options *options)
{
    f->simplicial = NULL;
    if (f->device) return sd_device_fronts_run(c, f, options);
    const saddle_status status = f->storage ? SADDLE_OK : sd_fronts_make(c, f->delays, f);
    return status ? status : sd_fronts_run(c, f, options);
}

/* The tree's order as a sequence. */
static saddle_status make_plain(sd_context *c, sd_factors *f)
{
    int32_t *variable = sd_alloc(c, f->tree->n, sizeof *variable, "sequence of pivots");
    if (!variable) return c->status;
    for (int32_t k = 0; k < f->tree->n; ++k) variable[k] = k;
    return sd_simplicial_make(c, f->tree, variable, NULL, &f->plain);
}

saddle_status sd_factors_run_columns(sd_context *c, sd_factors *f, const sd_pivoting *pivoting,
                                     const sd_abreast_place *ready, bool *refused)
{
    const bool set = pivoting->rule == SD_PIVOT_THRESHOLD && f->found;
    sd_pivots pivots;
    if (!set && !f->plain) {
        const saddle_status status = make_plain(c, f);
        if (status) return status;
    }
    sd_simplicial *m = set ? f->found : f->plain;
    f->simplicial = NULL;
    f->definite = f->abandoned = false;
    if (ready) sd_abreast_take(ready, m, &pivots);
    *refused = !ready && !f->kernels->simplicial->run(m, f->values, pivoting, &pivots);
    if (*refused) return SADDLE_OK;
    if (f->again && !m->s.target && sd_sequence_has_places(&m->s)) { /* others are expected to follow */
        const saddle_status status = sd_sequence_place(c, &m->s);
        if (status) return status;
    }
    f->simplicial = m;
    f->pivots = pivots;
    f->delayed = 0;
    f->nnz = m->s.nnz;
    f->flops = m->s.flops;
    f->largest_front = m->s.largest;
    f->definite = pivoting->rule == SD_PIVOT_POSITIVE;
    return SADDLE_OK;
}

saddle_status sd_factors_set_sequence(sd_context *c, sd_factors *f, const sd_factors *other)
{
    const int32_t n = f->tree->n;
    int32_t *variable = sd_alloc(c, n, sizeof *variable, "sequence of pivots");
    bool *pair = sd_alloc(c, n, sizeof *pair, "sequence of pivots");
    saddle_status status = variable && pair ? SADDLE_OK : c->status;
    for (int32_t r = 0, k = 0; r < sd_runs(other) && !status; ++r) {
        const sd_run run = sd_run_of(other, r);
        for (int64_t j = 0; j < run.count; ++j, ++k) {
            variable[k] = f->tree->position[other->tree->order[run.variable[j]]];
            pair[k] = sd_get_d(other, &run, 2 * j + 1) != 0;
        }
    }
    sd_simplicial_free(c, f->found);
    f->found = NULL;
    if (status)
        sd_free(c, variable);
    else
        status = sd_simplicial_make(c, f->tree, variable, pair, &f->found);
    sd_free(c, pair);
    return status;
}

saddle_status sd_factors_share_sequence(sd_context *c, sd_factors *f, const sd_factors *other)
{
    const int32_t n = f->tree->n;
    if (f->found || !other->found) return SADDLE_OK;
    const sd_sequence *from = &other->found->s;
    int32_t *variable = sd_alloc(c, n, sizeof *variable, "sequence of pivots");
    bool *pair = sd_alloc_zero(c, n, sizeof *pair, "sequence of pivots");
    saddle_status status = variable && pair ? SADDLE_OK : c->status;
    for (int32_t k = 0; k < n && !status; ++k) variable[k] = from->variable[k];
    for (int32_t k = 0; k < from->nodes && !status; ++k) pair[from->node[k].k] = from->node[k].width == 2;
    if (status)
        sd_free(c, variable);
    else
        status = sd_simplicial_make(c, f->tree, variable, pair, &f->found);
    sd_free(c, pair);
    return status;
}
