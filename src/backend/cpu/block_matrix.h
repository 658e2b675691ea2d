/*
 * Blocks and matrices: extraction of diagonal blocks, norms, inverses. Included once a precision by blocks.c.
 */

/* Entry (r, c) of the blocks, where these are rows of one block. */
static inline void NAME(put_entry)(const sd_block_map *map, int32_t r, int32_t c, real value, real *data)
{
    const int32_t k = map->block[r], first = map->start[k], rows = map->start[k + 1] - first;
    if (c < first || c >= first + rows || map->entry[k] < 0) return;
    data[map->entry[k] + (r - first) + (int64_t)(c - first) * rows] = value;
}

/* No two entries of the matrix go to one place, so rows may be taken in any order. */
void PUBLIC(block_extract)(sd_engine *e, const sd_sparse *A, const sd_block_map *map, sd_blocks *x)
{
    if (e->status) return;
    real *data = x->data;
    const real *value = A->val;
    const int threads = team(e, x->plan);
    const int64_t entries = x->plan->entries;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t k = 0; k < entries; ++k) data[k] = 0;
#pragma omp for schedule(dynamic, 512)
        for (int32_t i = 0; i < A->n; ++i) {
            const int32_t r = map->row_place ? map->row_place[i] : i;
            for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
                const int32_t c = map->column_place ? map->column_place[A->ind[k]] : A->ind[k];
                NAME(put_entry)(map, r, c, value[k], data);
                if (A->half) NAME(put_entry)(map, c, r, value[k], data);
            }
        }
    }
}

/* The 1-norm of a block, in double. */
static inline double NAME(norm_of)(const real *a, int n)
{
    double norm = 0;
    for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += fabs((double)a[i + j * n]);
        if (!(sum <= DBL_MAX)) return DBL_MAX;
        if (sum > norm) norm = sum;
    }
    return norm;
}

void PUBLIC(block_norms)(sd_engine *e, const sd_blocks *x, sd_vector *norms)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    double *norm = norms->data;
    const int threads = team(e, plan);
    const pieces cut = cut_plan(plan);
    if (plan->count < plan->blocks) memset(norm, 0, sizeof *norm * (size_t)plan->blocks);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) {
        const piece p = piece_of(&cut, plan, k);
        for (int32_t i = p.first; i < p.last; ++i)
            norm[plan->job[i].block] = NAME(norm_of)((const real *)x->data + plan->job[i].entry, p.rows);
    }
}

#include "backend/block_inverse.h"

void PUBLIC(block_invert)(sd_engine *e, const sd_block_factors *x, sd_blocks *y)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    const int threads = team(e, plan);
    const pieces cut = cut_plan(plan);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) {
        const piece p = piece_of(&cut, plan, k);
        for (int32_t i = p.first; i < p.last; ++i) NAME(invert_block)(x, plan->job[i], p.rows, y);
    }
}
