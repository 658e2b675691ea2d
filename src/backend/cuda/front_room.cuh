/* How the memory of a device is shared out among blocks, panels that stay and panels that leave. */
#pragma once

#include "backend/cuda/front_memory.cuh"

namespace sd_cuda
{

/* How everything fits into some bytes. */
struct room_choice {
    sd_panels panels;
    run_layout layout; /* to be freed */
    sd_eviction eviction;
    int64_t whole; /* bytes where neither a level is cut nor a panel leaves */
};

/* Clusters that run at once on the engine's device, or without one on a device with so many multiprocessors.
 */
template <class real> cluster_width find_width(sd_engine *e, int processors, const sd_schedule *s);

/* In `room` bytes; the choice is to be freed whether this fails or not. */
template <class real>
saddle_status choose_room(sd_context *c, const sd_panels &panels, const cluster_width &width, int64_t room,
                          room_choice *to);

/* As sd_front_runner.bytes. */
saddle_status predict_bytes(sd_context *c, sd_engine *e, int processors, const sd_tree *t,
                            const sd_schedule *s, sd_precision precision, double slack, int64_t limit,
                            sd_run_bytes *b);

} /* namespace sd_cuda */
