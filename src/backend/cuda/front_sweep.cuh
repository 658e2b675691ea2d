/*
 * The launch that does a solve: front_solve.cuh. It is compiled for each kind of presolve in a file of its
 * own, front_sweep_*.cu.
 */
#pragma once

#include "backend/cuda/front_backward.cuh"
#include "backend/cuda/front_forward.cuh"

namespace sd_cuda
{
namespace
{

template <class real, int K> constexpr int shared_numbers()
{
    constexpr int one = SOLVE_WARPS * team<real, K, 1>::NUMBERS, other = team<real, K, SOLVE_WARPS>::NUMBERS;
    return one > other ? one : other;
}

/* Blocks [from, to) of the rows of a front that are those of a piece: as many as of any other, or one more.
 */
struct block_range {
    int from, to;
};
template <class real> __device__ inline int blocks_in(const front_state<real> &s)
{
    return (s.rows + SQUARE - 1) / SQUARE;
}
template <class real>
__device__ inline int first_block(const front_state<real> &s, const solve_task &task, int piece)
{
    return static_cast<int>(int64_t{blocks_in(s)} * piece / task.pieces);
}
template <class real>
__device__ inline block_range blocks_of(const front_state<real> &s, const solve_task &task)
{
    return {first_block(s, task, task.piece), first_block(s, task, task.piece + 1)};
}

/* Room is as planned: a front that delays gave more blocks of columns does without. */
template <class real>
__device__ inline rows_shared share_rows(const forest<real> &w, const front_state<real> &s,
                                         const solve_task &task)
{
    const int blocks = blocks_in(s), squares = (s.eliminated + SQUARE - 1) / SQUARE,
              units = (own_columns(w, task.front) + SQUARE - 1) / SQUARE;
    const int piece = static_cast<int>((int64_t{squares} * task.pieces + blocks - 1) / blocks);
    if (task.room < 0 || squares > units || piece >= task.pieces) return {0, 0, 0, 0, blocks};
    return {piece, task.pieces - piece, units, task.room + (piece - task.piece) * units,
            first_block(s, task, piece)};
}

template <int MODE, class real, int K, int WARPS>
__device__ void run_forward(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                            int32_t f, const front_state<real> &s, block_range blocks)
{
    if (s.delays > 0) await_delays(w, job, t, f);
    for (int k = blocks.from; k < blocks.to; ++k) forward_block<MODE>(w, job, t, f, s, k);
}

template <int MODE, class real, int K, int WARPS>
__device__ void run_backward(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                             int32_t f, const front_state<real> &s, block_range blocks,
                             const rows_shared &shared)
{
    for (int k = min(blocks.to, (s.eliminated + SQUARE - 1) / SQUARE) - 1; k >= blocks.from; --k)
        backward_block<MODE>(w, job, t, f, s, k, shared);
}

/* A warp's chain. */
template <int MODE, class real, int K>
__device__ void run_chain(const forest<real> &w, const solve_job<real> &job, const team<real, K, 1> &t,
                          int chain, bool forward)
{
    const int64_t from = job.tasks.begin[chain], count = job.tasks.begin[chain + 1] - from;
    for (int64_t k = 0; k < count; ++k) {
        const int32_t f = job.tasks.front[from + (forward ? k : count - 1 - k)];
        const front_state<real> s = front_at(w, f);
        const block_range all = {0, blocks_in(s)};
        if (forward)
            run_forward<MODE>(w, job, t, f, s, all);
        else
            run_backward<MODE>(w, job, t, f, s, all, {0, 0, 0, 0, all.to});
    }
}

/* Blocks of a processor, at least: more warps have more numbers under way, and fewer registers. */
constexpr int blocks_at_once(int K)
{
    return K == 1 ? 3 : 2;
}

template <int MODE, class real, int K>
__global__ void __launch_bounds__(SOLVE_THREADS, blocks_at_once(K))
    solve_fronts(forest<real> w, solve_job<real> all_groups)
{
    __shared__ int taken;
    real *memory = static_cast<real *>(shared_room());
    const int warp = thread_index() / WARP, tasks = all_groups.tasks.count;
    const int forward = all_groups.parts & SD_SOLVE_FORWARD ? tasks : 0,
              all = forward + (all_groups.parts & SD_SOLVE_BACKWARD ? tasks : 0);
    const team<real, K, 1> alone(0, memory + warp * team<real, K, 1>::NUMBERS);
    const team<real, K, SOLVE_WARPS> together(warp, memory);
    for (;;) {
        __syncthreads();
        if (thread_index() == 0)
            taken = static_cast<int>(atomicAdd(all_groups.ticket, 1u) - static_cast<unsigned>(ABSENT));
        __syncthreads();
        const int number = taken / all_groups.groups;
        if (number >= all) return;
        const solve_job<real> job = job_of_group<K>(all_groups, taken % all_groups.groups);
        const solve_task task = job.tasks.task[number < forward ? number : all - 1 - number];
        if (task.front < 0) {
            if (warp < task.piece) run_chain<MODE>(w, job, alone, -1 - task.front + warp, number < forward);
            continue;
        }
        const front_state<real> s = front_at(w, task.front);
        const block_range blocks = blocks_of(s, task);
        if (number < forward) {
            run_forward<MODE>(w, job, together, task.front, s, blocks);
            continue;
        }
        const rows_shared shared = share_rows(w, s, task);
        if (shared.count > 0 && task.piece >= shared.piece)
            multiply_piece(w, job, together, task.front, s, blocks.from, blocks.to, task.room);
        else
            run_backward<MODE>(w, job, together, task.front, s, blocks, shared);
    }
}

template <int MODE, class real, int K>
void launch_sweep(sd_engine *e, const run_memory<real> *m, const solve_job<real> &job)
{
    const state *st = state_of(e);
    const on_device current(st->device);
    const int bytes = shared_numbers<real, K>() * static_cast<int>(sizeof(real));
    int blocks = 0;
    failed(
        e,
        cudaFuncSetAttribute(solve_fronts<MODE, real, K>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "solve");
    failed(e,
           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve_fronts<MODE, real, K>, SOLVE_THREADS,
                                                         static_cast<size_t>(bytes)),
           "solve");
    if (e->status) return;
    blocks =
        static_cast<int>(min(int64_t{blocks} * st->processors, 2 * int64_t{m->tasks.count} * job.groups));
    launch_grid(e, "solve", false, solve_fronts<MODE, real, K>, dim3(static_cast<unsigned>(blocks)),
                SOLVE_THREADS, bytes, m->w, job);
}

} /* namespace */

template <int MODE, class real>
void sweep(sd_engine *e, const run_memory<real> *m, int width, const solve_job<real> &job)
{
    switch (width) {
    case 1: launch_sweep<MODE, real, 1>(e, m, job); break;
    case 2: launch_sweep<MODE, real, 2>(e, m, job); break;
    case 4: launch_sweep<MODE, real, 4>(e, m, job); break;
    default: launch_sweep<MODE, real, WIDEST>(e, m, job);
    }
}

} /* namespace sd_cuda */
