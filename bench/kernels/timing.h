/* What the benchmarks of single kernels share: a clock, numbers, memory. Failures end the program. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A number between -1 and 1. */
static inline double unit(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1.0;
}

/* Zeros, by cache lines. */
static inline void *take(int64_t count, size_t size)
{
    void *block = aligned_alloc(64, ((size_t)count * size / 64 + 1) * 64);
    if (!block) exit(1);
    return memset(block, 0, (size_t)count * size);
}
