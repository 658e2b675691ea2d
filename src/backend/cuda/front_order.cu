/*
 * In which order fronts hand up: rows of a parent are in the order of its pivots, which only the
 * factorization knows. Number i of what a front hands up stands at slot[i], so that the rows of the parent
 * that it is for ascend: they are target[slot[i]].
 */
#include "backend/cuda/front_large.cuh"
#include "backend/cuda/front_solve.cuh"

namespace sd_cuda
{
namespace
{

constexpr int THREADS = 128;
constexpr int WORDS = 1024; /* of a window of the parent's columns, a bit each */

/* The column that each position has become in its own front. */
template <class real> __global__ void __launch_bounds__(THREADS) find_columns(forest<real> w, int32_t *column)
{
    if (is_stopped(w)) return; /* there are no factors */
    for (int f = static_cast<int>(blockIdx.x); f < w.fronts; f += static_cast<int>(gridDim.x)) {
        const front_state<real> s = w.front[f];
        for (int c = thread_index(); c < s.columns; c += THREADS)
            if (s.variable[c] >= w.first[f]) column[s.variable[c]] = c;
    }
}

struct window {
    unsigned bits[WORDS];
    int before[WORDS]; /* bits in words before each */
    int sums[THREADS / WARP];
};

/* before, and the number of all bits. */
__device__ int count_bits(window *m, int words)
{
    const int lane = thread_index() % WARP, warp = thread_index() / WARP;
    int all = 0;
    for (int first = 0; first < words; first += THREADS) {
        const int k = first + thread_index(), own = k < words ? __popc(m->bits[k]) : 0;
        int sum = own;
        for (int step = 1; step < WARP; step *= 2) {
            const int other = __shfl_up_sync(ALL_LANES, sum, static_cast<unsigned>(step));
            if (lane >= step) sum += other;
        }
        if (lane == WARP - 1) m->sums[warp] = sum;
        __syncthreads();
        for (int k2 = 0; k2 < warp; ++k2) sum += m->sums[k2];
        if (k < words) m->before[k] = all + sum - own;
        for (int k2 = 0; k2 < THREADS / WARP; ++k2) all += m->sums[k2];
        __syncthreads();
    }
    return all;
}

/* Slots of the numbers that a front hands to its parent's own columns, by columns [from, from + 32 WORDS) of
 * them. */
template <class real>
__device__ int order_window(const forest<real> &w, window *m, int32_t f, int count, int from, int at,
                            const solve_order &order)
{
    const int64_t first = w.row_ptr[f];
    const int end = w.front[w.parent[f]].columns, words = min(WORDS, (end - from + 31) / 32);
    for (int k = thread_index(); k < words; k += THREADS) m->bits[k] = 0;
    __syncthreads();
    for (int i = thread_index(); i < count; i += THREADS) {
        const int bit = order.column[w.rows[first + i]] - from;
        if (bit >= 0 && bit < 32 * words) atomicOr(&m->bits[bit / 32], 1u << bit % 32);
    }
    __syncthreads();
    const int all = count_bits(m, words);
    for (int i = thread_index(); i < count; i += THREADS) {
        const int bit = order.column[w.rows[first + i]] - from;
        if (bit < 0 || bit >= 32 * words) continue;
        const int slot = at + m->before[bit / 32] + __popc(m->bits[bit / 32] & ((1u << bit % 32) - 1));
        order.slot[first + i] = slot;
        order.target[first + slot] = from + bit;
    }
    __syncthreads();
    return at + all;
}

template <class real>
__global__ void __launch_bounds__(THREADS) order_fronts(forest<real> w, solve_order order)
{
    __shared__ window m;
    if (is_stopped(w)) return;
    for (int f = static_cast<int>(blockIdx.x); f < w.fronts; f += static_cast<int>(gridDim.x)) {
        const int32_t parent = w.parent[f];
        if (parent < 0) continue;
        const int64_t first = w.row_ptr[f];
        const int all = rows_below(w, f), own = own_columns(w, parent), delays = w.front[parent].delays;
        const int count = find_first(w.place + first, all, own);
        for (int from = 0, at = 0; at < count; from += 32 * WORDS)
            at = order_window(w, &m, f, count, from, at, order);
        for (int i = count + thread_index(); i < all; i += THREADS) {
            order.slot[first + i] = i;
            order.target[first + i] = w.place[first + i] + delays;
        }
        __syncthreads();
    }
}

} /* namespace */

template <class real> void prepare_solves(sd_engine *e, const run_memory<real> *m)
{
    const int blocks = min(m->w.fronts, 16 * state_of(e)->processors);
    launch_with(e, "order of solves", find_columns<real>, blocks, THREADS, m->w, m->order.column);
    launch_with(e, "order of solves", order_fronts<real>, blocks, THREADS, m->w, m->order);
    invert_squares(e, m, -1);
}

template void prepare_solves<double>(sd_engine *, const run_memory<double> *);
template void prepare_solves<float>(sd_engine *, const run_memory<float> *);

} /* namespace sd_cuda */
