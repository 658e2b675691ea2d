/* L^-1 of a block of rows of a front: front_solve.cuh. */
#pragma once

#include "backend/cuda/front_columns.cuh"

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
        const uint32_t *at = w.lists.ptr + first + w.row_ptr[f] + place;
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
            int64_t from[E * DEEP];
#pragma unroll
            for (int j = 0; j < E * DEEP; ++j) {
                const uint32_t at = g[j / DEEP].begin + static_cast<uint32_t>(j % DEEP);
                from[j] = at < g[j / DEEP].end ? int64_t{w.lists.from[at]} : -1;
            }
            await_each(
                v, [&](int j) { return from[j] >= 0; },
                [&](int j) {
                    return job.handed + (max(from[j], int64_t{0}) * K + (k + j / DEEP * T::SIZE) % K);
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
    row_sums<real, K> sums;
    multiply_rows(job.y, t, s, base, GROUP * t.warp, min(s.eliminated, base), sums);
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

/* second = L^-1 second, by substitution: a warp has right-hand sides to itself. */
template <class real, int K, int WARPS>
__device__ void substitute(const team<real, K, WARPS> &t, const front_state<real> &s, int base, int width)
{
    for (int r = t.warp; r < K; r += WARPS) {
        real a = t.second[t.lane * K + r], b = t.second[(t.lane + WARP) * K + r];
        for (int j = 0; j < width; ++j) {
            const real x = __shfl_sync(ALL_LANES, j < WARP ? a : b, j % WARP);
            if (t.lane > j && t.lane < width) a = fma(-below_at(t, s, base, t.lane, j), x, a);
            if (t.lane + WARP > j && t.lane + WARP < width)
                b = fma(-below_at(t, s, base, t.lane + WARP, j), x, b);
        }
        t.second[t.lane * K + r] = a;
        t.second[(t.lane + WARP) * K + r] = b;
    }
}

/* vector = second = all that is known of the rows before anything of this block is eliminated. Where inverses
 * are whole, products with columns before it are left for rows that are not eliminated, since they need the
 * others' result. */
template <int MODE, class real, int K, int WARPS>
__device__ void gather_rows(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                            int32_t f, const front_state<real> &s, int base, int width)
{
    const int rows = min(SQUARE, s.rows - base);
    const bool products = base > 0 && (MODE != SD_PRESOLVE_WHOLE || width == 0);
    fetch_square<MODE>(t, s, base, width);
    gather_children(w, job, t, f, s, base);
    if (products) multiply_before(job, t, s, base);
    await_square(t);
    t.sync();
    for (int k = t.rank(); k < SQUARE * K; k += team<real, K, WARPS>::SIZE) {
        const real value = k >= rows * K ? 0 : products ? t.vector[k] + t.sum_at(k) : t.vector[k];
        t.vector[k] = t.second[k] = value;
        if (MODE == SD_PRESOLVE_WHOLE && k < width * K)
            publish(&job.b[static_cast<int64_t>(t.variable[k / K]) * K + k % K], value);
    }
    t.sync();
}

/* second = what is eliminated of the block. */
template <int MODE, class real, int K, int WARPS>
__device__ void solve_rows(const forest<real> &w, const solve_job<real> &job, const team<real, K, WARPS> &t,
                           int32_t f, const front_state<real> &s, int base, int width)
{
    if (MODE == SD_PRESOLVE_OFF)
        substitute(t, s, base, width);
    else
        solve_square(t, s, base, width);
    if (MODE == SD_PRESOLVE_WHOLE && base > 0) {
        if (WARPS > 1) t.sync();
        gather_columns(w, t, f, s, base, width, {0, base / SQUARE}, job.b, real(1), t.second, t.part,
                       WARPS > 1 ? t.part + SQUARE * K : t.part);
    }
    t.sync();
}

template <int MODE, class real, int K, int WARPS>
__device__ void forward_block(const forest<real> &w, const solve_job<real> &job,
                              const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s, int block)
{
    const int base = block * SQUARE, width = max(0, min(SQUARE, s.eliminated - base));
    const int rows = min(SQUARE, s.rows - base);
    constexpr int SIZE = team<real, K, WARPS>::SIZE;
    gather_rows<MODE>(w, job, t, f, s, base, width);
    if (width > 0) {
        solve_rows<MODE>(w, job, t, f, s, base, width);
        for (int k = t.rank(); k < width * K; k += SIZE) {
            const int64_t at = t.variable[k / K];
            publish(&job.y[at * K + k % K], t.second[k]);
            if (!(job.parts & SD_SOLVE_BACKWARD)) put_x(job, at, k % K, t.second[k]);
        }
        if (MODE == SD_PRESOLVE_WHOLE && base > 0 && width < rows) {
            multiply_before(job, t, s, base);
            t.sync();
            for (int k = width * K + t.rank(); k < rows * K; k += SIZE) t.vector[k] += t.sum_at(k);
            t.sync();
        }
        if (width < rows) subtract_own(t, s, base, width);
    }
    if (width < rows) hand_up(w, job, t, f, s, base, width);
    t.sync();
}

} /* namespace sd_cuda */
