/*
 * A factorization by fronts as the host sees it: memory, launches, the one transfer of what was found.
 */
#include "backend/cuda/front_launch.cuh"
#include "backend/cuda/front_memory.cuh"
#include "backend/cuda/front_room.cuh"
#include "backend/cuda/memory.cuh"

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

front_plan plan_of(const sd_tree *t, const sd_schedule *s, const int64_t *rest, int32_t f)
{
    front_plan p = {};
    p.first = t->first[f];
    p.columns = t->first[f + 1] - t->first[f];
    p.below = static_cast<int32_t>(t->row_ptr[f + 1] - t->row_ptr[f]);
    p.parent = t->parent[f];
    p.rows = t->row_ptr[f];
    p.rest = rest[f];
    p.entries = t->entry_ptr[p.first];
    p.entry_count = static_cast<int32_t>(t->entry_ptr[t->first[f + 1]] - p.entries);
    p.child = t->child_ptr[f];
    p.children = static_cast<int32_t>(t->child_ptr[f + 1] - t->child_ptr[f]);
    p.inner = s->inner[f];
    return p;
}

template <class real> sd_panels panels_of(const run_memory<real> *m)
{
    return {m->tree, m->schedule, static_cast<int>(sizeof(real)), m->slack, 0, NULL};
}

/* Memory of the host for what is made there and copied. */
char *get_host(sd_engine *e, size_t bytes)
{
    sd_context *c = e->context;
    char *memory = static_cast<char *>(c->hooks.allocate(bytes + 1, c->hooks.user));
    if (!memory)
        e->status = fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the plan of the fronts");
    return memory;
}

/* What is not in the plan as it is: bytes of each cluster's panels, and the column of each entry. */
template <class real>
bool put_derived(sd_engine *e, const sd_tree *t, const sd_schedule *s, run_memory<real> *m)
{
    const saddle_hooks *hooks = &e->context->hooks;
    const size_t entries = static_cast<size_t>(t->entry_ptr[t->n]),
                 clusters = static_cast<size_t>(s->clusters);
    char *memory = get_host(e, clusters * sizeof(int64_t) + entries * sizeof(int32_t));
    if (!memory) return false;
    int64_t *sizes = reinterpret_cast<int64_t *>(memory);
    int32_t *column = reinterpret_cast<int32_t *>(sizes + clusters);
    for (int32_t f = 0; f < t->fronts; ++f)
        for (int32_t k = t->first[f]; k < t->first[f + 1]; ++k)
            for (int64_t i = t->entry_ptr[k]; i < t->entry_ptr[k + 1]; ++i) column[i] = k - t->first[f];
    const sd_panels panels = panels_of(m);
    for (int32_t k = 0; k < s->clusters; ++k) {
        sizes[k] = 0;
        for (int64_t i = s->cluster_from[k]; i < s->cluster_from[k + 1]; ++i)
            sizes[k] += sd_panel_planned(&panels, s->cluster_front[i]);
    }
    const char *what = "plan of the fronts";
    const bool all = put(e, m->clusters.bytes, sizes, s->clusters, what) &&
                     put(e, m->w.entry_column, column, t->entry_ptr[t->n], what);
    hooks->release(memory, hooks->user);
    return all;
}

/* Where contribution blocks are, and with that all that the plan says of each front: again whenever they are
 * placed anew. */
template <class real> bool put_places(sd_engine *e, run_memory<real> *m)
{
    const sd_tree *t = m->tree;
    const saddle_hooks *hooks = &e->context->hooks;
    const int64_t *rest = m->layout.places.rest;
    const size_t bytes = static_cast<size_t>(t->fronts) * sizeof(front_plan);
    char *memory = get_host(e, bytes);
    if (!memory) return false;
    front_plan *plan = reinterpret_cast<front_plan *>(memory);
    for (int32_t f = 0; f < t->fronts; ++f) plan[f] = plan_of(t, m->schedule, rest, f);
    e->backend->upload(e, plan, const_cast<front_plan *>(m->w.plan), static_cast<int64_t>(bytes));
    e->backend->upload(e, rest, const_cast<int64_t *>(m->w.rest),
                       t->fronts * static_cast<int64_t>(sizeof *rest));
    hooks->release(memory, hooks->user);
    return !e->status;
}

