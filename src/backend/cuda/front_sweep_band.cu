/* With the inverses of the squares on the diagonal. */
#include "backend/cuda/front_sweep.cuh"

namespace sd_cuda
{

template void sweep<SD_PRESOLVE_BAND, double>(sd_engine *, const run_memory<double> *, int,
                                              const solve_job<double> &);
template void sweep<SD_PRESOLVE_BAND, float>(sd_engine *, const run_memory<float> *, int,
                                             const solve_job<float> &);

} /* namespace sd_cuda */
