/* Triangular solves with a block LDL' by sweeps over single entries, in `real`: see backend/ldlt.h. Included
 * once a precision by blocks.c, after ldlt_solve.h. No header of its own. */

void PUBLIC(ldlt_split)(sd_engine *e, const sd_block_factors *x, const sd_block_factors *g, sd_blocks *below)
{
    if (e->status) return;
    for (int32_t k = 0; k < x->plan->count; ++k) {
        const sd_block_job job = x->plan->job[k];
        const int n = rows_of_job(x->plan, k);
        const sd_block_state *s = &x->state[job.block];
        const bool whole = s->status != SD_BLOCK_OK || g->state[job.block].status != SD_BLOCK_OK;
        const real *f = (const real *)x->data + job.entry;
        const uint8_t *row = x->row + job.row;
        real *to = (real *)below->data + job.entry;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const bool of_l = i > j && !(i == j + 1 && s->pairs >> j & 1);
                to[row[i] + row[j] * n] = of_l && !whole ? f[i + j * n] : 0;
            }
    }
}

/* y = M v or M' v, M of size x size. */
static void NAME(times_square)(const real *m, int size, bool transposed, const real *v, real *y)
{
    for (int q = 0; q < size; ++q) {
        y[q] = 0;
        for (int p = 0; p < size; ++p)
            y[q] = MATH(fma)(transposed ? m[p + q * size] : m[q + p * size], v[p], y[q]);
    }
}

/* u_i and t_i; u is NULL where both are 0. */
static void NAME(forward_entries)(const sd_ldlt_factors *x, int32_t i, const real *b, const real *u,
                                  const real *t, real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    const real *g = (const real *)x->inverse + x->square[i], *n = (const real *)x->below + x->square[i];
    real sum[SD_BLOCK_MOST] = {0}, product[SD_BLOCK_MOST] = {0};
    for (int64_t k = x->row[i]; k < x->diagonal[i] && u; ++k)
        NAME(add_block)(&x->list[k], x->data, t + x->start[x->list[k].other], sum);
    if (u) NAME(times_square)(n, size, false, u + first, product);
    for (int p = 0; p < size; ++p) to[first + p] = b[first + p] - sum[p] - product[p];
    NAME(times_square)(n, size, false, to + first, product);
    for (int p = 0; p < size; ++p) product[p] += to[first + p];
    NAME(times_square)(g, size, false, product, to + x->n + first);
}

/* w_i; w is NULL where it is 0. */
static void NAME(backward_entries)(const sd_ldlt_factors *x, int32_t i, const real *v, const real *w,
                                   real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    const real *g = (const real *)x->inverse + x->square[i], *n = (const real *)x->below + x->square[i];
    real sum[SD_BLOCK_MOST] = {0}, weighed[SD_BLOCK_MOST] = {0}, product[SD_BLOCK_MOST] = {0};
    for (int64_t k = x->diagonal[i]; k < x->row[i + 1] && w; ++k)
        NAME(add_block)(&x->list[k], x->data, w + x->start[x->list[k].other], sum);
    if (w) NAME(times_square)(g, size, false, sum, weighed);
    for (int p = 0; p < size && w; ++p) sum[p] = w[first + p] + weighed[p];
    if (w) NAME(times_square)(n, size, true, sum, product);
    for (int p = 0; p < size; ++p) to[first + p] = v[first + p] - weighed[p] - product[p];
}

/* v_i */
static void NAME(between_entries)(const sd_ldlt_factors *x, int32_t i, const real *t, real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    real product[SD_BLOCK_MOST];
    NAME(times_square)((const real *)x->below + x->square[i], size, true, t + first, product);
    for (int p = 0; p < size; ++p) to[first + p] = t[first + p] + product[p];
}

void PUBLIC(ldlt_sweep_entries)(sd_engine *e, const sd_ldlt_factors *x, sd_ldlt_stage stage,
                                const sd_vector *b, const sd_vector *from, sd_vector *to)
{
    if (e->status) return;
    const real *old = from ? from->data : NULL;
    for (int32_t i = 0; i < x->blocks; ++i) {
        switch (stage) {
        case SD_LDLT_FORWARD:
            NAME(forward_entries)(x, i, b->data, old, old ? old + x->n : NULL, to->data);
            break;
        case SD_LDLT_BETWEEN: NAME(between_entries)(x, i, b->data, to->data); break;
        case SD_LDLT_BACKWARD: NAME(backward_entries)(x, i, b->data, old, to->data); break;
        }
    }
}
