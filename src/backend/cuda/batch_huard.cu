/*
 * Gauss-Huard in registers (Anzt et al., Variable-size batched Gauss-Huard, Figure 1), with implicit
 * interchanges of columns.
 *
 * A lane has a column. Step k: in every column that was no pivot yet, a_kj <- a_kj - sum_t a_kt a_tj over the
 * pivots t < k before it; the largest of these is the pivot d; the others become a_kj / d, and a_ij <- a_ij -
 * a_ik a_kj for i < k. a_kt are the entries of row k in the columns that were pivots: lane t remembers which
 * column was pivot t, so one shuffle puts them in order, and all lanes read them from shared memory, where 16
 * bytes at a time cost less than as many shuffles.
 *
 * Columns of lanes are not what memory holds side by side, so the block comes and goes through shared memory;
 * on its way out the part above the diagonal may be transposed about the anti-diagonal.
 */
#include "backend/cuda/batch_lanes.cuh"

namespace sd_cuda
{
namespace
{

/* Steps of a chunk, by measurement (saddle bench blocks). */
template <int N> constexpr int CHUNK = N <= 16 ? 2 : 4;

/* Row k = B + t of the pivots before it, in the order of the registers of the columns; 0 where a register of
 * the chunk holds a row that comes after k. */
template <int B, int C, class real>
__device__ inline void put_in_order(const place &w, int t, real value, real *ordered)
{
    const int i = w.lane - B;
    if (i < 0) ordered[w.lane] = value;
    if (i >= 0 && i < C) ordered[B + (i < t ? i - t + C : i - t)] = i < t ? value : 0;
    __syncwarp();
}

template <int L, int C, int N, class real>
__device__ inline void decompose(const place &w, real *room, real (&r)[N], int &at, real &pivot)
{
    const int self = w.first + w.lane;
    bool open = true;
    int pivot_lane = self; /* lane t: where pivot t is */
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            real *ordered = room + (t % 2) * (N < 4 ? 4 : N);
            put_in_order<B, C>(w, t, broadcast(r[B], pivot_lane), ordered);
            real reduced = r[B];
#pragma unroll
            for (int j = 0; j < B + C; j += quad<real>::COUNT) {
                const quad<real> a = *reinterpret_cast<const quad<real> *>(ordered + j);
#pragma unroll
                for (int i = 0; i < quad<real>::COUNT; ++i)
                    if (j + i < B + C && j + i != B) reduced = fma(-a.v[i], r[j + i], reduced);
            }
            const int p = lane_of_largest<L>(w, key_of(reduced), open);
            const real d = broadcast(reduced, p), inverse = reciprocal(d);
            if (w.lane == B + t) pivot_lane = p;
            real row = r[B];
            if (self == p) {
                open = false;
                at = B + t;
                pivot = row = d;
            }
            const real scaled = reduced * inverse, multiplier = open ? scaled : 0;
            row = open ? scaled : row;
#pragma unroll
            for (int j = 0; j < B; ++j) r[j] = fma(-broadcast(r[j], p), multiplier, r[j]);
#pragma unroll
            for (int i = 1; i < C; ++i) {
                const real here = r[B + i], updated = fma(-broadcast(here, p), multiplier, here);
                r[B + i - 1] = i < C - t ? here : updated;
            }
            r[B + C - 1] = row;
        }
    });
}

/* Where entry (i, j) is kept in a room of n rows. */
template <bool TRANSPOSED> __device__ inline int place_of(int i, int j, int n, int apart)
{
    return TRANSPOSED && i < j ? n - 1 - j + (n - 1 - i) * apart : i + j * apart;
}

template <class real, int N, int L, bool TRANSPOSED>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<real, N>(40))) huard(const batch<real> b)
{
    __shared__ block_room<real, N, L> rooms;
    const place w = find_place<L>(b);
    const real *block = b.x + w.entry;
    real *room = rooms.mine(), r[N], pivot = 1, scale;
    const int apart = w.n | 1;
    load_room<N>(w, block, room, apart);
#pragma unroll
    for (int i = 0; i < N; ++i)
        r[i] =
            w.lane < w.n && has_column<N>(i, w.n) ? room[i + w.lane * apart] : static_cast<real>(w.lane == i);
    __syncwarp();
    int at = w.lane;
    decompose<L, CHUNK<N>>(w, room, r, at, pivot);
    const verdict v = judge<L>(w, block, fault_of(pivot), all_finite(r), at, &scale);
    sd_batch_state state = {};
    if (v.any_failed && v.failed) {
#pragma unroll
        for (int i = 0; i < N; ++i) r[i] = i == w.lane ? scale : 0;
        at = w.lane;
        state.status = v.status;
    }
    __syncwarp(); /* the last row was read */
    if (w.lane < w.n) {
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (has_column<N>(i, w.n)) room[place_of<TRANSPOSED>(i, at, w.n, apart)] = r[i];
    }
    store_room<N>(w, room, apart, b.f + w.entry);
    store_order(b, w, w.lane, at, w.lane, state);
}

template <bool TRANSPOSED> struct huard_method {
    template <class real, int N, int L> static constexpr auto KERNEL = huard<real, N, L, TRANSPOSED>;
};

} /* namespace */

template <class real>
void factor_huard(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan, const batch<real> &b)
{
    if (kernel == SD_HUARD) launch_classes<huard_method<false>>(e, plan, b);
    if (kernel == SD_HUARD_TRANSPOSED) launch_classes<huard_method<true>>(e, plan, b);
}

BOTH(factor_huard)

} /* namespace sd_cuda */
