/*
 * L L' in registers, in order or with the largest diagonal entry as the next pivot.
 *
 * The column of step s that is shared is that of L: a_ij <- a_ij - l_i l_j keeps its symmetry to the last
 * bit, so that lane s, whose row is L' once divided by its pivot's root, has the bits of L. With interchanges
 * a lane's row is no longer complete when it was a pivot, and L' is made of L when the block is written.
 */
#include "backend/cuda/batch_symmetric.cuh"

namespace sd_cuda
{
namespace
{

/* Steps of a chunk, by measurement (saddle bench blocks). */
template <int N, bool DIAGONAL> constexpr int CHUNK = DIAGONAL &&N > 16 ? 4 : 1;

/* Brings the row of the largest diagonal entry to position s. */
template <int L, int B, int C, int N, class real>
__device__ inline void bring_largest(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step)
{
    const int p = lane_of_largest<L>(m.w, m.inside() ? key_of(m.diagonal) : 0u, m.at >= step.s());
    const bool moves = broadcast(m.at, p) != step.s();
    if (!__any_sync(ALL_LANES, moves)) return;
    exchange_rows(m, step, moves, p, false, share_row(m, step, p));
}

template <bool DIAGONAL, int C, int N, int L, class real>
__device__ inline void eliminate(symmetric_rows<real, N, L> &m, real &pivot)
{
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
        if (C == 1 && B >= m.w.most) return;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            const chunk_step<B, C, N> step = {t};
            int s = step.s();
            keep_here(s);
            if (DIAGONAL) bring_largest(m, step);
            const real d = broadcast(m.r[B], DIAGONAL ? m.lane_at(s) : m.w.first + s);
            const real l = m.r[B] * reciprocal(sqrt(d));
            if (m.at == s) pivot = d;
            const bool left = m.at > s;
            const real *c = share_column(m, step, l);
            if (DIAGONAL) m.diagonal = left ? fma(-l, l, m.diagonal) : m.diagonal;
            eliminate_column<B, C>(m.r, t, left ? l : 0, c, left ? l : m.r[B]);
        }
    });
}

template <class real, int N, int L, bool DIAGONAL>
__global__ void __launch_bounds__(BLOCK_THREADS,
                                  (at_once<real, N>(DIAGONAL ? (N > 20 ? 52 : 28 + 12 * numbers<real>::WORDS)
                                                    : N > 12 ? 50
                                                             : 44))) llt(const batch<real> b)
{
    __shared__ symmetric_rooms<real, N, L, DIAGONAL> rooms;
    symmetric_rows<real, N, L> m = {find_place<L>(b), rooms.mine()};
    const place &w = m.w;
    const real *block = b.x + w.entry;
    load_symmetric(m, block, DIAGONAL);
    real pivot = 1, scale;
    eliminate<DIAGONAL, CHUNK<N, DIAGONAL>>(m, pivot);
    const real root = sqrt(pivot), inverse = reciprocal(root);
#pragma unroll
    for (int j = 0; j < N; ++j) m.r[j] = j > m.at ? m.r[j] * inverse : j == m.at ? root : m.r[j];
    const int fault = !is_finite(pivot)             ? SD_BLOCK_NOT_FINITE
                      : pivot < numbers<real>::TINY ? SD_BLOCK_INDEFINITE
                                                    : SD_BLOCK_OK;
    const verdict v = judge<L>(w, block, fault, all_finite(m.r), m.at, &scale);
    sd_batch_state state = {};
    if (v.any_failed && v.failed) {
        scaled_identity(w, static_cast<real>(sqrt(scale)), m.r);
        m.at = w.lane;
        state.status = v.status;
    }
    if (DIAGONAL)
        store_symmetric(m, b.f + w.entry);
    else
        store_row(w, m.r, m.at, b.f + w.entry);
    store_order(b, w, m.at, w.lane, w.lane, state);
}

template <bool DIAGONAL> struct llt_method {
    template <class real, int N, int L> static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
    {
        launch_with(e, "batch_factor", llt<real, N, L, DIAGONAL>, blocks, BLOCK_THREADS, b);
    }
};

} /* namespace */

template <class real>
void factor_llt(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan, const batch<real> &b)
{
    if (kernel == SD_LLT) launch_classes<llt_method<false>>(e, plan, b);
    if (kernel == SD_LLT_DIAGONAL) launch_classes<llt_method<true>>(e, plan, b);
}

template void factor_llt(sd_engine *, sd_batch_kernel, const sd_batch_plan *, const batch<double> &);
template void factor_llt(sd_engine *, sd_batch_kernel, const sd_batch_plan *, const batch<float> &);

} /* namespace sd_cuda */
