/* L^-1 of a block of rows of a front: front_solve.cuh. */
#pragma once

#include "backend/cuda/front_solve.cuh"

namespace sd_cuda
{

/* The first of `count` ascending numbers that is not below `least`. By a warp. */
__device__ inline int find_first_by_warp(const int32_t *ascending, int count, int least)
{
    int low = 0;
    while (count > 0) {
        const int step = (count + WARP - 1) / WARP, at = thread_index() % WARP * step;
        const unsigned below = __ballot_sync(ALL_LANES, at < count && ascending[low + at] < least);
        if (below == 0) return low;
        const int last = __popc(below) - 1; /* of the samples that are below */
        low += last * step + 1;
        count = min(step - 1, count - last * step - 1);
    }
    return low;
}

/* Blocks of rows in which a front hands columns up that it did not eliminate. */
template <class real> __device__ inline unsigned delayed_blocks(const front_state<real> &s)
{
    return static_cast<unsigned>((s.columns - 1) / SQUARE - s.eliminated / SQUARE + 1);
}

/* Until children have handed up all columns that they did not eliminate. */
template <class real>
__device__ void await_delays(const forest<real> &w, const solve_job<real> &job, int32_t f)
{
    for (int64_t k = w.child_ptr[f]; k < w.child_ptr[f + 1]; ++k) {
        const front_state<real> &c = w.front[w.child[k]];
        if (c.columns == c.eliminated) continue;
        const unsigned all = delayed_blocks(c) + static_cast<unsigned>(ABSENT);
        while (load_acquire(&job.done[w.child[k]]) != all) nap();
    }
}

/* What a front below hands up. */
struct handed_rows {
    long long from;
    int count;
};

/* That to rows base .. base + SQUARE - 1 of the front above. By a warp, which has `to` to itself. */
template <int K, class real>
__device__ void add_handed(const solve_job<real> &job, const handed_rows &child, int base, real *to)
{
    const int32_t *target = job.order.target + child.from;
    int i = (base > 0 ? find_first_by_warp(target, child.count, base) : 0) + thread_index() % WARP;
    for (;; i += WARP) {
        const int row = i < child.count ? target[i] - base : SQUARE;
        if (row < SQUARE)
#pragma unroll
            for (int r = 0; r < K; ++r) to[row * K + r] += await(&job.handed[(child.from + i) * K + r]);
        if (__any_sync(ALL_LANES, row >= SQUARE)) break;
    }
    __syncwarp();
}

/* All that children hand up, of which a warp takes every WARPS-th; their places are looked up by all lanes at
 * once. */
template <class real, int K, int WARPS>
__device__ void add_children(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                             int32_t f, int base)
{
    const int64_t end = w.child_ptr[f + 1];
    for (int64_t first = w.child_ptr[f] + t.warp; first < end; first += WARPS * WARP) {
        const int64_t at = first + WARPS * t.lane;
        handed_rows own = {0, 0};
        if (at < end) {
            const int32_t child = w.child[at];
            own.from = w.row_ptr[child];
            own.count = static_cast<int>(w.row_ptr[child + 1] - own.from);
        }
        for (int k = 0; k < WARP && first + WARPS * k < end; ++k) {
            const handed_rows child = {__shfl_sync(ALL_LANES, own.from, k),
                                       __shfl_sync(ALL_LANES, own.count, k)};
            add_handed<K>(job, child, base, t.own());
        }
    }
}

/* own = x (of the first warp) and what children hand up, less the product with all columns before the block.
 */
template <class real, int K, int WARPS>
__device__ void gather_rows(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                            int32_t f, const front_state<real> &s, int base)
{
    real *own = t.own(), acc[2][K] = {};
    for (int k = t.lane; k < SQUARE * K; k += WARP) {
        const bool here = t.warp == 0 && base + k / K < s.columns;
        own[k] = here ? load_relaxed(&job.x[t.variable[k / K] * job.stride + k % K]) : 0;
    }
    __syncwarp();
    add_children(w, job, t, f, base);
    const int row = base + 2 * t.lane, end = min(s.eliminated, base);
    for (int c = GROUP * t.warp; c < end; c += GROUP * WARPS) {
        const int columns = min(GROUP, end - c);
        typename words<real>::two l[GROUP];
        load_rows(s.panel + row + static_cast<int64_t>(c) * s.ld, s.ld, columns, row < s.ld, l);
        for (int k = t.lane; k < columns * K; k += WARP)
            t.few[k] = await(&job.y[static_cast<int64_t>(s.variable[c + k / K]) * K + k % K]);
        __syncwarp();
        multiply_rows(l, t.few, columns, acc);
        __syncwarp();
    }
#pragma unroll
    for (int r = 0; r < K; ++r) {
        own[2 * t.lane * K + r] -= acc[0][r];
        own[(2 * t.lane + 1) * K + r] -= acc[1][r];
    }
}

/* second += the inverse of the square, without its diagonal, times vector. */
template <class real, int K, int WARPS>
__device__ void solve_square(const team<real, K, WARPS> &t, const front_state<real> &s, int base, int width)
{
    for (int first = GROUP * t.warp; first < width; first += GROUP * WARPS) {
        column_sums<real, K> sums;
        sums.load([&](int i, int c) { return square_at(t, s, base, i, first + c, width); });
        sums.multiply(t.vector);
        sums.finish(1, t.second + first * K);
    }
}

/* Rows of the block behind the eliminated ones, less the product with its own columns. */
template <class real, int K, int WARPS>
__device__ void subtract_own(const team<real, K, WARPS> &t, const front_state<real> &s, int base, int width)
{
    real *own = t.own(), acc[2][K] = {};
    const int row = base + 2 * t.lane;
    for (int c = GROUP * t.warp; c < width; c += GROUP * WARPS) {
        const int columns = min(GROUP, width - c);
        typename words<real>::two l[GROUP];
        load_rows(s.panel + row + static_cast<int64_t>(base + c) * s.ld, s.ld, columns,
                  row < s.ld && 2 * t.lane + 1 >= width, l);
        multiply_rows(l, t.second + c * K, columns, acc);
    }
#pragma unroll
    for (int r = 0; r < K; ++r) {
        own[2 * t.lane * K + r] = acc[0][r];
        own[(2 * t.lane + 1) * K + r] = acc[1][r];
    }
    t.sync();
    for (int k = width * K + t.rank(); k < SQUARE * K; k += team<real, K, WARPS>::SIZE)
        t.vector[k] -= t.sum_at(k);
    t.sync();
}

/* The rows of the block that are not eliminated go to the parent. */
template <class real, int K, int WARPS>
__device__ void hand_up(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                        int32_t f, const front_state<real> &s, int base, int width)
{
    const int end = min(SQUARE, s.rows - base);
    const int64_t first = w.row_ptr[f];
    for (int k = width * K + t.rank(); k < end * K; k += team<real, K, WARPS>::SIZE) {
        const int row = base + k / K;
        if (row < s.columns)
            job.x[t.variable[k / K] * job.stride + k % K] = t.vector[k];
        else
            publish(&job.handed[(first + job.order.slot[first + row - s.columns]) * K + k % K], t.vector[k]);
    }
    if (base + width >= s.columns || width >= SQUARE) return;
    t.sync();
    if (t.rank() > 0) return;
    __threadfence();
    atomicAdd(&job.done[f], 1u);
}

template <class real, int K, int WARPS>
__device__ void forward_block(const forest<real> &w, const solve_job<real> &job,
                              const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s, int block)
{
    const int base = block * SQUARE, width = max(0, min(SQUARE, s.eliminated - base));
    const int rows = min(SQUARE, s.rows - base);
    constexpr int SIZE = team<real, K, WARPS>::SIZE;
    fetch_square(t, s, base, width);
    t.sync();
    gather_rows(w, job, t, f, s, base);
    await_square(t);
    t.sync();
    for (int k = t.rank(); k < SQUARE * K; k += SIZE)
        t.vector[k] = t.second[k] = k < rows * K ? t.sum_at(k) : 0;
    t.sync();
    if (width > 0) {
        solve_square(t, s, base, width);
        t.sync();
        for (int k = t.rank(); k < width * K; k += SIZE) {
            const int64_t at = t.variable[k / K];
            publish(&job.y[at * K + k % K], t.second[k]);
            if (!(job.parts & SD_SOLVE_BACKWARD)) job.x[at * job.stride + k % K] = t.second[k];
        }
        if (width < rows) subtract_own(t, s, base, width);
    }
    if (width < rows) hand_up(w, job, t, f, s, base, width);
    t.sync();
}

} /* namespace sd_cuda */
