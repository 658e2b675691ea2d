/*
 * Triangular solves with fronts on the device: what the files front_solve*.cu and front_*ward.cuh share.
 *
 * One launch runs a solve. Its blocks take tasks one after the other in an order in which no task waits for a
 * later one: level by level of the schedule, and backward in the opposite order. Numbers that others wait for
 * are looked for where they will stand: memory begins as ABSENT, a number that is never written, and whoever
 * needs one reads it until it is there. So there is neither a barrier nor a flag, and no fence, between two
 * fronts or two blocks of columns of one.
 *
 * Vectors have K numbers a position, side by side; more right-hand sides are several groups of such vectors,
 * on which tasks go on at the same time: it is latency, not arithmetic or memory, that they wait for. A
 * front's rows are cut into blocks of SQUARE rows. Forward, a block of rows gets what children hand up to it,
 * then the products with all columns before it, and where it has eliminated columns, is multiplied by the
 * inverse of the square on the diagonal (front_invert.cu). Backward, a block of columns is multiplied with
 * all rows below it first. Sums are made in an order that the factors decide: the same bits every time.
 *
 * A task is a block of rows, or a few of them, of a large front for all warps of a thread block; or up to
 * WARPS chains of smaller fronts, a chain a warp: clusters of the schedule, and fronts that are not worth
 * more.
 *
 * J. D. Hogg, A fast dense triangular solve in CUDA, SIAM J. Sci. Comput. 35 (2013), has the order of work in
 * a front.
 */
#pragma once

#include "backend/cuda/front_block.cuh"
#include "backend/cuda/front_memory.cuh"

