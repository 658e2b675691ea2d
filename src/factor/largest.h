/* Exact selection: the largest of many numbers, whatever their order and however many are equal. */
#pragma once

#include <stdint.h>

/* The number of this rank, 1 for the largest, of `count` that are neither negative nor NaN. O(count), in the
 * worst case too; the same at any number of threads. */
double sd_largest(const double *x, int64_t count, int64_t rank, int threads);
