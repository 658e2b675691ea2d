/*
 * Swept triangular solves with a block LDL': see backend/ldlt.h. A sub-warp a row of blocks, lane l its row
 * l: all rows of a sweep are independent of each other. Sums are in the order of the list, then of the
 * columns.
 */
#include "backend/cuda/ldlt_factors.cuh"

namespace sd_cuda
{
namespace
{

template <class real, int R, bool FORWARD>
__global__ void __launch_bounds__(SWEEP_BLOCK) sweep(const sweep_data<real> x)
{
    const sweep_place p = place_of<R>(x.f);
    const ldlt_factors<real> &f = x.f;
    const real own = p.mine ? x.b[p.first + p.l] : static_cast<real>(0);
    real sum = 0;
    if (p.there && x.from)
        sum = add_list(f, FORWARD ? f.row[p.i] : f.diagonal[p.i], FORWARD ? f.diagonal[p.i] : f.row[p.i + 1],
                       x.from, p.l);
    const real product =
        times_square<R>(f.inverse + (p.there ? f.square[p.i] : 0), p.size, p.l, FORWARD ? own - sum : sum);
    if (p.mine) x.to[p.first + p.l] = FORWARD ? product : own - product;
}

template <class real, class outer>
__global__ void enter(int32_t n, const int32_t *order, const double *scale, const outer *r, real *y)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (k < n) y[k] = static_cast<real>(r[order[k]] * scale[k]);
}

template <class real, class outer>
__global__ void leave(int32_t n, const int32_t *order, const double *scale, const real *y, outer *z)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (k < n) z[order[k]] = static_cast<outer>(y[k] * scale[k]);
}

} /* namespace */

template <class real>
void ldlt_enter(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *y)
{
    if (e->status || x->n == 0) return;
    const int64_t grid = (static_cast<int64_t>(x->n) + BLOCK - 1) / BLOCK;
    real *const to = static_cast<real *>(y->data);
    if (r->precision == SD_DOUBLE)
        launch(e, "ldlt_enter", enter<real, double>, grid, x->n, x->order, x->scale,
               static_cast<const double *>(r->data), to);
    else
        launch(e, "ldlt_enter", enter<real, float>, grid, x->n, x->order, x->scale,
               static_cast<const float *>(r->data), to);
}

template <class real>
void ldlt_leave(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *y, sd_vector *z)
{
    if (e->status || x->n == 0) return;
    const int64_t grid = (static_cast<int64_t>(x->n) + BLOCK - 1) / BLOCK;
    const real *const from = static_cast<const real *>(y->data);
    if (z->precision == SD_DOUBLE)
        launch(e, "ldlt_leave", leave<real, double>, grid, x->n, x->order, x->scale, from,
               static_cast<double *>(z->data));
    else
        launch(e, "ldlt_leave", leave<real, float>, grid, x->n, x->order, x->scale, from,
               static_cast<float *>(z->data));
}

template <class real>
void ldlt_sweep(sd_engine *e, const sd_ldlt_factors *x, bool forward, const sd_vector *b,
                const sd_vector *from, sd_vector *to)
{
    if (e->status || x->blocks == 0) return;
    const sweep_data<real> data(x, b, from, to);
    if (x->largest <= 8)
        launch_sweep<8>(e, "ldlt_sweep", forward ? sweep<real, 8, true> : sweep<real, 8, false>, data);
    else
        launch_sweep<32>(e, "ldlt_sweep", forward ? sweep<real, 32, true> : sweep<real, 32, false>, data);
}

/* The rows of batch.def that are defined here, in both precisions. */
BOTH(ldlt_enter)
BOTH(ldlt_leave)
BOTH(ldlt_sweep)

} /* namespace sd_cuda */
