/*
 * The diagonal tile of a front, by one warp, and the rows below it, by a thread each.
 *
 *     P' X P = L11 D L11',    W = A21 P L11^-T,    L21 = W D^-1,
 *
 * as in src/backend/cpu/front_tile.inc: pivots by complete pivoting after Bunch and Parlett with 1/2 instead
 * of their 0.64, so that no entry of L11 is above 2 and all that can fail lies below the tile (Hogg,
 * Ovtchinnikov and Scott, "A sparse symmetric indefinite direct solver for GPU architectures", 3.2, check
 * afterwards in the same way; complete pivoting bounds both columns of a 2x2).
 *
 * Lane i has row i of X in registers, whole, and nothing is moved: the row of a pivot is published in shared
 * memory, where all lanes read it, and `alive` keeps rows and columns that are eliminated out of the search.
 * Sizes are compared by their high words, without their last five bits, in whose place a column's number is:
 * one maximum finds the largest entry of a row and, of equals, the first (batch_lanes.cuh).
 */
#pragma once

#include "backend/cuda/fronts.cuh"

namespace sd_cuda
{

constexpr int TILE = 32;

/* A tile that was factored. L11 and D are in the order of pivots, which is that of `order`: column k is
 * column order[k] of X; after the pivots come the columns that are none. */
template <class real> struct alignas(16) front_tile {
    real lower[TILE][TILE]; /* column s of L11: lower[s][c], 0 for c <= s and for s >= count */
    real d[2 * TILE];       /* as in front.h */
    real inverse[2 * TILE]; /* of D, laid out likewise */
    int order[TILE];
    int width, count, perturbed;
    unsigned failed;  /* columns whose L is somewhere above the bound */
    unsigned nonzero; /* columns that are no pivots and not zero */
};

/* What a warp needs beside it: the rows of a pivot, and those of the next while the former are still read. */
template <class real> struct alignas(16) tile_room {
    real row[2][2][TILE];
};

/* The inverse of (a b; b c), the largest entry divided out first. */
template <class real> __device__ inline void invert_two(real a, real b, real c, real (&in)[3])
{
    const real largest = fmax(fmax(fabs(a), fabs(c)), fabs(b));
    const real p = a / largest, q = b / largest, r = c / largest;
    const real s = 1 / (p * r - q * q) / largest;
    in[0] = r * s;
    in[1] = -q * s;
    in[2] = p * s;
}

/* Subtracts the pivot whose row was published from all rows, l being 0 in those that are gone. */
template <class real> __device__ inline void subtract_row(real (&x)[TILE], real l, const real *row)
{
#pragma unroll
    for (int j = 0; j < TILE; ++j) x[j] = fma(-l, row[j], x[j]);
}

/* The largest entry of a row among columns that are left. Some maxima side by side: one would wait for the
 * other. */
template <class real> __device__ inline unsigned row_key(const real (&x)[TILE], unsigned alive)
{
    constexpr int SOME = 4;
    unsigned key[SOME] = {};
#pragma unroll
    for (int j = 0; j < TILE; ++j)
        key[j % SOME] = max(key[j % SOME], alive >> j & 1 ? indexed_key(x[j], j) : 0u);
    return max(max(key[0], key[1]), max(key[2], key[3]));
}

template <class real> __device__ inline void publish(const real (&x)[TILE], real *row)
{
#pragma unroll
    for (int j = 0; j < TILE; ++j) row[j] = x[j];
}

/* A lane's part of the tile at work. */
template <class real> struct tile_lane {
    real x[TILE];
    real diagonal; /* x[lane], which has no run-time index */
    int lane, count;
    int turn; /* of the two halves of the room */
    unsigned alive;
    unsigned key; /* of the row; found where the row is changed, so that one does not wait for the other */
};

/* The pivot r, of size d; SEARCHED: rows that are left find their largest entries. */
template <bool SEARCHED, class real>
__device__ inline void take_one(tile_lane<real> &t, front_tile<real> *to, tile_room<real> *room, int r,
                                real d)
{
    const int s = t.count++;
    real *row = room->row[t.turn ^= 1][0];
    if (t.lane == r) publish(t.x, row);
    const real inverse = d != 0 ? reciprocal(d) : 0;
    t.alive &= ~(1u << r);
    __syncwarp();
    const real w = row[t.lane], l = t.alive >> t.lane & 1 ? w * inverse : 0;
    subtract_row(t.x, l, row);
    if (SEARCHED) t.key = row_key(t.x, t.alive);
    t.diagonal = fma(-l, w, t.diagonal);
    to->lower[s][t.lane] = l; /* by the rows of X as yet */
    if (t.lane == 0) {
        to->d[2 * s] = d;
        to->d[2 * s + 1] = 0;
        to->inverse[2 * s] = inverse;
        to->inverse[2 * s + 1] = 0;
        to->order[s] = r;
    }
}

template <class real>
__device__ inline void take_two(tile_lane<real> &t, front_tile<real> *to, tile_room<real> *room, int r, int q)
{
    const int s = t.count;
    real(*row)[TILE] = room->row[t.turn ^= 1];
    const real a = broadcast(t.diagonal, r), c = broadcast(t.diagonal, q);
    if (t.lane == r) publish(t.x, row[0]);
    if (t.lane == q) publish(t.x, row[1]);
    t.alive &= ~(1u << r | 1u << q);
    __syncwarp();
    const real b = row[0][q];
    real in[3];
    invert_two(a, b, c, in);
    const bool here = t.alive >> t.lane & 1;
    const real w1 = row[0][t.lane], w2 = row[1][t.lane];
    const real l1 = here ? fma(w2, in[1], w1 * in[0]) : 0, l2 = here ? fma(w2, in[2], w1 * in[1]) : 0;
    subtract_row(t.x, l1, row[0]);
    subtract_row(t.x, l2, row[1]);
    t.key = row_key(t.x, t.alive);
    t.diagonal = fma(-l2, w2, fma(-l1, w1, t.diagonal));
    to->lower[s][t.lane] = l1;
    to->lower[s + 1][t.lane] = l2;
    if (t.lane == 0) {
        const real d[4] = {a, b, c, 0}, inverse[4] = {in[0], in[1], in[2], 0};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            to->d[2 * s + k] = d[k];
            to->inverse[2 * s + k] = inverse[k];
        }
        to->order[s] = r;
        to->order[s + 1] = q;
    }
    t.count = s + 2;
}

