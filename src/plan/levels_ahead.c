/* Levels that are made concurrently with other work: see levels_ahead.h. */
#include "plan/levels_ahead.h"

#include <string.h>

static void *allocate_locked(size_t bytes, void *self)
{
    const sd_levels_ahead *a = self;
    void *block;
#pragma omp critical(sd_ldlt_memory)
    block = a->hooks.allocate(bytes, a->hooks.user);
    return block;
}

static void release_locked(void *block, void *self)
{
    const sd_levels_ahead *a = self;
#pragma omp critical(sd_ldlt_memory)
    a->hooks.release(block, a->hooks.user);
}

static void *make(void *self)
{
    sd_levels_ahead *a = self;
    a->status = sd_levels_of_tree(&a->c, a->graph, &a->order, a->order.generations, &a->levels);
    return NULL;
}

saddle_status sd_levels_ahead_begin(sd_context *c, const sd_graph *g, const sd_block_order *order,
                                    int64_t pushed, sd_levels_ahead *a)
{
    const size_t bytes = (size_t)order->blocks * sizeof *order->at;
    if (a->running) return SADDLE_OK;
    const saddle_status status = sd_block_order_make(c, order->blocks, &a->order);
    if (status) return status;
    memcpy(a->order.at, order->at, bytes);
    memcpy(a->order.generation, order->generation, bytes);
    sd_invert_order(order->blocks, a->order.at, a->order.position);
    a->order.generations = order->generations;
    a->graph = g;
    a->pushed = pushed;
    a->hooks = c->hooks;
    const saddle_hooks locked = {
        .size = sizeof locked, .allocate = allocate_locked, .release = release_locked, .user = a};
    sd_context_init(&a->c, &locked, 0);
    a->running = pthread_create(&a->thread, NULL, make, a) == 0;
    if (!a->running) sd_block_order_free(c, &a->order);
    return SADDLE_OK;
}

bool sd_levels_ahead_end(sd_context *c, int32_t generation, int64_t pushed, sd_levels_ahead *a,
                         sd_block_levels *levels)
{
    if (!a->running) return false;
    pthread_join(a->thread, NULL);
    a->running = false;
    const bool fits = !a->status && a->order.generations == generation && a->pushed == pushed;
    sd_block_order_free(c, &a->order);
    c->bytes += a->c.bytes; /* what it leaves is this context's from now on */
    if (fits)
        *levels = a->levels;
    else if (!a->status)
        sd_block_levels_free(c, &a->levels);
    return fits;
}
