/*
 * The levels of blocks that were pushed back, made by a second thread concurrently with the work on those
 * that were not (D. Thuerck, Stretching Jacobi, end of section V).
 */
#pragma once

#include "plan/block_order.h"

#include <pthread.h>

typedef struct sd_levels_ahead {
    pthread_t thread;
    bool running;
    sd_context c; /* its own, as a context is of one thread */
    saddle_hooks hooks;
    const sd_graph *graph;
    sd_block_order order; /* as it was when it began */
    int64_t pushed;       /* blocks that were pushed back until then */
    sd_block_levels levels;
    saddle_status status;
} sd_levels_ahead;

/* Begins with the levels of the last generation, `pushed` blocks having been pushed back so far, unless some
 * are being made; where no thread is to be had, nothing is. Until the end all memory of c is to be taken and
 * given back under omp critical(sd_ldlt_memory), as the thread does. */
saddle_status sd_levels_ahead_begin(sd_context *c, const sd_graph *g, const sd_block_order *order,
                                    int64_t pushed, sd_levels_ahead *a);

/* Waits for the thread; true where the levels are those of this generation, with so many pushed back. */
bool sd_levels_ahead_end(sd_context *c, int32_t generation, int64_t pushed, sd_levels_ahead *a,
                         sd_block_levels *levels);
