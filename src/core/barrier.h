/* A barrier for the threads of one parallel region, for loops over many short levels. They wait as waiters.h
 * says. */
#pragma once

#include "core/waiters.h"

typedef struct sd_barrier {
    int threads;
    sd_waiters waiters;
    _Alignas(64) atomic_int missing;     /* threads that have not come yet; apart from what those that have */
    _Alignas(64) atomic_uint generation; /* look at: how often all have come */
} sd_barrier;

/* For so many threads; the one that makes it frees it when none waits any more. */
void sd_barrier_make(sd_barrier *b, int threads);
void sd_barrier_free(sd_barrier *b);

/* Returns when all threads have come. */
void sd_barrier_wait(sd_barrier *b);
