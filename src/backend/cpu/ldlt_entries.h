/*
 * Triangular solves with a block LDL' by sweeps over single entries, in `real`: see backend/ldlt.h. Rows are
 * shared among threads; a row's sums are in the order of its list, whoever makes them. Included once a
 * precision by ldlt.c, after ldlt_solve.h. No header of its own.
 */

static void NAME(split_block)(const sd_block_factors *x, const sd_block_factors *g, sd_block_job job, int n,
                              real *below)
{
    const sd_block_state *s = &x->state[job.block];
    const real *f = (const real *)x->data + job.entry;
    const uint8_t *row = x->row + job.row;
    real *to = below + job.entry;
    for (int k = 0; k < n * n; ++k) to[k] = 0;
    if (s->status != SD_BLOCK_OK || g->state[job.block].status != SD_BLOCK_OK) return;
    for (int j = 0; j < n; ++j)
        for (int i = j + 1 + (int)(s->pairs >> j & 1); i < n; ++i) to[row[i] + row[j] * n] = f[i + j * n];
}

void PUBLIC(ldlt_split)(sd_engine *e, const sd_block_factors *x, const sd_block_factors *g, sd_blocks *below)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    const int threads = plan->count < TEAM_FROM ? 1 : e->threads;
    for (int n = 1; n <= SD_BLOCK_MOST; ++n) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (int32_t k = plan->first[n]; k < plan->first[n + 1]; ++k)
            NAME(split_block)(x, g, plan->job[k], n, below->data);
    }
}

/* y <- y + M v, M of size x size. */
static inline void NAME(add_square)(const real *m, int size, const real *v, real *y)
{
    for (int p = 0; p < size; ++p)
        for (int q = 0; q < size; ++q) y[q] = FUSED(m[q + p * size], v[p], y[q]);
}

/* y <- y + M' v */
static inline void NAME(add_square_transposed)(const real *m, int size, const real *v, real *y)
{
    for (int q = 0; q < size; ++q) {
        real total = 0;
        for (int p = 0; p < size; ++p) total = FUSED(m[p + q * size], v[p], total);
        y[q] += total;
    }
}

/* u_i and t_i; u is NULL where both are 0. */
static void NAME(forward_entries)(const sd_ldlt_factors *x, int32_t i, const real *b, const real *u, real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    const real *g = (const real *)x->inverse + x->square[i], *n = (const real *)x->below + x->square[i];
    real sum[SD_BLOCK_MOST] = {0}, product[SD_BLOCK_MOST] = {0}, weighed[SD_BLOCK_MOST] = {0};
    if (u) {
        NAME(minus_list)(x, x->row[i], x->diagonal[i], u + x->n, size, sum);
        NAME(add_square)(n, size, u + first, product);
    }
    for (int p = 0; p < size; ++p) {
        sum[p] = b[first + p] + sum[p] - product[p];
        to[first + p] = sum[p];
        product[p] = 0;
    }
    NAME(add_square)(n, size, sum, product);
    for (int p = 0; p < size; ++p) sum[p] += product[p];
    NAME(add_square)(g, size, sum, weighed);
    for (int p = 0; p < size; ++p) to[x->n + first + p] = weighed[p];
}

/* w_i; w is NULL where it is 0. */
static void NAME(backward_entries)(const sd_ldlt_factors *x, int32_t i, const real *v, const real *w,
                                   real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    const real *g = (const real *)x->inverse + x->square[i], *n = (const real *)x->below + x->square[i];
    real sum[SD_BLOCK_MOST] = {0}, weighed[SD_BLOCK_MOST] = {0}, product[SD_BLOCK_MOST] = {0};
    if (w) {
        NAME(minus_list)(x, x->diagonal[i], x->row[i + 1], w, size, sum);
        for (int p = 0; p < size; ++p) sum[p] = -sum[p];
        NAME(add_square)(g, size, sum, weighed);
        for (int p = 0; p < size; ++p) sum[p] = w[first + p] + weighed[p];
        NAME(add_square_transposed)(n, size, sum, product);
    }
    for (int p = 0; p < size; ++p) to[first + p] = v[first + p] - weighed[p] - product[p];
}

/* v_i */
static void NAME(between_entries)(const sd_ldlt_factors *x, int32_t i, const real *t, real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    real product[SD_BLOCK_MOST] = {0};
    NAME(add_square_transposed)((const real *)x->below + x->square[i], size, t + first, product);
    for (int p = 0; p < size; ++p) to[first + p] = t[first + p] + product[p];
}

void PUBLIC(ldlt_sweep_entries)(sd_engine *e, const sd_ldlt_factors *x, sd_ldlt_stage stage,
                                const sd_vector *b, const sd_vector *from, sd_vector *to)
{
    if (e->status) return;
    const real *const right = b->data, *const old = from ? from->data : NULL;
    real *const result = to->data;
    const int threads = NAME(team)(e, x);
#pragma omp parallel for schedule(dynamic, 32) num_threads(threads) if (threads > 1)
    for (int32_t i = 0; i < x->blocks; ++i) {
        switch (stage) {
        case SD_LDLT_FORWARD: NAME(forward_entries)(x, i, right, old, result); break;
        case SD_LDLT_BETWEEN: NAME(between_entries)(x, i, right, result); break;
        case SD_LDLT_BACKWARD: NAME(backward_entries)(x, i, right, old, result); break;
        }
    }
}
