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

/* Numbers and counters that a factorization begins with as 0: the tally, then of each level two tickets, a
 * barrier and one more ticket. */
int64_t control_bytes(int32_t levels)
{
    return static_cast<int64_t>(sizeof(front_tally)) + 4 * static_cast<int64_t>(sizeof(unsigned)) * levels;
}

level_sizes measure_levels(const sd_tree *t, const sd_schedule *s)
{
    level_sizes most = {0, 0};
    for (int32_t l = 0; l < s->levels; ++l) {
        int64_t rows = 0;
        for (int32_t k = s->large_ptr[l]; k < s->large_ptr[l + 1]; ++k) {
            const int32_t f = s->large_front[k];
            rows += t->first[f + 1] - t->first[f] + (t->row_ptr[f + 1] - t->row_ptr[f]) + 1;
        }
        const int64_t large = s->large_ptr[l + 1] - s->large_ptr[l];
        if (large > most.large) most.large = large;
        if (rows > most.rows) most.rows = rows;
    }
    return most;
}

int64_t with_slack(int64_t amount, double slack)
{
    return amount + static_cast<int64_t>(static_cast<double>(amount) * slack) + (1 << 16);
}

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

/* Bytes of a front's panel as planned. */
template <class real> int64_t planned_panel(const sd_tree *t, int32_t f)
{
    const int64_t columns = t->first[f + 1] - t->first[f];
    const int64_t rows = columns + t->row_ptr[f + 1] - t->row_ptr[f];
    const int64_t ld = (rows + 1) / 2 * 2, reals = static_cast<int64_t>(sizeof(real)) * columns * (ld + 2);
    return (reals + 4 * columns + 15) / 16 * 16;
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
    for (int32_t k = 0; k < s->clusters; ++k) {
        sizes[k] = 0;
        for (int64_t i = s->cluster_from[k]; i < s->cluster_from[k + 1]; ++i)
            sizes[k] += planned_panel<real>(t, s->cluster_front[i]);
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

/* Room for delays on top of the part that is to be kept free: small problems delay more of their columns than
 * large ones, and can have it at no cost. Where memory is limited it may be needed for something else. */
int64_t ample_room(const sd_engine *e, int64_t planned, int64_t bytes)
{
    constexpr int64_t TIMES = 2, MOST = int64_t{64} << 20;
    const sd_context *c = e->context;
    const int64_t more = TIMES * planned < MOST ? TIMES * planned : MOST;
    return c->limit == 0 || bytes + more < (c->limit - c->bytes) / 2 ? more : 0;
}

/* What grows with delays, of which there are none without slack. The panels need so many bytes at least. */
template <class real> bool get_panels(sd_engine *e, run_memory<real> *m, int64_t least)
{
    forest<real> &w = m->w;
    m->heap_bytes = with_slack(m->planned, m->slack);
    if (m->heap_bytes < least) m->heap_bytes = least;
    if (m->slack > 0) m->heap_bytes += ample_room(e, m->planned, m->heap_bytes);
    m->room.capacity = with_slack(m->most.rows, m->slack);
    char *memory = NULL;
    if (!get(e, memory, m->heap_bytes, "columns of the factors")) return false;
    m->heap = memory;
    return get(e, m->room.columns, m->most.large ? 2 * 32 * m->room.capacity : 1,
               "workspace of the fronts") &&
           w.heap != NULL;
}

/* After a run that has asked for so many bytes until it stopped. */
template <class real> bool enlarge_panels(sd_engine *e, run_memory<real> *m, int64_t asked)
{
    e->backend->release(e, m->heap);
    e->backend->release(e, m->room.columns);
    m->heap = NULL;
    m->room.columns = NULL;
    m->slack = 2 * m->slack + 0.25;
    return get_panels(e, m, asked + asked / 4);
}

template <class real>
bool get_memory(sd_engine *e, const sd_tree *t, const sd_schedule *s, run_memory<real> *m)
{
    forest<real> &w = m->w;
    const char *what = "fronts";
    int32_t widest = 0;
    m->large_blocks = s->large > 0 ? large_blocks<real>(e) : 0;
    for (int tiny = 0; tiny < 2; ++tiny) {
        m->cluster_blocks[tiny] = s->clusters > 0 ? cluster_blocks<real>(e, tiny) : 0;
        if (m->cluster_blocks[tiny] > widest) widest = m->cluster_blocks[tiny];
    }
    if (e->status) return false;
    if (widest > s->clusters) widest = s->clusters;
    w.space = s->workspace;
    bool all = get(e, m->values, t->entry_ptr[t->n], what) && get(e, w.front, t->fronts, what) &&
               get(e, w.arena, s->arena, "contribution blocks") &&
               get(e, w.workspace, w.space * widest, "contribution blocks") && get(e, w.heap, 1, what) &&
               get(e, m->control, control_bytes(s->levels), what) && get(e, m->room.flags, FLAG_COUNT, what);
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
    w.tally = reinterpret_cast<front_tally *>(m->control);
    return all && get_panels(e, m, 0);
}

template <class real>
saddle_status make_run(sd_engine *e, const sd_tree *t, const sd_schedule *s, double slack,
                       run_memory<real> *m)
{
    make_spaces(&m->spaces);
    m->tree = t;
    m->schedule = s;
    m->most = measure_levels(t, s);
    for (int32_t f = 0; f < t->fronts; ++f) m->planned += planned_panel<real>(t, f);
    m->slack = slack;
    if (!put_plan(e, t, s, m) || !put_derived(e, t, s, m) || !get_memory(e, t, s, m)) return e->status;
    const saddle_status status = make_tasks(e, t, s, &m->tasks);
    return status ? status : make_lists(e, t, &m->lists);
}

template <class real> void free_run(sd_engine *e, run_memory<real> *m)
{
    const forest<real> &w = m->w;
    free_spaces(e, &m->spaces);
    const void *all[] = {w.plan,          w.entry_column,  m->clusters.bytes, w.first,
                         w.parent,        w.child_ptr,     w.child,           w.row_ptr,
                         w.rows,          w.place,         w.entry_ptr,       w.entry_row,
                         w.rest,          w.inner,         m->clusters.begin, m->clusters.front,
                         m->large.front,  m->values,       w.front,           w.arena,
                         w.workspace,     w.heap,          m->control,        m->room.flags,
                         m->room.work,    m->room.columns, m->heap,           m->room.jobs[0],
                         m->room.jobs[1], m->room.jobs[2], m->room.jobs[3],   m->room.jobs[4],
                         m->room.jobs[5], m->signs,        m->tasks.task,     m->tasks.begin,
                         m->tasks.front,  m->lists.ptr,    m->lists.from,     m->frame.position,
                         m->frame.scale};
    for (const void *memory : all) e->backend->release(e, const_cast<void *>(memory));
    free_values(e, &m->values_from);
    m->clock.turn(e, -1);
    m->watch.free(e);
}

/* Launches everything; nothing is waited for. */
template <class real> void launch_all(sd_engine *e, run_memory<real> *m)
{
    const sd_schedule *s = m->schedule;
    unsigned *tickets = reinterpret_cast<unsigned *>(m->control + sizeof(front_tally));
    for (int32_t l = 0; l < s->levels && !e->status; ++l) {
        large_list large = m->large;
        large.from = s->large_ptr[l];
        large.to = s->large_ptr[l + 1];
        m->room.barrier = tickets + 2 * s->levels + l;
        m->room.ticket = tickets + 3 * s->levels + l;
        for (int tiny = 0; tiny < 2; ++tiny) {
            cluster_list clusters = m->clusters;
            clusters.from = tiny ? s->cluster_tiny[l] : s->cluster_ptr[l];
            clusters.to = tiny ? s->cluster_ptr[l + 1] : s->cluster_tiny[l];
            if (clusters.to > clusters.from) {
                launch_clusters(e, m->w, clusters, tiny, m->cluster_blocks[tiny], tickets + 2 * l + tiny);
                m->clock.mark(e, SD_PART_FACTOR);
            }
        }
        if (large.to > large.from) launch_large(e, m->w, large, m->room, m->large_blocks, &m->clock);
    }
    m->clock.mark(e, SD_PART_OTHER);
    if (m->presolve != SD_PRESOLVE_OFF) invert_squares(e, m, -1);
    m->clock.mark(e, SD_PART_PRESOLVE);
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
    const front_heap heap = {static_cast<char *>(m->heap), static_cast<unsigned long long>(m->heap_bytes), 0};
    m->w.rule = {p->rule, p->u, p->small, p->regularise, NULL, m->clock.is_on() ? m->w.tally->tiles : NULL};
    m->w.most =
        job->most_flops > 0 && job->most_flops < 9e18 ? static_cast<unsigned long long>(job->most_flops) : 0;
    put_signs(e, m, p->signs);
    failed(e, cudaMemcpyAsync(m->w.heap, &heap, sizeof heap, cudaMemcpyHostToDevice, s->stream), "fronts");
    failed(e,
           cudaMemsetAsync(m->control, 0, static_cast<size_t>(control_bytes(m->schedule->levels)), s->stream),
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
    if (m->result.cancelled) m->watch.end(e);
}

/* Runs until panels fit; false where there are no factors because of a failure, or the caller's will. */
template <class real>
bool run_all(sd_engine *e, run_memory<real> *m, const sd_run_job *job, void *gathered, front_tally *tally)
{
    for (;; ++m->result.restarts) {
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
    m->clock.turn(e, job->profile ? m->schedule->levels : -1);
    if (job->report) m->watch.make(e);
    m->w.watched = job->report && m->watch.is_on();
    const bool grows = job->pivoting->rule == SD_PIVOT_THRESHOLD && m->slack == 0;
    if (grows && !enlarge_panels(e, m, 0)) return e->status;
    void *gathered = job->pivots ? e->backend->allocate(e, gathered_bytes(m), "pivots") : NULL;
    const bool done = run_all(e, m, job, gathered, &tally);
    m->result.fetched = done && gathered && !tally.stop;
    e->backend->release(e, gathered);
    if (done) tell(tally, &m->result);
    if (done && m->presolve == SD_PRESOLVE_WHOLE && !tally.stop) {
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
                   sd_front_run **run)
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
    return precision == SD_DOUBLE ? make_run(e, t, s, slack, memory_of<double>(*run))
                                  : make_run(e, t, s, slack, memory_of<float>(*run));
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

template <class real> int64_t bytes_of(const sd_tree *t, const sd_schedule *s, double slack)
{
    const level_sizes most = measure_levels(t, s);
    const int64_t real_bytes = static_cast<int64_t>(sizeof(real)), fronts = t->fronts,
                  rows = t->row_ptr[fronts];
    const int64_t plan =
        4 * (4 * fronts + 4 * rows + t->n) + 8 * (4 * fronts + t->n) + 12 * t->entry_ptr[t->n];
    int64_t panels = 0;
    for (int32_t f = 0; f < t->fronts; ++f) panels += planned_panel<real>(t, f);
    return plan + with_slack(panels, slack) + real_bytes * s->arena +
           real_bytes * 64 * with_slack(most.rows, slack) +
           most.large * static_cast<int64_t>(large_work_bytes<real>()) +
           fronts * static_cast<int64_t>(sizeof(front_state<real>));
}

int64_t bytes(const sd_tree *t, const sd_schedule *s, sd_precision precision, double slack)
{
    return precision == SD_DOUBLE ? bytes_of<double>(t, s, slack) : bytes_of<float>(t, s, slack);
}

saddle_status factor(sd_engine *e, sd_front_run *run, const sd_run_job *job, sd_run_result *result)
{
    if (e->status) return e->status;
    return run->precision == SD_DOUBLE ? factor_run(e, memory_of<double>(run), job, result)
                                       : factor_run(e, memory_of<float>(run), job, result);
}

} /* namespace */

const sd_front_runner front_runner = {make,          release_run, bytes,       factor,
                                      largest_entry, solve_parts, set_frame,   apply_inverse,
                                      fetch_fronts,  put_pivot,   clear_column};

} /* namespace sd_cuda */
