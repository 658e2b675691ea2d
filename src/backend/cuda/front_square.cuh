/*
 * The diagonal square of a large front, up to 64 columns, by one block of threads in shared memory, and the
 * rows below it, by a thread each:
 *
 *     P' X P = L11 D L11',    W = A21 P L11^-T,    L21 = W D^-1,
 *
 * as front_tile.cuh does it for 32 columns. Within the square tiles are factored one after the other, checked
 * against its own rows, and what fails goes to its end: those columns are no pivots of this square. So a step
 * over all blocks of a launch takes 64 columns instead of 32, at half of the barriers.
 *
 * L11 lies where W of the square's own rows would be.
 */
#pragma once

#include "backend/cuda/front_block.cuh"

namespace sd_cuda
{

constexpr int SQUARE_ROWS = 2 * TILE;
constexpr int SQUARE_WORDS = SQUARE_ROWS / 32;

/* A square that was factored, but for L11, in the order of pivots: column k is column order[k] of X; after
 * the pivots come the columns that are none. */
template <class real> struct alignas(16) front_square {
    real d[2 * SQUARE_ROWS], inverse[2 * SQUARE_ROWS]; /* as in front.h, 0 behind the pivots */
    int order[SQUARE_ROWS];
    int width, count, perturbed;
    int moved;                      /* whether a column is not where it was */
    unsigned failed[SQUARE_WORDS];  /* columns whose L is somewhere above the bound */
    unsigned nonzero[SQUARE_WORDS]; /* columns that are no pivots and not zero */
};

/* It with L11, in shared memory: column s of L11 is lower[s][c], 0 for c <= s and for s >= count. */
template <class real> struct square_view {
    front_square<real> head;
    real lower[SQUARE_ROWS][SQUARE_ROWS];
};

/* What a block needs to factor one. */
template <class real> struct square_room {
    front_room<real> block;
    real a[SQUARE_ROWS * (SQUARE_ROWS + 1)], d[2 * SQUARE_ROWS];
    int32_t order[SQUARE_ROWS];
    int8_t signs[SQUARE_ROWS];
};

__device__ inline void copy_words(void *to, const void *from, int bytes, int rank, int size)
{
    for (int i = rank; i < bytes / 4; i += size)
        static_cast<int *>(to)[i] = static_cast<const int *>(from)[i];
}

/* ---- the square ---- */

template <class real>
__device__ void load_square(square_room<real> *room, const real *a, int64_t ld, int width)
{
    constexpr int EACH = 16;
    for (int from = thread_index(); from < SQUARE_ROWS * SQUARE_ROWS; from += EACH * threads_here()) {
        real x[EACH];
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int at = from + k * threads_here(), i = at % SQUARE_ROWS, j = at / SQUARE_ROWS;
            x[k] = i >= j && i < width && at < SQUARE_ROWS * SQUARE_ROWS ? a[i + j * ld] : 0;
        }
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int at = from + k * threads_here();
            if (at < SQUARE_ROWS * SQUARE_ROWS)
                room->a[at % SQUARE_ROWS + at / SQUARE_ROWS * (SQUARE_ROWS + 1)] = x[k];
        }
    }
}

/* D of the pivots, and its inverse. */
template <class real>
__device__ inline void write_d(const square_room<real> *room, front_square<real> *to, int c, int count)
{
    const real *d = room->d;
    const real a = c < count ? d[2 * c] : 0, b = c < count ? d[2 * c + 1] : 0;
    const bool second = c > 0 && c < count && d[2 * c - 1] != 0;
    real in[3] = {};
    if (b != 0)
        invert_two(a, b, d[2 * c + 2], in);
    else if (second)
        invert_two(d[2 * c - 2], d[2 * c - 1], a, in);
    to->d[2 * c] = a;
    to->d[2 * c + 1] = b;
    to->inverse[2 * c] = second ? in[2] : b != 0 ? in[0] : a != 0 ? reciprocal(a) : 0;
    to->inverse[2 * c + 1] = second ? 0 : in[1];
}

/* What was found goes to global memory; L11 to w, of leading dimension ld. */
template <class real>
__device__ void write_square(square_room<real> *room, front_square<real> *to, int width, int count,
                             real small, real *w, int64_t ld)
{
    const int thread = thread_index();
    int moved = 0;
    if (thread < SQUARE_WORDS) to->failed[thread] = to->nonzero[thread] = 0;
    if (thread < SQUARE_ROWS) {
        write_d(room, to, thread, count);
        to->order[thread] = thread < width ? room->order[thread] : thread;
        moved = thread < width && room->order[thread] != thread;
    }
    moved = __syncthreads_or(moved);
    for (int at = thread; at < SQUARE_ROWS * SQUARE_ROWS; at += threads_here()) {
        const int i = at % SQUARE_ROWS, s = at / SQUARE_ROWS;
        if (i <= s && !(i == s && s >= count)) continue;
        const real x = room->a[i + s * (SQUARE_ROWS + 1)];
        if (i < width && s < count) w[i + s * ld] = x;
        if (i < width && s >= count && !(fabs(x) <= small)) {
            atomicOr(&to->nonzero[s / 32], 1u << s % 32);
            atomicOr(&to->nonzero[i / 32], 1u << i % 32);
        }
    }
    if (thread > 0) return;
    to->width = width;
    to->count = count;
    to->perturbed = room->block.perturbed;
    to->moved = moved;
}

