/* L L' in registers with the largest diagonal entry as the next pivot. */
#include "bench/kernels/cuda/batch_bench.cuh"

#include "backend/cuda/batch_llt.cuh"

namespace sd_cuda
{

struct largest_diagonal_first {
    static constexpr bool MOVES = true;
    template <int N> static constexpr int CHUNK = N > 16 ? 4 : 1;
    template <class real, int N> static constexpr int BESIDE = N > 20 ? 52 : 28 + 12 * numbers<real>::WORDS;

    template <int L, int B, int C, int N, class real>
    static __device__ void bring(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step)
    {
        const int p = lane_of_largest<L>(m.w, m.inside() ? key_of(m.diagonal) : 0u, m.at >= step.s());
        const bool moves = broadcast(m.at, p) != step.s();
        if (!__any_sync(ALL_LANES, moves)) return;
        exchange_rows(m, step, moves, p, false, share_row(m, step, p));
    }
};

template <class real> void bench_llt_diagonal(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_classes<llt_method<largest_diagonal_first>>(e, plan, b);
}

template void bench_llt_diagonal(sd_engine *, const sd_batch_plan *, const batch<double> &);
template void bench_llt_diagonal(sd_engine *, const sd_batch_plan *, const batch<float> &);

} /* namespace sd_cuda */
