/* With the inverse of the triangle of each front. */
#include "backend/cuda/front_sweep.cuh"

namespace sd_cuda
{

template void sweep<SD_PRESOLVE_WHOLE, double>(sd_engine *, const run_memory<double> *, int,
                                               const solve_job<double> &);
template void sweep<SD_PRESOLVE_WHOLE, float>(sd_engine *, const run_memory<float> *, int,
                                              const solve_job<float> &);

} /* namespace sd_cuda */
