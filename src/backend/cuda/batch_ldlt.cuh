/*
 * L D L' in registers, D of 1x1 and 2x2 pivots: in order, by Bunch and Kaufman's rule, by Bunch and
 * Parlett's.
 *
 * A 2x2 pivot takes two steps that cost what two 1x1 pivots do: with [l1 l2] = [c1 c2] D^-1 of its columns c1
 * and c2, step s does a_ij <- a_ij - l1 c1_j, and step s + 1, which then chooses nothing, a_ij <- a_ij - l2
 * c2_j with the column as it was before. So the blocks of a warp stay at the same step whatever pivots they
 * take. L is what is kept, and L' is made of it when the block is written.
 *
 * Pivots are not moved away from 0 here: a block that has one to move, which is rare, is factored again by
 * the version in shared memory.
 */
#pragma once

#include "backend/cuda/batch_shared_ldlt.cuh"
#include "backend/cuda/batch_symmetric.cuh"

namespace sd_cuda
{

/* What a rule chose for step s: whether rows s and s + 1 are one pivot, and the lane that has row s + 1. */
struct choice {
    bool pair;
    int next;
};

/* The order of the block: the pivot is decided when its column is known to all. */
struct in_order {
    /* steps of a chunk, by measurement (saddle bench blocks) */
    template <int N> static constexpr int CHUNK = N <= 16 ? 1 : 4;
    static constexpr bool KEEPS_DIAGONAL = false, DECIDES_LAST = true;
    static constexpr int IN_SHARED = STATIC;

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                           bool second)
    {
        return {!second && step.s() + 1 < m.w.n, (m.w.first + step.s() + 1) % WARP};
    }
};

struct bunch_kaufman {
    template <int N> static constexpr int CHUNK = N <= 16 || N % 8 ? 4 : 8;
    static constexpr bool KEEPS_DIAGONAL = false, DECIDES_LAST = false;
    static constexpr int IN_SHARED = BUNCH_KAUFMAN;

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                           bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        const int s = step.s();
        const int found = lane_of_largest<L>(m.w, key_of(m.r[B]), m.inside() && m.at > s);
        const int q = found < 0 ? m.w.first : found;
        const real d = fabs(broadcast(m.r[B], m.lane_at(s))), below = fabs(broadcast(m.r[B], q));
        bool stays = second || found < 0 || below < TINY || (d >= TINY && d >= ALPHA * below);
        if (!__any_sync(ALL_LANES, !stays)) return {false, q};
        const real column = share_row(m, step, q);
        const bool beside_it = m.inside() && m.at >= s && m.self() != q;
        const int k = lane_of_largest<L>(m.w, key_of(column), beside_it);
        const real beside = fabs(broadcast(column, k < 0 ? m.w.first : k)), its = fabs(broadcast(column, q));
        /* d >= alpha b (b / c), b brought into [1, 2) */
        const real by = power_over(below);
        stays = stays || (d >= TINY && d * (beside * by) >= ALPHA * below * (below * by));
        const bool pair = !stays && !(its >= ALPHA * beside);
        exchange_rows(m, step, !stays, q, pair, column);
        return {pair, q};
    }
};

struct complete {
    template <int N> static constexpr int CHUNK = N <= 16 || N % 8 ? 4 : 8;
    static constexpr bool KEEPS_DIAGONAL = true, DECIDES_LAST = false;
    static constexpr int IN_SHARED = COMPLETE;

