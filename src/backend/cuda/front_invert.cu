/*
 * The inverses of the squares on the diagonal of L, SQUARE columns each, so that a triangular solve is a
 * product. Number (i, j) of one, i > j, stands at (j, i) of the panel, above the diagonal, where nothing else
 * is kept.
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

} /* namespace */

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
