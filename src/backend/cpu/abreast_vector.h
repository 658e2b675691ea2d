/* A number of each of the systems abreast: as many as a register of this instruction set has places. */
#pragma once

#include "backend/cpu/isa.h"

#include <math.h>

#if defined(__AVX512F__)
#define WIDTH_BYTES 64
#elif defined(__AVX2__)
#define WIDTH_BYTES 32
#else
#define WIDTH_BYTES 16
#endif

typedef double vec __attribute__((vector_size(WIDTH_BYTES), may_alias));
typedef int64_t bits __attribute__((vector_size(WIDTH_BYTES)));
enum { W = WIDTH_BYTES / sizeof(double) };
#define EACH for (int c = 0; c < W; ++c)
#define INLINE static inline __attribute__((always_inline))

INLINE vec all(double x)
{
    return (vec){0} + x;
}

/* a in those places where a comparison holds, otherwise b. */
INLINE vec choose(bits where, vec a, vec b)
{
    return (vec)(((bits)a & where) | ((bits)b & ~where));
}

INLINE vec absolute(vec a)
{
    return (vec)((bits)a & ((bits){0} + INT64_MAX));
}

/* The larger and the smaller; b where one is NaN. */
INLINE vec larger(vec a, vec b)
{
    return choose((bits)(a > b), a, b);
}
INLINE vec smaller(vec a, vec b)
{
    return choose((bits)(a < b), a, b);
}

/* a b + c: fused as FUSED (isa.h) is, and in one rounding always. */
#if defined(__AVX512F__)
#define EXACT(a, b, c) ((vec)_mm512_fmadd_pd(a, b, c))
#elif defined(__AVX2__)
#define EXACT(a, b, c) ((vec)_mm256_fmadd_pd(a, b, c))
#else
INLINE vec exact(vec a, vec b, vec c)
{
    vec sum;
    for (int p = 0; p < W; ++p) sum[p] = fma(a[p], b[p], c[p]);
    return sum;
}
#define EXACT exact
#endif
INLINE vec fused(vec a, vec b, vec c)
{
#ifdef __FMA__
    return EXACT(a, b, c);
#else
    return c + a * b;
#endif
}
