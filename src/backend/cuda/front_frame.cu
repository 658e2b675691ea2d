/*
 * Solves between vectors of the caller's, in a frame (backend/front_run.h): what goes in is scaled, put where
 * the tree has it and brought near 1, column by column; what comes out goes the same way back. As
 * solve/triangular_walk.inc does it on the host.
 */
#include "backend/cuda/front_memory.cuh"

namespace sd_cuda
{
namespace
{

constexpr int TILE = 1024; /* numbers of a block of threads */
constexpr int WIDE = 32;   /* columns of a tile, at most */

/* Rows `from` and on of the frame. */
struct half_frame {
    int64_t count;
    const int32_t *position;
    const double *scale;
};

/* k columns of the caller's, by rows of k numbers at their positions. */
template <class real> struct frame_block {
    int k, width; /* columns, and those of a tile: a power of two */
    real *x;
    unsigned long long *largest; /* of each column, as bits */
};

__device__ inline int far_exponent(unsigned long long bits)
{
    const double largest = __longlong_as_double(static_cast<long long>(bits));
    const int exponent = largest == 0 || isinf(largest) ? 0 : ilogb(largest);
    return abs(exponent) <= SD_FAR_EXPONENT ? 0 : exponent;
}

/* The largest scaled size of each column, of which a block looks at some rows: sizes are ordered as their
 * bits are, and what is not a number does not count. */
__global__ void __launch_bounds__(BLOCK)
    measure_columns(half_frame q, int k, const double *r, int64_t ldr, unsigned long long *largest)
{
    const int c = static_cast<int>(blockIdx.x) % k, parts = static_cast<int>(gridDim.x) / k;
    const double *column = r + c * ldr;
    double most = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) / k * BLOCK + threadIdx.x; i < q.count;
         i += parts * BLOCK) {
        const double size = fabs(q.scale[i] * column[i]);
        most = size > most ? size : most;
    }
    for (int step = WARP / 2; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(ALL_LANES, most, step);
        most = other > most ? other : most;
    }
    if (threadIdx.x % WARP == 0 && most > 0)
        atomicMax(&largest[c], static_cast<unsigned long long>(__double_as_longlong(most)));
}

/* Number e of a tile's columns, and of its rows as they lie in x. */
struct tile_at {
    int row, column;
};
__device__ inline tile_at by_columns(int e, int rows)
{
    return {e % rows, e / rows};
}
__device__ inline tile_at by_rows(int e, int width)
{
    return {e / width, e % width};
}

template <class real>
__global__ void __launch_bounds__(BLOCK)
    take_in(half_frame q, frame_block<real> b, const double *r, int64_t ldr)
{
    __shared__ double tile[TILE + WIDE];
    const int rows = TILE / b.width, tiles = (b.k + b.width - 1) / b.width;
    const int64_t first = static_cast<int64_t>(blockIdx.x) / tiles * rows;
    const int column = static_cast<int>(blockIdx.x) % tiles * b.width;
    for (int e = static_cast<int>(threadIdx.x); e < TILE; e += BLOCK) {
        const tile_at at = by_columns(e, rows);
        const int64_t i = first + at.row;
        if (i < q.count && column + at.column < b.k)
            tile[at.column * (rows + 1) + at.row] = q.scale[i] * r[(column + at.column) * ldr + i];
    }
    __syncthreads();
    for (int e = static_cast<int>(threadIdx.x); e < TILE; e += BLOCK) {
        const tile_at at = by_rows(e, b.width);
        const int c = column + at.column;
        if (first + at.row >= q.count || c >= b.k) continue;
        const int shift = far_exponent(b.largest[c]); /* in two steps: one may lie outside the range */
        const double half = ldexp(1.0, -shift / 2), rest = ldexp(1.0, -shift - -shift / 2);
        b.x[static_cast<int64_t>(q.position[first + at.row]) * b.k + c] =
            static_cast<real>(tile[at.column * (rows + 1) + at.row] * half * rest);
    }
}

template <class real>
__global__ void __launch_bounds__(BLOCK)
    give_out(half_frame q, frame_block<real> b, int exponent, double *z, int64_t ldz)
{
    __shared__ double tile[TILE + WIDE];
    const int rows = TILE / b.width, tiles = (b.k + b.width - 1) / b.width;
    const int64_t first = static_cast<int64_t>(blockIdx.x) / tiles * rows;
    const int column = static_cast<int>(blockIdx.x) % tiles * b.width;
    for (int e = static_cast<int>(threadIdx.x); e < TILE; e += BLOCK) {
        const tile_at at = by_rows(e, b.width);
        const int c = column + at.column;
        if (first + at.row < q.count && c < b.k)
            tile[at.column * (rows + 1) + at.row] =
                b.x[static_cast<int64_t>(q.position[first + at.row]) * b.k + c];
    }
    __syncthreads();
    for (int e = static_cast<int>(threadIdx.x); e < TILE; e += BLOCK) {
        const tile_at at = by_columns(e, rows);
        const int64_t i = first + at.row;
        const int c = column + at.column;
        if (i >= q.count || c >= b.k) continue;
        const int shift = far_exponent(b.largest[c]) - exponent;
        const double half = ldexp(1.0, shift / 2), rest = ldexp(1.0, shift - shift / 2);
        z[c * ldz + i] = q.scale[i] * tile[at.column * (rows + 1) + at.row] * half * rest;
    }
}

