/* See barrier.h. */
#include "core/barrier.h"

void sd_barrier_make(sd_barrier *b, int threads)
{
    b->threads = threads;
    atomic_init(&b->missing, threads);
    atomic_init(&b->generation, 0);
    sd_waiters_make(&b->waiters, threads);
}

void sd_barrier_free(sd_barrier *b)
{
    sd_waiters_free(&b->waiters);
}

/* Whether it has opened since that generation. */
static bool has_opened(const void *of, int64_t generation)
{
    const sd_barrier *b = of;
    return atomic_load(&b->generation) != (unsigned)generation;
}

void sd_barrier_wait(sd_barrier *b)
{
    const unsigned now = atomic_load(&b->generation);
    if (atomic_fetch_sub(&b->missing, 1) == 1) {
        atomic_store(&b->missing, b->threads);
        atomic_fetch_add(&b->generation, 1);
        sd_waiters_wake(&b->waiters);
    } else {
        sd_waiters_until(&b->waiters, has_opened, b, now);
    }
}