template <class real> bool put_plan(sd_engine *e, const sd_tree *t, const sd_schedule *s, run_memory<real> *m)
{
    forest<real> &w = m->w;
    const char *what = "plan of the fronts";
    const int64_t fronts = t->fronts, rows = t->row_ptr[fronts], entries = t->entry_ptr[t->n];
    front_plan *plan = NULL;
    int64_t *rest = NULL;
    w.n = t->n;
    w.fronts = t->fronts;
    const bool all =
        put(e, w.first, t->first, fronts + 1, what) && put(e, w.parent, t->parent, fronts, what) &&
        put(e, w.child_ptr, t->child_ptr, fronts + 1, what) &&
        put(e, w.child, t->child, t->child_ptr[fronts], what) &&
        put(e, w.row_ptr, t->row_ptr, fronts + 1, what) && put(e, w.rows, t->rows, rows, what) &&
        put(e, w.place, t->place, rows, what) && put(e, w.entry_ptr, t->entry_ptr, t->n + int64_t{1}, what) &&
        put(e, w.entry_row, t->entry_row, entries, what) && put(e, w.inner, s->inner, fronts, what) &&
        put(e, m->clusters.begin, s->cluster_from, s->clusters + int64_t{1}, what) &&
        put(e, m->clusters.front, s->cluster_front, s->cluster_from[s->clusters], what) &&
        put(e, m->large.front, s->large_front, s->large, what) && get(e, rest, fronts, what) &&
        get(e, plan, fronts, what);
    w.rest = rest;
    w.plan = plan;
    return all;
}

/* What grows with delays. */
template <class real> bool get_panels(sd_engine *e, run_memory<real> *m)
{
    forest<real> &w = m->w;
    panel_places *p = &m->places;
    if (!get_places(e, p) || !get(e, w.heap, p->evicted + 1, "fronts") ||
        !get(e, m->control, control_bytes(p->steps), "fronts"))
        return false;
    w.arena = reinterpret_cast<real *>(p->kept + p->kept_bytes - m->layout.places.bytes);
    w.tally = reinterpret_cast<front_tally *>(m->control);
    return put_places(e, m);
}

template <class real> void free_panels(sd_engine *e, run_memory<real> *m)
{
    free_places(e, &m->places);
    e->backend->release(e, m->w.heap);
    e->backend->release(e, m->control);
    m->w.heap = NULL;
    m->control = NULL;
}

/* The engine gives back what is not in use. */
void trim(sd_engine *e)
{
    const on_device current(state_of(e)->device);
    if (finished(e, "free memory")) trim_memory(e->context, &state_of(e)->memory, 0);
}

/* Bytes of the device that are free, of which some are left to others: a part of it for vectors, matrices and
 * whatever else a caller has there. What the engine keeps is free too, once it is trimmed. */
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

