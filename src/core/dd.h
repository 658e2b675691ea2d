/*
 * Double-double accumulation: a sum of products carried as hi + lo, as accurate as if computed in
 * twice the precision and rounded once (Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J.
 * Sci. Comput. 26, 2005, algorithm Dot2). It needs fma and no reassociation by the compiler.
 */
#pragma once

#include <math.h>

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