/* Complete pivoting until what is left is zero, or no number. */
template <class real>
__device__ inline void choose_pivots(tile_lane<real> &t, front_tile<real> *to, tile_room<real> *room,
                                     real small)
{
    const unsigned least = key_of(small), beyond = key_of(static_cast<real>(INFINITY)) & ~31u;
    constexpr unsigned twice = sizeof(real) == 8 ? 1u << 20 : 1u << 23;
    t.key = row_key(t.x, t.alive);
    while (t.alive) {
        const bool here = t.alive >> t.lane & 1;
        const unsigned own = here ? t.key : 0, on = here ? key_of(t.diagonal) & ~31u : 0;
        const unsigned all = __reduce_max_sync(ALL_LANES, own), top = __reduce_max_sync(ALL_LANES, on);
        if ((all & ~31u) >= beyond && t.lane == 0) to->nonzero = ~0u; /* and no numbers at all */
        if ((all & ~31u) <= least || (all & ~31u) >= beyond) break;
        if (top + twice >= (all & ~31u)) {
            const int r = __ffs(static_cast<int>(__ballot_sync(ALL_LANES, here && on == top))) - 1;
            take_one<true>(t, to, room, r, broadcast(t.diagonal, r));
        } else {
            const int r = __ffs(static_cast<int>(__ballot_sync(ALL_LANES, here && own == all))) - 1;
            const int q = index_of(all);
            take_two(t, to, room, min(r, q), max(r, q));
        }
    }
}

/* Pivots as they come: all of them positive, or replaced where they are not as expected. */
template <class real>
__device__ inline void take_in_order(tile_lane<real> &t, front_tile<real> *to, tile_room<real> *room,
                                     const front_rule &rule, const int32_t *variable)
{
    for (int s = 0; s < to->width; ++s) {
        real d = broadcast(t.diagonal, s);
        if (rule.rule == SD_PIVOT_POSITIVE) {
            if (!(d > 0)) break;
        } else {
            const int expected = rule.signs ? rule.signs[variable[s]] : 0;
            const int sign = expected ? expected : d < 0 ? -1 : 1;
            if (static_cast<double>(d) * sign < rule.regularise) {
                d = static_cast<real>(sign * rule.regularise);
                if (t.lane == 0) ++to->perturbed;
            }
        }
        take_one<false>(t, to, room, s, d);
    }
}

