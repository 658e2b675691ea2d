/* Factors of a block LDL' as its kernels on the device see them: sd_ldlt_factors in one precision. */
#pragma once

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

/* Row l of M v, or of M' v, M of size x size by columns, v_p in lane p of the R that the block has; 0 beyond
 * the block. All lanes of the warp take part. */
template <int R, bool TRANSPOSED = false, class real>
__device__ inline real times_square(const real *m, int size, int l, real v)
{
    real product = 0;
    for (int p = 0; p < R; ++p) {
        const real with = __shfl_sync(ALL_LANES, v, p, R);
        if (l < size && p < size)
            product = fma_of(m[TRANSPOSED ? p + l * size : l + p * size], with, product);
    }
    return product;
}

/* ---- sweeps: a sub-warp of R lanes a row of blocks, all of which are independent of each other ---- */

constexpr int SWEEP_BLOCK = 128; /* threads */

template <class real> struct sweep_data {
    ldlt_factors<real> f;
    const real *b, *from; /* from: NULL where it is 0 */
    real *to;

    sweep_data(const sd_ldlt_factors *x, const sd_vector *right, const sd_vector *last, sd_vector *next)
        : f(x), b(static_cast<const real *>(right->data)),
          from(last ? static_cast<const real *>(last->data) : NULL), to(static_cast<real *>(next->data))
    {
    }
};

/* Where a lane is: row l of block i. */
struct sweep_place {
    int64_t i;
    int32_t first;
    int size, l;
    bool there, mine;
};

template <int R, class real> __device__ inline sweep_place place_of(const ldlt_factors<real> &f)
{
    sweep_place p;
    p.i = (static_cast<int64_t>(blockIdx.x) * SWEEP_BLOCK + threadIdx.x) / R;
    p.l = threadIdx.x % R;
    p.there = p.i < f.blocks;
    p.first = p.there ? f.start[p.i] : 0;
    p.size = p.there ? f.start[p.i + 1] - p.first : 0;
    p.mine = p.l < p.size;
    return p;
}

template <int R, class real>
void launch_sweep(sd_engine *e, const char *what, void (*kernel)(sweep_data<real>),
                  const sweep_data<real> &data)
{
    constexpr int rows = SWEEP_BLOCK / R;
    launch_with(e, what, kernel, (static_cast<int64_t>(data.f.blocks) + rows - 1) / rows, SWEEP_BLOCK, data);
}

} /* namespace sd_cuda */
