/*
 * Sweeps over triangular factors, residuals, and how vectors enter and leave: see backend/triangle.h.
 *
 * In a sweep all rows are independent. One over entries, for one right-hand side, is a product with the
 * matrix that ends otherwise (sparse.cu). For several a thread has a number of the result. Over blocks a
 * group of 8, 16 or 32 lanes has a block, the least that its rows fit into: `lanes` of them share a row, as
 * many rows as that leaves at a time, and in the end lane l has what is left of b in row l, which all
 * multiply with the inverse, whose columns they read side by side.
 */
#include "backend/cuda/triangle.cuh"

namespace sd_cuda
{
namespace
{

/* b less the entries first .. end) of a row times column r of v. */
template <class real>
__device__ inline real left_over(const triangle<real> &x, int64_t first, int64_t end, int columns, int r,
                                 real b, const real *v)
{
    for (int64_t s = 0; s < end - first; ++s) {
        const int64_t k = x.entry(first, end, s);
        b -= x.value(k) * v[static_cast<int64_t>(x.ind[k]) * columns + r];
    }
    return b;
}

/* ---- sweeps ---- */

template <class real>
__global__ void sweep_entries(const triangle<real> x, int columns, const real *b, const real *from, real *to)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (at >= static_cast<int64_t>(x.n) * columns) return;
    const int64_t i = at / columns;
    const int r = static_cast<int>(at % columns);
    const int64_t end = from ? x.ptr[i + 1] : x.ptr[i];
    to[at] = left_over(x, x.ptr[i], end, columns, r, b[at], from) * x.reciprocal[i];
}

template <class real>
__global__ void residual(const triangle<real> x, int columns, const real *b, const real *v, real *to)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (at >= static_cast<int64_t>(x.n) * columns) return;
    const int64_t i = at / columns;
    const int r = static_cast<int>(at % columns);
    to[at] = left_over(x, x.ptr[i], x.ptr[i + 1], columns, r, b[at], v) - v[at] / x.reciprocal[i];
}

constexpr int AHEAD = 4; /* entries of a row of a block that a lane has asked for */

/* Entries lane, lane + lanes, ... of first .. end) times column r of v. */
template <class real>
__device__ inline real add_entries(const triangle<real> &x, int64_t first, int64_t end, int lane, int lanes,
                                   int columns, int r, const real *v)
{
    real sum = 0;
    for (int64_t k = first + lane; k < end; k += AHEAD * lanes) {
        real a[AHEAD], with[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            const bool there = k + u * lanes < end;
            a[u] = there ? x.value(k + u * lanes) : 0;
            with[u] = there ? v[static_cast<int64_t>(x.ind[k + u * lanes]) * columns + r] : 0;
        }
#pragma unroll
        for (int u = 0; u < AHEAD; ++u)
            if (k + u * lanes < end) sum += a[u] * with[u];
    }
    return sum;
}

/* What the entries outside the blocks make of column r of v: that of row l of its block in lane l. */
template <class real, int G>
__device__ inline real gather_rows(const triangle<real> &x, int32_t first, int size, int lanes, int columns,
                                   int r, const real *v)
{
    const int l = threadIdx.x % G, rows = G / lanes;
    real own = 0;
    for (int low = 0; low < x.largest; low += rows) {
        const int row = low + l / lanes;
        real sum = 0;
        if (row < size) {
            const int64_t i = first + row, begin = x.upper ? x.split[i] : x.ptr[i],
                          end = x.upper ? x.ptr[i + 1] : x.split[i];
            sum = add_entries(x, begin, end, l % lanes, lanes, columns, r, v);
        }
        for (int apart = lanes / 2; apart > 0; apart /= 2)
            sum += __shfl_down_sync(ALL_LANES, sum, static_cast<unsigned>(apart), lanes);
        const real here = __shfl_sync(ALL_LANES, sum, (l - low) * lanes & (G - 1), G);
        if (l >= low && l < low + rows) own = here;
    }
    return own;
}

template <class real, int G>
__global__ void __launch_bounds__(BLOCK)
    sweep_blocks(const triangle<real> x, int lanes, int columns, const real *b, const real *from, real *to)
{
    const int64_t q = (static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x) / G;
    const int l = threadIdx.x % G;
    const bool there = q < x.blocks;
    const int32_t first = there ? x.start[q] : 0;
    const int size = there ? x.start[q + 1] - first : 0;
    const bool mine = l < size;
    const real *const inverse = there ? x.inverse + x.square[q] + l : NULL;
    for (int r = 0; r < columns; ++r) {
        const int64_t at = (static_cast<int64_t>(first) + l) * columns + r;
        real left = mine ? b[at] : 0, sum = 0;
        if (from) left -= gather_rows<real, G>(x, first, size, lanes, columns, r, from);
        for (int p = 0; p < x.largest; ++p) {
            const real with = __shfl_sync(ALL_LANES, left, p, G);
            if (mine && p < size && (x.upper ? p >= l : p <= l)) sum += inverse[p * size] * with;
        }
        if (mine) to[at] = sum;
    }
}

