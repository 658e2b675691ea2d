/* The reference's kernels on blocks, in both precisions: rows of batch.def. */
#pragma once

#include "backend/backend.h"

#define KERNEL(name, parameters, arguments)                                                                  \
    void sd_reference_##name##_double parameters;                                                            \
    void sd_reference_##name##_single parameters;
#include "backend/batch.def"
#undef KERNEL

/* Job k of the plan has so many rows. */
static inline int rows_of_job(const sd_batch_plan *plan, int32_t k)
{
    int s = 1;
    while (plan->first[s + 1] <= k) ++s;
    return s;
}
