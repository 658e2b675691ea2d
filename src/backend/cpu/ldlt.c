/* The CPU's kernels on a column of a block LDL' for one instruction set, in both precisions. */
#include "backend/cpu/isa.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    TEAM_FROM = 512, /* blocks, or rows of a matrix, below which a team of threads costs more than it saves */
    LEVEL_TEAM = 64  /* and targets of a level */
};

#define real double
#define NAME(x) x##_double
#define PUBLIC(x) SD_ISA(x##_double)
#define MATH(x) x
#define SINGLE 0
#define LARGEST DBL_MAX
#include "backend/cpu/front_vector.inc"

#include "backend/cpu/ldlt_column.inc"
#include "backend/cpu/ldlt_run.inc"
#include "backend/cpu/ldlt_solve.inc"
/* after it */
#include "backend/cpu/ldlt_entries.inc"
#undef real
#undef NAME
#undef PUBLIC
#undef MATH
#undef SINGLE
#undef LARGEST
#undef BY_WIDTH
#undef MOST_ROWS

#define real float
#define NAME(x) x##_single
#define PUBLIC(x) SD_ISA(x##_single)
#define MATH(x) x##f
#define SINGLE 1
#define LARGEST FLT_MAX
#include "backend/cpu/front_vector.inc"

#include "backend/cpu/ldlt_column.inc"
#include "backend/cpu/ldlt_run.inc"
#include "backend/cpu/ldlt_solve.inc"
/* after it */
#include "backend/cpu/ldlt_entries.inc"

#define KERNELS(precision)                                                                                   \
    {                                                                                                        \
        weigh_##precision, subtract_##precision, weight_##precision, scatter_##precision,                    \
            keep_block_##precision, keep_diagonal_##precision                                                \
    }

const sd_ldlt_kernels SD_ISA(ldlt)[SD_PRECISIONS] = {KERNELS(double), KERNELS(single)};
