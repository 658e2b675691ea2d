/* The precisions that numbers are kept in. */
#pragma once

#include <stddef.h>

typedef enum sd_precision { SD_DOUBLE, SD_SINGLE, SD_PRECISIONS } sd_precision;

static inline size_t sd_precision_size(sd_precision precision)
{
    return precision == SD_DOUBLE ? sizeof(double) : sizeof(float);
}
