/*
 * LDU in registers: P A Q = L D U without interchanges, with those of rows, and of rows and columns.
 *
 * Step s: a pivot d is chosen, in a row that was none yet; the other such rows have l = a_is / d and
 * a_ij <- a_ij - l a_sj. The pivot's row is broadcast as it was; a lane divides its own by its pivot at the
 * end. The column of the next step is eliminated first, and while the others follow its pivot is searched.
 * With full pivoting this is Algorithm 1 of Thuerck, Stretching Jacobi: rows are implicit, columns are
 * exchanged.
 */
#include "backend/cuda/batch_rows.cuh"

namespace sd_cuda
{
namespace
{

enum { NONE, PARTIAL, FULL };

/* Steps of a chunk with full pivoting, by measurement (saddle bench blocks). */
template <int N> constexpr int CHUNK = N <= 8 ? 1 : N <= 16 ? 2 : 4;

/* Largest indexed key of the row from the column of step B + t on; where all is zero, that of the step's own
 * column. Two searches go on at once, to wait less for each other's outcome. */
template <int B, int C, int N, class real> __device__ inline unsigned search_row(const real (&r)[N], int t)
{
    unsigned best[2] = {0, 0};
#pragma unroll
    for (int j = B; j < N; ++j)
        if (j >= B + C || comes<C>(j - B, t)) best[j % 2] = max(best[j % 2], indexed_key(r[j], j));
    return max(best[0], best[1]);
}

/* A lane's view of its block at work. */
template <class real, int N> struct ldu_rows {
    real r[N];
    int at, column; /* where the row stands; the column that stands at position `lane` */
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

template <int L, bool SEARCHES, int N, class real>
__device__ inline void eliminate_columns(const place &w, real small, ldu_rows<real, N> &m)
{
    const int self = w.first + w.lane;
    int p = SEARCHES ? lane_of_largest<L>(w, key_of(m.r[0]), true) : w.first;
    real raw = broadcast(m.r[0], p);
    each_chunk<N, 1>([&](auto base) {
        constexpr int B = decltype(base)::value, NEXT = B + 1 < N ? B + 1 : B, MIDDLE = (NEXT + N) / 2;
        if (B >= w.most) return;
        const ldu_step<real> step = take<B>(m, B, self == p, raw, small);
        m.r[B] = step.finished;
        if (B + 1 == N) return;
        m.r[NEXT] = fma(-step.l, broadcast(m.r[NEXT], p), m.r[NEXT]);
        const unsigned key = m.open ? key_of(m.r[NEXT]) : 0u, most = SEARCHES ? largest<L>(w, key) : 0u;
#pragma unroll
        for (int j = NEXT + 1; j < MIDDLE; ++j) m.r[j] = fma(-step.l, broadcast(m.r[j], p), m.r[j]);
        int next = w.first + NEXT;
        if (SEARCHES)
            next = __ffs(lanes_where<L>(w, m.open && key == most)) - 1;
        else
            keep_here(next);
        raw = broadcast(m.r[NEXT], next);
#pragma unroll
        for (int j = MIDDLE > NEXT + 1 ? MIDDLE : NEXT + 1; j < N; ++j)
            m.r[j] = fma(-step.l, broadcast(m.r[j], p), m.r[j]);
        p = next;
    });
}

template <int L, int C, int N, class real>
__device__ inline void eliminate_with_exchanges(const place &w, real small, ldu_rows<real, N> &m)
{
    const int self = w.first + w.lane;
    unsigned best = search_row<0, 1>(m.r, 0);
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
        if (C == 1 && B >= w.most) return;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            const int p = lane_of_largest<L>(w, w.lane < w.n ? best : 0u, m.open);
            const int c = index_of(broadcast(best, p));
            exchange_register<B>(m.r, c);
            exchange_lane(w, B + t, position_of<B, C>(c, t), m.column);
            const ldu_step<real> step = take<B>(m, B + t, self == p, broadcast(m.r[B], p), small);
            eliminate_step<B, C>(m.r, t, step.l, p, step.finished);
            best = search_row<B, C>(m.r, t + 1);
        }
    });
}

/* Registers beside those of the row. */
template <int N, int SEARCH, class real>
constexpr int BESIDE = SEARCH == FULL ? 34 + 12 * numbers<real>::WORDS
                       : N <= 16      ? 36
                       : N < 32       ? 46 - 4 * numbers<real>::WORDS
                                      : 36;

template <class real, int N, int L, int SEARCH>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(BESIDE<N, SEARCH, real>)))
    ldu(const batch<real> b)
{
    const place w = find_place<L>(b);
    const real *block = b.x + w.entry;
    ldu_rows<real, N> m = {{}, w.lane, w.lane, true, 1, false};
    load_row(w, block, m.r);
    if (SEARCH == FULL)
        eliminate_with_exchanges<L, CHUNK<N>>(w, b.small, m);
    else
        eliminate_columns<L, SEARCH == PARTIAL>(w, b.small, m);
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

template <int SEARCH> struct ldu_method {
    template <class real, int N, int L> static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
    {
        launch_with(e, "batch_factor", ldu<real, N, L, SEARCH>, blocks, BLOCK_THREADS, b);
    }
};

} /* namespace */

template <class real>
void factor_ldu(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan, const batch<real> &b)
{
    if (kernel == SD_LDU) launch_classes<ldu_method<NONE>>(e, plan, b);
    if (kernel == SD_LDU_PARTIAL) launch_classes<ldu_method<PARTIAL>>(e, plan, b);
    if (kernel == SD_LDU_FULL) launch_classes<ldu_method<FULL>>(e, plan, b);
}

template void factor_ldu(sd_engine *, sd_batch_kernel, const sd_batch_plan *, const batch<double> &);
template void factor_ldu(sd_engine *, sd_batch_kernel, const sd_batch_plan *, const batch<float> &);

} /* namespace sd_cuda */
