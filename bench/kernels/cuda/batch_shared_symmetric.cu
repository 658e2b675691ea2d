/*
 * L L' and L D L' in shared memory: see batch_shared.cuh and batch_shared_ldlt.cuh.
 */
#include "bench/kernels/cuda/batch_bench.cuh"

namespace sd_cuda
{
namespace
{

template <bool DIAGONAL, int L, class real> __device__ inline void llt_steps(shared_block<real, L> &m)
{
    const place &w = m.w;
    for (int s = 0; s < w.most; ++s) {
        const bool busy = m.busy(s);
        if (DIAGONAL) {
            const int p = largest_diagonal(m, s, busy);
            exchange_both(m, s, busy ? p : s);
        }
        const real d = busy ? m.at(s, s) : 1;
        if (busy && !is_finite(d))
            m.status = SD_BLOCK_NOT_FINITE;
        else if (busy && d < numbers<real>::TINY)
            m.status = SD_BLOCK_INDEFINITE;
        const real root = sqrt(d), inverse = reciprocal(root);
        const bool left = m.busy(s) && w.lane > s && m.inside();
        const real l = left ? m.at(w.lane, s) * inverse : 0;
        __syncwarp();
        if (left) m.at(w.lane, s) = m.at(s, w.lane) = l;
        if (m.busy(s) && w.lane == s) m.at(s, s) = root;
        __syncwarp();
        if (left) {
#pragma unroll 4
            for (int j = s + 1; j < w.n; ++j) m.at(w.lane, j) = fma(-l, m.at(s, j), m.at(w.lane, j));
        }
        __syncwarp();
    }
}

template <class real, int N, int L, bool DIAGONAL>
__global__ void __launch_bounds__(BLOCK_THREADS) llt_shared(const batch<real> b)
{
    __shared__ block_room<real, N, L> rooms;
    shared_block<real, L> m = open_block<real, L>(b, find_place<L>(b), rooms.mine());
    llt_steps<DIAGONAL>(m);
    settle_block(b, m, [](real scale) { return static_cast<real>(sqrt(scale)); });
    store_block(b, m);
    store_state(b, m, m.row, m.w.lane);
}

template <bool DIAGONAL> struct llt_method {
    template <class real, int N, int L> static constexpr auto KERNEL = llt_shared<real, N, L, DIAGONAL>;
};

} /* namespace */

template <class real>
void bench_symmetric_shared(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan,
                            const batch<real> &b)
{
    if (kernel == SD_LLT) launch_shared<llt_method<false>>(e, plan, b);
    if (kernel == BENCH_LLT_DIAGONAL) launch_shared<llt_method<true>>(e, plan, b);
    if (kernel == SD_LDLT_STATIC) launch_shared<ldlt_shared_method<STATIC>>(e, plan, b);
    if (kernel == SD_LDLT_BUNCH_KAUFMAN) launch_shared<ldlt_shared_method<BUNCH_KAUFMAN>>(e, plan, b);
    if (kernel == SD_LDLT_COMPLETE) launch_shared<ldlt_shared_method<COMPLETE>>(e, plan, b);
}

template void bench_symmetric_shared(sd_engine *, sd_batch_kernel, const sd_batch_plan *,
                                     const batch<double> &);
template void bench_symmetric_shared(sd_engine *, sd_batch_kernel, const sd_batch_plan *,
                                     const batch<float> &);

} /* namespace sd_cuda */
