/*
 * L D L' in registers, D of 1x1 and 2x2 pivots: in order, by Bunch and Kaufman's rule, by Bunch and
 * Parlett's.
 *
 * A 2x2 pivot takes two steps that cost what two 1x1 pivots do: with [l1 l2] = [c1 c2] D^-1 of its columns c1
 * and c2, step s does a_ij <- a_ij - l1 c1_j, and step s + 1, which then chooses nothing, a_ij <- a_ij - l2
 * c2_j with the column as it was before. So the blocks of a warp stay at the same step whatever pivots they
 * take. L is what is kept, and L' is made of it when the block is written.
 */
#ifndef SD_CUDA_BLOCK_LDLT_CUH
#define SD_CUDA_BLOCK_LDLT_CUH

#include "backend/cuda/block_pairs.cuh"
#include "backend/cuda/block_symmetric.cuh"

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
    template <int N> static constexpr int CHUNK = N <= 4 ? 1 : 4;
    static constexpr bool KEEPS_DIAGONAL = false, DECIDES_LAST = true;

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                           bool second)
    {
        return {!second && step.s() + 1 < m.w.n, (m.w.first + step.s() + 1) % WARP};
    }
};

struct bunch_kaufman {
    template <int N> static constexpr int CHUNK = N <= 4 ? 1 : 4;
    static constexpr bool KEEPS_DIAGONAL = false, DECIDES_LAST = false;

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                           bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        const int s = step.s();
        if (!__any_sync(ALL_LANES, !second)) return {false, 0};
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
    template <int N> static constexpr int CHUNK = N <= 4 ? 1 : 4;
    static constexpr bool KEEPS_DIAGONAL = true, DECIDES_LAST = false;

    /* The largest of the row after the diagonal, from column s on: its key, and its register. Entries before
     * the diagonal are others' after it. */
    template <int L, int B, int C, int N, class real>
    static __device__ inline unsigned search(const symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                             int &index)
    {
        unsigned best[2] = {0, 0};
        int at[2] = {B, B};
#pragma unroll
        for (int j = N - 1; j > B; --j) {
            const bool after = j >= B + C ? j > m.at : comes<C>(j - B, step.t) && j > m.at - step.t;
            bool larger;
            const unsigned most = larger_key(after ? key_of(m.r[j]) : 0u, best[j % 2], larger);
            at[j % 2] = after && larger ? j : at[j % 2];
            best[j % 2] = most;
        }
        index = best[0] >= best[1] ? at[0] : at[1];
        return max(best[0], best[1]);
    }

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                           bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        if (!__any_sync(ALL_LANES, !second)) return {false, 0};
        const int s = step.s();
        const bool open = m.at >= s;
        int index;
        const unsigned mine = search(m, step, index);
        const int r = lane_of_largest<L>(m.w, m.inside() ? key_of(m.diagonal) : 0u, open);
        const int found = lane_of_largest<L>(m.w, m.inside() ? mine : 0u, open);
        const int with = m.lane_at(position_of<B, C>(broadcast(index, found), step.t));
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

/* What becomes of a step: the pivots that it ends with, and what the columns are divided by. */
template <class real> struct taken_pivot {
    real a, b, c; /* D; b and c of a 2x2 */
    scaled_pair<real> pair;
    real inverse; /* of a 1x1 pivot, of the determinant of the scaled pair */
};

/* What is known of the block's pivots, in the lanes of their rows. */
template <class real> struct pivot_notes {
    real pivot; /* with the sign of an eigenvalue of D, and at fault where D is: of a pair, in one of its rows
                   only */
    bool moved;
    uint32_t pairs;
};

/* Settles the pivot of step s, whose column is c. */
template <class Rule, int L, int B, int C, int N, class real>
__device__ inline taken_pivot<real> take(const symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                         choice &chosen, bool second, const real *c, real small,
                                         pivot_notes<real> &notes)
{
    taken_pivot<real> d = {c[B], 0, 0, {}, 0};
    const int s = step.s();
    real divisor = d.a, of_first = d.a, of_next = 1;
    int moved = 0;
    if (__any_sync(ALL_LANES, chosen.pair)) {
        clamped_pair<real> e = {d.a, c[step.next_register()], broadcast(step.next(m.r), chosen.next), 0};
        d.pair = scale_pair(e.a, e.b, e.c);
        if (Rule::DECIDES_LAST) chosen.pair = chosen.pair && is_better(d.pair, e.b);
        if (small > 0 && __any_sync(ALL_LANES, chosen.pair)) {
            e = clamp_pair(e.a, e.b, e.c, small);
            d.pair = scale_pair(e.a, e.b, e.c);
        }
        if (chosen.pair) {
            d.a = e.a;
            d.b = e.b;
            d.c = e.c;
            divisor = d.pair.determinant;
            moved = e.count;
            /* one eigenvalue is negative, or both have the sign of a; it is at fault where fault_of the pair is */
            const real whole = fabs(divisor * e.b);
            const real size = whole < numbers<real>::TINY * (d.pair.b * d.pair.b) ? 0 : whole;
            of_first = divisor < 0 || e.a < 0 ? -size : size;
            of_next = divisor > 0 && e.a < 0 ? -1 : 1;
            notes.pairs |= 1u << s;
        }
    }
    if (small > 0 && !chosen.pair) {
        divisor = of_first = settle(d.a, small);
        moved = divisor != d.a;
        d.a = divisor;
    }
    d.inverse = reciprocal(divisor);
    if (m.at == s && !second) {
        notes.pivot = of_first;
        notes.moved = moved > 0;
    }
    if (m.at == s + 1 && chosen.pair) {
        notes.pivot = of_next;
        notes.moved = moved > 1;
    }
    return d;
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
            const int s = step.s();
            choice chosen = Rule::choose(m, step, second);
            const real mine = second ? second_column : m.r[B], following = step.next(m.r);
            const real *c = share_column(m, step, mine);
            const taken_pivot<real> d = take<Rule>(m, step, chosen, second, c, small, notes);
            real l = m.at == s ? d.a : m.r[B] * d.inverse, next = following;
            if (__any_sync(ALL_LANES, chosen.pair)) {
                real first = m.r[B], last = following;
                solve_pair(d.pair, d.pair.by * d.inverse, first, last);
                if (chosen.pair) {
                    l = m.at == s ? d.a : m.at == s + 1 ? d.b : first;
                    next = m.at == s ? d.b : m.at == s + 1 ? d.c : last;
                }
            }
            l = second || m.at < s ? m.r[B] : l;
            const real multiplier = m.at > s + chosen.pair ? l : 0;
            if (Rule::KEEPS_DIAGONAL) m.diagonal = fma(-multiplier, mine, m.diagonal);
            eliminate_column<B, C>(m.r, t, multiplier, c, l);
            /* what was in register B + 1 is in B now */
            if (C > 1) m.r[B] = chosen.pair && step.within() ? next : m.r[B];
            if (B + C < N) m.r[step.OUTER] = chosen.pair && !step.within() ? next : m.r[step.OUTER];
            second_column = following;
            second = chosen.pair;
        }
    });
}

