/* See barrier.h. */
#include "core/barrier.h"

void sd_barrier_make(sd_barrier *b, int threads)
{
    b->threads = threads;
    atomic_init(&b->missing, threads);
    atomic_init(&b->generation, 0);
    atomic_init(&b->asleep, 0);
    b->spins = (sd_spins){0};
    sd_spins_begin(&b->spins, threads);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->wake, NULL);
}

void sd_barrier_free(sd_barrier *b)
{
    pthread_cond_destroy(&b->wake);
    pthread_mutex_destroy(&b->lock);
}

static void open_barrier(sd_barrier *b)
{
    atomic_store(&b->missing, b->threads);
    atomic_fetch_add(&b->generation, 1);
    if (atomic_load(&b->asleep) == 0) return;
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->wake);
    pthread_mutex_unlock(&b->lock);
}

void sd_barrier_wait(sd_barrier *b)
{
    const unsigned now = atomic_load(&b->generation);
    if (atomic_fetch_sub(&b->missing, 1) == 1) {
        open_barrier(b);
        return;
    }
    const int most = sd_spins_now(&b->spins);
    int spin = 0;
    for (; spin < most && atomic_load(&b->generation) == now; ++spin) sd_spin();
    sd_spun(&b->spins, spin == most);
    if (spin < most) return;
    pthread_mutex_lock(&b->lock);
    atomic_fetch_add(&b->asleep, 1);
    while (atomic_load(&b->generation) == now) pthread_cond_wait(&b->wake, &b->lock);
    atomic_fetch_sub(&b->asleep, 1);
    pthread_mutex_unlock(&b->lock);
}
