/*
 * What the blocked kernels want of vectors beyond front_vector.h, and the 2x2 pivot. Included once for each
 * precision (fronts.c).
 */

/* c + a b */
static inline NAME(vec) NAME(plus_product)(NAME(vec) c, NAME(vec) a, NAME(vec) b)
{
#ifdef MM
    return (NAME(vec))MM(fmadd)(a, b, c);
#else
    return c + a * b;
#endif
}

static inline NAME(bits) NAME(load_bits)(const NAME(integer) * p)
{
    NAME(bits) v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Whether a lane is 0, where the others are -1. */
static inline bool NAME(any_zero)(NAME(bits) v)
{
#if defined(__AVX512F__)
    return _mm512_cmpneq_epi32_mask((__m512i)v, _mm512_set1_epi32(-1)) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_epi8((__m256i)v) != -1;
#else
    NAME(integer) lane[NAME(LANES)], all = -1;
    memcpy(lane, &v, sizeof v);
    for (int l = 0; l < NAME(LANES); ++l) all &= lane[l];
    return all == 0;
#endif
}

/* The largest lane; and which lanes equal x, as bits from the lowest. No lane is NaN. */
static inline real NAME(top_lane)(NAME(vec) v)
{
#if defined(__AVX512F__)
    return MM(reduce_max)(v);
#else
    return NAME(largest_lane)(v);
#endif
}

static inline unsigned NAME(equal_lanes)(NAME(vec) v, real x)
{
#if defined(__AVX512F__) && SINGLE
    return _mm512_cmp_ps_mask(v, NAME(all)(x), _CMP_EQ_OQ);
#elif defined(__AVX512F__)
    return _mm512_cmp_pd_mask(v, NAME(all)(x), _CMP_EQ_OQ);
#elif defined(__AVX2__)
    return (unsigned)MM(movemask)(MM(cmp)(v, NAME(all)(x), _CMP_EQ_OQ));
#else
    unsigned lanes = 0;
    for (int l = 0; l < NAME(LANES); ++l) lanes |= (unsigned)(v[l] == x) << l;
    return lanes;
#endif
}

/* -1 in the lanes where |v| is at most `bound`, otherwise 0: also where it is a NaN. */
static inline NAME(bits) NAME(within)(NAME(vec) v, NAME(vec) bound)
{
    return (NAME(bits))(NAME(absolute)(v) <= bound);
}

/* a c - b b to the last bits (Kahan). */
static inline double NAME(determinant)(double a, double b, double c)
{
    const double square = b * b, lost = fma(-b, b, square);
    return fma(a, c, -square) + lost;
}

/* The 2x2 pivot d = (d11, d21, d22) divided by its largest entry, so that nothing overflows which its inverse
 * does not; returns the determinant of that. */
static inline double NAME(scale_two)(const real d[3], double scaled[3], double *scale)
{
    *scale = fmax(fmax(fabs((double)d[0]), fabs((double)d[1])), fabs((double)d[2]));
    for (int k = 0; k < 3; ++k) scaled[k] = d[k] / *scale;
    return NAME(determinant)(scaled[0], scaled[1], scaled[2]);
}

/* Its inverse; returns the sign of its determinant. */
static inline int NAME(invert_two)(const real d[3], real inverse[3])
{
    double s[3], scale;
    const double det = NAME(scale_two)(d, s, &scale);
    inverse[0] = (real)(s[2] / det / scale);
    inverse[1] = (real)(-s[1] / det / scale);
    inverse[2] = (real)(s[0] / det / scale);
    return det < 0 ? -1 : 1;
}
