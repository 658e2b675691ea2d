/* A triangular factor as its kernels on the device see it: sd_triangle in one precision. */
#pragma once

#include "backend/cuda/cuda.cuh"

namespace sd_cuda
{

template <class real> struct triangle {
    int32_t n, blocks, largest;
    bool upper;
    const int64_t *ptr, *split, *square;
    const int32_t *ind, *from, *start;
    const real *val, *reciprocal, *inverse;

    explicit triangle(const sd_triangle *x)
        : n(x->n), blocks(x->blocks), largest(x->largest), upper(x->upper), ptr(x->ptr), split(x->split),
          square(x->square), ind(x->ind), from(x->from), start(x->start),
          val(static_cast<const real *>(x->val)), reciprocal(static_cast<const real *>(x->reciprocal)),
          inverse(static_cast<const real *>(x->inverse))
    {
    }
    /* Entry s of first .. end), those farthest from the diagonal first. */
    __device__ int64_t entry(int64_t first, int64_t end, int64_t s) const
    {
        return upper ? end - 1 - s : first + s;
    }
    __device__ real value(int64_t k) const
    {
        return val[from ? from[k] : k];
    }
};

/* Lanes that share a row of so many entries on average, `each` of them at most as long as there are lanes. */
inline int lanes_for(const sd_triangle *x, int each, int most)
{
    int lanes = 1;
    while (lanes < most && static_cast<int64_t>(each) * lanes * x->n < x->entries) lanes *= 2;
    return lanes;
}

template <class real> inline const real *numbers_of(const sd_vector *x)
{
    return x ? static_cast<const real *>(x->data) : NULL;
}

} /* namespace sd_cuda */
