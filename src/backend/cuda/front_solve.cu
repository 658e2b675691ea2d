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
int64_t group_bytes(const sd_tree *t, int64_t rooms, bool whole, int number_bytes, int width)
{
    const int64_t vectors = whole ? 4 : 2;
    const int64_t numbers = vectors * t->n + t->row_ptr[t->fronts] + rooms * SQUARE;
    const int64_t bytes = numbers * width * number_bytes + t->fronts * static_cast<int64_t>(sizeof(unsigned));
    return (bytes + 15) / 16 * 16;
}

/* Forward and backward. */
template <class real>
void solve_groups(sd_engine *e, const run_memory<real> *m, int parts, solve_portion portion, real *x,
                  char *workspace)
{
    const state *st = state_of(e);
    const on_device current(st->device);
    const sd_tree *t = m->tree;
    const int width = portion.width, k = portion.columns;
    const int64_t n = t->n, numbers = n * width;
    solve_job<real> job = {};
    job.tasks = m->tasks;
    job.groups = (k + width - 1) / width;
    job.columns = k;
    job.apart = group_bytes(t, m->tasks.rooms, m->presolve == SD_PRESOLVE_WHOLE,
                            static_cast<int>(sizeof(real)), width);
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

/* Of so many columns, with the vectors on both sides. */
template <class real> int64_t whole_bytes(const run_memory<real> *m, solve_portion k)
{
    return m->w.n * k.columns * static_cast<int64_t>(sizeof(double) + sizeof(real)) + solve_bytes(m, k);
}

template <class real>
saddle_status solve_columns(sd_engine *e, run_memory<real> *m, int parts, int64_t k, double *x, int64_t ldx)
{
    const int64_t n = m->w.n, bytes = n * static_cast<int64_t>(sizeof(double));
    const solve_portion most = portion_from(m, k, 0);
    solve_space *space = take_space(e, &m->spaces, whole_bytes(m, most), "solve");
    for (int64_t first = 0; first < k && !e->status;) {
        const solve_portion now = portion_from(m, k, first);
        const int count = now.columns;
        double *columns = static_cast<double *>(space->memory);
        real *rows = reinterpret_cast<real *>(columns + n * most.columns);
        for (int r = 0; r < count; ++r) e->backend->upload(e, x + (first + r) * ldx, columns + r * n, bytes);
        launch(e, "solve", rows_of_columns<real>, blocks_for(n * count), n, count, columns, rows);
        solve_device(e, m, parts, now, rows, rows + n * most.columns);
        launch(e, "solve", columns_of_rows<real>, blocks_for(n * count), n, count, rows, columns);
        for (int r = 0; r < count; ++r)
            e->backend->download(e, columns + r * n, x + (first + r) * ldx, bytes);
        first += count;
    }
    give_space(e, &m->spaces, space, "solve");
    return e->status;
}

} /* namespace */

int64_t solve_bytes_of(const sd_tree *t, int64_t rooms, bool whole, int number_bytes, solve_portion k)
{
    const int64_t groups = (k.columns + k.width - 1) / k.width;
    return groups * group_bytes(t, rooms, whole, number_bytes, k.width) + 16;
}

template <class real> int64_t solve_bytes(const run_memory<real> *m, solve_portion k)
{
    return solve_bytes_of(m->tree, m->tasks.rooms, m->presolve == SD_PRESOLVE_WHOLE,
                          static_cast<int>(sizeof(real)), k);
}

/*
 * SOLVE_COLUMNS, but in memory that is not much beside the factors. Where a limit leaves less, these are cut
 * further, and computed as if they were not: groups of 8 and of 4 give the same bits, but not those of 2
 * or 1.
 */
template <class real> solve_portion portion_from(const run_memory<real> *m, int64_t k, int64_t first)
{
    const int64_t allowed = max(int64_t{1} << 29, m->heap_bytes / 2);
    int most = SOLVE_COLUMNS;
    while (most > WIDEST && solve_bytes(m, {most, WIDEST}) > allowed) most /= 2;
    const int64_t left = k - first / most * most;
    const int together = static_cast<int>(left < most ? left : most);
    solve_portion p = {together, group_width(together)};
    if (m->limit <= 0) return p;
    const int64_t room = m->limit - device_bytes(m);
    int cut = most;
    while (cut > 4 && whole_bytes(m, {min(p.columns, cut), min(p.width, cut)}) > room) cut /= 2;
    const int end = together - static_cast<int>(first % most);
    return {min(end, cut), min(p.width, cut)};
}

template <class real>
void solve_device(sd_engine *e, const run_memory<real> *m, int parts, solve_portion k, real *x,
                  void *workspace)
{
    if (e->status || m->w.n == 0 || k.columns == 0) return;
    if (parts & (SD_SOLVE_FORWARD | SD_SOLVE_BACKWARD))
        solve_groups(e, m, parts, k, x, static_cast<char *>(workspace));
    if ((parts & SD_SOLVE_DIAGONAL) && !(parts & SD_SOLVE_BACKWARD))
        launch(e, "solve", divide_by_pivots<real>, 4 * state_of(e)->processors, m->w, k.columns, x);
}

template solve_portion portion_from<double>(const run_memory<double> *, int64_t, int64_t);
template solve_portion portion_from<float>(const run_memory<float> *, int64_t, int64_t);
template void solve_device<double>(sd_engine *, const run_memory<double> *, int, solve_portion, double *,
                                   void *);
template void solve_device<float>(sd_engine *, const run_memory<float> *, int, solve_portion, float *,
                                  void *);
template int64_t solve_bytes<double>(const run_memory<double> *, solve_portion);
template int64_t solve_bytes<float>(const run_memory<float> *, solve_portion);

saddle_status solve_parts(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x, int64_t ldx)
{
    return IN_PRECISION(run, solve_columns, e, parts, k, x, ldx);
}

} /* namespace sd_cuda */
