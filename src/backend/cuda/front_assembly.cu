/*
 * Large fronts of a level: placed, assembled, and their contribution blocks completed.
 *
 * Fronts are assembled by strips of columns, each by one block, which adds what the children have for it in
 * the order of the children: no two blocks write to the same place, and sums are always formed in the same
 * order. The product of the pivots is put into the contribution block first, and the children's are added to
 * it.
 */
#include "backend/cuda/front_large.cuh"
#include "backend/cuda/front_profile.cuh"

namespace sd_cuda
{
namespace
{

constexpr int PLACE_THREADS = WARP * WARP;
constexpr int AT_ONCE = 4; /* numbers that a thread has on the way */

/* The sum of the values of all threads before this one, and of all. */
__device__ int64_t scan_block(int64_t value, int64_t *room, int64_t *total)
{
    const int lane = thread_index() % WARP, warp = thread_index() / WARP;
    int64_t sum = value;
    for (int step = 1; step < WARP; step *= 2) {
        const int64_t other = __shfl_up_sync(ALL_LANES, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == WARP - 1) room[warp] = sum;
    __syncthreads();
    int64_t warps = room[lane]; /* as many as a warp has lanes */
    for (int step = 1; step < WARP; step *= 2) {
        const int64_t other = __shfl_up_sync(ALL_LANES, warps, step);
        if (lane >= step) warps += other;
    }
    const int64_t before = __shfl_sync(ALL_LANES, warps, max(warp - 1, 0));
    *total = __shfl_sync(ALL_LANES, warps, WARP - 1);
    __syncthreads();
    return (warp > 0 ? before : 0) + sum - value;
}

/* Columns that children of front f, of which each lane has its own or none (-1), could not eliminate. Where
 * there are many children all lanes count them. */
template <class real> __device__ int delays_into(const forest<real> &w, int32_t f)
{
    const int lane = thread_index() % WARP;
    const int64_t from = f < 0 ? 0 : w.child_ptr[f], to = f < 0 ? 0 : w.child_ptr[f + 1];
    const bool many = to - from > WARP;
    int delays = 0;
    for (int64_t k = from; k < to && !many; ++k) {
        const front_state<real> &c = w.front[w.child[k]];
        delays += c.columns - c.eliminated;
    }
    for (unsigned left = __ballot_sync(ALL_LANES, many); left; left &= left - 1) {
        const int whose = __ffs(static_cast<int>(left)) - 1;
        const int all =
            count_delays(w, __shfl_sync(ALL_LANES, from, whose), __shfl_sync(ALL_LANES, to, whose), lane);
        if (lane == whose) delays = all;
    }
    return delays;
}

/* A front's size, panel and state at the beginning. False where there is no room. */
template <class real>
__device__ bool place_large(const forest<real> &w, int32_t f, int delays, large_work<real> *to)
{
    const int columns = own_columns(w, f) + delays, rows = columns + rows_below(w, f);
    void *memory = take_room(w, panel_bytes<real>(rows, columns));
    if (w.most) {
        const unsigned long long all = front_operations(rows, columns);
        if (atomicAdd(&w.tally->begun, all) + all > w.most) atomicOr(&w.tally->stop, STOP_FLOPS);
    }
    if (!memory) return false;
    const front_state<real> s = state_at<real>(memory, rows, columns, delays);
    to->state = s;
    to->e = to->base = to->outer = to->next = 0;
    to->outer_end = end_of_outer(0, columns);
    to->flush = to->deep = false;
    to->next_end = min(PANEL, columns);
    to->next_last = columns;
    to->end = to->panel = min(PANEL, columns);
    to->last = columns;
    to->mode = MODE_TILES;
    to->moves = to->over = to->perturbed = 0;
    to->tile.width = 0;
    to->root = w.parent[f] < 0;
    to->round.before = 0;
    to->round.paired = false;
    w.front[f] = s;
    return true;
}

/* How many jobs of each kind a front has. */
template <class real>
__device__ void count_jobs(const front_state<real> &s, bool root, int64_t (&jobs)[JOB_KINDS])
{
    const int64_t q = root ? 0 : s.rows - s.columns, deep = pieces_of(q + 1, PRODUCT_ROWS);
    jobs[JOB_ROWS] = pieces_of(s.rows, JOB_ROW);
    jobs[JOB_PANEL] = s.columns > TILE ? jobs[JOB_ROWS] * (PANEL / NARROW) : 0;
    jobs[JOB_STRIPS] = pieces_of(s.columns, STRIP);
    jobs[JOB_TILES] = s.columns > PANEL ? PRODUCT_ROWS / tile_width(s.columns) *
                                              tiles_of(jobs[JOB_ROWS], 0, pieces_of(s.columns, PRODUCT_ROWS))
                                        : 0;
    jobs[JOB_REST_TILES] = q == 0 ? 0 : PRODUCT_ROWS / tile_width(q) * tiles_of(deep, 0, deep);
    jobs[JOB_REST_STRIPS] = pieces_of(q, STRIP);
}

/* Whether this block has nothing to do, since the run is stopped; then the level is not to be factored
 * either, although other blocks may not have been told yet. By all threads. */
template <class real> __device__ bool is_skipped(const forest<real> &w, const large_room<real> &room)
{
    const bool stopped = block_is_stopped(w);
    if (stopped && thread_index() == 0) room.flags[FLAG_SKIPPED] = 1;
    return stopped;
}

/* One block places all fronts of a level and counts their jobs. */
template <class real>
__global__ void __launch_bounds__(PLACE_THREADS)
    place_level(forest<real> w, large_list list, large_room<real> room)
{
    after_others();
    int64_t *sums = static_cast<int64_t *>(shared_room());
    const int count = list.to - list.from;
    int64_t sum[JOB_KINDS] = {}, rows = 0;
    if (is_skipped(w, room)) return;
    for (int from = 0; from < count; from += PLACE_THREADS) {
        const int k = from + thread_index();
        int64_t jobs[JOB_KINDS] = {}, own = 0, total;
        const int32_t f = k < count ? list.front[list.from + k] : -1;
        const int delays = delays_into(w, f);
        const bool placed = f >= 0 && place_large(w, f, delays, &room.work[k]);
        if (placed) {
            count_jobs(room.work[k].state, room.work[k].root, jobs);
            own = room.work[k].state.ld;
        }
        for (int j = 0; j < JOB_KINDS; ++j) {
            const int64_t before = sum[j] + scan_block(jobs[j], sums, &total);
            if (k < count) room.jobs[j][k] = before;
            sum[j] += total;
        }
        const int64_t at = rows + scan_block(own, sums, &total);
        rows += total;
        if (placed) {
            room.work[k].w = room.columns + 2 * TILE * at;
            room.work[k].l = room.work[k].w + TILE * own;
        }
    }
    if (thread_index() > 0) return;
    heed_host(w);
    for (int j = 0; j < JOB_KINDS; ++j) room.jobs[j][count] = sum[j];
    room.flags[FLAG_ACTIVE] = static_cast<unsigned>(count);
    for (int k = FLAG_FLUSH; k < FLAG_COUNT; ++k) room.flags[k] = 0;
    if (rows > room.capacity) atomicOr(&w.tally->stop, STOP_ROOM);
}

/* Columns [from, to) of a front that is assembled. */
template <class real> struct strip {
    front_state<real> s;
    int32_t f;
    int from, to;
};

template <class real> __device__ void add_own(const forest<real> &w, const strip<real> &t)
{
    const int lane = thread_index() % WARP, warps = threads_here() / WARP, delays = t.s.delays;
    for (int j = t.from + thread_index() / WARP; j < t.to; j += warps) {
        real *a = t.s.panel + static_cast<int64_t>(j) * t.s.ld;
        for (int i = lane; i < t.s.ld; i += WARP) a[i] = 0;
        __syncwarp();
        if (j < delays) continue;
        const int column = w.first[t.f] + j - delays;
        if (lane == 0) t.s.variable[j] = column;
        for (int64_t e = w.entry_ptr[column] + lane; e < w.entry_ptr[column + 1]; e += WARP)
            a[delays + w.entry_row[e]] += static_cast<real>(w.values[e]);
    }
}

/* A column of a child's contribution block that belongs to a column of the front: where it is in the arena,
 * if it began with its row 0, and where its rows are in the plan. */
struct handed_column {
    int64_t at, rows;
    int first, q; /* its first row, and the order of the block */
};

template <class real> __device__ inline handed_column find_handed(const forest<real> &w, uint32_t row)
{
    const int32_t child = w.lists.owner[row];
    handed_column h;
    h.rows = w.row_ptr[child];
    h.q = static_cast<int>(w.row_ptr[child + 1] - h.rows);
    h.first = static_cast<int>(row - h.rows);
    h.at = w.rest[child] + rest_at(h.q, h.first, h.first) - h.first;
    return h;
}

__device__ inline handed_column broadcast_handed(const handed_column &h, int lane)
{
    return {__shfl_sync(ALL_LANES, h.at, lane), __shfl_sync(ALL_LANES, h.rows, lane),
            __shfl_sync(ALL_LANES, h.first, lane), __shfl_sync(ALL_LANES, h.q, lane)};
}

/* Adds it to the column whose entries from the plan's row 0 on are at a. By a warp. */
template <class real>
__device__ inline void add_handed(const forest<real> &w, const handed_column &h, real *a)
{
    const int lane = thread_index() % WARP;
    const int32_t *place = w.place + h.rows;
    const real *x = w.arena + h.at;
    for (int i = h.first + lane; i < h.q;
         i += AT_ONCE * WARP) { /* loads first: stores might be to the same place */
        real *to[AT_ONCE], sum[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
            const int r = min(i + k * WARP, h.q - 1);
            to[k] = a + place[r];
            sum[k] = x[r];
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) sum[k] += *to[k];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (i + k * WARP < h.q) *to[k] = sum[k];
    }
    __syncwarp(); /* the next may be added to the same numbers by other lanes */
}

/* What the children have for columns [from, to) of front f, a warp a column: column(j) is where row 0 of the
 * front's column j would be. Children are added in their order; only those that have something are looked at.
 */
template <class real, class Column>
__device__ void add_children(const forest<real> &w, int32_t f, int delays, int from, int to, Column column)
{
    const int lane = thread_index() % WARP, warps = threads_here() / WARP;
    const uint32_t *ptr = w.lists.ptr + w.first[f] + w.row_ptr[f];
    for (int j = max(from, delays) + thread_index() / WARP; j < to; j += warps) {
        real *a = column(j) + delays;
        const uint32_t begin = ptr[j - delays], end = ptr[j - delays + 1];
        for (uint32_t k = begin; k < end; k += WARP) {
            handed_column h = {};
            if (k + lane < end) h = find_handed(w, w.lists.from[k + lane]);
            const int count = static_cast<int>(min(end - k, static_cast<uint32_t>(WARP)));
            for (int i = 0; i < count; ++i) add_handed(w, broadcast_handed(h, i), a);
        }
    }
}

/* The columns that a child delays become columns `at` and on. */
template <class real>
__device__ void add_delayed(const forest<real> &w, int32_t child, int at, const strip<real> &t)
{
    const int lane = thread_index() % WARP, warps = threads_here() / WARP;
    const int32_t *place = w.place + w.row_ptr[child];
    const front_state<real> c = w.front[child];
    const int first = max(c.eliminated, c.eliminated + t.from - at),
              end = min(c.columns, c.eliminated + t.to - at);
    for (int j = first + thread_index() / WARP; j < end; j += warps) {
        const int column = at + j - c.eliminated;
        if (lane == 0) t.s.variable[column] = c.variable[j];
        real *a = t.s.panel + static_cast<int64_t>(column) * t.s.ld;
        for (int i = j + lane; i < c.rows; i += WARP) {
            const int row = i < c.columns ? at + i - c.eliminated : t.s.delays + place[i - c.columns];
            a[row] += c.panel[i + static_cast<int64_t>(j) * c.ld];
        }
    }
}

template <class real> __device__ void assemble_strip(const forest<real> &w, const strip<real> &t)
{
    add_own(w, t);
    __syncthreads();
    add_children(w, t.f, t.s.delays, t.from, t.to,
                 [&](int column) { return t.s.panel + static_cast<int64_t>(column) * t.s.ld; });
    if (t.from >= t.s.delays) return;
    int at = 0;
    for (int64_t k = w.child_ptr[t.f]; k < w.child_ptr[t.f + 1]; ++k) {
        const int32_t child = w.child[k];
        const int late = w.front[child].columns - w.front[child].eliminated;
        if (late > 0) add_delayed(w, child, at, t);
        at += late;
    }
}

template <class real>
__global__ void __launch_bounds__(BLOCK)
    assemble_level(forest<real> w, large_list list, large_room<real> room)
{
    after_others();
    const int count = list.to - list.from;
    if (is_skipped(w, room)) return;
    const int64_t all = room.jobs[JOB_STRIPS][count];
    for (int64_t job = blockIdx.x; job < all; job += gridDim.x) {
        const job_place p = find_job(room.jobs[JOB_STRIPS], count, job);
        strip<real> t;
        t.s = room.work[p.front].state;
        t.f = list.front[list.from + p.front];
        t.from = p.job * STRIP;
        t.to = min(t.s.columns, t.from + STRIP);
        assemble_strip(w, t);
        __syncthreads();
    }
}

/* The contribution block: first minus the product of the pivots, by tiles. These begin at an even row of the
 * panel, `odd` rows above the block. */
template <int COLUMNS, class real>
__device__ void make_rest_tile(product_room<real, COLUMNS> *room, const front_state<real> &s, int e, int job,
                               real *rest)
{
    const int q = s.rows - s.columns, odd = s.columns % 2,
              deep = static_cast<int>(pieces_of(q + 1, PRODUCT_ROWS));
    const tile_place at = find_tile(deep, 0, deep, COLUMNS, job);
    const int row = at.row, column = at.column;
    if (max(row, column) >= q + odd) return;
    const real *l = s.panel + s.columns - odd;
    const product_side<real> left = {l + row, s.ld, q + odd - row},
                             right = {l + column, s.ld, q + odd - column};
    multiply_tile<true>(
        room, left, right, s.d, e, [&](int, int) { return static_cast<real>(0); },
        [&](int i, int j, real x) {
            const int r = row + i - odd, c = column + j - odd;
            real *const to =
                rest + (rest_at(q, max(c, 0), max(c, 0)) - c); /* of the column, once for all rows */
            if ((r < q) & (c >= 0) & (r >= c)) to[r] = x;
        });
}

template <class real>
__global__ void __launch_bounds__(LARGE_THREADS, 1)
    make_rests(forest<real> w, large_list list, large_room<real> room)
{
    after_others();
    __shared__ unsigned next;
    void *shared = shared_room();
    const int count = list.to - list.from;
    if (block_is_stopped(w)) return;
    const int64_t all = room.jobs[JOB_REST_TILES][count];
    if (thread_index() == 0) next = atomicAdd(room.ticket, 1u);
    __syncthreads();
    for (int64_t job = next; job < all; job = next) {
        __syncthreads();
        if (thread_index() == 0) next = atomicAdd(room.ticket, 1u); /* long before it is needed */
        const job_place p = find_job(room.jobs[JOB_REST_TILES], count, job);
        const front_state<real> s = room.work[p.front].state;
        const int e = room.work[p.front].e;
        real *rest = w.arena + w.rest[list.front[list.from + p.front]];
        if (tile_width(s.rows - s.columns) == WIDE)
            make_rest_tile(static_cast<product_room<real, WIDE> *>(shared), s, e, p.job, rest);
        else
            make_rest_tile(static_cast<product_room<real, NARROW> *>(shared), s, e, p.job, rest);
        __syncthreads();
    }
}

/* Then what the children have for it. */
template <class real>
__device__ void add_to_rests(const forest<real> &w, const large_list &list, const large_room<real> &room)
{
    const int count = list.to - list.from;
    const int64_t all = room.jobs[JOB_REST_STRIPS][count];
    for (int64_t job = blockIdx.x; job < all; job += gridDim.x) {
        const job_place p = find_job(room.jobs[JOB_REST_STRIPS], count, job);
        const int32_t f = list.front[list.from + p.front];
        const front_state<real> s = room.work[p.front].state;
        const int q = s.rows - s.columns, from = s.columns + p.job * STRIP, to = min(s.rows, from + STRIP);
        real *rest = w.arena + w.rest[f];
        add_children(w, f, s.delays, from, to, [&](int column) {
            const int j = column - s.columns;
            return rest + rest_at(q, j, j) - j - s.columns;
        });
    }
}

/* States and counts; from the last block on, which has had the least to do before. */
template <class real>
__device__ void count_fronts(const forest<real> &w, const large_list &list, const large_room<real> &room,
                             front_counts *counts)
{
    const int count = list.to - list.from, first = static_cast<int>(gridDim.x - 1 - blockIdx.x);
    if (first >= count) return;
    begin_counts(counts);
    for (int k = first; k < count; k += static_cast<int>(gridDim.x)) {
        const int32_t f = list.front[list.from + k];
        front_state<real> s = room.work[k].state;
        s.eliminated = room.work[k].e;
        if (thread_index() == 0) {
            w.front[f].eliminated = s.eliminated;
            if (room.work[k].perturbed)
                atomicAdd(&w.tally->perturbed, static_cast<unsigned long long>(room.work[k].perturbed));
        }
        count_front(counts, s, w.first[f]);
    }
    end_counts(counts, w.tally);
}

template <class real>
__global__ void __launch_bounds__(BLOCK) finish_level(forest<real> w, large_list list, large_room<real> room)
{
    after_others();
    if (block_is_stopped(w)) return;
    add_to_rests(w, list, room);
    count_fronts(w, list, room, static_cast<front_counts *>(shared_room()));
}

} /* namespace */

template <class real>
void launch_large(sd_engine *e, const forest<real> &w, const large_list &list, const large_room<real> &room,
                  int blocks, front_clock *clock)
{
    const int processors = state_of(e)->processors;
    const dim3 many(static_cast<unsigned>(8 * processors)), some(static_cast<unsigned>(processors));
    launch_grid(e, "fronts", true, place_level<real>, dim3(1), PLACE_THREADS, WARP * 8, w, list, room);
    launch_grid(e, "fronts", true, assemble_level<real>, many, BLOCK, 0, w, list, room);
    clock->mark(e, SD_PART_ASSEMBLY);
    launch_factor(e, w, list, room, blocks);
    clock->mark(e, SD_PART_FACTOR);
    failed(e,
           cudaFuncSetAttribute(make_rests<real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(sizeof(product_room<real, WIDE>))),
           "fronts");
    launch_grid(e, "fronts", true, make_rests<real>, some, LARGE_THREADS,
                static_cast<int>(sizeof(product_room<real, WIDE>)), w, list, room);
    launch_grid(e, "fronts", true, finish_level<real>, many, BLOCK, static_cast<int>(sizeof(front_counts)), w,
                list, room);
    clock->mark(e, SD_PART_CONTRIBUTION);
}

template void launch_large<double>(sd_engine *, const forest<double> &, const large_list &,
                                   const large_room<double> &, int, front_clock *);
template void launch_large<float>(sd_engine *, const forest<float> &, const large_list &,
                                  const large_room<float> &, int, front_clock *);
template <class real> size_t large_work_bytes()
{
    return sizeof(large_work<real>);
}
template size_t large_work_bytes<double>();
template size_t large_work_bytes<float>();

} /* namespace sd_cuda */
