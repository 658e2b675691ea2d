#include "backend/reference/blocks.h"

#define KERNEL(name, parameters, arguments)                                                                  \
    void sd_reference_##name##_double parameters                                                             \
    {                                                                                                        \
    }                                                                                                        \
    void sd_reference_##name##_single parameters                                                             \
    {                                                                                                        \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "backend/blocks.def"
