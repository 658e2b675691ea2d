/*
 * Incomplete factors by elimination on a given pattern: see backend/incomplete_run.h.
 *
 * All rows in one launch, as in a triangular solve (triangle_solve.cu): rows are dealt out in an order in
 * which each comes behind those it needs, over as many warps as are on the device at once, and a number says
 * itself whether it is there. So a row begins before the rows it needs are whole, and there is neither a
 * level nor a launch for one. Entries of a row that need one another are those of other lanes of the warp, so
 * no lane waits alone: all look, go on as far as they can, and look again.
 *
 * A pivot that cannot be used raises a flag. Whoever waits looks at it too, and all end.
 */
#include "backend/cuda/incomplete.cuh"

namespace sd_cuda
{
namespace
{

constexpr int FACTOR_BLOCK = 128; /* threads */

/* What a lane does of a row. */
struct entry_under_way {
    int64_t t, count; /* the entry of the row that it makes; so many there are */
    place_of_entry at;
    int64_t a, c, end; /* in its own row; in the row of the other half */
    double sum;

    __device__ entry_under_way(const sd_pattern_factors &f, int32_t i, int64_t first)
        : t(first), count(entries_of_row(f, i)), at(f, i, 0)
    {
        begin(f, i);
    }
    __device__ void begin(const sd_pattern_factors &f, int32_t i)
    {
        if (t >= count) return;
        at = place_of_entry(f, i, t);
        const int32_t j = at.half.ind[at.k];
        a = at.begin;
        c = at.other.ptr[j];
        end = at.other.ptr[j + 1];
        sum = entry_of_matrix(f, at.half, at.k);
    }
    /* Goes on with the sum; whether it is whole. */
    __device__ bool add()
    {
        const sd_pattern_half &half = at.half, &other = at.other;
        while (a < at.k && c < end) {
            const int32_t own = half.ind[a], its = other.ind[c];
            if (own == its) {
                const double x = load_near(half.val + a), y = load_relaxed(other.val + c);
                if (is_missing(x) || is_missing(y)) return false;
                sum -= x * y;
            }
            if (own <= its) ++a;
            if (its <= own) ++c;
        }
        return true;
    }
    /* Whether all of the lane's entries are made. */
    __device__ bool look(const sd_pattern_factors &f, int32_t i, int lanes)
    {
        while (t < count) {
            if (!add()) return false;
            double value = sum;
            if (at.lower) {
                const double d = load_relaxed(f.diagonal + at.half.ind[at.k]);
                if (is_missing(d)) return false;
                value /= d;
            }
            if (!isfinite(value)) store_relaxed(f.broken, 1);
            leave_number(at.half.val + at.k, value);
            t += lanes;
            begin(f, i);
        }
        return true;
    }
};

/* The rows of one warp, one for each group of lanes; i is no row where it is n. */
template <int lanes> __device__ inline void make_rows(const sd_pattern_factors &f, int32_t i)
{
    const int lane = threadIdx.x % lanes;
    const unsigned group = (ALL_LANES >> (WARP - lanes)) << (threadIdx.x % WARP - lane);
    bool open = i < f.n;
    entry_under_way own(f, open ? i : 0, lane);
    while (__any_sync(ALL_LANES, open)) {
        const bool made = open && own.look(f, i, lanes);
        const unsigned all = __ballot_sync(ALL_LANES, made);
        const bool whole = open && (all & group) == group;
        if (!__any_sync(ALL_LANES, whole)) {
            look_again();
            if (load_relaxed(f.broken)) open = false;
            continue;
        }
        const double share =
            whole ? pivot_share(f, i, lane, lanes, [](const double *at) { return load_near(at); }) : 0;
        const double sum = add_lanes<lanes>(share);
        if (!whole) continue;
        if (lane == 0) {
            double diagonal;
            if (!take_pivot(f, i, shifted(f, i) - sum, diagonal)) store_relaxed(f.broken, 1);
            leave_number(f.diagonal + i, diagonal);
        }
        open = false;
    }
}

template <int lanes> __global__ void __launch_bounds__(FACTOR_BLOCK) eliminate(const sd_pattern_factors f)
{
    constexpr int rows = WARP / lanes;
    const int64_t warps = static_cast<int64_t>(gridDim.x) * (FACTOR_BLOCK / WARP),
                  pieces = (static_cast<int64_t>(f.n) + rows - 1) / rows;
    for (int64_t p = blockIdx.x + threadIdx.x / WARP * gridDim.x; p < pieces; p += warps) {
        const int64_t rank = p * rows + threadIdx.x % WARP / lanes;
        int32_t i = f.n;
        if (rank < f.n) i = f.order ? f.order[rank] : static_cast<int32_t>(rank);
        make_rows<lanes>(f, i);
    }
}

template <int lanes> void launch_lanes(sd_engine *e, const sd_pattern_factors *f)
{
    constexpr int rows = FACTOR_BLOCK / lanes;
    const char *const what = "incomplete factors";
    const int64_t wanted = (static_cast<int64_t>(f->n) + rows - 1) / rows,
                  most = blocks_at_once(e, what, eliminate<lanes>, FACTOR_BLOCK);
    if (!e->status)
        launch_together(e, what, eliminate<lanes>, static_cast<int>(wanted < most ? wanted : most),
                        FACTOR_BLOCK, 0, *f);
}

} /* namespace */

void launch_elimination(sd_engine *e, const sd_pattern_factors *f)
{
    const char *const what = "incomplete factors";
    const state *s = state_of(e);
    const on_device current(s->device);
    if (e->status || f->n == 0 || failed(e, current.error, what)) return;
    const struct {
        double *at;
        int64_t count;
    } all[] = {{f->lower.val, f->lower.entries},
               {f->upper.val, f->symmetric ? 0 : f->upper.entries},
               {f->diagonal, f->n}};
    for (const auto &x : all)
        if (x.count > 0 &&
            failed(e,
                   cudaMemsetAsync(x.at, MISSING, static_cast<size_t>(x.count) * sizeof(double), s->stream),
                   what))
            return;
    switch (lanes_of_row(f)) {
    case 1: launch_lanes<1>(e, f); break;
    case 2: launch_lanes<2>(e, f); break;
    case 4: launch_lanes<4>(e, f); break;
    case 8: launch_lanes<8>(e, f); break;
    case 16: launch_lanes<16>(e, f); break;
    default: launch_lanes<32>(e, f); break;
    }
}

} /* namespace sd_cuda */
