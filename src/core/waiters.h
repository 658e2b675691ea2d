/*
 * Threads of one parallel region that wait for something one of the others will have done. One that waits
 * spins and then sleeps (spin.h), whatever OMP_WAIT_POLICY says; whoever has done something wakes those
 * asleep.
 */
#pragma once

#include "core/spin.h"

#include <pthread.h>
#include <stdint.h>

typedef struct sd_waiters {
    sd_spins spins;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Alignas(64) atomic_int asleep;
} sd_waiters;

/* Of so many threads; the one that makes it frees it when none waits any more. */
void sd_waiters_make(sd_waiters *w, int threads);
void sd_waiters_free(sd_waiters *w);

/* After an atomic store, in the order of all such stores, of what others may wait for. */
void sd_waiters_wake(sd_waiters *w);

/* Returns when come(of, count) is true, which must load atomically and in the order of all such loads. */
typedef bool sd_come(const void *of, int64_t count);
void sd_waiters_until(sd_waiters *w, sd_come *come, const void *of, int64_t count);
