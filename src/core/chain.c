/* See chain.h. */
#include "core/chain.h"

void sd_chain_make(sd_chain *chain, int threads, int32_t pieces, atomic_uchar *done)
{
    chain->pieces = pieces;
    chain->done = done;
    for (int32_t k = 0; k < pieces; ++k) atomic_init(&done[k], 0);
    atomic_init(&chain->next, 0);
    sd_waiters_make(&chain->waiters, threads);
}

void sd_chain_free(sd_chain *chain)
{
    sd_waiters_free(&chain->waiters);
}

void sd_chain_done(sd_chain *chain, int32_t piece)
{
    atomic_store(&chain->done[piece], 1);
    sd_waiters_wake(&chain->waiters);
}

static bool is_done(const void *of, int64_t piece)
{
    const sd_chain *chain = of;
    return atomic_load(&chain->done[piece]) != 0;
}

void sd_chain_await(sd_chain *chain, int32_t end, int32_t *known)
{
    for (; *known < end; ++*known)
        if (!is_done(chain, *known)) sd_waiters_until(&chain->waiters, is_done, chain, *known);
}
