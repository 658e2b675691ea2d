/*
 * How a thread waits before it sleeps: it spins for some ten microseconds at most, and for less where that
 * was in vain lately, as on a machine that has other work to do: those that it waits for do not run then. It
 * does not give way (sched_yield) meanwhile: on a busy machine that is the end of its turn, and others wait
 * for it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

enum { SD_SPINS_LEAST = 100, SD_SPINS_MOST = 2000 }; /* 20 to 50 nanoseconds each */

static inline void sd_spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* What came of it changes how long the next one spins. `spins` is shared by those that wait for the same. */
static inline void sd_spun(atomic_int *spins, bool in_vain)
{
    const int now = atomic_load_explicit(spins, memory_order_relaxed), more = now + now / 4;
    const int next = in_vain ? now / 2 : more;
    atomic_store_explicit(spins,
                          next < SD_SPINS_LEAST  ? SD_SPINS_LEAST
                          : next > SD_SPINS_MOST ? SD_SPINS_MOST
                                                 : next,
                          memory_order_relaxed);
}
