/*
 * L D L' in registers, D of 1x1 and 2x2 pivots: in order, by Bunch and Kaufman's rule, by Bunch and Parlett's.
 *
 * Rows are implicit and columns move. A 2x2 pivot of rows p and q takes two steps that cost what two 1x1 pivots
 * do: with [l1 l2] = [c1 c2] D^-1 of its columns c1 and c2, step s does a_ij <- a_ij - l1 a_pj, and step s + 1,
 * which then chooses nothing, a_ij <- a_ij - l2 a_qj. So the blocks of a warp stay at the same step whatever
 * pivots they take. Row and column of what is left differ by rounding: L is what is kept, and L' is made of it
 * when the block is written.
 */
#ifndef SD_CUDA_BLOCK_LDLT_CUH
#define SD_CUDA_BLOCK_LDLT_CUH

#include "backend/cuda/block_pairs.cuh"
#include "backend/cuda/block_rows.cuh"

namespace sd_cuda
{

/* A lane's view of its block at work. */
template <class real, int N> struct symmetric_rows {
    place w;
    real r[N];
    int at;        /* where the row stands; from step s on: it was no pivot yet */
    real diagonal; /* of the row, kept by Bunch and Parlett's rule */
    real pivot;    /* 1x1: the pivot that the row became; 2x2: 1, or a number at fault */
    bool negative, moved;
    uint32_t pairs;
};

/* The pivot of a step: lane p at position s, and where `pair` lane q at s + 1. */
struct choice {
    int p, q;
    bool pair;
};

/* The order of the block; `second`: this step is the second of a 2x2 pivot. */
struct in_order {
    static constexpr bool KEEPS_DIAGONAL = false;
    template <int L, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N> &m, int s, bool second)
    {
        const place &w = m.w;
        choice c = {w.first + s, w.first + s + 1, false};
        if (s + 1 < N) {
            const real a = broadcast(m.r[s], c.p), b = broadcast(m.r[s], c.q & (WARP - 1));
            const real d = broadcast(m.r[s + 1 < N ? s + 1 : s], c.q & (WARP - 1));
            c.pair = !second && s + 1 < w.n && is_better(scale_pair(a, b, d), b);
        }
        return c;
    }
};

struct bunch_kaufman {
    static constexpr bool KEEPS_DIAGONAL = false;

    /* The largest of the row beside the diagonal, from column s on, and the diagonal. */
    template <int N, class real>
    static __device__ inline void search(const symmetric_rows<real, N> &m, int s, real &beside, real &diagonal)
    {
        beside = diagonal = 0;
#pragma unroll
        for (int j = 0; j < N; ++j)
            if (j >= s) {
                const real v = fabs(m.r[j]);
                diagonal = j == m.at ? v : diagonal;
                beside = j == m.at || v <= beside ? beside : v;
            }
    }

    /* Exchanges columns t (s, or s + 1 where the choice is a pair) and c. */
    template <int N, class real>
    static __device__ inline void exchange(symmetric_rows<real, N> &m, int s, bool pair, int c)
    {
        constexpr int last = N - 1;
        const int next = s < last ? s + 1 : last;
        const real given = pair ? m.r[next] : m.r[s];
        real taken = given;
#pragma unroll
        for (int j = 1; j < N; ++j)
            if (j > s) {
                taken = j == c ? m.r[j] : taken;
                m.r[j] = j == c ? given : m.r[j];
            }
        m.r[next] = pair ? taken : m.r[next];
        m.r[s] = pair ? m.r[s] : taken;
    }

