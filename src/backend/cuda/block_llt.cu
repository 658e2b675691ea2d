/*
 * L L' in registers, in order or with the largest diagonal entry as the next pivot.
 *
 * In order: row s of what is left is, by symmetry, the column that the other lanes have, so l_j comes from lane
 * j, a_ij <- a_ij - l_i l_j keeps its symmetry to the last bit, and lane s, whose row is L' once divided by its
 * pivot's root, has the bits of L.
 *
 * With interchanges rows are implicit and columns move, as in block_ldu.cu. Row and column then differ by
 * rounding: L is what is kept, and L' is made of it when the block is written.
 */
#include "backend/cuda/block_rows.cuh"

namespace sd_cuda
{
namespace
{

template <int N, int L, class real>
__device__ inline void eliminate_in_order(const place &w, real (&r)[N], real &pivot)
{
#pragma unroll
    for (int s = 0; s < N; ++s) {
        if (s >= w.most) break;
        const real d = broadcast(r[s], w.first + s), inverse = 1 / sqrt(d);
        if (w.lane == s) pivot = d;
        const real l = r[s] * inverse, multiplier = w.lane > s ? l : 0;
        r[s] = w.lane > s ? l : r[s];
#pragma unroll
        for (int j = s + 1; j < N; ++j) r[j] = fma(-multiplier, broadcast(l, w.first + j), r[j]);
    }
}

template <int N, int L, class real>
__device__ inline void eliminate_by_diagonal(const place &w, real (&r)[N], int &at, real &pivot)
{
    const int self = w.first + w.lane;
    const bool inside = w.lane < w.n;
    real diagonal = 1;
#pragma unroll
    for (int j = 0; j < N; ++j) diagonal = j == w.lane ? r[j] : diagonal;
#pragma unroll
    for (int s = 0; s < N; ++s) {
        if (s >= w.most) break;
        const int p = lane_of_largest<L>(w, inside ? key_of(diagonal) : 0u, at >= s);
        const int c = broadcast(at, p);
        if (__any_sync(ALL_LANES, c != s)) bring_column(r, s, c);
        at = self == p ? s : at >= s && at < c ? at + 1 : at;
        const real d = broadcast(r[s], p), inverse = 1 / sqrt(d);
        if (self == p) pivot = d;
        const real l = r[s] * inverse, multiplier = at > s ? l * inverse : 0;
        diagonal = fma(-multiplier, r[s], diagonal);
#pragma unroll
        for (int j = s + 1; j < N; ++j) r[j] = fma(-multiplier, broadcast(r[j], p), r[j]);
        r[s] = at > s ? l : r[s];
    }
}

template <class real, int N, int L, bool DIAGONAL>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(DIAGONAL ? 24 + 12 * numbers<real>::WORDS : 38)))
    llt(const batch<real> b)
{
    __shared__ block_room<real, DIAGONAL ? N : 1, DIAGONAL ? L : BLOCK_THREADS> room;
    const place w = find_place<L>(b);
    const real *block = b.x + w.entry;
    real r[N], pivot = 1, scale;
    load_row(w, block, r);
    int at = w.lane;
    if (DIAGONAL)
        eliminate_by_diagonal<N, L>(w, r, at, pivot);
    else
        eliminate_in_order<N, L>(w, r, pivot);
    const real root = sqrt(pivot), inverse = 1 / root;
#pragma unroll
    for (int j = 0; j < N; ++j) r[j] = j > at ? r[j] * inverse : j == at ? root : r[j];
    const int fault = !is_finite(pivot)               ? SD_BLOCK_NOT_FINITE
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
    template <class real, int N, int L>
    static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
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