template <class real>
void solve_block(sd_engine *e, const run_memory<real> *m, const half_frame &in, const half_frame &out,
                 solve_portion portion, const double *r, int64_t ldr, double *z, int64_t ldz, char *memory)
{
    const state *s = state_of(e);
    const int k = portion.columns;
    const int64_t n = m->w.n, bytes = n * k * static_cast<int64_t>(sizeof(real));
    frame_block<real> b = {k, 1, NULL, reinterpret_cast<unsigned long long *>(memory)};
    while (b.width < k && b.width < WIDE) b.width *= 2;
    b.x = reinterpret_cast<real *>(memory + SOLVE_COLUMNS * sizeof(unsigned long long));
    const int64_t rows = TILE / b.width, tiles = (k + b.width - 1) / b.width;
    const int64_t blocks = (in.count + rows - 1) / rows * tiles;
    const int64_t parts = min(int64_t{1} + in.count / (4 * BLOCK), int64_t{1} + 4 * s->processors / k);
    failed(e, cudaMemsetAsync(b.largest, 0, SOLVE_COLUMNS * sizeof(unsigned long long), s->stream), "solve");
    if (in.count < n) failed(e, cudaMemsetAsync(b.x, 0, static_cast<size_t>(bytes), s->stream), "solve");
    launch(e, "solve", measure_columns, parts * k, in, k, r, ldr, b.largest);
    launch(e, "solve", take_in<real>, blocks, in, b, r, ldr);
    solve_device(e, m, SD_SOLVE_WHOLE, portion, b.x, b.x + n * k);
    launch(e, "solve", give_out<real>, blocks, out, b, m->frame.exponent, z, ldz);
}

template <class real>
saddle_status apply_in(sd_engine *e, run_memory<real> *m, bool turned, int64_t k, const double *r,
                       int64_t ldr, double *z, int64_t ldz)
{
    const sd_solve_frame *q = &m->frame;
    const int from = turned ? q->out : q->in, to = turned ? q->in : q->out;
    const half_frame in = {q->count, q->position + from, q->scale + from};
    const half_frame out = {q->count, q->position + to, q->scale + to};
    if (k <= 0 || m->w.n == 0 || e->status) return e->status;
    const solve_portion most = portion_from(m, k, 0);
    const int64_t bytes = SOLVE_COLUMNS * static_cast<int64_t>(sizeof(unsigned long long)) +
                          int64_t{m->w.n} * most.columns * static_cast<int64_t>(sizeof(real)) +
                          solve_bytes(m, most);
    solve_space *space = take_space(e, &m->spaces, bytes, "solve");
    for (int64_t first = 0; first < k && !e->status;) {
        const solve_portion now = portion_from(m, k, first);
        solve_block(e, m, in, out, now, r + first * ldr, ldr, z + first * ldz, ldz,
                    static_cast<char *>(space->memory));
        first += now.columns;
    }
    give_space(e, &m->spaces, space, "solve");
    return e->status;
}

template <class real> saddle_status frame_in(sd_engine *e, run_memory<real> *m, const sd_solve_frame *frame)
{
    const int64_t rows = int64_t{frame->count} + (frame->in > frame->out ? frame->in : frame->out);
    int32_t *position = const_cast<int32_t *>(m->frame.position);
    double *scale = const_cast<double *>(m->frame.scale);
    if (frame->position) {
        e->backend->upload(e, frame->position, position, rows * static_cast<int64_t>(sizeof *position));
        e->backend->upload(e, frame->scale, scale, rows * static_cast<int64_t>(sizeof *scale));
    }
    m->frame = {frame->count, frame->in, frame->out, position, scale, frame->exponent};
    return e->status;
}

} /* namespace */

saddle_status set_frame(sd_engine *e, sd_front_run *run, const sd_solve_frame *frame)
{
    return IN_PRECISION(run, frame_in, e, frame);
}

saddle_status apply_inverse(sd_engine *e, const sd_front_run *run, bool turned, int64_t k, const double *r,
                            int64_t ldr, double *z, int64_t ldz)
{
    return IN_PRECISION(run, apply_in, e, turned, k, r, ldr, z, ldz);
}

} /* namespace sd_cuda */
