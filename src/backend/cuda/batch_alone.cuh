/*
 * L D L' of blocks of up to ALONE rows, one a lane: the lower triangle lies in the lane's registers, nothing
 * is handed from lane to lane, and what a sub-warp would do for one block is done for 32. The warp brings its
 * blocks through shared memory, whose accesses are those of all lanes to numbers side by side.
 *
 * Steps are as in batch_ldlt.cuh: a 2x2 pivot takes two, so that lanes stay at the same one whatever pivots
 * they take, and registers keep their names. Rows are exchanged where they are, by a choice for each of
 * the rows that may be meant.
 */
#pragma once

#include "backend/cuda/batch_pairs.cuh"

namespace sd_cuda
{

constexpr int ALONE = 8;          /* the largest */
constexpr int ALONE_THREADS = 64; /* of a block of threads */

/* A block in its lane. */
template <class real, int n> struct lone_block {
    real a[n][n];   /* the lower triangle */
    uint32_t order; /* four bits a position: the row of A that is there */
    int fault;      /* of the first pivot that has one */
    sd_batch_state state;

    __device__ int row_at(int position) const
    {
        return static_cast<int>(order >> (4 * position) & 15u);
    }
};

template <class T> __device__ inline void exchange_where(bool where, T &x, T &y)
{
    const T first = where ? y : x, second = where ? x : y;
    x = first;
    y = second;
}

/* Where `wanted`, row q goes to position TO, and the one that is there takes its place. */
template <int TO, int n, class real>
__device__ inline void exchange_alone(lone_block<real, n> &m, bool wanted, int q)
{
#pragma unroll
    for (int r = TO + 1; r < n; ++r) {
        const bool here = wanted && q == r;
#pragma unroll
        for (int k = 0; k < n; ++k) {
            if (k < TO) exchange_where(here, m.a[TO][k], m.a[r][k]);
            if (k == TO) exchange_where(here, m.a[TO][TO], m.a[r][r]);
            if (k > TO && k < r) exchange_where(here, m.a[k][TO], m.a[r][k]);
            if (k > r) exchange_where(here, m.a[k][TO], m.a[k][r]);
        }
    }
    const uint32_t apart = (m.order >> (4 * q) ^ m.order >> (4 * TO)) & 15u;
    if (wanted && q != TO) m.order ^= apart << (4 * q) | apart << (4 * TO);
}

/* Whether the pivot of step S is a pair, its rows brought to their places; `busy`: the lane chooses. */
struct alone_in_order {
    template <int S, int n, class real>
    static __device__ inline bool choose(lone_block<real, n> &m, bool busy)
    {
        constexpr int NEXT = S + 1 < n ? S + 1 : S;
        const real b = m.a[NEXT][S];
        return S + 1 < n && busy && is_better(scale_pair(m.a[S][S], b, m.a[NEXT][NEXT]), b);
    }
};

struct alone_bunch_kaufman {
    template <int S, int n, class real>
    static __device__ inline bool choose(lone_block<real, n> &m, bool busy)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        constexpr int NEXT = S + 1 < n ? S + 1 : S;
        if (S + 1 == n) return false;
        real below = m.a[NEXT][S];
        int q = NEXT;
#pragma unroll
        for (int i = S + 2; i < n; ++i) {
            const unsigned mine = key_of(m.a[i][S]), its = key_of(below);
            const bool larger = mine > its || (mine == its && m.row_at(i) < m.row_at(q));
            below = larger ? m.a[i][S] : below;
            q = larger ? i : q;
        }
        below = fabs(below);
        const real d = fabs(m.a[S][S]);
        bool stays = !busy || below < TINY || (d >= TINY && d >= ALPHA * below);
        if (!__any_sync(ALL_LANES, !stays)) return false;
        real beside = 0, its = 0;
#pragma unroll
        for (int i = S; i < n; ++i) {
            real v = i == NEXT ? m.a[NEXT][NEXT] : i < NEXT ? m.a[NEXT][i] : m.a[i][NEXT];
#pragma unroll
            for (int r = S + 2; r < n; ++r) v = q == r ? (i < r ? m.a[r][i] : m.a[i][r]) : v;
            its = i == q ? fabs(v) : its;
            const bool larger = i != q && key_of(v) >= key_of(beside);
            beside = larger ? fabs(v) : beside;
        }
        const real by = power_over(below); /* d >= alpha b (b / c), b brought into [1, 2) */
        stays = stays || (d >= TINY && d * (beside * by) >= ALPHA * below * (below * by));
        const bool pair = !stays && !(its >= ALPHA * beside);
        if (__any_sync(ALL_LANES, !stays && !pair)) exchange_alone<S>(m, !stays && !pair, q);
        if (__any_sync(ALL_LANES, pair)) exchange_alone<NEXT>(m, pair, q);
        return pair;
    }
};