namespace sd_cuda
{

constexpr int SQUARE = 64; /* rows and columns of a block */
constexpr int GROUP = 8;   /* columns that a warp takes at once */
constexpr int WIDEST = 8;  /* right-hand sides of a group */
constexpr int SOLVE_WARPS = 8;
constexpr int SOLVE_THREADS = SOLVE_WARPS * WARP;

/* Two numbers that lie side by side, and the bits of one. */
template <class real> struct words;
template <> struct words<double> {
    typedef double2 two;
    typedef long long bits;
};
template <> struct words<float> {
    typedef float2 two;
    typedef int bits;
};
__device__ inline long long bits_of(double a)
{
    return __double_as_longlong(a);
}
__device__ inline int bits_of(float a)
{
    return __float_as_int(a);
}
/* A front as the factorization left it, whose arrays the compiler need not look for anywhere but in global
 * memory. */
template <class real> __device__ inline front_state<real> front_at(const forest<real> &w, int32_t f)
{
    const front_state<real> s = w.front[f];
    assume_global(s.panel);
    assume_global(s.d);
    assume_global(s.variable);
    return s;
}

/* All bits set: a NaN, in place of which another is written. Memory is filled with it by bytes, counters too:
 * they begin at -1. */
constexpr int ABSENT = -1;

template <class real> __device__ inline void publish(real *at, real value)
{
    const typename words<real>::bits bits = bits_of(value);
    store_relaxed(at, bits == ABSENT ? ABSENT - 1 : bits);
}
template <class real> __device__ inline real await(const real *at)
{
    real value = load_relaxed(at);
    /* What is next comes soon; who waits for longer leaves the memory to others. */
    for (int tries = 0; bits_of(value) == ABSENT; ++tries) {
        if (tries < 8) look_again();
        for (int k = 8; k <= tries && k < 12; ++k) nap();
        value = load_relaxed(at);
    }
    return value;
}

/* N numbers, where at(k) says; 0 where there(k) says that there is none. All are under way at once.
 *
 * at(k) is an address in any case, never one that is chosen to be null: of such choices ptxas 13.0 makes
 * CS2R, a predicated LDC and IMAD.WIDE, and a comparison that comes before CS2R has written where the LDC was
 * not run. A null address was then read, once in some solves
 * (bench/results/2026-11-17-h200/memcheck-G64.txt). */
template <int N, class real, class I, class F>
__device__ inline void await_each(real (&v)[N], const I &there, const F &at)
{
#pragma unroll
    for (int k = 0; k < N; ++k) v[k] = there(k) ? load_relaxed(at(k)) : 0;
#pragma unroll
    for (int k = 0; k < N; ++k)
        if (bits_of(v[k]) == ABSENT) v[k] = await(at(k));
}

/* What a launch solves: groups of K right-hand sides, each with a workspace of its own, `apart` bytes from
 * that before it. A task is taken for all groups, one after the other, before the next one. */
template <class real> struct solve_job {
    solve_tasks tasks;
    int groups, columns; /* right-hand sides of all groups: the last one may have fewer */
    int64_t apart;
    real *x; /* row by row with `stride` numbers a position: in and out */
    int64_t stride;
    int valid;      /* columns of this group, those from there on are 0 */
    real *y, *z;    /* L^-1 x, and L'^-1 of it: K numbers a position */
    real *b, *c;    /* where inverses are whole: what these of a front's columns are to be multiplied with */
    real *handed;   /* what fronts hand up: K numbers a row below a front */
    real *products; /* of rows below with columns: K numbers a column, SQUARE columns a unit */
    unsigned *done; /* of a front with delays: blocks of rows that have handed theirs up */
    unsigned *ticket;
    int parts;
};

template <class real> __device__ inline void displace(real *&at, int64_t bytes)
{
    at = reinterpret_cast<real *>(reinterpret_cast<char *>(at) + bytes);
}
/* The part of one group. */
template <int K, class real>
__device__ inline solve_job<real> job_of_group(const solve_job<real> &all, int group)
{
    solve_job<real> job = all;
    if (K < WIDEST) return job; /* the only one */
    const int64_t bytes = group * all.apart;
    displace(job.y, bytes);
    displace(job.z, bytes);
    displace(job.b, bytes);
    displace(job.c, bytes);
    displace(job.handed, bytes);
    displace(job.products, bytes);
    displace(job.done, bytes);
    job.x += group * K;
    job.valid = min(K, all.columns - group * K);
    return job;
}

template <class real>
__device__ inline void put_x(const solve_job<real> &job, int64_t position, int column, real value)
{
    if (column < job.valid) job.x[position * job.stride + column] = value;
}

/* The launch, for groups of `width` right-hand sides: front_sweep.cuh. */
template <int MODE, class real>
void sweep(sd_engine *e, const run_memory<real> *m, int width, const solve_job<real> &job);

/* Warps that work on one front, and their shared memory. A team of several warps has the square on the
 * diagonal there before it needs it. */
template <class real, int K, int WARPS> struct team {
    static constexpr int SIZE = WARPS * WARP;
    static constexpr int EACH = (SQUARE * K + SIZE - 1) / SIZE; /* numbers of SQUARE rows that a thread has */
    static constexpr bool AHEAD = WARPS > 1;
    static constexpr int NUMBERS =
        (WARPS + 2) * SQUARE * K + WARPS * GROUP * K + SQUARE + (AHEAD ? SQUARE * SQUARE : 0);
    int warp, lane;
    real *square;      /* by columns, SQUARE numbers each */
    real *part;        /* SQUARE rows a warp */
    real *vector;      /* SQUARE rows */
    real *second;      /* likewise */
    real *few;         /* GROUP rows a warp */
    int32_t *variable; /* of the block at hand */

    __device__ team(int warp_of, real *memory) : warp(warp_of), lane(thread_index() % WARP)
    {
        square = memory;
        part = square + (AHEAD ? SQUARE * SQUARE : 0);
        vector = part + WARPS * SQUARE * K;
        second = vector + SQUARE * K;
        few = second + SQUARE * K + warp * GROUP * K;
        variable = reinterpret_cast<int32_t *>(second + SQUARE * K + WARPS * GROUP * K);
    }
    __device__ int rank() const
    {
        return warp * WARP + lane;
    }
    __device__ real *own() const
    {
        return part + warp * SQUARE * K;
    }
    __device__ void sync() const
    {
        if (WARPS == 1)
            __syncwarp();
        else
            __syncthreads();
    }
    /* Sums of number t of all warps' parts. */
    __device__ real sum_at(int t) const
    {
        real sum = 0;
#pragma unroll
        for (int k = 0; k < WARPS; ++k) sum += part[k * SQUARE * K + t];
        return sum;
    }
};

/* Adds N numbers of each lane over all lanes: lane l gets the sums from l N / 32 on, N / 32 of them, in v;
 * where N < 32 several lanes have the same. */
template <int N, int STEP, class real> __device__ inline void add_lanes(real *v)
{
    if constexpr (STEP > 0) {
        if constexpr (N > 1) {
            const bool upper = thread_index() & STEP;
#pragma unroll
            for (int t = 0; t < N / 2; ++t) {
                const real sent = upper ? v[t] : v[t + N / 2], kept = upper ? v[t + N / 2] : v[t];
                v[t] = kept + __shfl_xor_sync(ALL_LANES, sent, STEP);
            }
            add_lanes<N / 2, STEP / 2>(v);
        } else {
            v[0] += __shfl_xor_sync(ALL_LANES, v[0], STEP);
            add_lanes<1, STEP / 2>(v);
        }
    }
}

/* ---- products ---- */

/*
 * SQUARE rows times K right-hand sides, GROUP columns at a time, by a warp. load takes pairs at(i, c), rows
 * i, even, and i + 1 of column c; multiply adds the products with GROUP rows of x, of which there are
 * `columns`, in shared memory, or with those that lanes have brought: number e of a lane is that of row
 * row_of(e), none from GROUP on, and right-hand side column_of(e). put leaves the sums, times a sign, at
 * `to`. Sums are made in the order of columns, by one fused multiply-add a product, in either version.
 */
template <class real, int K> struct row_sums {
    static constexpr int EACH = (GROUP * K + WARP - 1) / WARP;
    typename words<real>::two l[GROUP]; /* rows 2 lane and 2 lane + 1 */
    real sum[2][K];

    __device__ row_sums() : sum()
    {
    }
    static __device__ int row_of(int e)
    {
        return (thread_index() % WARP + e * WARP) / K;
    }
    static __device__ int column_of(int e)
    {
        return (thread_index() % WARP + e * WARP) % K;
    }
    template <class F> __device__ void load(const F &at)
    {
#pragma unroll
        for (int c = 0; c < GROUP; ++c) l[c] = at(2 * (thread_index() % WARP), c);
    }
    __device__ void multiply(const real *x, int columns)
    {
#pragma unroll
        for (int c = 0; c < GROUP; ++c) {
            if (c >= columns) break;
#pragma unroll
            for (int r = 0; r < K; ++r) {
                const real factor = x[c * K + r];
                sum[0][r] = fma(l[c].x, factor, sum[0][r]);
                sum[1][r] = fma(l[c].y, factor, sum[1][r]);
            }
        }
    }
    __device__ void multiply(const real (&brought)[EACH], real *few, int columns)
    {
#pragma unroll
        for (int e = 0; e < EACH; ++e)
            if (row_of(e) < GROUP) few[row_of(e) * K + column_of(e)] = brought[e];
        __syncwarp();
        multiply(few, columns);
        __syncwarp();
    }
    __device__ void put(real sign, real *to) const
    {
        real *own = to + 2 * (thread_index() % WARP) * K;
#pragma unroll
        for (int r = 0; r < K; ++r) {
            own[r] = sign * sum[0][r];
            own[K + r] = sign * sum[1][r];
        }
    }
};

/* By products of 8 rows and 4 columns with up to 8 right-hand sides. With g = lane / 4 and t = lane % 4, a
 * lane hands in rows 16 j + 2 g and the next of columns t and 4 + t, the first of which is a row of product 2
 * j, the other of 2 j + 1, and row t or 4 + t of x, right-hand side g: ptx.cuh. */
template <int K> struct row_sums_by_warp {
    static constexpr int EACH = GROUP / 4, PAIRS = SQUARE / 16;
    double2 l[EACH][PAIRS];
    double sum[2 * PAIRS][2];

    __device__ row_sums_by_warp() : sum()
    {
    }
    static __device__ int row_of(int e)
    {
        return column_of(e) < K ? 4 * e + thread_index() % 4 : GROUP;
    }
    static __device__ int column_of(int)
    {
        return thread_index() % WARP / 4;
    }
    template <class F> __device__ void load(const F &at)
    {
#pragma unroll
        for (int e = 0; e < EACH; ++e)
#pragma unroll
            for (int j = 0; j < PAIRS; ++j)
                l[e][j] = at(16 * j + 2 * (thread_index() % WARP / 4), 4 * e + thread_index() % 4);
    }
    __device__ void multiply(const double (&brought)[EACH], double *, int)
    {
#pragma unroll
        for (int e = 0; e < EACH; ++e)
#pragma unroll
            for (int j = 0; j < PAIRS; ++j) {
                mma_8x8x4(sum[2 * j], l[e][j].x, brought[e]);
                mma_8x8x4(sum[2 * j + 1], l[e][j].y, brought[e]);
            }
    }
    __device__ void multiply(const double *x, int columns)
    {
        double own[EACH];
#pragma unroll
        for (int e = 0; e < EACH; ++e) own[e] = row_of(e) < columns ? x[row_of(e) * K + column_of(e)] : 0;
        multiply(own, nullptr, columns);
    }
    __device__ void put(double sign, double *to) const
    {
        const int r = 2 * (thread_index() % 4);
        double *own = to + 2 * (thread_index() % WARP / 4) * K + r;
        if (r >= K) return;
#pragma unroll
        for (int j = 0; j < 2 * PAIRS; ++j) {
            own[(j / 2 * 16 + j % 2) * K] = sign * sum[j][0];
            own[(j / 2 * 16 + j % 2) * K + 1] = sign * sum[j][1];
        }
    }
};
template <> struct row_sums<double, 4> : row_sums_by_warp<4> {
};
template <> struct row_sums<double, 8> : row_sums_by_warp<8> {
};

/* Rows row + i, even, and the next of a column of a panel, 0 where there are none. */
template <class real>
__device__ inline typename words<real>::two pair_of_rows(const front_state<real> &s, int row, int column,
                                                         bool here)
{
    typename words<real>::two l;
    l.x = l.y = 0;
    if (here && row < s.ld)
        l = *reinterpret_cast<const typename words<real>::two *>(s.panel + row +
                                                                 static_cast<int64_t>(column) * s.ld);
    return l;
}

/*
 * Sums over SQUARE rows for GROUP columns and K right-hand sides, by a warp. load takes pairs at(i, c), rows
 * i and i + 1 of column c; multiply adds their products with z, SQUARE rows; finish adds all, times a sign,
 * to `to`.
 */
template <class real, int K> struct column_sums {
    typename words<real>::two l[GROUP]; /* rows 2 lane and 2 lane + 1 */
    real sum[GROUP * K];

    __device__ column_sums() : sum()
    {
    }
    template <class F> __device__ void load(const F &at)
    {
#pragma unroll
        for (int c = 0; c < GROUP; ++c) l[c] = at(2 * (thread_index() % WARP), c);
    }
    __device__ void multiply(const real *z)
    {
        const real *own = z + 2 * (thread_index() % WARP) * K;
#pragma unroll
        for (int r = 0; r < K; ++r)
#pragma unroll
            for (int c = 0; c < GROUP; ++c)
                sum[c * K + r] = fma(l[c].y, own[K + r], fma(l[c].x, own[r], sum[c * K + r]));
    }
    __device__ void finish(real sign, real *to)
    {
        constexpr int N = GROUP * K;
        const int lane = thread_index() % WARP;
        add_lanes<N, WARP / 2>(sum);
        if constexpr (N >= WARP) {
#pragma unroll
            for (int t = 0; t < N / WARP; ++t) to[lane * (N / WARP) + t] += sign * sum[t];
        } else {
            if (lane % (WARP / N) == 0) to[lane / (WARP / N)] += sign * sum[0];
        }
    }
};

/* By products of 8 columns and 4 rows with up to 8 right-hand sides: a lane has two of the sums, so that K
 * sums a column do not fill its registers. */
template <int K> struct column_sums_by_warp {
    double2 l[SQUARE / 8];  /* rows 8 k + 2 t and the next, column g: ptx.cuh */
    double sum[2], next[2]; /* of even and of odd rows: two chains of products are shorter than one */

    __device__ column_sums_by_warp() : sum(), next()
    {
    }
    template <class F> __device__ void load(const F &at)
    {
        const int lane = thread_index() % WARP;
#pragma unroll
        for (int k = 0; k < SQUARE / 8; ++k) l[k] = at(8 * k + 2 * (lane % 4), lane / 4);
    }
    __device__ void multiply(const double *z)
    {
        const int lane = thread_index() % WARP, r = lane / 4;
        const double *own = z + 2 * (lane % 4) * K + r;
#pragma unroll
        for (int k = 0; k < SQUARE / 8; ++k) {
            mma_8x8x4(sum, l[k].x, r < K ? own[8 * k * K] : 0);
            mma_8x8x4(next, l[k].y, r < K ? own[(8 * k + 1) * K] : 0);
        }
    }
    __device__ void finish(double sign, double *to)
    {
        const int c = thread_index() % WARP / 4, r = 2 * (thread_index() % 4);
        if (r >= K) return;
        to[c * K + r] += sign * (sum[0] + next[0]);
        to[c * K + r + 1] += sign * (sum[1] + next[1]);
    }
};
template <> struct column_sums<double, 4> : column_sums_by_warp<4> {
};
template <> struct column_sums<double, 8> : column_sums_by_warp<8> {
};

/* ---- squares on the diagonal ---- */

__device__ inline void copy_ahead(double2 *to, const double2 *from)
{
    cp_async_16(to, from, true);
}
__device__ inline void copy_ahead(float2 *to, const float2 *from)
{
    cp_async_8(to, from, true);
}

/* Variables of the rows from `base` on, and the square there, begin to come: what is above its diagonal, its
 * inverse, or, without one, what is below, L. */
template <int MODE, class real, int K, int WARPS>
__device__ inline void fetch_square(const team<real, K, WARPS> &t, const front_state<real> &s, int base,
                                    int width)
{
    typedef typename words<real>::two two;
    for (int i = t.rank(); i < SQUARE; i += team<real, K, WARPS>::SIZE)
        if (base + i < s.columns) t.variable[i] = s.variable[base + i];
    if constexpr (team<real, K, WARPS>::AHEAD) {
        const real *from = s.panel + base + 2 * t.lane + static_cast<int64_t>(base) * s.ld;
        for (int c = t.warp; c < width; c += WARPS)
            if (MODE == SD_PRESOLVE_OFF ? 2 * t.lane + 1 > c && 2 * t.lane < width : 2 * t.lane < c)
                copy_ahead(reinterpret_cast<two *>(t.square + c * SQUARE) + t.lane,
                           reinterpret_cast<const two *>(from + static_cast<int64_t>(c) * s.ld));
        cp_async_commit();
    }
}

/* Before the barrier after which the square is used. */
template <class real, int K, int WARPS> __device__ inline void await_square(const team<real, K, WARPS> &)
{
    if (team<real, K, WARPS>::AHEAD) cp_async_wait<0>();
}

/* Rows `row`, even, and row + 1 of a column of what is above the diagonal of the square. */
template <class real, int K, int WARPS>
__device__ inline typename words<real>::two
square_at(const team<real, K, WARPS> &t, const front_state<real> &s, int base, int row, int column, int width)
{
    typedef typename words<real>::two two;
    two g;
    g.x = g.y = 0;
    if (column < width && row < column) {
        if constexpr (team<real, K, WARPS>::AHEAD)
            g = *reinterpret_cast<const two *>(t.square + column * SQUARE + row);
        else
            g = *reinterpret_cast<const two *>(s.panel + base + row +
                                               static_cast<int64_t>(base + column) * s.ld);
        if (row + 1 == column) g.y = 0;
    }
    return g;
}

/* A number of L in the square. */
template <class real, int K, int WARPS>
__device__ inline real below_at(const team<real, K, WARPS> &t, const front_state<real> &s, int base, int row,
                                int column)
{
    if constexpr (team<real, K, WARPS>::AHEAD)
        return t.square[column * SQUARE + row];
    else
        return s.panel[base + row + static_cast<int64_t>(base + column) * s.ld];
}

/* Adds the products of rows `base` and on with columns [from, to), GROUP of them a warp from `from`, which is
 * its own, on, and what others publish of these columns. */
template <class real, int K, int WARPS>
__device__ inline void multiply_rows(const real *published, const team<real, K, WARPS> &t,
                                     const front_state<real> &s, int base, int from, int to,
                                     row_sums<real, K> &sums)
{
    typedef row_sums<real, K> sums_of;
    int32_t at[sums_of::EACH]; /* of the numbers that this lane brings next */
    const auto look_up = [&](int c) {
#pragma unroll
        for (int e = 0; e < sums_of::EACH; ++e)
            at[e] = sums_of::row_of(e) < min(GROUP, to - c) ? s.variable[c + sums_of::row_of(e)] : -1;
    };
    look_up(from);
    for (int c = from; c < to; c += GROUP * WARPS) {
        real v[sums_of::EACH];
        sums.load([&](int i, int column) { return pair_of_rows(s, base + i, c + column, c + column < to); });
        await_each(
            v, [&](int e) { return at[e] >= 0; },
            [&](int e) {
                return published + (static_cast<int64_t>(max(at[e], 0)) * K + sums_of::column_of(e));
            });
        look_up(c + GROUP * WARPS);
        sums.multiply(v, t.few, to - c);
    }
}

} /* namespace sd_cuda */
