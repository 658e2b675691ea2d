/* Block LDL' as a preconditioner: see ldlt_preconditioner.h. */
#include "factor/ldlt_preconditioner.h"

#include <math.h>

/* The scaling of row i of A: see ldlt_preconditioner.h. */
static double scale_of(const sd_block_ldlt *m, int32_t i)
{
    const double *given = m->preparation->row_scale;
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
        int32_t from = m->preparation->block_start[plan->block_at[i]];
        for (; r < plan->start[i + 1]; ++r) m->order[r] = m->preparation->permutation[from++];
    }
    return SADDLE_OK;
}

saddle_status sd_ldlt_begin_run(sd_engine *e, sd_block_ldlt *m, const sd_csr *layout, sd_precision precision)
{
    sd_context *c = e->context;
    double *scale = sd_alloc(c, layout->n, sizeof *scale, "scaling");
    saddle_status status = scale ? make_order(c, m) : c->status;
    sd_ldlt_end_run(e, m);
    for (int32_t i = 0; i < layout->n && !status; ++i) scale[i] = scale_of(m, i);
    if (!status) status = sd_ldlt_schedule_make(c, &m->plan, layout, m->order, &m->schedule);
    if (!status) status = sd_ldlt_schedule_place(e, &m->schedule);
    if (!status) status = sd_ldlt_numbers_make(e, &m->schedule, precision, layout->n, scale, &m->numbers);
    m->placed = true;
    if (status) sd_ldlt_end_run(e, m);
    sd_free(c, scale);
    return e->status = status;
}

void sd_ldlt_end_run(sd_engine *e, sd_block_ldlt *m)
{
    sd_ldlt_numbers_free(e->context, m->placed ? e : NULL, &m->numbers);
    sd_ldlt_schedule_unplace(e, &m->schedule);
    m->placed = false;
}

/* A host array where the backend can read it. */
static const void *placed(sd_engine *e, const void *host, int64_t count, size_t size)
{
    return sd_placed(e, host, count * (int64_t)size, "factors");
}

static saddle_status place_scale(sd_engine *e, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const int32_t n = m->plan.n;
    double *scale = sd_alloc(c, n, sizeof *scale, "scaling");
    if (!scale || make_order(c, m)) e->status = c->status;
    if (!m->scale.data) m->scale = sd_vector_new(e, SD_DOUBLE, n, "scaling");
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
    sd_ldlt_factors *f = &m->factors;
    *f = sd_ldlt_factors_of(plan, &m->numbers);
    f->start = placed(e, plan->start, blocks + 1, sizeof *plan->start);
    f->row = placed(e, plan->row, blocks + 1, sizeof *plan->row);
    f->diagonal = placed(e, plan->diagonal, blocks, sizeof *plan->diagonal);
    f->square = placed(e, plan->square, blocks + 1, sizeof *plan->square);
    f->list = placed(e, plan->list, plan->row[blocks], sizeof *plan->list);
    f->frame = (sd_frame){.n = plan->n, .order = placed(e, m->order, plan->n, sizeof *m->order)};
}

static void place_numbers(sd_engine *e, sd_block_ldlt *m)
{
    const sd_ldlt_plan *plan = &m->plan;
    const size_t number = sd_precision_size(m->numbers.precision);
    sd_ldlt_numbers found = m->numbers;
    if (m->placed) return;
    m->placed = true;
    if (e->backend->host_memory) return;
    m->numbers.data = sd_to_backend(e, found.data, plan->entries * (int64_t)number, "factors");
    m->numbers.inverse =
        sd_to_backend(e, found.inverse, plan->square[plan->blocks] * (int64_t)number, "factors");
    sd_ldlt_numbers_free(e->context, NULL, &found);
}

saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m)
{
    if (place_scale(e, m)) return e->status;
    if (!m->factors.start) place_pattern(e, m);
    place_numbers(e, m);
    m->factors.frame.scale = m->scale.data;
    m->factors.frame.precision = m->factors.precision = m->numbers.precision;
    m->factors.data = m->numbers.data;
    m->factors.inverse = m->numbers.inverse;
    return e->status;
}

/* Of G = S^-1, which is all that is kept of S: its factors give S, and those of S give N. */
saddle_status sd_ldlt_place_entries(sd_engine *e, sd_batch_kernel kernel, sd_block_ldlt *m)
{
    const sd_ldlt_factors *f = &m->factors;
    const sd_batch_rule rule = {.kernel = kernel};
    sd_batch_plan plan = {0};
    sd_batch_factors of_inverse = {0}, of_square = {0};
    sd_batch_free(e, &m->below);
    m->factors.below = NULL;
    sd_batch_place(e, m->plan.blocks, m->plan.start, NULL, NULL, NULL, &plan);
    if (!e->status) of_inverse = sd_batch_factors_new(e, &plan, f->precision);
    if (!e->status) of_square = sd_batch_factors_new(e, &plan, f->precision);
    if (!e->status) m->below = sd_batch_new(e, &plan, f->precision, "factors");
    if (!e->status) {
        const sd_batch inverse = {&plan, (void *)(uintptr_t)f->inverse, f->precision};
        sd_batch square = {&plan, of_square.data, f->precision};
        sd_batch_factor(e, &rule, &inverse, &of_inverse);
        sd_batch_invert(e, &of_inverse, &square);
        sd_batch_factor(e, &rule, &square, &of_square);
        sd_ldlt_split(e, &of_square, &of_inverse, &m->below);
    }
    sd_batch_factors_free(e, &of_inverse);
    sd_batch_factors_free(e, &of_square);
    sd_batch_unplace(e, &plan);
    m->below.plan = NULL;
    m->factors.below = m->below.data;
    return e->status;
}

void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m)
{
    sd_context *c = e->context;
    const saddle_preparation *preparation = m->preparation;
    const int exponent = m->exponent, shift = m->shift;
    const sd_ldlt_factors *f = &m->factors;
    const void *pattern[] = {f->start, f->row, f->diagonal, f->square, f->list, f->frame.order};
    for (size_t k = 0; k < sizeof pattern / sizeof pattern[0]; ++k) sd_unplace(e, pattern[k]);
    sd_batch_free(e, &m->below);
    sd_ldlt_unplace_signs(e, m);
    sd_vector_free(e, &m->scale);
    sd_free(c, m->order);
    sd_ldlt_end_run(e, m);
    sd_ldlt_plan_free(c, &m->plan);
    *m = (sd_block_ldlt){.preparation = preparation, .shift = shift, .exponent = exponent, .residual = NAN};
}
