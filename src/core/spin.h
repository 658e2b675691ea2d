/* How a thread waits before it sleeps. */
#pragma once

#include <sched.h>

enum {
    SD_SPINS = 1500,     /* 20 to 80 microseconds, depending on how long the processor pauses */
    SD_SPIN_YIELDS = 128 /* spins between two chances for others */
};

static inline void sd_spin(int spin)
{
    if (spin % SD_SPIN_YIELDS == SD_SPIN_YIELDS - 1)
        sched_yield();
    else
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#else
        ;
#endif
}
