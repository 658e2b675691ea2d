/* The reference kernels on fronts: fronts.inc in both precisions. */
#include "backend/front.h"

#include <math.h>

#define real double
#define NAME(x) x##_double
#include "backend/reference/fronts.inc"
#undef real
#undef NAME

#define real float
#define NAME(x) x##_single
#include "backend/reference/fronts.inc"

#define TABLE(x)                                                                                             \
    {                                                                                                        \
        .add_entries = add_entries_##x, .add_child = add_child_##x, .work = work_##x, .factor = factor_##x,  \
        .update = update_##x, .largest = largest_##x, .forward = forward_##x, .backward = backward_##x       \
    }
const sd_front_kernels sd_fronts_reference[2] = {TABLE(double), TABLE(single)};
