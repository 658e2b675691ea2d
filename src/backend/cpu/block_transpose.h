/*
 * Transposes of square tiles, as large as the registers serve well: TILE columns of TILE numbers, from
 * anywhere to rows at every ld_to. Included once a precision by blocks.c, after block_vector.h.
 */

#if defined(__AVX512F__) && SINGLE
enum { NAME(TILE) = 8 };
typedef __m256 NAME(column);

static inline NAME(column) NAME(get_column)(const real *p, int n)
{
    return n >= 8 ? _mm256_loadu_ps(p) : _mm256_maskz_loadu_ps((__mmask8)((1u << n) - 1), p);
}

static inline void NAME(put_column)(real *p, NAME(column) x, int n, bool stream)
{
    if (stream)
        _mm256_stream_ps(p, x);
    else if (n >= 8)
        _mm256_storeu_ps(p, x);
    else
        _mm256_mask_storeu_ps(p, (__mmask8)((1u << n) - 1), x);
}
#else
#if defined(__AVX2__)
enum { NAME(TILE) = NAME(LANES) };
#else
enum { NAME(TILE) = 4 };
#endif
typedef NAME(vec) NAME(column);

#ifdef MM
static inline NAME(column) NAME(get_column)(const real *p, int n)
{
    return NAME(get)(p, n);
}

static inline void NAME(put_column)(real *p, NAME(column) x, int n, bool stream)
{
    if (stream)
        MM(stream)(p, x);
    else
        NAME(put)(p, x, n);
}
#endif
#endif

/* Makes rows of the columns of a tile. */
#if defined(__AVX2__) && SINGLE
static inline void NAME(cross)(NAME(column) * x)
{
    __m256 a[8], b[8];
    UNROLL for (int k = 0; k < 8; k += 2)
    {
        b[k] = _mm256_unpacklo_ps(x[k], x[k + 1]);
        b[k + 1] = _mm256_unpackhi_ps(x[k], x[k + 1]);
    }
    UNROLL for (int k = 0; k < 8; k += 4)
    {
        a[k] = _mm256_shuffle_ps(b[k], b[k + 2], 0x44);
        a[k + 1] = _mm256_shuffle_ps(b[k], b[k + 2], 0xee);
        a[k + 2] = _mm256_shuffle_ps(b[k + 1], b[k + 3], 0x44);
        a[k + 3] = _mm256_shuffle_ps(b[k + 1], b[k + 3], 0xee);
    }
    UNROLL for (int k = 0; k < 4; ++k)
    {
        x[k] = (NAME(column))_mm256_permute2f128_ps(a[k], a[k + 4], 0x20);
        x[k + 4] = (NAME(column))_mm256_permute2f128_ps(a[k], a[k + 4], 0x31);
    }
}
#elif defined(__AVX512F__)
static inline void NAME(cross)(NAME(column) * x)
{
    __m512d a[8], b[8];
    UNROLL for (int k = 0; k < 8; k += 2)
    {
        b[k] = _mm512_unpacklo_pd(x[k], x[k + 1]);
        b[k + 1] = _mm512_unpackhi_pd(x[k], x[k + 1]);
    }
    /* 128-bit pieces: even, then odd ones, of four columns */
    UNROLL for (int k = 0; k < 2; ++k)
    {
        a[k] = _mm512_shuffle_f64x2(b[k], b[k + 2], 0x88);
        a[k + 2] = _mm512_shuffle_f64x2(b[k], b[k + 2], 0xdd);
        a[k + 4] = _mm512_shuffle_f64x2(b[k + 4], b[k + 6], 0x88);
        a[k + 6] = _mm512_shuffle_f64x2(b[k + 4], b[k + 6], 0xdd);
    }
    UNROLL for (int k = 0; k < 4; ++k)
    {
        x[k] = (NAME(column))_mm512_shuffle_f64x2(a[k], a[k + 4], 0x88);
        x[k + 4] = (NAME(column))_mm512_shuffle_f64x2(a[k], a[k + 4], 0xdd);
    }
}
#elif defined(__AVX2__)
static inline void NAME(cross)(NAME(column) * x)
{
    __m256d b[4];
    UNROLL for (int k = 0; k < 4; k += 2)
    {
        b[k] = _mm256_unpacklo_pd(x[k], x[k + 1]);
        b[k + 1] = _mm256_unpackhi_pd(x[k], x[k + 1]);
    }
    UNROLL for (int k = 0; k < 2; ++k)
    {
        x[k] = (NAME(column))_mm256_permute2f128_pd(b[k], b[k + 2], 0x20);
        x[k + 2] = (NAME(column))_mm256_permute2f128_pd(b[k], b[k + 2], 0x31);
    }
}
#endif

