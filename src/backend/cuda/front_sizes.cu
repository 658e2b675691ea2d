/* What a run takes of the device's memory, before any of it is allocated: as front_run.cu, front_tasks.cu,
 * front_values.cu and front_solve.cu then do. */
#include "backend/cuda/front_memory.cuh"

namespace sd_cuda
{

/* Numbers and counters that a factorization begins with as 0: the tally, then of each step two tickets, a
 * barrier and one more ticket. */
int64_t control_bytes(int32_t steps)
{
    return static_cast<int64_t>(sizeof(front_tally)) + 4 * static_cast<int64_t>(sizeof(unsigned)) * steps;
}

/* Rows that the large fronts of a step may have. Few of them get more by delays than many, for their number.
 */
static int64_t rows_with_slack(int64_t rows, double slack)
{
    constexpr int64_t SPARE = 1 << 14;
    return rows + static_cast<int64_t>(static_cast<double>(rows) * slack) +
           (slack > 0 ? min(2 * rows, SPARE) : 0);
}

static int64_t align(int64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* What level l works in. */
template <class real>
static level_room measure_level(const sd_panels *p, const cluster_width &width, int32_t l)
{
    constexpr int64_t REAL = sizeof(real), COLUMNS = 2 * 32; /* W and L of a tile */
    const sd_schedule *s = p->schedule;
    const int64_t large = s->large_ptr[l + 1] - s->large_ptr[l],
                  others = s->cluster_tiny[l] - s->cluster_ptr[l],
                  tiny = s->cluster_ptr[l + 1] - s->cluster_tiny[l];
    const int64_t wide =
        max(min(others + tiny, int64_t{width.blocks[0]}), min(tiny, int64_t{width.blocks[1]}));
    int64_t rows = 0, tallest = 0;
    for (int32_t k = s->large_ptr[l]; k < s->large_ptr[l + 1]; ++k) {
        const int64_t own = sd_step_rows(p->tree, s->large_front[k]);
        rows += own;
        tallest = max(tallest, own);
    }
    if (p->most_rows > 0) rows = min(rows, max(p->most_rows, tallest));
    level_room r = {};
    r.space = s->workspace[l];
    r.rows = rows > 0 ? rows_with_slack(rows, p->slack) : 0;
    r.jobs = align(large * static_cast<int64_t>(large_work_bytes<real>()));
    r.columns = r.jobs + align(8 * JOB_KINDS * (large + 1));
    r.large = (REAL * r.space * wide + 255) / 256 * 256;
    r.bytes = r.large + (large > 0 ? r.columns + REAL * COLUMNS * r.rows : 0);
    return r;
}

template <class real>
saddle_status make_layout(sd_context *c, const sd_panels *p, const cluster_width &width, run_layout *to)
{
    const size_t levels = static_cast<size_t>(p->schedule->levels), rooms = levels * sizeof(level_room),
                 bytes = levels * sizeof(sd_level_bytes);
    const size_t own = static_cast<size_t>(sd_layout_room(p->tree, p->schedule));
    *to = {};
    to->memory = static_cast<char *>(c->hooks.allocate(own + rooms + bytes + 1, c->hooks.user));
    if (!to->memory)
        return fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the places of the fronts");
    to->level = reinterpret_cast<level_room *>(to->memory + own);
    sd_level_bytes *level = reinterpret_cast<sd_level_bytes *>(to->memory + own + rooms);
    int64_t panels = 0, largest;
    for (int32_t l = 0; l < p->schedule->levels; ++l) {
        to->level[l] = measure_level<real>(p, width, l);
        panels += sd_level_planned(p, l, &largest);
        level[l] = {sd_with_slack(panels, p->slack), to->level[l].bytes};
    }
    sd_layout_make(p->tree, p->schedule, p->number_bytes, level, to->memory, &to->places);
    return SADDLE_OK;
}

void free_layout(sd_context *c, run_layout *layout)
{
    if (layout->memory) c->hooks.release(layout->memory, c->hooks.user);
    *layout = {};
}

template <class real> run_sizes sizes_of(const sd_tree *t, const sd_schedule *s)
{
    constexpr int64_t REAL = sizeof(real);
    const int64_t n = t->n, fronts = t->fronts, rows = t->row_ptr[fronts], entries = t->entry_ptr[n];
    const int64_t clusters = s->clusters, listed = s->cluster_from[clusters];
    solve_tasks tasks = {};
    run_sizes sizes = {};
    sizes.plan = 28 * (fronts + 1) + 4 * t->child_ptr[fronts] + 8 * rows + 8 * (n + 1) + 4 * entries +
                 (8 + 1) * fronts + 8 * (clusters + 1) + 4 * listed + 4 * int64_t{s->large};
    sizes.plan += fronts * static_cast<int64_t>(sizeof(front_plan)) + 8 * clusters + 4 * entries;
    sizes.lists = count_tasks(t, s, &tasks);
    sizes.values = 8 * entries + fronts * static_cast<int64_t>(sizeof(front_state<real>)) + 12 * n +
                   static_cast<int64_t>(sizeof(unsigned)) * FLAG_COUNT;
    sizes.fixed = sizes.plan + sizes.lists + sizes.values;
    constexpr solve_portion ONE = {1, 1}, FEW = {4, 4};
    sizes.source = 12 * entries + 12 * n;
    sizes.solve = REAL * n + solve_bytes_of(t, tasks.rooms, false, REAL, ONE);
    sizes.later = sizes.source + n + (8 + REAL) * n * FEW.columns +
                  solve_bytes_of(t, tasks.rooms, true, REAL, FEW) + (1 << 12);
    return sizes;
}

template saddle_status make_layout<double>(sd_context *, const sd_panels *, const cluster_width &,
                                           run_layout *);
template saddle_status make_layout<float>(sd_context *, const sd_panels *, const cluster_width &,
                                          run_layout *);
template run_sizes sizes_of<double>(const sd_tree *, const sd_schedule *);
template run_sizes sizes_of<float>(const sd_tree *, const sd_schedule *);

} /* namespace sd_cuda */
