/* Vectors times powers of two. */
#pragma once

#include <math.h>
#include <stdint.h>

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