    /* The largest indexed key of the row after the diagonal, from column s on: entries before the diagonal
     * are others' after it. */
    template <int L, int B, int C, int N, class real>
    static __device__ inline unsigned search(const symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step)
    {
        unsigned best[2] = {0, 0};
#pragma unroll
        for (int j = B + 1; j < N; ++j)
            if (j >= B + C ? j > m.at : comes<C>(j - B, step.t) && j > m.at - step.t)
                best[j % 2] = max(best[j % 2], indexed_key(m.r[j], j));
        return max(best[0], best[1]);
    }

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                           bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        const int s = step.s();
        const bool open = m.at >= s;
        const unsigned mine = search(m, step);
        const int r = lane_of_largest<L>(m.w, m.inside() ? key_of(m.diagonal) : 0u, open);
        const int found = lane_of_largest<L>(m.w, m.inside() ? mine : 0u, open);
        const unsigned best = broadcast(mine, found); /* 0 in the last row */
        const int with = m.lane_at(best ? position_of<B, C>(index_of(best), step.t) : -1);
        const int p = with < 0 ? found : min(found, with), q = with < 0 ? found : max(found, with);
        real column = share_row(m, step, p);
        const real diagonal = fabs(broadcast(m.diagonal, r)), entry = fabs(broadcast(column, q));
        const real beside = p == q ? 0 : entry;
        const bool one = beside < TINY || (diagonal >= TINY && diagonal >= ALPHA * beside);
        if (__any_sync(ALL_LANES, one)) {
            const real other = share_row(m, step, one ? r : p);
            column = one ? other : column;
        }
        exchange_rows(m, step, !second, one ? r : p, false, column);
        const bool pair = !one && !second;
        if (__any_sync(ALL_LANES, pair)) exchange_rows(m, step, pair, q, true, share_row(m, step, q));
        return {pair, q};
    }
};

/* What is known of the block's pivots. */
template <class real> struct pivot_notes {
    real pivot; /* of the lane's row: its sign is that of an eigenvalue of D, and it is at fault where D is
                   (of a pair, in the first of its rows) */
    uint32_t pairs; /* of the block */
    bool again;     /* a pivot of the block may have to be moved */
};

/* The lane's entries of L in column s and, where s and s + 1 are a pair, in the next. */
template <class real> struct column_pair {
    real first, last;
};

/* A step whose pivot, or the first row of whose pivot, is a: whether it is a pair, and the column of L. */
template <class Rule, int L, int B, int C, int N, class real>
__device__ inline column_pair<real> take(const symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                         choice &chosen, bool second, const real *c, real small,
                                         pivot_notes<real> &notes)
{
    const real a = c[B];
    column_pair<real> l = {m.r[B], step.next(m.r)};
    const bool stands = m.at == step.s() && !second;
    if (stands) notes.pivot = a;
    if (Rule::DECIDES_LAST && chosen.pair) {
        const real b = c[step.next_register()];
        chosen.pair = key_of(b) > key_of(a); /* or it is never better */
    }
    if (!__any_sync(ALL_LANES, chosen.pair)) {
        l.first *= reciprocal(a);
        notes.again = notes.again || (!second && fabs(a) < small);
        return l;
    }
    const real b = c[step.next_register()], e = broadcast(l.last, chosen.next);
    const scaled_pair<real> d = scale_pair(a, b, e);
    if (Rule::DECIDES_LAST) chosen.pair = chosen.pair && is_better(d, b);
    const real inverse = reciprocal(chosen.pair ? d.determinant : a), alone = l.first * inverse;
    solve_pair(d, d.by * inverse, l.first, l.last);
    l.first = chosen.pair ? l.first : alone;
    if (chosen.pair) {
        /* one eigenvalue is negative, or both have the sign of a */
        const real whole = fabs(d.determinant * b);
        const real size = whole < numbers<real>::TINY * (d.b * d.b) ? 0 : whole;
        if (stands) notes.pivot = d.determinant < 0 || a < 0 ? -size : size;
        if (m.at == step.s() + 1) notes.pivot = d.determinant > 0 && a < 0 ? -1 : 1;
        notes.pairs |= 1u << step.s();
        /* the determinant over the norm bounds the smaller eigenvalue */
        notes.again =
            notes.again || fabs(d.determinant) < 2 * small * d.by * (fabs(d.a) + fabs(d.b) + fabs(d.c));
    } else {
        notes.again = notes.again || (!second && fabs(a) < small);
    }
    return l;
}

