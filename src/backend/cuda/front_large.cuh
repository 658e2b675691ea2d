/*
 * Large fronts of a level: what the kernels on them share.
 *
 * Columns of a front are in this order while it is factored:
 *
 *     [0, e) eliminated | [e, end) untested columns of the panel at work | [end, panel) those of it that
 * failed | [panel, last) untested | [last, n) failed in earlier panels
 *
 * Columns before `panel` are up to date; those from there on lack the pivots [base, e), which are applied as
 * one product when the panel is done.
 */
#pragma once

#include "backend/cuda/front_count.cuh"
#include "backend/cuda/front_launch.cuh"
#include "backend/cuda/front_product.cuh"

namespace sd_cuda
{

constexpr int LARGE_THREADS = PRODUCT_THREADS;
constexpr int JOB_ROW = PRODUCT_ROWS;  /* rows of a job */
constexpr int STRIP = 16;              /* columns that are assembled by one block */
constexpr int PANEL = 256;             /* columns of a panel, at most */
constexpr int NARROW = 64, WIDE = 128; /* columns of a tile of a product */
constexpr int WIDE_FROM = 256;         /* order of a matrix that is cut into wide ones */

enum large_mode { MODE_TILES, MODE_DONE };

template <class real> struct large_work {
    front_tile<real> tile;
    front_state<real> state;
    real *w, *l; /* W and L of the tile's columns: column c of row i at c * ld + i */
    int e, base, end, panel, last;
    /* What e, end and last become when the step is over; how many columns from `next` on then change places
     * with those before moved_to; whether all columns were tried and some are left. */
    int next, next_end, next_last, moves, moved_to;
    int over;
    int mode;
    int perturbed;
    bool root;
    rounds round;
};

/* The level's front that job `job` is of, and its number there. */
struct job_place {
    int front, job;
};
__device__ inline job_place find_job(const int64_t *ptr, int fronts, int64_t job)
{
    int low = 0, high = fronts; /* ptr[low] <= job < ptr[high] */
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (ptr[middle] <= job)
            low = middle;
        else
            high = middle;
    }
    return {low, static_cast<int>(job - ptr[low])};
}

__device__ __host__ inline int64_t pieces_of(int64_t whole, int64_t piece)
{
    return (whole + piece - 1) / piece;
}

__device__ __host__ inline int tile_width(int64_t order)
{
    return order < WIDE_FROM ? NARROW : WIDE;
}

/* Where an entry (i, j), i >= j, of a contribution block of order q is: plan/contribution.h. */
__device__ inline int64_t rest_at(int q, int i, int j)
{
    const int64_t b = j / SD_REST_WIDTH, first = b * SD_REST_WIDTH;
    return SD_REST_WIDTH * (b * q - SD_REST_WIDTH * (b * (b - 1) / 2)) + (j - first) * (q - first) +
           (i - first);
}

/* The first of `count` ascending numbers that is not below `least`. */
__device__ inline int find_first(const int32_t *ascending, int count, int least)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ascending[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

} /* namespace sd_cuda */
