#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{
#define KERNEL(name, parameters, arguments)                                                                  \
    template <class real> void name parameters                                                               \
    {                                                                                                        \
        if (!e->status) e->status = fail(e->context, SADDLE_NOT_SUPPORTED, #name " is not on the GPU");      \
    }                                                                                                        \
    template void name<double> parameters;                                                                   \
    template void name<float> parameters;
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "backend/blocks.def"
} /* namespace sd_cuda */
