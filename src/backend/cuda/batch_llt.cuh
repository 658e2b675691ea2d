/*
 * L L' in registers, in the order that a kernel is given.
 *
 * The column of step s that is shared is that of L: a_ij <- a_ij - l_i l_j keeps its symmetry to the last
 * bit, so that lane s, whose row is L' once divided by its pivot's root, has the bits of L. Where rows move,
 * a lane's row is no longer complete when it was a pivot, and L' is made of L when the block is written.
 */
#pragma once

#include "backend/cuda/batch_symmetric.cuh"

namespace sd_cuda
{

/* Order::MOVES: rows do, and Order::bring brings the next pivot to its place. Order::CHUNK<N>: steps of a
 * chunk, by measurement (saddle bench blocks); Order::BESIDE<real, N>: registers in addition to those of the
 * row. */
template <class Order, int C, int N, int L, class real>
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
            if (Order::MOVES) Order::bring(m, step);
            const real d = broadcast(m.r[B], Order::MOVES ? m.lane_at(s) : m.w.first + s);
            const real l = m.r[B] * reciprocal(sqrt(d));
            if (m.at == s) pivot = d;
            const bool left = m.at > s;
            const real *c = share_column(m, step, l);
            if (Order::MOVES) m.diagonal = left ? fma(-l, l, m.diagonal) : m.diagonal;
            eliminate_column<B, C>(m.r, t, left ? l : 0, c, left ? l : m.r[B]);
        }
    });
}

template <class real, int N, int L, class Order>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(Order::template BESIDE<real, N>)))
    llt(const batch<real> b)
{
    __shared__ symmetric_rooms<real, N, L, Order::MOVES> rooms;
    symmetric_rows<real, N, L> m = {find_place<L>(b), rooms.mine()};
    const place &w = m.w;
    const real *block = b.x + w.entry;
    load_symmetric(m, block, Order::MOVES);
    real pivot = 1, scale;
    eliminate<Order, Order::template CHUNK<N>>(m, pivot);
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
    if (Order::MOVES)
        store_symmetric(m, b.f + w.entry);
    else
        store_row(w, m.r, m.at, b.f + w.entry);
    store_order(b, w, m.at, w.lane, w.lane, state);
}

template <class Order> struct llt_method {
    template <class real, int N, int L> static constexpr auto KERNEL = llt<real, N, L, Order>;
};

} /* namespace sd_cuda */