#ifdef MM
/* TILE columns, their first `rows` numbers (0 beyond), to rows at every ld_to. */
static inline void NAME(transpose_part)(const real *const *from, int rows, real *to, int ld_to)
{
    NAME(column) x[NAME(TILE)];
    UNROLL for (int k = 0; k < NAME(TILE); ++k) x[k] = NAME(get_column)(from[k], rows);
    NAME(cross)(x);
    UNROLL for (int k = 0; k < NAME(TILE); ++k) NAME(put_column)(to + k * ld_to, x[k], NAME(TILE), false);
}

/* Columns j and j + 1 of n = TILE / 2 numbers each: what is on and below the diagonal goes to the lower
 * triangle by columns whose entries are at every LANES. */
static inline void NAME(transpose_pair)(const real *const *from, real *to, int n, int j)
{
    NAME(column) x[NAME(TILE)];
    UNROLL for (int k = 0; k < NAME(TILE); ++k) x[k] = NAME(get_column)(from[k], NAME(TILE));
    NAME(cross)(x);
    UNROLL for (int k = 0; k < NAME(TILE); ++k)
    {
        const int i = k % n, column = j + k / n;
        if (i >= column) NAME(put_column)(to + place(n, i, column) * NAME(LANES), x[k], NAME(TILE), false);
    }
}

static inline void NAME(transpose_columns)(const real *const *from, real *to, int ld_to)
{
    NAME(transpose_part)(from, NAME(TILE), to, ld_to);
}

/* Whole columns to `rows` numbers, or TILE, at to[k][e]. */
static inline void NAME(transpose_out)(const real *const *from, real *const *to, int e, int rows, bool stream)
{
    NAME(column) x[NAME(TILE)];
    UNROLL for (int k = 0; k < NAME(TILE); ++k) x[k] = NAME(get_column)(from[k], NAME(TILE));
    NAME(cross)(x);
    UNROLL for (int k = 0; k < NAME(TILE); ++k) NAME(put_column)(to[k] + e, x[k], rows, stream);
}
#else
static inline void NAME(transpose_columns)(const real *const *from, real *to, int ld_to)
{
    for (int k = 0; k < NAME(TILE); ++k)
        for (int i = 0; i < NAME(TILE); ++i) to[i * ld_to + k] = from[k][i];
}
#endif

static inline void NAME(transpose_tile)(const real *from, int ld, real *to, int ld_to)
{
    const real *column[NAME(TILE)];
    UNROLL for (int k = 0; k < NAME(TILE); ++k) column[k] = from + k * ld;
    NAME(transpose_columns)(column, to, ld_to);
}

/* The transpose of so many columns in so many rows, or as many as tiles make of these. */
static inline void NAME(transpose)(const real *from, real *to, int columns, int rows, int ld)
{
    for (int j = 0; j < columns; j += NAME(TILE))
        for (int i = 0; i < rows; i += NAME(TILE))
            NAME(transpose_tile)(from + j * ld + i, ld, to + i * ld + j, ld);
}

/* Copies what is below the diagonal to above it. */
static inline void NAME(mirror)(real *a, int n, int ld)
{
    for (int j = 0; j < n; j += NAME(TILE)) {
        for (int i = j + NAME(TILE); i < n; i += NAME(TILE))
            NAME(transpose_tile)(a + j * ld + i, ld, a + i * ld + j, ld);
        for (int k = j; k < j + NAME(TILE); ++k)
            for (int i = k + 1; i < j + NAME(TILE); ++i) a[i * ld + k] = a[k * ld + i];
    }
}
