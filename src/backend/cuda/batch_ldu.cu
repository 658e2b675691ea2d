/* LDU with interchanges of rows. */
#include "backend/cuda/batch_ldu.cuh"

namespace sd_cuda
{

/* The largest entry of a column. */
struct partial_pivoting {
    template <class real, int N> static constexpr int BESIDE = LDU_BESIDE<real, N>;

    template <int L> static __device__ int first(const place &w, unsigned key)
    {
        return lane_of_largest<L>(w, key, true);
    }
    template <int L> static __device__ unsigned begin(const place &w, unsigned key)
    {
        return largest<L>(w, key);
    }
    template <int L> static __device__ int end(const place &w, int, bool is_largest)
    {
        return __ffs(lanes_where<L>(w, is_largest)) - 1;
    }

    template <int L, int N, class real>
    static __device__ void eliminate(const place &w, real small, ldu_rows<real, N> &m)
    {
        eliminate_columns<partial_pivoting, L>(w, small, m);
    }
};

template <class real> void factor_ldu(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_classes<ldu_method<partial_pivoting>>(e, plan, b);
}

BOTH(factor_ldu)

} /* namespace sd_cuda */
