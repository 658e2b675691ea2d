/* Triangular solves with fronts: the launch that does one, and vectors on their way to it and back. */
#include "backend/cuda/front_backward.cuh"
#include "backend/cuda/front_forward.cuh"

namespace sd_cuda
{
namespace
{

/* ---- one launch ---- */

template <class real, int K> constexpr int shared_numbers()
{
    constexpr int one = SOLVE_WARPS * team<real, K, 1>::NUMBERS, other = team<real, K, SOLVE_WARPS>::NUMBERS;
    return one > other ? one : other;
}

/* Blocks [from, to) of the rows of a front that are those of a piece. */
struct block_range {
    int from, to;
};
template <class real>
__device__ inline int blocks_together(const front_state<real> &s, const solve_task &task)
{
    return ((s.rows + SQUARE - 1) / SQUARE + task.pieces - 1) / task.pieces;
}
template <class real>
__device__ inline block_range blocks_of(const front_state<real> &s, const solve_task &task)
{
    const int blocks = (s.rows + SQUARE - 1) / SQUARE, step = blocks_together(s, task);
    return {min(blocks, task.piece * step), min(blocks, (task.piece + 1) * step)};
}

/* Room is as planned: a front that delays gave more blocks of columns does without. */
template <class real>
__device__ inline rows_shared share_rows(const forest<real> &w, const front_state<real> &s,
                                         const solve_task &task)
{
    const int blocks = (s.rows + SQUARE - 1) / SQUARE, step = blocks_together(s, task);
    const int squares = (s.eliminated + SQUARE - 1) / SQUARE,
              units = (own_columns(w, task.front) + SQUARE - 1) / SQUARE;
    const int piece = (squares + step - 1) / step, pieces = (blocks + step - 1) / step;
    if (task.room < 0 || squares > units || piece >= pieces) return {0, 0, 0, 0, blocks};
    return {piece, pieces - piece, units, task.room + (piece - task.piece) * units, piece * step};
}

template <class real, int K, int WARPS>
__device__ void run_forward(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                            int32_t f, const front_state<real> &s, block_range blocks)
{
    if (s.delays > 0) await_delays(w, job, f);
    for (int k = blocks.from; k < blocks.to; ++k) forward_block(w, job, t, f, s, k);
}

template <class real, int K, int WARPS>
__device__ void run_backward(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                             int32_t f, const front_state<real> &s, block_range blocks,
                             const rows_shared &shared)
{
    for (int k = min(blocks.to, (s.eliminated + SQUARE - 1) / SQUARE) - 1; k >= blocks.from; --k)
        backward_block(w, job, t, f, s, k, shared);
}

/* A warp's chain. */
template <class real, int K>
__device__ void run_chain(const forest<real> &w, const solve_job<real> &job, const team<real, K, 1> &t,
                          int chain, bool forward)
{
    const int64_t from = job.tasks.begin[chain], count = job.tasks.begin[chain + 1] - from;
    for (int64_t k = 0; k < count; ++k) {
        const int32_t f = job.tasks.front[from + (forward ? k : count - 1 - k)];
        const front_state<real> s = front_at(w, f);
        const block_range all = {0, (s.rows + SQUARE - 1) / SQUARE};
        if (forward)
            run_forward(w, job, t, f, s, all);
        else
            run_backward(w, job, t, f, s, all, {0, 0, 0, 0, all.to});
    }
}

/* Blocks of a processor, at least: more warps have more numbers under way, and fewer registers. */
constexpr int blocks_at_once(int K)
{
    return K == 1 ? 3 : 2;
}

template <class real, int K>
__global__ void __launch_bounds__(SOLVE_THREADS, blocks_at_once(K))
    solve_fronts(forest<real> w, solve_job<real> job)
{
    __shared__ int taken;
    real *memory = static_cast<real *>(shared_room());
    const int warp = thread_index() / WARP, tasks = job.tasks.count;
    const int forward = job.parts & SD_SOLVE_FORWARD ? tasks : 0,
              all = forward + (job.parts & SD_SOLVE_BACKWARD ? tasks : 0);
    const team<real, K, 1> alone(0, memory + warp * team<real, K, 1>::NUMBERS);
    const team<real, K, SOLVE_WARPS> together(warp, memory);
    for (;;) {
        __syncthreads();
        if (thread_index() == 0)
            taken = static_cast<int>(atomicAdd(job.ticket, 1u) - static_cast<unsigned>(ABSENT));
        __syncthreads();
        const int number = taken;
        if (number >= all) return;
        const solve_task task = job.tasks.task[number < forward ? number : all - 1 - number];
        if (task.front < 0) {
            if (warp < task.piece) run_chain(w, job, alone, -1 - task.front + warp, number < forward);
            continue;
        }
        const front_state<real> s = front_at(w, task.front);
        const block_range blocks = blocks_of(s, task);
        if (number < forward) {
            run_forward(w, job, together, task.front, s, blocks);
            continue;
        }
        const rows_shared shared = share_rows(w, s, task);
        if (shared.count > 0 && task.piece >= shared.piece)
            multiply_piece(w, job, together, task.front, s, blocks.from, blocks.to, task.room);
        else
            run_backward(w, job, together, task.front, s, blocks, shared);
    }
}

/* ---- D alone, and vectors ---- */

/* x = D^-1 x, in place. A thread a pivot. */
template <class real>
__global__ void __launch_bounds__(BLOCK) divide_by_pivots(forest<real> w, int k, real *x)
{
    for (int f = static_cast<int>(blockIdx.x); f < w.fronts; f += static_cast<int>(gridDim.x)) {
        const front_state<real> s = w.front[f];
        for (int c = thread_index(); c < s.eliminated; c += BLOCK) {
            const pivot_row<real> p = invert_pivot(s.d, c);
            real *row = x + static_cast<int64_t>(s.variable[c]) * k;
            if (p.other < 0) continue; /* with the column before it */
            if (p.other == 0)
                for (int r = 0; r < k; ++r) row[r] *= p.own;
            if (p.other == 0) continue;
            const pivot_row<real> q = invert_pivot(s.d, c + 1);
            real *next = x + static_cast<int64_t>(s.variable[c + 1]) * k;
            for (int r = 0; r < k; ++r) {
                const real a = row[r], b = next[r];
                row[r] = p.own * a + p.beside * b;
                next[r] = q.own * b + q.beside * a;
            }
        }
    }
}

/* to[i * width + r] = from[i * stride + r]. */
template <class real>
__global__ void __launch_bounds__(BLOCK)
    copy_group(int64_t n, int width, const real *from, int64_t stride, real *to)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (k < n * width) publish(&to[k], from[k / width * stride + k % width]);
}

/* Between k columns of doubles and rows of k numbers. */
template <class real>
__global__ void __launch_bounds__(BLOCK) rows_of_columns(int64_t n, int k, const double *from, real *to)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < n * k) to[at] = static_cast<real>(from[at % k * n + at / k]);
}
template <class real>
__global__ void __launch_bounds__(BLOCK) columns_of_rows(int64_t n, int k, const real *from, double *to)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < n * k) to[at] = static_cast<double>(from[at % n * k + at / n]);
}

