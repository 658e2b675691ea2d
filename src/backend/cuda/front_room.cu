/* What fits a device, and what a run then takes there: decided from the plan before anything is allocated. */
#include "backend/cuda/front_room.cuh"

namespace sd_cuda
{
namespace
{

template <class real>
saddle_status choose_with(sd_context *c, const cluster_width &width, int64_t room, room_choice *to)
{
    free_layout(c, &to->layout);
    const saddle_status status = make_layout<real>(c, &to->panels, width, &to->layout);
    to->panels.extent = to->layout.places.extent;
    if (!status) to->eviction = sd_eviction_choose(&to->panels, room);
    return status;
}

/* The parts of what is kept: what fronts work in, and what is left for delays where it is least. */
void tell_parts(const room_choice &c, sd_run_bytes *b)
{
    const sd_schedule *s = c.panels.schedule;
    int64_t panels = 0, taken = 0, largest;
    for (int32_t l = 0; l < s->levels; ++l) {
        if (l >= c.eviction.levels) panels += sd_level_planned(&c.panels, l, &largest);
        taken = max(taken, panels + c.layout.places.extent[l]);
        b->work = max(b->work, c.layout.level[l].bytes);
    }
    b->kept = c.eviction.kept;
    b->panels = c.eviction.planned;
    b->arena = c.layout.places.bytes;
    b->delays = c.eviction.kept - taken;
    b->region = 2 * c.eviction.region;
}

template <class real>
saddle_status bytes_of(sd_context *c, const sd_panels &panels, const cluster_width &width, int64_t limit,
                       sd_run_bytes *b)
{
    const run_sizes sizes = sizes_of<real>(panels.tree, panels.schedule);
    const int64_t other = sizes.fixed + sizes.later;
    room_choice choice;
    saddle_status status = choose_room<real>(c, panels, width, 0, &choice);
    *b = {};
    b->later = sizes.later;
    b->plan = sizes.plan;
    b->lists = sizes.lists;
    b->values = sizes.values;
    b->source = sizes.source;
    b->solve = sizes.solve;
    b->least = other + choice.eviction.least;
    b->whole = other + choice.whole;
    free_layout(c, &choice.layout);
    if (!status) status = choose_room<real>(c, panels, width, limit > 0 ? limit - other : INT64_MAX, &choice);
    const sd_eviction &e = choice.eviction;
    if (!status && e.fits) {
        b->device = sizes.fixed + e.kept + 2 * e.region + control_bytes(e.steps) +
                    (e.evicted + 1) * static_cast<int64_t>(sizeof(front_heap));
        b->host = e.host;
        tell_parts(choice, b);
    }
    free_layout(c, &choice.layout);
    return status;
}

} /* namespace */

template <class real> cluster_width find_width(sd_engine *e, int processors, const sd_schedule *s)
{
    cluster_width width = {};
    for (int tiny = 0; tiny < 2 && s->clusters > 0; ++tiny)
        width.blocks[tiny] = e ? cluster_blocks<real>(e, tiny) : cluster_blocks_of(processors, tiny);
    return width;
}

/* As long as there is `room` for all, levels are not cut. If not, also the columns that large fronts work in
 * are limited, by fewer fronts at once, which are still many for a device. */
template <class real>
saddle_status choose_room(sd_context *c, const sd_panels &panels, const cluster_width &width, int64_t room,
                          room_choice *to)
{
    constexpr int64_t STEP_ROWS = 1 << 18;
    *to = {};
    to->panels = panels;
    saddle_status status = choose_with<real>(c, width, room, to);
    to->whole = to->eviction.whole;
    if (status || (to->eviction.fits && to->eviction.evicted == 0)) return status;
    to->panels.most_rows = STEP_ROWS;
    status = choose_with<real>(c, width, room, to);
    to->eviction.least = min(to->eviction.least, to->whole);
    return status;
}

saddle_status predict_bytes(sd_context *c, sd_engine *e, int processors, const sd_tree *t,
                            const sd_schedule *s, sd_precision precision, double slack, int64_t limit,
                            sd_run_bytes *b)
{
    const bool wide = precision == SD_DOUBLE;
    const cluster_width width =
        wide ? find_width<double>(e, processors, s) : find_width<float>(e, processors, s);
    const sd_panels panels = {t, s, static_cast<int>(wide ? sizeof(double) : sizeof(float)), slack, 0, NULL};
    if (e && e->status) return e->status;
    return wide ? bytes_of<double>(c, panels, width, limit, b) : bytes_of<float>(c, panels, width, limit, b);
}

template cluster_width find_width<double>(sd_engine *, int, const sd_schedule *);
template cluster_width find_width<float>(sd_engine *, int, const sd_schedule *);
template saddle_status choose_room<double>(sd_context *, const sd_panels &, const cluster_width &, int64_t,
                                           room_choice *);
template saddle_status choose_room<float>(sd_context *, const sd_panels &, const cluster_width &, int64_t,
                                          room_choice *);

} /* namespace sd_cuda */
