/*
 * Pieces of work in a row, each of which needs some of those before it, shared among the threads of a
 * parallel region: a thread takes the next piece, waits within it for an earlier one where it needs it, and
 * says when it is done. The earliest piece that is not done never waits, and a thread has it: so it goes on
 * with any number of threads. They wait as waiters.h says.
 */
#pragma once

#include "core/waiters.h"

typedef struct sd_chain {
    int32_t pieces;
    atomic_uchar *done; /* of each piece; the caller's */
    sd_waiters waiters;
    _Alignas(64) atomic_int next; /* piece that nobody has taken */
} sd_chain;

/* For so many threads; `done` has a byte for each piece. The one that makes it frees it when none waits. */
void sd_chain_make(sd_chain *chain, int threads, int32_t pieces, atomic_uchar *done);
void sd_chain_free(sd_chain *chain);

/* The next piece; -1: all are taken. */
static inline int32_t sd_chain_take(sd_chain *chain)
{
    const int32_t piece = atomic_fetch_add_explicit(&chain->next, 1, memory_order_relaxed);
    return piece < chain->pieces ? piece : -1;
}

/* What the piece has written is there for all that see it done. */
void sd_chain_done(sd_chain *chain, int32_t piece);

/* Returns when all pieces before `end` are done; those before *known have been seen so. */
void sd_chain_await(sd_chain *chain, int32_t end, int32_t *known);
