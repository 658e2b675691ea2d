/* Block LDL' as a preconditioner: see ldlt_preconditioner.h. */
#include "factor/ldlt_preconditioner.h"

saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    sd_ldlt_factors *f = &m->factors;
    sd_context *c = e->context;
    const double *given = m->preparation.row_scale;
    double *scale = sd_alloc(c, plan->n, sizeof *scale, "scaling");
    m->order = sd_alloc(c, plan->n, sizeof *m->order, "order of rows");
    m->scale = sd_vector_new(e, m->values.precision, plan->n, "scaling");
    if (!scale || !m->order) e->status = c->status;
    for (int32_t i = 0, r = 0; i < plan->blocks && !e->status; ++i) {
        int32_t from = m->preparation.block_start[plan->block_at[i]];
        for (; r < plan->start[i + 1]; ++r, ++from) {
            m->order[r] = m->preparation.permutation[from];
            scale[r] = given ? given[m->order[r]] : 1.0;
        }
    }
    if (!e->status) sd_vector_put(e, scale, &m->scale);
    sd_free(c, scale);
    *f = (sd_ldlt_factors){.n = plan->n,
                           .blocks = plan->blocks,
                           .levels = plan->levels,
                           .largest = plan->largest,
                           .level = plan->level,
                           .start = plan->start,
                           .row = plan->row,
                           .diagonal = plan->diagonal,
                           .square = plan->square,
                           .list = plan->list,
                           .data = m->values.data,
                           .inverse = m->values.inverse,
                           .order = m->order,
                           .scale = m->scale.data,
                           .precision = m->values.precision};
    return e->status;
}

void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m)
{
    sd_vector_free(e, &m->scale);
    sd_free(e->context, m->order);
    m->order = NULL;
    sd_ldlt_plan_free(e->context, &m->plan);
    sd_ldlt_values_free(e->context, &m->values);
    m->factors = (sd_ldlt_factors){0};
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
