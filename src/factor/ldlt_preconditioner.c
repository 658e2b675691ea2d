/* Block LDL' as a preconditioner: see ldlt_preconditioner.h. */
#include "factor/ldlt_preconditioner.h"

/* A host array where the backend can read it. */
static const void *placed(sd_engine *e, const void *host, int64_t count, size_t size)
{
    return e->backend->host_memory ? host : sd_to_backend(e, host, count * (int64_t)size, "factors");
}

/* Order and scaling of the plan's rows, as the preparation has them. */
static void fill_order(sd_block_ldlt *m, double *scale)
{
    const sd_ldlt_plan *plan = &m->plan;
    const double *given = m->preparation.row_scale;
    for (int32_t i = 0, r = 0; i < plan->blocks; ++i) {
        int32_t from = m->preparation.block_start[plan->block_at[i]];
        for (; r < plan->start[i + 1]; ++r, ++from) {
            m->order[r] = m->preparation.permutation[from];
            scale[r] = given ? given[m->order[r]] : 1.0;
        }
    }
}

static void place_factors(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    const int64_t blocks = plan->blocks;
    const size_t number = sd_precision_size(m->values.precision);
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
                                   .data = placed(e, m->values.data, plan->entries, number),
                                   .inverse = placed(e, m->values.inverse, plan->square[blocks], number),
                                   .order = placed(e, m->order, plan->n, sizeof *m->order),
                                   .scale = m->scale.data,
                                   .precision = m->values.precision};
}

saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m)
{
    const int32_t n = m->plan.n;
    sd_context *c = e->context;
    double *scale = sd_alloc(c, n, sizeof *scale, "scaling");
    m->order = sd_alloc(c, n, sizeof *m->order, "order of rows");
    m->scale = sd_vector_new(e, m->values.precision, n, "scaling");
    if (!scale || !m->order) e->status = c->status;
    if (!e->status) fill_order(m, scale);
    if (!e->status) sd_vector_put(e, scale, &m->scale);
    sd_free(c, scale);
    if (!e->status) place_factors(e, m);
    return e->status;
}

static void release_factors(sd_engine *e, const sd_ldlt_factors *f)
{
    const void *owned[] = {f->start, f->row, f->diagonal, f->square, f->list, f->data, f->inverse, f->order};
    if (e->backend->host_memory) return;
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; ++k)
        if (owned[k]) e->backend->release(e, (void *)(uintptr_t)owned[k]);
}

void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m)
{
    release_factors(e, &m->factors);
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
