/* Block LDL' as a preconditioner: see ldlt_preconditioner.h. */
#include "factor/ldlt_preconditioner.h"

#include <math.h>

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

saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    sd_context *c = e->context;
    const bool run = m->numbers.data != NULL;
    const sd_precision precision = run ? m->numbers.precision : m->values.precision;
    double *scale = sd_alloc(c, plan->n, sizeof *scale, "scaling");
    if (!scale || make_order(c, m)) e->status = c->status;
    if (!m->scale.data) m->scale = sd_vector_new(e, precision, plan->n, "scaling");
    for (int32_t r = 0; r < plan->n && !e->status; ++r) scale[r] = scale_of(m, m->order[r]);
    if (!e->status) sd_vector_put(e, scale, &m->scale);
    sd_free(c, scale);
    m->factors = (sd_ldlt_factors){.n = plan->n,
                                   .blocks = plan->blocks,
                                   .levels = plan->levels,
                                   .largest = plan->largest,
                                   .level = plan->level,
                                   .start = plan->start,
                                   .row = plan->row,
                                   .diagonal = plan->diagonal,
                                   .square = plan->square,
                                   .list = plan->list,
                                   .data = run ? m->numbers.data : m->values.data,
                                   .inverse = run ? m->numbers.inverse : m->values.inverse,
                                   .order = m->order,
                                   .scale = m->scale.data,
                                   .precision = precision};
    return e->status;
}

void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const saddle_preparation preparation = m->preparation;
    const int exponent = m->exponent;
    sd_vector_free(e, &m->scale);
    sd_free(c, m->order);
    sd_ldlt_numbers_free(e, &m->numbers);
    sd_ldlt_runner_free(e, &m->runner);
    sd_ldlt_plan_free(c, &m->plan);
    sd_ldlt_values_free(c, &m->values);
    *m = (sd_block_ldlt){.preparation = preparation, .exponent = exponent, .residual = NAN};
}

static void apply(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const sd_ldlt_inverse *m = self;
    sd_vector work = m->work;
    sd_ldlt_solve(e, m->factors, r, z, &work);
}

sd_preconditioner sd_ldlt_preconditioner(const sd_ldlt_inverse *m)
{
    return (sd_preconditioner){apply, m, false, true};
}
