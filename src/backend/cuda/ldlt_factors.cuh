/* Factors of a block LDL' as its kernels on the device see them: sd_ldlt_factors in one precision. */
#ifndef SD_CUDA_LDLT_FACTORS_CUH
#define SD_CUDA_LDLT_FACTORS_CUH

#include "backend/cuda/batch_jobs.cuh"

namespace sd_cuda
{

template <class real> struct ldlt_factors {
    int32_t n, blocks;
    const int32_t *start;
    const int64_t *row, *diagonal, *square;
    const sd_ldlt_block *list;
    const real *data, *inverse, *below;

    explicit ldlt_factors(const sd_ldlt_factors *x)
        : n(x->n), blocks(x->blocks), start(x->start), row(x->row), diagonal(x->diagonal), square(x->square),
          list(x->list), data(static_cast<const real *>(x->data)),
          inverse(static_cast<const real *>(x->inverse)), below(static_cast<const real *>(x->below))
    {
    }
};

/* Row l of a block of the list, times the numbers of v. */
template <class real>
__device__ inline real add_row(const sd_ldlt_block &b, const real *data, const real *v, int l, real sum)
{
    if (!(b.rows >> l & 1)) return sum;
    const int rank = __popc(b.rows & ((1u << l) - 1)), step = b.transposed ? 1 : b.height;
    const real *at = data + b.entry + (b.transposed ? rank * b.width : rank);
    for (uint32_t left = b.columns; left; left &= left - 1, at += step)
        sum = fma_of(*at, v[__ffs(static_cast<int>(left)) - 1], sum);
    return sum;
}

/* Row l of what blocks begin .. end) of the list make of v, in the order of the list, then of the columns. */
template <class real>
__device__ inline real add_list(const ldlt_factors<real> &f, int64_t begin, int64_t end, const real *v, int l)
{
    real sum = 0;
    for (int64_t k = begin; k < end; ++k) {
        const sd_ldlt_block b = f.list[k];
        sum = add_row(b, f.data, v + f.start[b.other], l, sum);
    }
    return sum;
}

/* Row l of M v, M of size x size by columns, v_p in lane p of the R that the block has; 0 beyond the block.
 * All lanes of the warp take part. */
template <int R, class real> __device__ inline real times_square(const real *m, int size, int l, real v)
{
    real product = 0;
    for (int p = 0; p < R; ++p) {
        const real with = __shfl_sync(ALL_LANES, v, p, R);
        if (l < size && p < size) product = fma_of(m[l + p * size], with, product);
    }
    return product;
}

/* Of M' v. */
template <int R, class real> __device__ inline real times_transposed(const real *m, int size, int l, real v)
{
    real product = 0;
    for (int p = 0; p < R; ++p) {
        const real with = __shfl_sync(ALL_LANES, v, p, R);
        if (l < size && p < size) product = fma_of(m[p + l * size], with, product);
    }
    return product;
}

} /* namespace sd_cuda */

#endif
