/*
 * What kernels of incomplete factorizations share: see backend/incomplete_run.h.
 *
 * A row of a factorization is `lanes` threads' of a warp, 1 to 32 by the entries of an average row: a lane
 * makes entries l, l + lanes, ... of the row of L, and behind these of the row of U'. Each is the product of
 * what comes before it in its row and a row of the other half, which are merged by their columns.
 */
#pragma once

#include "backend/cuda/awaited.cuh"
#include "backend/cuda/triangle.cuh"

extern "C" {
#include "backend/incomplete_run.h"
}

namespace sd_cuda
{

/* The entry number t of row i: of L, then of U'. */
struct place_of_entry {
    sd_pattern_half half, other;
    int64_t begin, k; /* the row; the entry */
    bool lower;

    __device__ place_of_entry(const sd_pattern_factors &f, int32_t i, int64_t t)
    {
        const int64_t count = f.lower.ptr[i + 1] - f.lower.ptr[i];
        lower = f.symmetric || t < count;
        half = lower ? f.lower : f.upper;
        other = lower && !f.symmetric ? f.upper : f.lower;
        begin = half.ptr[i];
        k = begin + (lower ? t : t - count);
    }
};

__device__ inline int64_t entries_of_row(const sd_pattern_factors &f, int32_t i)
{
    const int64_t lower = f.lower.ptr[i + 1] - f.lower.ptr[i];
    return f.symmetric ? lower : lower + f.upper.ptr[i + 1] - f.upper.ptr[i];
}

/* B at an entry of a half. */
__device__ inline double entry_of_matrix(const sd_pattern_factors &f, const sd_pattern_half &h, int64_t k)
{
    return h.at[k] < 0 ? 0 : f.b[h.at[k]] * f.unit;
}

/* The largest entry of a row, 1 where all are 0. */
__device__ inline double largest_of_row(const sd_pattern_factors &f, int32_t i)
{
    return f.most[i] > 0 ? f.most[i] * fabs(f.unit) : 1;
}

/* The diagonal of B with the shift, which in L U has the sign of the diagonal. */
__device__ inline double shifted(const sd_pattern_factors &f, int32_t i)
{
    const double own = f.own[i] * f.unit, by = f.shift * largest_of_row(f, i);
    return own + (own < 0 && !f.symmetric ? -by : by);
}

/* The entry of the diagonal for a pivot; whether it can be used. */
__device__ inline bool take_pivot(const sd_pattern_factors &f, int32_t i, double pivot, double &diagonal)
{
    diagonal = f.symmetric ? sqrt(pivot) : pivot;
    return isfinite(pivot) && (f.symmetric ? pivot : fabs(pivot)) > f.least * largest_of_row(f, i);
}

/* Of row i of U' the entry at a column; -1: none. */
__device__ inline int64_t find_column(const sd_pattern_half &h, int32_t i, int32_t column)
{
    int64_t low = h.ptr[i], high = h.ptr[i + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (h.ind[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h.ptr[i + 1] && h.ind[low] == column ? low : -1;
}

/* Entries l, l + lanes, ... of row i of L times those of U': what the pivot is less. */
template <class F>
__device__ inline double pivot_share(const sd_pattern_factors &f, int32_t i, int l, int lanes, const F &load)
{
    double sum = 0;
    for (int64_t k = f.lower.ptr[i] + l; k < f.lower.ptr[i + 1]; k += lanes) {
        const double a = load(f.lower.val + k);
        const int64_t with = f.symmetric ? k : find_column(f.upper, i, f.lower.ind[k]);
        if (with >= 0) sum += a * (f.symmetric ? a : load(f.upper.val + with));
    }
    return sum;
}

template <int lanes> __device__ inline double add_lanes(double sum)
{
#pragma unroll
    for (int apart = lanes / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
    return sum;
}

/* Lanes for the average row, two entries each. */
inline int lanes_of_row(const sd_pattern_factors *f)
{
    const int64_t entries = f->lower.entries + (f->symmetric ? 0 : f->upper.entries);
    int lanes = 1;
    while (lanes < WARP && 2 * int64_t{lanes} * f->n < entries) lanes *= 2;
    return lanes;
}

/* incomplete_factor.cu, incomplete_sweep.cu: launches; *f->broken is 0 before. */
void launch_elimination(sd_engine *e, const sd_pattern_factors *f);
void launch_guess(sd_engine *e, const sd_pattern_factors *f);
void launch_sweep(sd_engine *e, const sd_pattern_factors *f);

} /* namespace sd_cuda */
