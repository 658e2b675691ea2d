/*
 * The inverses of the squares on the diagonal of L, SQUARE columns each, so that a triangular solve is a
 * product; and from these the inverse of the whole triangle of a front. Number (i, j) of one, i > j, stands
 * at (j, i) of the panel, above the diagonal, where nothing else is kept.
 *
 * Whole triangles are inverted level by level: of two halves whose inverses are there, (L1 0; M L2)^-1 has
 * -L2^-1 M L1^-1 in its corner. Its transpose is made in its place, first L1^-T M', all tiles at once, then
 * that times -L2^-T, strip by strip of rows, a strip's tiles from the last on, which need those before them
 * as they were.
 */
#include "backend/cuda/front_solve.cuh"

namespace sd_cuda
{
namespace
{

constexpr int PITCH = SQUARE + 1;

/* Row by row in place: row i of the inverse is less the product of row i of L with the rows before it. */
template <class real> __device__ void invert_square(const front_state<real> &s, int base, real *square)
{
    const int width = min(SQUARE, s.eliminated - base), c = thread_index();
    real *a = s.panel + base + static_cast<int64_t>(base) * s.ld;
    for (int j = 0; j < width; ++j)
        if (c < width) square[c * PITCH + j] = c > j ? a[c + static_cast<int64_t>(j) * s.ld] : 0;
    __syncthreads();
    for (int i = 1; i < width; ++i) {
        real sum = c < i ? square[i * PITCH + c] : 0;
        for (int j = 1; j < i; ++j) sum += square[i * PITCH + j] * square[j * PITCH + c];
        __syncthreads();
        if (c < i) {
            square[i * PITCH + c] = -sum;
            a[c + static_cast<int64_t>(i) * s.ld] = -sum;
        }
        __syncthreads();
    }
}

/* The fronts of all chains, a block each, then the pieces of the others. */
template <class real> __global__ void __launch_bounds__(SQUARE) invert_all(forest<real> w, solve_tasks tasks)
{
    __shared__ real square[SQUARE * PITCH];
    const int k = static_cast<int>(blockIdx.x) - tasks.listed;
    if (is_stopped(w)) return; /* there are no factors */
    if (k < 0) {
        const front_state<real> s = w.front[tasks.front[blockIdx.x]];
        for (int base = 0; base < s.eliminated; base += SQUARE) invert_square(s, base, square);
    } else if (tasks.task[k].front >= 0) {
        const front_state<real> s = w.front[tasks.task[k].front];
        const int step = tasks.task[k].pieces * SQUARE;
        for (int base = tasks.task[k].piece * SQUARE; base < s.eliminated; base += step)
            invert_square(s, base, square);
    }
}

template <class real> __global__ void __launch_bounds__(SQUARE) invert_one(forest<real> w, int32_t f)
{
    __shared__ real square[SQUARE * PITCH];
    const front_state<real> s = w.front[f];
    const int step = static_cast<int>(gridDim.x) * SQUARE;
    for (int base = static_cast<int>(blockIdx.x) * SQUARE; base < s.eliminated; base += step)
        invert_square(s, base, square);
}

/* Fronts of a list, some blocks each. */
template <class real>
__global__ void __launch_bounds__(SQUARE) invert_listed(forest<real> w, const int32_t *front, int pieces)
{
    __shared__ real square[SQUARE * PITCH];
    const int k = static_cast<int>(blockIdx.x);
    if (is_stopped(w)) return;
    const front_state<real> s = w.front[front[k / pieces]];
    for (int base = k % pieces * SQUARE; base < s.eliminated; base += pieces * SQUARE)
        invert_square(s, base, square);
}

/* ---- whole triangles ---- */

constexpr int TILE_THREADS = 256, DEPTH = 16, TILE_PITCH = SQUARE + 4; /* reads without conflicts */

template <class real> struct tile_room {
    real a[2][DEPTH][TILE_PITCH], b[2][DEPTH][TILE_PITCH];
};

/* Sums of a thread in a tile: row 8 warp + g, columns 8 n + 2 t + p, g = lane / 4, t = lane % 4. */
__device__ inline int tile_row()
{
    return thread_index() / WARP * 8 + thread_index() % WARP / 4;
}
__device__ inline int tile_column(int k)
{
    return k / 2 * 8 + 2 * (thread_index() % 4) + k % 2;
}

__device__ inline void multiply_step(const tile_room<double> &room, int stage, double (&sum)[SQUARE / 4])
{
    const int g = thread_index() % WARP / 4, t = thread_index() % 4;
#pragma unroll
    for (int k = 0; k < DEPTH; k += 4) {
        const double a = room.a[stage][k + t][tile_row()];
#pragma unroll
        for (int n = 0; n < SQUARE / 8; ++n) {
            double two[2] = {sum[2 * n], sum[2 * n + 1]};
            mma_8x8x4(two, a, room.b[stage][k + t][8 * n + g]);
            sum[2 * n] = two[0];
            sum[2 * n + 1] = two[1];
        }
    }
}
__device__ inline void multiply_step(const tile_room<float> &room, int stage, float (&sum)[SQUARE / 4])
{
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
        const float a = room.a[stage][k][tile_row()];
#pragma unroll
        for (int n = 0; n < SQUARE / 4; ++n) sum[n] = fmaf(a, room.b[stage][k][tile_column(n)], sum[n]);
    }
}

/* sum = A B' for SQUARE rows of either, a(i, k) and b(j, k) being their entries, k < depth. The threads of
 * the block are together before and after it. */
template <class real, class A, class B>
__device__ void multiply_square(tile_room<real> &room, int depth, const A &a, const B &b,
                                real (&sum)[SQUARE / 4])
{
    constexpr int EACH = SQUARE * DEPTH / TILE_THREADS;
    real left[EACH], right[EACH];
    const auto load = [&](int first) {
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const int at = thread_index() + e * TILE_THREADS, k = first + at / SQUARE;
            left[e] = k < depth ? a(at % SQUARE, k) : 0;
            right[e] = k < depth ? b(at % SQUARE, k) : 0;
        }
    };
    const auto store = [&](int stage) {
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const int at = thread_index() + e * TILE_THREADS;
            room.a[stage][at / SQUARE][at % SQUARE] = left[e];
            room.b[stage][at / SQUARE][at % SQUARE] = right[e];
        }
    };
