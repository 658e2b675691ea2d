/* The size of a matrix: what its largest entry has to be divided by to be about 1. */
#pragma once

#include <stdint.h>

/* The power of two at or below the largest magnitude; 1 if there is none but 0. */
double door_size(int64_t count, const double *values);
