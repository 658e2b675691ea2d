/*
 * The basis of a Gram-Schmidt step on the GPU: all dot products V'w, and w + V h, in one kernel each, however
 * many panels of SD_PANEL vectors there are (up to PANELS; then it takes several).
 *
 * V'w: a block of threads for a chunk and a panel, those of one chunk side by side, so that w comes from
 * memory once. A dot has the bits that it has alone: see reduce.cuh. w + V h: a thread has its entries of w
 * through all panels, and adds from left to right.
 */
#include "backend/cuda/reduce.cuh"

namespace sd_cuda
{
namespace
{

template <class real> struct basis_part {
    const real *panel[PANELS];
    int count; /* vectors */
    int64_t n;
};

/* Panels first, first + 1, ... of x, `count` vectors at most. */
template <class real> basis_part<real> part_of(const sd_vector *x, int first, int count, int64_t n)
{
    basis_part<real> part = {{}, count, n};
    for (int k = 0; k * SD_PANEL < count; ++k)
        part.panel[k] = static_cast<const real *>(x[first / SD_PANEL + k].data);
    return part;
}

/* Dots of up to SD_PANEL vectors with w in a chunk, each thread's entries in order. */
template <class real>
__device__ inline void dot_chunk(const real *v, int64_t n, int m, const real *w, int64_t first, int64_t end,
                                 double (&sum)[SD_PANEL])
{
    constexpr int LOADS = 2; /* entries under way at once */
    for (int64_t i = first + threadIdx.x; i < end; i += LOADS * BLOCK) {
        real a[LOADS][SD_PANEL], b[LOADS];
#pragma unroll
        for (int u = 0; u < LOADS; ++u) {
            if (i + u * BLOCK >= end) continue;
            b[u] = w[i + u * BLOCK];
#pragma unroll
            for (int k = 0; k < SD_PANEL; ++k)
                if (k < m) a[u][k] = v[k * n + i + u * BLOCK];
        }
#pragma unroll
        for (int u = 0; u < LOADS; ++u) {
            if (i + u * BLOCK >= end) continue;
#pragma unroll
            for (int k = 0; k < SD_PANEL; ++k)
                if (k < m) sum[k] += static_cast<double>(a[u][k]) * static_cast<double>(b[u]);
        }
    }
}

/* Blocks are panels x chunks; behind the panels there is one more, w itself, whose result is the last. */
template <class real>
__global__ void __launch_bounds__(BLOCK)
    basis_dots(const basis_part<real> basis, const real *w, int64_t chunk, const outcome to)
{
    const unsigned panel = blockIdx.x, chunks = gridDim.y;
    const bool itself = panel == gridDim.x - 1;
    const int left = basis.count - static_cast<int>(panel) * SD_PANEL;
    const int m = itself ? 1 : left < SD_PANEL ? left : SD_PANEL;
    const int64_t first = blockIdx.y * chunk, end = basis.n - first < chunk ? basis.n : first + chunk;
    double sum[SD_PANEL] = {};
    after_others();
    dot_chunk(itself ? w : basis.panel[panel], basis.n, m, w, first, end, sum);
    join_block<addition, SD_PANEL>(sum);
    double *const part = to.part + static_cast<int64_t>(panel) * SD_PANEL * chunks;
    if (!join_chunks<addition, SD_PANEL>(sum, part, blockIdx.y, chunks, &to.counter->panel[panel])) return;
    if (threadIdx.x > 0) return;
    const int at = itself ? basis.count : static_cast<int>(panel) * SD_PANEL;
#pragma unroll
    for (int k = 0; k < SD_PANEL; ++k)
        if (k < m) to.result.there[at + k] = to.result.here[at + k] = sum[k];
    __threadfence_system();
    if (atomicAdd(&to.counter->ticket, 1) < gridDim.x - 1) return;
    to.counter->ticket = 0;
    tell(to);
}

/* Coefficients: the host's, or `here`, still to come. */
struct coefficients {
    double value[PANELS * SD_PANEL];
    const double *here;
    double sign;
};

template <class real>
__global__ void __launch_bounds__(BLOCK) combine(const basis_part<real> basis, const coefficients h, real *w)
{
    constexpr int LOADS = 2; /* entries of a thread */
    __shared__ real factor[PANELS * SD_PANEL];
    after_others();
    for (int k = threadIdx.x; k < basis.count; k += BLOCK)
        factor[k] = static_cast<real>(h.sign * (h.here ? __ldcg(h.here + k) : h.value[k]));
    __syncthreads();
    const int64_t i = static_cast<int64_t>(blockIdx.x) * LOADS * BLOCK + threadIdx.x;
    real sum[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; ++u)
        if (i + u * BLOCK < basis.n) sum[u] = w[i + u * BLOCK];
    for (int first = 0; first < basis.count; first += SD_PANEL) {
        const real *const v = basis.panel[first / SD_PANEL];
        real a[LOADS][SD_PANEL];
#pragma unroll
        for (int u = 0; u < LOADS; ++u)
#pragma unroll
            for (int k = 0; k < SD_PANEL; ++k)
                if (first + k < basis.count && i + u * BLOCK < basis.n)
                    a[u][k] = v[k * basis.n + i + u * BLOCK];
#pragma unroll
        for (int k = 0; k < SD_PANEL; ++k)
            if (first + k < basis.count)
#pragma unroll
                for (int u = 0; u < LOADS; ++u) sum[u] += factor[first + k] * a[u][k];
    }
#pragma unroll
    for (int u = 0; u < LOADS; ++u)
        if (i + u * BLOCK < basis.n) w[i + u * BLOCK] = sum[u];
}

/* Vectors of the next launch: those of whole panels whose parts the scratch has room for, at least one. */
int next_count(const sd_engine *e, int left, int64_t chunks)
{
    const int64_t bytes = chunks * SD_PANEL * static_cast<int64_t>(sizeof(double));
    int64_t panels = e->scratch_bytes / bytes - 1; /* one for w itself */
    panels = panels > PANELS ? PANELS : panels < 1 ? 1 : panels;
    return left < panels * SD_PANEL ? left : static_cast<int>(panels) * SD_PANEL;
}

/* Where the device has h if all of it is still to come and is stored together; else the host has it. */
const double *all_still_to_come(sd_engine *e, const double *h, int count)
{
    const double *const here = still_to_come(e, h);
    for (int k = 1; k < count; ++k)
        if (still_to_come(e, h + k) != (here ? here + k : NULL)) {
            collect(e);
            return NULL;
        }
    return here;
}

} /* namespace */

/* Where there are several launches, each leaves w'w behind its vectors, where the next one's dots come. */
template <class real>
void basis_dot(sd_engine *e, int count, const sd_vector *x, const sd_vector *w, double *h)
{
    const char *const what = "basis_dot";
    for (int k = 0; k <= count && !e->status; ++k) h[k] = 0;
    if (w->n == 0) return;
    const int64_t chunk = chunk_length(w->n), chunks = (w->n + chunk - 1) / chunk;
    for (int first = 0; first < count && !e->status;) {
        const int m = next_count(e, count - first, chunks), panels = (m + SD_PANEL - 1) / SD_PANEL;
        void *room =
            scratch(e, (panels + 1) * chunks * SD_PANEL * static_cast<int64_t>(sizeof(double)), what);
        if (!room) return;
        const outcome to(e, room, m + 1, h + first);
        launch_grid(e, what, true, basis_dots<real>,
                    dim3(static_cast<unsigned>(panels + 1), static_cast<unsigned>(chunks)), BLOCK, 0,
                    part_of<real>(x, first, m, w->n), static_cast<const real *>(w->data), chunk, to);
        first += m;
    }
}

template <class real>
void basis_axpy(sd_engine *e, int count, double sign, const double *h, const sd_vector *x, sd_vector *w)
{
    const int64_t blocks = (w->n + 2 * BLOCK - 1) / (2 * BLOCK);
    if (w->n == 0) return;
    for (int first = 0; first < count && !e->status; first += PANELS * SD_PANEL) {
        const int m = count - first < PANELS * SD_PANEL ? count - first : PANELS * SD_PANEL;
        coefficients c = {{}, all_still_to_come(e, h + first, m), sign};
        if (!c.here)
            for (int k = 0; k < m; ++k) c.value[k] = h[first + k];
        launch_early(e, "basis_axpy", combine<real>, blocks, part_of<real>(x, first, m, w->n), c,
                     static_cast<real *>(w->data));
    }
}

/* The rows of kernels.def that are defined here, in both precisions. */
BOTH(basis_dot)
BOTH(basis_axpy)

} /* namespace sd_cuda */
