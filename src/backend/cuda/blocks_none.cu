#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{
#pragma GCC diagnostic ignored "-Wunused-parameter"
template <class real>
void block_factor(sd_engine *e, const sd_block_rule *rule, const sd_blocks *x, sd_block_factors *f)
{
    if (!e->status) e->status = fail(e->context, SADDLE_NOT_SUPPORTED, "block_factor is not on the GPU");
}
template void block_factor<double>(sd_engine *, const sd_block_rule *, const sd_blocks *, sd_block_factors *);
template void block_factor<float>(sd_engine *, const sd_block_rule *, const sd_blocks *, sd_block_factors *);
} /* namespace sd_cuda */
