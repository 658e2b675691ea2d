#include "backend/cuda/batch_alone.cuh"
#include "backend/cuda/batch_ldlt.cuh"

namespace sd_cuda
{

template <class real> void factor_ldlt_static(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_alone<alone_in_order>(e, plan, b);
    launch_from_9<ldlt_method<in_order>>(e, plan, b);
}

template void factor_ldlt_static(sd_engine *, const sd_batch_plan *, const batch<double> &);
template void factor_ldlt_static(sd_engine *, const sd_batch_plan *, const batch<float> &);

} /* namespace sd_cuda */
