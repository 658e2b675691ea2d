/*
 * Triangular factors: see backend/triangle.h.
 *
 * Exact solves wait for no level: a warp takes the next rank from a counter, so that all lower ones have been
 * taken by warps that run, waits for the flags of the rows it needs, and raises its own. Its lanes share the
 * entries of the row; none waits for a row of its own warp, which has at most one that is not done. The order
 * of sums is that of entries and lanes. In a sweep all rows are independent: a thread a number, and of blocks
 * a warp a block, lane l its row l.
 */
#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{
namespace
{

constexpr int ROWS = BLOCK / WARP; /* warps of a block */

/* A triangle in one precision. */
template <class real> struct triangle {
    int32_t n, blocks;
    bool upper;
    const int64_t *ptr, *split, *square;
    const int32_t *ind, *from, *start;
    const real *val, *reciprocal, *inverse;

    explicit triangle(const sd_triangle *x)
        : n(x->n), blocks(x->blocks), upper(x->upper), ptr(x->ptr), split(x->split), square(x->square),
          ind(x->ind), from(x->from), start(x->start), val(static_cast<const real *>(x->val)),
          reciprocal(static_cast<const real *>(x->reciprocal)), inverse(static_cast<const real *>(x->inverse))
    {
    }
    /* Entry s of first .. end), those farthest from the diagonal first. */
    __device__ int64_t entry(int64_t first, int64_t end, int64_t s) const
    {
        return upper ? end - 1 - s : first + s;
    }
    __device__ real value(int64_t k) const
    {
        return val[from ? from[k] : k];
    }
};

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

/* ---- exact ---- */

template <class real>
__global__ void __launch_bounds__(BLOCK)
    solve(const triangle<real> x, int columns, const real *b, real *y, unsigned *ticket, int *flag)
{
    const int lane = threadIdx.x % WARP;
    for (;;) {
        unsigned rank = 0;
        if (lane == 0) rank = atomicAdd(ticket, 1u);
        rank = __shfl_sync(ALL_LANES, rank, 0);
        if (rank >= static_cast<unsigned>(x.n)) return;
        const int32_t i = static_cast<int32_t>(x.upper ? x.n - 1 - rank : rank);
        const int64_t first = x.ptr[i], end = x.ptr[i + 1];
        for (int64_t s = lane; s < end - first; s += WARP)
            while (load_acquire(flag + x.ind[x.entry(first, end, s)]) == 0) nap();
        __syncwarp();
        for (int r = 0; r < columns; ++r) {
            const int64_t at = static_cast<int64_t>(i) * columns + r;
            real sum = 0;
            for (int64_t s = lane; s < end - first; s += WARP) {
                const int64_t k = x.entry(first, end, s);
                sum += x.value(k) * load_relaxed(y + static_cast<int64_t>(x.ind[k]) * columns + r);
            }
            for (int apart = WARP / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
            if (lane == 0) y[at] = (b[at] - sum) * x.reciprocal[i];
        }
        if (lane == 0) store_release(flag + i, 1);
    }
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

template <class real>
__global__ void __launch_bounds__(BLOCK)
    sweep_blocks(const triangle<real> x, int columns, const real *b, const real *from, real *to)
{
    const int64_t q = static_cast<int64_t>(blockIdx.x) * ROWS + threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;
    if (q >= x.blocks) return;
    const int32_t first = x.start[q];
    const int size = x.start[q + 1] - first;
    const bool mine = lane < size;
    const int64_t i = mine ? first + lane : first;
    const int64_t begin = x.upper ? x.split[i] : x.ptr[i];
    const int64_t end = !from ? begin : x.upper ? x.ptr[i + 1] : x.split[i];
    const real *const inverse = x.inverse + x.square[q];
    for (int r = 0; r < columns; ++r) {
        const real left = left_over(x, begin, end, columns, r, b[i * columns + r], from);
        real sum = 0;
        for (int p = 0; p < size; ++p) {
            const real with = __shfl_sync(ALL_LANES, left, p);
            if (mine && (x.upper ? p >= lane : p <= lane)) sum += inverse[lane + p * size] * with;
        }
        if (mine) to[i * columns + r] = sum;
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

template <class real> const real *numbers_of(const sd_vector *x)
{
    return x ? static_cast<const real *>(x->data) : NULL;
}

} /* namespace */

template <class real>
void triangle_solve(sd_engine *e, const sd_triangle *x, int columns, const sd_vector *b, sd_vector *y)
{
    const char *const what = "triangle_solve";
    if (e->status || x->n == 0) return;
    const int64_t bytes = (static_cast<int64_t>(x->n) + 1) * static_cast<int64_t>(sizeof(int));
    int *const flags = static_cast<int *>(scratch(e, bytes, what));
    const state *s = state_of(e);
    const on_device current(s->device);
    if (!flags || failed(e, current.error, what) ||
        failed(e, cudaMemsetAsync(flags, 0, static_cast<size_t>(bytes), s->stream), what))
        return;
    constexpr int BLOCKS_EACH = 8; /* of a multiprocessor; more would only wait */
    const int64_t wanted = (static_cast<int64_t>(x->n) + ROWS - 1) / ROWS,
                  most = static_cast<int64_t>(BLOCKS_EACH) * s->processors;
    launch(e, what, solve<real>, wanted < most ? wanted : most, triangle<real>(x), columns,
           numbers_of<real>(b), static_cast<real *>(y->data), reinterpret_cast<unsigned *>(flags + x->n),
           flags);
}

template <class real>
void triangle_sweep(sd_engine *e, const sd_triangle *x, sd_sweep_unit unit, int columns, const sd_vector *b,
                    const sd_vector *from, sd_vector *to)
{
    if (e->status || x->n == 0) return;
    const bool blocks = unit == SD_SWEEP_BLOCKS;
    const int64_t threads =
        blocks ? static_cast<int64_t>(x->blocks) * WARP : static_cast<int64_t>(x->n) * columns;
    launch(e, "triangle_sweep", blocks ? sweep_blocks<real> : sweep_entries<real>, grid_for(threads),
           triangle<real>(x), columns, numbers_of<real>(b), numbers_of<real>(from),
           static_cast<real *>(to->data));
}

template <class real>
void triangle_residual(sd_engine *e, const sd_triangle *x, int columns, const sd_vector *b,
                       const sd_vector *v, sd_vector *r)
{
    if (e->status || x->n == 0) return;
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
BOTH(triangle_solve)
BOTH(triangle_sweep)
BOTH(triangle_residual)
BOTH(enter)
BOTH(leave)

} /* namespace sd_cuda */
