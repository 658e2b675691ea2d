/*
 * Clusters of small fronts, each run by one block of threads, front by front: assembled in shared memory,
 * factored there, and written out once.
 *
 * A front has little to compute and much to look up, and every look costs as much as a few pivots: what the
 * plan says of it is in one place, children are looked up a warp at a time, and a cluster takes the room for
 * all its panels at once.
 */
#include "backend/cuda/front_count.cuh"
#include "backend/cuda/front_launch.cuh"

namespace sd_cuda
{
namespace
{

constexpr int THREADS = 128;

/* A child as its parent sees it. */
template <class real> struct child_view {
    const real *rest;
    const int32_t *place;
    int32_t child;
    int q, at, late; /* columns that it delays, and the first column that they become */
};

/* The shared memory of a block; behind it the numbers of the front. */
template <class real> struct cluster_room {
    front_room<real> block;
    front_counts counts;
    front_state<real> state;
    child_view<real> child[WARP];
    int32_t place[SD_SMALL_ROWS]; /* of the child that is added */
    char *panels;                 /* room that is left of what the cluster has taken */
    int64_t bytes;
    int cluster, delays;
};

/* A front being assembled: its panel, and its contribution block of order q, dense. */
template <class real> struct small_front {
    block_front<real> f;
    real *rest;
    int q, delays;
};

/* Room for a panel, from that of the cluster where it suffices. By one thread. */
template <class real>
__device__ void *take_panel(const forest<real> &w, cluster_room<real> *room, int64_t bytes)
{
    if (is_stopped(w)) return nullptr;
    if (bytes > room->bytes) return take_room(w, bytes);
    void *memory = room->panels;
    room->panels += bytes;
    room->bytes -= bytes;
    return memory;
}

/* Sizes and room of a front; false where the run stops. By all threads. */
template <class real>
__device__ bool place_front(const forest<real> &w, cluster_room<real> *room, const front_plan &p)
{
    if (thread_index() < WARP) {
        const int delays = count_delays(w, p.child, p.child + p.children, thread_index()),
                  columns = p.columns + delays, rows = columns + p.below;
        if (thread_index() == 0) {
            void *memory = take_panel(w, room, panel_bytes<real>(rows, columns));
            if (w.most) {
                const unsigned long long all = front_operations(rows, columns);
                if (atomicAdd(&w.tally->begun, all) + all > w.most) {
                    atomicOr(&w.tally->stop, STOP_FLOPS);
                    memory = nullptr;
                }
            }
            room->block.perturbed = 0;
            room->state = state_at<real>(memory, rows, columns, delays);
        }
    }
    __syncthreads();
    return room->state.panel != nullptr;
}

/* Everything is cleared, and the plan's own variables are named; then A's entries. */
template <class real>
__device__ void begin_front(const forest<real> &w, const front_plan &p, const small_front<real> &s)
{
    const int64_t numbers = s.f.ld * s.f.n, rest = static_cast<int64_t>(s.q) * s.q;
    for (int64_t k = thread_index(); k < numbers; k += threads_here()) s.f.a[k] = 0;
    for (int64_t k = thread_index(); k < rest && s.rest; k += threads_here()) s.rest[k] = 0;
    for (int k = s.delays + thread_index(); k < s.f.n; k += threads_here())
        s.f.variable[k] = p.first + k - s.delays;
    __syncthreads();
    real *a = s.f.a + s.delays + s.delays * s.f.ld;
    for (int k = thread_index(); k < p.entry_count; k += threads_here()) {
        const int64_t e = p.entries + k;
        a[w.entry_row[e] + w.entry_column[e] * s.f.ld] += static_cast<real>(w.values[e]);
    }
}

/* Children `from` and on, a warp of them; `at` is the first column that those before have not filled. */
template <class real>
__device__ int look_up_children(const forest<real> &w, cluster_room<real> *room, const front_plan &p,
                                int from, int at, real *space)
{
    const int lane = thread_index() % WARP, k = from + lane;
    child_view<real> v = {};
    if (k < p.children) {
        v.child = w.child[p.child + k];
        const front_plan c = w.plan[v.child];
        const front_state<real> &s = w.front[v.child];
        v.rest = (c.inner ? space : w.arena) + c.rest;
        v.place = w.place + c.rows;
        v.q = c.below;
        v.late = s.columns - s.eliminated;
    }
    int sum = v.late;
    for (int step = 1; step < WARP; step *= 2) {
        const int other = __shfl_up_sync(ALL_LANES, sum, step);
        if (lane >= step) sum += other;
    }
    v.at = at + sum - v.late;
    room->child[lane] = v;
    return at + __shfl_sync(ALL_LANES, sum, WARP - 1);
}

/* The contribution block of a child, some numbers a thread at a time: a load would wait for the store before
 * it, which might be to the same place. */
template <class real>
__device__ void add_rest(const child_view<real> &v, const int32_t *place, const small_front<real> &s)
{
    constexpr int SOME = 8;
    const int q = v.q, n = s.f.n, all = q * q;
    for (int from = thread_index(); from < all; from += SOME * threads_here()) {
        real x[SOME];
#pragma unroll
        for (int k = 0; k < SOME; ++k) {
            const int at = from + k * threads_here();
            x[k] = at < all ? v.rest[at] : 0;
        }
#pragma unroll
        for (int k = 0; k < SOME; ++k) {
            const int at = from + k * threads_here(), i = at % q, j = at / q;
            if (at >= all || i < j) continue;
            const int row = s.delays + place[i], column = s.delays + place[j];
            real *to = column < n ? s.f.a + row + column * s.f.ld : s.rest + (row - n) + (column - n) * s.q;
            *to += x[k];
        }
    }
}

/* The columns that a child delays. */
template <class real>
__device__ void add_delayed(const forest<real> &w, const child_view<real> &v, const int32_t *place,
                            const small_front<real> &s)
{
    const int lane = thread_index() % WARP, warp = thread_index() / WARP, warps = threads_here() / WARP;
    const front_state<real> c = w.front[v.child];
    for (int j = c.eliminated + warp; j < c.columns; j += warps) {
        const int column = v.at + j - c.eliminated;
        if (lane == 0) s.f.variable[column] = c.variable[j];
        for (int i = j + lane; i < c.rows; i += WARP) {
            const int row = i < c.columns ? v.at + i - c.eliminated : s.delays + place[i - c.columns];
            s.f.a[row + column * s.f.ld] += c.panel[i + static_cast<int64_t>(j) * c.ld];
        }
    }
}

template <class real>
__device__ void assemble_front(const forest<real> &w, cluster_room<real> *room, const front_plan &p,
                               real *space, const small_front<real> &s)
{
    int at = 0; /* of the first warp */
    begin_front(w, p, s);
    for (int from = 0; from < p.children; from += WARP) {
        if (thread_index() < WARP) at = look_up_children(w, room, p, from, at, space);
        for (int k = 0; k < min(WARP, p.children - from); ++k) {
            __syncthreads();
            const child_view<real> v = room->child[k];
            for (int i = thread_index(); i < v.q; i += threads_here()) room->place[i] = v.place[i];
            __syncthreads();
            add_rest(v, room->place, s);
            if (v.late > 0) add_delayed(w, v, room->place, s);
        }
        __syncthreads();
    }
    __syncthreads();
}

/* What was computed in shared memory goes where it belongs. */
template <class real>
__device__ void write_front(const small_front<real> &s, const front_state<real> &state, real *rest)
{
    const int lane = thread_index() % WARP, warps = threads_here() / WARP;
    for (int j = thread_index() / WARP; j < s.f.n; j += warps)
        for (int i = j + lane; i < s.f.m; i += WARP)
            state.panel[i + static_cast<int64_t>(j) * state.ld] = s.f.a[i + j * s.f.ld];
    for (int k = thread_index(); k < s.q * s.q && rest; k += threads_here()) rest[k] = s.rest[k];
}

template <class real>
__device__ void run_front(const forest<real> &w, cluster_room<real> *room, real *numbers, int capacity,
                          int32_t f, const front_plan &p, real *space)
{
    const front_state<real> state = room->state;
    real *rest = p.rest < 0 ? nullptr : (p.inner ? space : w.arena) + p.rest;
    small_front<real> s;
    s.q = p.below;
    s.delays = state.delays;
    const int64_t ld = state.rows | 1, panel = ld * state.columns; /* odd: rows lie in different banks */
    const bool fits = panel + static_cast<int64_t>(s.q) * s.q <= capacity;
    s.f = {fits ? numbers : state.panel,
           fits ? ld : state.ld,
           state.d,
           state.variable,
           state.rows,
           state.columns,
           0};
    s.rest = !rest ? nullptr : fits ? numbers + panel : rest;
    assemble_front(w, room, p, space, s);
    factor_block(s.f, &room->block, w.rule, p.parent < 0);
    if (rest) subtract_pivots(s.f, 0, s.f.e, s.f.n, s.q, s.q, s.rest, s.q);
    __syncthreads();
    if (fits) write_front(s, state, rest);
    if (thread_index() == 0) {
        room->state.eliminated = s.f.e;
        w.front[f] = room->state;
        if (room->block.perturbed)
            atomicAdd(&w.tally->perturbed, static_cast<unsigned long long>(room->block.perturbed));
        if (w.rule.rule == SD_PIVOT_POSITIVE && s.f.e < s.f.n) atomicOr(&w.tally->stop, STOP_INDEFINITE);
    }
    front_state<real> done = state;
    done.eliminated = s.f.e;
    count_front(&room->counts, done, p.first);
    __syncthreads();
}

/* The next cluster, and the room for its panels; false where none is left. */
template <class real>
__device__ bool take_cluster(const forest<real> &w, const cluster_list &list, cluster_room<real> *room,
                             unsigned *ticket)
{
    __syncthreads();
    if (thread_index() == 0) {
        const int c = list.from + static_cast<int>(atomicAdd(ticket, 1u));
        room->cluster = c;
        room->bytes = 0;
        heed_host(w);
        if (c < list.to && !is_stopped(w)) {
            room->bytes = list.bytes[c];
            room->panels = static_cast<char *>(take_room(w, room->bytes));
            if (!room->panels) room->bytes = 0;
        }
    }
    __syncthreads();
    return room->cluster < list.to;
}

template <class real, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    run_clusters(forest<real> w, cluster_list list, int capacity, unsigned *ticket)
{
    cluster_room<real> *room = static_cast<cluster_room<real> *>(shared_room());
    real *numbers = reinterpret_cast<real *>(room + 1);
    real *space = w.workspace + static_cast<int64_t>(blockIdx.x) * w.space;
    begin_counts(&room->counts);
    while (take_cluster(w, list, room, ticket)) {
        for (int64_t k = list.begin[room->cluster]; k < list.begin[room->cluster + 1]; ++k) {
            const int32_t f = list.front[k];
            const front_plan p = w.plan[f];
            if (!place_front(w, room, p)) break;
            run_front(w, room, numbers, capacity, f, p, space);
        }
    }
    end_counts(&room->counts, w.tally);
}

/* Of tiny clusters more run at once on a processor. */
constexpr int TINY_BLOCKS = 4, SMALL_BLOCKS = 2;

int capacity_of(bool tiny)
{
    return tiny ? SD_TINY_NUMBERS : SD_SMALL_ROWS * (SD_SMALL_ROWS + 1);
}

template <class real> int bytes_of(bool tiny)
{
    return static_cast<int>(sizeof(cluster_room<real>) +
                            static_cast<size_t>(capacity_of(tiny)) * sizeof(real));
}

} /* namespace */

int cluster_blocks_of(int processors, bool tiny)
{
    return processors * (tiny ? TINY_BLOCKS : SMALL_BLOCKS);
}

template <class real> int cluster_blocks(sd_engine *e, bool tiny)
{
    int blocks = 0;
    const on_device current(state_of(e)->device);
    const auto kernel = tiny ? run_clusters<real, TINY_BLOCKS> : run_clusters<real, SMALL_BLOCKS>;
    failed(e, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes_of<real>(tiny)),
           "clusters of fronts");
    if (failed(e,
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS,
                                                             static_cast<size_t>(bytes_of<real>(tiny))),
               "clusters of fronts"))
        return 0;
    return blocks * state_of(e)->processors;
}

template <class real>
void launch_clusters(sd_engine *e, const forest<real> &w, const cluster_list &list, bool tiny, int blocks,
                     unsigned *ticket)
{
    const int count = list.to - list.from;
    launch_grid(e, "clusters of fronts", false,
                tiny ? run_clusters<real, TINY_BLOCKS> : run_clusters<real, SMALL_BLOCKS>,
                dim3(static_cast<unsigned>(blocks < count ? blocks : count)), THREADS, bytes_of<real>(tiny),
                w, list, capacity_of(tiny), ticket);
}

template int cluster_blocks<double>(sd_engine *, bool);
template int cluster_blocks<float>(sd_engine *, bool);
template void launch_clusters<double>(sd_engine *, const forest<double> &, const cluster_list &, bool, int,
                                      unsigned *);
template void launch_clusters<float>(sd_engine *, const forest<float> &, const cluster_list &, bool, int,
                                     unsigned *);

} /* namespace sd_cuda */
