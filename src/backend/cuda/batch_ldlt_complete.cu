#include "backend/cuda/batch_alone.cuh"
#include "backend/cuda/batch_ldlt.cuh"

namespace sd_cuda
{

template <class real> void factor_ldlt_complete(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_alone<alone_complete>(e, plan, b);
    launch_from_9<ldlt_method<complete>>(e, plan, b);
}

BOTH(factor_ldlt_complete)

} /* namespace sd_cuda */
