/*
 * Swept triangular solves with a block LDL': see backend/ldlt.h. A sub-warp a row of blocks, lane l its row
 * l: all rows of a sweep are independent of each other. Sums are in the order of the list, then of the
 * columns.
 */
#include "backend/cuda/cuda.cuh"

#include "backend/cuda/block_jobs.cuh"

namespace sd_cuda
{
namespace
{

constexpr int SWEEP_BLOCK = 128; /* threads */

template <class real> struct sweep_data {
    int32_t blocks;
    const int32_t *start;
    const int64_t *row, *diagonal, *square;
    const sd_ldlt_block *list;
    const real *data, *inverse;
    const real *b, *from; /* from: NULL where it is 0 */
    real *to;
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

template <class real, int R, bool FORWARD>
__global__ void __launch_bounds__(SWEEP_BLOCK) sweep(const sweep_data<real> x)
{
    const int l = threadIdx.x % R;
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * SWEEP_BLOCK + threadIdx.x) / R;
    const bool there = i < x.blocks;
    const int32_t first = there ? x.start[i] : 0;
    const int size = there ? x.start[i + 1] - first : 0;
    const bool mine = l < size;
    const real own = mine ? x.b[first + l] : static_cast<real>(0);
    real sum = 0;
    if (there && x.from) {
        const int64_t begin = FORWARD ? x.row[i] : x.diagonal[i],
                      end = FORWARD ? x.diagonal[i] : x.row[i + 1];
        for (int64_t k = begin; k < end; ++k) {
            const sd_ldlt_block b = x.list[k];
            sum = add_row(b, x.data, x.from + x.start[b.other], l, sum);
        }
    }
    const real with = FORWARD ? own - sum : sum;
    const real *const g = x.inverse + (there ? x.square[i] : 0);
    real product = 0;
    for (int p = 0; p < R; ++p) {
        const real other = __shfl_sync(ALL_LANES, with, p, R);
        if (mine && p < size) product = fma_of(g[l + p * size], other, product);
    }
    if (mine) x.to[first + l] = FORWARD ? product : own - product;
}

template <class real>
__global__ void enter(int32_t n, const int32_t *order, const real *scale, const real *r, real *y)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (k < n) y[k] = r[order[k]] * scale[k];
}

template <class real>
__global__ void leave(int32_t n, const int32_t *order, const real *scale, const real *y, real *z)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (k < n) z[order[k]] = y[k] * scale[k];
}

template <class real, int R> void launch_sweep(sd_engine *e, bool forward, const sweep_data<real> &data)
{
    constexpr int rows = SWEEP_BLOCK / R;
    launch_with(e, "ldlt_sweep", forward ? sweep<real, R, true> : sweep<real, R, false>,
                (static_cast<int64_t>(data.blocks) + rows - 1) / rows, SWEEP_BLOCK, data);
}

} /* namespace */

template <class real>
void ldlt_enter(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *y)
{
    if (e->status || x->n == 0) return;
    launch(e, "ldlt_enter", enter<real>, (static_cast<int64_t>(x->n) + BLOCK - 1) / BLOCK, x->n, x->order,
           static_cast<const real *>(x->scale), static_cast<const real *>(r->data),
           static_cast<real *>(y->data));
}

template <class real>
void ldlt_leave(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *y, sd_vector *z)
{
    if (e->status || x->n == 0) return;
    launch(e, "ldlt_leave", leave<real>, (static_cast<int64_t>(x->n) + BLOCK - 1) / BLOCK, x->n, x->order,
           static_cast<const real *>(x->scale), static_cast<const real *>(y->data),
           static_cast<real *>(z->data));
}

template <class real>
void ldlt_sweep(sd_engine *e, const sd_ldlt_factors *x, bool forward, const sd_vector *b,
                const sd_vector *from, sd_vector *to)
{
    if (e->status || x->blocks == 0) return;
    const sweep_data<real> data = {x->blocks,
                                   x->start,
                                   x->row,
                                   x->diagonal,
                                   x->square,
                                   x->list,
                                   static_cast<const real *>(x->data),
                                   static_cast<const real *>(x->inverse),
                                   static_cast<const real *>(b->data),
                                   from ? static_cast<const real *>(from->data) : NULL,
                                   static_cast<real *>(to->data)};
    if (x->largest <= 8)
        launch_sweep<real, 8>(e, forward, data);
    else
        launch_sweep<real, 32>(e, forward, data);
}

/* The rows of blocks.def that are defined here, in both precisions. */
#define BOTH(name, parameters)                                                                               \
    template void name<double> parameters;                                                                   \
    template void name<float> parameters;
BOTH(ldlt_enter, (sd_engine *, const sd_ldlt_factors *, const sd_vector *, sd_vector *))
BOTH(ldlt_leave, (sd_engine *, const sd_ldlt_factors *, const sd_vector *, sd_vector *))
BOTH(ldlt_sweep,
     (sd_engine *, const sd_ldlt_factors *, bool, const sd_vector *, const sd_vector *, sd_vector *))

} /* namespace sd_cuda */
