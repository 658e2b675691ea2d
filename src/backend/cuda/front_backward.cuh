/* L'^-1 of a block of columns of a front, after D^-1 where that is asked for: front_solve.cuh. */
#pragma once

#include "backend/cuda/front_columns.cuh"
#include "backend/cuda/front_pivots.cuh"

namespace sd_cuda
{

/* The sum of numbers that others publish, `apart` numbers from each other; several are under way at once. */
template <class real> __device__ inline real await_sum(const real *at, int64_t apart, int count)
{
    constexpr int DEEP = 8;
    real sum = 0;
    for (int first = 0; first < count; first += DEEP) {
        real v[DEEP];
#pragma unroll
        for (int k = 0; k < DEEP; ++k) v[k] = first + k < count ? load_relaxed(at + (first + k) * apart) : 0;
#pragma unroll
        for (int k = 0; k < DEEP; ++k) {
            if (bits_of(v[k]) == ABSENT) v[k] = await(at + (first + k) * apart);
            sum += v[k];
        }
    }
    return sum;
}

/* How the rows of a front are shared out: pieces from `piece` on have only rows below its columns, and are
 * `count`; their products with the columns of block j are `units` units apart from unit room + j on. */
struct rows_shared {
    int piece, count, units, room;
    int end; /* blocks of rows that are not theirs */
};

/* vector = D^-1 y, and what pieces of rows below have of the product. */
template <class real, int K, int WARPS>
__device__ void begin_columns(const solve_job<real> &job, const team<real, K, WARPS> &t,
                              const front_state<real> &s, int base, int width, const rows_shared &shared)
{
    for (int k = t.rank(); k < SQUARE * K; k += team<real, K, WARPS>::SIZE) {
        const int c = base + k / K;
        real value = 0;
        if (k < width * K) value = await(&job.y[static_cast<int64_t>(s.variable[c]) * K + k % K]);
        if (k < width * K && (job.parts & SD_SOLVE_DIAGONAL)) {
            const pivot_row<real> p = invert_pivot(s.d, c);
            value *= p.own;
            if (p.other)
                value += p.beside * await(&job.y[static_cast<int64_t>(s.variable[c + p.other]) * K + k % K]);
        }
        if (k < width * K && shared.count > 0)
            value +=
                await_sum(&job.products[static_cast<int64_t>(shared.room + base / SQUARE) * SQUARE * K + k],
                          static_cast<int64_t>(shared.units) * SQUARE * K, shared.count);
        t.vector[k] = value;
    }
}

/* Blocks [from, to) of rows below a front, times all its columns: `room` is where these go. */
template <class real, int K, int WARPS>
__device__ void multiply_piece(const forest<real> &w, const solve_job<real> &job,
                               const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s, int from,
                               int to, int room)
{
    constexpr int SIZE = team<real, K, WARPS>::SIZE;
    for (int j = (s.eliminated + SQUARE - 1) / SQUARE - 1; j >= 0; --j) {
        const int base = j * SQUARE, width = min(SQUARE, s.eliminated - base);
        for (int k = t.rank(); k < SQUARE * K; k += SIZE) t.vector[k] = 0;
        t.sync();
        gather_columns(w, t, f, s, base, width, {max(base + width, from * SQUARE), to}, job.z, real(-1),
                       t.vector, t.part, t.second);
        t.sync();
        for (int k = t.rank(); k < width * K; k += SIZE)
            publish(&job.products[static_cast<int64_t>(room + j) * SQUARE * K + k], t.vector[k]);
        t.sync();
    }
}

/* own = the transposed inverse of the square, without its diagonal, times vector, of the rows of this warp.
 * Of a whole inverse also what is right of the square, times what later blocks publish. */
template <int MODE, class real, int K, int WARPS>
__device__ void solve_transposed(const solve_job<real> &job, const team<real, K, WARPS> &t,
                                 const front_state<real> &s, int base, int width)
{
    row_sums<real, K> sums;
    for (int first = GROUP * t.warp; first < width; first += GROUP * WARPS) {
        sums.load([&](int i, int c) { return square_at(t, s, base, i, first + c, width); });
        sums.multiply(t.vector + first * K, width - first);
    }
    if (MODE == SD_PRESOLVE_WHOLE)
        multiply_rows(job.c, t, s, base, base + width + GROUP * t.warp, s.eliminated, sums);
    sums.put(1, t.own());
}

/* vector = L'^-1 vector, by substitution: a warp has right-hand sides to itself. */
template <class real, int K, int WARPS>
__device__ void substitute_transposed(const team<real, K, WARPS> &t, const front_state<real> &s, int base,
                                      int width)
{
    for (int r = t.warp; r < K; r += WARPS) {
        real a = t.vector[t.lane * K + r], b = t.vector[(t.lane + WARP) * K + r];
        for (int j = width - 1; j > 0; --j) {
            const real x = __shfl_sync(ALL_LANES, j < WARP ? a : b, j % WARP);
            if (t.lane < j) a = fma(-below_at(t, s, base, j, t.lane), x, a);
            if (t.lane + WARP < j) b = fma(-below_at(t, s, base, j, t.lane + WARP), x, b);
        }
        t.vector[t.lane * K + r] = a;
        t.vector[(t.lane + WARP) * K + r] = b;
    }
}

template <int MODE, class real, int K, int WARPS>
__device__ void backward_block(const forest<real> &w, const solve_job<real> &job,
                               const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s,
                               int block, const rows_shared &shared)
{
    const int base = block * SQUARE, width = min(SQUARE, s.eliminated - base);
    constexpr int SIZE = team<real, K, WARPS>::SIZE;
    fetch_square<MODE>(t, s, base, width);
    begin_columns(job, t, s, base, width, shared);
    t.sync();
    gather_columns(w, t, f, s, base, width,
                   {MODE == SD_PRESOLVE_WHOLE ? s.eliminated : base + width, shared.end}, job.z, real(-1),
                   t.vector, t.part, t.second);
    await_square(t);
    t.sync();
    if (MODE == SD_PRESOLVE_WHOLE)
        for (int k = t.rank(); k < width * K; k += SIZE)
            publish(&job.c[static_cast<int64_t>(t.variable[k / K]) * K + k % K], t.vector[k]);
    if (MODE == SD_PRESOLVE_OFF)
        substitute_transposed(t, s, base, width);
    else
        solve_transposed<MODE>(job, t, s, base, width);
    t.sync();
    for (int k = t.rank(); k < width * K; k += SIZE) {
        const int64_t at = t.variable[k / K];
        const real value = MODE == SD_PRESOLVE_OFF ? t.vector[k] : t.vector[k] + t.sum_at(k);
        publish(&job.z[at * K + k % K], value);
        put_x(job, at, k % K, value);
    }
    t.sync();
}

} /* namespace sd_cuda */
