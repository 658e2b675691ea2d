/*
 * One column of a block LDL' at a time, in `real`: see backend/ldlt.h. A row of an accumulator is V vectors,
 * and every number of a block is multiplied into one of them: c FMAs for a row of c numbers, whatever rows
 * and columns are kept. Included once a precision by ldlt.c. No header of its own.
 */

enum { NAME(MOST_VECTORS) = SD_BLOCK_MOST / NAME(LANES) };

/* Rows of a product at once, so that a vector that was loaded is used by all of them, and none of them waits
 * for its own last sum: as many as the registers hold, V vectors a row. */
#ifdef __AVX512F__
#define MOST_ROWS(V) ((V) == 1 ? 8 : (V) <= 4 ? 4 : 1)
#else
#define MOST_ROWS(V) ((V) <= 2 ? 4 : (V) <= 4 ? 2 : 1)
#endif

/* a[r] <- a[r] - sum_p x[r, p] v[p] in R rows, p running through the bits of `inner`: row p of v stands ld p
 * behind v; x[r, p] is `down` r behind x, and `across` times p, or times the bits before p, behind that. */
static inline __attribute__((always_inline)) void NAME(minus_rows)(const real *x, int64_t down,
                                                                   int64_t across, bool gaps, uint32_t inner,
                                                                   const real *v, int ld, real *const *a,
                                                                   const int R, const int V)
{
    NAME(vec) sum[8][NAME(MOST_VECTORS)];
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int w = 0; w < V; ++w) sum[r][w] =
        NAME(load)(a[r] + w * NAME(LANES));
    for (; inner; inner &= inner - 1) {
        const int p = __builtin_ctz(inner);
        const real *const from = gaps ? x + p * across : x;
        NAME(vec) with[NAME(MOST_VECTORS)];
        UNROLL for (int w = 0; w < V; ++w) with[w] = NAME(load)(v + p * ld + w * NAME(LANES));
        UNROLL for (int r = 0; r < R; ++r)
        {
            const NAME(vec) factor = NAME(all)(from[r * down]);
            UNROLL for (int w = 0; w < V; ++w) sum[r][w] = NAME(minus_product)(sum[r][w], factor, with[w]);
        }
        if (!gaps) x += across;
    }
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int w = 0; w < V; ++w)
        NAME(store)(a[r] + w * NAME(LANES), sum[r][w]);
}

/* a <- a - C V for one block, C with the block's columns as its rows: those that are kept stand `down` apart,
 * the numbers of one of them `across`. */
static inline __attribute__((always_inline)) void NAME(minus)(const sd_ldlt_block *b, const real *data,
                                                              int ld, const real *v, real *a, const int V)
{
    const int64_t down = b->transposed ? 1 : b->height, across = b->transposed ? b->width : 1;
    const real *c = data + b->entry;
    real *row[SD_BLOCK_MOST], **next = row;
    int count = 0;
    for (uint32_t left = b->columns; left; left &= left - 1) row[count++] = a + __builtin_ctz(left) * ld;
    for (; MOST_ROWS(V) == 8 && count >= 8; count -= 8, next += 8, c += 8 * down)
        NAME(minus_rows)(c, down, across, false, b->rows, v, ld, next, 8, V);
    for (; MOST_ROWS(V) >= 4 && count >= 4; count -= 4, next += 4, c += 4 * down)
        NAME(minus_rows)(c, down, across, false, b->rows, v, ld, next, 4, V);
    for (; MOST_ROWS(V) >= 2 && count >= 2; count -= 2, next += 2, c += 2 * down)
        NAME(minus_rows)(c, down, across, false, b->rows, v, ld, next, 2, V);
    for (; count > 0; --count, ++next, c += down)
        NAME(minus_rows)(c, down, across, false, b->rows, v, ld, next, 1, V);
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

/* V = G_k C_jk' = -G_k (-C_jk'), its rows as combinations of those of C', which are spread to whole vectors.
 */
static inline __attribute__((always_inline)) void NAME(weigh_block)(const sd_ldlt_term *t, int ld, real *to,
                                                                    const int V)
{
    const sd_ldlt_block *const b = t->own;
    const int64_t down = b->transposed ? 1 : b->height, across = b->transposed ? b->width : 1;
    const real *c = (const real *)t->data + b->entry, *const g = t->inverse;
    _Alignas(64) real spread[SD_BLOCK_MOST * SD_BLOCK_MOST];
    real *row[SD_BLOCK_MOST];
    for (uint32_t inner = b->rows; inner; inner &= inner - 1, c += across) {
        real *const at = spread + __builtin_ctz(inner) * ld;
        const real *x = c;
        UNROLL for (int w = 0; w < V; ++w) NAME(store)(at + w * NAME(LANES), (NAME(vec)){0});
        for (uint32_t left = b->columns; left; left &= left - 1, x += down) at[__builtin_ctz(left)] = -*x;
    }
    for (int s = 0; s < t->size; ++s) {
        row[s] = to + s * ld;
        UNROLL for (int w = 0; w < V; ++w) NAME(store)(row[s] + w * NAME(LANES), (NAME(vec)){0});
    }
    int s = 0;
    for (; MOST_ROWS(V) >= 4 && s + 4 <= t->size; s += 4)
        NAME(minus_rows)(g + s, 1, t->size, true, b->rows, spread, ld, row + s, 4, V);
    for (; s < t->size; ++s) NAME(minus_rows)(g + s, 1, t->size, true, b->rows, spread, ld, row + s, 1, V);
}

static void NAME(weigh)(const sd_ldlt_term *t, int ld, void *v)
{
    BY_WIDTH(ld, NAME(weigh_block), t, ld, v);
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
