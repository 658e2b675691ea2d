/*
 * L D L' in registers, D of 1x1 and 2x2 pivots: in order, by Bunch and Kaufman's rule, by Bunch and
 * Parlett's.
 *
 * Rows are implicit and columns move. A 2x2 pivot of rows p and q takes two steps that cost what two 1x1
 * pivots do: with [l1 l2] = [c1 c2] D^-1 of its columns c1 and c2, step s does a_ij <- a_ij - l1 a_pj, and
 * step s + 1, which then chooses nothing, a_ij <- a_ij - l2 a_qj. So the blocks of a warp stay at the same
 * step whatever pivots they take. Row and column of what is left differ by rounding: L is what is kept, and
 * L' is made of it when the block is written.
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

/* A step s = B + t of the chunk from B on. The column after s is in register B + 1, or, at the chunk's last
 * step, in B + C. */
template <int B, int C, int N> struct ldlt_step {
    static constexpr int INNER = C > 1 ? B + 1 : B, OUTER = B + C < N ? B + C : B;
    int t;
    __device__ int s() const
    {
        return B + t;
    }
    __device__ bool inside() const
    {
        return C > 1 && t < C - 1;
    }
    template <class real> __device__ real next(const real (&r)[N]) const
    {
        return inside() ? r[INNER] : r[OUTER];
    }
    template <class real> __device__ void put_next(real (&r)[N], bool where, real value) const
    {
        if (C > 1) r[INNER] = where && inside() ? value : r[INNER];
        if (B + C < N) r[OUTER] = where && !inside() ? value : r[OUTER];
    }
    /* The position of the column in register j, or `none` where it came before s. */
    __device__ int position(int j, int none) const
    {
        return j >= B + C ? j : comes<C>(j - B, t) ? j + t : none;
    }
};

/* The order of the block; `second`: this step is the second of a 2x2 pivot. */
struct in_order {
    /* steps of a chunk, by measurement (bench/cuda_blocks.cu) */
    template <int N> static constexpr int CHUNK = N <= 4 ? 1 : 4;
    static constexpr bool KEEPS_DIAGONAL = false;

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N> &m, ldlt_step<B, C, N> at, bool second)
    {
        const place &w = m.w;
        choice c = {w.first + at.s(), (w.first + at.s() + 1) % WARP, false};
        const real a = broadcast(m.r[B], c.p), b = broadcast(m.r[B], c.q), d = broadcast(at.next(m.r), c.q);
        c.pair = !second && at.s() + 1 < w.n && is_better(scale_pair(a, b, d), b);
        return c;
    }
};

struct bunch_kaufman {
    template <int N> static constexpr int CHUNK = N <= 4 ? 1 : N <= 16 || N % 8 ? 4 : N % 16 ? 8 : 16;
    static constexpr bool KEEPS_DIAGONAL = false;

    /* The largest of the row beside the diagonal, from column s on, and the diagonal. */
    template <int B, int C, int N, class real>
    static __device__ inline void search(const symmetric_rows<real, N> &m, ldlt_step<B, C, N> at,
                                         real &beside, real &diagonal)
    {
        beside = diagonal = 0;
#pragma unroll
        for (int j = B; j < N; ++j) {
            const real v = fabs(m.r[j]);
            const int position = at.position(j, -1);
            const bool larger = position >= 0 && position != m.at && v > beside;
            diagonal = position == m.at ? v : diagonal;
            beside = larger ? v : beside;
        }
    }

