/* Events around the launches of a factorization: front_profile.cuh. */
#include "backend/cuda/front_profile.cuh"

#include <math.h>

namespace sd_cuda
{

/* Marks of a step: clusters of both kinds, four of large fronts, inverses of panels that leave, and the wait
 * for those before them; and marks before and after all steps. */
constexpr int STEP_MARKS = 8, OTHER_MARKS = 4;

void front_clock::turn(sd_engine *e, int steps)
{
    const saddle_hooks &hooks = e->context->hooks;
    const on_device current(state_of(e)->device);
    const int room = steps < 0 ? 0 : STEP_MARKS * steps + OTHER_MARKS;
    if (room == room_) return;
    for (int k = 0; k < room_; ++k) cudaEventDestroy(events_[k]);
    if (events_) hooks.release(events_, hooks.user);
    *this = front_clock();
    if (room == 0) return;
    const size_t bytes = static_cast<size_t>(room) * (sizeof *events_ + sizeof *parts_);
    events_ = static_cast<cudaEvent_t *>(hooks.allocate(bytes, hooks.user));
    if (!events_) return;
    parts_ = reinterpret_cast<signed char *>(events_ + room);
    while (room_ < room && !failed(e, cudaEventCreate(&events_[room_]), "events")) ++room_;
}

void front_clock::start(sd_engine *e)
{
    count_ = 0;
    mark(e, SD_PART_OTHER);
}

void front_clock::mark(sd_engine *e, sd_part part)
{
    if (count_ == room_) return;
    parts_[count_] = static_cast<signed char>(part);
    failed(e, cudaEventRecord(events_[count_++], state_of(e)->stream), "events");
}

void front_clock::read(sd_engine *e, double seconds[SD_PARTS])
{
    const on_device current(state_of(e)->device);
    for (int k = 0; k < SD_PARTS && !is_on(); ++k) seconds[k] = NAN;
    for (int k = 1; k < count_; ++k) {
        float milliseconds = 0;
        failed(e, cudaEventElapsedTime(&milliseconds, events_[k - 1], events_[k]), "events");
        seconds[parts_[k]] += 1e-3 * static_cast<double>(milliseconds);
    }
}

} /* namespace sd_cuda */
