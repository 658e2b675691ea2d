/*
 * LDU in registers: P A Q = L D U without interchanges, with those of rows, and of rows and columns.
 *
 * Step s: a pivot d is chosen, in a row that was none yet; the other such rows have l = a_is / d and
 * a_ij <- a_ij - l a_sj. The pivot's row is broadcast as it was; a lane divides its own by its pivot at the
 * end. With full pivoting this is Algorithm 1 of Thuerck, Stretching Jacobi: rows are implicit and columns
 * move. Here the columns between s and the pivot's move up by one instead of one of them to the pivot's place:
 * those that are left stay in the order of A, so that the first of equals is the lowest column of A.
 */
#include "backend/cuda/block_rows.cuh"

namespace sd_cuda
{
namespace
{

enum { NONE, PARTIAL, FULL };

/* Largest key of the columns from `from` on, and the first column that has it. */
template <int N, class real>
__device__ inline unsigned search_row(const real (&r)[N], int from, int *column)
{
    unsigned best = 0;
    *column = from;
#pragma unroll
    for (int j = N - 1; j >= 0; --j)
        if (j >= from) {
            const unsigned key = key_of(r[j]);
            if (key >= best) *column = j;
            best = max(best, key);
        }
    return best;
}

template <int N, int L, int SEARCH, class real>
__device__ inline void eliminate(const place &w, real small, real (&r)[N], int &at, int &column, real &pivot,
                                 bool &moved)
{
    const int self = w.first + w.lane;
    bool open = true; /* this row was no pivot yet */
    int best_column = 0;
    unsigned best = 0;
    if (SEARCH == FULL) best = search_row(r, 0, &best_column);
#pragma unroll
    for (int s = 0; s < N; ++s) {
        if (s >= w.most) break;
        int p = w.first + s;
        if (SEARCH == PARTIAL) p = lane_of_largest<L>(w, key_of(r[s]), open);
        if (SEARCH == FULL) {
            p = lane_of_largest<L>(w, w.lane < w.n ? best : 0u, open);
            const int c = broadcast(best_column, p);
            bring_column(r, s, c);
            bring_lane<L>(w, s, c, column);
        }
        const real raw = broadcast(r[s], p), d = settle(raw, small), inverse = 1 / d;
        if (self == p) {
            open = false;
            at = s;
            pivot = d;
            moved = d != raw;
            r[s] = d;
        }
        const real l = r[s] * inverse, multiplier = open ? l : 0;
        r[s] = open ? l : r[s];
#pragma unroll
        for (int j = s + 1; j < N; ++j) r[j] = fma(-multiplier, broadcast(r[j], p), r[j]);
        if (SEARCH == FULL) best = search_row(r, s + 1, &best_column);
    }
}

template <class real, int N, int L, int SEARCH>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(SEARCH == FULL ? 24 + 12 * numbers<real>::WORDS : 38)))
    ldu(const batch<real> b)
{
    const place w = find_place<L>(b);
    const real *block = b.x + w.entry;
    real r[N], pivot = 1, scale;
    load_row(w, block, r);
    int at = w.lane, column = w.lane;
    bool moved = false;
    eliminate<N, L, SEARCH>(w, b.small, r, at, column, pivot, moved);
    const real inverse = 1 / pivot;
#pragma unroll
    for (int j = 0; j < N; ++j) r[j] = j > at ? r[j] * inverse : r[j];
    const verdict v = judge<L>(w, block, fault_of(pivot), all_finite(r), at, &scale);
    sd_block_state state = {};
    state.perturbed = static_cast<uint8_t>(__popc(lanes_where<L>(w, moved && w.lane < w.n)));
    if (v.any_failed && v.failed) {
        scaled_identity(w, scale, r);
        at = column = w.lane;
        state.status = v.status;
        state.perturbed = 0;
    }
    store_row(w, r, at, b.f + w.entry);
    store_order(b, w, at, w.lane, column, state);
}

template <int SEARCH> struct ldu_method {
    template <class real, int N, int L>
    static void launch(sd_engine *e, const batch<real> &b, int64_t blocks)
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
