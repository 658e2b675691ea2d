/*
 * L D L' in shared memory: see batch_shared.cuh. Both triangles are kept, so that rows and columns can be
 * exchanged over their whole length; a_ij <- a_ij - l_i c_j takes the c_j of row j, as it was (for the reason
 * that batch_symmetric.cuh gives), and l becomes L and L' at the end of its step. Blocks of a warp go on at
 * their own pace: a 2x2 pivot is one step.
 */
#pragma once

#include "backend/cuda/batch_pairs.cuh"
#include "backend/cuda/batch_shared.cuh"

namespace sd_cuda
{

enum { STATIC, BUNCH_KAUFMAN, COMPLETE }; /* rules */

template <int L, class real>
__device__ inline int largest_diagonal(const shared_block<real, L> &m, int s, bool busy)
{
    const bool open = busy && m.w.lane >= s && m.inside();
    return find_largest<L>(m.w, open ? key_of(m.at(m.w.lane, m.w.lane)) : 0u, m.row, open);
}

/* The next pivot: position p, and q where it is 2x2 (else q is p). */
struct positions {
    int p, q;
};

template <int L, class real>
__device__ inline positions choose_static(const shared_block<real, L> &m, int s, bool busy)
{
    positions c = {s, s};
    if (busy && s + 1 < m.w.n) {
        const real b = m.at(s + 1, s);
        if (is_better(scale_pair(m.at(s, s), b, m.at(s + 1, s + 1)), b)) c.q = s + 1;
    }
    return c;
}

template <int L, class real>
__device__ inline positions choose_bunch_kaufman(const shared_block<real, L> &m, int s, bool busy)
{
    constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
    const place &w = m.w;
    const int i = w.lane;
    const bool below_s = busy && i > s && m.inside();
    const int r = find_largest<L>(w, below_s ? key_of(m.at(i, s)) : 0u, m.row, below_s);
    const bool found = busy && r >= 0;
    const real diagonal = found ? fabs(m.at(s, s)) : 0, below = found ? fabs(m.at(r, s)) : 0;
    bool stays = !found || below < TINY || (diagonal >= TINY && diagonal >= ALPHA * below);
    if (!__any_sync(ALL_LANES, !stays)) return {s, s};
    const bool in_r = found && i >= s && i != r && m.inside();
    const int k = find_largest<L>(w, in_r ? key_of(m.at(i, r)) : 0u, m.row, in_r);
    const real beside = found ? fabs(m.at(k, r)) : 1;
    stays = stays || (diagonal >= TINY && diagonal >= ALPHA * below * (below / beside));
    if (stays) return {s, s};
    if (fabs(m.at(r, r)) >= ALPHA * beside) return {r, r};
    return {s, r};
}

/* The lane's row beside the diagonal, from column s on. */
template <int L, class real>
__device__ inline running_largest search_beside(const shared_block<real, L> &m, int s, const uint8_t *order)
{
    running_largest best = {0, -1};
    for (int j = s; j < m.w.n; ++j)
        if (j != m.w.lane) best.see(m.at(m.w.lane, j), j, order);
    return best;
}

template <int L, class real>
__device__ inline positions choose_complete(const shared_block<real, L> &m, int s, bool busy,
                                            const running_largest &best)
{
    constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
    const place &w = m.w;
    const bool open = busy && w.lane >= s && m.inside() && s + 1 < w.n;
    const int r = largest_diagonal(m, s, busy), p = find_largest<L>(w, best.key, m.row, open);
    const int q = broadcast(best.index, w.first + (p < 0 ? 0 : p));
    const int row_p = broadcast(m.row, w.first + (p < 0 ? 0 : p)),
              row_q = broadcast(m.row, w.first + (q < 0 ? 0 : q));
    if (!busy) return {s, s};
    const real diagonal = fabs(m.at(r, r)), beside = p < 0 ? 0 : fabs(m.at(p, q));
    if (beside < TINY || (diagonal >= TINY && diagonal >= ALPHA * beside)) return {r, r};
    /* rounding may have made the upper one of the two the larger */
    return row_p < row_q ? positions{p, q} : positions{q, p};
}

/* D of the pivot at s, settled, and what the rows after it are multiplied with. */
template <class real> struct settled_pivot {
    real a, b, c;           /* b and c of a 2x2 */
    scaled_pair<real> pair; /* 2x2 */
    real inverse;           /* 1x1: 1 / a; 2x2: of the pair */
};

template <int L, class real>
__device__ inline settled_pivot<real> take(shared_block<real, L> &m, int s, bool busy, bool two, real small)
{
    settled_pivot<real> d = {};
    d.a = busy ? m.at(s, s) : 1;
    if (!two) {
        d.a = take_pivot(m, busy, d.a, small);
        d.inverse = reciprocal(d.a);
        if (busy) m.state.negative = static_cast<uint8_t>(m.state.negative + (d.a < 0));
        return d;
    }
    d.b = m.at(s + 1, s);
    d.c = m.at(s + 1, s + 1);
    if (small > 0 && is_finite(d.a) && is_finite(d.b) && is_finite(d.c)) {
        const clamped_pair<real> moved = clamp_pair(d.a, d.b, d.c, small);
        d.a = moved.a;
        d.b = moved.b;
        d.c = moved.c;
        m.state.perturbed = static_cast<uint8_t>(m.state.perturbed + moved.count);
    }
    d.pair = scale_pair(d.a, d.b, d.c);
    d.inverse = d.pair.by * reciprocal(d.pair.determinant);
    m.status = fault_of(d.pair, d.b);
    m.state.negative = static_cast<uint8_t>(m.state.negative + negative_of(d.pair));
    m.state.pairs |= 1u << s;
    return d;
}

/* The lane's row of what is left less its multiples of the pivot's rows; l and second are its columns of L */
template <int RULE, int L, class real>
__device__ inline running_largest subtract(const shared_block<real, L> &m, int s, bool two, real l,
                                           real second, const uint8_t *order)
{
    running_largest best = {0, -1};
    const int i = m.w.lane;
#pragma unroll 2
    for (int j = s + 1 + two; j < m.w.n; ++j) {
        real v = fma(-l, m.at(j, s), m.at(i, j));
        if (two) v = fma(-second, m.at(j, s + 1), v);
        m.at(i, j) = v;
        if (RULE == COMPLETE && j != i) best.see(v, j, order);
    }
    return best;
}

template <int RULE, int L, class real>
__device__ inline positions choose(const shared_block<real, L> &m, int s, bool busy,
                                   const running_largest &best)
{
    if (RULE == STATIC) return choose_static(m, s, busy);
    if (RULE == BUNCH_KAUFMAN) return choose_bunch_kaufman(m, s, busy);
    return choose_complete(m, s, busy, best);
}

template <int RULE, int L, class real>
__device__ inline void ldlt_steps(shared_block<real, L> &m, real small, uint8_t *order)
{
    const place &w = m.w;
    running_largest best = {0, -1};
    if (RULE == COMPLETE) {
        if (m.inside()) order[w.lane] = static_cast<uint8_t>(w.lane);
        __syncwarp();
        if (m.inside()) best = search_beside(m, 0, order);
        __syncwarp();
    }
    int s = 0;
    while (__any_sync(ALL_LANES, m.busy(s))) {
        const bool busy = m.busy(s);
        positions c = choose<RULE>(m, s, busy, best);
        const bool two = busy && c.p != c.q;
        if (RULE != STATIC) {
            exchange_both(m, busy ? s : 0, busy ? c.p : 0);
            if (c.q == s) c.q = c.p; /* it stood where the first one went */
            exchange_both(m, two ? s + 1 : 0, two ? c.q : 0);
            if (RULE == COMPLETE && m.inside()) order[w.lane] = static_cast<uint8_t>(m.row);
            __syncwarp();
        }
        const settled_pivot<real> d = take(m, s, busy, two, small);
        __syncwarp(); /* what others choose by was read */
        const bool left = m.busy(s) && w.lane > s + two && m.inside();
        real l = 0, second = 0;
        if (left) {
            l = m.at(w.lane, s);
            second = two ? m.at(w.lane, s + 1) : 0;
            if (two)
                solve_pair(d.pair, d.inverse, l, second);
            else
                l *= d.inverse;
            best = subtract<RULE>(m, s, two, l, second, order);
        }
        __syncwarp();
        if (left) {
            m.at(w.lane, s) = m.at(s, w.lane) = l;
            if (two) m.at(w.lane, s + 1) = m.at(s + 1, w.lane) = second;
        } else if (busy && w.lane == s) {
            m.at(s, s) = d.a;
            if (two) {
                m.at(s + 1, s) = m.at(s, s + 1) = d.b;
                m.at(s + 1, s + 1) = d.c;
            }
        }
        __syncwarp();
        s += busy ? 1 + two : 0;
    }
}

/* Factors and writes the block of w in `room`; order: a byte for each row, where the rule is COMPLETE. */
template <int RULE, int L, class real>
__device__ inline void ldlt_in_shared(const batch<real> &b, const place &w, real *room, uint8_t *order)
{
    shared_block<real, L> m = open_block<real, L>(b, w, room);
    ldlt_steps<RULE>(m, b.small, order);
    settle_block(b, m, [](real scale) { return scale; });
    store_block(b, m);
    store_state(b, m, m.row, m.w.lane);
}

template <class real, int N, int L, int RULE>
__global__ void __launch_bounds__(BLOCK_THREADS) ldlt_shared(const batch<real> b)
{
    __shared__ block_room<real, N, L> rooms;
    __shared__ uint8_t orders[BLOCK_THREADS / L][RULE == COMPLETE ? N : 1];
    ldlt_in_shared<RULE, L>(b, find_place<L>(b), rooms.mine(), orders[threadIdx.x / L]);
}

template <int RULE> struct ldlt_shared_method {
    template <class real, int N, int L> static constexpr auto KERNEL = ldlt_shared<real, N, L, RULE>;
};

} /* namespace sd_cuda */
