/*
 * LDU in registers: P A Q = L D U without interchanges, with those of rows, and of rows and columns.
 *
 * Step s: a pivot d is chosen, in a row that was none yet; the other such rows have l = a_is / d and
 * a_ij <- a_ij - l a_sj. The pivot's row is broadcast as it was; a lane divides its own by its pivot at the
 * end. With full pivoting this is Algorithm 1 of Thuerck, Stretching Jacobi: rows are implicit and columns
 * move. Here the columns between s and the pivot's move up by one instead of one of them to the pivot's
 * place: those that are left stay in the order of A, so that the first of equals is the lowest column of A.
 */
#include "backend/cuda/block_rows.cuh"

namespace sd_cuda
{
namespace
{

enum { NONE, PARTIAL, FULL };

/* Steps of a chunk, by measurement (bench/cuda_blocks.cu). */
template <int N, int SEARCH, class real>
constexpr int CHUNK = SEARCH != FULL || N <= 16                 ? 1
                      : numbers<real>::WORDS == 2 && N % 8 == 0 ? 8
                                                                : 4;

/* Largest key of the row from the column of step B + t on, and the first register that has it. Two searches
 * go on at once, to wait less for each other's outcome. */
template <int B, int C, int N, class real>
__device__ inline unsigned search_row(const real (&r)[N], int t, int *index)
{
    unsigned best[2] = {0, 0};
    int at[2] = {N, N};
#pragma unroll
    for (int j = N - 1; j >= B; --j) {
        const unsigned key = key_of(r[j]);
        const bool larger = key >= best[j % 2] && (j >= B + C || comes<C>(j - B, t));
        at[j % 2] = larger ? j : at[j % 2];
        best[j % 2] = larger ? key : best[j % 2];
    }
    const bool odd = best[1] > best[0] || (best[1] == best[0] && at[1] < at[0]);
    *index = odd ? at[1] : at[0];
    return odd ? best[1] : best[0];
}

/* A lane's view of its block at work. */
template <class real, int N> struct ldu_rows {
    real r[N];
    int at, column; /* where the row stands; the column that stands at position `lane` */
    bool open;      /* the row was no pivot yet */
    real pivot;
    bool moved;
};

template <int L, int C, int SEARCH, int N, class real>
__device__ inline void eliminate(const place &w, real small, ldu_rows<real, N> &m)
{
    const int self = w.first + w.lane;
    int index = 0;
    unsigned best = 0;
    if (SEARCH == FULL) best = search_row<0, 1>(m.r, 0, &index);
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
        if (C == 1 && B >= w.most) return;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            int p = w.first + B + t;
            if (SEARCH == NONE) keep_here(p);
            if (SEARCH == PARTIAL) p = lane_of_largest<L>(w, key_of(m.r[B]), m.open);
            if (SEARCH == FULL) {
                p = lane_of_largest<L>(w, w.lane < w.n ? best : 0u, m.open);
                const int c = broadcast(index, p);
                bring_column<B, C>(m.r, t, c);
                bring_lane(w, B + t, position_of<B, C>(c, t), m.column);
            }
            const real raw = broadcast(m.r[B], p), d = settle(raw, small), inverse = reciprocal(d);
            if (self == p) {
                m.open = false;
                m.at = B + t;
                m.pivot = m.r[B] = d;
                m.moved = d != raw;
            }
            const real l = m.r[B] * inverse;
            eliminate_step<B, C>(m.r, t, m.open ? l : 0, p, m.open ? l : m.r[B]);
            if (SEARCH == FULL) best = search_row<B, C>(m.r, t + 1, &index);
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
    eliminate<L, CHUNK<N, SEARCH, real>, SEARCH>(w, b.small, m);
    const real inverse = reciprocal(m.pivot);
#pragma unroll
    for (int j = 0; j < N; ++j) m.r[j] = j > m.at ? m.r[j] * inverse : m.r[j];
    real scale;
    const verdict v = judge<L>(w, block, fault_of(m.pivot), all_finite(m.r), m.at, &scale);
    sd_block_state state = {};
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
        launch_with(e, "block_factor", ldu<real, N, L, SEARCH>, blocks, BLOCK_THREADS, b);
    }
};

} /* namespace */

template <class real>
void factor_ldu(sd_engine *e, sd_block_kernel kernel, const sd_block_plan *plan, const batch<real> &b)
{
    if (kernel == SD_LDU) launch_classes<ldu_method<NONE>>(e, plan, b);
    if (kernel == SD_LDU_PARTIAL) launch_classes<ldu_method<PARTIAL>>(e, plan, b);
    if (kernel == SD_LDU_FULL) launch_classes<ldu_method<FULL>>(e, plan, b);
}

template void factor_ldu(sd_engine *, sd_block_kernel, const sd_block_plan *, const batch<double> &);
template void factor_ldu(sd_engine *, sd_block_kernel, const sd_block_plan *, const batch<float> &);

} /* namespace sd_cuda */
