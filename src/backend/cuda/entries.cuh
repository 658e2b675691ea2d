/*
 * The entries of a sparse matrix shared out over threads: a thread an entry, its row found by bisection in
 * the row pointers, first for the thread block's share of entries, then within that. Values and indices are
 * read side by side, and a row of a million entries costs what a million rows of one do.
 */
#pragma once

#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{

constexpr int SHARE = 4 * BLOCK; /* entries of a thread block */

/* The last of rows low .. high) whose first entry is not beyond k. */
__device__ inline int32_t row_of_entry(const int64_t *ptr, int32_t low, int32_t high, int64_t k)
{
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (ptr[middle] <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* f(k, row, column, value) for the entries of the calling thread block's share. */
template <class real, class F> __device__ inline void for_each_entry(const sd_sparse &A, const F &f)
{
    __shared__ int32_t ends[2];
    const int64_t begin = static_cast<int64_t>(blockIdx.x) * SHARE;
    const int64_t end = A.nnz - begin < SHARE ? A.nnz : begin + SHARE;
    if (threadIdx.x < 2) ends[threadIdx.x] = row_of_entry(A.ptr, 0, A.n, threadIdx.x == 0 ? begin : end - 1);
    __syncthreads();
    const real *const val = static_cast<const real *>(A.val);
#pragma unroll
    for (int u = 0; u < SHARE / BLOCK; ++u) {
        const int64_t k = begin + u * BLOCK + threadIdx.x;
        if (k >= end) continue;
        const int32_t column = A.ind[k];
        const real value = val[k];
        f(k, row_of_entry(A.ptr, ends[0], ends[1] + 1, k), column, value);
    }
}

} /* namespace sd_cuda */
