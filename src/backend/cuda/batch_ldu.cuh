/*
 * LDU in registers: P A Q = L D U, with the pivoting that a kernel is given.
 *
 * Step s: a pivot d is chosen, in a row that was none yet; the other such rows have l = a_is / d and
 * a_ij <- a_ij - l a_sj. The pivot's row is broadcast as it was; a lane divides its own by its pivot at the
 * end. The column of the next step is eliminated first, and while the others follow its pivot is searched.
 */
#pragma once

#include "backend/cuda/batch_rows.cuh"

namespace sd_cuda
{

/* A lane's view of its block at work. */
template <class real, int N> struct ldu_rows {
    real r[N];
    int at, column; /* where the row is; the column that is at position `lane` */
    bool open;      /* the row was no pivot yet */
    real pivot;
    bool moved;
};

/* The row of lane p is the pivot of step s, with `raw` in its column, which is register B: the multiplier of
 * the lane's row is l, 0 where it was a pivot, and in that column it ends with `finished`. */
template <class real> struct ldu_step {
    real l, finished;
};
template <int B, int N, class real>
__device__ inline ldu_step<real> take(ldu_rows<real, N> &m, int s, bool chosen, real raw, real small)
{
    real d = raw;
    if (small > 0) d = settle(raw, small);
    const real inverse = reciprocal(d);
    if (chosen) {
        m.open = false;
        m.at = s;
        m.pivot = m.r[B] = d;
        m.moved = d != raw;
    }
    const real l = m.r[B] * inverse;
    return {m.open ? l : 0, m.open ? l : m.r[B]};
}

/* Search finds the pivots: `first` in the first column; of others `begin` says, from the keys, what `end`
 * then needs to name the lane, so that other work may go on between the two. */
template <class Search, int L, int N, class real>
__device__ inline void eliminate_columns(const place &w, real small, ldu_rows<real, N> &m)
{
    const int self = w.first + w.lane;
    int p = Search::template first<L>(w, key_of(m.r[0]));
    real raw = broadcast(m.r[0], p);
    each_chunk<N, 1>([&](auto base) {
        constexpr int B = decltype(base)::value, NEXT = B + 1 < N ? B + 1 : B, MIDDLE = (NEXT + N) / 2;
        if (B >= w.most) return;
        const ldu_step<real> step = take<B>(m, B, self == p, raw, small);
        m.r[B] = step.finished;
        if (B + 1 == N) return;
        m.r[NEXT] = fma(-step.l, broadcast(m.r[NEXT], p), m.r[NEXT]);
        const unsigned key = m.open ? key_of(m.r[NEXT]) : 0u, most = Search::template begin<L>(w, key);
#pragma unroll
        for (int j = NEXT + 1; j < MIDDLE; ++j) m.r[j] = fma(-step.l, broadcast(m.r[j], p), m.r[j]);
        const int next = Search::template end<L>(w, NEXT, m.open && key == most);
        raw = broadcast(m.r[NEXT], next);
#pragma unroll
        for (int j = MIDDLE > NEXT + 1 ? MIDDLE : NEXT + 1; j < N; ++j)
            m.r[j] = fma(-step.l, broadcast(m.r[j], p), m.r[j]);
        p = next;
    });
}

/* Registers in addition to those of the row, where pivots are of one column. */
template <class real, int N>
constexpr int LDU_BESIDE = N <= 16  ? 36
                           : N < 32 ? 46 - 4 * numbers<real>::WORDS
                                    : 36;

/* Pivoting::eliminate<L>(w, small, m) goes through the steps, with Pivoting::BESIDE<real, N> registers. */
template <class real, int N, int L, class Pivoting>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(Pivoting::template BESIDE<real, N>)))
    ldu(const batch<real> b)
{
    const place w = find_place<L>(b);
    const real *block = b.x + w.entry;
    ldu_rows<real, N> m = {{}, w.lane, w.lane, true, 1, false};
    load_row(w, block, m.r);
    Pivoting::template eliminate<L>(w, b.small, m);
    const real inverse = reciprocal(m.pivot);
#pragma unroll
    for (int j = 0; j < N; ++j) m.r[j] = j > m.at ? m.r[j] * inverse : m.r[j];
    real scale;
    const verdict v = judge<L>(w, block, fault_of(m.pivot), all_finite(m.r), m.at, &scale);
    sd_batch_state state = {};
    state.perturbed = static_cast<uint8_t>(__popc(lanes_where<L>(w, m.moved && w.lane < w.n)));
    if (v.any_failed && v.failed) {
        scaled_identity(w, scale, m.r);
        m.at = m.column = w.lane;
        state.status = v.status;
        state.perturbed = 0;
    }
    store_row(w, m.r, m.at, b.f + w.entry);
    store_order(b, w, m.at, w.lane, m.column, state);
}

template <class Pivoting> struct ldu_method {
    template <class real, int N, int L> static constexpr auto KERNEL = ldu<real, N, L, Pivoting>;
};

} /* namespace sd_cuda */