/* L11 in the order of pivots; the columns that are left behind it. */
template <class real> __device__ inline void order_tile(tile_lane<real> &t, front_tile<real> *to)
{
    const int count = t.count;
    if (t.lane == 0) to->count = count;
    if (t.alive >> t.lane & 1) to->order[count + __popc(t.alive & ((1u << t.lane) - 1))] = t.lane;
    __syncwarp();
    const int from = t.lane < to->width ? to->order[t.lane] : 0;
#pragma unroll
    for (int s = 0; s < TILE; ++s)
        t.x[s] = s < count && t.lane > s && t.lane < to->width ? to->lower[s][from] : 0;
    __syncwarp();
#pragma unroll
    for (int s = 0; s < TILE; ++s) to->lower[s][t.lane] = t.x[s];
    if (t.lane >= count) {
        to->d[2 * t.lane] = to->d[2 * t.lane + 1] = 0;
        to->inverse[2 * t.lane] = to->inverse[2 * t.lane + 1] = 0;
    }
    __syncwarp();
}

/* Factors the tile of `width` columns whose lower triangle begins at a; by a whole warp. */
template <class real>
__device__ void factor_tile(front_tile<real> *to, tile_room<real> *room, const real *a, int64_t ld, int width,
                            const front_rule &rule, const int32_t *variable)
{
    tile_lane<real> t;
    t.lane = static_cast<int>(threadIdx.x) % WARP;
    t.count = t.turn = 0;
    t.alive = width == 32 ? ~0u : (1u << width) - 1;
    t.diagonal = t.lane < width ? a[t.lane + t.lane * ld] : 0;
#pragma unroll
    for (int j = 0; j < TILE; ++j) {
        const bool there = t.lane < width && j < width;
        t.x[j] = there ? (j <= t.lane ? a[t.lane + j * ld] : a[j + t.lane * ld]) : 0;
    }
    if (t.lane == 0) {
        to->width = width;
        to->count = to->perturbed = 0;
        to->failed = to->nonzero = 0;
    }
    __syncwarp();
    if (rule.rule == SD_PIVOT_THRESHOLD)
        choose_pivots(t, to, room, static_cast<real>(rule.small));
    else
        take_in_order(t, to, room, rule, variable);
    order_tile(t, to);
}

/* ---- rows below ---- */

/* A row of the tile's columns, in the order of pivots: w becomes W, and behind the pivots what is left. */
template <class real>
__device__ inline void load_row(const front_tile<real> *t, const real *row, int64_t ld, real (&w)[TILE])
{
#pragma unroll
    for (int c = 0; c < TILE; ++c) w[c] = c < t->width ? row[t->order[c] * ld] : 0;
}
template <class real> __device__ inline void solve_row(const front_tile<real> *t, real (&w)[TILE])
{
#pragma unroll
    for (int s = 0; s < TILE - 1; ++s)
#pragma unroll
        for (int c = s + 1; c < TILE; ++c) w[c] = fma(-w[s], t->lower[s][c], w[c]);
}

/* The same by the first k pivots alone, of one column: what column c of the row is after them. */
template <class real>
__device__ inline real after_pivots(const front_tile<real> *t, int k, int c, const real *w, int64_t step,
                                    real x)
{
    for (int s = 0; s < k; ++s) x = fma(-w[s * step], t->lower[s][c], x);
    return x;
}

/* L of a row, entry c of it. */
template <class real>
__device__ inline real scale_entry(const front_tile<real> *t, const real (&w)[TILE], int c)
{
    real l = w[c] * t->inverse[2 * c];
    const real after = t->inverse[2 * c + 1], before = c > 0 ? t->inverse[2 * c - 1] : 0;
    if (after != 0 && c + 1 < TILE) l = fma(w[c + 1 < TILE ? c + 1 : c], after, l);
    if (before != 0) l = fma(w[c > 0 ? c - 1 : 0], before, l);
    return l;
}

/* Columns of a row that break the bound, and those behind the pivots that are not zero. */
struct row_marks {
    unsigned failed, nonzero;
};
template <class real>
__device__ inline row_marks check_row(const front_tile<real> *t, const real (&w)[TILE], real bound,
                                      real small)
{
    row_marks m = {0, 0};
#pragma unroll
    for (int c = 0; c < TILE; ++c) {
        if (c < t->count && !(fabs(scale_entry(t, w, c)) <= bound)) m.failed |= 1u << c;
        if (c >= t->count && !(fabs(w[c]) <= small)) m.nonzero |= 1u << c;
    }
    return m;
}

/* How many columns of the tile are accepted, the zero pivots behind the others among them: never half of a
 * 2x2. Zero pivots are taken from the first column behind the pivots on. */
template <class real> __device__ inline int count_accepted(const front_tile<real> *t, bool checked)
{
    const int count = t->count;
    if (!checked) return count;
    int k = t->failed ? min(count, __ffs(static_cast<int>(t->failed)) - 1) : count;
    if (k > 0 && t->d[2 * k - 1] != 0) --k;
    while (k >= count && k < t->width && !(t->nonzero >> k & 1)) ++k;
    return k;
}

} /* namespace sd_cuda */
