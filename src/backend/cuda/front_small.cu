/*
 * Clusters of small fronts, each run by one block of threads, front by front: assembled in shared memory,
 * factored there, and written out once.
 */
#include "backend/cuda/front_count.cuh"
#include "backend/cuda/front_launch.cuh"

namespace sd_cuda
{
namespace
{

constexpr int THREADS = 128;

/* The shared memory of a block; behind it the numbers of the front. */
template <class real> struct cluster_room {
    front_room<real> block;
    front_counts counts;
    front_state<real> state;
    int cluster;
};

/* A front being assembled: its panel, and its contribution block of order q, dense. */
template <class real> struct small_front {
    block_front<real> f;
    real *rest;
    int q, delays;
};

/* Sizes and room of front f; false where the run stops. By all threads. */
template <class real>
__device__ bool place_front(const forest<real> &w, cluster_room<real> *room, int32_t f)
{
    __syncthreads(); /* the state of the front before is not needed any more */
    if (thread_index() == 0) {
        const int delays = delays_into(w, f), columns = own_columns(w, f) + delays;
        const int rows = columns + rows_below(w, f);
        void *memory = is_stopped(w) ? nullptr : take_room(w, panel_bytes<real>(rows, columns));
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
    __syncthreads();
    return room->state.panel != nullptr;
}

/* Everything is cleared, and the plan's own variables are named. */
template <class real> __device__ void clear_front(const small_front<real> &s, int32_t own)
{
    const int64_t numbers = s.f.ld * s.f.n, rest = static_cast<int64_t>(s.q) * s.q;
    for (int64_t k = thread_index(); k < numbers; k += threads_here()) s.f.a[k] = 0;
    for (int64_t k = thread_index(); k < rest && s.rest; k += threads_here()) s.rest[k] = 0;
    for (int k = s.delays + thread_index(); k < s.f.n; k += threads_here())
        s.f.variable[k] = own + k - s.delays;
    __syncthreads();
}

/* A's entries, a warp a column. */
template <class real> __device__ void add_entries(const forest<real> &w, int32_t f, const small_front<real> &s)
{
    const int lane = thread_index() % WARP, warps = threads_here() / WARP;
    for (int k = thread_index() / WARP; k < s.f.n - s.delays; k += warps) {
        const int column = w.first[f] + k;
        real *a = s.f.a + s.delays + (s.delays + k) * s.f.ld;
        for (int64_t e = w.entry_ptr[column] + lane; e < w.entry_ptr[column + 1]; e += WARP)
            a[w.entry_row[e]] += static_cast<real>(w.values[e]);
    }
    __syncthreads();
}

/* What a child hands up: its contribution block, and from column `at` on the columns that it delays. */
template <class real>
__device__ void add_child(const forest<real> &w, int32_t child, const real *from, int at, const small_front<real> &s)
{
    const int lane = thread_index() % WARP, warp = thread_index() / WARP, warps = threads_here() / WARP;
    const int32_t *place = w.place + w.row_ptr[child];
    const int q = rows_below(w, child), n = s.f.n;
    const front_state<real> c = w.front[child];
    for (int j = warp; j < q; j += warps) {
        const int column = s.delays + place[j];
        real *to = column < n ? s.f.a + column * s.f.ld : s.rest + static_cast<int64_t>(column - n) * s.q - n;
        for (int i = j + lane; i < q; i += WARP) to[s.delays + place[i]] += from[i + static_cast<int64_t>(j) * q];
    }
    for (int j = c.eliminated + warp; j < c.columns; j += warps) {
        const int column = at + j - c.eliminated;
        if (lane == 0) s.f.variable[column] = c.variable[j];
        for (int i = j + lane; i < c.rows; i += WARP) {
            const int row = i < c.columns ? at + i - c.eliminated : s.delays + place[i - c.columns];
            s.f.a[row + column * s.f.ld] += c.panel[i + static_cast<int64_t>(j) * c.ld];
        }
    }
    __syncthreads();
}

template <class real>
__device__ void assemble_front(const forest<real> &w, int32_t f, real *space, const small_front<real> &s)
{
    int at = 0;
    clear_front(s, w.first[f]);
    add_entries(w, f, s);
    for (int64_t k = w.child_ptr[f]; k < w.child_ptr[f + 1]; ++k) {
        const int32_t child = w.child[k];
        add_child(w, child, rest_of(w, child, space), at, s);
        at += w.front[child].columns - w.front[child].eliminated;
    }
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
__device__ void run_front(const forest<real> &w, cluster_room<real> *room, real *numbers, int capacity, int32_t f,
                          real *space)
{
    const front_state<real> state = room->state;
    real *rest = rest_of(w, f, space);
    small_front<real> s;
    s.q = rows_below(w, f);
    s.delays = state.delays;
    const int64_t ld = state.rows | 1, panel = ld * state.columns; /* odd: rows lie in different banks */
    const bool fits = panel + static_cast<int64_t>(s.q) * s.q <= capacity;
    s.f = {fits ? numbers : state.panel, fits ? ld : state.ld, state.d, state.variable, state.rows, state.columns, 0};
    s.rest = !rest ? nullptr : fits ? numbers + panel : rest;
    assemble_front(w, f, space, s);
    factor_block(s.f, &room->block, w.rule, w.parent[f] < 0);
    if (rest) subtract_pivots(s.f, 0, s.f.e, s.f.n, s.q, s.q, s.rest, s.q);
    __syncthreads();
    if (fits) write_front(s, state, rest);
    if (thread_index() == 0) {
        room->state.eliminated = s.f.e;
        w.front[f] = room->state;
        if (room->block.perturbed) atomicAdd(&w.tally->perturbed, static_cast<unsigned long long>(room->block.perturbed));
        if (w.rule.rule == SD_PIVOT_POSITIVE && s.f.e < s.f.n) atomicOr(&w.tally->stop, STOP_INDEFINITE);
    }
    __syncthreads();
    count_front(&room->counts, room->state, w.first[f]);
}

template <class real>
__global__ void __launch_bounds__(THREADS)
    run_clusters(forest<real> w, cluster_list list, int capacity, unsigned *ticket)
{
    cluster_room<real> *room = static_cast<cluster_room<real> *>(shared_room());
    real *numbers = reinterpret_cast<real *>(room + 1);
    real *space = w.workspace + static_cast<int64_t>(blockIdx.x) * w.space;
    begin_counts(&room->counts);
    for (;;) {
        if (thread_index() == 0) room->cluster = list.from + static_cast<int>(atomicAdd(ticket, 1u));
        __syncthreads();
        const int c = room->cluster;
        if (c >= list.to) break;
        for (int64_t k = list.begin[c]; k < list.begin[c + 1]; ++k) {
            if (!place_front(w, room, list.front[k])) break;
            run_front(w, room, numbers, capacity, list.front[k], space);
        }
        __syncthreads();
    }
    end_counts(&room->counts, w.tally);
}

} /* namespace */

/* Numbers of a front that fits into shared memory. */
constexpr int CAPACITY = SD_SMALL_ROWS * (SD_SMALL_ROWS + 1);

template <class real> int cluster_bytes()
{
    return static_cast<int>(sizeof(cluster_room<real>) + CAPACITY * sizeof(real));
}

template <class real> int cluster_blocks(sd_engine *e)
{
    int blocks = 0;
    const on_device current(state_of(e)->device);
    cudaFuncSetAttribute(run_clusters<real>, cudaFuncAttributeMaxDynamicSharedMemorySize, cluster_bytes<real>());
    if (failed(e, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_clusters<real>, THREADS,
                                                                static_cast<size_t>(cluster_bytes<real>())),
               "clusters of fronts"))
        return 0;
    return blocks * state_of(e)->processors;
}

template <class real>
void launch_clusters(sd_engine *e, const forest<real> &w, const cluster_list &list, int blocks, unsigned *ticket)
{
    const int count = list.to - list.from;
    launch_grid(e, "clusters of fronts", false, run_clusters<real>, dim3(static_cast<unsigned>(min(blocks, count))),
                THREADS, cluster_bytes<real>(), w, list, CAPACITY, ticket);
}

template int cluster_blocks<double>(sd_engine *);
template int cluster_blocks<float>(sd_engine *);
template void launch_clusters<double>(sd_engine *, const forest<double> &, const cluster_list &, int, unsigned *);
template void launch_clusters<float>(sd_engine *, const forest<float> &, const cluster_list &, int, unsigned *);

} /* namespace sd_cuda */
