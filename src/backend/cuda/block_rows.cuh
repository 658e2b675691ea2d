/* Blocks whose rows lie in the registers of lanes (block_lanes.cuh): moving columns, and replacing. */
#ifndef SD_CUDA_BLOCK_ROWS_CUH
#define SD_CUDA_BLOCK_ROWS_CUH

#include "backend/cuda/block_lanes.cuh"

namespace sd_cuda
{

/* Brings column c >= s to s; those from s on before it move up by one. */
template <int N, class real> __device__ inline void bring_column(real (&r)[N], int s, int c)
{
    real carried = r[s];
#pragma unroll
    for (int j = 1; j < N; ++j)
        if (j > s) {
            const real here = r[j];
            r[j] = j <= c ? carried : here;
            carried = j <= c ? here : carried;
        }
    r[s] = carried;
}

/* The same with what lanes hold. */
template <int L> __device__ inline void bring_lane(const place &w, int s, int c, int &held)
{
    const int brought = broadcast(held, w.first + c), before = __shfl_up_sync(ALL_LANES, held, 1);
    held = w.lane == s ? brought : w.lane > s && w.lane <= c ? before : held;
}

/* Rows of scale I. */
template <int N, class real> __device__ inline void scaled_identity(const place &w, real scale, real (&r)[N])
{
#pragma unroll
    for (int j = 0; j < N; ++j) r[j] = j == w.lane ? scale : 0;
}

/* Writes the symmetric block whose lower triangle the rows hold at their positions. */
template <int N, int L, class real>
__device__ inline void store_symmetric(const place &w, const real (&r)[N], int at, real *room, real *block)
{
    const int apart = w.n | 1;
    if (w.lane < w.n) {
#pragma unroll
        for (int j = 0; j < N; ++j)
            if (j <= at) {
                room[at + j * apart] = r[j];
                room[j + at * apart] = r[j];
            }
    }
    store_room<N>(w, room, apart, block);
}

} /* namespace sd_cuda */

#endif
