/*
 * The fully summed columns of all large fronts of a level, factored by one launch whose blocks stay and meet
 * at barriers. A step takes one tile of 32 columns of every front that is not done yet:
 *
 *     1. the tile is factored, a warp a front;
 *     2. the rows below it are solved and checked, a thread a row; W and L go to buffers, the panel is left
 * as it was;
 *     3. the columns before the first that failed are accepted: L is written, the columns of the panel are
 *        brought up to date; those that failed get the accepted pivots subtracted;
 *     4. where a panel is done, the columns behind it get all its pivots subtracted, as one product;
 *     5. where columns failed, they change places with untested ones;
 *     6. where all columns were tried and some are left, these are tried again, in pairs, or one by one over
 * the whole front (front_block.cuh).
 *
 * Steps 4 to 6 are left out where no front needs them, which all blocks see after the barrier.
 */
#include "backend/cuda/front_large.cuh"

namespace sd_cuda
{
namespace
{

constexpr int LARGE_WARPS = LARGE_THREADS / WARP;

/* Shared memory of a block, of which each step uses a part. */
template <class real> struct factor_room {
    union {
        struct {
            front_tile<real> tile[LARGE_WARPS];
            tile_room<real> warp[LARGE_WARPS];
        } tiles;
        product_room<real, WIDE> wide;
        product_room<real, NARROW> narrow;
        front_room<real> block;
    };
    front_tile<real> tile;
};

/* What a launch has. */
template <class real> struct level_job {
    forest<real> w;
    large_list list;
    large_room<real> room;
    int count;
    unsigned meetings; /* of the barrier, so far */
};

/* All blocks wait for each other. */
template <class real> __device__ void meet(level_job<real> &j)
{
    __syncthreads();
    j.meetings += gridDim.x;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(j.room.barrier, 1u);
        while (load_acquire(j.room.barrier) < j.meetings) look_again();
        __threadfence();
    }
    __syncthreads();
}

template <class real> __device__ inline block_front<real> front_of(const large_work<real> &k)
{
    const front_state<real> &s = k.state;
    return {s.panel, s.ld, s.d, s.variable, s.rows, s.columns, k.e};
}

/* ---- tiles ---- */

/* The next panel of untested columns begins at e. */
template <class real> __device__ inline void begin_panel(large_work<real> *k)
{
    if (k->deep) {
        k->outer = k->e;
        k->outer_end = end_of_outer(k->e, k->state.columns);
    }
    k->base = k->e;
    k->panel = k->end = min(min(k->last, k->outer_end), k->e + PANEL);
}

template <class real> __device__ inline void end_front(level_job<real> &j, large_work<real> *k)
{
    k->mode = MODE_DONE;
    atomicSub(&j.room.flags[FLAG_ACTIVE], 1u);
}

/* A front takes up what the step before has found. By one thread. */
template <class real> __device__ void go_on(level_job<real> &j, large_work<real> *k)
{
    const bool fresh = k->tile.width > 0 && k->next == k->next_end;
    k->tile.width = 0;
    k->e = k->next;
    k->end = k->next_end;
    k->last = k->next_last;
    if (!fresh) return;
    if (k->e < k->last)
        begin_panel(k);
    else
        end_front(j, k);
}

/* By `SIZE` threads, of which this one is number `rank`. All is loaded before the first is stored: the
 * compiler cannot know that it is not the same place, and would wait for each load. */
template <int SIZE, class real>
__device__ inline void copy_tile(front_tile<real> *to, const front_tile<real> *from, int rank)
{
    constexpr int ALL = static_cast<int>(sizeof *to / sizeof(int4)), EACH = (ALL + SIZE - 1) / SIZE;
    static_assert(sizeof *to % sizeof(int4) == 0, "a tile is aligned");
    int4 x[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) x[k] = reinterpret_cast<const int4 *>(from)[min(rank + k * SIZE, ALL - 1)];
#pragma unroll
    for (int k = 0; k < EACH; ++k)
        if (rank + k * SIZE < ALL) reinterpret_cast<int4 *>(to)[rank + k * SIZE] = x[k];
}

template <class real> __device__ __noinline__ void factor_tiles(level_job<real> &j, factor_room<real> *room)
{
    const int warp = thread_index() / WARP, lane = thread_index() % WARP;
    const int step = static_cast<int>(gridDim.x) * LARGE_WARPS;
    /* Fronts go round the blocks first, so that a few of them do not share one. */
    for (int f = static_cast<int>(blockIdx.x) + warp * static_cast<int>(gridDim.x); f < j.count; f += step) {
        large_work<real> *k = &j.room.work[f];
        const bool done = k->mode == MODE_DONE;
        __syncwarp(); /* all lanes have looked */
        if (done) continue;
        if (lane == 0) go_on(j, k);
        __syncwarp();
        if (*static_cast<volatile int *>(&k->mode) == MODE_DONE) continue;
        const int e = k->e, width = min(TILE, k->end - e);
        const front_state<real> s = k->state;
        front_tile<real> *tile = &room->tiles.tile[warp];
        factor_tile(tile, &room->tiles.warp[warp], s.panel + e + static_cast<int64_t>(e) * s.ld, s.ld, width,
                    j.w.rule, s.variable + e);
        copy_tile<WARP>(&k->tile, tile, lane);
        __syncwarp();
    }
}

/* ---- rows ---- */

template <class real> __device__ __noinline__ void solve_rows(level_job<real> &j, factor_room<real> *room)
{
    const bool checked = j.w.rule.rule == SD_PIVOT_THRESHOLD;
    const real bound = static_cast<real>(1 / j.w.rule.u), small = static_cast<real>(j.w.rule.small);
    const int64_t all = j.room.jobs[JOB_ROWS][j.count];
    for (int64_t job = blockIdx.x; job < all; job += gridDim.x) {
        const job_place p = find_job(j.room.jobs[JOB_ROWS], j.count, job);
        large_work<real> *k = &j.room.work[p.front];
        const front_state<real> s = k->state;
        const int below = k->e + k->tile.width, i = p.job * JOB_ROW + thread_index();
        if (k->mode == MODE_DONE || (p.job + 1) * JOB_ROW <= below) continue;
        __syncthreads();
        copy_tile<LARGE_THREADS>(&room->tile, &k->tile, thread_index());
        __syncthreads();
        row_marks marks = {0, 0};
        if (thread_index() < JOB_ROW && i >= below && i < s.rows) {
            real w[TILE];
            load_row(&room->tile, s.panel + i + static_cast<int64_t>(k->e) * s.ld, s.ld, w);
            solve_row(&room->tile, w);
            if (checked) marks = check_row(&room->tile, w, bound, small);
            real *const to_w = k->w + i, *const to_l = k->l + i;
            const int count = room->tile.count;
            real l[TILE];
#pragma unroll
            for (int c = 0; c < TILE; ++c) l[c] = c < count ? scale_entry(&room->tile, w, c) : 0;
#pragma unroll
            for (int c = 0; c < TILE; ++c) {
                to_w[static_cast<int64_t>(c) * s.ld] = c < count ? w[c] : 0;
                to_l[static_cast<int64_t>(c) * s.ld] = l[c];
            }
        }
        if (!checked) continue;
        marks.failed = __reduce_or_sync(ALL_LANES, marks.failed);
        marks.nonzero = __reduce_or_sync(ALL_LANES, marks.nonzero);
        if (thread_index() % WARP == 0 && marks.failed) atomicOr(&k->tile.failed, marks.failed);
        if (thread_index() % WARP == 0 && marks.nonzero) atomicOr(&k->tile.nonzero, marks.nonzero);
    }
}

/* ---- what is accepted ---- */

/* The tile itself, and what becomes of the front. By one block. */
template <class real>
__device__ __noinline__ void accept_tile(level_job<real> &j, factor_room<real> *room, large_work<real> *k,
                                         int accepted, int step)
{
    block_front<real> f = front_of(*k);
    copy_tile<LARGE_THREADS>(&room->block.tile, &room->tile, thread_index());
    __syncthreads();
    order_square(f, &room->block, accepted);
    __syncthreads();
    put_square(f, &room->block, accepted);
    if (thread_index() >= WARP) return;
    const int width = room->tile.width, failed = width - accepted, end = k->end - failed,
              lane = thread_index();
    const int32_t variable = lane < width ? f.variable[f.e + room->tile.order[lane]] : 0;
    __syncwarp();
    if (lane < width) f.variable[f.e + lane] = variable;
    if (lane > 0) return;
    k->next = k->e + accepted;
    k->perturbed += room->tile.perturbed;
    count_tile(j.w.rule, accepted, width);
    const bool done =
        k->next == end; /* with the panel: then its failed columns are behind e, one after the other */
    const int left = k->panel - end;
    k->next_end = end;
    k->next_last = done ? k->last - left : k->last;
    k->moves = done ? min(left, k->last - k->panel) : min(failed, end - k->next);
    k->moved_to = done ? k->last : k->end;
    k->over = done && k->next == k->next_last && k->next < f.n;
    k->deep = done && (k->panel == k->outer_end || k->moves > 0 || k->over);
    k->flush = done && k->panel < f.n && k->next > (k->deep ? k->outer : k->base);
    if (failed && j.w.rule.rule == SD_PIVOT_POSITIVE) atomicOr(&j.w.tally->stop, STOP_INDEFINITE);
    if (k->flush) atomicAdd(&j.room.flags[FLAG_FLUSH + step], 1u);
    if (k->moves > 0) atomicAdd(&j.room.flags[FLAG_MOVE + step], 1u);
    if (k->over) atomicAdd(&j.room.flags[FLAG_ROUND + step], 1u);
}

/* L of the rows of a job, and the rows of the tile in columns of L that are as many, unless its pivots are in
 * the order in which they were. */
template <class real>
__device__ __noinline__ void accept_rows(factor_room<real> *room, large_work<real> *k, int accepted, int job,
                                         bool moved)
{
    const front_state<real> s = k->state;
    const front_tile<real> &t = room->tile;
    const int e = k->e, i = job * JOB_ROW + thread_index();
    if (thread_index() >= JOB_ROW) return;
    if (i >= e + t.width && i < s.rows) {
        real *row = s.panel + i + static_cast<int64_t>(e) * s.ld;
        if (accepted == t.width && accepted == t.count) {
            const real *l = k->l + i;
            real x[TILE]; /* all of them before the first is stored */
#pragma unroll
            for (int c = 0; c < TILE; ++c) x[c] = c < accepted ? l[static_cast<int64_t>(c) * s.ld] : 0;
#pragma unroll
            for (int c = 0; c < TILE; ++c)
                if (c < accepted) row[static_cast<int64_t>(c) * s.ld] = x[c];
        } else {
            rewrite_row(t, accepted, row, s.ld);
        }
    }
    if (moved && i < e) {
        real *a = s.panel + e + static_cast<int64_t>(i) * s.ld, x[TILE];
#pragma unroll
        for (int c = 0; c < TILE; ++c) x[c] = c < t.width ? a[t.order[c]] : 0;
#pragma unroll
        for (int c = 0; c < TILE; ++c)
            if (c < t.width) a[c] = x[c];
    }
}

/* Subtracts a product from the tile at `row` and `column` of a panel, in columns [from, to) and on or below
 * the diagonal. */
template <bool SCALED, int COLUMNS, class real>
__device__ void subtract_product(product_room<real, COLUMNS> *room, const front_state<real> &s, int row,
                                 int column, int from, int to, const product_side<real> &left,
                                 const product_side<real> &right, const real *d, int depth)
{
    real *const panel = s.panel + row + static_cast<int64_t>(column) * s.ld;
    const auto is_there = [&](int i, int c) {
        return (row + i < s.rows) & (column + c >= from) & (column + c < to) & (row + i >= column + c);
    };
    multiply_tile<SCALED>(
        room, left, right, d, depth,
        [&](int i, int c) { /* without a branch: there are many of them */
                            const bool there = is_there(i, c);
                            const real x = panel[there ? i + c * static_cast<int64_t>(s.ld) : 0];
                            return there ? x : static_cast<real>(0);
        },
        [&](int i, int c, real x) {
            if (is_there(i, c)) panel[i + c * static_cast<int64_t>(s.ld)] = x;
        });
    __syncthreads();
}

/* A tile of the panel's columns behind the tile of pivots: 64 of them, in the rows of a job. There are at
 * most PANEL / NARROW, even where the first is begun at an even column: a tile of pivots has one column or
 * more. */
template <class real>
__device__ __noinline__ void update_panel(factor_room<real> *room, const large_work<real> *k, int accepted,
                                          int job)
{
    const front_state<real> s = k->state;
    const int from = k->e + k->tile.width, row = job / (PANEL / NARROW) * JOB_ROW;
    const int column = from / 2 * 2 + job % (PANEL / NARROW) * NARROW, to = min(k->panel, row + JOB_ROW);
    if (column >= to) return;
    subtract_product<false>(&room->narrow, s, row, column, from, to, {k->l + row, s.ld, s.rows - row},
                            {k->w + column, s.ld, to - column}, static_cast<const real *>(nullptr), accepted);
}

template <class real>
__device__ __noinline__ void accept(level_job<real> &j, factor_room<real> *room, int step)
{
    const bool checked = j.w.rule.rule == SD_PIVOT_THRESHOLD;
    const int64_t all = j.room.jobs[JOB_ROWS][j.count];
    for (int64_t job = blockIdx.x; job < all; job += gridDim.x) {
        const job_place p = find_job(j.room.jobs[JOB_ROWS], j.count, job);
        large_work<real> *k = &j.room.work[p.front];
        if (k->mode == MODE_DONE) continue;
        __syncthreads();
        copy_tile<LARGE_THREADS>(&room->tile, &k->tile, thread_index());
        __syncthreads();
        const int accepted = count_accepted(&room->tile, checked), lane = thread_index();
        const bool moved = __syncthreads_or(lane < room->tile.width && room->tile.order[lane] != lane);
        accept_rows(room, k, accepted, p.job, moved);
        if (p.job == 0) accept_tile(j, room, k, accepted, step);
        __syncthreads();
    }
}

/* From the last block on: the first ones have had more to do before. */
template <class real> __device__ __noinline__ void update_panels(level_job<real> &j, factor_room<real> *room)
{
    const bool checked = j.w.rule.rule == SD_PIVOT_THRESHOLD;
    const int64_t all = j.room.jobs[JOB_PANEL][j.count];
    for (int64_t job = gridDim.x - 1 - blockIdx.x; job < all; job += gridDim.x) {
        const job_place p = find_job(j.room.jobs[JOB_PANEL], j.count, job);
        const large_work<real> *k = &j.room.work[p.front];
        if (k->mode == MODE_DONE) continue;
        const int accepted = min(count_accepted(&k->tile, checked), k->tile.count);
        if (accepted > 0) update_panel(room, k, accepted, p.job);
    }
}

/* ---- panels ---- */

/* A tile of the columns behind a panel that is done: the pivots that they lack are subtracted. */
template <int COLUMNS, class real>
__device__ void flush_tile(product_room<real, COLUMNS> *room, const large_work<real> *k, int job)
{
    const front_state<real> s = k->state;
    const int deep = static_cast<int>(pieces_of(s.rows, PRODUCT_ROWS)), from = k->panel,
              first = from / PRODUCT_ROWS;
    const int end = k->deep ? s.columns : k->outer_end, wide = static_cast<int>(pieces_of(end, PRODUCT_ROWS));
    if (job >= PRODUCT_ROWS / COLUMNS * tiles_of(deep, first, wide - first)) return;
    const tile_place at = find_tile(deep, first, wide, COLUMNS, job);
    const int row = at.row, column = at.column, base = column < k->outer_end ? k->base : k->outer,
              depth = k->next - base;
    if (column >= end || column + COLUMNS <= from || depth == 0) return;
    const real *l = s.panel + static_cast<int64_t>(base) * s.ld;
    subtract_product<true>(room, s, row, column, from, s.columns, {l + row, s.ld, s.rows - row},
                           {l + column, s.ld, s.columns - column}, s.d + 2 * base, depth);
}

template <class real> __device__ __noinline__ void flush_panels(level_job<real> &j, factor_room<real> *room)
{
    const int64_t all = j.room.jobs[JOB_TILES][j.count];
    for (int64_t job = blockIdx.x; job < all; job += gridDim.x) {
        const job_place p = find_job(j.room.jobs[JOB_TILES], j.count, job);
        const large_work<real> *k = &j.room.work[p.front];
        if (k->mode == MODE_DONE || !k->flush) continue;
        if (tile_width(k->state.columns) == WIDE)
            flush_tile(&room->wide, k, p.job);
        else
            flush_tile(&room->narrow, k, p.job);
    }
}

/* ---- what does not go smoothly ---- */

/* Numbers x[k stride] and y[-k other] change places, k < count: some at a time, since each store might be to
 * what is loaded next. */
template <class real>
__device__ inline void swap_all(real *x, int64_t stride, real *y, int64_t other, int count)
{
    constexpr int SOME = 8;
    for (int from = 0; from < count; from += SOME) {
        real a[SOME], b[SOME];
#pragma unroll
        for (int k = 0; k < SOME; ++k) {
            const int at = min(from + k, count - 1);
            a[k] = x[at * stride];
            b[k] = y[-(at * other)];
        }
#pragma unroll
        for (int k = 0; k < SOME; ++k) {
            const int at = from + k;
            if (at < count) x[at * stride] = b[k];
            if (at < count) y[-(at * other)] = a[k];
        }
    }
}

/* Columns p + k and q - k change places, k < count, p + count <= q + 1 - count: what row or column i has of
 * them, all rows being shared out among threads. */
template <class real> __device__ void exchange_row(const front_state<real> &s, int p, int q, int count, int i)
{
    real *a = s.panel;
    const int64_t ld = s.ld;
    if (i < p) {
        swap_all(a + p + i * ld, 1, a + q + i * ld, 1, count);
    } else if (i <
               p + count) { /* one of them: with its partner, and with those before it and their partners */
        const int k = i - p;
        swap_numbers(a[i + i * ld], a[q - k + (q - k) * ld]);
        swap_numbers(s.variable[i], s.variable[q - k]);
        swap_all(a + i + p * ld, ld, a + q + (q - k) * ld, 1, k);
        swap_all(a + q - k + p * ld, ld, a + q + i * ld, 1, k);
    } else if (i <= q - count) {
        swap_all(a + i + p * ld, ld, a + q + i * ld, 1, count);
    } else if (i > q) {
        swap_all(a + i + p * ld, ld, a + i + q * ld, ld, count);
    }
}

/* Failed columns go to the end of the panel; those of a panel that is done behind all untested ones. */
template <class real> __device__ __noinline__ void move_columns(level_job<real> &j)
{
    const int64_t all = j.room.jobs[JOB_ROWS][j.count];
    for (int64_t job = blockIdx.x; job < all; job += gridDim.x) {
        const job_place p = find_job(j.room.jobs[JOB_ROWS], j.count, job);
        const large_work<real> *k = &j.room.work[p.front];
        const int i = p.job * JOB_ROW + thread_index();
        if (k->mode == MODE_DONE || k->moves == 0 || thread_index() >= JOB_ROW || i >= k->state.rows)
            continue;
        exchange_row(k->state, k->next, k->moved_to - 1, k->moves, i);
    }
}

/* All columns were tried, and some are left: another round, or an end. By one block. */
template <class real>
__device__ __noinline__ void end_round(level_job<real> &j, factor_room<real> *room, large_work<real> *k)
{
    block_front<real> f = front_of(*k);
    rounds r = k->round;
    f.e = k->next;
    __syncthreads(); /* all have read k */
    const round_step step = after_round(r, f.e, f.n);
    if (step == ROUND_PAIR) pair_up(f, &room->block);
    if (step == ROUND_COLUMNS) {
        take_columns(f, &room->block, j.w.rule);
        if (k->root) finish_root(f, &room->block, j.w.rule);
    }
    __syncthreads();
    if (thread_index() > 0) return;
    k->round = r;
    k->next = k->next_end = f.e;
    k->next_last = step == ROUND_COLUMNS ? f.e : f.n;
}

template <class real> __device__ void end_rounds(level_job<real> &j, factor_room<real> *room)
{
    for (int f = static_cast<int>(blockIdx.x); f < j.count; f += static_cast<int>(gridDim.x)) {
        large_work<real> *k = &j.room.work[f];
        const bool over = k->mode != MODE_DONE && k->over;
        if (over) end_round(j, room, k);
        __syncthreads();
    }
}

template <class real>
__global__ void __launch_bounds__(LARGE_THREADS)
    factor_level(forest<real> w, large_list list, large_room<real> all)
{
    factor_room<real> *room = static_cast<factor_room<real> *>(shared_room());
    level_job<real> j = {w, list, all, list.to - list.from, 0};
    volatile unsigned *flags = all.flags;
    if (flags[FLAG_SKIPPED] != 0) return;
    for (int step = 0;; step = (step + 1) % 3) {
        factor_tiles(j, room);
        /* All blocks must go on or none, or some wait for ever. Clusters may stop the run at any time, beside
         * this: so one thread looks for all, and looks again when all have read what it found. */
        if (blockIdx.x == 0 && threadIdx.x == 0) flags[FLAG_STOPPED] = is_stopped(w);
        meet(j);
        const int after = (step + 1) % 3;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            flags[FLAG_FLUSH + after] = flags[FLAG_MOVE + after] = flags[FLAG_ROUND + after] = 0;
        if (flags[FLAG_ACTIVE] == 0 || flags[FLAG_STOPPED] != 0) return;
        solve_rows(j, room);
        meet(j);
        if (blockIdx.x == gridDim.x - 1 && threadIdx.x == LARGE_THREADS - 1) heed_host(w);
        accept(j, room, step);
        update_panels(j, room);
        meet(j);
        const bool flush = flags[FLAG_FLUSH + step] > 0, move = flags[FLAG_MOVE + step] > 0;
        const bool round = flags[FLAG_ROUND + step] > 0;
        if (flush) {
            flush_panels(j, room);
            meet(j);
        }
        if (move) {
            move_columns(j);
            meet(j);
        }
        if (round) {
            end_rounds(j, room);
            meet(j);
        }
    }
}

} /* namespace */

template <class real> int large_blocks(sd_engine *e)
{
    int blocks = 0;
    const int bytes = static_cast<int>(sizeof(factor_room<real>));
    const on_device current(state_of(e)->device);
    cudaFuncSetAttribute(factor_level<real>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (failed(e,
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, factor_level<real>, LARGE_THREADS,
                                                             static_cast<size_t>(bytes)),
               "fronts"))
        return 0;
    return (blocks < 1 ? blocks : 1) * state_of(e)->processors;
}

template <class real>
void launch_factor(sd_engine *e, const forest<real> &w, const large_list &list, const large_room<real> &room,
                   int blocks)
{
    launch_together(e, "fronts", factor_level<real>, blocks, LARGE_THREADS,
                    static_cast<int>(sizeof(factor_room<real>)), w, list, room);
}

template int large_blocks<double>(sd_engine *);
template int large_blocks<float>(sd_engine *);
template void launch_factor<double>(sd_engine *, const forest<double> &, const large_list &,
                                    const large_room<double> &, int);
template void launch_factor<float>(sd_engine *, const forest<float> &, const large_list &,
                                   const large_room<float> &, int);

} /* namespace sd_cuda */