struct alone_complete {
    template <int S, int n, class real>
    static __device__ inline bool choose(lone_block<real, n> &m, bool busy)
    {
        constexpr real TINY = numbers<real>::TINY, ALPHA = static_cast<real>(SD_BLOCK_ALPHA);
        constexpr int NEXT = S + 1 < n ? S + 1 : S;
        real diagonal = m.a[S][S], beside = 0;
        int r = S, found = S * 8 + S;
#pragma unroll
        for (int i = S + 1; i < n; ++i) {
            const bool larger = key_of(m.a[i][i]) > key_of(diagonal);
            diagonal = larger ? m.a[i][i] : diagonal;
            r = larger ? i : r;
#pragma unroll
            for (int j = S; j < i; ++j) {
                const bool most = key_of(m.a[i][j]) > key_of(beside);
                beside = most ? m.a[i][j] : beside;
                found = most ? i * 8 + j : found;
            }
        }
        diagonal = fabs(diagonal);
        beside = fabs(beside);
        const bool one = beside < TINY || (diagonal >= TINY && diagonal >= ALPHA * beside);
        int p = found % 8, q = found / 8;
        if (m.row_at(q) < m.row_at(p)) exchange_where(true, p, q);
        p = one ? r : p;
        q = q == S ? p : q; /* it stands where the first one goes */
        exchange_alone<S>(m, busy, p);
        const bool pair = !one && busy;
        if (S + 1 < n && __any_sync(ALL_LANES, pair)) exchange_alone<NEXT>(m, pair, q);
        return pair;
    }
};

/* Settles the pivot of step S, notes what it is, and returns what its column, or the pair, is divided by. */
template <int S, int n, class real>
__device__ inline real take_alone(lone_block<real, n> &m, bool busy, bool pair, real small,
                                  scaled_pair<real> &d)
{
    constexpr int NEXT = S + 1 < n ? S + 1 : S;
    real divisor = m.a[S][S];
    if (small > 0) {
        const real settled = settle(divisor, small);
        m.state.perturbed += busy && !pair && settled != divisor && is_finite(divisor);
        divisor = m.a[S][S] = busy && !pair ? settled : divisor;
    }
    int fault = fault_of(divisor), negative = divisor < 0;
    if (S + 1 < n && __any_sync(ALL_LANES, pair)) {
        clamped_pair<real> e = {m.a[S][S], m.a[NEXT][S], m.a[NEXT][NEXT], 0};
        if (small > 0 && is_finite(e.a) && is_finite(e.b) && is_finite(e.c))
            e = clamp_here(e.a, e.b, e.c, small);
        d = scale_pair(e.a, e.b, e.c);
        if (pair) {
            m.a[S][S] = e.a;
            m.a[NEXT][S] = e.b;
            m.a[NEXT][NEXT] = e.c;
            m.state.perturbed = static_cast<uint8_t>(m.state.perturbed + e.count);
            m.state.pairs |= 1u << S;
            divisor = d.determinant;
            fault = fault_of(d, e.b);
            negative = negative_of(d);
        }
    }
    if (busy) {
        m.fault = m.fault ? m.fault : fault;
        m.state.negative = static_cast<uint8_t>(m.state.negative + negative);
    }
    return reciprocal(divisor);
}

template <class Rule, int n, class real>
__device__ inline void factor_alone(lone_block<real, n> &m, real small)
{
    bool second = false;
    real kept[n]; /* column s + 1 of a 2x2 pivot, as it was */
#pragma unroll
    for (int i = 0; i < n; ++i) kept[i] = 0;
    each_chunk<n, 1>([&](auto base) {
        constexpr int S = decltype(base)::value, NEXT = S + 1 < n ? S + 1 : S;
        const bool pair = Rule::template choose<S>(m, !second);
        scaled_pair<real> d = {};
        real c[n], l[n];
#pragma unroll
        for (int i = S + 1; i < n; ++i) {
            c[i] = second ? kept[i] : m.a[i][S];
            kept[i] = m.a[i][NEXT];
        }
        const real inverse = take_alone<S>(m, !second, pair, small, d), over = d.by * inverse;
#pragma unroll
        for (int i = S + 1; i < n; ++i) {
            real first = m.a[i][S], last = kept[i];
            l[i] = second ? first : first * inverse;
            if (i > NEXT) {
                solve_pair(d, over, first, last);
                l[i] = pair ? first : l[i];
                m.a[i][S] = l[i];
            } else {
                m.a[i][S] = pair ? m.a[i][S] : l[i];
                l[i] = pair ? 0 : l[i];
            }
#pragma unroll
            for (int j = S + 1; j <= i; ++j) {
                const real v = fma(-l[i], c[j], m.a[i][j]);
                m.a[i][j] = j == NEXT && i > NEXT && pair ? last : v;
            }
        }
        second = pair;
    });
}

/* Shared memory of a warp's blocks, an odd number of numbers apart. */
template <class real, int n> struct alignas(16) lone_rooms {
    static constexpr int SIZE = n * n, APART = SIZE | 1;
    real entry[ALONE_THREADS / WARP][WARP * APART];
    __device__ real *mine()
    {
        return entry[threadIdx.x / WARP];
    }
};

/*
 * Calls f(index, place in the room) for the numbers of the warp's blocks, 32 side by side at a time, and many
 * times before the first of them must have come. `joined`: the blocks are side by side from `first` on, and
 * those that there are are the first ones.
 */
