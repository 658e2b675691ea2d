/*
 * Reductions: what vectors.cu and basis.cu share of them.
 *
 * A reduction is cut into chunks, a block of threads each: thread t takes entries t, t + BLOCK, ... of its
 * chunk in that order, then a tree over the block. The block that finishes last adds the chunks' results,
 * thread t those of chunks t, t + BLOCK, ..., then the same tree. It writes them into host memory, where the
 * host looks for them, and into the device's, for the kernels that use them.
 */
#pragma once

#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{

/* Chunks are as long as SD_CHUNK_LEAST, or twice, four or eight times that where there would be more than
 * CHUNKS: so many are at work at once, and soon summed. */
constexpr int CHUNKS = 512, GRID = 65535; /* of a grid's second dimension */

inline int64_t chunk_length(int64_t n)
{
    int64_t length = SD_CHUNK_LEAST;
    while (n > CHUNKS * length && length < 8 * SD_CHUNK_LEAST) length *= 2;
    while (n > GRID * length) length *= 2;
    return length;
}

/* How two partial results become one. */
struct addition {
    static __device__ double join(double a, double b)
    {
        return a + b;
    }
};

/* Joins the values of a block's threads: thread 0 has the results. */
template <class J, int m> __device__ inline void join_block(double (&value)[m])
{
    __shared__ double of_warp[m][BLOCK / WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    __syncthreads(); /* of_warp may still be read from the time before */
#pragma unroll
    for (int k = 0; k < m; ++k) {
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2)
            value[k] = J::join(value[k], __shfl_down_sync(ALL_LANES, value[k], step));
        if (lane == 0) of_warp[k][warp] = value[k];
    }
    __syncthreads();
    if (warp > 0) return;
#pragma unroll
    for (int k = 0; k < m; ++k) {
        value[k] = of_warp[k][lane % (BLOCK / WARP)];
#pragma unroll
        for (int step = BLOCK / WARP / 2; step > 0; step /= 2)
            value[k] = J::join(value[k], __shfl_down_sync(ALL_LANES, value[k], step));
    }
}

/* True in all threads of the block that is the last of `blocks` to call this with the ticket. What thread 0
 * of each wrote before is then visible; the ticket is 0 again. */
__device__ inline bool is_last_block(unsigned *ticket, unsigned blocks)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1) == blocks - 1;
        if (last) {
            *ticket = 0;
            __threadfence();
        }
    }
    __syncthreads();
    return last;
}

/* What a reduction leaves: `part` has room for its numbers of every chunk, `done` is the host's. */
struct outcome {
    double *part;
    counters *counter;
    expected result;
    unsigned long long *done;

    outcome(sd_engine *e, void *room, int count, double *place)
        : part(static_cast<double *>(room)), counter(state_of(e)->counter), result(expect(e, count, place)),
          done(&state_of(e)->result->done)
    {
    }
};

/* What the block of a chunk has in thread 0 after join_block, `blocks` of them in `part`; whether it was the
 * last, and then what all have, joined, in thread 0. */
template <class J, int m>
__device__ inline bool join_chunks(double (&sum)[m], double *part, unsigned chunk, unsigned chunks,
                                   unsigned *ticket)
{
    if (threadIdx.x == 0)
        for (int k = 0; k < m; ++k) part[k * chunks + chunk] = sum[k];
    if (!is_last_block(ticket, chunks)) return false;
#pragma unroll
    for (int k = 0; k < m; ++k) {
        sum[k] = 0;
        for (unsigned c = threadIdx.x; c < chunks; c += BLOCK)
            sum[k] = J::join(sum[k], __ldcg(part + k * chunks + c));
    }
    join_block<J, m>(sum);
    return true;
}

/* Tells the host that all results of a reduction are there: one thread, after all that wrote them. */
__device__ inline void tell(const outcome &to)
{
    __threadfence_system();
    *static_cast<volatile unsigned long long *>(to.done) = to.result.number;
}

/* The end of a kernel whose blocks are the chunks of a reduction: sum is what a thread has. */
template <class J, int m> __device__ inline void finish(double (&sum)[m], const outcome &to)
{
    join_block<J, m>(sum);
    if (!join_chunks<J, m>(sum, to.part, blockIdx.x, gridDim.x, &to.counter->ticket)) return;
    if (threadIdx.x > 0) return;
    for (int k = 0; k < m; ++k) to.result.there[k] = to.result.here[k] = sum[k];
    tell(to);
}

} /* namespace sd_cuda */
