/*
 * Exact solves with a triangular factor: see backend/triangle.h.
 *
 * All rows in one launch, without levels. A row is summed by `lanes` threads, 1 to 32 by the average row, so
 * that a warp has several; rows are dealt out by rank, or level by level where the levels are listed, over as
 * many warps as the device holds at once, which a cooperative launch makes sure of: the first row that is not
 * done is always in the hands of a warp that runs, and needs only what is done.
 *
 * A row takes what it needs as soon as it is there, which numbers say themselves (awaited.cuh). Indices and
 * values are asked for before the wait. Rows of one warp may need each other, so no lane ever waits: all
 * lanes of a warp look together, those whose numbers have come go on, and a row that is whole is written
 * before they look again. Where ranks go level by level no row of a level needs another, and there is nothing
 * but the levels to wait for: that is the schedule by levels, without a barrier or a launch for each.
 *
 * Lane l adds entries l, l + lanes, ... from the farthest on, then a tree over the lanes, whoever comes
 * first.
 */
#include "backend/cuda/awaited.cuh"
#include "backend/cuda/triangle.cuh"

namespace sd_cuda
{
namespace
{

constexpr int SOLVE_BLOCK = 128; /* threads */
constexpr int AHEAD = 4;         /* entries that a lane has asked for */

/* A solve with `wide` of the right-hand sides, from column `begin` on. */
template <class real> struct solving {
    triangle<real> x;
    const int32_t *row; /* by rank; NULL: as the triangle says */
    int columns, begin, wide;
    const real *b;
    real *y;
    real *made; /* what y gets, for others to find: n x wide */
};

/* What a lane does of a row. */
template <class real, int lanes> struct share {
    int64_t first, end;
    int count, at; /* entries of the row; the next one of the lane */
    bool asked;    /* for what is in a and j */
    unsigned there;
    real a[AHEAD], v[AHEAD], sum;
    int32_t j[AHEAD];

    __device__ share(const triangle<real> &x, int32_t i, bool has_row)
        : first(has_row ? x.ptr[i] : 0), end(has_row ? x.ptr[i + 1] : 0), count(static_cast<int>(end - first))
    {
    }
    __device__ void begin(int lane)
    {
        at = lane;
        asked = false;
        sum = 0;
    }
    __device__ void ask(const triangle<real> &x)
    {
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            if (at + u * lanes >= count) continue;
            const int64_t k = x.entry(first, end, at + u * lanes);
            j[u] = x.ind[k];
            a[u] = x.value(k);
        }
        asked = true;
        there = 0;
    }
    /* Whether all that the lane adds is there, and added. */
    __device__ bool look(const solving<real> &s, int r)
    {
        while (at < count) {
            if (!asked) ask(s.x);
#pragma unroll
            for (int u = 0; u < AHEAD; ++u)
                if (at + u * lanes < count && !(there >> u & 1))
                    v[u] = load_relaxed(s.made + static_cast<int64_t>(j[u]) * s.wide + r);
#pragma unroll
            for (int u = 0; u < AHEAD; ++u)
                if (at + u * lanes >= count || !is_missing(v[u])) there |= 1u << u;
            if (there != (1u << AHEAD) - 1) return false;
#pragma unroll
            for (int u = 0; u < AHEAD; ++u)
                if (at + u * lanes < count) sum += a[u] * v[u];
            at += AHEAD * lanes;
            asked = false;
        }
        return true;
    }
};

/* The rows of one warp, one for each group of lanes; i is no row where it is n. */
template <class real, int lanes> __device__ inline void solve_rows(const solving<real> &s, int32_t i)
{
    const int lane = threadIdx.x % lanes;
    const unsigned group = (ALL_LANES >> (WARP - lanes)) << (threadIdx.x % WARP - lane);
    bool open = i < s.x.n;
    share<real, lanes> own(s.x, i, open);
    const real reciprocal = open ? s.x.reciprocal[i] : 0;
    const int64_t place = static_cast<int64_t>(i) * s.columns + s.begin;
    real b = open ? s.b[place] : 0;
    int r = 0;
    own.begin(lane);
    while (__any_sync(ALL_LANES, open)) {
        const bool added = open && own.look(s, r);
        const unsigned all = __ballot_sync(ALL_LANES, added);
        const bool whole = open && (all & group) == group;
        if (!__any_sync(ALL_LANES, whole)) {
            look_again();
            continue;
        }
        real sum = own.sum;
#pragma unroll
        for (int apart = lanes / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
        if (!whole) continue;
        if (lane == 0) {
            const real value = (b - sum) * reciprocal;
            leave_number(s.made + static_cast<int64_t>(i) * s.wide + r, value);
            s.y[place + r] = value;
        }
        open = ++r < s.wide;
        if (!open) continue;
        b = s.b[place + r];
        own.begin(lane);
    }
}

template <class real, int lanes> __global__ void __launch_bounds__(SOLVE_BLOCK) solve(const solving<real> s)
{
    constexpr int rows = WARP / lanes;
    const int64_t warps = static_cast<int64_t>(gridDim.x) * (SOLVE_BLOCK / WARP),
                  pieces = (static_cast<int64_t>(s.x.n) + rows - 1) / rows;
    /* pieces that follow one another go to different multiprocessors */
    for (int64_t p = blockIdx.x + threadIdx.x / WARP * gridDim.x; p < pieces; p += warps) {
        const int64_t rank = p * rows + threadIdx.x % WARP / lanes;
        int32_t i = s.x.n;
        if (rank < s.x.n) i = static_cast<int32_t>(s.x.upper ? s.x.n - 1 - rank : rank);
        if (rank < s.x.n && s.row) i = s.row[rank];
        solve_rows<real, lanes>(s, i);
    }
}

template <class real, int lanes> void launch_rows(sd_engine *e, const solving<real> &s)
{
    constexpr int rows = SOLVE_BLOCK / lanes;
    const char *const what = "triangle_solve";
    const int64_t wanted = (static_cast<int64_t>(s.x.n) + rows - 1) / rows,
                  most = blocks_at_once(e, what, solve<real, lanes>, SOLVE_BLOCK);
    if (!e->status)
        launch_together(e, what, solve<real, lanes>, static_cast<int>(wanted < most ? wanted : most),
                        SOLVE_BLOCK, 0, s);
}

template <class real> void launch_lanes(sd_engine *e, int lanes, const solving<real> &s)
{
    switch (lanes) {
    case 1: launch_rows<real, 1>(e, s); break;
    case 2: launch_rows<real, 2>(e, s); break;
    case 4: launch_rows<real, 4>(e, s); break;
    case 8: launch_rows<real, 8>(e, s); break;
    case 16: launch_rows<real, 16>(e, s); break;
    default: launch_rows<real, 32>(e, s); break;
    }
}

} /* namespace */

/* As many right-hand sides at once as the scratch has room for. */
template <class real>
void triangle_solve(sd_engine *e, const sd_triangle *x, int columns, const sd_vector *b, sd_vector *y)
{
    const char *const what = "triangle_solve";
    if (e->status || x->n == 0) return;
    const int64_t each = static_cast<int64_t>(x->n) * static_cast<int64_t>(sizeof(real)),
                  fit = e->scratch_bytes / each;
    const int most = static_cast<int>(fit < 1 ? 1 : fit > columns ? columns : fit);
    real *const made = static_cast<real *>(scratch(e, most * each, what));
    const state *s = state_of(e);
    const on_device current(s->device);
    if (!made || failed(e, current.error, what)) return;
    const int32_t *const row = x->way == SD_TRIANGLE_LEVELS ? x->row : NULL;
    const int lanes = lanes_for(x, AHEAD, WARP);
    for (int begin = 0; begin < columns && !e->status; begin += most) {
        const int wide = columns - begin < most ? columns - begin : most;
        const size_t bytes = static_cast<size_t>(wide * each);
        if (failed(e, cudaMemsetAsync(made, MISSING, bytes, s->stream), what)) return;
        launch_lanes<real>(e, lanes,
                           {triangle<real>(x), row, columns, begin, wide, numbers_of<real>(b),
                            static_cast<real *>(y->data), made});
    }
}

BOTH(triangle_solve)

} /* namespace sd_cuda */
