/*
 * C -= A B' on a trapezoid: C is the lower triangle and the rows below it, A has C's rows, B its columns.
 * Included once for each precision (fronts.c).
 *
 * Not every BLAS has gemmt, so C is cut into block columns of SD_REST_WIDTH, each a triangle and a
 * rectangle, and the rectangle into pieces of TILE_ROWS rows: a piece is what one thread does. Triangles, and
 * whatever is too small to be worth packing, are done by the kernel here; the other pieces by gemm. How an
 * entry is summed depends on its place and on the sizes only.
 *
 * The kernel holds MICRO_VECTORS x MICRO_COLUMNS vectors of C in registers and goes along k once: A and B are
 * read in place, because at k of a few dozen packing them costs as much as it saves.
 */

/* c (-)= a b' on V vectors by N columns; cleared: c = -a b'. V and N are constants where it is called. */
static inline __attribute__((always_inline)) void NAME(micro)(const int V, const int N, int32_t k,
                                                              const real *a, int64_t lda, const real *b,
                                                              int64_t ldb, real *c, int64_t ldc, bool cleared)
{
    NAME(vec) sum[MICRO_VECTORS][MICRO_COLUMNS];
    UNROLL for (int n = 0; n < N; ++n) UNROLL for (int v = 0; v < V; ++v) sum[v][n] = NAME(all)(0);
    for (int32_t l = 0; l < k; ++l, a += lda, b += ldb) {
        NAME(vec) left[MICRO_VECTORS];
        UNROLL for (int v = 0; v < V; ++v) left[v] = NAME(load)(a + v * NAME(LANES));
        UNROLL for (int n = 0; n < N; ++n)
        {
            const NAME(vec) right = NAME(all)(b[n]);
            UNROLL for (int v = 0; v < V; ++v) sum[v][n] = NAME(plus_product)(sum[v][n], left[v], right);
        }
    }
    UNROLL for (int n = 0; n < N; ++n, c += ldc) UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(vec) before = cleared ? NAME(all)(0) : NAME(load)(c + v * NAME(LANES));
        NAME(store)(c + v * NAME(LANES), before - sum[v][n]);
    }
}

/* The last rows, fewer than a vector: the same on copies filled up with zeros. */
static inline __attribute__((always_inline)) void NAME(micro_tail)(const int N, int32_t m, int32_t k,
                                                                   const real *a, int64_t lda, const real *b,
                                                                   int64_t ldb, real *c, int64_t ldc,
                                                                   bool cleared)
{
    real left[TAIL_DEPTH * NAME(LANES)] = {0}, to[MICRO_COLUMNS * NAME(LANES)] = {0};
    if (!cleared) {
        for (int n = 0; n < N; ++n) memcpy(to + n * NAME(LANES), c + n * ldc, (size_t)m * sizeof(real));
    }
    for (int32_t first = 0; first < k; first += TAIL_DEPTH) {
        const int32_t depth = k - first < TAIL_DEPTH ? k - first : TAIL_DEPTH;
        for (int32_t l = 0; l < depth; ++l)
            memcpy(left + l * NAME(LANES), a + (first + l) * lda, (size_t)m * sizeof(real));
        NAME(micro)(1, N, depth, left, NAME(LANES), b + first * ldb, ldb, to, NAME(LANES), false);
    }
    for (int n = 0; n < N; ++n) memcpy(c + n * ldc, to + n * NAME(LANES), (size_t)m * sizeof(real));
}

/* N columns of any number of rows. */
static inline __attribute__((always_inline)) void NAME(strip)(const int N, int32_t m, int32_t k,
                                                              const real *a, int64_t lda, const real *b,
                                                              int64_t ldb, real *c, int64_t ldc, bool cleared)
{
    int32_t i = 0;
    for (; i + MICRO_VECTORS * NAME(LANES) <= m; i += MICRO_VECTORS * NAME(LANES))
        NAME(micro)(MICRO_VECTORS, N, k, a + i, lda, b, ldb, c + i, ldc, cleared);
    if (i + 2 * NAME(LANES) <= m) {
        NAME(micro)(2, N, k, a + i, lda, b, ldb, c + i, ldc, cleared);
        i += 2 * NAME(LANES);
    } else if (i + NAME(LANES) <= m) {
        NAME(micro)(1, N, k, a + i, lda, b, ldb, c + i, ldc, cleared);
        i += NAME(LANES);
    }
    if (i < m) NAME(micro_tail)(N, m - i, k, a + i, lda, b, ldb, c + i, ldc, cleared);
}

