/* L^-1 of a block of rows of a front: front_solve.cuh. */
#pragma once

#include "backend/cuda/front_solve.cuh"

namespace sd_cuda
{

/* Blocks of rows in which a front hands columns up that it did not eliminate. */
template <class real> __device__ inline unsigned delayed_blocks(const front_state<real> &s)
{
    return static_cast<unsigned>((s.columns - 1) / SQUARE - s.eliminated / SQUARE + 1);
}

/* Until children have handed up all columns that they did not eliminate. */
template <class real, int K, int WARPS>
__device__ void await_delays(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                             int32_t f)
{
    for (int64_t k = w.child_ptr[f] + t.rank(); k < w.child_ptr[f + 1]; k += team<real, K, WARPS>::SIZE) {
        const front_state<real> &c = w.front[w.child[k]];
        if (c.columns == c.eliminated) continue;
        const unsigned all = delayed_blocks(c) + static_cast<unsigned>(ABSENT);
        while (load_acquire(&job.done[w.child[k]]) != all) nap();
    }
    t.sync();
}

/* One of a front's rows and what is to be added to it. */
template <class real> struct gathered {
    real sum;
    uint32_t begin, end; /* of the list of what children hand up */
};

/* It begins as x, for columns, those that children could not eliminate among them: these have no list. */
template <class real>
__device__ inline gathered<real> begin_row(const forest<real> &w, const solve_job<real> &job, int32_t f,
                                           const front_state<real> &s, int row, int r)
{
    gathered<real> g = {0, 0, 0};
    const int32_t first = w.first[f];
    int place = row < s.rows ? row - s.columns + w.first[f + 1] - first : -1;
    if (row < s.columns) {
        const int32_t variable = s.variable[row];
        place = variable - first;
        if (r < job.valid) g.sum = load_relaxed(&job.x[variable * job.stride + r]);
    }
    if (place >= 0) {
        const uint32_t *at = job.lists.ptr + first + w.row_ptr[f] + place;
        g.begin = at[0];
        g.end = at[1];
    }
    return g;
}

/* vector = x and what children hand up, in their order. Each thread has its numbers to itself. */
template <class real, int K, int WARPS>
__device__ void gather_children(const forest<real> &w, const solve_job<real> &job,
                                const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s,
                                int base)
{
    typedef team<real, K, WARPS> T;
    constexpr int E = T::EACH < 2 ? 1 : 2, DEEP = 4; /* numbers, and children of each, at once */
    for (int k = t.rank(); k < SQUARE * K; k += E * T::SIZE) {
        gathered<real> g[E];
#pragma unroll
        for (int e = 0; e < E; ++e) {
            const int i = k + e * T::SIZE;
            g[e] = begin_row(w, job, f, s, i < SQUARE * K ? base + i / K : s.rows, i % K);
        }
        for (bool more = true; more;) {
            real v[E * DEEP];
            uint32_t from[E * DEEP];
#pragma unroll
            for (int j = 0; j < E * DEEP; ++j) {
                const uint32_t at = g[j / DEEP].begin + static_cast<uint32_t>(j % DEEP);
                from[j] = at < g[j / DEEP].end ? job.lists.from[at] : UINT32_MAX;
            }
            await_each(v, [&](int j) {
                const int r = (k + j / DEEP * T::SIZE) % K;
                return from[j] == UINT32_MAX ? nullptr : &job.handed[static_cast<int64_t>(from[j]) * K + r];
            });
            more = false;
#pragma unroll
            for (int j = 0; j < E * DEEP; ++j) g[j / DEEP].sum += v[j];
#pragma unroll
            for (int e = 0; e < E; ++e) {
                g[e].begin += DEEP;
                more |= g[e].begin < g[e].end;
            }
        }
#pragma unroll
        for (int e = 0; e < E; ++e)
            if (k + e * T::SIZE < SQUARE * K) t.vector[k + e * T::SIZE] = g[e].sum;
    }
}

/* own = less the product with all columns before the block, of this warp. */
template <class real, int K, int WARPS>
__device__ void multiply_before(const solve_job<real> &job, const team<real, K, WARPS> &t,
                                const front_state<real> &s, int base)
{
    typedef row_sums<real, K> sums_of;
    sums_of sums;
    const int end = min(s.eliminated, base);
    int32_t at[sums_of::EACH]; /* of the numbers of y that this lane brings next */
    const auto look_up = [&](int c) {
#pragma unroll
        for (int e = 0; e < sums_of::EACH; ++e)
            at[e] = sums_of::row_of(e) < min(GROUP, end - c) ? s.variable[c + sums_of::row_of(e)] : -1;
    };
    look_up(GROUP * t.warp);
    for (int c = GROUP * t.warp; c < end; c += GROUP * WARPS) {
        real v[sums_of::EACH];
        sums.load([&](int i, int column) { return pair_of_rows(s, base + i, c + column, c + column < end); });
        await_each(v, [&](int e) {
            return at[e] < 0 ? nullptr : &job.y[static_cast<int64_t>(at[e]) * K + sums_of::column_of(e)];
        });
        look_up(c + GROUP * WARPS);
        sums.multiply(v, t.few, end - c);
    }
    sums.put(-1, t.own());
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
    row_sums<real, K> sums;
    for (int c = GROUP * t.warp; c < width; c += GROUP * WARPS) {
        sums.load([&](int i, int column) {
            return pair_of_rows(s, base + i, base + c + column, c + column < width && i + 1 >= width);
        });
        sums.multiply(t.second + c * K, width - c);
    }
    sums.put(1, t.own());
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
            put_x(job, t.variable[k / K], k % K, t.vector[k]);
        else
            publish(&job.handed[(first + row - s.columns) * K + k % K], t.vector[k]);
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
    gather_children(w, job, t, f, s, base);
    if (base > 0) multiply_before(job, t, s, base);
    await_square(t);
    t.sync();
    for (int k = t.rank(); k < SQUARE * K; k += SIZE)
        t.vector[k] = t.second[k] = k >= rows * K ? 0 : base > 0 ? t.vector[k] + t.sum_at(k) : t.vector[k];
    t.sync();
    if (width > 0) {
        solve_square(t, s, base, width);
        t.sync();
        for (int k = t.rank(); k < width * K; k += SIZE) {
            const int64_t at = t.variable[k / K];
            publish(&job.y[at * K + k % K], t.second[k]);
            if (!(job.parts & SD_SOLVE_BACKWARD)) put_x(job, at, k % K, t.second[k]);
        }
        if (width < rows) subtract_own(t, s, base, width);
    }
    if (width < rows) hand_up(w, job, t, f, s, base, width);
    t.sync();
}

} /* namespace sd_cuda */
