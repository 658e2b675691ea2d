/* Blocks whose rows lie in the registers of lanes (block_lanes.cuh): moving columns, and replacing. */
#ifndef SD_CUDA_BLOCK_ROWS_CUH
#define SD_CUDA_BLOCK_ROWS_CUH

#include "backend/cuda/block_lanes.cuh"

namespace sd_cuda
{

/* Whether register B + i of the chunk from B on holds, at its step t, a column that comes after the step's.
 */
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

/* Brings the column in register c to the place of step s = B + t; those before it move up by one. Registers
 * that are after c in all blocks of the warp are passed over four at a time. */
template <int B, int C, int N, class real> __device__ inline void bring_column(real (&r)[N], int t, int c)
{
    real carried = r[B];
#pragma unroll
    for (int first = B + 1; first < N; first += 4) {
        if (N > 8 && !__any_sync(ALL_LANES, first <= c)) break;
#pragma unroll
        for (int j = first; j < first + 4; ++j)
            if (j < N) {
                const real here = r[j];
                const bool before = j <= c && (j >= B + C || comes<C>(j - B, t));
                r[j] = before ? carried : here;
                carried = before ? here : carried;
            }
    }
    r[B] = carried;
}

/* A step of elimination, a_ij <- a_ij - multiplier a_pj; column s becomes `finished` in the lane's row. */
template <int B, int C, int N, class real>
__device__ inline void eliminate_step(real (&r)[N], int t, real multiplier, int p, real finished)
{
#pragma unroll
    for (int i = 1; i < C; ++i) {
        const real here = r[B + i], updated = fma(-multiplier, broadcast(here, p), here);
        r[B + i - 1] = comes<C>(i, t) ? updated : here;
    }
    r[B + C - 1] = finished;
#pragma unroll
    for (int j = B + C; j < N; ++j) r[j] = fma(-multiplier, broadcast(r[j], p), r[j]);
}

/* The same with what the lanes of positions s .. c hold. */
__device__ inline void bring_lane(const place &w, int s, int c, int &held)
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
