/* Numbers and vectors that are scaled. */
#pragma once

#include <math.h>
#include <stdint.h>

/* Of functions that device code calls too. */
#ifdef __CUDACC__
#define SD_BOTH_SIDES __host__ __device__ static inline
#else
#define SD_BOTH_SIDES static inline
#endif

/* (s a) t: the smaller scaling first, since the product of two may leave the range of numbers. */
SD_BOTH_SIDES double sd_scale_both(double a, double s, double t)
{
    return s <= t ? (s * a) * t : (t * a) * s;
}

/* to = from 2^exponent, which may be the same array; rounded once, as ldexp does it, but much faster. */
static inline void sd_shift(int64_t n, const double *from, int exponent, double *to)
{
    if (exponent >= -1022 && exponent <= 1023) {
        const double factor = ldexp(1.0, exponent);
        for (int64_t i = 0; i < n; ++i) to[i] = from[i] * factor;
    } else {
        for (int64_t i = 0; i < n; ++i) to[i] = ldexp(from[i], exponent);
    }
}
