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

/* Where z of SQUARE rows from `row` on is; -1 for rows before `first` and after the last. */
template <class real, int K, int WARPS>
__device__ inline void find_rows(const forest<real> &w, const team<real, K, WARPS> &t, int32_t f,
                                 const front_state<real> &s, int row, int first,
                                 int32_t (&at)[team<real, K, WARPS>::EACH])
{
    typedef team<real, K, WARPS> T;
#pragma unroll
    for (int e = 0; e < T::EACH; ++e) {
        const int i = row + (t.rank() + e * T::SIZE) / K;
        at[e] = i >= first && i < s.rows && i < row + SQUARE ? position_of(w, f, s, i) : -1;
    }
}

/* z of these rows. */
template <class real, int K, int WARPS>
__device__ inline void take_rows(const solve_job<real> &job, const team<real, K, WARPS> &t,
                                 const int32_t (&at)[team<real, K, WARPS>::EACH], real *to)
{
    typedef team<real, K, WARPS> T;
#pragma unroll
    for (int e = 0; e < T::EACH; ++e) {
        const int k = t.rank() + e * T::SIZE;
        if (k < SQUARE * K) to[k] = at[e] >= 0 ? await(&job.z[static_cast<int64_t>(at[e]) * K + k % K]) : 0;
    }
}

/* acc -= L' z, of GROUP columns; lanes have their own sums. */
template <class real, int K>
__device__ inline void multiply_columns(const typename words<real>::two (&l)[GROUP], const real *z, int lane,
                                        real (&acc)[GROUP * K])
{
#pragma unroll
    for (int r = 0; r < K; ++r) {
        const real a = z[2 * lane * K + r], b = z[(2 * lane + 1) * K + r];
#pragma unroll
        for (int c = 0; c < GROUP; ++c) acc[c * K + r] = fma(-l[c].y, b, fma(-l[c].x, a, acc[c * K + r]));
    }
}

/* Rows i and i + 1 of GROUP columns, 0 where they are before `first` or after the last. */
template <class real>
__device__ inline void load_below(const front_state<real> &s, int i, int column, int columns, int first,
                                  typename words<real>::two (&l)[GROUP])
{
    const bool upper = i >= first && i < s.rows, lower = i + 1 >= first && i + 1 < s.rows;
    load_rows(s.panel + i + static_cast<int64_t>(column) * s.ld, s.ld, columns, upper || lower, l);
#pragma unroll
    for (int c = 0; c < GROUP; ++c) {
        if (!upper) l[c].x = 0;
        if (!lower) l[c].y = 0;
    }
}

/* vector -= L' z of the columns of a block, over blocks [from, to) of rows, of which those of the square
 * itself do not count. The last come first: they belong to the fronts above. */
template <class real, int K, int WARPS>
__device__ void gather_columns(const forest<real> &w, const solve_job<real> &job,
                               const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s, int base,
                               int width, int from, int to)
{
    const int first = max(base + width, from * SQUARE);
    int row = (to - 1) * SQUARE;
    int32_t at[team<real, K, WARPS>::EACH];
    real acc[GROUP * K] = {};
    bool odd = false;
    if (first >= s.rows || row + SQUARE <= first) return;
    find_rows(w, t, f, s, row, first, at);
    for (; row + SQUARE > first; row -= SQUARE, odd = !odd) {
        const int i = row + 2 * t.lane;
        real *z = odd ? t.second : t.part; /* one is filled while the other is read */
        typename words<real>::two l[GROUP];
        if constexpr (WARPS > 1) load_below(s, i, base + GROUP * t.warp, width - GROUP * t.warp, first, l);
        take_rows(job, t, at, z);
        find_rows(w, t, f, s, row - SQUARE, first, at);
        t.sync();
        if constexpr (WARPS > 1) {
            multiply_columns<real, K>(l, z, t.lane, acc);
        } else {
            for (int c = 0; c < width; c += GROUP) {
                real sum[GROUP * K] = {};
                load_below(s, i, base + c, width - c, first, l);
                multiply_columns<real, K>(l, z, t.lane, sum);
                add_sums<K>(sum, t.vector + c * K);
            }
        }
    }
    if (WARPS > 1) add_sums<K>(acc, t.vector + GROUP * t.warp * K);
}

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
        gather_columns(w, job, t, f, s, base, width, from, to);
        t.sync();
        for (int k = t.rank(); k < width * K; k += SIZE)
            publish(&job.products[static_cast<int64_t>(room + j) * SQUARE * K + k], t.vector[k]);
        t.sync();
    }
}

/* own = the transposed inverse of the square, without its diagonal, times vector, of the rows of this warp.
 */
template <class real, int K, int WARPS>
__device__ void solve_transposed(const team<real, K, WARPS> &t, const front_state<real> &s, int base,
                                 int width)
{
    real *own = t.own(), acc[2][K] = {};
    for (int first = GROUP * t.warp; first < width; first += GROUP * WARPS) {
        typename words<real>::two g[GROUP];
        load_square(t, s, base, first, width, g);
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
                               int block, const rows_shared &shared)
{
    const int base = block * SQUARE, width = min(SQUARE, s.eliminated - base);
    constexpr int SIZE = team<real, K, WARPS>::SIZE;
    fetch_square(t, s, base, width);
    begin_columns(job, t, s, base, width, shared);
    t.sync();
    gather_columns(w, job, t, f, s, base, width, block, shared.end);
    await_square(t);
    t.sync();
    solve_transposed(t, s, base, width);
    t.sync();
    for (int k = t.rank(); k < width * K; k += SIZE) {
        const int64_t at = t.variable[k / K];
        const real value = t.vector[k] + t.sum_at(k);
        publish(&job.z[at * K + k % K], value);
        job.x[at * job.stride + k % K] = value;
    }
    t.sync();
}

} /* namespace sd_cuda */
