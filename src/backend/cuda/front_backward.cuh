/* L'^-1 of a block of columns of a front, after D^-1 where that is asked for: front_solve.cuh. */
#pragma once

#include "backend/cuda/front_solve.cuh"

namespace sd_cuda
{

/* The inverse of D, and the same of pivots of rank one, as the CPU has it (solve/triangular_walk.inc): the
 * row of column c is (own, beside), the latter times the number of the column beside it. */
template <class real> struct pivot_row {
    real own, beside;
    int other; /* 0: a 1x1 pivot */
};
template <class real> __device__ inline pivot_row<real> invert_pivot(const real *d, int c)
{
    const bool first = d[2 * c + 1] != 0, second = c > 0 && d[2 * c - 1] != 0;
    if (!first && !second) return {d[2 * c] == 0 ? 0 : 1 / d[2 * c], 0, 0};
    constexpr real LEAST =
        static_cast<real>(8 * (sizeof(real) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON));
    const real *p = d + 2 * (second ? c - 1 : c);
    const real b = p[1], a = p[0] / b, e = p[2] / b, determinant = a * e - 1;
    if (determinant > LEAST || determinant < -LEAST) {
        const real scale = 1 / determinant / b;
        return {(second ? a : e) * scale, -scale, second ? -1 : 1};
    }
    const real trace = a + e, scale = 1 / trace / trace / b;
    return {(second ? e : a) * scale, scale, second ? -1 : 1};
}

/* The position of a row of a front. */
template <class real>
__device__ inline int32_t position_of(const forest<real> &w, int32_t f, const front_state<real> &s, int row)
{
    return row < s.columns ? s.variable[row] : w.rows[w.row_ptr[f] + row - s.columns];
}

/* z of SQUARE rows from `row` on, to `to`: 0 for rows before `first` and after the last. */
template <class real, int K, int WARPS>
__device__ inline void take_rows(const forest<real> &w, const solve_job<real> &job,
                                 const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s,
                                 int row, int first, real *to)
{
    for (int k = t.rank(); k < SQUARE * K; k += team<real, K, WARPS>::SIZE) {
        const int i = row + k / K;
        to[k] = i >= first && i < s.rows
                    ? await(&job.z[static_cast<int64_t>(position_of(w, f, s, i)) * K + k % K])
                    : 0;
    }
}

/* acc += L' z, of GROUP columns; lanes have their own sums. */
template <class real, int K>
__device__ inline void multiply_columns(const typename words<real>::two (&l)[GROUP], const real *z, int lane,
                                        bool upper, bool lower, real (&acc)[GROUP * K])
{
#pragma unroll
    for (int r = 0; r < K; ++r) {
        const real a = z[2 * lane * K + r], b = z[(2 * lane + 1) * K + r];
#pragma unroll
        for (int c = 0; c < GROUP; ++c) acc[c * K + r] += (upper ? l[c].x * a : 0) + (lower ? l[c].y * b : 0);
    }
}

/* vector = (L' z) of the columns of a block, over all rows below the square. */
template <class real, int K, int WARPS>
__device__ void gather_columns(const forest<real> &w, const solve_job<real> &job,
                               const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s, int base,
                               int width)
{
    const int first = base + width, last = (s.rows - 1) / SQUARE * SQUARE;
    real acc[GROUP * K] = {};
    bool odd = false;
    for (int row = last; row >= base && row + SQUARE > first; row -= SQUARE, odd = !odd) {
        const int i = row + 2 * t.lane;
        real *z = odd ? t.second : t.part; /* one is filled while the other is read */
        if constexpr (WARPS > 1) {
            const int c = GROUP * t.warp;
            typename words<real>::two l[GROUP];
            load_rows(s.panel + i + static_cast<int64_t>(base + c) * s.ld, s.ld, width - c,
                      i < s.ld && i + 1 >= first, l);
            take_rows(w, job, t, f, s, row, first, z);
            t.sync();
            multiply_columns<real, K>(l, z, t.lane, i >= first && i < s.rows,
                                      i + 1 >= first && i + 1 < s.rows, acc);
        } else {
            take_rows(w, job, t, f, s, row, first, z);
            t.sync();
            for (int c = 0; c < width; c += GROUP) {
                typename words<real>::two l[GROUP];
                real sum[GROUP * K] = {};
                load_rows(s.panel + i + static_cast<int64_t>(base + c) * s.ld, s.ld, width - c,
                          i < s.ld && i + 1 >= first, l);
                multiply_columns<real, K>(l, z, t.lane, i >= first && i < s.rows,
                                          i + 1 >= first && i + 1 < s.rows, sum);
                put_sums<K>(sum, t.few);
                __syncwarp();
                for (int k = t.lane; k < GROUP * K; k += WARP) t.vector[c * K + k] += t.few[k];
                __syncwarp();
            }
        }
    }
    if (WARPS > 1) put_sums<K>(acc, t.vector + GROUP * t.warp * K);
}

/* vector = D^-1 y - vector. */
template <class real, int K, int WARPS>
__device__ void take_columns_of(const solve_job<real> &job, const team<real, K, WARPS> &t,
                                const front_state<real> &s, int base, int width)
{
    for (int k = t.rank(); k < width * K; k += team<real, K, WARPS>::SIZE) {
        const int c = base + k / K;
        real value = await(&job.y[static_cast<int64_t>(s.variable[c]) * K + k % K]);
        if (job.parts & SD_SOLVE_DIAGONAL) {
            const pivot_row<real> p = invert_pivot(s.d, c);
            value *= p.own;
            if (p.other)
                value += p.beside * await(&job.y[static_cast<int64_t>(s.variable[c + p.other]) * K + k % K]);
        }
        t.vector[k] = value - t.vector[k];
    }
}

/* own = the transposed inverse of the square, without its diagonal, times vector, of the rows of this warp.
 */
template <class real, int K, int WARPS>
__device__ void solve_transposed(const team<real, K, WARPS> &t, const front_state<real> &s, int base,
                                 int width)
{
    typedef typename words<real>::two two;
    real *own = t.own(), acc[2][K] = {};
    const int c = 2 * t.lane;
    for (int first = GROUP * t.warp; first < width; first += GROUP * WARPS) {
        two g[GROUP];
        load_rows(s.panel + base + c + static_cast<int64_t>(base + first) * s.ld, s.ld, width - first,
                  c < width, g);
#pragma unroll
        for (int i = 0; i < GROUP; ++i) {
            if (!(c < first + i)) g[i].x = 0;
            if (!(c + 1 < first + i)) g[i].y = 0;
        }
        multiply_rows(g, t.vector + first * K, min(GROUP, width - first), acc);
    }
#pragma unroll
    for (int r = 0; r < K; ++r) {
        own[2 * t.lane * K + r] = acc[0][r];
        own[(2 * t.lane + 1) * K + r] = acc[1][r];
    }
}

template <class real, int K, int WARPS>
__device__ void backward_block(const forest<real> &w, const solve_job<real> &job,
                               const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s,
                               int block)
{
    const int base = block * SQUARE, width = min(SQUARE, s.eliminated - base);
    constexpr int SIZE = team<real, K, WARPS>::SIZE;
    if (width <= 0) return;
    for (int k = t.rank(); k < SQUARE * K; k += SIZE) t.vector[k] = 0;
    t.sync();
    gather_columns(w, job, t, f, s, base, width);
    t.sync();
    take_columns_of(job, t, s, base, width);
    t.sync();
    solve_transposed(t, s, base, width);
    t.sync();
    for (int k = t.rank(); k < width * K; k += SIZE) {
        const int64_t at = s.variable[base + k / K];
        const real value = t.vector[k] + t.sum_at(k);
        publish(&job.z[at * K + k % K], value);
        job.x[at * job.stride + k % K] = value;
    }
    t.sync();
}

} /* namespace sd_cuda */
