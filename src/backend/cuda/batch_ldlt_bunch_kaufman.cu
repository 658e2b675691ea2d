#include "backend/cuda/batch_few.cuh"
#include "backend/cuda/batch_ldlt.cuh"

namespace sd_cuda
{

template <class real>
void factor_ldlt_bunch_kaufman(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b, int few)
{
    launch_few_or_alone<alone_bunch_kaufman, BUNCH_KAUFMAN>(e, plan, b, few);
    launch_from_9<ldlt_method<bunch_kaufman>>(e, plan, b);
}

BOTH(factor_ldlt_bunch_kaufman)

} /* namespace sd_cuda */
