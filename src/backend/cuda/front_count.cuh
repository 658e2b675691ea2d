/* What is counted of a front when it is done: as src/factor/rank.c counts on the host. */
#pragma once

#include "backend/cuda/front_block.cuh"

namespace sd_cuda
{

/* Operations to eliminate so many columns: the sum of (rows - j)^2. */
__device__ inline unsigned long long front_operations(int rows, int columns)
{
    const unsigned long long r = static_cast<unsigned>(rows), c = static_cast<unsigned>(columns);
    return c == 0 ? 0 : c * r * r - r * c * (c - 1) + (c - 1) * c * (2 * c - 1) / 6;
}

/* Counts of a block, kept in shared memory until it ends. */
struct front_counts {
    unsigned long long signs[3], two_by_two, suspects, delayed, nnz, operations;
    int largest;
};

__device__ inline void begin_counts(front_counts *c)
{
    if (thread_index() == 0) *c = front_counts();
    __syncthreads();
}

/* Whether an eigenvalue of a 2x2 pivot is small. */
__device__ inline int small_eigenvalues(double a, double b, double c)
{
    const double sizes = fabs(a) + fabs(c) + 2 * fabs(b);
    if (fabs(a * c - b * b) > 2 * SD_SUSPECT * sizes) return 0;
    const double half = 0.5 * (a + c), radius = hypot(0.5 * (a - c), b);
    const double large = half >= 0 ? half + radius : half - radius;
    const double small = large == 0 ? 0 : (a / large) * c - (b / large) * b;
    return fabs(small) <= SD_SUSPECT ? fabs(large) <= SD_SUSPECT ? 2 : 1 : 0;
}

/* Of a front with its first own variable; by all threads of a block. */
template <class real> __device__ void count_front(front_counts *to, const front_state<real> &s, int32_t own)
{
    const int e = s.eliminated;
    for (int j = thread_index(); j < e; j += threads_here()) {
        const double a = s.d[2 * j], b = s.d[2 * j + 1];
        const bool second = j > 0 && s.d[2 * j - 1] != 0;
        if (second) continue;
        if (b == 0) {
            atomicAdd(&to->signs[(a > 0) - (a < 0) + 1], 1ull);
            if (a != 0 && fabs(a) <= SD_SUSPECT) atomicAdd(&to->suspects, 1ull);
            continue;
        }
        const double c = s.d[2 * j + 2], product = (a / b) * (c / b);
        const int trace = a + c > 0 ? 1 : -1;
        const int other = fabs(product - 1) <= SD_RANK_ONE ? 0 : product > 1 ? trace : -trace;
        atomicAdd(&to->signs[trace + 1], 1ull);
        atomicAdd(&to->signs[other + 1], 1ull);
        atomicAdd(&to->two_by_two, 1ull);
        const int small = small_eigenvalues(a, b, c);
        if (small) atomicAdd(&to->suspects, static_cast<unsigned long long>(small));
    }
    for (int j = e + thread_index(); j < s.columns; j += threads_here())
        if (s.variable[j] >= own) atomicAdd(&to->delayed, 1ull);
    if (thread_index() == 0) {
        const unsigned long long rows = static_cast<unsigned>(s.rows), k = static_cast<unsigned>(e);
        to->nnz += k == 0 ? 0 : k * rows - k * (k - 1) / 2;
        to->operations += front_operations(s.rows, e);
        to->largest = max(to->largest, s.rows);
    }
}

/* The block's counts go to the tally. */
__device__ inline void end_counts(const front_counts *c, front_tally *to)
{
    __syncthreads();
    if (thread_index() > 0) return;
    for (int k = 0; k < 3; ++k)
        if (c->signs[k]) atomicAdd(&to->signs[k], c->signs[k]);
    if (c->two_by_two) atomicAdd(&to->two_by_two, c->two_by_two);
    if (c->suspects) atomicAdd(&to->suspects, c->suspects);
    if (c->delayed) atomicAdd(&to->delayed, c->delayed);
    atomicAdd(&to->nnz, c->nnz);
    atomicAdd(&to->operations, c->operations);
    atomicMax(&to->largest_front, c->largest);
}

} /* namespace sd_cuda */
