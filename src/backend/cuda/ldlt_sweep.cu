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

} /* namespace */

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
BOTH(ldlt_sweep)

} /* namespace sd_cuda */
