/*
 * Inverses of blocks that were factored as P A P' = L D L': lane c of a sub-warp makes column c,
 *
 *     y <- L'^-1 D^-1 L^-1 y,   y a column of P,
 *
 * in registers; L is in shared memory, without the entries of D that lie beside the diagonal, and behind
 * a block of n rows it is 0, so that loops over registers need not ask for n. Of the columns the lower
 * triangle of the inverse is kept, and mirrored: it is symmetric to the last bit.
 */
#include "backend/cuda/batch_jobs.cuh"

namespace sd_cuda
{
namespace
{

__device__ inline sd_pair_solver_double solver_of(double a, double b, double c)
{
    const sd_pair_double pair = {a, b, c};
    return sd_pair_solver_of_double(pair);
}
__device__ inline sd_pair_solver_single solver_of(float a, float b, float c)
{
    const sd_pair_single pair = {a, b, c};
    return sd_pair_solver_of_single(pair);
}

/* A factored block. D^-1 y is times[s] (y_s beside[s] - y_p), p the other row of a 2x2 pivot; of a 1x1 pivot
 * times[s] y_s. */
template <int lanes, class real> struct factored {
    shared_block<lanes, real> l; /* and then the inverse */
    real times[lanes], beside[lanes];
    int row[lanes];
};

template <int lanes, class real>
__device__ inline void stage(const job_found &job, const real *f, const uint8_t *row, uint32_t pairs,
                             int lane, factored<lanes, real> &to)
{
    const int n = job.n;
    const bool mine = lane < n, first = pairs >> lane & 1, second = lane > 0 && (pairs >> (lane - 1) & 1);
#pragma unroll
    for (int j = 0; j < lanes; ++j)
        to.l.at(lane, j) =
            mine && j < n && !(second && j == lane - 1) ? f[j * n + lane] : static_cast<real>(0);
    to.row[lane] = mine ? row[lane] : -1;
    real times = 0, beside = 1;
    if (mine && (first || second)) {
        const int s = first ? lane : lane - 1;
        const auto d = solver_of(f[s * n + s], f[s * n + s + 1], f[(s + 1) * n + s + 1]);
        times = d.t;
        beside = first ? d.y : d.x;
    } else if (mine) {
        times = 1 / f[lane * n + lane];
    }
    to.times[lane] = times;
    to.beside[lane] = beside;
}

/* Of larger blocks L is read a column at a time: all of it would not fit into registers. */
template <int lanes, class real>
__device__ inline void solve(factored<lanes, real> &f, uint32_t pairs, real (&y)[lanes])
{
#pragma unroll
    for (int j = 0; j < lanes; ++j) {
#pragma unroll
        for (int i = j + 1; i < lanes; ++i) y[i] = fma_of(-f.l.at(i, j), y[j], y[i]);
        if (lanes > 8) __syncwarp();
    }
    real before = 0; /* y[s - 1] as it was */
#pragma unroll
    for (int s = 0; s < lanes; ++s) {
        const bool first = pairs >> s & 1, second = s > 0 && (pairs >> (s - 1) & 1);
        const real other = second ? before : first && s + 1 < lanes ? y[s + 1 < lanes ? s + 1 : s] : 0;
        before = y[s];
        y[s] = f.times[s] * fma_of(f.beside[s], y[s], -other);
    }
#pragma unroll
    for (int j = lanes - 1; j >= 0; --j) {
#pragma unroll
        for (int i = j + 1; i < lanes; ++i) y[j] = fma_of(-f.l.at(i, j), y[i], y[j]);
        if (lanes > 8) __syncwarp();
    }
}

template <int lanes, class real>
__global__ void __launch_bounds__(JOB_BLOCK)
    invert(const job_range<lanes> jobs, const real *data, const uint8_t *row, const sd_batch_state *state,
           real *inverse)
{
    __shared__ factored<lanes, real> blocks[JOB_BLOCK / lanes];
    factored<lanes, real> &f = blocks[threadIdx.x / lanes];
    const int lane = threadIdx.x % lanes;
    after_others();
    const job_found job = find_job(jobs);
    const uint32_t pairs = job.n > 0 ? state[job.block].pairs : 0;
    stage(job, data + job.entry, row + job.row, pairs, lane, f);
    __syncwarp();
    real y[lanes];
#pragma unroll
    for (int s = 0; s < lanes; ++s) y[s] = f.row[s] == lane ? 1 : 0;
    solve(f, pairs, y);
    __syncwarp();
#pragma unroll
    for (int s = 0; s < lanes; ++s) {
        const int r = f.row[s];
        if (r >= lane) f.l.at(r, lane) = f.l.at(lane, r) = y[s];
    }
    __syncwarp();
    if (lane >= job.n) return;
#pragma unroll
    for (int j = 0; j < lanes; ++j)
        if (j < job.n) inverse[job.entry + j * job.n + lane] = f.l.at(lane, j);
}

template <class real> struct inverses_of {
    const sd_batch_factors *x;
    real *inverse;
    template <int lanes> void run(sd_engine *e, const job_range<lanes> &jobs) const
    {
        const int64_t threads = jobs.count() * lanes;
        if (e->status || threads == 0) return;
        const dim3 blocks(static_cast<unsigned>((threads + JOB_BLOCK - 1) / JOB_BLOCK));
        launch_grid(e, "batch_invert", true, invert<lanes, real>, blocks, JOB_BLOCK, 0, jobs,
                    static_cast<const real *>(x->data), x->row, x->state, inverse);
    }
};

} /* namespace */

template <class real> void batch_invert(sd_engine *e, const sd_batch_factors *x, sd_batch *y)
{
    if (e->status) return;
    for_each_range(e, x->plan, inverses_of<real>{x, static_cast<real *>(y->data)});
}

BOTH(batch_invert)

} /* namespace sd_cuda */