template <class Rule, int C, int N, int L, class real>
__device__ inline void eliminate(symmetric_rows<real, N, L> &m, real small, pivot_notes<real> &notes)
{
    bool second = false;
    real second_column = 0; /* column s + 1 of a 2x2 pivot, as it was */
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
        if (C == 1 && B >= m.w.most) return;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            const chunk_step<B, C, N> step = {t};
            choice chosen = {false, 0};
            column_pair<real> l = {m.r[B], 0};
            const real *c;
            bool left = m.at > step.s();
            if (L == WARP && second) { /* as all lanes have it */
                c = share_column(m, step, second_column);
                if (Rule::KEEPS_DIAGONAL)
                    m.diagonal = left ? fma(-l.first, second_column, m.diagonal) : m.diagonal;
                second = false;
            } else {
                chosen = Rule::choose(m, step, second);
                const real mine = second ? second_column : m.r[B];
                c = share_column(m, step, mine);
                second_column = step.next(m.r);
                l = take<Rule>(m, step, chosen, second, c, small, notes);
                left = m.at > step.s() + chosen.pair;
                l.first = left && !second ? l.first : m.r[B];
                if (Rule::KEEPS_DIAGONAL) m.diagonal = left ? fma(-l.first, mine, m.diagonal) : m.diagonal;
                second = chosen.pair;
            }
            eliminate_column<B, C>(m.r, t, left ? l.first : 0, c, l.first);
            const bool next = left && chosen.pair; /* what was in register B + 1 is in B now */
            if (C > 1) m.r[B] = next && step.within() ? l.last : m.r[B];
            if (B + C < N) m.r[step.OUTER] = next && !step.within() ? l.last : m.r[step.OUTER];
        }
    });
}

/* The block of w in shared memory, apart from the kernels, which rarely need it. */
template <int RULE, int L, class real>
__noinline__ __device__ void factor_again(const batch<real> &b, place w, real *room, uint8_t *order)
{
    ldlt_in_shared<RULE, L>(b, w, room, order);
}

template <class real, int N, int L, class Rule>
__global__ void
__launch_bounds__(BLOCK_THREADS,
                  (at_once<real, N>(N == 32 ? 64 : (N == 12 ? 48 : 36) + 18 * numbers<real>::WORDS)))
    ldlt(const batch<real> b)
{
    __shared__ symmetric_rooms<real, N, L> rooms;
    __shared__ uint8_t orders[BLOCK_THREADS / L][Rule::IN_SHARED == COMPLETE ? N : 1];
    symmetric_rows<real, N, L> m = {find_place<L>(b), rooms.mine()};
    place &w = m.w;
    const real *block = b.x + w.entry;
    load_symmetric(m, block, Rule::KEEPS_DIAGONAL);
    pivot_notes<real> notes = {1, 0, false};
    eliminate<Rule, Rule::template CHUNK<N>>(m, b.small, notes);
    place again = w;
    if (notes.again)
        w.n = 0;
    else
        again.n = 0;
    real scale;
    const verdict v = judge<L>(w, block, fault_of(notes.pivot), all_finite(m.r), m.at, &scale);
    sd_batch_state state = {};
    state.pairs = notes.pairs;
    state.negative = static_cast<uint8_t>(__popc(lanes_where<L>(w, m.inside() && notes.pivot < 0)));
    if (v.any_failed && v.failed) {
        scaled_identity(w, scale, m.r);
        m.at = w.lane;
        state = {};
        state.status = v.status;
    }
    store_symmetric(m, b.f + w.entry);
    store_order(b, w, m.at, w.lane, w.lane, state);
    if (!__any_sync(ALL_LANES, notes.again)) return;
    __syncwarp();
    factor_again<Rule::IN_SHARED, L>(b, again, m.room, orders[threadIdx.x / L]);
}

template <class Rule> struct ldlt_method {
    template <class real, int N, int L> static constexpr auto KERNEL = ldlt<real, N, L, Rule>;
};

} /* namespace sd_cuda */
