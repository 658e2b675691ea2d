/* Triangular solves with a block LDL', in `real`: see backend/ldlt.h. Included once a precision by blocks.c. No
 * header of its own. */

/* sum <- sum + B v, B a block as row i lists it. */
static void NAME(add_block)(const sd_ldlt_block *b, const real *data, const real *v, real *sum)
{
    int r = 0;
    for (int i = 0; i < SD_BLOCK_MOST; ++i) {
        if (!(b->rows >> i & 1)) continue;
        int c = 0;
        for (int j = 0; j < SD_BLOCK_MOST; ++j) {
            if (!(b->columns >> j & 1)) continue;
            const int64_t at = b->entry + (b->transposed ? c + r * b->width : r + c * b->height);
            sum[i] = MATH(fma)(data[at], v[j], sum[i]);
            ++c;
        }
        ++r;
    }
}

/* Row i of a solve: forward y_i <- G_i (y_i - sum over C), backward y_i <- y_i - G_i (sum over C'). */
static void NAME(solve_row)(const sd_ldlt_factors *x, int32_t i, bool forward, real *y)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    const int64_t begin = forward ? x->row[i] : x->diagonal[i];
    const int64_t last = forward ? x->diagonal[i] : x->row[i + 1];
    const real *g = (const real *)x->inverse + x->square[i];
    real sum[SD_BLOCK_MOST] = {0};
    for (int64_t k = begin; k < last; ++k)
        NAME(add_block)(&x->list[k], x->data, y + x->start[x->list[k].other], sum);
    for (int p = 0; p < size && forward; ++p) sum[p] = y[first + p] - sum[p];
    for (int q = 0; q < size; ++q) {
        real product = 0;
        for (int p = 0; p < size; ++p) product = MATH(fma)(g[q + p * size], sum[p], product);
        y[first + q] = forward ? product : y[first + q] - product;
    }
}

void PUBLIC(ldlt_solve)(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *z, sd_vector *work)
{
    if (e->status) return;
    const real *from = r->data, *scale = x->scale;
    real *y = work->data, *to = z->data;
    for (int32_t k = 0; k < x->n; ++k) y[k] = from[x->order[k]] * scale[k];
    for (int32_t k = 0; k < x->blocks; ++k) NAME(solve_row)(x, k, true, y);
    for (int32_t k = x->blocks - 1; k >= 0; --k) NAME(solve_row)(x, k, false, y);
    for (int32_t k = 0; k < x->n; ++k) to[x->order[k]] = y[k] * scale[k];
}
