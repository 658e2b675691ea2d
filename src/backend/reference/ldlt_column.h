/* One column of a block LDL', in `real`: see backend/ldlt.h. Included once a precision by ldlt.c. No header
 * of its own. */

/* Entry (r, c) of the kept rows and columns of a block, as its list has it. */
static real NAME(kept)(const sd_ldlt_block *b, const real *data, int r, int c)
{
    return data[b->entry + (b->transposed ? c + r * b->width : r + c * b->height)];
}

static void NAME(weigh)(const sd_ldlt_term *t, int ld, void *v)
{
    const real *g = t->inverse;
    real *to = v;
    for (int s = 0; s < t->size * ld; ++s) to[s] = 0;
    int c = 0;
    for (int q = 0; q < SD_BLOCK_MOST; ++q) { /* row q of block j */
        if (!(t->own->columns >> q & 1)) continue;
        for (int s = 0; s < t->size; ++s) {
            real sum = 0;
            int r = 0;
            for (int p = 0; p < t->size; ++p)
                if (t->own->rows >> p & 1)
                    sum = MATH(fma)(g[s + p * t->size], NAME(kept)(t->own, t->data, r++, c), sum);
            to[s * ld + q] = sum;
        }
        ++c;
    }
}

/* a <- a - C V, C with the block's columns as its rows. */
static void NAME(minus)(const sd_ldlt_block *b, const real *data, int ld, const real *v, real *a)
{
    int c = 0;
    for (int i = 0; i < SD_BLOCK_MOST; ++i) {
        if (!(b->columns >> i & 1)) continue;
        for (int q = 0; q < ld; ++q) {
            int r = 0;
            for (int s = 0; s < SD_BLOCK_MOST; ++s)
                if (b->rows >> s & 1)
                    a[i * ld + q] = MATH(fma)(-NAME(kept)(b, data, r++, c), v[s * ld + q], a[i * ld + q]);
        }
        ++c;
    }
}

static void NAME(subtract)(const sd_ldlt_term *t, int ld, const void *v, const int64_t *place, void *a)
{
    for (int32_t k = 0; k < t->count; ++k)
        if (place[t->tail[k].other] >= 0)
            NAME(minus)(&t->tail[k], t->data, ld, v, (real *)a + place[t->tail[k].other]);
}

static double NAME(weight)(const void *a, int rows, int columns, int ld, const void *inverse)
{
    const real *x = a, *g = inverse;
    real most = 0;
    for (int r = 0; r < rows; ++r) {
        for (int s = 0; s < columns; ++s) {
            real sum = 0;
            for (int t = 0; t < columns; ++t) sum = MATH(fma)(x[r * ld + t], g[t + s * columns], sum);
            if (isnan(sum)) return INFINITY;
            if (MATH(fabs)(sum) > most) most = MATH(fabs)(sum);
        }
    }
    return (double)most;
}

static void NAME(scatter)(int64_t count, const int64_t *index, const double *value, void *a)
{
    for (int64_t k = 0; k < count; ++k) ((real *)a)[index[k]] = (real)value[k];
}

static void NAME(keep_block)(const void *a, int ld, uint32_t rows, uint32_t columns, void *to)
{
    real *next = to;
    for (int j = 0; j < SD_BLOCK_MOST; ++j)
        for (int i = 0; i < SD_BLOCK_MOST && columns >> j & 1; ++i)
            if (rows >> i & 1) *next++ = ((const real *)a)[i * ld + j];
}

static void NAME(keep_diagonal)(const void *a, int ld, int size, void *to)
{
    const real *x = a;
    for (int j = 0; j < size; ++j)
        for (int i = j; i < size; ++i)
            ((real *)to)[i + j * size] = ((real *)to)[j + i * size] = x[i * ld + j];
}
