/* Block LDL' as a preconditioner: see ldlt_preconditioner.h. */
#include "factor/ldlt_preconditioner.h"

#include <math.h>

static const double SETTLED = 1e-2; /* change of a sweep beside its result */

/* The scaling of row i of A: that of the preparation, for A 2^-exponent. */
static double scale_of(const sd_block_ldlt *m, int32_t i)
{
    const double *given = m->preparation.row_scale;
    return ldexp(given ? given[i] : 1.0, m->exponent / 2);
}

/* m->order: the preparation's rows, block by block as the plan numbers them. */
static saddle_status make_order(sd_context *c, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    if (m->order) return SADDLE_OK;
    m->order = sd_alloc(c, plan->n, sizeof *m->order, "order of rows");
    if (!m->order) return c->status;
    for (int32_t i = 0, r = 0; i < plan->blocks; ++i) {
        int32_t from = m->preparation.block_start[plan->block_at[i]];
        for (; r < plan->start[i + 1]; ++r) m->order[r] = m->preparation.permutation[from++];
    }
    return SADDLE_OK;
}

saddle_status sd_ldlt_begin_run(sd_engine *e, sd_block_ldlt *m, const sd_csr *layout, sd_precision precision)
{
    sd_context *c = e->context;
    double *scale = sd_alloc(c, layout->n, sizeof *scale, "scaling");
    saddle_status status = scale ? make_order(c, m) : c->status;
    for (int32_t i = 0; i < layout->n && !status; ++i) scale[i] = scale_of(m, i);
    if (!status) status = sd_ldlt_runner_make(e, &m->plan, layout, m->order, scale, &m->runner);
    if (!status) status = sd_ldlt_numbers_make(e, &m->runner, precision, &m->numbers);
    sd_ldlt_values_free(c, &m->values);
    sd_free(c, scale);
    return e->status = status;
}

/* A host array where the backend can read it. */
static const void *placed(sd_engine *e, const void *host, int64_t count, size_t size)
{
    return e->backend->host_memory ? host : sd_to_backend(e, host, count * (int64_t)size, "factors");
}

static saddle_status place_scale(sd_engine *e, sd_precision precision, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const int32_t n = m->plan.n;
    double *scale = sd_alloc(c, n, sizeof *scale, "scaling");
    if (!scale || make_order(c, m)) e->status = c->status;
    if (!m->scale.data) m->scale = sd_vector_new(e, precision, n, "scaling");
    for (int32_t r = 0; r < n && !e->status; ++r) scale[r] = scale_of(m, m->order[r]);
    if (!e->status) sd_vector_put(e, scale, &m->scale);
    sd_free(c, scale);
    return e->status;
}

/* The pattern, which stays as it is from one factorization to the next. */
static void place_pattern(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    const int64_t blocks = plan->blocks;
    m->factors = (sd_ldlt_factors){.n = plan->n,
                                   .blocks = plan->blocks,
                                   .levels = plan->levels,
                                   .largest = plan->largest,
                                   .level = plan->level,
                                   .start = placed(e, plan->start, blocks + 1, sizeof *plan->start),
                                   .row = placed(e, plan->row, blocks + 1, sizeof *plan->row),
                                   .diagonal = placed(e, plan->diagonal, blocks, sizeof *plan->diagonal),
                                   .square = placed(e, plan->square, blocks + 1, sizeof *plan->square),
                                   .list = placed(e, plan->list, plan->row[blocks], sizeof *plan->list),
                                   .order = placed(e, m->order, plan->n, sizeof *m->order)};
}

static void release(sd_engine *e, const void *block)
{
    if (block && !e->backend->host_memory) e->backend->release(e, (void *)(uintptr_t)block);
}

static void release_values(sd_engine *e, sd_block_ldlt *m)
{
    if (m->own_values) {
        release(e, m->factors.data);
        release(e, m->factors.inverse);
    }
    m->own_values = false;
}

saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    const bool run = m->numbers.data != NULL;
    const sd_precision precision = run ? m->numbers.precision : m->values.precision;
    const size_t number = sd_precision_size(precision);
    if (place_scale(e, precision, m)) return e->status;
    if (!m->factors.start) place_pattern(e, m);
    release_values(e, m);
    m->factors.scale = m->scale.data;
    m->factors.precision = precision;
    m->own_values = !run;
    m->factors.data = run ? m->numbers.data : placed(e, m->values.data, plan->entries, number);
    m->factors.inverse =
        run ? m->numbers.inverse : placed(e, m->values.inverse, plan->square[plan->blocks], number);
    return e->status;
}

