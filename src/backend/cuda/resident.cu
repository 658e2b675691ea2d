/* Matrices and vectors that stay on the device: see backend/resident.h. */
#include "backend/cuda/vectors.cuh"

extern "C" {
#include "backend/resident.h"
}

namespace sd_cuda
{
namespace
{

void follow(sd_engine *e, const sd_engine *other)
{
    if (e->status) return;
    cudaEvent_t until;
    const on_device current(state_of(e)->device);
    if (failed(e, cudaEventCreateWithFlags(&until, cudaEventDisableTiming), "an event")) return;
    if (!failed(e, cudaEventRecord(until, state_of(other)->stream), "an event"))
        failed(e, cudaStreamWaitEvent(state_of(e)->stream, until, 0), "an event");
    cudaEventDestroy(until); /* which it survives until it has happened */
}

void copy_anywhere(sd_engine *e, const void *from, void *to, int64_t bytes)
{
    if (e->status || bytes == 0) return;
    const on_device current(state_of(e)->device);
    const bool inside = e->backend->is_on_device(e, from) && e->backend->is_on_device(e, to);
    if (failed(e,
               cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, state_of(e)->stream),
               "copy"))
        return;
    if (!inside) finished(e, "copy");
}

template <class T>
__global__ void __launch_bounds__(BLOCK)
    take_entries(int64_t count, const T *__restrict__ from, const int32_t *__restrict__ map, double *to)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * BLOCK;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; k < count; k += step)
        to[map ? map[k] : k] = static_cast<double>(from[k]);
}

int64_t blocks_for(const sd_engine *e, int64_t count)
{
    const int64_t wanted = (count + BLOCK - 1) / BLOCK, most = 8 * int64_t{state_of(e)->processors};
    return wanted < most ? wanted : most;
}

void take(sd_engine *e, int64_t count, const void *from, bool single, const int32_t *map, double *to)
{
    if (e->status) return;
    const int64_t blocks = blocks_for(e, count);
    if (single)
        launch(e, "values", take_entries<float>, blocks, count, static_cast<const float *>(from), map, to);
    else
        launch(e, "values", take_entries<double>, blocks, count, static_cast<const double *>(from), map, to);
}

__global__ void __launch_bounds__(BLOCK)
    spread_entries(int64_t count, const int32_t *__restrict__ source, const double *__restrict__ from,
                   double *__restrict__ to)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * BLOCK;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x; k < count; k += step)
        to[k] = from[source[k]];
}

void spread(sd_engine *e, int64_t count, const int32_t *source, const double *from, double *to)
{
    if (!e->status) launch(e, "values", spread_entries, blocks_for(e, count), count, source, from, to);
}

/* Entry i of columns side by side. */
struct columns_size {
    const double *x;
    int64_t n, ldx;
    using read = double;
    __device__ read load(int64_t i) const
    {
        return x[i / n * ldx + i % n];
    }
    __device__ void values(int64_t, read o, double (&value)[1]) const
    {
        value[0] = fabs(o);
    }
};

void size(sd_engine *e, int64_t n, int64_t k, const double *x, int64_t ldx, double *result)
{
    reduction<largest, 1>(e, "size", n * k, columns_size{x, n, ldx}, result);
}

struct residual_row {
    double r, weight, b, x;
};
struct residual_vectors {
    const double *r, *weight, *b, *x;
    using read = residual_row;
    __device__ read load(int64_t i) const
    {
        return {r[i], weight[i], b[i], x[i]};
    }
};

__device__ inline double inverse_size(double size)
{
    return size > 0 ? 1 / size : 0;
}

struct largest_of_rows : residual_vectors {
    __device__ void values(int64_t, const residual_row &o, double (&value)[SD_MAXIMA]) const
    {
        const double r = fabs(o.r), b = fabs(o.b), x = fabs(o.x), inverse = inverse_size(o.weight + b);
        value[SD_MAX_R] = r;
        value[SD_MAX_B] = b;
        value[SD_MAX_X] = x;
        value[SD_MAX_RATIO] = r * inverse;
        value[SD_MAX_SHARE] = b * inverse;
        value[SD_FAR_B] = inverse_size(b);
        value[SD_FAR_X] = inverse_size(x);
    }
};

struct squares_of_rows : residual_vectors {
    __device__ void values(int64_t, const residual_row &o, double (&value)[2]) const
    {
        value[0] = o.r * o.r;
        value[1] = o.b * o.b;
    }
};

void norms(sd_engine *e, int64_t n, const double *r, const double *weight, const double *b, const double *x,
           sd_resident_norms *found)
{
    const residual_vectors all = {r, weight, b, x};
    reduction<largest, SD_MAXIMA>(e, "norms", n, largest_of_rows{all}, found->maxima);
    reduction<addition, 2>(e, "norms", n, squares_of_rows{all}, &found->square_r);
}

} /* namespace */

const sd_resident resident = {use_stream, follow, copy_anywhere, take, spread, size, norms};

} /* namespace sd_cuda */
