/* Numbers and vectors that are scaled. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

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

/* 2^e for -1022 <= e <= 1023: what ldexp(1, e) gives, without a call. */
static inline double sd_power_of_two(int e)
{
    const uint64_t bits = (uint64_t)(e + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* ldexp, which rounds once, without a call where 2^e is a number. */
static inline double sd_times_power(double a, int e)
{
    return e >= -1022 && e <= 1023 ? a * sd_power_of_two(e) : ldexp(a, e);
}

/* frexp of a number that is not 0 and finite, without a call but for subnormal numbers. */
static inline double sd_take_apart(double a, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    const int biased = (int)(bits >> 52) & 0x7ff;
    if (biased == 0) return frexp(a, exponent);
    *exponent = biased - 1022;
    bits = (bits & ~(UINT64_C(0x7ff) << 52)) | UINT64_C(1022) << 52;
    memcpy(&a, &bits, sizeof a);
    return a;
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