void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const saddle_preparation preparation = m->preparation;
    const int exponent = m->exponent;
    const sd_ldlt_factors *f = &m->factors;
    const void *pattern[] = {f->start, f->row, f->diagonal, f->square, f->list, f->order};
    for (size_t k = 0; k < sizeof pattern / sizeof pattern[0]; ++k) release(e, pattern[k]);
    release_values(e, m);
    sd_vector_free(e, &m->scale);
    sd_free(c, m->order);
    sd_ldlt_numbers_free(e, &m->numbers);
    sd_ldlt_runner_free(e, &m->runner);
    sd_ldlt_plan_free(c, &m->plan);
    sd_ldlt_values_free(c, &m->values);
    *m = (sd_block_ldlt){.preparation = preparation, .exponent = exponent, .residual = NAN};
}

saddle_status sd_ldlt_inverse_make(sd_engine *e, const sd_block_ldlt *ldlt, bool swept, int sweeps,
                                   sd_precision precision, sd_ldlt_inverse *m)
{
    const int32_t n = ldlt->factors.n;
    *m = (sd_ldlt_inverse){
        .factors = &ldlt->factors, .positive = ldlt->positive, .swept = swept, .sweeps = sweeps};
    m->work[0] = sd_vector_new(e, precision, 2 * (int64_t)n, "triangular solves");
    for (int k = 1; k < 3 && swept; ++k) m->work[k] = sd_vector_new(e, precision, n, "triangular solves");
    return e->status;
}

void sd_ldlt_inverse_free(sd_engine *e, sd_ldlt_inverse *m)
{
    for (int k = 0; k < 3; ++k) sd_vector_free(e, &m->work[k]);
}

/* Whether a sweep changed little: then another would change even less. `before` is lost. */
static bool has_settled(sd_engine *e, const sd_vector *after, sd_vector *before)
{
    double change = 0, size = 0;
    sd_axpby(e, 1.0, after, -1.0, before);
    sd_norm_inf(e, before, &change);
    sd_norm_inf(e, after, &size);
    return !(change > SETTLED * size);
}

/* Sweeps over one triangle, for b, between two vectors; returns how many. The last result is in *to. */
static int sweep(const sd_ldlt_inverse *m, sd_engine *e, bool forward, int sweeps, const sd_vector *b,
                 sd_vector *from, sd_vector *to)
{
    const int most = sweeps > 0 ? sweeps : m->factors->levels;
    int done = 1;
    sd_ldlt_sweep(e, m->factors, forward, b, NULL, to);
    while (done < most && !e->status) {
        const sd_vector swap = *from;
        *from = *to;
        *to = swap;
        sd_ldlt_sweep(e, m->factors, forward, b, from, to);
        ++done;
        if (sweeps == 0 && has_settled(e, to, from)) break;
    }
    return done;
}

/* Equal numbers of sweeps from 0 on both triangles, so that the application is symmetric. */
static void apply_swept(const sd_ldlt_inverse *m, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    sd_vector b = {m->work[0].data, m->factors->n, m->work[0].precision};
    sd_vector from = m->work[1], to = m->work[2];
    sd_ldlt_enter(e, m->factors, r, &b);
    const int sweeps = sweep(m, e, true, m->sweeps, &b, &from, &to);
    const sd_vector swap = b;
    b = to;
    to = swap;
    sweep(m, e, false, sweeps, &b, &from, &to);
    sd_ldlt_leave(e, m->factors, &to, z);
}

static void apply(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const sd_ldlt_inverse *m = self;
    sd_vector work = m->work[0];
    if (m->swept)
        apply_swept(m, e, r, z);
    else
        sd_ldlt_solve(e, m->factors, r, z, &work);
}

sd_preconditioner sd_ldlt_preconditioner(const sd_ldlt_inverse *m)
{
    const bool symmetric = !m->swept || m->sweeps > 0;
    return (sd_preconditioner){apply, m, symmetric && m->positive, symmetric};
}