/* Factors the square of `width` columns whose lower triangle begins at a. */
template <class real>
__device__ void factor_square(square_room<real> *room, front_square<real> *to, const real *a, int64_t ld,
                              int width, front_rule rule, const int32_t *variable, real *w)
{
    load_square(room, a, ld, width);
    if (thread_index() < width) {
        room->order[thread_index()] = thread_index();
        if (rule.signs) room->signs[thread_index()] = rule.signs[variable[thread_index()]];
    }
    if (thread_index() == 0) room->block.perturbed = 0;
    __syncthreads();
    if (rule.signs) rule.signs = room->signs; /* of the square's columns by their numbers there */
    block_front<real> f = {room->a, SQUARE_ROWS + 1, room->d, room->order, width, width, 0};
    for (int last = width; f.e < last;) {
        const int wide = min(TILE, last - f.e), k = take_tile(f, &room->block, rule, last, false);
        if (k < wide && rule.rule != SD_PIVOT_THRESHOLD) break;
        if (k < wide) put_last(f, wide - k, last);
        last -= wide - k;
    }
    write_square(room, to, width, f.e, static_cast<real>(rule.small), w, ld);
}

/* A tile that a warp has factored, as a square; by a warp. */
template <class real>
__device__ void write_tile(const front_tile<real> *t, front_square<real> *to, real *w, int64_t ld)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    for (int c = lane; c < 2 * SQUARE_ROWS; c += WARP) {
        to->d[c] = c < 2 * TILE ? t->d[c] : 0;
        to->inverse[c] = c < 2 * TILE ? t->inverse[c] : 0;
    }
    for (int c = lane; c < SQUARE_ROWS; c += WARP) to->order[c] = c < t->width ? t->order[c] : c;
    const bool moved = lane < t->width && t->order[lane] != lane;
    const int any = __ballot_sync(ALL_LANES, moved) != 0;
#pragma unroll 8
    for (int s = 0; s < TILE; ++s)
        if (s < t->count && lane > s && lane < t->width) w[lane + s * ld] = t->lower[s][lane];
    if (lane > 0) return;
    to->width = t->width;
    to->count = t->count;
    to->perturbed = t->perturbed;
    to->moved = any;
    for (int k = 0; k < SQUARE_WORDS; ++k) to->failed[k] = to->nonzero[k] = 0;
    to->nonzero[0] = t->nonzero;
}

/* The square with L11, to shared memory. */
template <class real>
__device__ void view_square(square_view<real> *to, const front_square<real> *from, const real *w, int64_t ld)
{
    copy_words(&to->head, from, static_cast<int>(sizeof *from), thread_index(), threads_here());
    const int width = from->width, count = from->count, most = width <= TILE ? TILE : SQUARE_ROWS;
#pragma unroll 4
    for (int at = thread_index(); at < SQUARE_ROWS * most; at += threads_here()) {
        const int c = at % SQUARE_ROWS, s = at / SQUARE_ROWS;
        to->lower[s][c] = c > s && s < count && c < width ? w[c + s * ld] : 0;
    }
}

/* ---- rows below ---- */

/* N numbers of a row: 32 where the square has no more columns, else 64. */
template <int N, class real>
__device__ inline void load_row(const square_view<real> &t, const real *row, int64_t ld, real (&w)[N])
{
#pragma unroll
    for (int c = 0; c < N; ++c) w[c] = c < t.head.width ? row[t.head.order[c] * ld] : 0;
}

/* By the first k pivots. */
template <int N, class real> __device__ inline void solve_row(const square_view<real> &t, real (&w)[N])
{
#pragma unroll
    for (int s = 0; s < N - 1; ++s)
#pragma unroll
        for (int c = s + 1; c < N; ++c) w[c] = fma(-w[s], t.lower[s][c], w[c]);
}

/* L of a row, entry c of it. */
template <int N, class real>
__device__ inline real scale_entry(const front_square<real> &t, const real (&w)[N], int c)
{
    real l = w[c] * t.inverse[2 * c];
    const real after = t.inverse[2 * c + 1], before = c > 0 ? t.inverse[2 * c - 1] : 0;
    if (after != 0 && c + 1 < N) l = fma(w[c + 1 < N ? c + 1 : c], after, l);
    if (before != 0) l = fma(w[c > 0 ? c - 1 : 0], before, l);
    return l;
}

