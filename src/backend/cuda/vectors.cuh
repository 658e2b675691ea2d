/*
 * Loops over vectors: entry by entry, and reductions over all entries (reduce.cuh). What is done at an entry
 * is a function object of the caller's.
 */
#pragma once

#include "backend/cuda/reduce.cuh"

#include <math.h>

namespace sd_cuda
{

constexpr int UNROLL = 4; /* entries a thread has under way at once */

/* f.begin() in every thread, where f has something to do before the first entry. */
template <class F> __device__ inline auto begin(F &f, int) -> decltype(f.begin())
{
    f.begin();
}
template <class F> __device__ inline void begin(F &, long)
{
}

/* y_i = f(i). All of a thread's entries are read before any is written, to have many reads in
 * flight though y may be what f reads (only at i). */
template <class T, class F> __global__ void __launch_bounds__(BLOCK) each(int64_t n, T *y, F f)
{
    after_others();
    begin(f, 0);
    const int64_t stride = static_cast<int64_t>(gridDim.x) * BLOCK * UNROLL;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * BLOCK * UNROLL + threadIdx.x; i < n; i += stride) {
        T value[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (i + u * BLOCK < n) value[u] = f(i + u * BLOCK);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (i + u * BLOCK < n) y[i + u * BLOCK] = value[u];
    }
}

template <class T, class F> void for_each(sd_engine *e, const char *what, int64_t n, void *y, const F &f)
{
    if (e->status || n == 0) return;
    const int64_t wanted = (n + BLOCK * UNROLL - 1) / (BLOCK * UNROLL), most = INT32_MAX;
    launch_early(e, what, each<T, F>, wanted < most ? wanted : most, n, static_cast<T *>(y), f);
}

/* The larger one, or NaN where one of them is. */
struct largest {
    static __device__ double join(double a, double b)
    {
        return !isnan(a) && !(b <= a) ? b : a;
    }
};

/* The block's chunk: entries chunk b .. chunk (b + 1)), each thread's in order. */
template <class J, int m, class F>
__device__ inline void reduce_chunk(int64_t n, int64_t chunk, const F &f, double (&sum)[m])
{
    const int64_t first = blockIdx.x * chunk, end = n - first < chunk ? n : first + chunk;
    for (int64_t i = first + threadIdx.x; i < end; i += UNROLL * BLOCK) {
        typename F::read o[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (i + u * BLOCK < end) o[u] = f.load(i + u * BLOCK);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (i + u * BLOCK >= end) continue;
            double value[m];
            f.values(i + u * BLOCK, o[u], value);
#pragma unroll
            for (int k = 0; k < m; ++k) sum[k] = J::join(sum[k], value[k]);
        }
    }
}

template <class J, int m, class F>
__global__ void __launch_bounds__(BLOCK) reduce(int64_t n, int64_t chunk, F f, const outcome to)
{
    double sum[m] = {};
    after_others();
    begin(f, 0);
    reduce_chunk<J, m>(n, chunk, f, sum);
    finish<J, m>(sum, to);
}

/* The results are there later: see kernels.def. */
template <class J, int m, class F>
void reduction(sd_engine *e, const char *what, int64_t n, const F &f, double *result)
{
    if (e->status) return;
    for (int k = 0; k < m; ++k) result[k] = 0;
    if (n == 0) return;
    const int64_t chunk = chunk_length(n), chunks = (n + chunk - 1) / chunk;
    void *part = scratch(e, chunks * m * static_cast<int64_t>(sizeof(double)), what);
    if (!part) return;
    const outcome to(e, part, m, result);
    launch_early(e, what, reduce<J, m, F>, chunks, n, chunk, f, to);
}

} /* namespace sd_cuda */