int64_t blocks_for(int64_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

/* ---- the host ---- */

/* What a solve works in, of all right-hand sides of a group. */
template <class real> int64_t workspace_bytes(const run_memory<real> *m, int width)
{
    const sd_tree *t = m->tree;
    const int64_t numbers = 2 * int64_t{t->n} + t->row_ptr[t->fronts] + int64_t{m->tasks.rooms} * SQUARE;
    return numbers * width * static_cast<int64_t>(sizeof(real)) +
           (t->fronts + int64_t{1}) * static_cast<int64_t>(sizeof(unsigned));
}

/* K right-hand sides. */
template <class real, int K>
void solve_group(sd_engine *e, const run_memory<real> *m, int parts, real *x, int64_t stride, void *workspace)
{
    const state *st = state_of(e);
    const on_device current(st->device);
    const sd_tree *t = m->tree;
    const int64_t n = t->n;
    const int bytes = shared_numbers<real, K>() * static_cast<int>(sizeof(real));
    real *y = static_cast<real *>(workspace), *z = y + n * K, *handed = z + n * K;
    real *products = handed + t->row_ptr[t->fronts] * K;
    unsigned *done = reinterpret_cast<unsigned *>(products + int64_t{m->tasks.rooms} * SQUARE * K);
    const solve_job<real> job = {m->tasks, m->order, x,    stride,           y,    z,
                                 handed,   products, done, done + t->fronts, parts};
    int blocks = 0;
    failed(e, cudaMemsetAsync(workspace, 0xff, static_cast<size_t>(workspace_bytes(m, K)), st->stream),
           "solve");
    failed(e, cudaFuncSetAttribute(solve_fronts<real, K>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
           "solve");
    failed(e,
           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve_fronts<real, K>, SOLVE_THREADS,
                                                         static_cast<size_t>(bytes)),
           "solve");
    if (e->status) return;
    if (!(parts & SD_SOLVE_FORWARD))
        launch(e, "solve", copy_group<real>, blocks_for(n * K), n, K, x, stride, y);
    blocks = min(blocks * st->processors, 2 * m->tasks.count);
    launch_grid(e, "solve", false, solve_fronts<real, K>, dim3(static_cast<unsigned>(blocks)), SOLVE_THREADS,
                bytes, m->w, job);
}

constexpr int WIDEST = 8; /* right-hand sides of a group */

template <class real>
saddle_status solve_columns(sd_engine *e, run_memory<real> *m, int parts, int64_t k, double *x, int64_t ldx)
{
    const int64_t n = m->w.n, bytes = n * static_cast<int64_t>(sizeof(double));
    const int most = static_cast<int>(k < 64 ? k : 64);
    solve_space *space = take_space(
        e, &m->spaces, bytes * most + n * most * static_cast<int64_t>(sizeof(real)) + solve_bytes(m, most),
        "solve");
    for (int64_t first = 0; first < k && !e->status; first += most) {
        const int count = static_cast<int>(k - first < most ? k - first : most);
        double *columns = static_cast<double *>(space->memory);
        real *rows = reinterpret_cast<real *>(columns + n * most);
        for (int r = 0; r < count; ++r) e->backend->upload(e, x + (first + r) * ldx, columns + r * n, bytes);
        launch(e, "solve", rows_of_columns<real>, blocks_for(n * count), n, count, columns, rows);
        solve_device(e, m, parts, count, rows, rows + n * most);
        launch(e, "solve", columns_of_rows<real>, blocks_for(n * count), n, count, rows, columns);
        for (int r = 0; r < count; ++r)
            e->backend->download(e, columns + r * n, x + (first + r) * ldx, bytes);
    }
    give_space(e, &m->spaces, space, "solve");
    return e->status;
}

} /* namespace */

