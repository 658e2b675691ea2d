/*
 * One column of a block LDL' at a time, in `real`: see backend/ldlt.h. A row of an accumulator is V vectors,
 * and every number of a block is multiplied into one of them: c FMAs for a row of c numbers, whatever rows
 * and columns are kept. Included once a precision by ldlt.c. No header of its own.
 */

enum { NAME(MOST_VECTORS) = SD_BLOCK_MOST / NAME(LANES) };

/* a <- a - C V for one block, C with the block's columns as its rows: those that are kept stand `down` apart,
 * the numbers of one of them `across`. */
static inline __attribute__((always_inline)) void NAME(minus)(const sd_ldlt_block *b, const real *data,
                                                              int ld, const real *v, real *a, const int V)
{
    const int64_t down = b->transposed ? 1 : b->height, across = b->transposed ? b->width : 1;
    const real *c = data + b->entry;
    for (uint32_t left = b->columns; left; left &= left - 1, c += down) {
        real *const row = a + __builtin_ctz(left) * ld;
        const real *x = c;
        NAME(vec) sum[NAME(MOST_VECTORS)];
        UNROLL for (int w = 0; w < V; ++w) sum[w] = NAME(load)(row + w * NAME(LANES));
        for (uint32_t inner = b->rows; inner; inner &= inner - 1, x += across) {
            const real *const from = v + __builtin_ctz(inner) * ld;
            const NAME(vec) factor = NAME(all)(*x);
            UNROLL for (int w = 0; w < V; ++w) sum[w] =
                NAME(minus_product)(sum[w], factor, NAME(load)(from + w * NAME(LANES)));
        }
        UNROLL for (int w = 0; w < V; ++w) NAME(store)(row + w * NAME(LANES), sum[w]);
    }
}

/* Calls function(..., V) for the number of vectors in a row. */
#define BY_WIDTH(ld, function, ...)                                                                          \
    do {                                                                                                     \
        if ((ld) == 8)                                                                                       \
            function(__VA_ARGS__, VECTORS(8));                                                               \
        else if ((ld) == 16)                                                                                 \
            function(__VA_ARGS__, VECTORS(16));                                                              \
        else                                                                                                 \
            function(__VA_ARGS__, VECTORS(32));                                                              \
    } while (0)

/* V = G_k C_jk': row q of block j, where it is kept, is a combination of columns of G_k. */
static void NAME(weigh)(const sd_ldlt_term *t, int ld, void *v)
{
    const sd_ldlt_block *const b = t->own;
    const int size = t->size;
    const int64_t down = b->transposed ? 1 : b->height, across = b->transposed ? b->width : 1;
    const real *c = (const real *)t->data + b->entry, *const g = t->inverse;
    real *const to = v;
    memset(to, 0, (size_t)(size * ld) * sizeof *to);
    for (uint32_t left = b->columns; left; left &= left - 1, c += down) {
        real sum[SD_BLOCK_MOST] = {0};
        const real *x = c;
        for (uint32_t inner = b->rows; inner; inner &= inner - 1, x += across) {
            const real *const from = g + __builtin_ctz(inner) * size;
            for (int s = 0; s < size; ++s) sum[s] = FUSED(from[s], *x, sum[s]);
        }
        for (int s = 0, q = __builtin_ctz(left); s < size; ++s) to[s * ld + q] = sum[s];
    }
}

static void NAME(diagonal)(const sd_ldlt_term *t, int ld, const void *v, void *s)
{
    BY_WIDTH(ld, NAME(minus), t->own, t->data, ld, v, s);
}

static inline __attribute__((always_inline)) void
NAME(minus_all)(const sd_ldlt_term *t, int ld, const real *v, const int64_t *place, real *a, const int V)
{
    for (int32_t k = 0; k < t->count; ++k) {
        const int64_t to = place[t->tail[k].other];
        if (to >= 0) NAME(minus)(&t->tail[k], t->data, ld, v, a + to, V);
    }
}

static void NAME(subtract)(const sd_ldlt_term *t, int ld, const void *v, const int64_t *place, void *a)
{
    BY_WIDTH(ld, NAME(minus_all), t, ld, v, place, a);
}

static inline __attribute__((always_inline)) void
NAME(weigh_rows)(const real *x, int rows, int columns, int ld, const real *g, double *most, const int V)
{
    NAME(vec) top = {0};
    bool finite = true; /* `larger` gives way to its second, which hides a NaN */
    for (int r = 0; r < rows; ++r, x += ld) {
        NAME(vec) sum[NAME(MOST_VECTORS)];
        UNROLL for (int w = 0; w < V; ++w) sum[w] = (NAME(vec)){0};
        for (int t = 0; t < columns; ++t) {
            const NAME(vec) factor = NAME(all)(x[t]);
            UNROLL for (int w = 0; w < V; ++w) sum[w] =
                NAME(minus_product)(sum[w], factor, NAME(load)(g + t * ld + w * NAME(LANES)));
        }
        UNROLL for (int w = 0; w < V; ++w)
        {
            finite = finite && NAME(all_at_most)(NAME(absolute)(sum[w]), LARGEST);
            top = NAME(larger)(NAME(absolute)(sum[w]), top);
        }
    }
    *most = finite ? (double)NAME(largest_lane)(top) : INFINITY;
}

static double NAME(weight)(const void *a, int rows, int columns, int ld, const void *inverse)
{
    const real *const g = inverse;
    _Alignas(64) real wide[SD_BLOCK_MOST * SD_BLOCK_MOST];
    double most = 0;
    memset(wide, 0, (size_t)(columns * ld) * sizeof *wide);
    for (int s = 0; s < columns; ++s) memcpy(wide + s * ld, g + s * columns, (size_t)columns * sizeof *wide);
    BY_WIDTH(ld, NAME(weigh_rows), a, rows, columns, ld, wide, &most);
    return most;
}

static void NAME(scatter)(int64_t count, const int64_t *index, const double *value, void *a)
{
    for (int64_t k = 0; k < count; ++k) ((real *)a)[index[k]] = (real)value[k];
}

static void NAME(keep_block)(const void *a, int ld, uint32_t rows, uint32_t columns, void *to)
{
    real *next = to;
    for (uint32_t c = columns; c; c &= c - 1) {
        const real *const from = (const real *)a + __builtin_ctz(c);
        for (uint32_t r = rows; r; r &= r - 1) *next++ = from[__builtin_ctz(r) * ld];
    }
}

static void NAME(keep_diagonal)(const void *a, int ld, int size, void *to)
{
    const real *const x = a;
    real *const s = to;
    for (int j = 0; j < size; ++j)
        for (int i = j; i < size; ++i) s[i + j * size] = s[j + i * size] = x[i * ld + j];
}
