/*
 * Blocks and matrices: extraction of diagonal blocks, norms, inverses, in `real`. Included once a precision
 * by blocks.c. No header of its own.
 */

/* Entry (i, j) of the matrix, at row r and column c of the blocks, where these are of one block. */
static void NAME(put_entry)(const sd_block_map *map, int32_t r, int32_t c, real value, real *data)
{
    const int32_t k = map->block[r];
    if (map->block[c] != k || map->entry[k] < 0) return;
    const int32_t first = map->start[k], rows = map->start[k + 1] - first;
    data[map->entry[k] + (r - first) + (int64_t)(c - first) * rows] = value;
}

void PUBLIC(block_extract)(sd_engine *e, const sd_sparse *A, const sd_block_map *map, sd_blocks *x)
{
    if (e->status) return;
    real *data = x->data;
    const real *value = A->val;
    for (int64_t k = 0; k < x->plan->entries; ++k) data[k] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        const int32_t r = map->row_place ? map->row_place[i] : i;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t c = map->column_place ? map->column_place[A->ind[k]] : A->ind[k];
            NAME(put_entry)(map, r, c, value[k], data);
            if (A->half) NAME(put_entry)(map, c, r, value[k], data);
        }
    }
}

void PUBLIC(block_norms)(sd_engine *e, const sd_blocks *x, sd_vector *norms)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    double *norm = norms->data;
    for (int32_t k = 0; k < plan->blocks; ++k) norm[k] = 0;
    for (int32_t k = 0; k < plan->count; ++k) {
        const sd_block_job job = plan->job[k];
        const int n = rows_of_job(plan, k);
        const real *a = (const real *)x->data + job.entry;
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int i = 0; i < n; ++i) sum += fabs((double)a[i + j * n]);
            if (!(sum <= DBL_MAX)) sum = DBL_MAX; /* NaN too */
            if (sum > norm[job.block]) norm[job.block] = sum;
        }
    }
}

#define FUSED(a, b, c) MATH(fma)(a, b, c)
#include "backend/block_inverse.h"
#undef FUSED

void PUBLIC(block_invert)(sd_engine *e, const sd_block_factors *x, sd_blocks *y)
{
    if (e->status) return;
    for (int32_t k = 0; k < x->plan->count; ++k)
        NAME(invert_block)(x, x->plan->job[k], rows_of_job(x->plan, k), y);
}