    template <int L, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N> &m, int s, bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        const place &w = m.w;
        choice c = {__ffs(lanes_where<L>(w, m.at == s)) - 1, 0, false};
        const int r = lane_of_largest<L>(w, key_of(m.r[s]), w.lane < w.n && m.at > s);
        c.q = r < 0 ? c.p : r;
        const real d = fabs(broadcast(m.r[s], c.p)), below = fabs(broadcast(m.r[s], c.q));
        bool stays = second || r < 0 || below < TINY || (d >= TINY && d >= ALPHA * below);
        if (!__any_sync(ALL_LANES, !stays)) return c;
        real beside, diagonal;
        search(m, s, beside, diagonal);
        beside = broadcast(beside, c.q);
        diagonal = broadcast(diagonal, c.q);
        stays = stays || (d >= TINY && d >= ALPHA * below * (below / beside));
        c.pair = !stays && !(diagonal >= ALPHA * beside);
        const int from = broadcast(m.at, c.q), to = c.pair ? s + 1 : s;
        exchange(m, s, c.pair, stays ? s : from);
        if (!stays) {
            const bool brought = w.first + w.lane == c.q;
            m.at = brought ? to : m.at == to ? from : m.at;
            if (!c.pair) c.p = c.q;
        }
        return c;
    }
};

struct complete {
    static constexpr bool KEEPS_DIAGONAL = true;

    /* The largest of the row after the diagonal, from column s on, and its column: entries before the
     * diagonal are others' after it. */
    template <int N, class real>
    static __device__ inline real search(const symmetric_rows<real, N> &m, int s, int &column)
    {
        real best = 0;
        unsigned most = 0;
        column = s;
#pragma unroll
        for (int j = N - 1; j >= 0; --j)
            if (j >= s) {
                const unsigned key = key_of(m.r[j]);
                const bool larger = j > m.at && key >= most;
                most = larger ? key : most;
                best = larger ? m.r[j] : best;
                column = larger ? j : column;
            }
        return fabs(best);
    }

    /* Brings the row and column at position c to s. */
    template <int N, class real>
    static __device__ inline void bring(symmetric_rows<real, N> &m, int s, int c)
    {
        bring_column(m.r, s, c);
        m.at = m.at == c ? s : m.at >= s && m.at < c ? m.at + 1 : m.at;
    }

    template <int L, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N> &m, int s, bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        const place &w = m.w;
        const bool open = m.at >= s, inside = w.lane < w.n;
        int column;
        const real mine = search(m, s, column);
        const int r = lane_of_largest<L>(w, inside ? key_of(m.diagonal) : 0u, open);
        const int p = lane_of_largest<L>(w, inside ? key_of(mine) : 0u, open);
        const real diagonal = fabs(broadcast(m.diagonal, r)), beside = broadcast(mine, p);
        const bool one = beside < TINY || (diagonal >= TINY && diagonal >= ALPHA * beside);
        choice c = {one ? r : p, 0, !one && !second};
        const int with = broadcast(column, p), next = __ffs(lanes_where<L>(w, m.at == with)) - 1;
        bring(m, s, second ? s : broadcast(m.at, c.p));
        if (second) c.p = __ffs(lanes_where<L>(w, m.at == s)) - 1;
        c.q = c.pair ? next : c.p;
        const int from = broadcast(m.at, c.q);
        if (s + 1 < N && __any_sync(ALL_LANES, c.pair)) bring(m, s + 1, c.pair ? from : s + 1);
        return c;
    }
};

/* Column s of L and, of a 2x2 pivot, column s + 1; the pivot is settled. Returns whether the row is left. */
template <int N, class real>
__device__ inline bool take_pair(symmetric_rows<real, N> &m, int s, const choice &c, real small, real &l,
                                 real &next)
{
    const place &w = m.w;
    const int self = w.first + w.lane, t = s + 1 < N ? s + 1 : s;
    real a = broadcast(m.r[s], c.p), b = broadcast(m.r[s], c.q), d = broadcast(m.r[t], c.q);
    int count = 0;
    if (small > 0) {
        const clamped_pair<real> moved = clamp_pair(a, b, d, small);
        a = moved.a;
        b = moved.b;
        d = moved.c;
        count = moved.count;
    }
    const scaled_pair<real> pair = scale_pair(a, b, d);
    const int fault = fault_of(pair, b), negative = negative_of(pair);
    const bool left = m.at > s + 1;
    if (!c.pair) return m.at > s;
    real first = m.r[s], second = m.r[t];
    solve_pair(pair, pair.by / pair.determinant, first, second);
    l = first;
    next = left ? second : m.at == s ? b : d;
    if (self == c.p) m.r[s] = a;
    if (self == c.q) m.r[s] = b;
    if (self == c.p || self == c.q) {
        m.pivot = fault == SD_BLOCK_OK ? 1 : fault == SD_BLOCK_SINGULAR ? 0 : INFINITY;
        m.negative = negative > (self == c.q);
        m.moved = count > (self == c.q);
    }
    m.pairs |= 1u << s;
    return left;
}

