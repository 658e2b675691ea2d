/*
 * Vectors of one instruction set, for the kernels on fronts: as wide as the registers, loaded and stored at
 * any address, whole or in part, multiplied and added in one rounding where the processor does so.
 * Included once a precision, with `real`, NAME(x) and SINGLE (0 or 1) defined.
 */
#undef MM
#undef MASK
#undef CMP_MASK
#undef WIDTH_BYTES
#if defined(__AVX512F__)
#define WIDTH_BYTES 64
#if SINGLE
#define MM(x) _mm512_##x##_ps
#define MASK __mmask16
#define CMP_MASK _mm512_cmp_ps_mask
#else
#define MM(x) _mm512_##x##_pd
#define MASK __mmask8
#define CMP_MASK _mm512_cmp_pd_mask
#endif
#elif defined(__AVX2__)
#define WIDTH_BYTES 32
#if SINGLE
#define MM(x) _mm256_##x##_ps
#else
#define MM(x) _mm256_##x##_pd
#endif
#else
#define WIDTH_BYTES 16
#endif

typedef real NAME(vec) __attribute__((vector_size(WIDTH_BYTES)));
#if SINGLE
typedef int32_t NAME(bits) __attribute__((vector_size(WIDTH_BYTES)));
#else
typedef int64_t NAME(bits) __attribute__((vector_size(WIDTH_BYTES)));
#endif
enum { NAME(LANES) = WIDTH_BYTES / sizeof(real) };

static inline NAME(vec) NAME(load)(const real *p)
{
    NAME(vec) v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void NAME(store)(real *p, NAME(vec) v)
{
    memcpy(p, &v, sizeof v);
}

/* The first n lanes, 0 < n <= LANES; the others are 0 and not touched in memory. */
static inline NAME(vec) NAME(load_part)(const real *p, int n)
{
#if defined(__AVX512F__)
    return (NAME(vec))MM(maskz_loadu)((MASK)((1u << n) - 1), p);
#elif defined(__AVX2__)
    NAME(bits) lane = {0};
    for (int l = 0; l < NAME(LANES); ++l) lane[l] = l;
    return (NAME(vec))MM(maskload)(p, (__m256i)(lane - n)); /* the sign bit selects a lane */
#else
    NAME(vec) v = {0};
    for (int l = 0; l < n; ++l) v[l] = p[l];
    return v;
#endif
}

static inline void NAME(store_part)(real *p, NAME(vec) v, int n)
{
#if defined(__AVX512F__)
    MM(mask_storeu)(p, (MASK)((1u << n) - 1), v);
#else
    for (int l = 0; l < n; ++l) p[l] = v[l];
#endif
}

static inline NAME(vec) NAME(all)(real x)
{
#ifdef MM
    return (NAME(vec))MM(set1)(x);
#else
    NAME(vec) v;
    for (int l = 0; l < NAME(LANES); ++l) v[l] = x;
    return v;
#endif
}

/* c - a b */
static inline NAME(vec) NAME(minus_product)(NAME(vec) c, NAME(vec) a, NAME(vec) b)
{
#ifdef MM
    return (NAME(vec))MM(fnmadd)(a, b, c);
#else
    return c - a * b;
#endif
}

static inline NAME(vec) NAME(absolute)(NAME(vec) v)
{
    NAME(bits) sign;
    for (int l = 0; l < NAME(LANES); ++l) sign[l] = SINGLE ? INT32_MAX : INT64_MAX;
    return (NAME(vec))((NAME(bits))v & sign);
}

/* The larger in each lane; the second where the first is NaN. */
static inline NAME(vec) NAME(larger)(NAME(vec) a, NAME(vec) b)
{
#ifdef MM
    return (NAME(vec))MM(max)(a, b);
#else
    const NAME(bits) first = (NAME(bits))(a > b);
    return (NAME(vec))(((NAME(bits))a & first) | ((NAME(bits))b & ~first));
#endif
}

/* The largest lane, and the sum of all lanes, by halves. */
static inline real NAME(largest_lane)(NAME(vec) v)
{
    real a[NAME(LANES)];
    NAME(store)(a, v);
    for (int half = NAME(LANES) / 2; half; half /= 2)
        for (int l = 0; l < half; ++l) a[l] = a[l] > a[l + half] ? a[l] : a[l + half];
    return a[0];
}

static inline real NAME(sum_lanes)(NAME(vec) v)
{
    real a[NAME(LANES)];
    NAME(store)(a, v);
    for (int half = NAME(LANES) / 2; half; half /= 2)
        for (int l = 0; l < half; ++l) a[l] += a[l + half];
    return a[0];
}

/* Every lane is at most x; a NaN is not. */
static inline bool NAME(all_at_most)(NAME(vec) v, real x)
{
#if defined(__AVX512F__)
    return CMP_MASK(v, NAME(all)(x), _CMP_NLE_UQ) == 0;
#elif defined(__AVX2__)
    return MM(movemask)(MM(cmp)(v, NAME(all)(x), _CMP_NLE_UQ)) == 0;
#else
    int beyond = 0;
    for (int l = 0; l < NAME(LANES); ++l) beyond |= !(v[l] <= x);
    return !beyond;
#endif
}
