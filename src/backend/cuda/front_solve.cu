/* Triangular solves with fronts: their memory, and vectors on their way to them and back. */
#include "backend/cuda/front_pivots.cuh"
#include "backend/cuda/front_solve.cuh"

namespace sd_cuda
{
namespace
{

/* ---- D alone, and vectors ---- */

/* x = D^-1 x, in place. A thread a pivot. */
template <class real>
__global__ void __launch_bounds__(BLOCK) divide_by_pivots(forest<real> w, int k, real *x)
{
    for (int f = static_cast<int>(blockIdx.x); f < w.fronts; f += static_cast<int>(gridDim.x)) {
        const front_state<real> s = w.front[f];
        for (int c = thread_index(); c < s.eliminated; c += BLOCK) {
            const pivot_row<real> p = invert_pivot(s.d, c);
            real *row = x + static_cast<int64_t>(s.variable[c]) * k;
            if (p.other < 0) continue; /* with the column before it */
            if (p.other == 0)
                for (int r = 0; r < k; ++r) row[r] *= p.own;
            if (p.other == 0) continue;
            const pivot_row<real> q = invert_pivot(s.d, c + 1);
            real *next = x + static_cast<int64_t>(s.variable[c + 1]) * k;
            for (int r = 0; r < k; ++r) {
                const real a = row[r], b = next[r];
                row[r] = p.own * a + p.beside * b;
                next[r] = q.own * b + q.beside * a;
            }
        }
    }
}

/* y of all groups, `width` right-hand sides each, = x. */
template <class real>
__global__ void __launch_bounds__(BLOCK) copy_groups(int64_t n, int width, solve_job<real> job)
{
    const int64_t all = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x, k = all % (n * width);
    const int group = static_cast<int>(all / (n * width)),
              column = group * width + static_cast<int>(k % width);
    if (group >= job.groups) return;
    displace(job.y, group * job.apart);
    publish(&job.y[k], column < job.columns ? job.x[k / width * job.stride + column] : 0);
}

/* Between k columns of doubles and rows of k numbers. */
template <class real>
__global__ void __launch_bounds__(BLOCK) rows_of_columns(int64_t n, int k, const double *from, real *to)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < n * k) to[at] = static_cast<real>(from[at % k * n + at / k]);
}
template <class real>
__global__ void __launch_bounds__(BLOCK) columns_of_rows(int64_t n, int k, const real *from, double *to)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (at < n * k) to[at] = static_cast<double>(from[at % n * k + at / n]);
}