/* ---- in and out ---- */

/* A thread a row k; columns of r one after the other, those of y side by side. */
template <class real, class outer>
__global__ void enter_rows(const sd_frame x, int columns, const outer *r, real *y)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    for (int64_t c = 0; c < columns && k < x.n; ++c)
        y[k * columns + c] = static_cast<real>(r[c * x.n + x.order[k]] * x.scale[k]);
}

template <class real, class outer>
__global__ void leave_rows(const sd_frame x, int columns, const real *y, outer *z)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    for (int64_t c = 0; c < columns && k < x.n; ++c)
        z[c * x.n + x.order[k]] = static_cast<outer>(y[k * columns + c] * x.scale[k]);
}

int64_t grid_for(int64_t threads)
{
    return (threads + BLOCK - 1) / BLOCK;
}

template <class real, int G>
void launch_blocks(sd_engine *e, const sd_triangle *x, int columns, const sd_vector *b, const sd_vector *from,
                   sd_vector *to)
{
    launch(e, "triangle_sweep", sweep_blocks<real, G>, grid_for(static_cast<int64_t>(x->blocks) * G),
           triangle<real>(x), lanes_for(x, AHEAD, G), columns, numbers_of<real>(b), numbers_of<real>(from),
           static_cast<real *>(to->data));
}

/* Whether sparse.cu has it: one right-hand side, numbers in their order. */
bool is_product(const sd_triangle *x, int columns)
{
    return columns == 1 && !x->from;
}

} /* namespace */

template <class real>
void triangle_sweep(sd_engine *e, const sd_triangle *x, sd_sweep_unit unit, int columns, const sd_vector *b,
                    const sd_vector *from, sd_vector *to)
{
    if (e->status || x->n == 0) return;
    if (unit == SD_SWEEP_ENTRIES && from && is_product(x, columns)) {
        sweep_rows<real>(e, x, b, from, to);
    } else if (unit == SD_SWEEP_ENTRIES) {
        launch(e, "triangle_sweep", sweep_entries<real>, grid_for(static_cast<int64_t>(x->n) * columns),
               triangle<real>(x), columns, numbers_of<real>(b), numbers_of<real>(from),
               static_cast<real *>(to->data));
    } else if (x->largest <= 8) {
        launch_blocks<real, 8>(e, x, columns, b, from, to);
    } else if (x->largest <= 16) {
        launch_blocks<real, 16>(e, x, columns, b, from, to);
    } else {
        launch_blocks<real, 32>(e, x, columns, b, from, to);
    }
}

template <class real>
void triangle_residual(sd_engine *e, const sd_triangle *x, int columns, const sd_vector *b,
                       const sd_vector *v, sd_vector *r)
{
    if (e->status || x->n == 0) return;
    if (is_product(x, columns))
        subtract_rows<real>(e, x, b, v, r);
    else
        launch(e, "triangle_residual", residual<real>, grid_for(static_cast<int64_t>(x->n) * columns),
               triangle<real>(x), columns, numbers_of<real>(b), numbers_of<real>(v),
               static_cast<real *>(r->data));
}

template <class real>
void enter(sd_engine *e, const sd_frame *x, int columns, const sd_vector *r, sd_vector *y)
{
    if (e->status || x->n == 0) return;
    real *const to = static_cast<real *>(y->data);
    if (r->precision == SD_DOUBLE)
        launch(e, "enter", enter_rows<real, double>, grid_for(x->n), *x, columns, numbers_of<double>(r), to);
    else
        launch(e, "enter", enter_rows<real, float>, grid_for(x->n), *x, columns, numbers_of<float>(r), to);
}

template <class real>
void leave(sd_engine *e, const sd_frame *x, int columns, const sd_vector *y, sd_vector *z)
{
    if (e->status || x->n == 0) return;
    const real *const from = numbers_of<real>(y);
    if (z->precision == SD_DOUBLE)
        launch(e, "leave", leave_rows<real, double>, grid_for(x->n), *x, columns, from,
               static_cast<double *>(z->data));
    else
        launch(e, "leave", leave_rows<real, float>, grid_for(x->n), *x, columns, from,
               static_cast<float *>(z->data));
}

/* The rows of kernels.def that are defined here, in both precisions. */
BOTH(triangle_sweep)
BOTH(triangle_residual)
BOTH(enter)
BOTH(leave)

} /* namespace sd_cuda */
