/* L L' in order. */
#include "backend/cuda/batch_llt.cuh"

namespace sd_cuda
{

struct given_order {
    static constexpr bool MOVES = false;
    template <int N> static constexpr int CHUNK = 1;
    template <class real, int N> static constexpr int BESIDE = N > 12 ? 50 : 44;

    template <int L, int B, int C, int N, class real>
    static __device__ void bring(symmetric_rows<real, N, L> &, chunk_step<B, C, N>)
    {
    }
};

template <class real> void factor_llt(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_classes<llt_method<given_order>>(e, plan, b);
}

BOTH(factor_llt)

} /* namespace sd_cuda */
