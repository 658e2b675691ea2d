/* See spin.h. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "core/spin.h"

#include <omp.h>
#include <sys/resource.h>

enum { LEAST = 100, MOST = 20000, MOST_CROWDED = 2000 };

void sd_spins_begin(sd_spins *spins, int threads)
{
    const int now = atomic_load(&spins->now);
    spins->crowded = threads > omp_get_num_procs();
    spins->most = spins->crowded ? MOST_CROWDED : MOST;
    if (now == 0 || now > spins->most) atomic_store(&spins->now, spins->most);
}

/* Whether this thread was switched off against its will since it was last asked; true where nobody knows. */
static bool was_switched_off(void)
{
#ifdef RUSAGE_THREAD
    static _Thread_local long before;
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used)) return true;
    const bool more = used.ru_nivcsw > before;
    before = used.ru_nivcsw;
    return more;
#else
    return true;
#endif
}

void sd_spun(sd_spins *spins, bool in_vain)
{
    const int now = sd_spins_now(spins);
    int next = in_vain ? now / 2 : now + now / 4;
    if (next < LEAST) next = LEAST;
    if (next > spins->most) next = spins->most;
    if (next == now || (in_vain && !spins->crowded && !was_switched_off())) return;
    atomic_store_explicit(&spins->now, next, memory_order_relaxed);
}
