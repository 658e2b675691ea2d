/*
 * Arrays in the memory of the first GPU, as a caller has them whose work is there. CUDA's runtime is looked
 * for when it is needed: the program is not linked with it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether there can be any. */
bool gpu_memory_found(void);

/* A copy there of this many numbers, or room for them where from is NULL; NULL where there is none. */
double *gpu_memory_put(const double *from, int64_t count);
bool gpu_memory_get(double *to, const double *from, int64_t count);
void gpu_memory_free(double *array);
