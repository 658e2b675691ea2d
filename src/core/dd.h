/*
 * Double-double accumulation: a sum of products carried as hi + lo, as accurate as if computed in
 * twice the precision and rounded once (Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J.
 * Sci. Comput. 26, 2005, algorithm Dot2). It needs fma and no reassociation by the compiler.
 */
#pragma once

#include <math.h>

/* Before a function with such sums: it is compiled a second time with the processor's own fma, which the
 * loader takes where there is one. The library's fma gives the same bits, but each is a call. The function
 * has to be static: others would be exported with what chooses, which sanitizers cannot run. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__FMA__)
#define SD_WITH_FMA __attribute__((target_clones("fma", "default")))
#else
#define SD_WITH_FMA
#endif

/* hi + lo += a, exactly up to the rounding of lo. */
static inline void sd_dd_add(double *hi, double *lo, double a)
{
    const double sum = *hi + a;
    const double part = sum - *hi;
    *lo += (*hi - (sum - part)) + (a - part);
    *hi = sum;
}

/* hi + lo += a x */
static inline void sd_dd_add_product(double *hi, double *lo, double a, double x)
{
    const double product = a * x;
    *lo += fma(a, x, -product);
    sd_dd_add(hi, lo, product);
}
