/* D^-1, as solves with fronts apply it. */
#pragma once

#include "backend/cuda/fronts.cuh"

#include <float.h>

namespace sd_cuda
{

/* The inverse of D, and the same of pivots of rank one, as the CPU has it (solve/triangular_walk.inc): the
 * row of column c is (own, beside), the latter times the number of the column beside it. */
template <class real> struct pivot_row {
    real own, beside;
    int other; /* 0: a 1x1 pivot */
};
template <class real> __device__ inline pivot_row<real> invert_pivot(const real *d, int c)
{
    const bool first = d[2 * c + 1] != 0, second = c > 0 && d[2 * c - 1] != 0;
    if (!first && !second) return {d[2 * c] == 0 ? 0 : 1 / d[2 * c], 0, 0};
    constexpr real LEAST =
        static_cast<real>(8 * (sizeof(real) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON));
    const real *p = d + 2 * (second ? c - 1 : c);
    const real b = p[1], a = p[0] / b, e = p[2] / b, determinant = a * e - 1;
    if (determinant > LEAST || determinant < -LEAST) {
        const real scale = 1 / determinant / b;
        return {(second ? a : e) * scale, -scale, second ? -1 : 1};
    }
    const real trace = a + e, scale = 1 / trace / trace / b;
    return {(second ? e : a) * scale, scale, second ? -1 : 1};
}

} /* namespace sd_cuda */
