/* What the host may ask of factors on the device, and change in them. */
#include "backend/cuda/front_block.cuh"
#include "backend/cuda/front_memory.cuh"

#include <string.h>

namespace sd_cuda
{
namespace
{

/* The largest size of an entry of L that a block meets, as bits: sizes are ordered as their bits are, and a
 * NaN comes out above all. */
template <class real>
__global__ void __launch_bounds__(BLOCK) find_largest_entry(forest<real> w, unsigned long long *to)
{
    double most = 0;
    bool none = false;
    for (int f = static_cast<int>(blockIdx.x); f < w.fronts; f += static_cast<int>(gridDim.x)) {
        const front_state<real> s = w.front[f];
        for (int j = thread_index() / WARP; j < s.eliminated; j += BLOCK / WARP)
            for (int i = j + 1 + thread_index() % WARP; i < s.rows; i += WARP) {
                const double x = fabs(static_cast<double>(s.panel[i + static_cast<int64_t>(j) * s.ld]));
                none |= x != x;
                most = x > most ? x : most;
            }
    }
    if (none) most = NAN;
    atomicMax(to, static_cast<unsigned long long>(__double_as_longlong(fabs(most))));
}

constexpr int LIST_THREADS = 1024;

/* All fronts, and where the pivots of each begin among those of all. By one block, each thread of which has
 * as many fronts. */
template <class real>
__global__ void __launch_bounds__(LIST_THREADS) list_fronts(forest<real> w, sd_run_front *to)
{
    __shared__ int64_t sums[LIST_THREADS];
    const int thread = thread_index();
    const int64_t all = w.fronts, from = all * thread / LIST_THREADS, end = all * (thread + 1) / LIST_THREADS;
    int64_t own = 0;
    if (is_stopped(w)) return; /* there are no factors */
    for (int64_t f = from; f < end; ++f) own += w.front[f].eliminated;
    sums[thread] = own;
    __syncthreads();
    for (int step = 1; step < LIST_THREADS; step *= 2) {
        const int64_t other = thread >= step ? sums[thread - step] : 0;
        __syncthreads();
        sums[thread] += other;
        __syncthreads();
    }
    int64_t at = sums[thread] - own;
    for (int64_t f = from; f < end; ++f) {
        const front_state<real> s = w.front[f];
        to[f] = {s.rows, s.columns, s.delays, s.eliminated, at};
        at += s.eliminated;
    }
}

/* Variables and D of all fronts, one after the other. */
template <class real>
__global__ void __launch_bounds__(BLOCK)
    gather_pivots(forest<real> w, const sd_run_front *front, int32_t *variable, double *d)
{
    if (is_stopped(w)) return;
    for (int f = static_cast<int>(blockIdx.x); f < w.fronts; f += static_cast<int>(gridDim.x)) {
        const front_state<real> s = w.front[f];
        const int64_t at = front[f].at;
        for (int k = thread_index(); k < s.eliminated; k += BLOCK) {
            variable[at + k] = s.variable[k];
            d[2 * (at + k)] = s.d[2 * k];
            d[2 * (at + k) + 1] = s.d[2 * k + 1];
        }
    }
}

template <class real> __global__ void set_pivot(forest<real> w, int32_t f, int32_t k, double d, double beside)
{
    w.front[f].d[2 * k] = static_cast<real>(d);
    w.front[f].d[2 * k + 1] = static_cast<real>(beside);
}

/* Columns k and k + 1 of L keep what they have along v; or column k becomes 0. */
template <class real>
__global__ void __launch_bounds__(BLOCK)
    clear_entries(forest<real> w, int32_t f, int32_t k, bool both, double v, double u)
{
    const front_state<real> s = w.front[f];
    real *l = s.panel + static_cast<int64_t>(k) * s.ld, *next = l + s.ld;
    for (int i = k + (both ? 2 : 1) + thread_index(); i < s.rows; i += BLOCK) {
        const double along = both ? v * static_cast<double>(l[i]) + u * static_cast<double>(next[i]) : 0;
        l[i] = static_cast<real>(both ? along * v : 0);
        if (both) next[i] = static_cast<real>(along * u);
    }
}

template <class real> saddle_status largest_of(sd_engine *e, run_memory<real> *m, double *largest)
{
    unsigned long long bits = 0;
    void *at = copy_to_device(e, &bits, sizeof bits, "largest entry");
    launch(e, "largest entry", find_largest_entry<real>, 4 * state_of(e)->processors, m->w,
           static_cast<unsigned long long *>(at));
    e->backend->download(e, at, &bits, sizeof bits);
    e->backend->release(e, at);
    memcpy(largest, &bits, sizeof bits);
    return e->status;
}

/* The arrays in one piece of memory. */
template <class real> sd_run_pivots arrays_in(const run_memory<real> *m, void *memory)
{
    sd_run_pivots p;
    p.front = static_cast<sd_run_front *>(memory);
    p.d = reinterpret_cast<double *>(p.front + m->w.fronts);
    p.variable = reinterpret_cast<int32_t *>(p.d + 2 * static_cast<int64_t>(m->w.n));
    return p;
}

template <class real> saddle_status fetch_all(sd_engine *e, run_memory<real> *m, const sd_run_pivots *to)
{
    void *memory = get_room(e, gathered_bytes(m), "pivots");
    if (!memory) return e->status;
    gather(e, m, memory);
    bring(e, m, memory, to);
    finished(e, "pivots");
    e->backend->release(e, memory);
    return e->status;
}

template <class real>
saddle_status put_in(sd_engine *e, run_memory<real> *m, int32_t f, int32_t k, double d, double beside)
{
    launch_with(e, "pivot", set_pivot<real>, 1, 1, m->w, f, k, d, beside);
    return e->status;
}

template <class real>
saddle_status clear_in(sd_engine *e, run_memory<real> *m, int32_t f, int32_t k, const double *v)
{
    launch(e, "pivot", clear_entries<real>, 1, m->w, f, k, v != NULL, v ? v[0] : 0.0, v ? v[1] : 0.0);
    if (m->presolve != SD_PRESOLVE_OFF) invert_squares(e, m, f);
    if (m->presolve == SD_PRESOLVE_WHOLE) invert_triangles(e, m, m->result.largest_front, f);
    finished(e, "pivot"); /* engines of other solves do not wait for this one */
    return e->status;
}

/* The panel may be in memory of the host's that the device reaches. */
template <class real>
saddle_status columns_of(sd_engine *e, run_memory<real> *m, int32_t f, void *to, int64_t *ld,
                         int32_t *variable)
{
    front_state<real> s = {};
    e->backend->download(e, m->w.front + f, &s, sizeof s);
    if (e->status) return e->status;
    const on_device current(state_of(e)->device);
    const size_t bytes = static_cast<size_t>(s.ld) * static_cast<size_t>(s.eliminated) * sizeof(real);
    *ld = s.ld;
    const auto copy = [&](void *here, const void *there, size_t count) {
        if (count > 0 && !e->status)
            failed(e, cudaMemcpyAsync(here, there, count, cudaMemcpyDefault, state_of(e)->stream), "columns");
    };
    copy(to, s.panel, bytes);
    copy(variable, s.variable, static_cast<size_t>(s.columns) * sizeof *variable);
    finished(e, "columns");
    return e->status;
}

} /* namespace */

saddle_status fetch_columns(sd_engine *e, const sd_front_run *run, int32_t f, void *to, int64_t *ld,
                            int32_t *variable)
{
    return IN_PRECISION(run, columns_of, e, f, to, ld, variable);
}

saddle_status largest_entry(sd_engine *e, sd_front_run *run, double *largest)
{
    return IN_PRECISION(run, largest_of, e, largest);
}

template <class real> int64_t gathered_bytes(const run_memory<real> *m)
{
    const int64_t pivot = sizeof(int32_t) + 2 * sizeof(double);
    return m->w.fronts * static_cast<int64_t>(sizeof(sd_run_front)) + m->w.n * pivot;
}

template <class real> void gather(sd_engine *e, const run_memory<real> *m, void *memory)
{
    const sd_run_pivots p = arrays_in(m, memory);
    launch_with(e, "pivots", list_fronts<real>, 1, LIST_THREADS, m->w, p.front);
    launch(e, "pivots", gather_pivots<real>, 4 * state_of(e)->processors, m->w, p.front, p.variable, p.d);
}

template <class real>
void bring(sd_engine *e, const run_memory<real> *m, const void *memory, const sd_run_pivots *to)
{
    const sd_run_pivots from = arrays_in(m, const_cast<void *>(memory));
    const size_t n = static_cast<size_t>(m->w.n), fronts = static_cast<size_t>(m->w.fronts);
    const on_device current(state_of(e)->device);
    const auto copy = [&](void *here, const void *there, size_t bytes) {
        if (!e->status)
            failed(e, cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, state_of(e)->stream),
                   "pivots");
    };
    copy(to->front, from.front, fronts * sizeof *from.front);
    copy(to->variable, from.variable, n * sizeof *from.variable);
    copy(to->d, from.d, 2 * n * sizeof *from.d);
}

template int64_t gathered_bytes(const run_memory<double> *);
template int64_t gathered_bytes(const run_memory<float> *);
template void gather(sd_engine *, const run_memory<double> *, void *);
template void gather(sd_engine *, const run_memory<float> *, void *);
template void bring(sd_engine *, const run_memory<double> *, const void *, const sd_run_pivots *);
template void bring(sd_engine *, const run_memory<float> *, const void *, const sd_run_pivots *);

saddle_status fetch_fronts(sd_engine *e, const sd_front_run *run, const sd_run_pivots *to)
{
    return IN_PRECISION(run, fetch_all, e, to);
}

saddle_status put_pivot(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, double d, double beside)
{
    return IN_PRECISION(run, put_in, e, f, k, d, beside);
}

saddle_status clear_column(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, const double *v)
{
    return IN_PRECISION(run, clear_in, e, f, k, v);
}

} /* namespace sd_cuda */
