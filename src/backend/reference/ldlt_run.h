/* Block LDL' on a known pattern, in `real`: see backend/ldlt.h. Included once a precision by blocks.c. No
 * header of its own. */

void PUBLIC(ldlt_scatter)(sd_engine *e, const sd_sparse *A, const sd_ldlt_map *map, int64_t entries,
                          int64_t squares, sd_ldlt_numbers *x)
{
    if (e->status) return;
    real *data = x->data, *square = x->square;
    for (int64_t k = 0; k < entries; ++k) data[k] = 0;
    for (int64_t k = 0; k < squares; ++k) square[k] = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int64_t t = map->target[k];
            if (t == SD_LDLT_NOWHERE) continue;
            const real value = (real)sd_ldlt_scaled(sd_ldlt_number(A->val, A->precision, k), map->scale[i],
                                                    map->scale[A->ind[k]]);
            if (t >= 0)
                data[t] = value;
            else
                square[-1 - t] = value;
        }
    }
}

/* Where the kept row or column that is bit k of a mask stands among the kept ones; -1: it is not kept. */
static int NAME(rank)(uint32_t mask, int k)
{
    return mask >> k & 1 ? __builtin_popcount(mask & ((1u << k) - 1)) : -1;
}

/* C_ij <- C_ij - W_ik C_jk' */
static void NAME(subtract_pair)(const sd_ldlt_run *p, const sd_ldlt_shape *t, const sd_ldlt_pair *pair,
                                const sd_ldlt_numbers *from, real *c)
{
    const sd_ldlt_shape *a = &p->shape[pair->a], *b = &p->shape[pair->b];
    const real *w = (const real *)from->weighed + a->weighed, *d = (const real *)from->data + b->entry;
    for (int i = 0; i < SD_BLOCK_MOST; ++i) {
        const int row = NAME(rank)(t->rows, i), of_a = NAME(rank)(a->rows, i);
        if (row < 0 || of_a < 0) continue;
        for (int j = 0; j < SD_BLOCK_MOST; ++j) {
            const int column = NAME(rank)(t->columns, j), of_b = NAME(rank)(b->rows, j);
            if (column < 0 || of_b < 0) continue;
            for (int s = 0; s < SD_BLOCK_MOST; ++s) {
                const int of_c = NAME(rank)(b->columns, s);
                if (of_c >= 0)
                    c[row + column * t->height] = MATH(fma)(
                        -w[of_a + s * a->height], d[of_b + of_c * b->height], c[row + column * t->height]);
            }
        }
    }
}

void PUBLIC(ldlt_update)(sd_engine *e, const sd_ldlt_run *p, const sd_ldlt_part *part,
                         const sd_ldlt_numbers *a, const sd_ldlt_numbers *from, sd_ldlt_numbers *x)
{
    if (e->status) return;
    for (int32_t t = part->shape; t < part->shape_end; ++t) {
        const sd_ldlt_shape *shape = &p->shape[t];
        real c[SD_BLOCK_MOST * SD_BLOCK_MOST];
        const int count = shape->height * shape->width;
        for (int k = 0; k < count; ++k) c[k] = ((const real *)a->data)[shape->entry + k];
        for (int64_t k = p->first[t]; k < p->first[t + 1]; ++k)
            NAME(subtract_pair)(p, shape, &p->pair[k], from, c);
        for (int k = 0; k < count; ++k) ((real *)x->data)[shape->entry + k] = c[k];
    }
    for (int32_t j = part->block; j < part->block_end; ++j) {
        const int size = p->start[j + 1] - p->start[j];
        const uint32_t all = size == 32 ? UINT32_MAX : (1u << size) - 1;
        const sd_ldlt_shape shape = {
            .rows = all, .columns = all, .height = (uint8_t)size, .width = (uint8_t)size};
        const int64_t t = (int64_t)p->count + j;
        real c[SD_BLOCK_MOST * SD_BLOCK_MOST];
        for (int k = 0; k < size * size; ++k) c[k] = ((const real *)a->square)[p->square[j] + k];
        for (int64_t k = p->first[t]; k < p->first[t + 1]; ++k)
            NAME(subtract_pair)(p, &shape, &p->pair[k], from, c);
        for (int q = 0; q < size; ++q)
            for (int r = q; r < size; ++r) {
                ((real *)x->square)[p->square[j] + r + q * size] = c[r + q * size];
                ((real *)x->square)[p->square[j] + q + r * size] = c[r + q * size];
            }
    }
}

void PUBLIC(ldlt_weigh)(sd_engine *e, const sd_ldlt_run *p, const sd_ldlt_part *part, sd_ldlt_numbers *x)
{
    if (e->status) return;
    for (int32_t t = part->shape; t < part->shape_end; ++t) {
        const sd_ldlt_shape *a = &p->shape[t];
        const real *c = (const real *)x->data + a->entry,
                   *g = (const real *)x->inverse + p->square[a->column];
        real *w = (real *)x->weighed + a->weighed;
        for (int s = 0; s < a->size; ++s) {
            for (int i = 0; i < a->height; ++i) {
                real sum = 0;
                int k = 0;
                for (int q = 0; q < a->size; ++q)
                    if (a->columns >> q & 1) sum = MATH(fma)(c[i + k++ * a->height], g[q + s * a->size], sum);
                w[i + s * a->height] = sum;
            }
        }
    }
}
