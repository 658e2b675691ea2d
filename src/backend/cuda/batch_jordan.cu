/*
 * The inverse by Gauss-Jordan elimination in registers, with implicit interchanges of rows (Anzt et al.,
 * Batched Gauss-Jordan elimination).
 *
 * Step s: the pivot d of column s is chosen among the rows that were none yet; every other row has l = a_is /
 * d, a_ij <- a_ij - l a_sj and a_is <- -l, and the pivot has 1 in its place. A row is divided by its pivot at
 * the end only: what is done to it before does not depend on its scale.
 * All steps are the same except for the column, so the columns go round: step s finds column s in the first
 * register and leaves it in the last one. The loop over the steps need not be unrolled then. In a warp whose
 * largest block has m rows all blocks go round m times, and column t ends in register N - m + t.
 *
 * Column t of the result belongs to the row that was pivot t, which lane t remembers.
 */
#include "backend/cuda/batch_rows.cuh"

namespace sd_cuda
{
namespace
{

/* DIVIDES: the pivot's row is divided by it at once. */
template <bool DIVIDES, int N, int L, class real>
__device__ inline void invert(const place &w, real (&r)[N], int &at, int &pivot_row, real &pivot)
{
    const int self = w.first + w.lane;
    bool open = true;
#pragma unroll 1
    for (int s = 0; s < w.most; ++s) {
        const bool busy = s < w.n;
        const int p = lane_of_largest<L>(w, w.lane < w.n ? key_of(r[0]) : 0u, open);
        const real d = broadcast(r[0], p), inverse = reciprocal(d), divided = DIVIDES ? inverse : 1;
        const bool chosen = busy && self == p;
        if (chosen) {
            open = false;
            at = s;
            pivot = d;
        }
        if (busy && w.lane == s) pivot_row = p - w.first;
        const real l = r[0] * inverse, last = chosen ? divided : busy ? -l : r[0];
        const real multiplier = busy && !chosen ? l : DIVIDES && chosen ? -inverse : 0;
#pragma unroll
        for (int j = 1; j < N; ++j) {
            const real kept = DIVIDES && chosen ? 0 : r[j];
            r[j - 1] = fma(-multiplier, broadcast(r[j], p), kept);
        }
        r[N - 1] = last;
    }
    const real inverse = DIVIDES ? 1 : reciprocal(pivot);
    /* a zero becomes +0: what sign it has depends on the steps of larger blocks in the warp */
#pragma unroll
    for (int j = 0; j < N; ++j) r[j] = fma(r[j], inverse, static_cast<real>(0));
}

/* Column t is in register N - m + t, and goes to the place of the row that was its pivot. */
template <int N, int L, class real>
__device__ inline void store_inverse(const place &w, const real (&r)[N], int at, int pivot_row, real *block)
{
    const int before = N - w.most;
    int n = w.n;
    keep_here(n);
#pragma unroll
    for (int j = 0; j < N; ++j) {
        const int t = j - before, column = broadcast(pivot_row, w.first + (t >= 0 ? t : 0));
        if (w.lane < n && t >= 0 && t < n) block[at + column * n] = r[j];
    }
}

/* Inverts and writes a block, or, where that failed and LAST is false, returns true. */
template <bool LAST, int N, int L, class real>
__device__ inline bool attempt(const batch<real> &b, const place &w)
{
    const real *block = b.x + w.entry;
    real r[N], pivot = 1, scale;
    load_row(w, block, r);
    int at = w.lane, pivot_row = w.lane;
    invert<LAST, N, L>(w, r, at, pivot_row, pivot);
    const verdict v = judge<L>(w, block, fault_of(pivot), all_finite(r), at, &scale);
    sd_batch_state state = {};
    place writing = w;
    if (v.any_failed && v.failed) {
        if (!LAST) writing.n = 0;
#pragma unroll
        for (int j = 0; j < N; ++j) r[j] = j - (N - w.most) == w.lane ? 1 / scale : 0;
        at = pivot_row = w.lane;
        state.status = v.status;
    }
    store_inverse<N, L>(writing, r, at, pivot_row, b.f + w.entry);
    store_order(b, writing, w.lane, w.lane, w.lane, state);
    return v.failed;
}

/* What cannot be inverted is tried again with rows that are divided at once: those that are not keep the
 * scale of the block, and may overflow where its entries are next to the largest numbers. */
template <class real, int N, int L>
__global__ void __launch_bounds__(BLOCK_THREADS,
                                  (at_once<real, N>(numbers<real>::WORDS == 1 && N == 32 ? 56 : 46)))
    jordan(const batch<real> b)
{
    const bool failed = attempt<false, N, L>(b, find_place<L>(b));
    if (!__any_sync(ALL_LANES, failed)) return;
    place w = find_place<L>(b);
    if (!failed) w.n = 0;
    attempt<true, N, L>(b, w);
}

struct jordan_method {
    template <class real, int N, int L> static constexpr auto KERNEL = jordan<real, N, L>;
};

} /* namespace */

template <class real> void factor_jordan(sd_engine *e, const sd_batch_plan *plan, const batch<real> &b)
{
    launch_classes<jordan_method>(e, plan, b);
}

BOTH(factor_jordan)

} /* namespace sd_cuda */
