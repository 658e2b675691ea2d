/*
 * A tile of C - A D B', by a block of 256 threads: 128 rows and 64 or 128 columns, of which each of the
 * eight warps has 32 by 32 or 32 by 64. A and B are columns of a panel, or of a buffer; D has 1x1 and 2x2
 * pivots as in front.h, or is left out. The operands come into shared memory 16 columns at a time, three
 * steps ahead of the product, which in double runs on the tensor cores. D is applied to B there: a thread
 * scales what it has copied itself, a step before it is needed, so that the product knows nothing of D and
 * nobody waits.
 *
 * The inner dimension is never split between blocks, and an entry of C is always summed in its order.
 */
#pragma once

#include "backend/cuda/fronts.cuh"

namespace sd_cuda
{

constexpr int PRODUCT_THREADS = 256, PRODUCT_ROWS = 128, PRODUCT_DEPTH = 16, PRODUCT_STAGES = 4;
constexpr int PRODUCT_WARPS = PRODUCT_THREADS / WARP;

/* Pairs of numbers of a step that a thread copies of a side with so many rows: of two rows in so many columns
 * one after the other, which are the same for all lanes of a warp. */
__device__ __host__ constexpr int pairs_of(int rows)
{
    return rows * PRODUCT_DEPTH / 2 / PRODUCT_THREADS;
}

/* Rows have 4 numbers more than a multiple of 16: fragments are then read without conflicts. */
template <class real, int COLUMNS> struct product_room {
    real a[PRODUCT_STAGES][PRODUCT_DEPTH][PRODUCT_ROWS + 4];
    real b[PRODUCT_STAGES][PRODUCT_DEPTH][COLUMNS + 4];
    real d[PRODUCT_STAGES][PRODUCT_WARPS][pairs_of(COLUMNS) + 1]
          [2]; /* of a warp's columns and the one before them */
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
    constexpr int PAIRS = pairs_of(ROWS);
    const int thread = static_cast<int>(threadIdx.x), i = thread % (ROWS / 2) * 2,
              first = thread / (ROWS / 2) * PAIRS;
    const real *at = s.at + i + (from + first) * s.ld;
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) {
        const bool there = i < s.rows && from + first + k < depth;
        copy_two(&to[first + k][i], there ? at + k * s.ld : s.at, there);
    }
}

/* D of the columns that a warp copies, and of the one before them. */
template <class real, int COLUMNS>
__device__ inline void copy_d(real (&to)[pairs_of(COLUMNS) + 1][2], const real *d, int from, int depth)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int c = from + static_cast<int>(threadIdx.x) / (COLUMNS / 2) * pairs_of(COLUMNS) - 1 + lane;
    const bool there = c >= 0 && c < depth;
    if (lane <= pairs_of(COLUMNS)) copy_two(to[lane], there ? d + 2 * c : d, there);
}

/* B becomes D B' where this thread has copied it. A 2x2 pivot may be cut: the other half is then in global
 * memory. */
template <class real, int COLUMNS>
__device__ inline void scale_side(real (&b)[PRODUCT_DEPTH][COLUMNS + 4],
                                  const real (&d)[pairs_of(COLUMNS) + 1][2], const product_side<real> &s,
                                  int from)
{
    constexpr int PAIRS = pairs_of(COLUMNS);
    const int thread = static_cast<int>(threadIdx.x), i = thread % (COLUMNS / 2) * 2;
    const int first = thread / (COLUMNS / 2) * PAIRS;
    real x[PAIRS + 2][2] = {};
    const bool there = i < s.rows, before = d[0][1] != 0, behind = d[PAIRS][1] != 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const real *at = s.at + i + h + (from + first) * s.ld;
#pragma unroll
        for (int k = 0; k < PAIRS; ++k) x[k + 1][h] = b[first + k][i + h];
        if (before && there) x[0][h] = at[-s.ld];
        if (behind && there) x[PAIRS + 1][h] = at[PAIRS * s.ld];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int k = 0; k < PAIRS; ++k) {
            real w = d[k + 1][0] * x[k + 1][h];
            if (d[k + 1][1] != 0) w = fma(d[k + 1][1], x[k + 2][h], w);
            if (d[k][1] != 0) w = fma(d[k][1], x[k][h], w);
            b[first + k][i + h] = w;
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

template <int COLUMNS>
__device__ inline void multiply_step(const product_place<COLUMNS> &p,
                                     const product_room<double, COLUMNS> *room, int at,
                                     double (&sum)[2][COLUMNS / 16][4])
{
    double a[2][8];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 8; ++i)
            a[m][i] = room->a[at][p.t + 4 * (i / 2)][p.row + 16 * m + p.g + 8 * (i % 2)];
#pragma unroll
    for (int n = 0; n < COLUMNS / 16; ++n) {
        double b[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int k = p.t + 4 * i, j = p.column + 8 * n + p.g;
            b[i] = room->b[at][k][j];
        }
#pragma unroll
        for (int m = 0; m < 2; ++m) mma_16x8x16(sum[m][n], a[m], b);
    }
}

template <int COLUMNS>
__device__ inline void multiply_step(const product_place<COLUMNS> &p,
                                     const product_room<float, COLUMNS> *room, int at,
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
    const int warp = static_cast<int>(threadIdx.x) / WARP;
    real sum[2][COLUMNS / 16][4];
    auto fetch = [&](int from) {
        const int stage = from / PRODUCT_DEPTH % PRODUCT_STAGES;
        if (from < depth) {
            copy_side<real, PRODUCT_ROWS>(room->a[stage], left, from, depth);
            copy_side<real, COLUMNS>(room->b[stage], right, from, depth);
            if (SCALED) copy_d<real, COLUMNS>(room->d[stage][warp], d, from, depth);
        }
        cp_async_commit();
    };
    /* The step that begins at column `from` has arrived as far as this thread copies it. */
    auto prepare = [&](int from) {
        const int stage = from / PRODUCT_DEPTH % PRODUCT_STAGES;
        cp_async_wait<PRODUCT_STAGES - 2>();
        if (!SCALED || from >= depth) return;
        __syncwarp(); /* lanes have copied D for each other */
        scale_side<real, COLUMNS>(room->b[stage], room->d[stage][warp], right, from);
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
    prepare(0);
#pragma unroll 1 /* instructions that are fetched cost more than the loop */
    for (int from = 0; from < depth; from += PRODUCT_DEPTH) {
        __syncthreads(); /* the step is ready, and nobody reads the one before any more */
        fetch(from + (PRODUCT_STAGES - 1) * PRODUCT_DEPTH);
        prepare(from + PRODUCT_DEPTH);
        multiply_step<COLUMNS>(p, room, from / PRODUCT_DEPTH % PRODUCT_STAGES, sum);
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