/* Columns of a row that break the bound, and those behind the pivots that are not zero. */
struct square_marks {
    unsigned failed[SQUARE_WORDS], nonzero[SQUARE_WORDS];
};
template <int N, class real>
__device__ inline void check_row(const front_square<real> &t, const real (&w)[N], real bound, real small,
                                 square_marks &m)
{
#pragma unroll
    for (int c = 0; c < N; ++c) {
        if (c < t.count && !(fabs(scale_entry(t, w, c)) <= bound)) m.failed[c / 32] |= 1u << c % 32;
        if (c >= t.count && !(fabs(w[c]) <= small)) m.nonzero[c / 32] |= 1u << c % 32;
    }
}

/* How many columns of the square are accepted, the zero pivots behind the others among them: never half of a
 * 2x2. */
template <class real> __device__ inline int count_accepted(const front_square<real> &t, bool checked)
{
    const int count = t.count;
    int k = count;
    if (!checked) return k;
    for (int i = SQUARE_WORDS - 1; i >= 0; --i)
        if (t.failed[i]) k = min(count, 32 * i + __ffs(static_cast<int>(t.failed[i])) - 1);
    if (k > 0 && t.d[2 * k - 1] != 0) --k;
    while (k >= count && k < t.width && !(t.nonzero[k / 32] >> k % 32 & 1)) ++k;
    return k;
}

/* W of a row, and what is to be known of it. */
template <int N, class real>
__device__ inline void solve_below(const square_view<real> &t, const real *row, real *to, int64_t ld,
                                   bool checked, real bound, real small, square_marks &m)
{
    real w[N];
    load_row(t, row, ld, w);
    solve_row(t, w);
    if (checked) check_row(t.head, w, bound, small, m);
#pragma unroll
    for (int c = 0; c < N; ++c)
        if (c < t.head.count) to[c * ld] = w[c];
}

/* A row once all columns of the square are accepted: L, from W. */
template <int N, class real>
__device__ inline void accept_below(const front_square<real> &t, const real *from, real *row, int64_t ld)
{
    real w[N];
#pragma unroll
    for (int c = 0; c < N; ++c) w[c] = c < t.count ? from[c * ld] : 0;
#pragma unroll
    for (int c = 0; c < N; ++c)
        if (c < t.width) row[c * ld] = c < t.count ? scale_entry(t, w, c) : 0;
}

/* The same where k are accepted and others not: by the pivots among them alone, from the beginning. Seldom.
 */
template <int N, class real>
__device__ __noinline__ void rewrite_below(const square_view<real> &t, int k, real *row, int64_t ld)
{
    real w[N];
    load_row(t, row, ld, w);
#pragma unroll
    for (int s = 0; s < N - 1; ++s)
        if (s < k)
#pragma unroll
            for (int c = s + 1; c < N; ++c) w[c] = fma(-w[s], t.lower[s][c], w[c]);
#pragma unroll
    for (int c = 0; c < N; ++c)
        if (c < t.head.width) row[c * ld] = c >= k ? w[c] : c < t.head.count ? scale_entry(t.head, w, c) : 0;
}

/* The rows of the square in a column of L, in the order of its pivots. */
template <int N, class real> __device__ inline void order_column(const front_square<real> &t, real *a)
{
    real x[N];
#pragma unroll
    for (int c = 0; c < N; ++c) x[c] = c < t.width ? a[t.order[c]] : 0;
#pragma unroll
    for (int c = 0; c < N; ++c)
        if (c < t.width) a[c] = x[c];
}

/* The square itself, in the order of its pivots: L of those k that are accepted, and what they leave. `work`
 * has room for it. */
template <class real>
__device__ void accept_square(const square_view<real> &t, int k, real *a, int64_t ld,
                              real (*work)[SQUARE_ROWS])
{
    for (int at = thread_index(); at < SQUARE_ROWS * SQUARE_ROWS; at += threads_here()) {
        const int i = at % SQUARE_ROWS, j = at / SQUARE_ROWS;
        if (i < j || i >= t.head.width) continue;
        real x = i == j ? t.head.d[2 * j] : t.lower[j][i];
        if (j >= k) {
            const int p = max(t.head.order[i], t.head.order[j]), q = min(t.head.order[i], t.head.order[j]);
            const int pivots = min(k, t.head.count);
            x = a[p + q * ld];
            for (int s = 0; s < pivots; ++s) {
                real w = t.head.d[2 * s] * t.lower[s][j];
                if (t.head.d[2 * s + 1] != 0) w = fma(t.head.d[2 * s + 1], t.lower[s + 1][j], w);
                if (s > 0 && t.head.d[2 * s - 1] != 0) w = fma(t.head.d[2 * s - 1], t.lower[s - 1][j], w);
                x = fma(-t.lower[s][i], w, x);
            }
        }
        work[j][i] = x;
    }
    __syncthreads();
    for (int at = thread_index(); at < SQUARE_ROWS * SQUARE_ROWS; at += threads_here()) {
        const int i = at % SQUARE_ROWS, j = at / SQUARE_ROWS;
        if (i >= j && i < t.head.width) a[i + j * ld] = work[j][i];
    }
}

} /* namespace sd_cuda */
