/*
 * 2x2 pivots [a b; b c] of LDL' on the GPU: the tests and formulas of batch_pivots.inc, to rounding, without
 * its quotients by b. The pair is multiplied by the power of two that brings b into [1, 2); what the
 * quotients are compared with is a multiple of b^2 then. The determinant is a difference of products with its
 * rounding errors (Kahan), so that of a singular pair it is 0.
 */
#pragma once

#include "backend/cuda/batch_lanes.cuh"

namespace sd_cuda
{

/* The power of two that brings a number of at least TINY into [1, 2), or of the largest ones near it. */
__device__ inline double power_over(double b)
{
    const int exponent = __double2hiint(b) & 0x7ff00000;
    return __hiloint2double(max(0x7fe00000 - exponent, 0x00100000), 0);
}
__device__ inline float power_over(float b)
{
    const int exponent = __float_as_int(b) & 0x7f800000;
    return __int_as_float(max(0x7f000000 - exponent, 0x00800000));
}

/* The pair times `by`, a power of two, and its determinant. */
template <class real> struct scaled_pair {
    real a, b, c, by, determinant;
};

template <class real> __device__ inline scaled_pair<real> scale_pair(real a, real b, real c)
{
    scaled_pair<real> p;
    p.by = power_over(b);
    p.a = a * p.by;
    p.b = b * p.by;
    p.c = c * p.by;
    const real square = p.b * p.b, error = fma(p.b, p.b, -square);
    p.determinant = fma(p.a, p.c, -square) - error;
    return p;
}

/* Whether LDL' without interchanges takes it. */
template <class real> __device__ inline bool is_better(const scaled_pair<real> &p, real b)
{
    const real a = fabs(p.a), most = fmax(a, fabs(p.c));
    return fabs(b) >= numbers<real>::TINY &&
           (a == 0 || (most + fabs(p.b)) * a < static_cast<real>(SD_BLOCK_ALPHA) * fabs(p.determinant));
}

template <class real> __device__ inline int fault_of(const scaled_pair<real> &p, real b)
{
    if (!(is_finite(b) && is_finite(p.a) && is_finite(p.c))) return SD_BLOCK_NOT_FINITE;
    const bool zero = !(fabs(b) >= numbers<real>::TINY &&
                        fabs(p.determinant) * fabs(b) >= numbers<real>::TINY * (p.b * p.b));
    return zero ? SD_BLOCK_SINGULAR : SD_BLOCK_OK;
}

template <class real> __device__ inline int negative_of(const scaled_pair<real> &p)
{
    return p.determinant < 0 ? 1 : p.a < 0 ? 2 : 0;
}

/* [u v] <- [u v] D^-1, `over` being p.by times the determinant's reciprocal. */
template <class real>
__device__ inline void solve_pair(const scaled_pair<real> &p, real over, real &u, real &v)
{
    const real first = over * fma(p.c, u, -p.b * v), second = over * fma(p.a, v, -p.b * u);
    u = first;
    v = second;
}

/* sd_pair_clamp. */
template <class real> struct clamped_pair {
    real a, b, c;
    int count;
};
__device__ inline clamped_pair<double> clamp_here(double a, double b, double c, double small)
{
    sd_pair_double p = {a, b, c};
    const int count = sd_pair_clamp_double(&p, small);
    return {p.a, p.b, p.c, count};
}
__device__ inline clamped_pair<float> clamp_here(float a, float b, float c, float small)
{
    sd_pair_single p = {a, b, c};
    const int count = sd_pair_clamp_single(&p, small);
    return {p.a, p.b, p.c, count};
}

/* The same apart from the kernels, which rarely need it. */
template <class real>
static __device__ __noinline__ clamped_pair<real> clamp_pair(real a, real b, real c, real small)
{
    return clamp_here(a, b, c, small);
}

} /* namespace sd_cuda */
