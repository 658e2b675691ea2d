/*
 * Sweeps of the fixed-point iteration for incomplete factors: see factor/fixed_point_sweep.h for the
 * mathematics, backend/incomplete_run.h for the arrays.
 *
 * A sweep is one kernel over rows, which makes every c from the numbers before it, and the pivots, and one
 * over the entries of L, which are divided by the new pivots. Two buffers: no number depends on who is first.
 * What changes is summed row by row; the host gets the sum of these (incomplete_run.cu).
 */
#include "backend/cuda/incomplete.cuh"
#include "backend/cuda/vectors.cuh"

namespace sd_cuda
{
namespace
{

/* c of an entry. */
__device__ inline double make_entry(const sd_pattern_factors &f, const place_of_entry &at)
{
    const sd_pattern_half &half = at.half, &other = at.other;
    const int32_t j = half.ind[at.k];
    int64_t a = at.begin, c = other.ptr[j];
    const int64_t end = other.ptr[j + 1];
    double sum = entry_of_matrix(f, half, at.k);
    if (a >= at.k || c >= end) return sum;
    int32_t own = half.ind[a], its = other.ind[c];
    for (;;) {
        if (own == its) sum -= half.val[a] * other.val[c];
        const bool here = own <= its, there = its <= own;
        if (here && ++a >= at.k) break;
        if (there && ++c >= end) break;
        if (here) own = half.ind[a];
        if (there) its = other.ind[c];
    }
    return sum;
}

template <int lanes> __global__ void __launch_bounds__(BLOCK) sweep(const sd_pattern_factors f)
{
    const int l = threadIdx.x % lanes;
    const int64_t i64 = (static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x) / lanes;
    const bool there = i64 < f.n;
    const int32_t i = there ? static_cast<int32_t>(i64) : 0;
    const int64_t count = there ? entries_of_row(f, i) : 0;
    double change = 0, sum = 0;
    for (int64_t t = l; t < count; t += lanes) {
        const place_of_entry at(f, i, t);
        const double c = make_entry(f, at);
        const double before = at.half.val[at.k] * (at.lower ? f.diagonal[at.half.ind[at.k]] : 1);
        change += (f.symmetric ? 2 : 1) * fabs(c - before);
        at.half.next[at.k] = c;
    }
    if (there) sum = pivot_share(f, i, l, lanes, [](const double *at) { return *at; });
    change = add_lanes<lanes>(change);
    sum = add_lanes<lanes>(sum);
    if (!there || l > 0) return;
    const double pivot = shifted(f, i) - sum, before = f.diagonal[i] * (f.symmetric ? f.diagonal[i] : 1);
    f.change[i] = change + fabs(pivot - before);
    double diagonal;
    if (!take_pivot(f, i, pivot, diagonal)) store_relaxed(f.broken, 1);
    f.next[i] = diagonal;
}

/* What comes before the first sweep: c = b, d = its diagonal. */
__global__ void __launch_bounds__(BLOCK) guess_pivots(const sd_pattern_factors f)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (i >= f.n) return;
    double diagonal;
    if (!take_pivot(f, static_cast<int32_t>(i), shifted(f, static_cast<int32_t>(i)), diagonal))
        store_relaxed(f.broken, 1);
    f.diagonal[i] = diagonal;
}

struct guessed {
    sd_pattern_factors f;
    bool lower;
    __device__ double operator()(int64_t k) const
    {
        const double b = entry_of_matrix(f, lower ? f.lower : f.upper, k);
        return lower ? b / f.diagonal[f.lower.ind[k]] : b;
    }
};

struct divided {
    const double *c, *diagonal;
    const int32_t *ind;
    __device__ double operator()(int64_t k) const
    {
        return c[k] / diagonal[ind[k]];
    }
};

template <int lanes> void launch_lanes(sd_engine *e, const sd_pattern_factors *f)
{
    constexpr int rows = BLOCK / lanes;
    launch(e, "a fixed-point sweep", sweep<lanes>, (static_cast<int64_t>(f->n) + rows - 1) / rows, *f);
}

} /* namespace */

void launch_guess(sd_engine *e, const sd_pattern_factors *f)
{
    const char *const what = "fixed-point sweeps";
    launch(e, what, guess_pivots, (static_cast<int64_t>(f->n) + BLOCK - 1) / BLOCK, *f);
    for_each<double>(e, what, f->lower.entries, f->lower.val, guessed{*f, true});
    if (!f->symmetric) for_each<double>(e, what, f->upper.entries, f->upper.val, guessed{*f, false});
}

void launch_sweep(sd_engine *e, const sd_pattern_factors *f)
{
    switch (lanes_of_row(f)) {
    case 1: launch_lanes<1>(e, f); break;
    case 2: launch_lanes<2>(e, f); break;
    case 4: launch_lanes<4>(e, f); break;
    case 8: launch_lanes<8>(e, f); break;
    case 16: launch_lanes<16>(e, f); break;
    default: launch_lanes<32>(e, f); break;
    }
    for_each<double>(e, "a fixed-point sweep", f->lower.entries, f->lower.next,
                     divided{f->lower.next, f->next, f->lower.ind});
}

} /* namespace sd_cuda */