#pragma unroll
    for (int k = 0; k < SQUARE / 4; ++k) sum[k] = 0;
    load(0);
    store(0);
    __syncthreads();
    for (int first = 0, stage = 0; first < depth; first += DEPTH, stage ^= 1) {
        load(first + DEPTH);
        multiply_step(room, stage, sum);
        store(stage ^ 1);
        __syncthreads();
    }
}

/* Number (i, j) of an inverse's transpose: of a unit triangle. */
template <class real> __device__ inline real inverse_at(const front_state<real> &s, int i, int j)
{
    return i > j || j >= s.eliminated ? 0 : i == j ? 1 : s.panel[i + static_cast<int64_t>(j) * s.ld];
}

/* The tile of rows `row` and on and columns `column` and on, above the diagonal, becomes the sums times a
 * sign. */
template <class real>
__device__ void put_tile(const front_state<real> &s, int row, int column, real sign,
                         const real (&sum)[SQUARE / 4])
{
#pragma unroll
    for (int k = 0; k < SQUARE / 4; ++k) {
        const int64_t j = column + tile_column(k);
        if (j < s.eliminated) s.panel[row + tile_row() + j * s.ld] = sign * sum[k];
    }
}

/* L1^-T M' of one tile; `middle` is where the second half begins. */
template <class real>
__device__ void multiply_first(tile_room<real> &room, const front_state<real> &s, int row, int column,
                               int middle)
{
    real sum[SQUARE / 4];
    multiply_square(
        room, middle - row, [&](int i, int k) { return inverse_at(s, row + i, row + k); },
        [&](int j, int k) -> real {
            return column + j < s.eliminated ? s.panel[column + j + static_cast<int64_t>(row + k) * s.ld] : 0;
        },
        sum);
    put_tile(s, row, column, real(1), sum);
}

/* A strip of it times -L2^-T, columns below `end`. */
template <class real>
__device__ void multiply_second(tile_room<real> &room, const front_state<real> &s, int row, int middle,
                                int end)
{
    for (int column = (end - 1) / SQUARE * SQUARE; column >= middle; column -= SQUARE) {
        real sum[SQUARE / 4];
        multiply_square(
            room, min(end, column + SQUARE) - middle,
            [&](int i, int k) { return s.panel[row + i + static_cast<int64_t>(middle + k) * s.ld]; },
            [&](int j, int k) { return inverse_at(s, middle + k, column + j); }, sum);
        put_tile(s, row, column, real(-1), sum);
        __syncthreads();
    }
}

/* One of the two steps on a level, whose halves have `half` squares, by one of so many blocks. */
template <class real>
__device__ void join_halves(tile_room<real> &room, const front_state<real> &s, int half, bool first,
                            int block, int blocks)
{
    const int squares = (s.eliminated + SQUARE - 1) / SQUARE, each = first ? half * half : half;
    for (int k = block; k / each * 2 * half + half < squares; k += blocks) {
        const int begin = k / each * 2 * half, middle = begin + half, end = min(squares, middle + half);
        const int row = begin + k % half, column = middle + k % each / half;
        if (!first)
            multiply_second(room, s, row * SQUARE, middle * SQUARE, min(s.eliminated, end * SQUARE));
        else if (column < end)
            multiply_first(room, s, row * SQUARE, column * SQUARE, middle * SQUARE);
        __syncthreads();
    }
}

