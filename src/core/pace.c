/* See pace.h. */
#include "core/pace.h"

void sd_pace_make(sd_pace *pace, int threads, sd_pace_thread *room)
{
    pace->threads = threads;
    pace->thread = room;
    for (int t = 0; t < threads; ++t) atomic_init(&room[t].made, 0);
    sd_waiters_make(&pace->waiters, threads);
}

void sd_pace_free(sd_pace *pace)
{
    sd_waiters_free(&pace->waiters);
}

void sd_pace_made(sd_pace *pace, int t, int32_t steps)
{
    atomic_store(&pace->thread[t].made, steps);
    sd_waiters_wake(&pace->waiters);
}

static bool has_made(const void *of, int64_t steps)
{
    const sd_pace_thread *thread = of;
    return atomic_load(&thread->made) >= steps;
}

void sd_pace_await(sd_pace *pace, int t, int32_t steps)
{
    for (int other = 0; other < pace->threads; ++other)
        if (other != t && !has_made(&pace->thread[other], steps))
            sd_waiters_until(&pace->waiters, has_made, &pace->thread[other], steps);
}
