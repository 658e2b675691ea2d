/*
 * How a thread waits before it sleeps: it spins for up to a millisecond, as waking up takes the one that it
 * waits for as long as many pieces of work, above all on a virtual machine. It spins for less where the
 * machine has other work to do: if threads are switched off while they would run, those that it waits for may
 * not run either, and it stands in their way. It does not give way (sched_yield) meanwhile: on a busy machine
 * that is the end of its turn, and others wait for it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/* How often those spin that wait for the same, 20 to 50 nanoseconds each time. */
typedef struct sd_spins {
    atomic_int now;
    int most;
    bool crowded; /* more threads than processors: a spin in vain stands in the way of one with work */
} sd_spins;

static inline void sd_spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Before so many threads wait. What was learnt before is kept, but for the first time, of spins that are 0.
 */
void sd_spins_begin(sd_spins *spins, int threads);

static inline int sd_spins_now(const sd_spins *spins)
{
    return atomic_load_explicit(&spins->now, memory_order_relaxed);
}

/* What came of it changes how long the next one spins. */
void sd_spun(sd_spins *spins, bool in_vain);
