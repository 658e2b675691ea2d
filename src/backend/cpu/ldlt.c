/* The CPU's kernels on a column of a block LDL' for one instruction set, in both precisions. */
#include "backend/cpu/isa.h"
#include "core/barrier.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    TEAM_FROM = 512, /* blocks, or rows of a matrix, below which a team of threads costs more than it saves */
    LEVEL_TEAM = 64  /* and targets of a level */
};

#define PUBLIC(x) SD_ISA(NAME(x))
#define TEMPLATE "backend/cpu/ldlt_kernels.inc"
#include "backend/both_precisions.inc"

const sd_ldlt_kernels SD_ISA(ldlt)[SD_PRECISIONS] = {SD_LDLT_KERNELS(double), SD_LDLT_KERNELS(single)};
