/* The reference's kernels on blocks, in both precisions: rows of batch.def. */
#ifndef SD_REFERENCE_BLOCKS_H
#define SD_REFERENCE_BLOCKS_H

#include "backend/backend.h"

#define KERNEL(name, parameters, arguments)                                                                  \
    void sd_reference_##name##_double parameters;                                                            \
    void sd_reference_##name##_single parameters;
#include "backend/batch.def"
#undef KERNEL

#endif
