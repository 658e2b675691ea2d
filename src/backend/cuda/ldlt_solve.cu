/*
 * Triangular solves with a block LDL': see backend/ldlt.h.
 *
 * A warp a row of blocks, rows dealt out in the order of elimination over as many warps as the device holds
 * at once, which a cooperative launch makes sure of: so the first row that is not done never waits for one
 * that nobody works on, and no level waits for the host, or for all rows of the one before it.
 *
 * A row takes what it needs as soon as it is there. The numbers say so themselves: vectors begin as all ones,
 * a NaN that no row ever writes. A row reads its list such that what comes last is made last: forward from
 * its beginning, backward from its end; a block's numbers are asked for before the wait for those that they
 * meet.
 *
 * Lanes are groups of R, each with a block of the list, R x R numbers of it at a time, which lanes read side
 * by side: forward lane l makes the sum of row l; backward, where blocks are stored transposed, it has column
 * l, and the sums of rows are added over the lanes at the end. The order of all sums is that of the list
 * and the lanes.
 */
#include "backend/cuda/awaited.cuh"
#include "backend/cuda/ldlt_factors.cuh"

namespace sd_cuda
{
namespace
{

constexpr int SOLVE_BLOCK = 128; /* threads */

/* Factors in `real`, vectors in `outer`. */
template <class real, class outer> struct solve_data {
    ldlt_factors<real> f;
    const int32_t *order;
    const double *scale;
    const outer *r;
    real *forward, *backward; /* what the two solves leave */
    outer *z;
};

/* ---- numbers that are still to come ---- */

/* Each lane's number, 0 where it needs none. No row that is waited for is this warp's: those it has done. */
template <class real> __device__ inline real await(const real *at, bool wanted)
{
    real value = wanted ? load_relaxed(at) : static_cast<real>(0);
    while (__any_sync(ALL_LANES, wanted && is_missing(value))) {
        look_again();
        if (wanted && is_missing(value)) value = load_relaxed(at);
    }
    return value;
}

/* ---- a block of the list ---- */

__device__ inline int rank_of(uint32_t mask, int k)
{
    return mask >> k & 1 ? __popc(mask & ((1u << k) - 1)) : -1;
}

/* The k-th bit of a mask that has so many. */
__device__ inline int bit_of(uint32_t mask, int k)
{
    if ((mask & (mask + 1)) == 0) return k; /* no gaps */
    for (; k > 0; --k) mask &= mask - 1;
    return __ffs(static_cast<int>(mask)) - 1;
}

/*
 * A lane's sums: forward that of row low + lane alone, one number; backward those of all R rows from low on,
 * with the lane's columns. Blocks are stored as that suits, except for some of those that were pushed back.
 */
template <class real, int R, bool FORWARD> struct sums {
    static constexpr int COUNT = FORWARD ? 1 : R;
    real of[COUNT];
};

/* sums += the block's rows low .. low + R) and kept columns c .. c + R), times the numbers of v. */
template <class real, int R, bool FORWARD>
__device__ inline void add_tile(const sd_ldlt_block &b, const real *data, const real *v, int low, int c,
                                int lane, sums<real, R, FORWARD> &s)
{
    const int l = lane % R, down = b.transposed ? b.width : 1, across = b.transposed ? 1 : b.height;
    const bool wanted = c + l < b.width;
    real a[R];
    if (FORWARD) {
        const int rank = rank_of(b.rows, low + l);
        const real *const from = data + b.entry + rank * down + c * across;
#pragma unroll
        for (int j = 0; j < R; ++j)
            a[j] = rank >= 0 && c + j < b.width ? from[j * across] : static_cast<real>(0);
    } else {
        const real *const from = data + b.entry + (c + l) * across;
        int rank = __popc(b.rows & ((1u << low) - 1));
#pragma unroll
        for (int j = 0; j < R; ++j) {
            const bool there = b.rows >> (low + j) & 1;
            a[j] = there && wanted ? from[rank * down] : static_cast<real>(0);
            rank += there;
        }
    }
    const real value = await(wanted ? v + bit_of(b.columns, c + l) : v, wanted);
#pragma unroll
    for (int j = 0; j < R; ++j) {
        const real with = FORWARD ? __shfl_sync(ALL_LANES, value, j, R) : value;
        s.of[FORWARD ? 0 : j] = fma_of(a[j], with, s.of[FORWARD ? 0 : j]);
    }
}

/* Row low + l in lane l of every group. */
template <class real, int R, bool FORWARD> __device__ inline real add_up(sums<real, R, FORWARD> &s, int lane)
{
    if (!FORWARD) {
#pragma unroll
        for (int half = R / 2; half >= 1; half /= 2) {
            const bool upper = lane & half;
#pragma unroll
            for (int j = 0; j < half; ++j) {
                const real low = s.of[j], high = s.of[(j + half) % s.COUNT];
                s.of[j] = (upper ? high : low) + __shfl_xor_sync(ALL_LANES, upper ? low : high, half);
            }
        }
    }
    real sum = s.of[0];
#pragma unroll
    for (int apart = R; apart < WARP; apart *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
    return sum;
}

/* ---- a row ---- */

/* Sums of rows low .. low + R) over `count` blocks of the list, from `first` on and up, or down. */
template <class real, int R, bool FORWARD>
__device__ inline real gather(const ldlt_factors<real> &f, const sd_ldlt_block *first, int count,
                              const real *v, int low, int lane)
{
    constexpr int GROUPS = WARP / R, STEP = FORWARD ? 1 : -1;
    sums<real, R, FORWARD> s = {};
    int at = lane / R;
    sd_ldlt_block next = {};
    if (at < count) next = first[at * STEP];
    for (int k = 0; k < count; k += GROUPS) {
        sd_ldlt_block b = next;
        if (at >= count) b.rows = b.width = 0;
        at += GROUPS;
        if (at < count) next = first[at * STEP];
        const real *const with = v + f.start[b.other];
        for (int c = 0; __any_sync(ALL_LANES, c < b.width); c += R)
            add_tile(b, f.data, with, low, c, lane, s);
    }
    return add_up(s, lane);
}

/* G s, row q in lane q; s_p is in lane p. For 8 rows at most the numbers of G are read beforehand. */
constexpr int SMALL = 8;
template <class real> struct inverse_block {
    const real *g;
    int size;
    real early[2];
    __device__ inverse_block(const real *from, int rows, int lane) : g(from), size(rows), early{0, 0}
    {
        const int q = lane % SMALL, p = lane / SMALL;
        if (size > SMALL || q >= size) return;
        if (p < size) early[0] = g[q + p * size];
        if (p + SMALL / 2 < size) early[1] = g[q + (p + SMALL / 2) * size];
    }
    __device__ real times(real s, int lane) const
    {
        real product = 0;
        if (size <= SMALL) {
            const int p = lane / SMALL;
            product = early[0] * __shfl_sync(ALL_LANES, s, p);
            product = fma_of(early[1], __shfl_sync(ALL_LANES, s, p + SMALL / 2), product);
            product += __shfl_xor_sync(ALL_LANES, product, SMALL);
            return product + __shfl_xor_sync(ALL_LANES, product, 2 * SMALL);
        }
        for (int p = 0; p < size; ++p) {
            const real with = __shfl_sync(ALL_LANES, s, p);
            if (lane < size) product = fma_of(g[lane + p * size], with, product);
        }
        return product;
    }
};

template <class real, class outer, int R, bool FORWARD>
__device__ inline void solve_row(const solve_data<real, outer> &x, int32_t i, int lane)
{
    const int32_t first = x.f.start[i];
    const int size = x.f.start[i + 1] - first;
    const int64_t middle = x.f.diagonal[i], end = FORWARD ? x.f.row[i] : x.f.row[i + 1];
    const int count = static_cast<int>(FORWARD ? middle - end : end - middle);
    const bool mine = lane < size;
    const int32_t place = mine ? x.order[first + lane] : 0;
    const double scale = mine ? x.scale[first + lane] : 0;
    real own = 0;
    if (mine) own = FORWARD ? static_cast<real>(x.r[place] * scale) : x.forward[first + lane];
    const inverse_block<real> inverse(x.f.inverse + x.f.square[i], size, lane);
    real sum = 0;
    for (int low = 0; low < size; low += R) {
        const real part = gather<real, R, FORWARD>(x.f, x.f.list + (FORWARD ? end : end - 1), count,
                                                   FORWARD ? x.forward : x.backward, low, lane);
        const real here = __shfl_sync(ALL_LANES, part, lane % R);
        if (lane / R == low / R) sum = here;
    }
    const real product = inverse.times(FORWARD ? own - sum : sum, lane);
    if (!mine) return;
    if (FORWARD) {
        leave_number(x.forward + first + lane, product);
    } else {
        leave_number(x.backward + first + lane, own - product);
        x.z[place] = static_cast<outer>((own - product) * scale);
    }
}

template <class real, class outer, int R, bool FORWARD>
__global__ void __launch_bounds__(SOLVE_BLOCK) solve(const solve_data<real, outer> x)
{
    const int lane = threadIdx.x % WARP;
    const int32_t warps = gridDim.x * (SOLVE_BLOCK / WARP);
    /* rows that follow one another go to different multiprocessors */
    for (int64_t k = blockIdx.x + threadIdx.x / WARP * gridDim.x; k < x.f.blocks; k += warps)
        solve_row<real, outer, R, FORWARD>(x, static_cast<int32_t>(FORWARD ? k : x.f.blocks - 1 - k), lane);
}

template <class real, class outer>
void launch_all_at_once(sd_engine *e, void (*kernel)(solve_data<real, outer>), solve_data<real, outer> x)
{
    const char *const what = "ldlt_solve";
    const int64_t wanted = (static_cast<int64_t>(x.f.blocks) * WARP + SOLVE_BLOCK - 1) / SOLVE_BLOCK,
                  most = blocks_at_once(e, what, kernel, SOLVE_BLOCK);
    if (e->status) return;
    launch_together(e, what, kernel, static_cast<int>(wanted < most ? wanted : most), SOLVE_BLOCK, 0, x);
}

template <class real, class outer>
void solve_both(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *z, real *vectors)
{
    const solve_data<real, outer> data = {ldlt_factors<real>(x),
                                          x->frame.order,
                                          x->frame.scale,
                                          static_cast<const outer *>(r->data),
                                          vectors,
                                          vectors + x->n,
                                          static_cast<outer *>(z->data)};
    const bool tiny = x->largest <= 2;
    launch_all_at_once(e, tiny ? solve<real, outer, 2, true> : solve<real, outer, 8, true>, data);
    if (x->signs) {
        sd_vector middle = {vectors, x->n, x->precision};
        sd_batch_apply(e, x->signs, 1, &middle, &middle);
    }
    launch_all_at_once(e, tiny ? solve<real, outer, 2, false> : solve<real, outer, 8, false>, data);
}

} /* namespace */

template <class real>
void ldlt_solve(sd_engine *e, const sd_ldlt_factors *x, const sd_vector *r, sd_vector *z, sd_vector *work)
{
    const char *const what = "ldlt_solve";
    if (e->status || x->blocks == 0) return;
    const state *s = state_of(e);
    const on_device current(s->device);
    const size_t bytes = 2 * static_cast<size_t>(x->n) * sizeof(real);
    if (failed(e, current.error, what) ||
        failed(e, cudaMemsetAsync(work->data, MISSING, bytes, s->stream), what))
        return;
    real *const vectors = static_cast<real *>(work->data);
    if (r->precision == SD_DOUBLE)
        solve_both<real, double>(e, x, r, z, vectors);
    else
        solve_both<real, float>(e, x, r, z, vectors);
}

BOTH(ldlt_solve)

} /* namespace sd_cuda */
