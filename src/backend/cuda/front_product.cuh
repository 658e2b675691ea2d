/*
 * A tile of C - A D B', by a block of 256 threads: 128 rows and 64 or 128 columns, of which each of the
 * eight warps has 32 by 32 or 32 by 64. A and B are columns of a panel, or of a buffer; D has 1x1 and 2x2
 * pivots as in front.h, or is left out. The operands come into shared memory 32 columns at a time, two steps
 * ahead of the product, which in double runs on the tensor cores. D is applied to A when a warp has loaded
 * its part of it, each number of which then takes part in 32 or 64 products.
 *
 * Of the two warps that share a quarter of a multiprocessor one asks for the operands of a later step before
 * its products, and the other one after them, so that the tensor cores do not wait for both.
 *
 * The inner dimension is never split between blocks, and an entry of C is always summed in its order.
 */
#pragma once

#include "backend/cuda/fronts.cuh"

namespace sd_cuda
{

constexpr int PRODUCT_THREADS = 256, PRODUCT_ROWS = 128, PRODUCT_DEPTH = 32, PRODUCT_STAGES = 3;
constexpr int PRODUCT_WARPS = PRODUCT_THREADS / WARP;
constexpr int PRODUCT_INNER = 16; /* columns that a warp loads at a time */

/* Rows have 4 numbers more than a multiple of 16: fragments are then read without conflicts. */
template <class real, int COLUMNS> struct product_room {
    real a[PRODUCT_STAGES][PRODUCT_DEPTH][PRODUCT_ROWS + 4];
    real b[PRODUCT_STAGES][PRODUCT_DEPTH][COLUMNS + 4];
    real d[PRODUCT_STAGES][PRODUCT_DEPTH + 1][2]; /* of the column before them first */
};

/* `rows` rows of a matrix by columns, the first two at an address where two numbers can be moved at a time.
 * Of an odd number of rows one more is read. */
template <class real> struct product_side {
    const real *at;
    int64_t ld;
    int rows;
};

/* Two numbers, or zeros, to shared memory. */
__device__ inline void copy_two(double *to, const double *from, bool there)
{
    cp_async_16(to, from, there);
}
__device__ inline void copy_two(float *to, const float *from, bool there)
{
    cp_async_8(to, from, there);
}

template <class real, int ROWS>
__device__ inline void copy_side(real (&to)[PRODUCT_DEPTH][ROWS + 4], const product_side<real> &s, int from,
                                 int depth)
{
    constexpr int AT_ONCE = 2 * PRODUCT_THREADS / ROWS; /* columns */
    const int thread = static_cast<int>(threadIdx.x), i = thread % (ROWS / 2) * 2,
              first = thread / (ROWS / 2);
    const real *at = s.at + i + (from + first) * s.ld;
#pragma unroll
    for (int k = 0; k < PRODUCT_DEPTH; k += AT_ONCE) {
        const bool there = i < s.rows && from + first + k < depth;
        copy_two(&to[first + k][i], there ? at + k * s.ld : s.at, there);
    }
}

/* D of the columns of a step, and of the one before them. */
template <class real>
__device__ inline void copy_d(real (&to)[PRODUCT_DEPTH + 1][2], const real *d, int from, int depth)
{
    const int k = static_cast<int>(threadIdx.x), c = from + k - 1;
    const bool there = c >= 0 && c < depth;
    if (k <= PRODUCT_DEPTH) copy_two(to[k], there ? d + 2 * c : d, there);
}

/* Where a thread's sums are: rows 16 m + g + 8 h, columns 8 n + 2 t + p of its warp's part (m, h, p of 2), as
 * sum[m][n][2 h + p]. */
template <int COLUMNS> struct product_place {
    int g, t, row, column; /* of the warp's part */
    __device__ product_place()
    {
        const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
        g = lane / 4;
        t = lane % 4;
        row = warp % 4 * 32;
        column = warp / 4 * (COLUMNS / 2);
    }
};

/* Whether there is a 2x2 pivot among the columns of a step, or one that begins in the column before. */
template <class real> __device__ inline bool has_two(const real (&d)[PRODUCT_DEPTH + 1][2])
{
    static_assert(PRODUCT_DEPTH == WARP, "a column a lane");
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    return __any_sync(ALL_LANES, (d[lane][1] != 0) | (d[lane + 1][1] != 0));
}

/* A number of A D in column c of the step that begins at column `from`: x is that of A. Halves of a 2x2 pivot
 * may be in two steps, of which only one is at hand: then the other half is in the matrix. */
template <class real>
__device__ inline real scale_number(real x, const real (&d)[PRODUCT_DEPTH + 1][2],
                                    const real (&a)[PRODUCT_DEPTH][PRODUCT_ROWS + 4], int c, int row,
                                    const product_side<real> &side, int from)
{
    const real before = d[c][1], behind = d[c + 1][1];
    real y = d[c + 1][0] * x;
    if (behind != 0 && row < side.rows)
        y = fma(behind, c + 1 < PRODUCT_DEPTH ? a[c + 1][row] : side.at[row + (from + c + 1) * side.ld], y);
    if (before != 0 && row < side.rows)
        y = fma(before, c > 0 ? a[c - 1][row] : side.at[row + (from + c - 1) * side.ld], y);
    return y;
}

/* Columns [inner, inner + PRODUCT_INNER) of the step that begins at column `from` of A and B; whether it has
 * a 2x2 pivot. */
template <bool SCALED, int COLUMNS>
__device__ inline void multiply_inner(const product_place<COLUMNS> &p,
                                      const product_room<double, COLUMNS> *room,
                                      const product_side<double> &left, int from, int inner, bool two,
                                      double (&sum)[2][COLUMNS / 16][4])
{
    const int at = from / PRODUCT_DEPTH % PRODUCT_STAGES;
    double a[2][8];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 8; ++i)
            a[m][i] = room->a[at][inner + p.t + 4 * (i / 2)][p.row + 16 * m + p.g + 8 * (i % 2)];
    if (SCALED && two) {
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                a[m][i] = scale_number(a[m][i], room->d[at], room->a[at], inner + p.t + 4 * (i / 2),
                                       p.row + 16 * m + p.g + 8 * (i % 2), left, from);
    } else if (SCALED) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const double d = room->d[at][inner + p.t + 4 * (i / 2) + 1][0];
#pragma unroll
            for (int m = 0; m < 2; ++m) a[m][i] *= d;
        }
    }