int64_t blocks_for(int64_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

/* ---- the host ---- */

/* Of a group when k are to be solved for. */
int group_width(int k)
{
    return k > 4 ? WIDEST : k > 2 ? 4 : k;
}

/* What a group works in; the ticket is behind all of them. */
template <class real> int64_t group_bytes(const run_memory<real> *m, int width)
{
    const sd_tree *t = m->tree;
    const int64_t vectors = m->presolve == SD_PRESOLVE_WHOLE ? 4 : 2;
    const int64_t numbers = vectors * t->n + t->row_ptr[t->fronts] + int64_t{m->tasks.rooms} * SQUARE;
    const int64_t bytes = numbers * width * static_cast<int64_t>(sizeof(real)) +
                          t->fronts * static_cast<int64_t>(sizeof(unsigned));
    return (bytes + 15) / 16 * 16;
}

/* Forward and backward, k right-hand sides. */
template <class real>
void solve_groups(sd_engine *e, const run_memory<real> *m, int parts, int k, real *x, char *workspace)
{
    const state *st = state_of(e);
    const on_device current(st->device);
    const sd_tree *t = m->tree;
    const int width = group_width(k);
    const int64_t n = t->n, numbers = n * width;
    solve_job<real> job = {};
    job.tasks = m->tasks;
    job.lists = m->lists;
    job.groups = (k + width - 1) / width;
    job.columns = k;
    job.apart = group_bytes(m, width);
    job.x = x;
    job.stride = k;
    job.valid = min(width, k);
    job.y = reinterpret_cast<real *>(workspace);
    job.z = job.y + numbers;
    job.b = job.z + numbers;
    job.c = job.b + numbers;
    job.handed = m->presolve == SD_PRESOLVE_WHOLE ? job.c + numbers : job.b;
    job.products = job.handed + t->row_ptr[t->fronts] * width;
    job.done = reinterpret_cast<unsigned *>(job.products + int64_t{m->tasks.rooms} * SQUARE * width);
    job.ticket = reinterpret_cast<unsigned *>(workspace + job.groups * job.apart);
    job.parts = parts;
    failed(e, cudaMemsetAsync(workspace, 0xff, static_cast<size_t>(job.groups * job.apart + 16), st->stream),
           "solve");
    if (!(parts & SD_SOLVE_FORWARD))
        launch(e, "solve", copy_groups<real>, blocks_for(numbers * job.groups), n, width, job);
    switch (m->presolve) {
    case SD_PRESOLVE_OFF: sweep<SD_PRESOLVE_OFF>(e, m, width, job); break;
    case SD_PRESOLVE_BAND: sweep<SD_PRESOLVE_BAND>(e, m, width, job); break;
    case SD_PRESOLVE_WHOLE: sweep<SD_PRESOLVE_WHOLE>(e, m, width, job); break;
    }
}

template <class real>
saddle_status solve_columns(sd_engine *e, run_memory<real> *m, int parts, int64_t k, double *x, int64_t ldx)
{
    const int64_t n = m->w.n, bytes = n * static_cast<int64_t>(sizeof(double));
    const int most = columns_at_once(m, k);
    solve_space *space = take_space(
        e, &m->spaces, bytes * most + n * most * static_cast<int64_t>(sizeof(real)) + solve_bytes(m, most),
        "solve");
    for (int64_t first = 0; first < k && !e->status; first += most) {
        const int count = static_cast<int>(k - first < most ? k - first : most);
        double *columns = static_cast<double *>(space->memory);
        real *rows = reinterpret_cast<real *>(columns + n * most);
        for (int r = 0; r < count; ++r) e->backend->upload(e, x + (first + r) * ldx, columns + r * n, bytes);
        launch(e, "solve", rows_of_columns<real>, blocks_for(n * count), n, count, columns, rows);
        solve_device(e, m, parts, count, rows, rows + n * most);
        launch(e, "solve", columns_of_rows<real>, blocks_for(n * count), n, count, rows, columns);
        for (int r = 0; r < count; ++r)
            e->backend->download(e, columns + r * n, x + (first + r) * ldx, bytes);
    }
    give_space(e, &m->spaces, space, "solve");
    return e->status;
}

} /* namespace */

template <class real> int64_t solve_bytes(const run_memory<real> *m, int k)
{
    const int width = group_width(k);
    return (k + width - 1) / width * group_bytes(m, width) + 16;
}

/* SOLVE_COLUMNS, but in memory that is not much beside the factors. */
template <class real> int columns_at_once(const run_memory<real> *m, int64_t k)
{
    int most = SOLVE_COLUMNS;
    while (most > WIDEST && solve_bytes(m, most) > max(int64_t{1} << 30, m->heap_bytes / 2)) most /= 2;
    return static_cast<int>(k < most ? k : most);
}

template <class real>
void solve_device(sd_engine *e, const run_memory<real> *m, int parts, int k, real *x, void *workspace)
{
    if (e->status || m->w.n == 0 || k == 0) return;
    if (parts & (SD_SOLVE_FORWARD | SD_SOLVE_BACKWARD))
        solve_groups(e, m, parts, k, x, static_cast<char *>(workspace));
    if ((parts & SD_SOLVE_DIAGONAL) && !(parts & SD_SOLVE_BACKWARD))
        launch(e, "solve", divide_by_pivots<real>, 4 * state_of(e)->processors, m->w, k, x);
}

template int columns_at_once<double>(const run_memory<double> *, int64_t);
template int columns_at_once<float>(const run_memory<float> *, int64_t);
template void solve_device<double>(sd_engine *, const run_memory<double> *, int, int, double *, void *);
template void solve_device<float>(sd_engine *, const run_memory<float> *, int, int, float *, void *);
template int64_t solve_bytes<double>(const run_memory<double> *, int);
template int64_t solve_bytes<float>(const run_memory<float> *, int);

saddle_status solve_parts(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x, int64_t ldx)
{
    return IN_PRECISION(run, solve_columns, e, parts, k, x, ldx);
}

} /* namespace sd_cuda */
