/* The reference's kernels on a column of a block LDL', in both precisions. */
#include "backend/ldlt.h"

#include <math.h>

#define real double
#define NAME(x) x##_double
#define MATH(x) x
#include "backend/reference/ldlt_column.inc"
#undef real
#undef NAME
#undef MATH

#define real float
#define NAME(x) x##_single
#define MATH(x) x##f
#include "backend/reference/ldlt_column.inc"

#define KERNELS(precision)                                                                                   \
    {                                                                                                        \
        weigh_##precision, subtract_##precision, weight_##precision, scatter_##precision,                    \
            keep_block_##precision, keep_diagonal_##precision                                                \
    }

const sd_ldlt_kernels sd_ldlt_reference[SD_PRECISIONS] = {KERNELS(double), KERNELS(single)};
