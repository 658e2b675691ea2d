/* The precisions that numbers are kept in. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum sd_precision { SD_DOUBLE, SD_SINGLE, SD_PRECISIONS } sd_precision;

static inline size_t sd_precision_size(sd_precision precision)
{
    return precision == SD_DOUBLE ? sizeof(double) : sizeof(float);
}

/* Entry k of an array of either precision. */
static inline double sd_number_at(const void *data, sd_precision precision, int64_t k)
{
    return precision == SD_DOUBLE ? ((const double *)data)[k] : (double)((const float *)data)[k];
}

static inline void sd_put_number(void *data, sd_precision precision, int64_t k, double value)
{
    if (precision == SD_DOUBLE)
        ((double *)data)[k] = value;
    else
        ((float *)data)[k] = (float)value;
}
