/*
 * A factorization by fronts as the host sees it: memory, launches, the one transfer of what was found.
 */
#include "backend/cuda/front_launch.cuh"
#include "backend/cuda/front_memory.cuh"

#include <string.h>

namespace sd_cuda
{
namespace
{

template <class T> bool put(sd_engine *e, const T *&to, const T *host, int64_t count, const char *what)
{
    to = static_cast<const T *>(copy_to_device(e, host, count * static_cast<int64_t>(sizeof(T)), what));
    return to != nullptr;
}

template <class T> bool get(sd_engine *e, T *&to, int64_t count, const char *what)
{
    to = static_cast<T *>(get_room(e, count * static_cast<int64_t>(sizeof(T)), what));
    return to != nullptr;
}

front_plan plan_of(const sd_tree *t, const sd_schedule *s, int32_t f)
{
    front_plan p = {};
    p.first = t->first[f];
    p.columns = t->first[f + 1] - t->first[f];
    p.below = static_cast<int32_t>(t->row_ptr[f + 1] - t->row_ptr[f]);
    p.parent = t->parent[f];
    p.rows = t->row_ptr[f];
    p.rest = s->rest[f];
    p.entries = t->entry_ptr[p.first];
    p.entry_count = static_cast<int32_t>(t->entry_ptr[t->first[f + 1]] - p.entries);
    p.child = t->child_ptr[f];
    p.children = static_cast<int32_t>(t->child_ptr[f + 1] - t->child_ptr[f]);
    p.inner = s->inner[f];
    return p;
}

template <class real> sd_panels panels_of(const run_memory<real> *m)
{
    return {m->tree, m->schedule, static_cast<int>(sizeof(real)), m->slack, 0};
}

/* What is not in the plan as it is: made on the host, and copied. */
template <class real>
bool put_derived(sd_engine *e, const sd_tree *t, const sd_schedule *s, run_memory<real> *m)
{
    sd_context *c = e->context;
    const size_t fronts = static_cast<size_t>(t->fronts), entries = static_cast<size_t>(t->entry_ptr[t->n]);
    const size_t clusters = static_cast<size_t>(s->clusters);
    const size_t bytes = fronts * sizeof(front_plan) + (clusters + 1) * sizeof(int64_t) + (entries + 1) * 4;
    char *memory = static_cast<char *>(c->hooks.allocate(bytes, c->hooks.user));
    if (!memory) {
        e->status = fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the plan of the fronts");
        return false;
    }
    front_plan *plan = reinterpret_cast<front_plan *>(memory);
    int64_t *sizes = reinterpret_cast<int64_t *>(plan + fronts);
    int32_t *column = reinterpret_cast<int32_t *>(sizes + clusters + 1);
    for (int32_t f = 0; f < t->fronts; ++f) {
        plan[f] = plan_of(t, s, f);
        for (int32_t k = t->first[f]; k < t->first[f + 1]; ++k)
            for (int64_t i = t->entry_ptr[k]; i < t->entry_ptr[k + 1]; ++i) column[i] = k - t->first[f];
    }
    const sd_panels panels = panels_of(m);
    for (int32_t k = 0; k < s->clusters; ++k) {
        sizes[k] = 0;
        for (int64_t i = s->cluster_from[k]; i < s->cluster_from[k + 1]; ++i)
            sizes[k] += sd_panel_planned(&panels, s->cluster_front[i]);
    }
    const char *what = "plan of the fronts";
    const bool all = put(e, m->w.plan, plan, t->fronts, what) &&
                     put(e, m->clusters.bytes, sizes, s->clusters, what) &&
                     put(e, m->w.entry_column, column, t->entry_ptr[t->n], what);
    c->hooks.release(memory, c->hooks.user);
    return all;
}

template <class real> bool put_plan(sd_engine *e, const sd_tree *t, const sd_schedule *s, run_memory<real> *m)
{
    forest<real> &w = m->w;
    const char *what = "plan of the fronts";
    const int64_t fronts = t->fronts, rows = t->row_ptr[fronts], entries = t->entry_ptr[t->n];
    w.n = t->n;
    w.fronts = t->fronts;
    return put(e, w.first, t->first, fronts + 1, what) && put(e, w.parent, t->parent, fronts, what) &&
           put(e, w.child_ptr, t->child_ptr, fronts + 1, what) &&
           put(e, w.child, t->child, t->child_ptr[fronts], what) &&
           put(e, w.row_ptr, t->row_ptr, fronts + 1, what) && put(e, w.rows, t->rows, rows, what) &&
           put(e, w.place, t->place, rows, what) &&
           put(e, w.entry_ptr, t->entry_ptr, t->n + int64_t{1}, what) &&
           put(e, w.entry_row, t->entry_row, entries, what) && put(e, w.rest, s->rest, fronts, what) &&
           put(e, w.inner, s->inner, fronts, what) &&
           put(e, m->clusters.begin, s->cluster_from, s->clusters + int64_t{1}, what) &&
           put(e, m->clusters.front, s->cluster_front, s->cluster_from[s->clusters], what) &&
           put(e, m->large.front, s->large_front, s->large, what);
}

/* Rows that large fronts of a step may have, and bytes of the columns that they work in. Few of them get more
 * by delays than many, for their number. */
int64_t rows_with_slack(int64_t rows, double slack)
{
    constexpr int64_t SPARE = 1 << 14;
    return rows + static_cast<int64_t>(static_cast<double>(rows) * slack) +
           (slack > 0 ? min(2 * rows, SPARE) : 0);
}
template <class real> int64_t columns_bytes(int64_t rows, double slack)
{
    return rows > 0 ? static_cast<int64_t>(sizeof(real)) * 2 * 32 * rows_with_slack(rows, slack) : 1;
}

/* What grows with delays. */
template <class real> bool get_panels(sd_engine *e, run_memory<real> *m)
{
    forest<real> &w = m->w;
    char *memory = NULL;
    m->room.capacity = rows_with_slack(m->places.rows, m->slack);
    const bool all = get_places(e, &m->places) && get(e, w.heap, m->places.evicted + 1, "fronts") &&
                     get(e, m->control, control_bytes(m->places.steps), "fronts") &&
                     get(e, memory, columns_bytes<real>(m->places.rows, m->slack), "workspace of the fronts");
    m->room.columns = reinterpret_cast<real *>(memory);
    w.tally = reinterpret_cast<front_tally *>(m->control);
    return all;
}

template <class real> void free_panels(sd_engine *e, run_memory<real> *m)
{
    free_places(e, &m->places);
    const void *all[] = {m->w.heap, m->control, m->room.columns};
    for (const void *memory : all) e->backend->release(e, const_cast<void *>(memory));
    m->w.heap = NULL;
    m->control = NULL;
    m->room.columns = NULL;
}

/* The engine's pool gives back what is not in use. */
void trim(sd_engine *e)
{
    if (finished(e, "free memory")) cudaMemPoolTrimTo(state_of(e)->pool, 0);
}

/* Bytes of the device that are free, of which some are left to others: a part of it for vectors, matrices and
 * whatever else a caller has there. What engines keep in their pools is free too, once they are trimmed. */
int64_t free_bytes(sd_engine *e, int64_t wanted)
{
    constexpr int64_t RESERVE = 64 << 20, PART = 64;
    const on_device current(state_of(e)->device);
    int64_t left = 0;
    for (int tries = 0; tries < 2 && left < wanted && !e->status; ++tries) {
        size_t unused = 0, all = 0;
        if (tries > 0) trim(e);
        if (failed(e, cudaMemGetInfo(&unused, &all), "free memory")) return 0;
        left = static_cast<int64_t>(unused) - RESERVE - static_cast<int64_t>(all) / PART;
    }
    return left > 0 ? left : 0;
}

/* How everything fits into `most` bytes, of which those of `sizes` are not for panels. */
struct room_choice {
    sd_panels panels;
    sd_eviction eviction;
    int64_t columns; /* bytes that fronts at work take beside their panels */
};

/* As long as there is room for all, levels are not cut. If not, also the columns that large fronts work in
 * are limited, by fewer fronts at once, which are still many for a device. */
template <class real>
room_choice choose_room(const sd_panels &panels, const level_sizes &level, const run_sizes &sizes,
                        int64_t most)
{
    constexpr int64_t STEP_ROWS = 1 << 18;
    const int64_t other = sizes.fixed + sizes.later, cap = max(STEP_ROWS, level.tallest);
    room_choice c = {panels, {}, columns_bytes<real>(level.rows, panels.slack)};
    c.eviction = sd_eviction_choose(&c.panels, most - other - c.columns);
    if (c.eviction.fits && c.eviction.evicted == 0) return c;
    c.panels.most_rows = STEP_ROWS;
    c.columns = columns_bytes<real>(min(level.rows, cap), panels.slack);
    c.eviction = sd_eviction_choose(&c.panels, most - other - c.columns);
    return c;
}

/* Bytes that a run needs and may have, told where these are too few. */
template <class real>
saddle_status refuse(sd_engine *e, const run_memory<real> *m, const room_choice &c, int64_t most)
{
    const long long columns = c.eviction.least + c.columns, blocks = m->sizes.blocks, there = most;
    const long long needed = m->sizes.fixed + m->sizes.later + columns;
    return e->status =
               m->limit > 0
                   ? fail(e->context, SADDLE_MEMORY_LIMIT,
                          "memory limit: to factor on the GPU takes at least %lld bytes there (%lld for "
                          "contribution blocks, %lld for the columns at work), and device_memory is %lld "
                          "(raise it to at least the former, or use device cpu)",
                          needed, blocks, columns, there)
                   : fail(
                         e->context, SADDLE_OUT_OF_MEMORY,
                         "out of memory: to factor on the GPU takes at least %lld bytes there (%lld for "
                         "contribution blocks, %lld for the columns at work), and %lld of its bytes are free "
                         "beside a reserve (use device cpu)",
                         needed, blocks, columns, there);
}

/* Which panels stay on the device, within its memory or the limit. Nothing is in use of what depends on it.
 */
template <class real> saddle_status choose_places(sd_engine *e, run_memory<real> *m, int64_t in_use)
{
    const sd_panels panels = panels_of(m);
    const int64_t other = m->sizes.fixed + m->sizes.later + columns_bytes<real>(m->most.rows, m->slack);
    m->heap_bytes = sd_eviction_choose(&panels, INT64_MAX).whole;
    int64_t most = m->limit > 0 ? m->limit : in_use + free_bytes(e, other - in_use + m->heap_bytes);
    if (e->context->limit > 0) most = min(most, in_use + e->context->limit - e->context->bytes);
    if (e->status) return e->status;
    const room_choice c = choose_room<real>(panels, m->most, m->sizes, most);
    m->planned = c.eviction.planned;
    return c.eviction.fits ? plan_places(e, &c.panels, &c.eviction, &m->places) : refuse(e, m, c, most);
}

template <class real>
bool get_memory(sd_engine *e, const sd_tree *t, const sd_schedule *s, int64_t widest, run_memory<real> *m)
{
    forest<real> &w = m->w;
    const char *what = "fronts";
    w.space = s->workspace;
    bool all = get(e, m->values, t->entry_ptr[t->n], what) && get(e, w.front, t->fronts, what) &&
               get(e, w.arena, s->arena, "contribution blocks") &&
               get(e, w.workspace, w.space * widest, "contribution blocks") &&
               get(e, m->room.flags, FLAG_COUNT, what);
    int32_t *position = NULL;
    double *scale = NULL;
    all = all && get(e, position, t->n, what) && get(e, scale, t->n, what);
    m->frame.position = position;
    m->frame.scale = scale;
    char *work = NULL;
    all =
        all && get(e, work, m->most.large * static_cast<int64_t>(large_work_bytes<real>()), "fronts at work");
    m->room.work = reinterpret_cast<large_work<real> *>(work);
    for (int k = 0; k < JOB_KINDS && all; ++k)
        all = get(e, m->room.jobs[k], m->most.large + 1, "fronts at work");
    w.values = m->values;
    return all && get_panels(e, m);
}

/* Clusters that run at once; below 0 where that cannot be found out. */
template <class real> int64_t find_blocks(sd_engine *e, const sd_schedule *s, int (&blocks)[2])
{
    int64_t widest = 0;
    for (int tiny = 0; tiny < 2; ++tiny) {
        blocks[tiny] = s->clusters > 0 ? cluster_blocks<real>(e, tiny) : 0;
        if (blocks[tiny] > widest) widest = blocks[tiny];
    }
    return e->status ? -1 : widest < s->clusters ? widest : s->clusters;
}

template <class real>
saddle_status make_run(sd_engine *e, const sd_tree *t, const sd_schedule *s, double slack, int64_t limit,
                       run_memory<real> *m)
{
    make_spaces(&m->spaces);
    m->tree = t;
    m->schedule = s;
    m->most = measure_levels(t, s);
    m->slack = slack;
    m->limit = limit;
    m->large_blocks = s->large > 0 ? large_blocks<real>(e) : 0;
    const int64_t widest = find_blocks<real>(e, s, m->cluster_blocks);
    if (widest < 0) return e->status;
    m->sizes = sizes_of<real>(t, s, widest);
    if (choose_places(e, m, 0) || !put_plan(e, t, s, m) || !put_derived(e, t, s, m) ||
        !get_memory(e, t, s, widest, m))
        return e->status;
    const saddle_status status = make_tasks(e, t, s, &m->tasks);
    return status ? status : make_lists(e, t, &m->w.lists);
}

template <class real> void free_run(sd_engine *e, run_memory<real> *m)
{
    const forest<real> &w = m->w;
    m->watch.free(e);
    free_spaces(e, &m->spaces);
    const void *all[] = {w.plan,
                         w.entry_column,
                         m->clusters.bytes,
                         w.first,
                         w.parent,
                         w.child_ptr,
                         w.child,
                         w.row_ptr,
                         w.rows,
                         w.place,
                         w.entry_ptr,
                         w.entry_row,
                         w.rest,
                         w.inner,
                         m->clusters.begin,
                         m->clusters.front,
                         m->large.front,
                         m->values,
                         w.front,
                         w.arena,
                         w.workspace,
                         m->room.flags,
                         m->room.work,
                         m->room.jobs[0],
                         m->room.jobs[1],
                         m->room.jobs[2],
                         m->room.jobs[3],
                         m->room.jobs[4],
                         m->room.jobs[5],
                         m->signs,
                         m->tasks.task,
                         m->tasks.begin,
                         m->tasks.front,
                         w.lists.ptr,
                         w.lists.from,
                         w.lists.owner,
                         m->frame.position,
                         m->frame.scale};
    for (const void *memory : all) e->backend->release(e, const_cast<void *>(memory));
    free_panels(e, m);
    free_values(e, &m->values_from);
    m->clock.turn(e, -1);
}

/* Clusters and large fronts of a step, whose panels are taken from heap number `heap`. */
template <class real> void launch_step(sd_engine *e, run_memory<real> *m, int32_t k, int32_t heap)
{
    const sd_panel_step &s = m->places.step[k];
    unsigned *tickets = reinterpret_cast<unsigned *>(m->control + sizeof(front_tally));
    forest<real> w = m->w;
    w.heap += heap;
    large_list large = m->large;
    large.from = s.large_from;
    large.to = s.large_to;
    m->room.barrier = tickets + 2 * m->places.steps + k;
    m->room.ticket = tickets + 3 * m->places.steps + k;
    for (int tiny = 0; tiny < 2; ++tiny) {
        cluster_list clusters = m->clusters;
        clusters.from = tiny ? s.cluster_tiny : s.cluster_from;
        clusters.to = tiny ? s.cluster_to : s.cluster_tiny;
        if (clusters.to > clusters.from) {
            launch_clusters(e, w, clusters, tiny, m->cluster_blocks[tiny], tickets + 2 * k + tiny);
            m->clock.mark(e, SD_PART_FACTOR);
        }
    }
    if (large.to > large.from) launch_large(e, w, large, m->room, m->large_blocks, &m->clock);
}

/* What solves need of the fronts of steps [from, to). */
template <class real> void invert_steps(sd_engine *e, run_memory<real> *m, int32_t from, int32_t to)
{
    if (from >= to) return;
    const sd_panel_step &first = m->places.step[from], &last = m->places.step[to - 1];
    const int64_t *begin = m->schedule->cluster_from;
    invert_some(
        e, m,
        {m->clusters.front + begin[first.cluster_from], begin[last.cluster_to] - begin[first.cluster_from]},
        {m->large.front + first.large_from, last.large_to - first.large_from});
    m->clock.mark(e, SD_PART_PRESOLVE);
}

/* Launches everything; nothing is waited for. */
template <class real> void launch_all(sd_engine *e, run_memory<real> *m)
{
    const int32_t evicted = m->places.evicted;
    for (int32_t k = 0; k < m->places.steps && !e->status; ++k) {
        if (k < evicted && k >= 2) settle_step(e, m, k - 2);
        if (k < evicted && k >= 2) m->clock.mark(e, SD_PART_OTHER);
        launch_step(e, m, k, k < evicted ? k : evicted);
        if (k >= evicted) continue;
        invert_steps(e, m, k, k + 1);
        send_step(e, m, k);
    }
    m->clock.mark(e, SD_PART_OTHER);
    if (evicted > 0)
        invert_steps(e, m, evicted, m->places.steps);
    else if (m->presolve != SD_PRESOLVE_OFF)
        invert_squares(e, m, -1);
    m->clock.mark(e, SD_PART_PRESOLVE);
    for (int32_t k = evicted > 2 ? evicted - 2 : 0; k < evicted; ++k) settle_step(e, m, k);
}

/* Signs, where the rule knows some. */
template <class real> void put_signs(sd_engine *e, run_memory<real> *m, const int8_t *signs)
{
    if (!signs) return;
    if (!m->signs && !get(e, m->signs, m->w.n, "signs")) return;
    failed(e,
           cudaMemcpyAsync(m->signs, signs, static_cast<size_t>(m->w.n), cudaMemcpyHostToDevice,
                           state_of(e)->stream),
           "signs");
    m->w.rule.signs = m->signs;
}

/* Values, signs, and everything that begins as 0. */
template <class real> void begin_run(sd_engine *e, run_memory<real> *m, const sd_run_job *job)
{
    const state *s = state_of(e);
    const on_device current(s->device);
    const sd_pivoting *p = job->pivoting;
    m->clock.start(e);
    m->w.rule = {p->rule, p->u, p->small, p->regularise, NULL, m->clock.is_on() ? m->w.tally->tiles : NULL};
    m->w.most =
        job->most_flops > 0 && job->most_flops < 9e18 ? static_cast<unsigned long long>(job->most_flops) : 0;
    put_signs(e, m, p->signs);
    const size_t heaps = static_cast<size_t>(m->places.evicted + 1) * sizeof *m->places.heap;
    failed(e, cudaMemcpyAsync(m->w.heap, m->places.heap, heaps, cudaMemcpyHostToDevice, s->stream), "fronts");
    failed(e, cudaMemsetAsync(m->control, 0, static_cast<size_t>(control_bytes(m->places.steps)), s->stream),
           "fronts");
    if (m->w.watched) m->watch.start(e, m->w.tally);
    const size_t bytes = static_cast<size_t>(m->tree->entry_ptr[m->tree->n]) * sizeof *job->values;
    if (job->there)
        take_values(e, job->there, m->tree, m->values, &m->values_from);
    else
        failed(e, cudaMemcpyAsync(m->values, job->values, bytes, cudaMemcpyHostToDevice, s->stream),
               "values");
    m->clock.mark(e, SD_PART_OTHER);
}

void tell(const front_tally &t, sd_run_result *r)
{
    sd_run_result x = {};
    x.pivots.negative = static_cast<int64_t>(t.signs[0]);
    x.pivots.zero = static_cast<int64_t>(t.signs[1]);
    x.pivots.positive = static_cast<int64_t>(t.signs[2]);
    x.pivots.two_by_two = static_cast<int64_t>(t.two_by_two);
    x.pivots.perturbed = static_cast<int64_t>(t.perturbed);
    for (int k = 0; k < 3; ++k) x.signs[k] = static_cast<int64_t>(t.signs[k]);
    x.suspects = static_cast<int64_t>(t.suspects);
    x.delayed = static_cast<int64_t>(t.delayed);
    x.nnz = static_cast<int64_t>(t.nnz);
    x.largest_front = t.largest_front;
    x.panel_bytes = static_cast<int64_t>(t.panel_bytes);
    x.flops = static_cast<double>(t.operations);
    x.indefinite = (t.stop & STOP_INDEFINITE) != 0;
    x.abandoned = (t.stop & STOP_FLOPS) != 0;
    for (int k = 0; k < SD_TILE_CLASSES; ++k) x.profile.tiles[k] = static_cast<int64_t>(t.tiles[k]);
    for (int k = 0; k < SD_PARTS; ++k) x.profile.seconds[k] = r->profile.seconds[k];
    x.waits = r->waits;
    x.restarts = r->restarts;
    x.fetched = r->fetched;
    x.taken = r->taken;
    *r = x;
}

/* Waits for the device, and brings what it found, with the pivots where they were gathered. */
template <class real>
void end_run(sd_engine *e, run_memory<real> *m, const sd_run_job *job, const void *gathered,
             front_tally *tally)
{
    m->result.cancelled = m->w.watched && !m->watch.wait(e, job, m->tree->flops);
    if (gathered && !m->result.cancelled) bring(e, m, gathered, job->pivots);
    e->backend->download(e, m->control, tally, sizeof *tally);
    if (job->there) fetch_taken(e, &m->values_from, &m->result.taken);
    ++m->result.waits;
    if (m->w.watched) m->watch.end(e); /* nothing is read any more when the tally goes */
}

/* Places for panels, and their memory, where there is none. */
template <class real> bool provide_panels(sd_engine *e, run_memory<real> *m)
{
    if (!choose_places(e, m, device_bytes(m)) && get_panels(e, m)) return true;
    free_panels(e, m);
    return false;
}

/* More room for delays, after a run that has asked for so many bytes until it stopped. Where there is none,
 * the next factorization begins with as much as this one. */
template <class real> bool enlarge_panels(sd_engine *e, run_memory<real> *m, int64_t asked)
{
    const double slack = m->slack, planned = static_cast<double>(m->planned);
    free_panels(e, m);
    trim(e);
    m->slack = 2 * slack + 0.25;
    if (planned > 0) m->slack = max(m->slack, 1.25 * static_cast<double>(asked) / planned - 1);
    if (provide_panels(e, m)) return true;
    m->slack = slack;
    return false;
}

/* Runs until panels fit; false where there are no factors because of a failure, or the caller's will. */
template <class real>
bool run_all(sd_engine *e, run_memory<real> *m, const sd_run_job *job, void *gathered, front_tally *tally)
{
    for (;; ++m->result.restarts) {
        m->clock.turn(e, job->profile ? m->places.steps : -1);
        begin_run(e, m, job);
        launch_all(e, m);
        if (gathered) gather(e, m, gathered);
        if (job->meanwhile && m->result.restarts == 0) job->meanwhile(job->what);
        end_run(e, m, job, gathered, tally);
        if (e->status || m->result.cancelled) return false;
        m->clock.read(e, m->result.profile.seconds);
        if (!(tally->stop & STOP_ROOM)) return true;
        if (!enlarge_panels(e, m, static_cast<int64_t>(tally->panel_bytes))) return false;
    }
}

template <class real>
saddle_status factor_run(sd_engine *e, run_memory<real> *m, const sd_run_job *job, sd_run_result *result)
{
    front_tally tally;
    *result = sd_run_result();
    m->result = *result;
    m->presolve = job->presolve;
    if (job->report) m->watch.make(e);
    m->w.watched = job->report && m->watch.is_on();
    const bool grows = job->pivoting->rule == SD_PIVOT_THRESHOLD && m->slack == 0;
    if (grows && !enlarge_panels(e, m, 0)) return e->status;
    if (!m->control && !provide_panels(e, m)) return e->status;
    void *gathered = job->pivots ? e->backend->allocate(e, gathered_bytes(m), "pivots") : NULL;
    const bool done = run_all(e, m, job, gathered, &tally);
    m->result.fetched = done && gathered && !tally.stop;
    e->backend->release(e, gathered);
    if (done) tell(tally, &m->result);
    m->result.device_bytes = device_bytes(m);
    m->result.offloaded_bytes = m->places.host_bytes;
    if (done && m->presolve == SD_PRESOLVE_WHOLE && !tally.stop && m->places.evicted == 0) {
        /* How large the fronts have become is known only now. */
        m->clock.start(e);
        invert_triangles(e, m, m->result.largest_front, -1);
        m->clock.mark(e, SD_PART_PRESOLVE);
        finished(e, "inverses"); /* engines of solves do not wait for this one */
        ++m->result.waits;
        m->clock.read(e, m->result.profile.seconds);
    }
    *result = m->result;
    return e->status;
}

template <class real> run_memory<real> *memory_of(const sd_front_run *run)
{
    return static_cast<run_memory<real> *>(run->memory);
}

saddle_status make(sd_engine *e, const sd_tree *t, const sd_schedule *s, sd_precision precision, double slack,
                   int64_t limit, sd_front_run **run)
{
    sd_context *c = e->context;
    const size_t size = precision == SD_DOUBLE ? sizeof(run_memory<double>) : sizeof(run_memory<float>);
    char *memory = static_cast<char *>(c->hooks.allocate(sizeof(sd_front_run) + size, c->hooks.user));
    *run = reinterpret_cast<sd_front_run *>(memory);
    if (!memory)
        return fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the state of a factorization");
    memset(memory, 0, sizeof(sd_front_run) + size);
    (*run)->precision = precision;
    (*run)->memory = memory + sizeof(sd_front_run);
    return precision == SD_DOUBLE ? make_run(e, t, s, slack, limit, memory_of<double>(*run))
                                  : make_run(e, t, s, slack, limit, memory_of<float>(*run));
}

void release_run(sd_engine *e, sd_front_run *run)
{
    if (!run) return;
    if (run->precision == SD_DOUBLE)
        free_run(e, memory_of<double>(run));
    else
        free_run(e, memory_of<float>(run));
    e->context->hooks.release(run, e->context->hooks.user);
}

template <class real>
sd_run_bytes bytes_of(sd_engine *e, const sd_tree *t, const sd_schedule *s, double slack, int64_t limit)
{
    constexpr int64_t MOST_BLOCKS = 640; /* more than a device of today runs at once */
    int blocks[2];
    const int64_t widest = e ? find_blocks<real>(e, s, blocks) : MOST_BLOCKS;
    const run_sizes sizes = sizes_of<real>(t, s, widest < 0 ? MOST_BLOCKS : widest);
    const sd_panels panels = {t, s, static_cast<int>(sizeof(real)), slack, 0};
    const level_sizes level = measure_levels(t, s);
    const room_choice c = choose_room<real>(panels, level, sizes, limit > 0 ? limit : INT64_MAX),
                      none = choose_room<real>(panels, level, sizes, 0);
    const sd_eviction &choice = c.eviction;
    sd_run_bytes b = {};
    b.later = sizes.later;
    b.least = sizes.fixed + sizes.later + none.columns + none.eviction.least;
    b.whole = sizes.fixed + sizes.later + columns_bytes<real>(level.rows, slack) + none.eviction.whole;
    if (!choice.fits) return b;
    b.device = sizes.fixed + columns_bytes<real>(choice.rows, slack) + choice.kept + 2 * choice.region +
               control_bytes(choice.steps) + (choice.evicted + 1) * static_cast<int64_t>(sizeof(front_heap));
    b.host = choice.host;
    return b;
}

sd_run_bytes bytes(sd_engine *e, const sd_tree *t, const sd_schedule *s, sd_precision precision, double slack,
                   int64_t limit)
{
    return precision == SD_DOUBLE ? bytes_of<double>(e, t, s, slack, limit)
                                  : bytes_of<float>(e, t, s, slack, limit);
}

saddle_status factor(sd_engine *e, sd_front_run *run, const sd_run_job *job, sd_run_result *result)
{
    if (e->status) return e->status;
    return run->precision == SD_DOUBLE ? factor_run(e, memory_of<double>(run), job, result)
                                       : factor_run(e, memory_of<float>(run), job, result);
}

} /* namespace */

template <class real> int64_t device_bytes(const run_memory<real> *m)
{
    const panel_places &p = m->places;
    int64_t bytes = m->sizes.fixed + m->values_from.bytes;
    if (m->signs) bytes += m->w.n;
    if (!m->control) return bytes;
    const int64_t heaps = (p.evicted + 1) * static_cast<int64_t>(sizeof(front_heap));
    return bytes + p.kept_bytes + 2 * p.region_bytes + heaps + control_bytes(p.steps) +
           columns_bytes<real>(p.rows, m->slack);
}
template int64_t device_bytes<double>(const run_memory<double> *);
template int64_t device_bytes<float>(const run_memory<float> *);

const sd_front_runner front_runner = {make,          release_run, bytes,       factor,
                                      largest_entry, solve_parts, set_frame,   apply_inverse,
                                      fetch_fronts,  put_pivot,   clear_column};

} /* namespace sd_cuda */
