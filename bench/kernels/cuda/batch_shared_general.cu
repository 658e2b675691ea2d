/*
 * LDU, Gauss-Jordan and Gauss-Huard in shared memory: see batch_shared.cuh; the eliminations are those of
 * batch_ldu.cu, batch_jordan.cu and batch_huard.cu, step by step as the reference kernels do them.
 */
#include "bench/kernels/cuda/batch_bench.cuh"

namespace sd_cuda
{
namespace
{

enum { NONE, PARTIAL, FULL };

/* The lane's row, from column `from` on. */
template <int L, class real>
__device__ inline running_largest search_row(const shared_block<real, L> &m, int from, const uint8_t *order)
{
    running_largest best = {0, -1};
    for (int j = from; j < m.w.n; ++j) best.see(m.at(m.w.lane, j), j, order);
    return best;
}

/* Rows below s less their multiples of row s; full pivoting looks for the next pivot on the way. */
template <int SEARCH, int L, class real>
__device__ inline running_largest subtract_row(const shared_block<real, L> &m, int s, real inverse,
                                               const uint8_t *order)
{
    running_largest best = {0, -1};
    const int i = m.w.lane;
    const real l = m.at(i, s) * inverse;
    m.at(i, s) = l;
#pragma unroll 4
    for (int j = s + 1; j < m.w.n; ++j) {
        const real updated = fma(-l, m.at(s, j), m.at(i, j));
        m.at(i, j) = updated;
        if (SEARCH == FULL) best.see(updated, j, order);
    }
    return best;
}

template <int SEARCH, int L, class real>
__device__ inline void ldu_steps(shared_block<real, L> &m, real small, uint8_t *order)
{
    const place &w = m.w;
    running_largest best = {0, -1};
    if (SEARCH == FULL) {
        if (m.inside()) order[w.lane] = static_cast<uint8_t>(w.lane);
        __syncwarp();
        if (m.inside()) best = search_row(m, 0, order);
        __syncwarp();
    }
    for (int s = 0; s < w.most; ++s) {
        const bool busy = m.busy(s), open = busy && w.lane >= s && m.inside();
        int p = s, q = s;
        if (SEARCH == PARTIAL) p = find_largest<L>(w, open ? key_of(m.at(w.lane, s)) : 0u, m.row, open);
        if (SEARCH == FULL) {
            p = find_largest<L>(w, best.key, m.row, open);
            q = broadcast(best.index, w.first + (p < 0 ? 0 : p));
        }
        exchange_rows(m, s, busy ? p : s);
        if (SEARCH == FULL) {
            exchange_columns(m, s, busy ? q : s);
            if (m.inside()) order[w.lane] = static_cast<uint8_t>(m.column);
            __syncwarp();
        }
        const real d = take_pivot(m, busy, busy ? m.at(s, s) : 1, small), inverse = reciprocal(d);
        const bool goes_on = m.busy(s) && w.lane > s && m.inside();
        if (goes_on) best = subtract_row<SEARCH>(m, s, inverse, order);
        __syncwarp();
        if (goes_on) m.at(s, w.lane) *= inverse;
        if (busy && w.lane == s) m.at(s, s) = d;
        __syncwarp();
    }
}

template <class real, int N, int L, int SEARCH>
__global__ void __launch_bounds__(BLOCK_THREADS) ldu(const batch<real> b)
{
    __shared__ block_room<real, N, L> rooms;
    __shared__ uint8_t orders[BLOCK_THREADS / L][SEARCH == FULL ? N : 1];
    shared_block<real, L> m = open_block<real, L>(b, find_place<L>(b), rooms.mine());
    ldu_steps<SEARCH>(m, b.small, orders[threadIdx.x / L]);
    settle_block(b, m, [](real scale) { return scale; });
    store_block(b, m);
    store_state(b, m, m.row, m.column);
}

/* pivot: lane s keeps the row that was the pivot of column s. */
template <int L, class real> __device__ inline void jordan_steps(shared_block<real, L> &m, int &pivot)
{
    const place &w = m.w;
    bool open = m.inside();
    for (int s = 0; s < w.most; ++s) {
        const bool busy = m.busy(s);
        const int lane = lane_of_largest<L>(w, busy && open ? key_of(m.at(w.lane, s)) : 0u, busy && open);
        const int p = busy ? lane - w.first : 0;
        const real d = take_pivot(m, busy, busy ? m.at(p, s) : 1, static_cast<real>(0)),
                   inverse = reciprocal(d);
        if (w.lane == p) open = open && !busy;
        if (w.lane == s && busy) pivot = p;
        const bool goes_on = m.busy(s) && m.inside();
        if (goes_on && w.lane != p) {
            const real l = m.at(w.lane, s) * inverse;
#pragma unroll 4
            for (int j = 0; j < w.n; ++j) m.at(w.lane, j) = fma(-l, m.at(p, j), m.at(w.lane, j));
            m.at(w.lane, s) = -l;
        }
        __syncwarp();
        if (goes_on) m.at(p, w.lane) = w.lane == s ? inverse : m.at(p, w.lane) * inverse;
        __syncwarp();
    }
}

template <class real, int N, int L>
__global__ void __launch_bounds__(BLOCK_THREADS) jordan(const batch<real> b)
{
    __shared__ block_room<real, N, L> rooms;
    shared_block<real, L> m = open_block<real, L>(b, find_place<L>(b), rooms.mine());
    const place &w = m.w;
    int pivot = w.lane;
    jordan_steps(m, pivot);
    settle_block(b, m, [](real scale) { return 1 / scale; });
    if (m.status != SD_BLOCK_OK) pivot = w.lane;
    for (int t = 0; t < w.most; ++t) {
        const int column = broadcast(pivot, w.first + t);
        if (m.inside() && t < w.n) b.f[w.entry + w.lane + column * w.n] = m.at(pivot, t);
    }
    store_state(b, m, w.lane, w.lane);
}

template <int L, class real> __device__ inline void huard_steps(shared_block<real, L> &m)
{
    const place &w = m.w;
    for (int k = 0; k < w.most; ++k) {
        const bool busy = m.busy(k), open = busy && w.lane >= k && m.inside();
        real reduced = 0;
        if (open) {
            reduced = m.at(k, w.lane);
#pragma unroll 4
            for (int t = 0; t < k; ++t) reduced = fma(-m.at(k, t), m.at(t, w.lane), reduced);
            m.at(k, w.lane) = reduced;
        }
        __syncwarp();
        const int p = find_largest<L>(w, key_of(reduced), m.column, open);
        exchange_columns(m, k, busy ? p : k);
        const real d = take_pivot(m, busy, busy ? m.at(k, k) : 1, static_cast<real>(0)),
                   inverse = reciprocal(d);
        if (m.busy(k) && w.lane > k && m.inside()) {
            const real scaled = m.at(k, w.lane) * inverse;
            m.at(k, w.lane) = scaled;
#pragma unroll 4
            for (int i = 0; i < k; ++i) m.at(i, w.lane) = fma(-m.at(i, k), scaled, m.at(i, w.lane));
        }
        __syncwarp();
    }
}

template <class real, int N, int L, bool TRANSPOSED>
__global__ void __launch_bounds__(BLOCK_THREADS) huard(const batch<real> b)
{
    __shared__ block_room<real, N, L> rooms;
    shared_block<real, L> m = open_block<real, L>(b, find_place<L>(b), rooms.mine());
    const place &w = m.w;
    huard_steps(m);
    settle_block(b, m, [](real scale) { return scale; });
    if (m.inside())
        for (int j = 0; j < w.n; ++j) {
            const int i = w.lane;
            /* what stands at (i, j), above the diagonal, was at (n - 1 - j, n - 1 - i) */
            const bool moved = TRANSPOSED && i < j;
            b.f[w.entry + i + j * w.n] = moved ? m.at(w.n - 1 - j, w.n - 1 - i) : m.at(i, j);
        }
    store_state(b, m, w.lane, m.column);
}

template <int SEARCH> struct ldu_method {
    template <class real, int N, int L> static constexpr auto KERNEL = ldu<real, N, L, SEARCH>;
};
struct jordan_method {
    template <class real, int N, int L> static constexpr auto KERNEL = jordan<real, N, L>;
};
template <bool TRANSPOSED> struct huard_method {
    template <class real, int N, int L> static constexpr auto KERNEL = huard<real, N, L, TRANSPOSED>;
};

} /* namespace */

template <class real>
void bench_general_shared(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan,
                          const batch<real> &b)
{
    if (kernel == BENCH_LDU) launch_shared<ldu_method<NONE>>(e, plan, b);
    if (kernel == SD_LDU_PARTIAL) launch_shared<ldu_method<PARTIAL>>(e, plan, b);
    if (kernel == BENCH_LDU_FULL) launch_shared<ldu_method<FULL>>(e, plan, b);
    if (kernel == SD_JORDAN) launch_shared<jordan_method>(e, plan, b);
    if (kernel == SD_HUARD) launch_shared<huard_method<false>>(e, plan, b);
    if (kernel == SD_HUARD_TRANSPOSED) launch_shared<huard_method<true>>(e, plan, b);
}

template void bench_general_shared(sd_engine *, sd_batch_kernel, const sd_batch_plan *,
                                   const batch<double> &);
template void bench_general_shared(sd_engine *, sd_batch_kernel, const sd_batch_plan *, const batch<float> &);

} /* namespace sd_cuda */
