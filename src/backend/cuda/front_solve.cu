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

template <class real, int K, int WARPS>
__device__ void run_forward(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                            int32_t f, const front_state<real> &s, block_range blocks)
{
    if (s.delays > 0) await_delays(w, job, t, f);
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
        const block_range all = {0, blocks_in(s)};
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

/* y of all groups = x. */
template <class real, int K>
__global__ void __launch_bounds__(BLOCK) copy_groups(int64_t n, solve_job<real> job)
{
    const int64_t all = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x, k = all % (n * K);
    const int group = static_cast<int>(all / (n * K)), column = group * K + static_cast<int>(k % K);
    if (group >= job.groups) return;
    displace(job.y, group * job.apart);
    publish(&job.y[k], column < job.columns ? job.x[k / K * job.stride + column] : 0);
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

/* Of a group when k are to be solved for. */
int group_width(int k)
{
    return k > 4 ? WIDEST : k > 2 ? 4 : k;
}

/* What a group works in; the ticket is behind all of them. */
template <class real> int64_t group_bytes(const run_memory<real> *m, int width)
{
    const sd_tree *t = m->tree;
    const int64_t numbers = 2 * int64_t{t->n} + t->row_ptr[t->fronts] + int64_t{m->tasks.rooms} * SQUARE;
    const int64_t bytes = numbers * width * static_cast<int64_t>(sizeof(real)) +
                          t->fronts * static_cast<int64_t>(sizeof(unsigned));
    return (bytes + 15) / 16 * 16;
}

/* k right-hand sides, in groups of K. */
template <class real, int K>
void solve_groups(sd_engine *e, const run_memory<real> *m, int parts, int k, real *x, char *workspace)
{
    const state *st = state_of(e);
    const on_device current(st->device);
    const sd_tree *t = m->tree;
    const int64_t n = t->n, apart = group_bytes(m, K);
    const int bytes = shared_numbers<real, K>() * static_cast<int>(sizeof(real)), groups = (k + K - 1) / K;
    solve_job<real> job = {};
    job.tasks = m->tasks;
    job.lists = m->lists;
    job.groups = groups;
    job.columns = k;
    job.apart = apart;
    job.x = x;
    job.stride = k;
    job.valid = min(K, k);
    job.y = reinterpret_cast<real *>(workspace);
    job.z = job.y + n * K;
    job.handed = job.z + n * K;
    job.products = job.handed + t->row_ptr[t->fronts] * K;
    job.done = reinterpret_cast<unsigned *>(job.products + int64_t{m->tasks.rooms} * SQUARE * K);
    job.ticket = reinterpret_cast<unsigned *>(workspace + groups * apart);
    job.parts = parts;
    int blocks = 0;
    failed(e, cudaMemsetAsync(workspace, 0xff, static_cast<size_t>(groups * apart + 16), st->stream),
           "solve");
    failed(e, cudaFuncSetAttribute(solve_fronts<real, K>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
           "solve");
    failed(e,
           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve_fronts<real, K>, SOLVE_THREADS,
                                                         static_cast<size_t>(bytes)),
           "solve");
    if (e->status) return;
    if (!(parts & SD_SOLVE_FORWARD))
        launch(e, "solve", copy_groups<real, K>, blocks_for(n * K * groups), n, job);
    blocks = static_cast<int>(min(int64_t{blocks} * st->processors, 2 * int64_t{m->tasks.count} * groups));
    launch_grid(e, "solve", false, solve_fronts<real, K>, dim3(static_cast<unsigned>(blocks)), SOLVE_THREADS,
                bytes, m->w, job);
}

template <class real>
saddle_status solve_columns(sd_engine *e, run_memory<real> *m, int parts, int64_t k, double *x, int64_t ldx)
{
    const int64_t n = m->w.n, bytes = n * static_cast<int64_t>(sizeof(double));
    const int most = columns_at_once(m, k);
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
    const int width = group_width(k);
    return (k + width - 1) / width * group_bytes(m, width) + 16;
}

/* SOLVE_COLUMNS, but in memory that is not much beside the factors. */
template <class real> int columns_at_once(const run_memory<real> *m, int64_t k)
{
    int most = SOLVE_COLUMNS;
    while (most > WIDEST && solve_bytes(m, most) > max(int64_t{1} << 30, m->heap_bytes / 2)) most /= 2;
    return static_cast<int>(k < most ? k : most);
}

template <class real>
void solve_device(sd_engine *e, const run_memory<real> *m, int parts, int k, real *x, void *workspace)
{
    char *memory = static_cast<char *>(workspace);
    if (e->status || m->w.n == 0 || k == 0) return;
    if (parts & (SD_SOLVE_FORWARD | SD_SOLVE_BACKWARD)) {
        switch (group_width(k)) {
        case 1: solve_groups<real, 1>(e, m, parts, k, x, memory); break;
        case 2: solve_groups<real, 2>(e, m, parts, k, x, memory); break;
        case 4: solve_groups<real, 4>(e, m, parts, k, x, memory); break;
        default: solve_groups<real, WIDEST>(e, m, parts, k, x, memory);
        }
    }
    if ((parts & SD_SOLVE_DIAGONAL) && !(parts & SD_SOLVE_BACKWARD))
        launch(e, "solve", divide_by_pivots<real>, 4 * state_of(e)->processors, m->w, k, x);
}

template int columns_at_once<double>(const run_memory<double> *, int64_t);
template int columns_at_once<float>(const run_memory<float> *, int64_t);
template void solve_device<double>(sd_engine *, const run_memory<double> *, int, int, double *, void *);
template void solve_device<float>(sd_engine *, const run_memory<float> *, int, int, float *, void *);
template int64_t solve_bytes<double>(const run_memory<double> *, int);
template int64_t solve_bytes<float>(const run_memory<float> *, int);

saddle_status solve_parts(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x, int64_t ldx)
{
    return IN_PRECISION(run, solve_columns, e, parts, k, x, ldx);
}

} /* namespace sd_cuda */
