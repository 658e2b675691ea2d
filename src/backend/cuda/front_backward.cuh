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

/* z of SQUARE rows, 0 for rows before `first` and after the last. A team that has few of them each looks up
 * where they are while it works on the rows before. */
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
    __device__ void take(const forest<real> &w, const solve_job<real> &job, const T &t, int32_t f,
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
            await_each(v, [&](int j) {
                const int r = (t.rank() + (e + j) * T::SIZE) % K;
                return place[j] < 0 ? nullptr : &job.z[static_cast<int64_t>(place[j]) * K + r];
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

/* vector -= L' z of the columns of a block, over blocks [from, to) of rows, of which those of the square
 * itself do not count. The last come first: they belong to the fronts above. */
template <class real, int K, int WARPS>
__device__ void gather_columns(const forest<real> &w, const solve_job<real> &job,
                               const team<real, K, WARPS> &t, int32_t f, const front_state<real> &s, int base,
                               int width, int from, int to)
{
    const int first = max(base + width, from * SQUARE);
    int row = (to - 1) * SQUARE;
    rows_above<real, K, WARPS> above;
    column_sums<real, K> all; /* of a warp that has its columns to itself */
    bool odd = false;
    if (first >= s.rows || row + SQUARE <= first) return;
    above.look_up(w, t, f, s, row, first);
    for (; row + SQUARE > first; row -= SQUARE, odd = !odd) {
        real *z = odd ? t.second : t.part; /* one is filled while the other is read */
        const auto below = [&](int column) {
            return [=, &s](int i, int c) {
                return pair_below(s, row + i, base + column + c, base + width, first);
            };
        };
        if constexpr (WARPS > 1) all.load(below(GROUP * t.warp));
        above.take(w, job, t, f, s, row, first, z);
        above.look_up(w, t, f, s, row - SQUARE, first);
        t.sync();
        if constexpr (WARPS > 1) {
            all.multiply(z);
        } else {
            for (int c = 0; c < width; c += GROUP) {
                column_sums<real, K> sums;
                sums.load(below(c));
                sums.multiply(z);
                sums.finish(-1, t.vector + c * K);
            }
        }
    }
    if (WARPS > 1) all.finish(-1, t.vector + GROUP * t.warp * K);
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
    row_sums<real, K> sums;
    for (int first = GROUP * t.warp; first < width; first += GROUP * WARPS) {
        sums.load([&](int i, int c) { return square_at(t, s, base, i, first + c, width); });
        sums.multiply(t.vector + first * K, width - first);
    }
    sums.put(1, t.own());
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
        put_x(job, at, k % K, value);
    }
    t.sync();
}

} /* namespace sd_cuda */
