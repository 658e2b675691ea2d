/*
 * Triangular solves with a block LDL' by sweeps over single entries: see backend/ldlt.h. A sub-warp a row of
 * blocks, lane l its row l: all rows of a stage are independent of each other. Sums are in the order of the
 * list, then of the columns.
 */
#include "backend/cuda/ldlt_factors.cuh"

namespace sd_cuda
{
namespace
{

template <class real, int R> __global__ void __launch_bounds__(SWEEP_BLOCK) forward(const sweep_data<real> x)
{
    const sweep_place p = place_of<R>(x.f);
    const int64_t square = p.there ? x.f.square[p.i] : 0;
    const real *const n = x.f.below + square;
    real u = p.mine ? x.b[p.first + p.l] : static_cast<real>(0);
    if (x.from) { /* alike in all lanes */
        if (p.there) u -= add_list(x.f, x.f.row[p.i], x.f.diagonal[p.i], x.from + x.f.n, p.l);
        u -= times_square<R>(n, p.size, p.l, p.mine ? x.from[p.first + p.l] : static_cast<real>(0));
    }
    const real with = u + times_square<R>(n, p.size, p.l, u);
    const real t = times_square<R>(x.f.inverse + square, p.size, p.l, with);
    if (!p.mine) return;
    x.to[p.first + p.l] = u;
    x.to[x.f.n + p.first + p.l] = t;
}

template <class real, int R> __global__ void __launch_bounds__(SWEEP_BLOCK) between(const sweep_data<real> x)
{
    const sweep_place p = place_of<R>(x.f);
    const real t = p.mine ? x.b[p.first + p.l] : static_cast<real>(0);
    const real v = t + times_square<R, true>(x.f.below + (p.there ? x.f.square[p.i] : 0), p.size, p.l, t);
    if (p.mine) x.to[p.first + p.l] = v;
}

template <class real, int R> __global__ void __launch_bounds__(SWEEP_BLOCK) backward(const sweep_data<real> x)
{
    const sweep_place p = place_of<R>(x.f);
    const int64_t square = p.there ? x.f.square[p.i] : 0;
    real w = p.mine ? x.b[p.first + p.l] : static_cast<real>(0);
    if (x.from) { /* alike in all lanes */
        real sum = 0;
        if (p.there) sum = add_list(x.f, x.f.diagonal[p.i], x.f.row[p.i + 1], x.from, p.l);
        const real weighed = times_square<R>(x.f.inverse + square, p.size, p.l, sum);
        const real with = p.mine ? x.from[p.first + p.l] + weighed : static_cast<real>(0);
        w = w - weighed - times_square<R, true>(x.f.below + square, p.size, p.l, with);
    }
    if (p.mine) x.to[p.first + p.l] = w;
}

template <int R, class real>
void launch_stage(sd_engine *e, sd_ldlt_stage stage, const sweep_data<real> &data)
{
    launch_sweep<R>(e, "ldlt_sweep_entries",
                    stage == SD_LDLT_FORWARD   ? forward<real, R>
                    : stage == SD_LDLT_BETWEEN ? between<real, R>
                                               : backward<real, R>,
                    data);
}

/* ---- N ---- */

template <int lanes, class real>
__global__ void __launch_bounds__(JOB_BLOCK)
    split(const job_range<lanes> jobs, const real *data, const uint8_t *row, const sd_batch_state *state,
          const sd_batch_state *of_inverse, real *below)
{
    const int i = threadIdx.x % lanes;
    const job_found job = find_job(jobs);
    if (i >= job.n) return;
    const sd_batch_state s = state[job.block];
    const bool whole = s.status != SD_BLOCK_OK || of_inverse[job.block].status != SD_BLOCK_OK;
    const int to = row[job.row + i];
    for (int j = 0; j < job.n; ++j) {
        const bool of_l = i > j && !(i == j + 1 && (s.pairs >> j & 1));
        below[job.entry + to + row[job.row + j] * job.n] =
            of_l && !whole ? data[job.entry + i + j * job.n] : static_cast<real>(0);
    }
}

template <class real> struct parts_below {
    const sd_batch_factors *x, *g;
    real *below;
    template <int lanes> void run(sd_engine *e, const job_range<lanes> &jobs) const
    {
        launch_jobs(e, "ldlt_split", split<lanes, real>, jobs, static_cast<const real *>(x->data), x->row,
                    x->state, g->state, below);
    }
};

} /* namespace */

template <class real>
void ldlt_split(sd_engine *e, const sd_batch_factors *x, const sd_batch_factors *g, sd_batch *below)
{
    if (e->status) return;
    for_each_range(e, x->plan, parts_below<real>{x, g, static_cast<real *>(below->data)});
}

template <class real>
void ldlt_sweep_entries(sd_engine *e, const sd_ldlt_factors *x, sd_ldlt_stage stage, const sd_vector *b,
                        const sd_vector *from, sd_vector *to)
{
    if (e->status || x->blocks == 0) return;
    const sweep_data<real> data(x, b, from, to);
    if (x->largest <= 8)
        launch_stage<8>(e, stage, data);
    else
        launch_stage<32>(e, stage, data);
}

/* The rows of batch.def that are defined here, in both precisions. */
BOTH(ldlt_split)
BOTH(ldlt_sweep_entries)

} /* namespace sd_cuda */