template <class real>
__global__ void __launch_bounds__(TILE_THREADS)
    join_all(forest<real> w, solve_tasks tasks, int half, bool first)
{
    __shared__ tile_room<real> room;
    const int k = static_cast<int>(blockIdx.x) - tasks.listed;
    if (k < 0)
        join_halves(room, w.front[tasks.front[blockIdx.x]], half, first, 0, 1);
    else if (tasks.task[k].front >= 0)
        join_halves(room, w.front[tasks.task[k].front], half, first, tasks.task[k].piece,
                    tasks.task[k].pieces);
}

template <class real>
__global__ void __launch_bounds__(TILE_THREADS) join_one(forest<real> w, int32_t f, int half, bool first)
{
    __shared__ tile_room<real> room;
    join_halves(room, w.front[f], half, first, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
}

/* One of the steps on fronts of a list, some blocks each; or all of them on small fronts, a block each. */
template <class real>
__global__ void __launch_bounds__(TILE_THREADS)
    join_listed(forest<real> w, const int32_t *front, int pieces, int half, bool first)
{
    __shared__ tile_room<real> room;
    const int k = static_cast<int>(blockIdx.x);
    if (is_stopped(w)) return;
    join_halves(room, w.front[front[k / pieces]], half, first, k % pieces, pieces);
}
template <class real>
__global__ void __launch_bounds__(TILE_THREADS) join_alone(forest<real> w, const int32_t *front)
{
    __shared__ tile_room<real> room;
    if (is_stopped(w)) return;
    const front_state<real> s = w.front[front[blockIdx.x]];
    for (int half = 1; half * SQUARE < s.eliminated; half *= 2) {
        join_halves(room, s, half, true, 0, 1);
        join_halves(room, s, half, false, 0, 1);
    }
}

} /* namespace */

/* Delays may have made any front as large as the matrix: where it has not, there is nothing to do. */
template <class real>
void invert_some(sd_engine *e, const run_memory<real> *m, front_list small, front_list large)
{
    constexpr int MOST_PIECES = 64;
    const char *what = "inverses for solves";
    const int64_t processors = state_of(e)->processors;
    if (m->presolve == SD_PRESOLVE_OFF) return;
    const int64_t share = 4 * processors / (large.count > 0 ? large.count : 1);
    const int pieces = static_cast<int>(share < 1 ? 1 : share > MOST_PIECES ? MOST_PIECES : share);
    launch_with(e, what, invert_listed<real>, small.count, SQUARE, m->w, small.front, 1);
    launch_with(e, what, invert_listed<real>, large.count * pieces, SQUARE, m->w, large.front, pieces);
    if (m->presolve != SD_PRESOLVE_WHOLE) return;
    launch_with(e, what, join_alone<real>, small.count, TILE_THREADS, m->w, small.front);
    for (int half = 1; int64_t{half} * SQUARE < m->w.n; half *= 2)
        for (int step = 0; step < 2; ++step)
            launch_with(e, what, join_listed<real>, large.count * pieces, TILE_THREADS, m->w, large.front,
                        pieces, half, step == 0);
}
template void invert_some<double>(sd_engine *, const run_memory<double> *, front_list, front_list);
template void invert_some<float>(sd_engine *, const run_memory<float> *, front_list, front_list);

template <class real>
void invert_triangles(sd_engine *e, const run_memory<real> *m, int64_t largest, int32_t front)
{
    const char *what = "inverses of triangles";
    for (int half = 1; int64_t{half} * SQUARE < largest; half *= 2)
        for (int step = 0; step < 2; ++step)
            if (front >= 0)
                launch_with(e, what, join_one<real>, state_of(e)->processors, TILE_THREADS, m->w, front, half,
                            step == 0);
            else
                launch_with(e, what, join_all<real>, m->tasks.listed + int64_t{m->tasks.count}, TILE_THREADS,
                            m->w, m->tasks, half, step == 0);
}
template void invert_triangles<double>(sd_engine *, const run_memory<double> *, int64_t, int32_t);
template void invert_triangles<float>(sd_engine *, const run_memory<float> *, int64_t, int32_t);

template <class real> void invert_squares(sd_engine *e, const run_memory<real> *m, int32_t front)
{
    if (front >= 0)
        launch_with(e, "inverses on the diagonal", invert_one<real>, state_of(e)->processors, SQUARE, m->w,
                    front);
    else
        launch_with(e, "inverses on the diagonal", invert_all<real>,
                    m->tasks.listed + int64_t{m->tasks.count}, SQUARE, m->w, m->tasks);
}

template void invert_squares<double>(sd_engine *, const run_memory<double> *, int32_t);
template void invert_squares<float>(sd_engine *, const run_memory<float> *, int32_t);

} /* namespace sd_cuda */
