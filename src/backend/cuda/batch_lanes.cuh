/*
 * Factoring small blocks in registers: what the kernels of batch_*.cu share.
 *
 * A block is the work of a sub-warp of 2, 4, 8, 16 or 32 lanes, each of which holds one row (Gauss-Huard: one
 * column) in N registers, N being the next of 2, 4, 8, 12, ..., 32. Rows are never exchanged: a lane keeps
 * its row and knows the position, `at`, that it is at, and interchanges happen when it is written. A
 * block of n < N rows is worked on as if it were bordered by an identity, and no decision looks at that.
 *
 * Registers have no run-time index, so loops over them are unrolled. If the loop over the steps were unrolled
 * too, large blocks would be bound by fetching instructions. So it goes by chunks of C steps, unrolled, and
 * the C steps of a chunk are a loop, in which the C registers of the chunk go round: step B + t of the chunk
 * from B on finds its column in register B, the columns after it in registers B + 1 .. B + C - 1 - t, and
 * leaves it in register B + C - 1, behind which those before it have gone. After C steps all are in their
 * places again.
 *
 * All lanes of a warp do the same steps, so that shuffles and votes are of whole warps and need no masks.
 * Where lanes must not be changed, their multiplier is 0: a number times 0 is not 0 only where it is not
 * finite, and then the block is replaced anyway. For the same reason nothing is tested on the way: a number
 * that is not finite never becomes finite again, and a zero pivot makes the rest of its block not finite.
 * Whether a block was factored is seen at the end, from its pivots and its result; only then is the input
 * read again for what takes its place.
 */
#pragma once

#include "backend/cuda/cuda.cuh"

#include <float.h>

#include <type_traits>