    /* Exchanges column s, or s + 1 where `pair`, with the one in register c. */
    template <int B, int C, int N, class real>
    static __device__ inline void exchange(symmetric_rows<real, N> &m, ldlt_step<B, C, N> at, bool pair,
                                           int c)
    {
        const real given = pair ? at.next(m.r) : m.r[B];
        real taken = given;
#pragma unroll
        for (int j = B + 1; j < N; ++j) {
            taken = j == c ? m.r[j] : taken;
            m.r[j] = j == c ? given : m.r[j];
        }
        at.put_next(m.r, pair, taken);
        m.r[B] = pair ? m.r[B] : taken;
    }

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N> &m, ldlt_step<B, C, N> at, bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        const place &w = m.w;
        const int s = at.s();
        choice c = {__ffs(lanes_where<L>(w, m.at == s)) - 1, 0, false};
        const int r = lane_of_largest<L>(w, key_of(m.r[B]), w.lane < w.n && m.at > s);
        c.q = r < 0 ? c.p : r;
        const real d = fabs(broadcast(m.r[B], c.p)), below = fabs(broadcast(m.r[B], c.q));
        bool stays = second || r < 0 || below < TINY || (d >= TINY && d >= ALPHA * below);
        if (!__any_sync(ALL_LANES, !stays)) return c;
        real beside, diagonal;
        search(m, at, beside, diagonal);
        beside = broadcast(beside, c.q);
        diagonal = broadcast(diagonal, c.q);
        /* d >= alpha b (b / c), b brought into [1, 2) */
        const real by = power_over(below);
        stays = stays || (d >= TINY && d * (beside * by) >= ALPHA * below * (below * by));
        c.pair = !stays && !(diagonal >= ALPHA * beside);
        const int from = broadcast(m.at, c.q), to = c.pair ? s + 1 : s;
        exchange(m, at, c.pair, stays ? B : register_of<B, C>(from, at.t));
        if (!stays) {
            const bool brought = w.first + w.lane == c.q;
            m.at = brought ? to : m.at == to ? from : m.at;
            if (!c.pair) c.p = c.q;
        }
        return c;
    }
};

struct complete {
    template <int N> static constexpr int CHUNK = N <= 4 ? 1 : N <= 16 || N % 8 ? 4 : N % 16 ? 8 : 16;
    static constexpr bool KEEPS_DIAGONAL = true;

    /* The largest of the row after the diagonal, from column s on, and its position: entries before the
     * diagonal are others' after it. */
    template <int B, int C, int N, class real>
    static __device__ inline real search(const symmetric_rows<real, N> &m, ldlt_step<B, C, N> at, int &column)
    {
        real best = 0;
        unsigned most = 0;
        column = at.s();
#pragma unroll
        for (int j = N - 1; j > B; --j) {
            const unsigned key = key_of(m.r[j]);
            const int position = at.position(j, -1);
            const bool larger = position > m.at && key >= most;
            most = larger ? key : most;
            best = larger ? m.r[j] : best;
            column = larger ? position : column;
        }
        return fabs(best);
    }

    /* Where `pair`, brings the column in register c to s + 1; those before it move up by one. */
    template <int B, int C, int N, class real>
    static __device__ inline void bring_next(symmetric_rows<real, N> &m, ldlt_step<B, C, N> at, bool pair,
                                             int c)
    {
        const int from = at.inside() ? at.INNER : at.OUTER;
        real carried = at.next(m.r);
#pragma unroll
        for (int j = B + 1; j < N; ++j) {
            const real here = m.r[j];
            const bool before = pair && j > from && j <= c && at.position(j, -1) >= 0;
            m.r[j] = before ? carried : here;
            carried = before ? here : carried;
        }
        at.put_next(m.r, pair, carried);
    }

    template <int L, int B, int C, int N, class real>
    static __device__ inline choice choose(symmetric_rows<real, N> &m, ldlt_step<B, C, N> at, bool second)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        const place &w = m.w;
        const int s = at.s();
        const bool open = m.at >= s, inside = w.lane < w.n;
        int column;
        const real mine = search(m, at, column);
        const int r = lane_of_largest<L>(w, inside ? key_of(m.diagonal) : 0u, open);
        const int p = lane_of_largest<L>(w, inside ? key_of(mine) : 0u, open);
        const real diagonal = fabs(broadcast(m.diagonal, r)), beside = broadcast(mine, p);
        const bool one = beside < TINY || (diagonal >= TINY && diagonal >= ALPHA * beside);
        const int stands = __ffs(lanes_where<L>(w, m.at == s)) - 1;
        choice c = {second ? stands : one ? r : p, 0, !one && !second};
        const int with = broadcast(column, p), next = __ffs(lanes_where<L>(w, m.at == with)) - 1;
        c.q = c.pair ? next : c.p;
        const int from = broadcast(m.at, c.p);
        bring_column<B, C>(m.r, at.t, register_of<B, C>(from, at.t));
        m.at = m.at == from ? s : m.at >= s && m.at < from ? m.at + 1 : m.at;
        if (__any_sync(ALL_LANES, c.pair)) {
            const int second_from = broadcast(m.at, c.q);
            bring_next(m, at, c.pair, register_of<B, C>(second_from, at.t));
            if (c.pair) m.at = m.at == second_from ? s + 1 : m.at > s && m.at < second_from ? m.at + 1 : m.at;
        }
        return c;
    }
};

