/*
 * Transposes of square tiles, as large as the registers serve well: TILE columns of TILE numbers, from
 * anywhere to rows at every ld_to. Included once a precision by blocks.c, after block_vector.h.
 */

#if defined(__AVX2__) && SINGLE
enum { NAME(TILE) = 8 };

static inline void NAME(transpose_columns)(const real *const *from, real *to, int ld_to)
{
    __m256 a[8], b[8];
    UNROLL for (int k = 0; k < 8; ++k) a[k] = _mm256_loadu_ps(from[k]);
    UNROLL for (int k = 0; k < 8; k += 2)
    {
        b[k] = _mm256_unpacklo_ps(a[k], a[k + 1]);
        b[k + 1] = _mm256_unpackhi_ps(a[k], a[k + 1]);
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
        _mm256_storeu_ps(to + k * ld_to, _mm256_permute2f128_ps(a[k], a[k + 4], 0x20));
        _mm256_storeu_ps(to + (k + 4) * ld_to, _mm256_permute2f128_ps(a[k], a[k + 4], 0x31));
    }
}
#elif defined(__AVX512F__)
enum { NAME(TILE) = 8 };

static inline void NAME(transpose_columns)(const real *const *from, real *to, int ld_to)
{
    __m512d a[8], b[8];
    UNROLL for (int k = 0; k < 8; ++k) a[k] = _mm512_loadu_pd(from[k]);
    UNROLL for (int k = 0; k < 8; k += 2)
    {
        b[k] = _mm512_unpacklo_pd(a[k], a[k + 1]);
        b[k + 1] = _mm512_unpackhi_pd(a[k], a[k + 1]);
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
        _mm512_storeu_pd(to + k * ld_to, _mm512_shuffle_f64x2(a[k], a[k + 4], 0x88));
        _mm512_storeu_pd(to + (k + 4) * ld_to, _mm512_shuffle_f64x2(a[k], a[k + 4], 0xdd));
    }
}
#elif defined(__AVX2__)
enum { NAME(TILE) = 4 };

static inline void NAME(transpose_columns)(const real *const *from, real *to, int ld_to)
{
    __m256d a[4], b[4];
    UNROLL for (int k = 0; k < 4; ++k) a[k] = _mm256_loadu_pd(from[k]);
    UNROLL for (int k = 0; k < 4; k += 2)
    {
        b[k] = _mm256_unpacklo_pd(a[k], a[k + 1]);
        b[k + 1] = _mm256_unpackhi_pd(a[k], a[k + 1]);
    }
    UNROLL for (int k = 0; k < 2; ++k)
    {
        _mm256_storeu_pd(to + k * ld_to, _mm256_permute2f128_pd(b[k], b[k + 2], 0x20));
        _mm256_storeu_pd(to + (k + 2) * ld_to, _mm256_permute2f128_pd(b[k], b[k + 2], 0x31));
    }
}
#else
enum { NAME(TILE) = 4 };

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
