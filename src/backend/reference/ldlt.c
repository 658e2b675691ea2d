/* The reference's kernels on a column of a block LDL', in both precisions. */
#include "backend/ldlt.h"

#include <math.h>

#define TEMPLATE "backend/reference/ldlt_column.inc"
#include "backend/both_precisions.inc"

const sd_ldlt_kernels sd_ldlt_reference[SD_PRECISIONS] = {SD_LDLT_KERNELS(double), SD_LDLT_KERNELS(single)};
