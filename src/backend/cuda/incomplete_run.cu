/*
 * Incomplete factorizations on a device: the matrix, the factors, and the triangles made of them. See
 * backend/incomplete_run.h.
 */
#include "backend/cuda/incomplete.cuh"
#include "backend/cuda/vectors.cuh"

extern "C" {
#include "core/power.h"
}

namespace sd_cuda
{
namespace
{

int64_t grid_for(int64_t threads)
{
    return (threads + BLOCK - 1) / BLOCK;
}

/* ---- the matrix ---- */

constexpr int LANES = 8; /* of a row of the matrix */

/* B, and of each row its diagonal and its largest entry. */
__global__ void __launch_bounds__(BLOCK) prepare(const sd_pattern_factors f, const double *values)
{
    const int l = threadIdx.x % LANES;
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x) / LANES;
    const bool there = i < f.n;
    const int64_t first = there ? f.ptr[i] : 0, end = there ? f.ptr[i + 1] : 0;
    double most = 0, own = 0;
    for (int64_t k = first + l; k < end; k += LANES) {
        const int32_t j = f.ind[k];
        const double b = sd_scale_both(values[f.source[k]], f.row_scale[i], f.column_scale[j]);
        f.b[k] = b;
        most = fmax(most, fabs(b));
        if (j == i) own = b;
    }
#pragma unroll
    for (int apart = LANES / 2; apart > 0; apart /= 2) {
        most = fmax(most, __shfl_xor_sync(ALL_LANES, most, apart));
        own += __shfl_xor_sync(ALL_LANES, own, apart); /* 0 in all but one */
    }
    if (!there || l > 0) return;
    f.most[i] = most;
    f.own[i] = own;
}

/* The numbers of a vector. */
struct number_of_row {
    const double *of;
    using read = double;
    __device__ read load(int64_t i) const
    {
        return of[i];
    }
    __device__ void values(int64_t, read o, double (&value)[1]) const
    {
        value[0] = o;
    }
};

void values(sd_engine *e, const sd_pattern_factors *f, const double *from, double *size)
{
    if (e->status) return;
    launch(e, "the matrix of an incomplete factorization", prepare,
           grid_for(static_cast<int64_t>(f->n) * LANES), *f, from);
    reduction<largest, 1>(e, "the largest entry", f->n, number_of_row{f->most}, size);
    if (!e->status) collect(e);
}

/* ---- the factors ---- */

bool is_broken(sd_engine *e, const sd_pattern_factors *f)
{
    int broken = 1;
    if (!e->status) e->backend->download(e, f->broken, &broken, sizeof broken);
    return broken != 0;
}

bool mend(sd_engine *e, const sd_pattern_factors *f)
{
    const on_device current(state_of(e)->device);
    return !e->status && !failed(e, current.error, "incomplete factors") &&
           !failed(e, cudaMemsetAsync(f->broken, 0, sizeof(int), state_of(e)->stream), "incomplete factors");
}

void eliminate(sd_engine *e, const sd_pattern_factors *f, bool *broken)
{
    if (mend(e, f)) launch_elimination(e, f);
    *broken = is_broken(e, f);
}

/* |B| at the entries of a half, or on the diagonal. */
struct size_of_entry {
    sd_pattern_factors f;
    bool lower;
    using read = double;
    __device__ read load(int64_t k) const
    {
        return entry_of_matrix(f, lower ? f.lower : f.upper, k);
    }
    __device__ void values(int64_t, read o, double (&value)[1]) const
    {
        value[0] = fabs(o);
    }
};

struct size_of_pivot {
    sd_pattern_factors f;
    using read = double;
    __device__ read load(int64_t i) const
    {
        return shifted(f, static_cast<int32_t>(i));
    }
    __device__ void values(int64_t, read o, double (&value)[1]) const
    {
        value[0] = fabs(o);
    }
};

void guess(sd_engine *e, const sd_pattern_factors *f, double *norm, bool *broken)
{
    double part[3] = {0, 0, 0};
    if (mend(e, f)) launch_guess(e, f);
    reduction<addition, 1>(e, "norm", f->lower.entries, size_of_entry{*f, true}, &part[0]);
    if (!f->symmetric)
        reduction<addition, 1>(e, "norm", f->upper.entries, size_of_entry{*f, false}, &part[1]);
    reduction<addition, 1>(e, "norm", f->n, size_of_pivot{*f}, &part[2]);
    if (!e->status) collect(e);
    *norm = (f->symmetric ? 2 : 1) * part[0] + part[1] + part[2];
    *broken = is_broken(e, f);
}

void sweep_once(sd_engine *e, const sd_pattern_factors *f, double *change, bool *broken)
{
    *change = 0;
    if (mend(e, f)) launch_sweep(e, f);
    reduction<addition, 1>(e, "change", f->n, number_of_row{f->change}, change);
    if (!e->status) collect(e);
    *broken = is_broken(e, f);
}

/* ---- triangles ---- */

/* Where the numbers of a triangle come from. */
struct numbers {
    const double *val, *diagonal; /* diagonal NULL: ones */
    const int32_t *number, *order;
    __device__ double entry(int64_t k) const
    {
        return val[number ? number[k] : k];
    }
    __device__ double reciprocal(int64_t i) const
    {
        return diagonal ? 1 / diagonal[order ? order[i] : i] : 1;
    }
};

template <class real> struct entry_filled {
    numbers from;
    __device__ real operator()(int64_t k) const
    {
        return static_cast<real>(from.entry(k));
    }
};

template <class real> struct reciprocal_filled {
    numbers from;
    __device__ real operator()(int64_t i) const
    {
        return static_cast<real>(from.reciprocal(i));
    }
};

/* A thread a column of the inverse of a block; what it has made of it is in a vector of its own. */
template <class real>
__global__ void __launch_bounds__(BLOCK) invert(const triangle<real> x, const numbers from)
{
    const int64_t q = (static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x) / WARP;
    const int j = threadIdx.x % WARP;
    if (q >= x.blocks) return;
    const int32_t first = x.start[q];
    const int size = x.start[q + 1] - first;
    if (j >= size) return;
    double v[WARP];
    real *const to = const_cast<real *>(x.inverse) + x.square[q] + static_cast<int64_t>(j) * size;
    for (int s = 0; s < size; ++s) v[s] = s == j ? 1 : 0;
    for (int s = 0; s < size; ++s) {
        const int r = x.upper ? size - 1 - s : s;
        const int64_t i = first + r, begin = x.upper ? x.ptr[i] : x.split[i],
                      end = x.upper ? x.split[i] : x.ptr[i + 1];
        for (int64_t k = begin; k < end; ++k) v[r] -= from.entry(k) * v[x.ind[k] - first];
        v[r] *= from.reciprocal(i);
    }
    for (int s = 0; s < size; ++s) to[s] = static_cast<real>(v[s]);
}

template <class real> void fill_in(sd_engine *e, const sd_triangle *x, const numbers &from)
{
    const char *const what = "numbers of a triangle";
    for_each<real>(e, what, x->entries, const_cast<void *>(x->val), entry_filled<real>{from});
    for_each<real>(e, what, x->n, const_cast<void *>(x->reciprocal), reciprocal_filled<real>{from});
    if (!e->status && x->blocks > 0)
        launch(e, what, invert<real>, grid_for(static_cast<int64_t>(x->blocks) * WARP), triangle<real>(x),
               from);
}

void fill_triangle(sd_engine *e, const sd_pattern_factors *f, const int32_t *number, const int32_t *order,
                   const sd_triangle *x)
{
    const bool own = x->upper && !f->symmetric; /* of U */
    const numbers from = {own ? f->upper.val : f->lower.val, own || f->symmetric ? f->diagonal : NULL, number,
                          order};
    if (x->precision == SD_DOUBLE)
        fill_in<double>(e, x, from);
    else
        fill_in<float>(e, x, from);
}

} /* namespace */

extern const sd_incomplete_runner incomplete_runner = {values, eliminate, guess, sweep_once, fill_triangle};

} /* namespace sd_cuda */
