#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NONE(name, parameters)                                                                               \
    template <class real> void name parameters                                                               \
    {                                                                                                        \
        if (!e->status) e->status = fail(e->context, SADDLE_NOT_SUPPORTED, #name " is not on the GPU");      \
    }                                                                                                        \
    template void name<double> parameters;                                                                   \
    template void name<float> parameters;
NONE(block_extract, (sd_engine * e, const sd_sparse *A, const sd_block_map *map, sd_blocks *x))
NONE(block_norms, (sd_engine * e, const sd_blocks *x, sd_vector *norms))
NONE(block_apply,
     (sd_engine * e, const sd_block_factors *x, int columns, const sd_vector *b, sd_vector *y))
NONE(block_subtract, (sd_engine * e, const sd_block_products *p, const sd_blocks *x,
                      const sd_block_factors *d, sd_blocks *c))

} /* namespace sd_cuda */
