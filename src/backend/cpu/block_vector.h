/*
 * What the kernels on blocks want of vectors beyond front_vector.h: lanes chosen by the bits of an integer,
 * the search for a pivot in a column, a column in the order of its pivots, 8 x 8 and smaller transposes.
 *
 * A column of a block is V vectors, lane l of vector v being row v LANES + l; rows beyond the block's are 0.
 * Rows are told apart by the bits of a uint32_t, `rows` below. Included once a precision by blocks.c.
 */

#if defined(__AVX512F__)
typedef MASK NAME(lanes);
#else
typedef NAME(bits) NAME(lanes);
#endif

static inline NAME(bits) NAME(all_bits)(NAME(integer) x)
{
    return (NAME(bits)){0} + x;
}

/* The lanes of vector v whose rows are in `rows`. */
static inline NAME(lanes) NAME(lanes_of)(uint32_t rows, int v)
{
#if defined(__AVX512F__)
    return (NAME(lanes))(rows >> (v * NAME(LANES)));
#else
    NAME(bits) one;
    for (int l = 0; l < NAME(LANES); ++l) one[l] = (NAME(integer))1 << l;
    return (NAME(bits))((NAME(all_bits)((NAME(integer))(rows >> (v * NAME(LANES)))) & one) == one);
#endif
}

/* a in those lanes, otherwise b. */
static inline NAME(vec) NAME(choose)(NAME(lanes) lanes, NAME(vec) a, NAME(vec) b)
{
#if defined(__AVX512F__)
    return (NAME(vec))MM(mask_blend)(lanes, b, a);
#elif defined(__AVX2__)
    return (NAME(vec))MM(blendv)(b, a, (NAME(vec))lanes);
#else
    return (NAME(vec))(((NAME(bits))a & lanes) | ((NAME(bits))b & ~lanes));
#endif
}

/* a in those lanes, otherwise 0. */
static inline NAME(vec) NAME(keep)(NAME(lanes) lanes, NAME(vec) a)
{
#if defined(__AVX512F__)
    return (NAME(vec))MM(maskz_mov)(lanes, a);
#else
    return (NAME(vec))((NAME(bits))a & lanes);
#endif
}

/* Lane l in all lanes. */
static inline NAME(vec) NAME(spread)(NAME(vec) v, int l)
{
#if defined(__AVX512F__) && SINGLE
    return _mm512_permutexvar_ps(_mm512_set1_epi32(l), v);
#elif defined(__AVX512F__)
    return _mm512_permutexvar_pd(_mm512_set1_epi64(l), v);
#elif defined(__AVX2__) && SINGLE
    return _mm256_permutevar8x32_ps(v, _mm256_set1_epi32(l));
#elif defined(__AVX2__)
    const __m256i halves = _mm256_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1);
    return (NAME(vec))_mm256_permutevar8x32_epi32((__m256i)v,
                                                  _mm256_add_epi32(_mm256_set1_epi32(2 * l), halves));
#else
    return NAME(all)(v[l]);
#endif
}

/* The sum of all lanes, by halves, in all lanes. */
static inline NAME(vec) NAME(total)(NAME(vec) v)
{
#if defined(__AVX512F__) && SINGLE
    v += (NAME(vec))_mm512_shuffle_f32x4(v, v, 0x4e);
    v += (NAME(vec))_mm512_shuffle_f32x4(v, v, 0xb1);
    v += (NAME(vec))_mm512_permute_ps(v, 0x4e);
    return v + (NAME(vec))_mm512_permute_ps(v, 0xb1);
#elif defined(__AVX512F__)
    v += (NAME(vec))_mm512_shuffle_f64x2(v, v, 0x4e);
    v += (NAME(vec))_mm512_shuffle_f64x2(v, v, 0xb1);
    return v + (NAME(vec))_mm512_permute_pd(v, 0x55);
#elif defined(__AVX2__) && SINGLE
    v += (NAME(vec))_mm256_permute2f128_ps(v, v, 1);
    v += (NAME(vec))_mm256_permute_ps(v, 0x4e);
    return v + (NAME(vec))_mm256_permute_ps(v, 0xb1);
#elif defined(__AVX2__)
    v += (NAME(vec))_mm256_permute2f128_pd(v, v, 1);
    return v + (NAME(vec))_mm256_permute_pd(v, 5);
#else
    return NAME(all)(NAME(sum_lanes)(v));
#endif
}

/* The vector of lanes 0 .. n): what is beyond is not written. */
static inline void NAME(put)(real *p, NAME(vec) v, int n)
{
    if (n >= NAME(LANES)) {
        NAME(store)(p, v);
        return;
    }
#if defined(__AVX512F__)
    MM(mask_storeu)(p, (MASK)((1u << n) - 1), v);
#elif defined(__AVX2__)
    NAME(bits) lane;
    for (int l = 0; l < NAME(LANES); ++l) lane[l] = l;
    MM(maskstore)(p, (__m256i)(lane - n), v);
#else
    for (int l = 0; l < n; ++l) p[l] = v[l];
#endif
}

static inline NAME(vec) NAME(get)(const real *p, int n)
{
    return n >= NAME(LANES) ? NAME(load)(p) : NAME(load_part)(p, n);
}

