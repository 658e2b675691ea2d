/*
 * Many systems of one pattern: what systems_*.cu share. See systems_run.h.
 *
 * A block runs a group of systems: thread t works for system t % GROUP, together with the threads t + GROUP,
 * t + 2 GROUP and so on, its workers. Number k of a system is at [k GROUP + its place], so that the numbers
 * that a warp touches lie in pieces of 64 bytes.
 */
#pragma once

#include "backend/cuda/front_memory.cuh"

extern "C" {
#include "backend/systems_run.h"
}

namespace sd_cuda
{

constexpr int GROUP = SD_SYSTEM_GROUP;
constexpr int SYSTEM_THREADS = GROUP * SD_WORKERS_MOST; /* of a block, at most */

struct systems_steps {
    int count;
    const sd_step *step;
};

/* The plan in device memory. */
struct systems_plan {
    int n, workers, entries, nnz, matchings, largest_exponent;
    systems_steps factor, forward, backward;
    const int32_t *start, *pivot;
    const sd_term *place;
    const int32_t *row_ptr;
    const sd_term *row;
    const int32_t *matched, *position;
    const double *scale, *random;
    const int32_t *source_ptr, *source; /* NULL: none are needed */
};

/* Of all systems, group by group. */
struct systems_factors {
    double *a, *l, *inverse;
    double *norm; /* of A, and 2^exponent times the scaled matrix is A, scaled: for each system */
    int *exponent;
    sd_system_outcome *outcome;
};

/* A thread's place. */
struct system_place {
    int lane, worker, workers;

    __device__ system_place()
        : lane(static_cast<int>(threadIdx.x) % GROUP), worker(static_cast<int>(threadIdx.x) / GROUP),
          workers(static_cast<int>(blockDim.x) / GROUP)
    {
    }
};

__device__ inline double larger_of(double a, double b)
{
    return a > b ? a : b;
}

/* The largest and the sums of what the workers of a system have, for all of them. By the whole block. */
template <int MOST, int SUMS>
__device__ inline void combine_workers(double (&most)[MOST], double (&sum)[SUMS])
{
    constexpr int WARPS = SYSTEM_THREADS / WARP;
    __shared__ double room[MOST + SUMS][WARPS][GROUP];
    const int warp = static_cast<int>(threadIdx.x) / WARP, place = static_cast<int>(threadIdx.x) % WARP;
    const int warps = static_cast<int>(blockDim.x) / WARP, lane = place % GROUP;
    for (int step = GROUP; step < WARP; step *= 2) {
        for (int k = 0; k < MOST; ++k)
            most[k] = larger_of(most[k], __shfl_xor_sync(ALL_LANES, most[k], step));
        for (int k = 0; k < SUMS; ++k) sum[k] += __shfl_xor_sync(ALL_LANES, sum[k], step);
    }
    if (place < GROUP) {
        for (int k = 0; k < MOST; ++k) room[k][warp][lane] = most[k];
        for (int k = 0; k < SUMS; ++k) room[MOST + k][warp][lane] = sum[k];
    }
    __syncthreads();
    for (int k = 0; k < MOST; ++k) {
        most[k] = room[k][0][lane];
        for (int t = 1; t < warps; ++t) most[k] = larger_of(most[k], room[k][t][lane]);
    }
    for (int k = 0; k < SUMS; ++k) {
        sum[k] = room[MOST + k][0][lane];
        for (int t = 1; t < warps; ++t) sum[k] += room[MOST + k][t][lane];
    }
    __syncthreads();
}

/* Number k of the system whose first number is *v. */
__device__ inline double &at(double *v, int k)
{
    return v[static_cast<int64_t>(k) * GROUP];
}
__device__ inline double at(const double *v, int k)
{
    return v[static_cast<int64_t>(k) * GROUP];
}

/* The steps of a worker, of which the next ones are loaded before they are needed. */
class step_reader
{
    const sd_step *from;
    int left, stride;
    sd_step next;

    __device__ sd_step load()
    {
        sd_step s = {};
        if (left > 0) s = *from;
        from += stride;
        --left;
        return s;
    }

  public:
    __device__ step_reader(const systems_steps &steps, const system_place &p)
        : from(steps.step + p.worker), left(steps.count), stride(p.workers)
    {
        next = load();
    }
    /* The next one, once the one after it is on its way. */
    __device__ sd_step take()
    {
        const sd_step now = next;
        next = load();
        return now;
    }
    __device__ const sd_step &ahead() const
    {
        return next;
    }
};

struct systems_rule {
    int rule;
    double limit, small, regularise, suspect, stale, grown, misscaled;
    const int8_t *signs;
};

void launch_system_factors(sd_engine *e, const systems_plan &w, const systems_factors &f, int64_t count,
                           const void *values, int64_t stride, bool single, const systems_rule &rule);
void launch_system_solves(sd_engine *e, const systems_plan &w, const systems_factors &f, int64_t count,
                          const double *b, int64_t ldb, double *x, int64_t ldx, const sd_systems_goal &goal,
                          sd_system_outcome *outcome);

/* Bytes of shared memory that a kernel may have beside its own variables; numbers that do not fit stay in the
 * device's memory. */
constexpr int64_t SHARED_MOST = 200 << 10;

/* What is beyond the usual has to be asked for. */
template <class... Parameters> void allow_shared(sd_engine *e, void (*kernel)(Parameters...), int bytes)
{
    const on_device current(state_of(e)->device);
    if (bytes > 0 && !failed(e, current.error, "shared memory"))
        failed(e, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
               "shared memory");
}

/* Blocks for so many systems: not more than have a workspace. */
inline int system_blocks(const sd_engine *e, int64_t count)
{
    const int64_t groups = (count + GROUP - 1) / GROUP,
                  most = 16 * static_cast<int64_t>(state_of(e)->processors);
    return static_cast<int>(groups < most ? groups : most);
}

} /* namespace sd_cuda */