template <class real> int64_t solve_bytes(const run_memory<real> *m, int k)
{
    return workspace_bytes(m, min(k, WIDEST));
}

template <class real>
void solve_device(sd_engine *e, const run_memory<real> *m, int parts, int k, real *x, void *workspace)
{
    const bool sweeps = parts & (SD_SOLVE_FORWARD | SD_SOLVE_BACKWARD);
    if (e->status || m->w.n == 0 || k == 0) return;
    int width = 0;
    for (int first = 0; first < k && sweeps && !e->status; first += width) {
        const int left = k - first;
        width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        switch (width) {
        case 8: solve_group<real, 8>(e, m, parts, x + first, k, workspace); break;
        case 4: solve_group<real, 4>(e, m, parts, x + first, k, workspace); break;
        case 2: solve_group<real, 2>(e, m, parts, x + first, k, workspace); break;
        default: solve_group<real, 1>(e, m, parts, x + first, k, workspace);
        }
    }
    if ((parts & SD_SOLVE_DIAGONAL) && !(parts & SD_SOLVE_BACKWARD))
        launch(e, "solve", divide_by_pivots<real>, 4 * state_of(e)->processors, m->w, k, x);
}

template void solve_device<double>(sd_engine *, const run_memory<double> *, int, int, double *, void *);
template void solve_device<float>(sd_engine *, const run_memory<float> *, int, int, float *, void *);
template int64_t solve_bytes<double>(const run_memory<double> *, int);
template int64_t solve_bytes<float>(const run_memory<float> *, int);

saddle_status solve_parts(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x, int64_t ldx)
{
    return IN_PRECISION(run, solve_columns, e, parts, k, x, ldx);
}

} /* namespace sd_cuda */