#pragma unroll
    for (int n = 0; n < COLUMNS / 16; ++n) {
        double b[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) b[i] = room->b[at][inner + p.t + 4 * i][p.column + 8 * n + p.g];
#pragma unroll
        for (int m = 0; m < 2; ++m) mma_16x8x16(sum[m][n], a[m], b);
    }
}

template <bool SCALED, int COLUMNS>
__device__ inline void multiply_inner(const product_place<COLUMNS> &p,
                                      const product_room<float, COLUMNS> *room,
                                      const product_side<float> &left, int from, int inner, bool two,
                                      float (&sum)[2][COLUMNS / 16][4])
{
    const int at = from / PRODUCT_DEPTH % PRODUCT_STAGES;
#pragma unroll 2
    for (int k = inner; k < inner + PRODUCT_INNER; ++k) {
        float a[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = p.row + 8 * i + p.g;
            a[i] = room->a[at][k][row];
            if (SCALED && two)
                a[i] = scale_number(a[i], room->d[at], room->a[at], k, row, left, from);
            else if (SCALED)
                a[i] *= room->d[at][k + 1][0];
        }
#pragma unroll
        for (int n = 0; n < COLUMNS / 16; ++n)
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int j = p.column + 8 * n + 2 * p.t + q;
                const float b = room->b[at][k][j];
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    sum[i / 2][n][2 * (i % 2) + q] = fmaf(a[i], b, sum[i / 2][n][2 * (i % 2) + q]);
            }
    }
}

/* C - A D B': get(i, j) is an entry of C as it was, and put(i, j, x) takes what it becomes. All are got
 * before the first is put: else each would wait for the one before it, which might be the same. Before and
 * after it the threads of the block are together. With D, `depth` is not between the halves of a 2x2 pivot.
 */
template <bool SCALED, int COLUMNS, class real, class Get, class Put>
__device__ void multiply_tile(product_room<real, COLUMNS> *room, const product_side<real> &left,
                              const product_side<real> &right, const real *d, int depth, Get get, Put put)
{
    const product_place<COLUMNS> p;
    const bool early = static_cast<int>(threadIdx.x) / WARP < PRODUCT_WARPS / 2;
    real sum[2][COLUMNS / 16][4];
    auto fetch = [&](int from) {
        const int stage = from / PRODUCT_DEPTH % PRODUCT_STAGES;
        if (from < depth) {
            copy_side<real, PRODUCT_ROWS>(room->a[stage], left, from, depth);
            copy_side<real, COLUMNS>(room->b[stage], right, from, depth);
            if (SCALED) copy_d<real>(room->d[stage], d, from, depth);
        }
        cp_async_commit();
    };
#pragma unroll
    for (int k = 0; k < PRODUCT_STAGES - 1; ++k) fetch(k * PRODUCT_DEPTH);
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < COLUMNS / 16; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sum[m][n][i] = -get(p.row + 16 * m + p.g + 8 * (i / 2), p.column + 8 * n + 2 * p.t + i % 2);
#pragma unroll 1 /* instructions that are fetched cost more than the loop */
    for (int from = 0; from < depth; from += PRODUCT_DEPTH) {
        const int ahead = from + (PRODUCT_STAGES - 1) * PRODUCT_DEPTH;
        cp_async_wait<PRODUCT_STAGES - 2>();
        __syncthreads(); /* the step has arrived, and nobody reads the one before any more */
        if (early) fetch(ahead);
        const bool two = SCALED && has_two(room->d[from / PRODUCT_DEPTH % PRODUCT_STAGES]);
#pragma unroll
        for (int inner = 0; inner < PRODUCT_DEPTH; inner += PRODUCT_INNER)
            multiply_inner<SCALED, COLUMNS>(p, room, left, from, inner, two, sum);
        if (!early) fetch(ahead);
    }
    cp_async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < COLUMNS / 16; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                put(p.row + 16 * m + p.g + 8 * (i / 2), p.column + 8 * n + 2 * p.t + i % 2, -sum[m][n][i]);
}

} /* namespace sd_cuda */