namespace sd_cuda
{

constexpr int BLOCK_THREADS = 128; /* of the kernels on blocks */

/* Numbers of a precision. */
template <class real> struct numbers;
template <> struct numbers<double> {
    static constexpr double TINY = SD_BLOCK_TINY_DOUBLE, MOST = DBL_MAX;
    static constexpr int WORDS = 2;
};
template <> struct numbers<float> {
    static constexpr float TINY = SD_BLOCK_TINY_SINGLE, MOST = FLT_MAX;
    static constexpr int WORDS = 1;
};

__device__ inline unsigned key_of(double a)
{
    return static_cast<unsigned>(__double2hiint(a)) & 0x7fffffffu;
}
__device__ inline unsigned key_of(float a)
{
    return __float_as_uint(a) & 0x7fffffffu;
}
/*
 * For searches of many registers: the key without its low five bits, and a register's index in their place,
 * so that one maximum finds both, and of equals the first. Backends may pick among pivots that differ in
 * those bits only.
 */
static_assert(SD_BLOCK_MOST == 32 && SD_BLOCK_EQUAL_BITS == 5, "an index takes the place of these bits");
template <class real> __device__ inline unsigned indexed_key(real a, int index)
{
    return (key_of(a) & ~31u) | static_cast<unsigned>(31 - index);
}
__device__ inline int index_of(unsigned indexed)
{
    return 31 - static_cast<int>(indexed & 31u);
}
template <class real> __device__ inline bool is_finite(real a)
{
    return fabs(a) <= numbers<real>::MOST;
}

/*
 * 1 / d of a pivot, rounded as a division would be, but without the way out that a division has for numbers
 * where its iteration fails: of 0 and of what is not finite it is not a number, and the largest numbers are
 * scaled. The first guess has 20 bits or more (single: all but the last), which Newton's iteration doubles.
 * The last iteration but one is rounded up: from below, the last would end at 1 where d is next to 1.
 */
__device__ inline double reciprocal(double d)
{
    const double by = key_of(d) >= 0x7f000000u ? 0x1p-64 : 1.0, x = fabs(d) * by;
    double y = reciprocal_guess(x);
    double error = fma(-x, y, 1.0);
    error = fma(error, error, error);
    y = __fma_ru(error, y, y);
    error = fma(-x, y, 1.0);
    return copysign(fma(error, y, y) * by, d);
}
__device__ inline float reciprocal(float d)
{
    const float by = key_of(d) >= 0x7e000000u ? 0x1p-24f : 1.0f, x = d * by;
    const float y = reciprocal_guess(x);
    const float error = fmaf(-x, y, 1.0f);
    return fmaf(error, y, y) * by;
}

/* The blocks of one launch. */
template <class real> struct batch {
    const real *x;
    real *f; /* may be x */
    uint8_t *row, *column;
    sd_batch_state *state;
    const sd_batch_job *job;
    int regular;       /* as in the plan */
    int from, to;      /* jobs */
    int least, end[3]; /* job k has `least` rows, and one more for each end that it is not below */
    real small;
};

template <class real> batch<real> batch_of(const sd_batch_rule *rule, const sd_batch *x, sd_batch_factors *f)
{
    batch<real> b = {};
    b.x = static_cast<const real *>(x->data);
    b.f = static_cast<real *>(f->data);
    b.row = f->row;
    b.column = f->column;
    b.state = f->state;
    b.job = x->plan->job;
    b.regular = x->plan->regular;
    b.small = static_cast<real>(rule->small);
    return b;
}

/* The block of a sub-warp, and a lane's place in it. */
struct place {
    int64_t entry;
    int row, block;
    int n;     /* rows; 0 where there is no block left */
    int lane;  /* in the sub-warp */
    int first; /* the sub-warp's first lane in the warp */
    int most;  /* rows of the largest block in the warp */
};

template <int L, class real> __device__ inline place find_place(const batch<real> &b)
{
    place w;
    const int k =
        b.from + static_cast<int>(blockIdx.x) * (BLOCK_THREADS / L) + static_cast<int>(threadIdx.x) / L;
    w.lane = static_cast<int>(threadIdx.x) % L;
    w.first = static_cast<int>(threadIdx.x) % WARP / L * L;
    w.n = 0;
    w.entry = 0;
    w.row = w.block = 0;
    if (b.regular) {
        w.most = b.regular;
        if (k < b.to) {
            w.n = b.regular;
            w.entry = static_cast<int64_t>(k) * (b.regular * b.regular);
            w.row = k * b.regular;
            w.block = k;
        }
        return w;
    }
    if (k < b.to) {
        const sd_batch_job job = b.job[k];
        w.n = b.least + (k >= b.end[0]) + (k >= b.end[1]) + (k >= b.end[2]);
        w.entry = job.entry;
        w.row = job.row;
        w.block = job.block;
    }
    w.most = static_cast<int>(__reduce_max_sync(ALL_LANES, static_cast<unsigned>(w.n)));
    return w;
}

/* Calls f(B) with B = 0, C, 2 C, ... below N, as constants. */
template <int N, int C, int B = 0, class F> __device__ __forceinline__ void each_chunk(F &&f)
{
    if constexpr (B < N) {
        f(std::integral_constant<int, B>());
        each_chunk<N, C, B + C>(f);
    }
}

/* The value that lane `from` of the warp has. */
template <class T> __device__ inline T broadcast(T value, int from)
{
    return __shfl_sync(ALL_LANES, value, from);
}

/* The lanes of the sub-warp where `yes`, as bits of the warp. */
template <int L> __device__ inline unsigned lanes_where(const place &w, bool yes)
{
    return __ballot_sync(ALL_LANES, yes) & ((~0u >> (WARP - L)) << w.first);
}

/* The largest key of the sub-warp. A reduction of the warp costs as much as a shuffle. */
template <int L> __device__ inline unsigned largest(const place &w, unsigned key)
{
    if constexpr (L == 32) {
        return __reduce_max_sync(ALL_LANES, key);
    } else if constexpr (L == 16) {
        const unsigned low = __reduce_max_sync(ALL_LANES, w.first ? 0u : key);
        const unsigned high = __reduce_max_sync(ALL_LANES, w.first ? key : 0u);
        return w.first ? high : low;
    } else {
#pragma unroll
        for (int apart = L / 2; apart > 0; apart /= 2) key = max(key, __shfl_xor_sync(ALL_LANES, key, apart));
        return key;
    }
}

/* The lane of the warp with the largest key, the lowest of them, among those where `open`. */
template <int L> __device__ inline int lane_of_largest(const place &w, unsigned key, bool open)
{
    const unsigned mine = open ? key : 0u, most = largest<L>(w, mine);
    return __ffs(lanes_where<L>(w, open && mine == most)) - 1;
}

/* Whether a block of n rows of the class of N has a column j: only the last three are in doubt. */
template <int N> __device__ inline bool has_column(int j, int n)
{
    return j < N - 3 || j < n;
}

/* Row `lane` of the block, bordered by an identity. */
template <int N, class real> __device__ inline void load_row(const place &w, const real *block, real (&r)[N])
{
    const real *at = block + w.lane;
    if (w.n == N) {
#pragma unroll
        for (int j = 0; j < N; ++j) r[j] = w.lane < N ? at[j * N] : 0;
    } else {
#pragma unroll
        for (int j = 0; j < N; ++j) {
            const bool there = w.lane < w.n && has_column<N>(j, w.n);
            r[j] = there ? at[j * w.n] : static_cast<real>(w.lane == j);
        }
    }
}

/* Writes a row at position `at`; the columns are in order. */
template <int N, class real>
__device__ inline void store_row(const place &w, const real (&r)[N], int at, real *block)
{
    if (w.lane >= w.n) return;
    int n = w.n;
    keep_here(n); /* or the places that were read from would be remembered */
    if (n == N) {
#pragma unroll
        for (int j = 0; j < N; ++j) block[at + j * N] = r[j];
    } else {
#pragma unroll
        for (int j = 0; j < N; ++j)
            if (has_column<N>(j, n)) block[at + j * n] = r[j];
    }
}

/* 16 bytes of numbers. */
template <class real> struct alignas(16) quad {
    static constexpr int COUNT = 16 / sizeof(real);
    real v[COUNT];
};

/* Room in shared memory for the blocks of N rows of BLOCK_THREADS threads, columns an odd number apart. */
template <class real, int N, int L> struct alignas(16) block_room {
    static constexpr int SIZE = (N * (N | 1) + 3) / 4 * 4; /* of quads */
    real entry[BLOCK_THREADS / L][SIZE];
    __device__ real *mine()
    {
        return entry[threadIdx.x / L];
    }
};

/* Copies a block between global memory and the room, whose columns are `apart` apart. */
template <int N, class real>
__device__ inline void load_room(const place &w, const real *block, real *room, int apart)
{
    if (w.lane < w.n) {
#pragma unroll
        for (int j = 0; j < N; ++j)
            if (has_column<N>(j, w.n)) room[w.lane + j * apart] = block[w.lane + j * w.n];
    }
    __syncwarp();
}
template <int N, class real>
__device__ inline void store_room(const place &w, const real *room, int apart, real *block)
{
    __syncwarp();
    if (w.lane >= w.n) return;
    int n = w.n;
    keep_here(n);
    if (n == N) {
#pragma unroll
        for (int j = 0; j < N; ++j) block[w.lane + j * N] = room[w.lane + j * (N | 1)];
    } else {
#pragma unroll
        for (int j = 0; j < N; ++j)
            if (has_column<N>(j, n)) block[w.lane + j * n] = room[w.lane + j * apart];
    }
}

/* Whether all of the lane's numbers are finite. */
template <int N, class real> __device__ inline bool all_finite(const real (&r)[N])
{
    real sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j) sum = fma(r[j], static_cast<real>(0), sum);
    return sum == 0;
}

