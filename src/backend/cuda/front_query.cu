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

/* Variables and D of all fronts, one after the other. */
template <class real>
__global__ void __launch_bounds__(BLOCK)
    gather_pivots(forest<real> w, const int64_t *at, int32_t *variable, double *d)
{
    for (int f = static_cast<int>(blockIdx.x); f < w.fronts; f += static_cast<int>(gridDim.x)) {
        const front_state<real> s = w.front[f];
        for (int k = thread_index(); k < s.eliminated; k += BLOCK) {
            variable[at[f] + k] = s.variable[k];
            d[2 * (at[f] + k)] = s.d[2 * k];
            d[2 * (at[f] + k) + 1] = s.d[2 * k + 1];
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

template <class real> saddle_status fetch_states(sd_engine *e, run_memory<real> *m, sd_run_front *front)
{
    const int64_t bytes = m->w.fronts * static_cast<int64_t>(sizeof(front_state<real>));
    sd_context *c = e->context;
    front_state<real> *s =
        static_cast<front_state<real> *>(c->hooks.allocate(static_cast<size_t>(bytes), c->hooks.user));
    if (!s) return fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the states of the fronts");
    e->backend->download(e, m->w.front, s, bytes);
    int64_t at = 0;
    for (int32_t f = 0; f < m->w.fronts && !e->status; ++f) {
        front[f] = {s[f].rows, s[f].columns, s[f].delays, s[f].eliminated, at};
        at += s[f].eliminated;
    }
    c->hooks.release(s, c->hooks.user);
    return e->status;
}

template <class real>
saddle_status fetch_all(sd_engine *e, run_memory<real> *m, sd_run_front *front, int32_t *variable, double *d)
{
    const int64_t n = m->w.n, fronts = m->w.fronts;
    saddle_status status = fetch_states(e, m, front);
    if (status) return status;
    sd_context *c = e->context;
    int64_t *at = static_cast<int64_t *>(
        c->hooks.allocate(static_cast<size_t>(fronts + 1) * sizeof *at, c->hooks.user));
    if (!at) return fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the states of the fronts");
    for (int64_t f = 0; f < fronts; ++f) at[f] = front[f].at;
    void *begin = copy_to_device(e, at, fronts * static_cast<int64_t>(sizeof *at), "pivots");
    c->hooks.release(at, c->hooks.user);
    void *variables = get_room(e, n * static_cast<int64_t>(sizeof *variable), "pivots");
    void *numbers = get_room(e, 2 * n * static_cast<int64_t>(sizeof *d), "pivots");
    if (!e->status)
        launch(e, "pivots", gather_pivots<real>, 4 * state_of(e)->processors, m->w,
               static_cast<const int64_t *>(begin), static_cast<int32_t *>(variables),
               static_cast<double *>(numbers));
    e->backend->download(e, variables, variable, n * static_cast<int64_t>(sizeof *variable));
    e->backend->download(e, numbers, d, 2 * n * static_cast<int64_t>(sizeof *d));
    e->backend->release(e, begin);
    e->backend->release(e, variables);
    e->backend->release(e, numbers);
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

} /* namespace */

saddle_status largest_entry(sd_engine *e, sd_front_run *run, double *largest)
{
    return IN_PRECISION(run, largest_of, e, largest);
}

saddle_status fetch_fronts(sd_engine *e, const sd_front_run *run, sd_run_front *front, int32_t *variable,
                           double *d)
{
    return IN_PRECISION(run, fetch_all, e, front, variable, d);
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
