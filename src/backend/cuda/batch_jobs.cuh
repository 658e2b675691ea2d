/*
 * The blocks of a plan shared out over sub-warps: a block of n rows belongs to `lanes` threads of one warp,
 * the least power of two >= n, at least 4. A plan's jobs are sorted by size, so those of one number of lanes
 * are a range of them, and one launch each serves batches of mixed sizes.
 */
#pragma once

#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{

/* The jobs of a plan that `lanes` threads each are for. */
template <int lanes> struct job_range {
    static constexpr int LEAST = lanes == 4 ? 1 : lanes / 2 + 1; /* rows */
    static constexpr int SIZES = lanes - LEAST + 1;

    const sd_batch_job *job;
    int32_t regular;
    int32_t first[SIZES + 1]; /* of each size, and the end */

    explicit job_range(const sd_batch_plan *plan) : job(plan->job), regular(plan->regular)
    {
        for (int s = 0; s <= SIZES; ++s) first[s] = plan->first[LEAST + s];
    }

    __host__ __device__ int64_t count() const
    {
        return first[SIZES] - static_cast<int64_t>(first[0]);
    }
};

/* What a sub-warp works on; n is 0 where there is no job left for it. */
struct job_found {
    int64_t entry;
    int32_t row, block;
    int n;
};

template <int lanes> __device__ inline int size_of_job(const job_range<lanes> &jobs, int32_t k)
{
    int n = jobs.LEAST;
#pragma unroll
    for (int s = 1; s < jobs.SIZES; ++s) n += jobs.first[s] <= k;
    return n;
}

/* Job `at` of the range. */
template <int lanes> __device__ inline job_found job_at(const job_range<lanes> &jobs, int64_t at)
{
    job_found found = {0, 0, 0, 0};
    if (at >= jobs.count()) return found;
    const int32_t k = jobs.first[0] + static_cast<int32_t>(at);
    if (jobs.regular > 0) {
        found.n = jobs.regular;
        found.entry = static_cast<int64_t>(k) * found.n * found.n;
        found.row = k * found.n;
        found.block = k;
    } else {
        const sd_batch_job job = jobs.job[k];
        found.entry = job.entry;
        found.row = job.row;
        found.block = job.block;
        found.n = size_of_job(jobs, k);
    }
    return found;
}

/* The job of the calling thread's sub-warp, counted over the grid. */
template <int lanes> __device__ inline job_found find_job(const job_range<lanes> &jobs)
{
    return job_at(jobs, (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes);
}

/* Row `lane` of a block, in registers: a block is read by columns, the lanes side by side. Zeros beyond the
 * block. All is read before any is used, so that the loads are under way together. */
template <int lanes, class real>
__device__ inline void load_row(const real *a, int n, int lane, real (&row)[lanes])
{
#pragma unroll
    for (int j = 0; j < lanes; ++j) row[j] = lane < n && j < n ? a[j * n + lane] : static_cast<real>(0);
}

/* A block in shared memory, by columns with an odd stride: neither a row nor a column of it makes the lanes
 * meet in a bank. */
template <int lanes, class real> struct shared_block {
    static constexpr int STRIDE = lanes + 1;
    real entry[lanes * STRIDE];
    __device__ real &at(int i, int j)
    {
        return entry[j * STRIDE + i];
    }
};

/* a b + c, rounded once: written out, for the module is compiled without contractions */
__device__ inline double fma_of(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}
__device__ inline float fma_of(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

constexpr int JOB_BLOCK = 128; /* threads: so their blocks of 32 rows fit into 48 KB of shared memory */

/* f.run<lanes>(e, jobs) for every number of lanes. */
template <class F> void for_each_range(sd_engine *e, const sd_batch_plan *plan, const F &f)
{
    f.template run<4>(e, job_range<4>(plan));
    f.template run<8>(e, job_range<8>(plan));
    f.template run<16>(e, job_range<16>(plan));
    f.template run<32>(e, job_range<32>(plan));
}

/* Launches a kernel whose first parameter is the range, a sub-warp a job, JOB_BLOCK threads a block. */
template <int lanes, class... Parameters, class... Arguments>
void launch_jobs(sd_engine *e, const char *what, void (*kernel)(job_range<lanes>, Parameters...),
                 const job_range<lanes> &jobs, Arguments... arguments)
{
    const int64_t threads = jobs.count() * lanes;
    if (e->status || threads == 0) return;
    launch_with(e, what, kernel, (threads + JOB_BLOCK - 1) / JOB_BLOCK, JOB_BLOCK, jobs, arguments...);
}

} /* namespace sd_cuda */
