/*
 * Large fronts of a level: what the kernels on them share.
 *
 * Columns of a front are in this order while it is factored:
 *
 *     [0, e) eliminated | [e, end) untested columns of the panel at work | [end, panel) those of it that
 * failed | [panel, last) untested | [last, n) failed in earlier panels
 *
 * Columns before `panel` are up to date. When it is done its pivots [base, e) are subtracted from the columns
 * up to `outer_end`, and from those behind them only with all pivots [outer, e) since the last time: products
 * are the faster the deeper they are. Where columns change places across panels, all are brought up to date
 * first.
 */
#pragma once

#include "backend/cuda/front_count.cuh"
#include "backend/cuda/front_launch.cuh"
#include "backend/cuda/front_product.cuh"

namespace sd_cuda
{

constexpr int LARGE_THREADS = PRODUCT_THREADS;
constexpr int JOB_ROW = PRODUCT_ROWS; /* rows of a job */
constexpr int STRIP = 16;             /* columns that are assembled by one block */
constexpr int PANEL = 128;            /* columns of a panel, at most */
#ifdef SADDLE_EMULATED
constexpr int OUTER = 256; /* less, so that fronts of tests get there */
#else
constexpr int OUTER = 1024; /* of those that are brought up to date with each panel */
#endif
constexpr int NARROW = 64, WIDE = 128; /* columns of a tile of a product */
constexpr int WIDE_FROM = 256;         /* order of a matrix that is cut into wide ones */

enum large_mode { MODE_TILES, MODE_DONE };

template <class real> struct large_work {
    front_tile<real> tile;
    front_state<real> state;
    real *w, *l; /* W and L of the tile's columns: column c of row i at c * ld + i */
    int e, base, end, panel, outer, outer_end, last;
    /* What e, end and last become when the step is over; how many columns from `next` on then change places
     * with those before moved_to; whether all columns were tried and some are left. */
    int next, next_end, next_last, moves, moved_to;
    int over;
    bool flush, deep; /* whether the panel is done and columns lack its pivots; whether all lack none then */
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

/* Columns up to which those behind column e are brought up to date with each panel: where tiles of products
 * begin, or all of n. */
__device__ inline int end_of_outer(int e, int n)
{
    return min(n, (e + OUTER + PRODUCT_ROWS - 1) / PRODUCT_ROWS * PRODUCT_ROWS);
}

/* The lower triangle of a matrix is cut into tiles of PRODUCT_ROWS rows, `deep` of them from top to bottom.
 * From the column of that width with number `first` on there are so many in the next t columns. */
__device__ __host__ inline int64_t tiles_of(int64_t deep, int64_t first, int64_t t)
{
    return t * (deep - first) - t * (t - 1) / 2;
}

/* Tile `job` of those in columns [first, end), where they are `width` columns wide. They are counted row by
 * row in strips of STRIP_TILES columns: blocks at work at the same time then share rows and columns. */
constexpr int STRIP_TILES = 12;
struct tile_place {
    int row, column;
};
__device__ inline tile_place find_tile(int deep, int first, int end, int width, int job)
{
    const int beside = PRODUCT_ROWS / width, tile = job / beside, side = 2 * (deep - first) + 1;
    int t = static_cast<int>((side - sqrtf(fmaxf(0.f, static_cast<float>(side) * side - 8.f * tile))) / 2);
    while (t > 0 && tiles_of(deep, first, t) > tile) --t;
    while (tiles_of(deep, first, t + 1) <= tile) ++t;
    const int strip = t / STRIP_TILES * STRIP_TILES, wide = min(STRIP_TILES, end - first - strip);
    const int at = tile - static_cast<int>(tiles_of(deep, first, strip)), square = wide * (wide + 1) / 2;
    int row = 0, column;
    if (at < square) { /* where the strip begins */
        while ((row + 1) * (row + 2) / 2 <= at) ++row;
        column = at - row * (row + 1) / 2;
    } else {
        row = wide + (at - square) / wide;
        column = (at - square) % wide;
    }
    return {(first + strip + row) * PRODUCT_ROWS,
            (first + strip + column) * PRODUCT_ROWS + job % beside * width};
}

/* Where an entry (i, j), i >= j, of a contribution block of order q is: plan/contribution.h. */
__device__ inline int64_t rest_at(int q, int i, int j)
{
    const int64_t b = j / SD_REST_WIDTH, first = b * SD_REST_WIDTH;
    return SD_REST_WIDTH * (b * q - SD_REST_WIDTH * (b * (b - 1) / 2)) + (j - first) * (q - first) +
           (i - first);
}

} /* namespace sd_cuda */