template <int n, class F>
__device__ inline void each_number(const place &w, int64_t first, bool joined, const F &f)
{
    constexpr int SIZE = n * n, APART = SIZE | 1, AT_ONCE = 16;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    if (joined) {
        const int numbers = __popc(__ballot_sync(ALL_LANES, w.n > 0)) * SIZE;
#pragma unroll AT_ONCE
        for (int k = 0; k < SIZE; ++k) {
            const int number = k * WARP + lane;
            if (number < numbers) f(first + number, number / SIZE * APART + number % SIZE);
        }
        return;
    }
#pragma unroll AT_ONCE
    for (int k = 0; k < SIZE; ++k) {
        const int number = k * WARP + lane, block = number / SIZE;
        const int64_t at = broadcast(w.entry, block) + number % SIZE;
        if (broadcast(w.n, block)) f(at, block * APART + number % SIZE);
    }
}

/* The lane's block, of n rows each. */
template <int n, class real> __device__ inline place find_alone(const batch<real> &b)
{
    const int k = b.from + static_cast<int>(blockIdx.x * ALONE_THREADS + threadIdx.x);
    place w = {};
    if (k >= b.to) return w;
    w.n = n;
    w.block = k;
    w.entry = static_cast<int64_t>(k) * (n * n);
    w.row = k * n;
    if (!b.regular) {
        const sd_batch_job job = b.job[k];
        w.entry = job.entry;
        w.row = job.row;
        w.block = job.block;
    }
    return w;
}

/* What could not be factored becomes its scaled identity; `given` is the block as it was. */
template <int n, class real>
__device__ inline void replace_alone(lone_block<real, n> &m, bool inside, const real *given)
{
    real sum = 0;
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
        for (int j = 0; j <= i; ++j) sum = fma(m.a[i][j], static_cast<real>(0), sum);
    const bool failed = inside && (m.fault || sum != 0 || sum != sum);
    if (!__any_sync(ALL_LANES, failed)) return;
    real most = 0;
    bool finite = true;
#pragma unroll 1
    for (int k = 0; k < n * n; ++k) {
        const real v = failed ? fabs(given[k]) : 0;
        finite = finite && v <= numbers<real>::MOST;
        most = fmax(most, v);
    }
    if (!failed) return;
    const real scale = finite && most >= numbers<real>::TINY ? most : 1;
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
        for (int j = 0; j <= i; ++j) m.a[i][j] = i == j ? scale : 0;
    m.state = {};
    m.state.status = static_cast<uint8_t>(m.fault && finite ? m.fault : SD_BLOCK_NOT_FINITE);
    m.order = 0x76543210u;
}

/* The order of the rows, that of the columns, which stay, and the state. */
template <int n, class real>
__device__ inline void store_alone(const batch<real> &b, const place &w, const lone_block<real, n> &m)
{
#pragma unroll
    for (int s = 0; s < n; ++s) {
        b.row[w.row + s] = static_cast<uint8_t>(m.row_at(s));
        b.column[w.row + s] = static_cast<uint8_t>(s);
    }
    b.state[w.block] = m.state;
}

template <class real, int n, class Rule>
__global__ void __launch_bounds__(ALONE_THREADS) ldlt_alone(const batch<real> b)
{
    __shared__ lone_rooms<real, n> rooms;
    const place w = find_alone<n>(b);
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    real *room = rooms.mine(), *mine = room + lane * rooms.APART;
    const int64_t first = broadcast(w.entry, 0);
    const bool joined = __all_sync(ALL_LANES, w.n == 0 || w.entry == first + lane * rooms.SIZE);
    each_number<n>(w, first, joined, [&](int64_t at, int to) { room[to] = b.x[at]; });
    __syncwarp();
    lone_block<real, n> m = {};
#pragma unroll
    for (int j = 0; j < n; ++j)
#pragma unroll
        for (int i = j; i < n; ++i) m.a[i][j] = w.n ? mine[i + j * n] : static_cast<real>(i == j);
    m.order = 0x76543210u;
    factor_alone<Rule>(m, b.small);
    replace_alone(m, w.n != 0, mine);
#pragma unroll
    for (int j = 0; j < n; ++j)
#pragma unroll
        for (int i = j; i < n; ++i) mine[i + j * n] = mine[j + i * n] = m.a[i][j];
    __syncwarp();
    each_number<n>(w, first, joined, [&](int64_t at, int from) { b.f[at] = room[from]; });
    if (w.n) store_alone(b, w, m);
}

/* Launches for each size up to N that there is. */
template <class Rule, class real, int n = ALONE>
void launch_alone(sd_engine *e, const sd_batch_plan *plan, batch<real> b)
{
    b.from = plan->first[n];
    b.to = plan->first[n + 1];
    if (b.from < b.to && !e->status)
        launch_with(e, "batch_factor", ldlt_alone<real, n, Rule>,
                    (static_cast<int64_t>(b.to) - b.from + ALONE_THREADS - 1) / ALONE_THREADS, ALONE_THREADS,
                    b);
    if constexpr (n > 1) launch_alone<Rule, real, n - 1>(e, plan, b);
}

} /* namespace sd_cuda */
