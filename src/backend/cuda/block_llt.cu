/*
 * L L' in registers, in order or with the largest diagonal entry as the next pivot.
 *
 * In order: row s of what is left is, by symmetry, the column that the other lanes have, so l_j comes from
 * lane j, a_ij <- a_ij - l_i l_j keeps its symmetry to the last bit, and lane s, whose row is L' once divided
 * by its pivot's root, has the bits of L.
 *
 * With interchanges rows are implicit and columns move, as in block_ldu.cu. Row and column then differ by
 * rounding: L is what is kept, and L' is made of it when the block is written.
 */
#include "backend/cuda/block_rows.cuh"

namespace sd_cuda
{
namespace
{

/* Steps of a chunk, by measurement (bench/cuda_blocks.cu). */
template <int N, bool DIAGONAL> constexpr int CHUNK = DIAGONAL &&N > 16 ? 4 : 1;

template <int L, int C, int N, class real>
__device__ inline void eliminate_in_order(const place &w, real (&r)[N], real &pivot)
{
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
        if (C == 1 && B >= w.most) return;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            int s = B + t;
            keep_here(s);
            const real d = broadcast(r[B], w.first + s), inverse = reciprocal(sqrt(d));
            if (w.lane == s) pivot = d;
            const real l = r[B] * inverse, multiplier = w.lane > s ? l : 0, finished = w.lane > s ? l : r[B];
#pragma unroll
            for (int i = 1; i < C; ++i) {
                const real here = r[B + i], updated = fma(-multiplier, broadcast(l, w.first + s + i), here);
                r[B + i - 1] = comes<C>(i, t) ? updated : here;
            }
            r[B + C - 1] = finished;
#pragma unroll
            for (int j = B + C; j < N; ++j) r[j] = fma(-multiplier, broadcast(l, w.first + j), r[j]);
        }
    });
}

template <int L, int C, int N, class real>
__device__ inline void eliminate_by_diagonal(const place &w, real (&r)[N], int &at, real &pivot)
{
    const int self = w.first + w.lane;
    real diagonal = 1;
#pragma unroll
    for (int j = 0; j < N; ++j) diagonal = j == w.lane ? r[j] : diagonal;
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
        if (C == 1 && B >= w.most) return;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            const int s = B + t;
            const int p = lane_of_largest<L>(w, w.lane < w.n ? key_of(diagonal) : 0u, at >= s);
            const int c = broadcast(at, p);
            if (__any_sync(ALL_LANES, c != s)) bring_column<B, C>(r, t, register_of<B, C>(c, t));
            at = self == p ? s : at >= s && at < c ? at + 1 : at;
            const real d = broadcast(r[B], p), inverse = reciprocal(sqrt(d)), l = r[B] * inverse;
            if (self == p) pivot = d;
            const real multiplier = at > s ? l * inverse : 0;
            diagonal = fma(-multiplier, r[B], diagonal);
            eliminate_step<B, C>(r, t, multiplier, p, at > s ? l : r[B]);
        }
    });
}

template <class real, int N, int L, bool DIAGONAL>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(DIAGONAL ? 28 + 12 * numbers<real>::WORDS
                                                                   : N > 12 ? 50
                                                                            : 44))) llt(const batch<real> b)
{
    __shared__ block_room<real, DIAGONAL ? N : 1, DIAGONAL ? L : BLOCK_THREADS> room;
    const place w = find_place<L>(b);
    const real *block = b.x + w.entry;
    real r[N], pivot = 1, scale;
    load_row(w, block, r);
    int at = w.lane;
    if (DIAGONAL)
        eliminate_by_diagonal<L, CHUNK<N, DIAGONAL>>(w, r, at, pivot);
    else
        eliminate_in_order<L, CHUNK<N, DIAGONAL>>(w, r, pivot);
    const real root = sqrt(pivot), inverse = reciprocal(root);
#pragma unroll
    for (int j = 0; j < N; ++j) r[j] = j > at ? r[j] * inverse : j == at ? root : r[j];
    const int fault = !is_finite(pivot)             ? SD_BLOCK_NOT_FINITE
                      : pivot < numbers<real>::TINY ? SD_BLOCK_INDEFINITE
                                                    : SD_BLOCK_OK;
    const verdict v = judge<L>(w, block, fault, all_finite(r), at, &scale);
    sd_block_state state = {};
    if (v.any_failed && v.failed) {
        scaled_identity(w, static_cast<real>(sqrt(scale)), r);
        at = w.lane;
        state.status = v.status;
    }
    if (DIAGONAL)
        store_symmetric<N, L>(w, r, at, room.mine(), b.f + w.entry);
    else
        store_row(w, r, at, b.f + w.entry);
    store_order(b, w, at, w.lane, w.lane, state);
}

template <bool DIAGONAL> struct llt_method {
    template <class real, int N, int L> static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
    {
        launch_with(e, "block_factor", llt<real, N, L, DIAGONAL>, blocks, BLOCK_THREADS, b);
    }
};

} /* namespace */

template <class real>
void factor_llt(sd_engine *e, sd_block_kernel kernel, const sd_block_plan *plan, const batch<real> &b)
{
    if (kernel == SD_LLT) launch_classes<llt_method<false>>(e, plan, b);
    if (kernel == SD_LLT_DIAGONAL) launch_classes<llt_method<true>>(e, plan, b);
}

template void factor_llt(sd_engine *, sd_block_kernel, const sd_block_plan *, const batch<double> &);
template void factor_llt(sd_engine *, sd_block_kernel, const sd_block_plan *, const batch<float> &);

} /* namespace sd_cuda */