/* max |a| of the sub-warp's block as it was given, 1 where that is no number to divide by; *finite: whether
 * all of it is. */
template <int L, class real> __device__ inline real scale_of(const place &w, const real *block, bool *finite)
{
    real most = 0;
    bool good = true;
    if (w.lane < w.n)
#pragma unroll 1
        for (int j = 0; j < w.n; ++j) {
            const real a = fabs(block[w.lane + j * w.n]);
            good = good && a <= numbers<real>::MOST;
            most = fmax(most, a);
        }
#pragma unroll
    for (int apart = L / 2; apart > 0; apart /= 2) most = fmax(most, __shfl_xor_sync(ALL_LANES, most, apart));
    *finite = lanes_where<L>(w, !good) == 0;
    return *finite && most >= numbers<real>::TINY ? most : 1;
}

/* What is known of a block when its elimination has ended. */
struct verdict {
    bool failed;     /* this block: it is replaced */
    uint8_t status;  /* then: why */
    bool any_failed; /* of the warp's */
};

/*
 * fault: what was wrong with the pivot that the lane's row became at position `at` (SD_BLOCK_OK: nothing);
 * good: whether what came of the row is finite. The first pivot at fault decides; if there is none, the
 * result is not finite, and so it is whatever the pivots were where the input was not.
 */
