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

/* c + a b, as the vectors round it. */
static inline real NAME(fused)(real c, real a, real b)
{
#ifdef __AVX2__
    return MATH(fma)(a, b, c);
#else
    return c + a * b;
#endif
}

/* Column c of the inverse of L D L', in the order of the pivots: y = L'^-1 D^-1 L^-1 y, y a column of the
 * permutation. */
static inline void NAME(solve_unit)(const real *f, int n, uint32_t pairs, const uint8_t *row, int c, real *y)
{
    for (int s = 0; s < n; ++s) y[s] = row[s] == c ? 1 : 0;
    for (int s = 0; s < n; ++s) {
        if (s > 0 && pairs >> (s - 1) & 1) continue;
        const int width = pairs >> s & 1 ? 2 : 1;
        for (int i = s + width; i < n; ++i)
            for (int j = s; j < s + width; ++j) y[i] = NAME(fused)(y[i], -f[i + j * n], y[j]);
    }
    for (int s = 0; s < n; ++s) {
        if (pairs >> s & 1) {
            const NAME(sd_pair) p = {f[s + s * n], f[s + 1 + s * n], f[s + 1 + (s + 1) * n]};
            NAME(sd_pair_solve)(NAME(sd_pair_solver_of)(p), &y[s], &y[s + 1]);
            ++s;
        } else {
            y[s] /= f[s + s * n];
        }
    }
    for (int s = n - 1; s >= 0; --s) {
        const int first = s > 0 && pairs >> (s - 1) & 1 ? s - 1 : s;
        for (int j = first; j <= s; ++j)
            for (int i = s + 1; i < n; ++i) y[j] = NAME(fused)(y[j], -f[i + j * n], y[i]);
        s = first;
    }
}

void PUBLIC(block_invert)(sd_engine *e, const sd_block_factors *x, sd_blocks *y)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    const int threads = team(e, plan);
    const pieces cut = cut_plan(plan);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < cut.count; ++k) {
        const piece p = piece_of(&cut, plan, k);
        for (int32_t i = p.first; i < p.last; ++i) {
            const sd_block_job job = plan->job[i];
            const uint8_t *row = x->row + job.row;
            real *to = (real *)y->data + job.entry, column[MOST];
            for (int c = 0; c < p.rows; ++c) {
                NAME(solve_unit)
                ((const real *)x->data + job.entry, p.rows, x->state[job.block].pairs, row, c, column);
                for (int s = 0; s < p.rows; ++s)
                    if (row[s] >= c) to[row[s] + c * p.rows] = to[c + row[s] * p.rows] = column[s];
            }
        }
    }
}
