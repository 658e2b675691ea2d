/* The reference kernels on fronts: fronts.inc in both precisions. */
#include "backend/simplicial.h"

#include <math.h>

#define TEMPLATE "backend/reference/fronts.inc"
#include "backend/both_precisions.inc"

const sd_front_kernels sd_fronts_reference[2] = {SD_FRONT_KERNELS(double, &sd_simplicial_reference),
                                                 SD_FRONT_KERNELS(single, NULL)};