template <class Rule, int L, int N, class real>
__device__ inline void eliminate(symmetric_rows<real, N> &m, real small)
{
    const place &w = m.w;
    const int self = w.first + w.lane;
    bool second = false;
    real second_raw = 0; /* column s + 1 of a 2x2 pivot, as it was */
#pragma unroll
    for (int s = 0; s < N; ++s) {
        if (s >= w.most) break;
        constexpr int last = N - 1;
        const int t = s < last ? s + 1 : last;
        const choice c = Rule::template choose<L>(m, s, second);
        const real raw = broadcast(m.r[s], c.p), d = settle(raw, small), inverse = 1 / d;
        const real mine = second ? second_raw : m.r[s];
        if (self == c.p && !second && !c.pair) {
            m.pivot = m.r[s] = d;
            m.negative = d < 0;
            m.moved = d != raw;
        }
        real l = second ? m.r[s] : m.r[s] * inverse, next = 0;
        second_raw = m.r[t];
        bool left = m.at > s;
        if (__any_sync(ALL_LANES, c.pair)) left = take_pair(m, s, c, small, l, next);
        const real multiplier = left ? l : 0;
        if (Rule::KEEPS_DIAGONAL) m.diagonal = fma(-multiplier, mine, m.diagonal);
        m.r[s] = left ? l : m.r[s];
#pragma unroll
        for (int j = s + 1; j < N; ++j) m.r[j] = fma(-multiplier, broadcast(m.r[j], c.p), m.r[j]);
        m.r[t] = c.pair ? next : m.r[t];
        second = c.pair;
    }
}

template <class real, int N, int L, class Rule>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(28 + 14 * numbers<real>::WORDS)))
    ldlt(const batch<real> b)
{
    __shared__ block_room<real, N, L> rooms;
    symmetric_rows<real, N> m = {find_place<L>(b)};
    const place &w = m.w;
    const real *block = b.x + w.entry;
    load_row(w, block, m.r);
    m.at = w.lane;
    m.pivot = m.diagonal = 1;
    if (Rule::KEEPS_DIAGONAL) {
#pragma unroll
        for (int j = 0; j < N; ++j) m.diagonal = j == w.lane ? m.r[j] : m.diagonal;
    }
    eliminate<Rule, L>(m, b.small);
    real scale;
    const verdict v = judge<L>(w, block, fault_of(m.pivot), all_finite(m.r), m.at, &scale);
    const bool inside = w.lane < w.n;
    sd_block_state state = {};
    state.pairs = m.pairs;
    state.negative = static_cast<uint8_t>(__popc(lanes_where<L>(w, inside && m.negative)));
    state.perturbed = static_cast<uint8_t>(__popc(lanes_where<L>(w, inside && m.moved)));
    if (v.any_failed && v.failed) {
        scaled_identity(w, scale, m.r);
        m.at = w.lane;
        state = {};
        state.status = v.status;
    }
    store_symmetric<N, L>(w, m.r, m.at, rooms.mine(), b.f + w.entry);
    store_order(b, w, m.at, w.lane, w.lane, state);
}

template <class Rule> struct ldlt_method {
    template <class real, int N, int L>
    static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
    {
        launch_with(e, "block_factor", ldlt<real, N, L, Rule>, blocks, BLOCK_THREADS, b);
    }
};

} /* namespace sd_cuda */

#endif
