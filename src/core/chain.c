/* See chain.h. */
#include "core/chain.h"

void sd_chain_make(sd_chain *chain, int threads, int32_t pieces, atomic_uchar *done)
{
    chain->pieces = pieces;
    chain->done = done;
    for (int32_t k = 0; k < pieces; ++k) atomic_init(&done[k], 0);
    atomic_init(&chain->next, 0);
    atomic_init(&chain->asleep, 0);
    chain->spins = (sd_spins){0};
    sd_spins_begin(&chain->spins, threads);
    pthread_mutex_init(&chain->lock, NULL);
    pthread_cond_init(&chain->wake, NULL);
}

void sd_chain_free(sd_chain *chain)
{
    pthread_cond_destroy(&chain->wake);
    pthread_mutex_destroy(&chain->lock);
}

/* The order of the two, here and where a thread goes to sleep, is what makes sure that one sees the other. */
void sd_chain_done(sd_chain *chain, int32_t piece)
{
    atomic_store(&chain->done[piece], 1);
    if (atomic_load(&chain->asleep) == 0) return;
    pthread_mutex_lock(&chain->lock);
    pthread_cond_broadcast(&chain->wake);
    pthread_mutex_unlock(&chain->lock);
}

static bool is_done(sd_chain *chain, int32_t piece)
{
    return atomic_load_explicit(&chain->done[piece], memory_order_acquire) != 0;
}

static void await_one(sd_chain *chain, int32_t piece)
{
    const int most = sd_spins_now(&chain->spins);
    int spin = 0;
    for (; spin < most && !is_done(chain, piece); ++spin) sd_spin();
    if (spin > 0) sd_spun(&chain->spins, spin == most);
    if (spin < most) return;
    pthread_mutex_lock(&chain->lock);
    atomic_fetch_add(&chain->asleep, 1);
    while (atomic_load(&chain->done[piece]) == 0) pthread_cond_wait(&chain->wake, &chain->lock);
    atomic_fetch_sub(&chain->asleep, 1);
    pthread_mutex_unlock(&chain->lock);
}

void sd_chain_await(sd_chain *chain, int32_t end, int32_t *known)
{
    for (; *known < end; ++*known) await_one(chain, *known);
}
