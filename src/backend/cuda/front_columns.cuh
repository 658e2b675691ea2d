/* Products of the transposed columns of a front with what is published of its rows: front_solve.cuh. */
#pragma once

#include "backend/cuda/front_solve.cuh"

namespace sd_cuda
{

/* The position of a row of a front. */
template <class real>
__device__ inline int32_t position_of(const forest<real> &w, int32_t f, const front_state<real> &s, int row)
{
    return row < s.columns ? s.variable[row] : w.rows[w.row_ptr[f] + row - s.columns];
}

/* Numbers of SQUARE rows, 0 for rows before `first` and after the last. A team that has few of them each
 * looks up where they are while it works on the rows before. */
template <class real, int K, int WARPS> struct rows_above {
    typedef team<real, K, WARPS> T;
    int32_t at[T::AHEAD ? T::EACH : 1];

    /* Of number k from `row` on. */
    __device__ int32_t find(const forest<real> &w, int32_t f, const front_state<real> &s, int row, int k,
                            int first) const
    {
        const int i = row + k / K;
        return k < SQUARE * K && i >= first && i < s.rows ? position_of(w, f, s, i) : -1;
    }
    __device__ void look_up(const forest<real> &w, const T &t, int32_t f, const front_state<real> &s, int row,
                            int first)
    {
        if constexpr (T::AHEAD) {
#pragma unroll
            for (int e = 0; e < T::EACH; ++e) at[e] = find(w, f, s, row, t.rank() + e * T::SIZE, first);
        }
    }
    __device__ void take(const forest<real> &w, const real *from, const T &t, int32_t f,
                         const front_state<real> &s, int row, int first, real *to) const
    {
        constexpr int E = T::EACH < 4 ? T::EACH : 4; /* at once */
#pragma unroll
        for (int e = 0; e < T::EACH; e += E) {
            int32_t place[E];
            real v[E];
#pragma unroll
            for (int j = 0; j < E; ++j)
                place[j] = T::AHEAD ? at[T::AHEAD ? e + j : 0]
                                    : find(w, f, s, row, t.rank() + (e + j) * T::SIZE, first);
            await_each(
                v, [&](int j) { return place[j] >= 0; },
                [&](int j) {
                    return from +
                           (static_cast<int64_t>(max(place[j], 0)) * K + (t.rank() + (e + j) * T::SIZE) % K);
                });
#pragma unroll
            for (int j = 0; j < E; ++j)
                if (t.rank() + (e + j) * T::SIZE < SQUARE * K) to[t.rank() + (e + j) * T::SIZE] = v[j];
        }
    }
};

/* Rows i, even, and i + 1 of a column, 0 where they are before `first` or after the last. */
template <class real>
__device__ inline typename words<real>::two pair_below(const front_state<real> &s, int i, int column, int end,
                                                       int first)
{
    typedef typename words<real>::two two;
    two l;
    l.x = l.y = 0;
    if (column < end && i + 1 >= first && i < s.rows)
        l = *reinterpret_cast<const two *>(s.panel + i + static_cast<int64_t>(column) * s.ld);
    if (i < first) l.x = 0;
    if (i + 1 >= s.rows) l.y = 0;
    return l;
}

/* Rows `first` and on of blocks below `to`, to be multiplied with the columns of a block. */
struct rows_taken {
    int first, to;
};

/*
 * sum += sign P' v, P being those rows of the columns of a block, v what others publish of them at their
 * positions. The last rows come first: they belong to the fronts above. Of two buffers one is filled while
 * the other is read; they may be the same.
 */
template <class real, int K, int WARPS>
__device__ void gather_columns(const forest<real> &w, const team<real, K, WARPS> &t, int32_t f,
                               const front_state<real> &s, int base, int width, const rows_taken &rows,
                               const real *v, real sign, real *sum, real *buffer, real *other)
{
    const int first = rows.first;
    int row = (rows.to - 1) * SQUARE;
    rows_above<real, K, WARPS> above;
    column_sums<real, K> all; /* of a warp that has its columns to itself */
    bool odd = false;
    if (first >= s.rows || row + SQUARE <= first) return;
    above.look_up(w, t, f, s, row, first);
    for (; row + SQUARE > first; row -= SQUARE, odd = !odd) {
        real *at = odd ? other : buffer;
        const auto below = [&](int column) {
            return [=, &s](int i, int c) {
                return pair_below(s, row + i, base + column + c, base + width, first);
            };
        };
        if constexpr (WARPS > 1) all.load(below(GROUP * t.warp));
        above.take(w, v, t, f, s, row, first, at);
        above.look_up(w, t, f, s, row - SQUARE, first);
        t.sync();
        if constexpr (WARPS > 1) {
            all.multiply(at);
        } else {
            for (int c = 0; c < width; c += GROUP) {
                column_sums<real, K> sums;
                sums.load(below(c));
                sums.multiply(at);
                sums.finish(sign, sum + c * K);
            }
        }
        if (buffer == other) t.sync();
    }
    if (WARPS > 1) all.finish(sign, sum + GROUP * t.warp * K);
}

} /* namespace sd_cuda */