/* Bytes that a run needs and may have, told where these are too few. */
template <class real>
saddle_status refuse(sd_engine *e, const run_memory<real> *m, const room_choice &c, int64_t most)
{
    const long long blocks = c.layout.places.bytes, columns = c.eviction.least - blocks, there = most;
    const long long needed = m->sizes.fixed + m->sizes.later + c.eviction.least;
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

/* Where blocks are, and which panels stay on the device, within its memory or the limit. Nothing is in use of
 * what depends on it. */
template <class real> saddle_status choose_places(sd_engine *e, run_memory<real> *m, int64_t in_use)
{
    const sd_panels panels = panels_of(m);
    const int64_t other = m->sizes.fixed + m->sizes.later;
    room_choice c;
    free_layout(e->context, &m->layout);
    e->status = choose_room<real>(e->context, panels, m->width, INT64_MAX, &c);
    if (e->status) {
        free_layout(e->context, &c.layout);
        return e->status;
    }
    m->planned = c.eviction.planned;
    m->heap_bytes = sd_with_slack(m->planned, m->slack);
    int64_t most = m->limit > 0 ? m->limit : in_use + free_bytes(e, other - in_use + c.whole);
    if (e->context->limit > 0) most = min(most, in_use + e->context->limit - e->context->bytes);
    if (!e->status && most - other < c.eviction.kept) {
        free_layout(e->context, &c.layout);
        e->status = choose_room<real>(e->context, panels, m->width, most - other, &c);
    }
    if (!e->status && !c.eviction.fits) refuse(e, m, c, most);
    if (!e->status) plan_places(e, &c.panels, &c.eviction, &m->places);
    m->layout = c.layout;
    return e->status;
}

template <class real> bool get_memory(sd_engine *e, const sd_tree *t, run_memory<real> *m)
{
    forest<real> &w = m->w;
    const char *what = "fronts";
    bool all = get(e, m->values, t->entry_ptr[t->n], what) && get(e, w.front, t->fronts, what) &&
               get(e, m->room.flags, FLAG_COUNT, what);
    int32_t *position = NULL;
    double *scale = NULL;
    all = all && get(e, position, t->n, what) && get(e, scale, t->n, what);
    m->frame.position = position;
    m->frame.scale = scale;
    w.values = m->values;
    return all && get_panels(e, m);
}

template <class real>
saddle_status make_run(sd_engine *e, const sd_tree *t, const sd_schedule *s, double slack, int64_t limit,
                       run_memory<real> *m)
{
    make_spaces(&m->spaces);
    m->tree = t;
    m->schedule = s;
    m->slack = slack;
    m->limit = limit;
    m->large_blocks = s->large > 0 ? large_blocks<real>(e) : 0;
    m->width = find_width<real>(e, 0, s);
    m->sizes = sizes_of<real>(t, s);
    if (e->status || choose_places(e, m, 0) || !put_plan(e, t, s, m) || !put_derived(e, t, s, m) ||
        !get_memory(e, t, m))
        return e->status;
    const saddle_status status = make_tasks(e, t, s, &m->tasks);
    return status ? status : make_lists(e, t, &m->w.lists);
}

template <class real> void free_run(sd_engine *e, run_memory<real> *m)
{
    const forest<real> &w = m->w;
    m->watch.free(e);
    m->beside.free(e);
    free_spaces(e, &m->spaces);
    const void *all[] = {w.plan,         w.entry_column, m->clusters.bytes, w.first,
                         w.parent,       w.child_ptr,    w.child,           w.row_ptr,
                         w.rows,         w.place,        w.entry_ptr,       w.entry_row,
                         w.rest,         w.inner,        m->clusters.begin, m->clusters.front,
                         m->large.front, m->values,      w.front,           m->room.flags,
                         m->signs,       m->tasks.task,  m->tasks.begin,    m->tasks.front,
                         w.lists.ptr,    w.lists.from,   w.lists.owner,     m->frame.position,
                         m->frame.scale};
    for (const void *memory : all) e->backend->release(e, const_cast<void *>(memory));
    free_panels(e, m);
    free_layout(e->context, &m->layout);
    free_values(e, &m->values_from);
    m->clock.turn(e, -1);
}

/* What the large fronts of a level work in, which begins at `memory`. */
template <class real>
large_room<real> room_at(const run_memory<real> *m, const level_room &level, int64_t fronts, char *memory)
{
    large_room<real> room = m->room;
    room.work = reinterpret_cast<large_work<real> *>(memory);
    for (int k = 0; k < JOB_KINDS; ++k)
        room.jobs[k] = reinterpret_cast<int64_t *>(memory + level.jobs) + k * (fronts + 1);
    room.columns = reinterpret_cast<real *>(memory + level.columns);
    room.capacity = level.rows;
    return room;
}

/* The clusters of a step. */
template <class real>
void launch_small(sd_engine *e, run_memory<real> *m, const forest<real> &w, const sd_panel_step &s,
                  unsigned *tickets)
{
    const bool together =
        launched_together(m->width, s.cluster_tiny - s.cluster_from, s.cluster_to - s.cluster_tiny);
    for (int tiny = 0; tiny < 2; ++tiny) {
        cluster_list clusters = m->clusters;
        clusters.from = tiny ? s.cluster_tiny : s.cluster_from;
        clusters.to = tiny || together ? s.cluster_to : s.cluster_tiny;
        if (clusters.to > clusters.from && !(tiny && together)) {
            launch_clusters(e, w, clusters, tiny, m->width.blocks[tiny], tickets + tiny);
            m->clock.mark(e, SD_PART_FACTOR);
        }
    }
}

/* Clusters and large fronts of a step, whose panels are taken from heap number `heap`. They have nothing to
 * do with each other, and run at once, unless it is to be known how long each of them takes. */
template <class real> void launch_step(sd_engine *e, run_memory<real> *m, int32_t k, int32_t heap)
{
    const sd_panel_step &s = m->places.step[k];
    const level_room &level = m->layout.level[s.level];
    unsigned *tickets = reinterpret_cast<unsigned *>(m->control + sizeof(front_tally));
    forest<real> w = m->w;
    char *scratch = reinterpret_cast<char *>(w.arena) + m->layout.places.scratch[s.level];
    w.heap += heap;
    w.ceiling = static_cast<unsigned long long>(s.capacity > 0 ? s.capacity : s.ceiling);
    w.workspace = reinterpret_cast<real *>(scratch);
    w.space = level.space;
    const bool both = s.cluster_to > s.cluster_from && s.large_to > s.large_from && !m->clock.is_on();
    const bool beside = both && m->beside.begin(e);
    launch_small(e, m, w, s, tickets + 2 * k);
    if (beside) m->beside.end(e);
    large_list large = m->large;
    large.from = s.large_from;
    large.to = s.large_to;
    if (large.to == large.from) return;
    const int64_t fronts = m->schedule->large_ptr[s.level + 1] - m->schedule->large_ptr[s.level];
    large_room<real> room = room_at(m, level, fronts, scratch + level.large);
    room.barrier = tickets + 2 * m->places.steps + k;
    room.ticket = tickets + 3 * m->places.steps + k;
    launch_large(e, w, large, room, m->large_blocks, &m->clock);
    if (beside) m->beside.join(e);
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
    return bytes + p.kept_bytes + 2 * p.region_bytes + heaps + control_bytes(p.steps);
}
template int64_t device_bytes<double>(const run_memory<double> *);
template int64_t device_bytes<float>(const run_memory<float> *);

const sd_front_runner front_runner = {make,          release_run, predict_bytes, factor,
                                      largest_entry, solve_parts, set_frame,     apply_inverse,
                                      fetch_fronts,  put_pivot,   clear_column,  fetch_columns};

} /* namespace sd_cuda */
