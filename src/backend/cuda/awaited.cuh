/*
 * Numbers that other warps are still to make. They say themselves whether they are there: what they lie in
 * begins as all ones, a NaN that is never written. So a wait is for nothing but the number, and a hop from
 * one row to the next costs a store and a load in the second cache.
 */
#pragma once

#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{

constexpr int MISSING = 0xff; /* every byte of a number that is not there yet */

__device__ inline bool is_missing(double a)
{
    return __double_as_longlong(a) == -1;
}
__device__ inline bool is_missing(float a)
{
    return __float_as_int(a) == -1;
}

/* Writes a number for others to find. */
__device__ inline void leave_number(double *at, double a)
{
    store_relaxed(at, a == a ? __double_as_longlong(a) : 0x7ff8000000000000);
}
__device__ inline void leave_number(float *at, float a)
{
    store_relaxed(at, a == a ? __float_as_int(a) : 0x7fc00000);
}

/* Thread blocks of a kernel that are on the device at once; 0 where that failed. */
template <class... Parameters>
int64_t blocks_at_once(sd_engine *e, const char *what, void (*kernel)(Parameters...), int threads)
{
    const state *s = state_of(e);
    const on_device current(s->device);
    int fit = 0;
    if (e->status || failed(e, current.error, what) ||
        failed(e, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, 0), what))
        return 0;
    return static_cast<int64_t>(fit) * s->processors;
}

} /* namespace sd_cuda */
