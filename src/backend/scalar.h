/*
 * Scalars of a method that are made of results which may still be to come (kernels.def): a kernel that takes
 * one forms it when it runs, so that the host need not be asked in between. All backends form it by
 * sd_scalar_value.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __CUDACC__
#define SD_SCALAR_FUNCTION __host__ __device__ static inline
#else
#define SD_SCALAR_FUNCTION static inline
#endif

/*
 * (over[0] / under[0]) (over[1] / under[1]), NULL standing for 1. It is 0 where what it stands on is nothing:
 * with `positive`, where under[0] is not above 0; with `gram` (x'x, x'y, y'y), where x'y is at most
 * `rounding` times the norms of x and y.
 */
typedef struct sd_scalar {
    const double *over[2], *under[2];
    bool positive;
    const double *gram;
    double rounding;
} sd_scalar;

/* Whether x'y is nothing but rounding beside the norms of x and y, whose x'x, x'y and y'y are given. */
SD_SCALAR_FUNCTION bool sd_gram_vanishes(const double *gram, double rounding)
{
    return fabs(gram[1]) <= rounding * sqrt(gram[0]) * sqrt(gram[2]);
}

SD_SCALAR_FUNCTION double sd_scalar_value(const sd_scalar *s)
{
    double value = 1;
    if (s->positive && !(*s->under[0] > 0)) return 0;
    if (s->gram && sd_gram_vanishes(s->gram, s->rounding)) return 0;
    for (int k = 0; k < 2; ++k) {
        const double over = s->over[k] ? *s->over[k] : 1;
        value *= s->under[k] ? over / *s->under[k] : over;
    }
    return value;
}
