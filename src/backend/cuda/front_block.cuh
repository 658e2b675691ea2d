/*
 * A front factored by one block of threads, in shared memory or where it lies.
 *
 * Tiles of 32 columns are factored by the first warp and checked against the rows below, a thread each
 * (front_tile.cuh). Columns that fail go to the end and are tried again as long as that takes a fair part of
 * them; then pivots are looked for in whole columns, and in a root, where nothing can be left, anywhere. All
 * of it as on the CPU: src/backend/cpu/front_factor.inc, front_sequential.inc.
 *
 * All threads of the block call these functions, with the same arguments.
 */
#pragma once

#include "backend/cuda/front_tile.cuh"

namespace sd_cuda
{

constexpr int FRONT_WARPS = 8; /* at most */

/* What a block shares. */
template <class real> struct front_room {
    front_tile<real> tile;
    tile_room<real> warp;
    real square[TILE][TILE]; /* of the tile, while it is put into the order of its pivots */
    struct {
        real size;
        int at;
    } found[FRONT_WARPS];
    int perturbed;
};

/* A front at work. Pointers may be to shared or to global memory. */
template <class real> struct block_front {
    real *a; /* panel */
    int64_t ld;
    real *d;
    int32_t *variable;
    int m, n; /* rows and columns */
    int e;    /* eliminated */
};

__device__ inline int thread_index()
{
    return static_cast<int>(threadIdx.x);
}
__device__ inline int threads_here()
{
    return static_cast<int>(blockDim.x);
}

template <class T> __device__ inline void swap_numbers(T &x, T &y)
{
    const T z = x;
    x = y;
    y = z;
}

/* Rows and columns p < q change places, in all columns of L too. */
template <class real> __device__ void exchange_columns(const block_front<real> &f, int p, int q)
{
    const int64_t ld = f.ld;
    for (int i = thread_index(); i < f.m; i += threads_here()) {
        if (i < p)
            swap_numbers(f.a[p + i * ld], f.a[q + i * ld]);
        else if (i > p && i < q)
            swap_numbers(f.a[i + p * ld], f.a[q + i * ld]);
        else if (i > q)
            swap_numbers(f.a[i + p * ld], f.a[i + q * ld]);
        else if (i == p)
            swap_numbers(f.a[p + p * ld], f.a[q + q * ld]);
        else
            swap_numbers(f.variable[p], f.variable[q]);
    }
    __syncthreads();
}
template <class real> __device__ inline void bring(const block_front<real> &f, int to, int from)
{
    if (to < from) exchange_columns(f, to, from);
}

/* ---- products ---- */

/* W of row j for pivot s, which is not the second of a 2x2: D times L. */
template <class real>
__device__ inline void scale_pair(const real *l, int64_t ld, const real *d, int s, bool two, real (&w)[2])
{
    const real x = l[s * ld], y = two ? l[(s + 1) * ld] : 0;
    w[0] = two ? fma(d[2 * s + 1], y, d[2 * s] * x) : d[2 * s] * x;
    w[1] = two ? fma(d[2 * s + 2], y, d[2 * s + 1] * x) : 0;
}

/* c(i, j) -= sum over pivots [from, to) of L(row + i) D L(row + j)', for i < rows, j < columns, i >= j: a
 * warp takes four columns, a lane up to three rows of them. */
template <class real>
__device__ void subtract_pivots(const block_front<real> &f, int from, int to, int row, int rows, int columns,
                                real *c, int64_t ldc)
{
    constexpr int COLUMNS = 4, ROWS = 3;
    const int lane = thread_index() % WARP, warps = threads_here() / WARP;
    if (from >= to) return;
    for (int j = COLUMNS * (thread_index() / WARP); j < columns; j += COLUMNS * warps) {
        for (int base = j; base < rows; base += ROWS * WARP) {
            real sum[ROWS][COLUMNS] = {};
            for (int s = from; s < to;) {
                const bool two = f.d[2 * s + 1] != 0;
                real x[ROWS][2];
#pragma unroll
                for (int k = 0; k < ROWS; ++k) {
                    const int i = base + lane + k * WARP;
                    x[k][0] = i < rows ? f.a[row + i + s * f.ld] : 0;
                    x[k][1] = two && i < rows ? f.a[row + i + (s + 1) * f.ld] : 0;
                }
#pragma unroll
                for (int b = 0; b < COLUMNS; ++b) {
                    real w[2] = {};
                    if (j + b < columns) scale_pair(f.a + row + j + b, f.ld, f.d, s, two, w);
#pragma unroll
                    for (int k = 0; k < ROWS; ++k) {
                        sum[k][b] = fma(x[k][0], w[0], sum[k][b]);
                        if (two) sum[k][b] = fma(x[k][1], w[1], sum[k][b]);
                    }
                }
                s += two ? 2 : 1;
            }
#pragma unroll
            for (int k = 0; k < ROWS; ++k)
#pragma unroll
                for (int b = 0; b < COLUMNS; ++b) {
                    const int i = base + lane + k * WARP;
                    if (i < rows && j + b < columns && i >= j + b) c[i + (j + b) * ldc] -= sum[k][b];
                }
        }
    }
}

/* ---- tiles ---- */

/* The tile itself, in the order of its pivots: L of those that are accepted, and what they leave. */
template <class real> __device__ void order_square(const block_front<real> &f, front_room<real> *room, int k)
{
    const front_tile<real> &t = room->tile;
    const real *a = f.a + f.e + f.e * f.ld;
    for (int at = thread_index(); at < TILE * TILE; at += threads_here()) {
        const int i = at % TILE, j = at / TILE;
        if (i < j || i >= t.width) continue;
        real x;
        if (j < k) {
            x = i == j ? t.d[2 * j] : t.lower[j][i];
        } else {
            const int p = max(t.order[i], t.order[j]), q = min(t.order[i], t.order[j]);
            x = a[p + q * f.ld];
            const int pivots = min(k, t.count);
            for (int s = 0; s < pivots; ++s) {
                real w = t.d[2 * s] * t.lower[s][j];
                if (t.d[2 * s + 1] != 0) w = fma(t.d[2 * s + 1], t.lower[s + 1][j], w);
                if (s > 0 && t.d[2 * s - 1] != 0) w = fma(t.d[2 * s - 1], t.lower[s - 1][j], w);
                x = fma(-t.lower[s][i], w, x);
            }
        }
        room->square[j][i] = x;
    }
}

template <class real>
__device__ void put_square(const block_front<real> &f, const front_room<real> *room, int k)
{
    const front_tile<real> &t = room->tile;
    for (int at = thread_index(); at < TILE * TILE; at += threads_here()) {
        const int i = at % TILE, j = at / TILE;
        if (i >= j && i < t.width) f.a[f.e + i + (f.e + j) * f.ld] = room->square[j][i];
    }
    for (int c = thread_index(); c < 2 * k; c += threads_here()) f.d[2 * f.e + c] = t.d[c];
}

/* The rows of the tile in the columns of L before it, and its variables, in the order of its pivots. */
template <class real> __device__ void order_rows(const block_front<real> &f, const front_tile<real> &t)
{
    for (int j = thread_index(); j <= f.e; j += threads_here()) {
        if (j < f.e) {
            real *a = f.a + f.e + j * f.ld, x[TILE];
#pragma unroll
            for (int c = 0; c < TILE; ++c) x[c] = c < t.width ? a[t.order[c]] : 0;
#pragma unroll
            for (int c = 0; c < TILE; ++c)
                if (c < t.width) a[c] = x[c];
        } else {
            int32_t v[TILE];
#pragma unroll
            for (int c = 0; c < TILE; ++c) v[c] = c < t.width ? f.variable[f.e + t.order[c]] : 0;
#pragma unroll
            for (int c = 0; c < TILE; ++c)
                if (c < t.width) f.variable[f.e + c] = v[c];
        }
    }
}

/* A row below the tile once k of its columns are accepted, all of its pivots among them: L, and what is left
 * of the others. w is what solve_row made of it. */
template <class real>
__device__ inline void write_row(const front_tile<real> &t, int k, real *row, int64_t ld,
                                 const real (&w)[TILE])
{
#pragma unroll
    for (int c = 0; c < TILE; ++c)
        if (c < t.width) row[c * ld] = c >= k ? w[c] : c < t.count ? scale_entry(&t, w, c) : 0;
}

/* The same from the beginning, and where some pivots failed: then by those that are accepted alone. Seldom,
 * and apart for its registers. */
template <class real>
__device__ __noinline__ void rewrite_row(const front_tile<real> &t, int k, real *row, int64_t ld)
{
    real w[TILE];
    load_row(&t, row, ld, w);
#pragma unroll
    for (int s = 0; s < TILE - 1; ++s)
        if (s < k)
#pragma unroll
            for (int c = s + 1; c < TILE; ++c) w[c] = fma(-w[s], t.lower[s][c], w[c]);
    write_row(t, k, row, ld, w);
}

/* Solves, checks and writes the rows below a tile; how many of its columns are accepted. */
template <class real>
__device__ int take_rows(const block_front<real> &f, front_room<real> *room, const front_rule &rule)
{
    front_tile<real> &t = room->tile;
    const bool checked = rule.rule == SD_PIVOT_THRESHOLD;
    const real bound = static_cast<real>(1 / rule.u), small = static_cast<real>(rule.small);
    const int from = f.e + t.width + thread_index();
    real w[TILE];
    for (int i = from; i < f.m; i += threads_here()) { /* mostly one row, which stays in registers */
        load_row(&t, f.a + i + f.e * f.ld, f.ld, w);
        solve_row(&t, w);
        if (!checked) break;
        const row_marks marks = check_row(&t, w, bound, small);
        if (marks.failed) atomicOr(&t.failed, marks.failed);
        if (marks.nonzero) atomicOr(&t.nonzero, marks.nonzero);
    }
    __syncthreads();
    const int k = count_accepted(&t, checked);
    /* One row a thread, all pivots accepted: it still is in w. */
    const bool at_hand = k >= t.count && f.m - f.e - t.width <= threads_here();
    for (int i = from; i < f.m; i += threads_here()) {
        real *row = f.a + i + f.e * f.ld;
        if (at_hand)
            write_row(t, k, row, f.ld, w);
        else
            rewrite_row(t, k, row, f.ld);
    }
    return k;
}

/* One tile at column e, of columns up to `last` that are untested: how many columns are accepted. The columns
 * that are not are next to them. */
template <class real>
__device__ int take_tile(block_front<real> &f, front_room<real> *room, const front_rule &rule, int last)
{
    const int width = min(TILE, last - f.e);
    if (thread_index() < WARP)
        factor_tile(&room->tile, &room->warp, f.a + f.e + f.e * f.ld, f.ld, width, rule, f.variable + f.e);
    __syncthreads();
    if (thread_index() == 0) room->perturbed += room->tile.perturbed;
    const int k = take_rows(f, room, rule);
    if (thread_index() == 0) count_tile(rule, k, width);
    order_square(f, room, k);
    order_rows(f, room->tile);
    __syncthreads();
    put_square(f, room, k);
    __syncthreads();
    const int next = f.e + width;
    if (next < f.n)
        subtract_pivots(f, f.e, f.e + k, next, f.m - next, f.n - next, f.a + next + next * f.ld, f.ld);
    f.e += k;
    __syncthreads();
    return k;
}

/* Columns of a tile that failed, `failed` of them from e on, change places with the last untested ones. */
template <class real> __device__ inline void put_last(const block_front<real> &f, int failed, int last)
{
    const int moves = min(failed, last - f.e - failed);
    for (int k = 0; k < moves; ++k) exchange_columns(f, f.e + k, last - 1 - k);
}

/* ---- columns one by one ---- */

/* Entry i of column p, as far as it is fully summed in either triangle. */
template <class real> __device__ inline real entry_of(const block_front<real> &f, int i, int p)
{
    return i < p ? f.a[p + i * f.ld] : f.a[i + p * f.ld];
}

/* A size with its place, the largest of all threads; of equals the first. */
template <class real> __device__ void find_largest(front_room<real> *room, real &size, int &at)
{
    const int lane = thread_index() % WARP, warps = threads_here() / WARP;
    for (int step = WARP / 2; step > 0; step /= 2) {
        const real other = __shfl_down_sync(ALL_LANES, size, step);
        const int there = __shfl_down_sync(ALL_LANES, at, step);
        if (other > size || (other == size && there < at)) size = other, at = there;
    }
    __syncthreads();
    if (lane == 0) {
        room->found[thread_index() / WARP].size = size;
        room->found[thread_index() / WARP].at = at;
    }
    __syncthreads();
    size = room->found[0].size;
    at = room->found[0].at;
    for (int k = 1; k < warps; ++k) {
        const real other = room->found[k].size;
        const int there = room->found[k].at;
        if (other > size || (other == size && there < at)) size = other, at = there;
    }
}

/* What is to be known of a column. */
template <class real> struct column_sizes {
    real diagonal, largest; /* the largest of all rows but its own and `without` */
    real beside;            /* the largest in the rows of other columns */
    int at;                 /* where that is */
    bool finite;
};

template <class real>
__device__ column_sizes<real> measure_column(const block_front<real> &f, front_room<real> *room, int p,
                                             int without)
{
    column_sizes<real> s = {entry_of(f, p, p), 0, 0, f.m, true};
    int any = f.m, bad = 0;
    for (int i = f.e + thread_index(); i < f.m; i += threads_here()) {
        if (i == p || i == without) continue;
        const real x = fabs(entry_of(f, i, p));
        if (!is_finite(x)) bad = 1;
        if (x > s.largest) s.largest = x, any = i;
        if (i < f.n && x > s.beside) s.beside = x, s.at = i;
    }
    find_largest(room, s.largest, any);
    find_largest(room, s.beside, s.at);
    s.finite = !__syncthreads_or(bad) && is_finite(s.diagonal);
    return s;
}

/* Column e is a zero pivot. */
template <class real> __device__ void take_zero(block_front<real> &f)
{
    for (int i = f.e + 1 + thread_index(); i < f.m; i += threads_here()) f.a[i + f.e * f.ld] = 0;
    if (thread_index() == 0) {
        f.a[f.e + f.e * f.ld] = 0;
        f.d[2 * f.e] = f.d[2 * f.e + 1] = 0;
    }
    ++f.e;
    __syncthreads();
}

/* Columns e .. e + count - 1, one or two, are a pivot, whatever its size. */
template <class real> __device__ void take_pivot(block_front<real> &f, int count)
{
    const int e = f.e;
    real *x = f.a + e * f.ld, *y = x + f.ld;
    const real a = x[e], b = count == 2 ? x[e + 1] : 0, c = count == 2 ? y[e + 1] : 0;
    real in[3] = {};
    if (count == 2) invert_two(a, b, c, in);
    __syncthreads();
    for (int i = e + count + thread_index(); i < f.m; i += threads_here()) {
        const real p = x[i], q = count == 2 ? y[i] : 0;
        x[i] = count == 2 ? fma(q, in[1], p * in[0]) : p / a;
        if (count == 2) y[i] = fma(q, in[2], p * in[1]);
    }
    if (thread_index() == 0) {
        f.d[2 * e] = a;
        f.d[2 * e + 1] = b;
        if (count == 2) {
            x[e + 1] = 0;
            f.d[2 * e + 2] = c;
            f.d[2 * e + 3] = 0;
        }
    }
    __syncthreads();
    const int next = e + count;
    if (next < f.n) subtract_pivots(f, e, next, next, f.m - next, f.n - next, f.a + next + next * f.ld, f.ld);
    f.e = next;
    __syncthreads();
}

/* Whether columns p and q, measured without each other, make a 2x2 pivot within the bound. */
template <class real>
__device__ inline bool is_stable_pair(const column_sizes<real> &p, const column_sizes<real> &q, real beside,
                                      double u)
{
    constexpr double EPSILON = sizeof(real) == 8 ? DBL_EPSILON : FLT_EPSILON;
    const double a = p.diagonal, b = beside, c = q.diagonal;
    const double scale = fmax(fmax(fabs(a), fabs(c)), fabs(b)), x = a / scale, y = b / scale, z = c / scale;
    const double det = fabs(x * z - y * y);
    if (!(det > 0x1p-7 * fmax(fabs(x * z), y * y))) return false;
    const double bound = (1 - 32 * EPSILON) / u * scale;
    return (fabs(z) * p.largest + fabs(y) * q.largest) / det <= bound &&
           (fabs(y) * p.largest + fabs(x) * q.largest) / det <= bound;
}

/* Tries column p, alone or with another; whether something was eliminated. */
template <class real>
__device__ bool try_column(block_front<real> &f, front_room<real> *room, const front_rule &rule, int p)
{
    constexpr double EPSILON = sizeof(real) == 8 ? DBL_EPSILON : FLT_EPSILON;
    const real small = static_cast<real>(rule.small);
    const column_sizes<real> s = measure_column(f, room, p, p);
    if (!s.finite) return false;
    if (fabs(s.diagonal) <= small && s.largest <= small) {
        bring(f, f.e, p);
        take_zero(f);
        return true;
    }
    if (fabs(s.diagonal) > small && fabs(s.diagonal) >= (1 + 4 * EPSILON) * rule.u * s.largest) {
        bring(f, f.e, p);
        take_pivot(f, 1);
        return true;
    }
    if (!(s.beside > small)) return false;
    const column_sizes<real> a = measure_column(f, room, p, s.at), b = measure_column(f, room, s.at, p);
    if (!b.finite || !is_stable_pair(a, b, entry_of(f, s.at, p), rule.u)) return false;
    const int low = min(p, s.at), high = max(p, s.at);
    __syncthreads();
    bring(f, f.e, low);
    bring(f, f.e + 1, high);
    take_pivot(f, 2);
    return true;
}

/* Goes round the columns until none of them can be taken. */
template <class real>
__device__ void take_columns(block_front<real> &f, front_room<real> *room, const front_rule &rule)
{
    int p = f.e;
    for (int missed = 0; missed < f.n - f.e; ++p) {
        if (p < f.e || p >= f.n) p = f.e;
        missed = try_column(f, room, rule, p) ? 0 : missed + 1;
    }
}

/* The largest finite entry of the columns that are left, in their own rows; or on the diagonal. */
template <class real>
__device__ real find_largest_left(const block_front<real> &f, front_room<real> *room, bool diagonal, int &row,
                                  int &column)
{
    const int left = f.n - f.e;
    real size = 0;
    int at = INT32_MAX;
    for (int64_t k = thread_index(); k < (diagonal ? left : static_cast<int64_t>(left) * left);
         k += threads_here()) {
        const int i = diagonal ? static_cast<int>(k) : static_cast<int>(k % left);
        const int j = diagonal ? i : static_cast<int>(k / left);
        if (i < j) continue;
        const real x = fabs(f.a[f.e + i + (f.e + j) * f.ld]);
        if (x > size && is_finite(x)) size = x, at = static_cast<int>(k);
    }
    find_largest(room, size, at);
    row = f.e + (diagonal ? at : at % left);
    column = f.e + (diagonal ? at : at / left);
    return size;
}

/* A root takes every column: complete pivoting; then zeros, or what is no number, which stays as it is. */
template <class real>
__device__ void finish_root(block_front<real> &f, front_room<real> *room, const front_rule &rule)
{
    const real small = static_cast<real>(rule.small);
    while (f.e < f.n) {
        int r, c, on, same;
        const real largest = find_largest_left(f, room, false, r, c);
        if (!(largest > small)) break;
        const real top = find_largest_left(f, room, true, on, same);
        if (2 * top >= largest) {
            bring(f, f.e, on);
            take_pivot(f, 1);
        } else if (is_finite(f.a[r + r * f.ld]) && is_finite(f.a[c + c * f.ld])) {
            __syncthreads();
            bring(f, f.e, c);
            bring(f, f.e + 1, r);
            take_pivot(f, 2);
        } else {
            break;
        }
    }
    while (f.e < f.n) {
        int bad = 0;
        for (int i = f.e + thread_index(); i < f.n; i += threads_here())
            bad |= !is_finite(f.a[i + f.e * f.ld]);
        if (!__syncthreads_or(bad)) {
            take_zero(f);
            continue;
        }
        if (thread_index() == 0) {
            f.d[2 * f.e] = f.a[f.e + f.e * f.ld];
            f.d[2 * f.e + 1] = 0;
        }
        ++f.e;
    }
    __syncthreads();
}

/* Puts beside every other column of [e, n) the one that its largest entry is with, so that a tile may find
 * 2x2 pivots in it where all its diagonal blocks are zero, as in [0 B; B' 0]. */
template <class real> __device__ void pair_up(const block_front<real> &f, front_room<real> *room)
{
    for (int c = f.e; c + 1 < f.n; c += 2) {
        real size = -1;
        int with = c + 1;
        for (int i = c + 1 + thread_index(); i < f.n; i += threads_here()) {
            const real x = fabs(f.a[i + c * f.ld]);
            if (x > size) size = x, with = i;
        }
        find_largest(room, size, with);
        bring(f, c + 1, with);
    }
}

/* What is to be done with columns that are left after a round over all of them. */
struct rounds {
    int before; /* columns that were eliminated when it began */
    bool paired;
};
constexpr int RETRY_PART = 8; /* a round is worth another if it took one column in so many */
enum round_step { ROUND_DONE, ROUND_AGAIN, ROUND_PAIR, ROUND_COLUMNS };
__device__ inline round_step after_round(rounds &r, int e, int n)
{
    const int fair = (n - r.before + RETRY_PART - 1) / RETRY_PART;
    if (e == n) return ROUND_DONE;
    const bool again = e - r.before >= fair, pair = !again && !r.paired && n - e > 2;
    r.before = e;
    r.paired = pair;
    return again ? ROUND_AGAIN : pair ? ROUND_PAIR : ROUND_COLUMNS;
}

/* Eliminates what can be eliminated. With SD_PIVOT_POSITIVE e < n says where it stopped. */
template <class real>
__device__ void factor_block(block_front<real> &f, front_room<real> *room, const front_rule &rule, bool root)
{
    rounds r = {0, false};
    for (;;) {
        for (int last = f.n; f.e < last;) {
            const int width = min(TILE, last - f.e), k = take_tile(f, room, rule, last);
            if (k < width && rule.rule != SD_PIVOT_THRESHOLD) return;
            if (k < width) put_last(f, width - k, last);
            last -= width - k;
        }
        switch (after_round(r, f.e, f.n)) {
        case ROUND_AGAIN: break;
        case ROUND_PAIR: pair_up(f, room); break;
        case ROUND_COLUMNS:
            take_columns(f, room, rule);
            if (root) finish_root(f, room, rule);
            return;
        default: return;
        }
    }
}

} /* namespace sd_cuda */
