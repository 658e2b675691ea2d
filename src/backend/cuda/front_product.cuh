/*
 * A tile of C - A D B', by a block of 256 threads: 128 rows and 64 or 128 columns, of which each of the
 * eight warps has 32 by 32 or 32 by 64. A and B are columns of a panel, or of a buffer; D has 1x1 and 2x2 pivots as
 * in front.h, or is left out. The operands come into shared memory 16 columns at a time, two steps ahead of the
 * product, which in double runs on the tensor cores; D is applied to the fragments of B.
 *
 * The inner dimension is never split between blocks, and an entry of C is always summed in its order.
 */
#pragma once

#include "backend/cuda/fronts.cuh"

namespace sd_cuda
{

constexpr int PRODUCT_THREADS = 256, PRODUCT_ROWS = 128, PRODUCT_DEPTH = 16, PRODUCT_STAGES = 3;

/* Rows have 4 numbers more than a multiple of 16: fragments are then read without conflicts. */
template <class real, int COLUMNS> struct product_room {
    real a[PRODUCT_STAGES][PRODUCT_DEPTH][PRODUCT_ROWS + 4];
    real b[PRODUCT_STAGES][PRODUCT_DEPTH][COLUMNS + 4];
    real d[PRODUCT_STAGES][PRODUCT_DEPTH][2];
};

/* `rows` rows of a matrix by columns, the first two at an address where two numbers can be moved at a time. Of an
 * odd number of rows one more is read. */
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
__device__ inline void copy_side(real (&to)[PRODUCT_DEPTH][ROWS + 4], const product_side<real> &s, int from, int end)
{
    constexpr int PAIRS = ROWS * PRODUCT_DEPTH / 2 / PRODUCT_THREADS;
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) {
        const int at = static_cast<int>(threadIdx.x) + k * PRODUCT_THREADS;
        const int i = at % (ROWS / 2) * 2, c = at / (ROWS / 2);
        const bool there = i < s.rows && from + c < end;
        copy_two(&to[c][i], there ? s.at + i + (from + c) * s.ld : s.at, there);
    }
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

/* Entry (k, j) of D B', the rest of B's columns being there too. No 2x2 pivot is cut by an end of the step. */
template <class real, int N>
__device__ inline real scaled(const real (&b)[PRODUCT_DEPTH][N], const real (&d)[PRODUCT_DEPTH][2], int k, int j)
{
    real w = d[k][0] * b[k][j];
    if (d[k][1] != 0) w = fma(d[k][1], b[k < PRODUCT_DEPTH - 1 ? k + 1 : k][j], w);
    if (k > 0 && d[k - 1][1] != 0) w = fma(d[k - 1][1], b[k - 1][j], w);
    return w;
}

template <bool SCALED, int COLUMNS>
__device__ inline void multiply_step(const product_place<COLUMNS> &p, const product_room<double, COLUMNS> *room, int at,
                                     double (&sum)[2][COLUMNS / 16][4])
{
    double a[2][8];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 8; ++i) a[m][i] = room->a[at][p.t + 4 * (i / 2)][p.row + 16 * m + p.g + 8 * (i % 2)];
#pragma unroll
    for (int n = 0; n < COLUMNS / 16; ++n) {
        double b[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int k = p.t + 4 * i, j = p.column + 8 * n + p.g;
            b[i] = SCALED ? scaled(room->b[at], room->d[at], k, j) : room->b[at][k][j];
        }
#pragma unroll
        for (int m = 0; m < 2; ++m) mma_16x8x16(sum[m][n], a[m], b);
    }
}

template <bool SCALED, int COLUMNS>
__device__ inline void multiply_step(const product_place<COLUMNS> &p, const product_room<float, COLUMNS> *room, int at,
                                     float (&sum)[2][COLUMNS / 16][4])
{
#pragma unroll 2
    for (int k = 0; k < PRODUCT_DEPTH; ++k) {
        float a[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) a[i] = room->a[at][k][p.row + 8 * i + p.g];
#pragma unroll
        for (int n = 0; n < COLUMNS / 16; ++n)
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int j = p.column + 8 * n + 2 * p.t + q;
                const float b = SCALED ? scaled(room->b[at], room->d[at], k, j) : room->b[at][k][j];
#pragma unroll
                for (int i = 0; i < 4; ++i) sum[i / 2][n][2 * (i % 2) + q] = fmaf(a[i], b, sum[i / 2][n][2 * (i % 2) + q]);
            }
    }
}

/* C - A D B': get(i, j) is an entry of C as it was, and put(i, j, x) takes what it becomes. All are got before the
 * first is put: else each would wait for the one before it, which might be the same. Before and after it the threads
 * of the block are together. With D, `depth` is not between the halves of a 2x2 pivot. */
template <bool SCALED, int COLUMNS, class real, class Get, class Put>
__device__ void multiply_tile(product_room<real, COLUMNS> *room, const product_side<real> &left,
                              const product_side<real> &right, const real *d, int depth, Get get, Put put)
{
    const product_place<COLUMNS> p;
    real sum[2][COLUMNS / 16][4];
    int next = 0; /* the first column of the step that is fetched next */
    auto fetch = [&](int stage) {
        int end = min(depth, next + PRODUCT_DEPTH);
        if (SCALED && end < depth && d[2 * end - 1] != 0) --end;
        if (next < depth) {
            copy_side<real, PRODUCT_ROWS>(room->a[stage], left, next, end);
            copy_side<real, COLUMNS>(room->b[stage], right, next, end);
            const int k = static_cast<int>(threadIdx.x);
            if (SCALED && k < PRODUCT_DEPTH)
                copy_two(room->d[stage][k], next + k < end ? d + 2 * (next + k) : d, next + k < end);
        }
        next = max(end, next);
        cp_async_commit();
    };
    int begun = 0, stage = 0; /* columns of steps that were multiplied already */
    fetch(0);
    int first = next;
    fetch(1);
    int second = next;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < COLUMNS / 16; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sum[m][n][i] = -get(p.row + 16 * m + p.g + 8 * (i / 2), p.column + 8 * n + 2 * p.t + i % 2);
    for (; begun < depth; stage = (stage + 1) % PRODUCT_STAGES) {
        cp_async_wait<1>();
        __syncthreads();
        fetch((stage + 2) % PRODUCT_STAGES);
        multiply_step<SCALED, COLUMNS>(p, room, stage, sum);
        begun = first;
        first = second;
        second = next;
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
