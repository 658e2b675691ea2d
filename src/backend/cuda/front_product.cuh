/*
 * A tile of a product, C = A B', by a block of 256 threads: 128 rows and 64 columns, of which each of the
 * eight warps has 32 by 32. Operands come through functions, 16 of the inner dimension at a time, into shared
 * memory, while the product before them is computed; in double by the tensor cores.
 *
 * The inner dimension is never split, and an entry of C is always summed in its order.
 */
#pragma once

#include "backend/cuda/fronts.cuh"

namespace sd_cuda
{

constexpr int PRODUCT_THREADS = 256, PRODUCT_ROWS = 128, PRODUCT_COLUMNS = 64, PRODUCT_DEPTH = 16;

template <class real> struct product_room {
    /* Rows of 4 more than a multiple of 16 numbers: fragments are then read without conflicts. */
    real a[2][PRODUCT_DEPTH][PRODUCT_ROWS + 4];
    real b[2][PRODUCT_DEPTH][PRODUCT_COLUMNS + 4];
};

/* Where a thread's sums are: rows 16 m + g + 8 h, columns 8 n + 2 t + p of its warp's 32 by 32 (m, h, p of 2,
 * n of 4), as sum[m][n][2 h + p]. */
struct product_place {
    int g, t, row, column; /* of the warp in the tile */
};
__device__ inline product_place find_product_place()
{
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
    return {lane / 4, lane % 4, warp % 4 * 32, warp / 4 * 32};
}

__device__ inline void multiply_step(const product_place &p, const product_room<double> *room, int at,
                                     double (&sum)[2][4][4])
{
    double a[2][8], b[4][4];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 8; ++i)
            a[m][i] = room->a[at][p.t + 4 * (i / 2)][p.row + 16 * m + p.g + 8 * (i % 2)];
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) b[n][i] = room->b[at][p.t + 4 * i][p.column + 8 * n + p.g];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n) mma_16x8x16(sum[m][n], a[m], b[n]);
}

__device__ inline void multiply_step(const product_place &p, const product_room<float> *room, int at,
                                     float (&sum)[2][4][4])
{
#pragma unroll 4
    for (int k = 0; k < PRODUCT_DEPTH; ++k) {
        float a[4], b[8];
#pragma unroll
        for (int i = 0; i < 4; ++i) a[i] = room->a[at][k][p.row + 8 * i + p.g];
#pragma unroll
        for (int j = 0; j < 8; ++j) b[j] = room->b[at][k][p.column + 8 * (j / 2) + 2 * p.t + j % 2];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                float &s = sum[i / 2][j / 2][2 * (i % 2) + j % 2];
                s = fmaf(a[i], b[j], s);
            }
    }
}

/* left(i, s) and right(j, s) are entries of A and B, 0 outside; put(i, j, sum) takes a result. Before and
 * after it the threads of the block are together. */
template <class real, class Left, class Right, class Put>
__device__ void multiply_tile(product_room<real> *room, int depth, Left left, Right right, Put put)
{
    constexpr int A = PRODUCT_ROWS * PRODUCT_DEPTH / PRODUCT_THREADS;
    constexpr int B = PRODUCT_COLUMNS * PRODUCT_DEPTH / PRODUCT_THREADS;
    const int thread = static_cast<int>(threadIdx.x);
    const product_place p = find_product_place();
    real sum[2][4][4] = {}, a[A], b[B];
    auto fetch = [&](int from) {
#pragma unroll
        for (int k = 0; k < A; ++k) {
            const int at = thread + k * PRODUCT_THREADS;
            a[k] = left(at % PRODUCT_ROWS, from + at / PRODUCT_ROWS);
        }
#pragma unroll
        for (int k = 0; k < B; ++k) {
            const int at = thread + k * PRODUCT_THREADS;
            b[k] = right(at % PRODUCT_COLUMNS, from + at / PRODUCT_COLUMNS);
        }
    };
    auto store = [&](int where) {
#pragma unroll
        for (int k = 0; k < A; ++k) {
            const int at = thread + k * PRODUCT_THREADS;
            room->a[where][at / PRODUCT_ROWS][at % PRODUCT_ROWS] = a[k];
        }
#pragma unroll
        for (int k = 0; k < B; ++k) {
            const int at = thread + k * PRODUCT_THREADS;
            room->b[where][at / PRODUCT_COLUMNS][at % PRODUCT_COLUMNS] = b[k];
        }
    };
    int where = 0;
    if (depth > 0) {
        fetch(0);
        store(0);
    }
    __syncthreads();
    for (int from = 0; from < depth; from += PRODUCT_DEPTH) {
        const bool more = from + PRODUCT_DEPTH < depth;
        if (more) fetch(from + PRODUCT_DEPTH);
        multiply_step(p, room, where, sum);
        where ^= 1;
        if (more) store(where);
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                put(p.row + 16 * m + p.g + 8 * (i / 2), p.column + 8 * n + 2 * p.t + i % 2, sum[m][n][i]);
}

/* W = D L of a row of L: entry s, from the row, which has the stride ld, and D. */
template <class real> __device__ inline real scaled_entry(const real *row, int64_t ld, const real *d, int s)
{
    real w = d[2 * s] * row[s * ld];
    if (d[2 * s + 1] != 0) w = fma(d[2 * s + 1], row[(s + 1) * ld], w);
    if (s > 0 && d[2 * s - 1] != 0) w = fma(d[2 * s - 1], row[(s - 1) * ld], w);
    return w;
}

} /* namespace sd_cuda */
