/* See waiters.h. */
#include "core/waiters.h"

void sd_waiters_make(sd_waiters *w, int threads)
{
    atomic_init(&w->asleep, 0);
    w->spins = (sd_spins){0};
    sd_spins_begin(&w->spins, threads);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
}

void sd_waiters_free(sd_waiters *w)
{
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
}

/* What the caller has stored comes before this load, and `asleep` of one that goes to sleep before it looks
 * again: so one of the two sees the other. */
void sd_waiters_wake(sd_waiters *w)
{
    if (atomic_load(&w->asleep) == 0) return;
    pthread_mutex_lock(&w->lock);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void sd_waiters_until(sd_waiters *w, sd_come *come, const void *of, int64_t count)
{
    const int most = sd_spins_now(&w->spins);
    int spin = 0;
    for (; spin < most && !come(of, count); ++spin) sd_spin();
    if (spin > 0) sd_spun(&w->spins, spin == most);
    if (spin < most) return;
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&w->asleep, 1);
    while (!come(of, count)) pthread_cond_wait(&w->wake, &w->lock);
    atomic_fetch_sub(&w->asleep, 1);
    pthread_mutex_unlock(&w->lock);
}