/* A pivot and the reciprocal of what its rows are divided by: of a 1x1 pivot itself, of a 2x2 the determinant
 * of the scaled pair. */
template <class real> struct taken_pivot {
    real a, b, c; /* D; b and c of a 2x2 */
    scaled_pair<real> pair;
    real inverse;
};

/* Settles the pivot that was chosen and notes what became of it in the lanes of its rows. */
template <int B, int C, int N, class real>
__device__ inline taken_pivot<real> take(symmetric_rows<real, N> &m, ldlt_step<B, C, N> at, const choice &c,
                                         bool second, real small)
{
    const int self = m.w.first + m.w.lane;
    taken_pivot<real> d = {};
    const real raw = broadcast(m.r[B], c.p);
    d.a = settle(raw, small);
    real divisor = d.a;
    bool negative = d.a < 0, moved = d.a != raw, both_negative = false, both_moved = false;
    if (__any_sync(ALL_LANES, c.pair)) {
        clamped_pair<real> e = {raw, broadcast(m.r[B], c.q), broadcast(at.next(m.r), c.q), 0};
        if (small > 0) e = clamp_pair(e.a, e.b, e.c, small);
        d.pair = scale_pair(e.a, e.b, e.c);
        if (c.pair) {
            d.a = e.a;
            d.b = e.b;
            d.c = e.c;
            divisor = d.pair.determinant;
            both_negative = divisor > 0 && e.a < 0;
            negative = divisor < 0 || both_negative;
            moved = e.count > 0;
            both_moved = e.count > 1;
            m.pairs |= 1u << at.s();
        }
    }
    d.inverse = reciprocal(divisor);
    if (self == c.p && !second) {
        m.pivot = c.pair ? divisor * d.b : d.a; /* whichever is too small to divide by */
        m.negative = negative;
        m.moved = moved;
    }
    if (self == c.q && c.pair) {
        m.pivot = 1;
        m.negative = both_negative;
        m.moved = both_moved;
    }
    return d;
}

template <class Rule, int L, int C, int N, class real>
__device__ inline void eliminate(symmetric_rows<real, N> &m, real small)
{
    const int self = m.w.first + m.w.lane;
    bool second = false;
    real second_raw = 0; /* column s + 1 of a 2x2 pivot, as it was */
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            const ldlt_step<B, C, N> at = {t};
            const choice c = Rule::template choose<L>(m, at, second);
            const taken_pivot<real> d = take(m, at, c, second, small);
            const real mine = second ? second_raw : m.r[B], following = at.next(m.r);
            real l = second ? m.r[B] : m.r[B] * d.inverse, next = following;
            if (self == c.p && !second) l = d.a;
            if (c.pair) {
                l = m.r[B];
                solve_pair(d.pair, d.pair.by * d.inverse, l, next);
                l = self == c.p ? d.a : self == c.q ? d.b : l;
                next = self == c.p ? d.b : self == c.q ? d.c : next;
            }
            const bool left = m.at > at.s() + c.pair;
            const real multiplier = left ? l : 0;
            if (Rule::KEEPS_DIAGONAL) m.diagonal = fma(-multiplier, mine, m.diagonal);
            eliminate_step<B, C>(m.r, t, multiplier, c.p, m.at >= at.s() ? l : m.r[B]);
            /* what was in register B + 1 is in B now */
            if (C > 1) m.r[B] = c.pair && at.inside() ? next : m.r[B];
            if (B + C < N) m.r[at.OUTER] = c.pair && !at.inside() ? next : m.r[at.OUTER];
            second_raw = following;
            second = c.pair;
        }
    });
}

template <class real, int N, int L, class Rule>
__global__ void __launch_bounds__(BLOCK_THREADS,
                                  (at_once<real, N>((N == 12 ? 48 : 36) + 18 * numbers<real>::WORDS)))
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
    eliminate<Rule, L, Rule::template CHUNK<N>>(m, b.small);
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
    template <class real, int N, int L> static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
    {
        launch_with(e, "block_factor", ldlt<real, N, L, Rule>, blocks, BLOCK_THREADS, b);
    }
};

} /* namespace sd_cuda */

#endif