#if SINGLE
/* |a|, which is its key. */
static inline NAME(vec) NAME(key)(NAME(vec) a)
{
    return NAME(absolute)(a);
}

/*
 * The row of the largest key of a column c among `rows`, the lowest among equals; some row where NaN hides
 * it.
 */
static inline int NAME(search)(const NAME(vec) * c, uint32_t rows, const int V)
{
    NAME(vec) top = {0};
    uint32_t found = 0;
    UNROLL for (int v = 0; v < V; ++v) top =
        NAME(larger)(NAME(keep)(NAME(lanes_of)(rows, v), NAME(key)(c[v])), top);
    const real most = NAME(top_lane)(top);
    UNROLL for (int v = 0; v < V; ++v) found |= NAME(equal_lanes)(NAME(key)(c[v]), most) << (v * NAME(LANES));
    found &= rows;
    return __builtin_ctz(found ? found : rows);
}
#else
/*
 * The key of a, in the high word, and a code below 2^12 beside it: one maximum finds the largest key and,
 * among equals, the largest code. Integers where the processor orders these, otherwise numbers that are
 * finite whatever a is.
 */
static inline NAME(vec) NAME(coded)(NAME(vec) a, NAME(bits) code)
{
    const NAME(bits) key = NAME(all_bits)(INT64_C(0x7fffffff00000000));
#if defined(__AVX512F__)
    return (NAME(vec))_mm512_ternarylogic_epi64((__m512i)a, (__m512i)key, (__m512i)code,
                                                0xea); /* a & key | code */
#else
    return (NAME(vec))((((NAME(bits))a & key) >> 1) | code);
#endif
}

static inline NAME(vec) NAME(top_coded)(NAME(vec) a, NAME(vec) b)
{
#if defined(__AVX512F__)
    return (NAME(vec))_mm512_max_epu64((__m512i)a, (__m512i)b);
#else
    return NAME(larger)(a, b);
#endif
}

/* The code of the largest lane. */
static inline int NAME(top_code)(NAME(vec) v)
{
#if defined(__AVX512F__)
    const __m256i a =
        _mm256_max_epu64(_mm512_castsi512_si256((__m512i)v), _mm512_extracti64x4_epi64((__m512i)v, 1));
    const __m128i b = _mm_max_epu64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return _mm_cvtsi128_si32(_mm_max_epu64(b, _mm_unpackhi_epi64(b, b))) & 0xfff;
#else
#if defined(__AVX2__)
    const __m128d a = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    const double top = _mm_cvtsd_f64(_mm_max_sd(a, _mm_unpackhi_pd(a, a)));
#else
    const double top = NAME(largest_lane)(v);
#endif
    uint64_t bits;
    memcpy(&bits, &top, sizeof bits);
    return (int)(bits & 0xfff);
#endif
}

/* The row of the largest key of a column c among `rows`, the lowest among equals. */
static inline int NAME(search)(const NAME(vec) * c, uint32_t rows, const int V)
{
    NAME(vec) top = {0};
    NAME(bits) code;
    for (int l = 0; l < NAME(LANES); ++l) code[l] = 63 - l;
    UNROLL for (int v = 0; v < V; ++v)
    {
        const NAME(vec) coded = NAME(coded)(c[v], code - v * NAME(LANES));
        top = NAME(top_coded)(NAME(keep)(NAME(lanes_of)(rows, v), coded), top);
    }
    return 63 - NAME(top_code)(top);
}
#endif

/* Where the lanes of V vectors of a column come from when its rows are put in another order. */
typedef struct NAME(order) {
#if defined(__AVX512F__)
    __m512i from[MOST / NAME(LANES)];
#else
    const int32_t *from;
#endif
} NAME(order);

static inline NAME(order) NAME(order_of)(const int32_t *from, const int V)
{
    NAME(order) o;
#if defined(__AVX512F__) && SINGLE
    UNROLL for (int v = 0; v < V; ++v) o.from[v] = _mm512_loadu_si512(from + v * NAME(LANES));
#elif defined(__AVX512F__)
    UNROLL for (int v = 0; v < V; ++v) o.from[v] =
        _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(from + v * NAME(LANES))));
#else
    (void)V;
    o.from = from;
#endif
    return o;
}

/* Vector v of the column in that order. */
static inline NAME(vec) NAME(ordered)(const real *column, const NAME(order) * o, int v, const int V)
{
#if defined(__AVX512F__)
    const __m512i from = o->from[v];
    const NAME(vec) a = NAME(load)(column);
    if (V == 1) return (NAME(vec))MM(permutexvar)(from, a);
    const NAME(vec) low = (NAME(vec))MM(permutex2var)(a, from, NAME(load)(column + NAME(LANES)));
#if !SINGLE
    if (V > 2) {
        const NAME(vec) c = NAME(load)(column + 2 * NAME(LANES));
        const NAME(vec) d = V > 3 ? NAME(load)(column + 3 * NAME(LANES)) : c;
        const NAME(vec) high = (NAME(vec))MM(permutex2var)(c, from, d);
        return NAME(choose)(_mm512_test_epi64_mask(from, _mm512_set1_epi64(16)), high, low);
    }
#endif
    return low;
#else
    NAME(vec) x;
    (void)V;
    for (int l = 0; l < NAME(LANES); ++l) x[l] = column[o->from[v * NAME(LANES) + l]];
    return x;
#endif
}
