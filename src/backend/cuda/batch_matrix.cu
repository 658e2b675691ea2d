/*
 * Blocks and matrices on the GPU: the diagonal blocks of a sparse matrix, norms of blocks.
 *
 * Extraction goes by the entries of the matrix, not by its rows (entries.cuh). No two of them meet in a
 * place.
 *
 * Norms: a sub-warp a block, which goes through shared memory so that lane j has column j.
 */
#include "backend/cuda/batch_jobs.cuh"
#include "backend/cuda/entries.cuh"

#include <float.h>
#include <math.h>

namespace sd_cuda
{
namespace
{

/* ---- extraction ---- */

template <class real>
__device__ inline void put_entry(const sd_batch_map &map, int32_t r, int32_t c, real value, real *data)
{
    const int32_t k = map.block[r];
    if (map.block[c] != k) return;
    const int64_t entry = map.entry[k];
    if (entry < 0) return;
    const int32_t first = map.start[k], rows = map.start[k + 1] - first;
    data[entry + (c - first) * rows + (r - first)] = value;
}

template <class real>
__global__ void __launch_bounds__(BLOCK) extract(const sd_sparse A, const sd_batch_map map, real *data)
{
    for_each_entry<real>(A, [&](int64_t, int32_t row, int32_t column, real value) {
        const int32_t r = map.row_place ? map.row_place[row] : row;
        const int32_t c = map.column_place ? map.column_place[column] : column;
        put_entry(map, r, c, value, data);
        if (A.half) put_entry(map, c, r, value, data);
    });
}

/* ---- norms ---- */

template <int lanes, class real>
__global__ void __launch_bounds__(JOB_BLOCK)
    one_norms(const job_range<lanes> jobs, const real *data, double *norms)
{
    __shared__ shared_block<lanes, real> blocks[JOB_BLOCK / lanes];
    shared_block<lanes, real> &block = blocks[threadIdx.x / lanes];
    const int lane = threadIdx.x % lanes;
    const job_found job = find_job(jobs);
    real row[lanes];
    load_row<lanes>(data + job.entry, job.n, lane, row);
#pragma unroll
    for (int j = 0; j < lanes; ++j) block.at(lane, j) = row[j];
    __syncwarp();
    double sum = 0;
#pragma unroll
    for (int i = 0; i < lanes; ++i) sum += fabs(static_cast<double>(block.at(i, lane)));
    if (!(sum <= DBL_MAX)) sum = DBL_MAX; /* NaN too */
#pragma unroll
    for (int step = 1; step < lanes; step *= 2) sum = fmax(sum, __shfl_xor_sync(ALL_LANES, sum, step));
    if (lane == 0 && job.n > 0) norms[job.block] = sum;
}

template <class real> struct norms_of {
    const real *data;
    double *norms;
    template <int lanes> void run(sd_engine *e, const job_range<lanes> &jobs) const
    {
        launch_jobs(e, "batch_norms", one_norms<lanes, real>, jobs, data, norms);
    }
};

} /* namespace */

template <class real>
void batch_extract(sd_engine *e, const sd_sparse *A, const sd_batch_map *map, sd_batch *x)
{
    const char *const what = "batch_extract";
    if (e->status || x->plan->entries == 0) return;
    const state *s = state_of(e);
    const on_device current(s->device);
    if (failed(e, current.error, what)) return;
    const size_t bytes = static_cast<size_t>(x->plan->entries) * sizeof(real);
    if (failed(e, cudaMemsetAsync(x->data, 0, bytes, s->stream), what) || A->nnz == 0) return;
    launch(e, what, extract<real>, (A->nnz + SHARE - 1) / SHARE, *A, *map, static_cast<real *>(x->data));
}

template <class real> void batch_norms(sd_engine *e, const sd_batch *x, sd_vector *norms)
{
    if (e->status) return;
    if (x->plan->count < x->plan->blocks) fill<double>(e, 0.0, norms);
    for_each_range(e, x->plan,
                   norms_of<real>{static_cast<const real *>(x->data), static_cast<double *>(norms->data)});
}

/* The rows of batch.def that are defined here, in both precisions. */
BOTH(batch_extract)
BOTH(batch_norms)

} /* namespace sd_cuda */