/* C of m x n, or where `lower` only what is on and below the diagonal (and a few entries above it). */
static void NAME(own_product)(int32_t m, int32_t n, int32_t k, const real *a, int64_t lda, const real *b,
                              int64_t ldb, real *c, int64_t ldc, bool cleared, bool lower)
{
    int32_t j = 0;
#define STRIP(N)                                                                                             \
    NAME(strip)                                                                                              \
    (N, lower ? m - j : m, k, a + (lower ? j : 0), lda, b + j, ldb, c + j * ldc + (lower ? j : 0), ldc,      \
     cleared)
    for (; j + MICRO_COLUMNS <= n; j += MICRO_COLUMNS) STRIP(MICRO_COLUMNS);
    for (; j + 2 <= n; j += 2) STRIP(2);
    if (j < n) STRIP(1);
#undef STRIP
}

/* A rectangle. */
static void NAME(product)(int32_t m, int32_t n, int32_t k, const real *a, int64_t lda, const real *b,
                          int64_t ldb, real *c, int64_t ldc, bool cleared)
{
    if (k > BLAS_DEPTH && (int64_t)m * n * k > BLAS_WORK) {
        NAME(sd_gemm)(m, n, k, -1, a, lda, b, ldb, cleared ? 0 : 1, c, ldc);
        return;
    }
    for (int32_t i = 0; i < m; i += OWN_ROWS) {
        const int32_t rows = m - i < OWN_ROWS ? m - i : OWN_ROWS;
        for (int32_t l = 0; l < k; l += OWN_DEPTH) {
            const int32_t depth = k - l < OWN_DEPTH ? k - l : OWN_DEPTH;
            NAME(own_product)
            (rows, n, depth, a + i + l * lda, lda, b + l * ldb, ldb, c + i, ldc, cleared && l == 0, false);
        }
    }
}

typedef struct NAME(trapezoid) {
    int32_t m, n, k;
    const real *a, *b;
    int64_t lda, ldb;
    real *c;
    int64_t ldc; /* 0: C is laid out as a rest, and m = n */
    bool cleared;
} NAME(trapezoid);

/* Pieces of a block column with this many rows. */
static int32_t NAME(pieces)(int32_t rows)
{
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

static void NAME(subtract_piece)(void *what, int32_t piece)
{
    const NAME(trapezoid) *t = what;
    int32_t j = 0;
    while (piece >= NAME(pieces)(t->m - j)) piece -= NAME(pieces)(t->m - j), j += SD_REST_WIDTH;
    const int32_t width = t->n - j < SD_REST_WIDTH ? t->n - j : SD_REST_WIDTH;
    const int64_t ldc = t->ldc ? t->ldc : t->m - j;
    real *c = t->ldc ? t->c + j * t->ldc + j : t->c + sd_rest_block(t->m, j / SD_REST_WIDTH);
    int32_t i = piece * TILE_ROWS, end = i + TILE_ROWS < t->m - j ? i + TILE_ROWS : t->m - j;
    const real *a = t->a + j, *b = t->b + j;
    if (piece == 0) {
        i = width;
        NAME(own_product)(width, width, t->k, a, t->lda, b, t->ldb, c, ldc, t->cleared, true);
    }
    if (i < end) NAME(product)(end - i, width, t->k, a + i, t->lda, b, t->ldb, c + i, ldc, t->cleared);
}

static void NAME(subtract)(NAME(trapezoid) * t, bool split)
{
    int32_t count = 0;
    for (int32_t j = 0; j < t->n; j += SD_REST_WIDTH) count += NAME(pieces)(t->m - j);
    each_piece(count, NAME(subtract_piece), t, split);
}
