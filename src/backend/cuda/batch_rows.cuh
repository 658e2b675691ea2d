/* Blocks whose rows lie in the registers of lanes (batch_lanes.cuh): moving columns, and replacing. */
#pragma once

#include "backend/cuda/batch_lanes.cuh"

namespace sd_cuda
{

/* Whether register B + i of the chunk from B on holds, at step t, a column that comes after the step's. */
template <int C> __device__ inline bool comes(int i, int t)
{
    return i < C - t;
}

/* At step s = B + t, the register of the column at a position from s on, and back. */
template <int B, int C> __device__ inline int register_of(int position, int t)
{
    return position < B + C ? position - t : position;
}
template <int B, int C> __device__ inline int position_of(int index, int t)
{
    return index < B + C ? index + t : index;
}

/* Calls f(j) of the registers j from FIRST to N - 1 among which is c in some block of the warp: where a lane
 * has many, four at a time are passed over by all lanes if it is not. */
template <int FIRST, int N, class F> __device__ inline void around_register(int c, const F &f)
{
    constexpr int GROUP = 4;
    const unsigned groups = N > 16 ? __reduce_or_sync(ALL_LANES, 1u << (c / GROUP)) : ~0u;
#pragma unroll
    for (int first = FIRST / GROUP * GROUP; first < N; first += GROUP)
        if (groups >> (first / GROUP) & 1) {
#pragma unroll
            for (int j = first; j < first + GROUP; ++j)
                if (j >= FIRST && j < N) f(j);
        }
}

/* Register c, above FIRST, becomes `value`; none where c is not above it. */
template <int FIRST, int N, class real> __device__ inline void put_register(real (&r)[N], int c, real value)
{
    around_register<FIRST + 1, N>(c, [&](int j) { r[j] = j == c ? value : r[j]; });
}

/* Rows of scale I. */
template <int N, class real> __device__ inline void scaled_identity(const place &w, real scale, real (&r)[N])
{
#pragma unroll
    for (int j = 0; j < N; ++j) r[j] = j == w.lane ? scale : 0;
}

} /* namespace sd_cuda */