template <int L, class real>
__device__ inline verdict judge(const place &w, const real *block, int fault, bool good, int at, real *scale)
{
    verdict v = {false, SD_BLOCK_OK, false};
    const bool inside = w.lane < w.n;
    v.failed = lanes_where<L>(w, inside && (fault || !good)) != 0;
    v.any_failed = __any_sync(ALL_LANES, v.failed);
    *scale = 1;
    if (!v.any_failed) return v;
    bool finite;
    *scale = scale_of<L>(w, block, &finite);
    /* the largest key belongs to the lowest position */
    const unsigned mine = inside && fault ? static_cast<unsigned>((SD_BLOCK_MOST - at) * 8 + fault) : 0u;
    const unsigned found = largest<L>(w, mine);
    if (v.failed) v.status = found && finite ? static_cast<uint8_t>(found % 8) : SD_BLOCK_NOT_FINITE;
    return v;
}

/* What a pivot d of LDU, LDL' or Gauss's is at fault of. */
template <class real> __device__ inline int fault_of(real d)
{
    if (!is_finite(d)) return SD_BLOCK_NOT_FINITE;
    return fabs(d) < numbers<real>::TINY ? SD_BLOCK_SINGULAR : SD_BLOCK_OK;
}

/* d, moved away from 0. */
template <class real> __device__ inline real settle(real d, real small)
{
    const real moved = d < 0 ? -small : small;
    return fabs(d) < small ? moved : d;
}

/* Permutations and state: the lane's row is at row_at; `column` is the column at position column_at. */
template <class real>
__device__ inline void store_order(const batch<real> &b, const place &w, int row_at, int column_at,
                                   int column, const sd_batch_state &state)
{
    if (w.lane < w.n) {
        b.row[w.row + row_at] = static_cast<uint8_t>(w.lane);
        b.column[w.row + column_at] = static_cast<uint8_t>(column);
    }
    if (w.lane == 0 && w.n > 0) b.state[w.block] = state;
}

/* Blocks of threads that a multiprocessor shall hold: what bounds a kernel's registers, given those that
 * its lanes need in addition to the row. */
template <class real, int N> constexpr int at_once(int beside)
{
    const int fit = 65536 / (BLOCK_THREADS * (numbers<real>::WORDS * N + beside)),
              most = N <= 4 ? (beside > 60 ? 5 : 7) : 9;
    return fit > most ? most : fit;
}

/* Launches Method for the blocks of least .. most rows, no more than four sizes, where there are any.
 * Method::KERNEL<real, N, L> is its kernel. */
template <class Method, class real, int N, int L>
void launch_range(sd_engine *e, const sd_batch_plan *plan, batch<real> b, int least, int most)
{
    b.least = least;
    b.from = plan->first[least];
    b.to = plan->first[most + 1];
    for (int k = 0; k < 3; ++k) b.end[k] = plan->first[least + k + 1 < most + 1 ? least + k + 1 : most + 1];
    if (b.from == b.to || e->status) return;
    constexpr int each = BLOCK_THREADS / L;
    launch_with(e, "batch_factor", Method::template KERNEL<real, N, L>,
                (static_cast<int64_t>(b.to) - b.from + each - 1) / each, BLOCK_THREADS, b);
}

/* The classes of the register versions: from 9 rows on, and all. */
template <class Method, class real>
void launch_from_9(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_range<Method, real, 32, 32>(e, plan, b, 29, 32);
    launch_range<Method, real, 28, 32>(e, plan, b, 25, 28);
    launch_range<Method, real, 24, 32>(e, plan, b, 21, 24);
    launch_range<Method, real, 20, 32>(e, plan, b, 17, 20);
    launch_range<Method, real, 16, 16>(e, plan, b, 13, 16);
    launch_range<Method, real, 12, 16>(e, plan, b, 9, 12);
}
template <class Method, class real>
void launch_classes(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_from_9<Method>(e, plan, b);
    launch_range<Method, real, 8, 8>(e, plan, b, 5, 8);
    launch_range<Method, real, 4, 4>(e, plan, b, 3, 4);
    launch_range<Method, real, 2, 2>(e, plan, b, 1, 2);
}

/* The kernels: batch_ldu.cu and its neighbours. `few`: so many blocks of 8 rows go another way than more do
 * (batch_few.cuh). */
template <class real> void factor_ldu(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b);
template <class real> void factor_llt(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b);
template <class real>
void factor_ldlt_static(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b, int few);
template <class real>
void factor_ldlt_bunch_kaufman(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b, int few);
template <class real>
void factor_ldlt_complete(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b);
template <class real> void factor_jordan(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b);
template <class real>
void factor_huard(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan, const batch<real> &b);

} /* namespace sd_cuda */
