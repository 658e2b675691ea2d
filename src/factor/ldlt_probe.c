/* A look at how good factors are, on the host: see block_ldlt.h. */
#include "factor/block_ldlt.h"

#include <math.h>

sd_ldlt_factors sd_ldlt_factors_of(const sd_ldlt_plan *plan, const sd_ldlt_numbers *x)
{
    return (sd_ldlt_factors){.n = plan->n,
                             .blocks = plan->blocks,
                             .levels = plan->levels,
                             .largest = plan->largest,
                             .level = plan->level,
                             .start = plan->start,
                             .row = plan->row,
                             .diagonal = plan->diagonal,
                             .square = plan->square,
                             .list = plan->list,
                             .data = x->data,
                             .inverse = x->inverse,
                             .precision = x->precision};
}

static double residual_of(const sd_block_matrix *B, const double *x)
{
    double sum = 0;
    for (int32_t r = 0; r < B->n; ++r) {
        double left = sd_ldlt_sign(r);
        for (int64_t k = B->rows.ptr[r]; k < B->rows.ptr[r + 1]; ++k)
            left -= B->rows.val[k] * x[B->rows.ind[k]];
        sum += left * left;
    }
    const double error = sqrt(sum / (B->n > 0 ? B->n : 1));
    return isfinite(error) ? error : INFINITY;
}

saddle_status sd_ldlt_probe(sd_context *c, const sd_block_matrix *B, const sd_ldlt_plan *plan,
                            const sd_ldlt_numbers *numbers, int threads, double *error)
{
    const int32_t n = B->n;
    sd_engine e = {0};
    saddle_status status = sd_engine_open_host(c, &e, SADDLE_DEVICE_CPU, threads);
    if (status) return status;
    int32_t *order = sd_alloc(c, n, sizeof *order, "order of rows");
    double *x = sd_alloc(c, n, sizeof *x, "a vector");
    sd_vector v = sd_vector_new(&e, numbers->precision, n, "a vector");
    sd_vector scale = sd_vector_new(&e, SD_DOUBLE, n, "a vector");
    sd_vector work = sd_vector_new(&e, numbers->precision, 2 * (int64_t)n, "a vector");
    if (!order || !x) e.status = c->status;
    if (!e.status) {
        for (int32_t i = 0, r = 0; i < plan->blocks; ++i)
            for (int32_t from = B->start[plan->block_at[i]]; r < plan->start[i + 1]; ++r) order[r] = from++;
        sd_ldlt_factors f = sd_ldlt_factors_of(plan, numbers);
        f.frame = (sd_frame){n, order, scale.data, numbers->precision};
        for (int32_t r = 0; r < n; ++r) x[r] = sd_ldlt_sign(r);
        sd_vector_put(&e, x, &v);
        sd_fill(&e, 1.0, &scale);
        sd_ldlt_solve(&e, &f, &v, &v, &work);
        sd_vector_get(&e, &v, x);
        *error = residual_of(B, x);
    }
    status = e.status;
    sd_vector_free(&e, &v);
    sd_vector_free(&e, &scale);
    sd_vector_free(&e, &work);
    sd_free_all(c, order, x);
    sd_engine_close(&e);
    return status;
}