template <class real, int N, int L, class Rule>
__global__ void __launch_bounds__(BLOCK_THREADS,
                                  (at_once<real, N>((N == 12 ? 48 : 36) + 18 * numbers<real>::WORDS)))
    ldlt(const batch<real> b)
{
    __shared__ symmetric_rooms<real, N, L> rooms;
    symmetric_rows<real, N, L> m = {find_place<L>(b), rooms.mine()};
    const place &w = m.w;
    const real *block = b.x + w.entry;
    load_symmetric(m, block, Rule::KEEPS_DIAGONAL);
    pivot_notes<real> notes = {1, false, 0};
    eliminate<Rule, Rule::template CHUNK<N>>(m, b.small, notes);
    real scale;
    const verdict v = judge<L>(w, block, fault_of(notes.pivot), all_finite(m.r), m.at, &scale);
    sd_block_state state = {};
    state.pairs = notes.pairs;
    state.negative = static_cast<uint8_t>(__popc(lanes_where<L>(w, m.inside() && notes.pivot < 0)));
    state.perturbed = static_cast<uint8_t>(__popc(lanes_where<L>(w, m.inside() && notes.moved)));
    if (v.any_failed && v.failed) {
        scaled_identity(w, scale, m.r);
        m.at = w.lane;
        state = {};
        state.status = v.status;
    }
    store_symmetric(m, b.f + w.entry);
    store_order(b, w, m.at, w.lane, w.lane, state);
}

template <class Rule> struct ldlt_method {
    template <class real, int N, int L> static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
    {
        launch_with(e, "block_factor", ldlt<real, N, L, Rule>, blocks, BLOCK_THREADS, b);
    }
};

} /* namespace sd_cuda */

#endif
