/* Triangular solves with a block LDL', in `real`: see backend/ldlt.h. Included once a precision by blocks.c.
 * No header of its own. */

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

/* Row i of a solve or a sweep: forward to_i = G_i (b_i - sum C_ik from_k), backward to_i = b_i - G_i (sum
 * C_ki' from_k); from is NULL where it is 0. */
static void NAME(solve_row)(const sd_ldlt_factors *x, int32_t i, bool forward, const real *b,
                            const real *from, real *to)
{
    const int32_t first = x->start[i], size = x->start[i + 1] - first;
    const int64_t begin = forward ? x->row[i] : x->diagonal[i];
    const int64_t last = forward ? x->diagonal[i] : x->row[i + 1];
    const real *g = (const real *)x->inverse + x->square[i];
    real sum[SD_BLOCK_MOST] = {0};
    for (int64_t k = begin; k < last && from; ++k)
        NAME(add_block)(&x->list[k], x->data, from + x->start[x->list[k].other], sum);
    for (int p = 0; p < size && forward; ++p) sum[p] = b[first + p] - sum[p];
    for (int q = 0; q < size; ++q) {
        real product = 0;
        for (int p = 0; p < size; ++p) product = MATH(fma)(g[q + p * size], sum[p], product);
        to[first + q] = forward ? product : b[first + q] - product;
    }
}

void PUBLIC(ldlt_enter)(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *y)
{
    if (e->status) return;
    for (int32_t k = 0; k < x->n; ++k)
        ((real *)y->data)[k] = (real)(sd_ldlt_number(r->data, r->precision, x->order[k]) * x->scale[k]);
}

void PUBLIC(ldlt_leave)(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *y, sd_vector *z)
{
    if (e->status) return;
    for (int32_t k = 0; k < x->n; ++k)
        sd_ldlt_put(z->data, z->precision, x->order[k], (double)((const real *)y->data)[k] * x->scale[k]);
}

void PUBLIC(ldlt_sweep)(sd_engine *e, const sd_ldlt_factors *x, bool forward, const sd_vector *b,
                        const sd_vector *from, sd_vector *to)
{
    if (e->status) return;
    for (int32_t i = 0; i < x->blocks; ++i)
        NAME(solve_row)(x, i, forward, b->data, from ? from->data : NULL, to->data);
}

void PUBLIC(ldlt_solve)(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *z,
                        sd_vector *work)
{
    real *y = work->data;
    PUBLIC(ldlt_enter)(e, x, r, work);
    for (int32_t i = 0; i < x->blocks && !e->status; ++i) NAME(solve_row)(x, i, true, y, y, y);
    for (int32_t i = x->blocks - 1; i >= 0 && !e->status; --i) NAME(solve_row)(x, i, false, y, y, y);
    PUBLIC(ldlt_leave)(e, x, work, z);
}
