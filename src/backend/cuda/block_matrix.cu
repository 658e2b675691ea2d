/*
 * Blocks and matrices on the GPU: the diagonal blocks of a sparse matrix, norms of blocks, products of them.
 *
 * Extraction goes by the entries of the matrix, not by its rows (entries.cuh). No two of them meet in a
 * place.
 *
 * Norms: a sub-warp a block, which goes through shared memory so that lane j has column j.
 *
 * Products C <- C - A D B': a warp a target. Lanes are rows x groups, group g holding columns g, g + groups,
 * ... of C in registers, so that small targets keep all lanes at work. A D and B of a term stand in shared
 * memory, and the products are subtracted in order, with the reference's roundings.
 */
#include "backend/cuda/block_jobs.cuh"
#include "backend/cuda/entries.cuh"

#include <float.h>
#include <math.h>

namespace sd_cuda
{
namespace
{

/* ---- extraction ---- */

template <class real>
__device__ inline void put_entry(const sd_block_map &map, int32_t r, int32_t c, real value, real *data)
{
    const int32_t k = map.block[r];
    if (map.block[c] != k) return;
    const int64_t entry = map.entry[k];
    if (entry < 0) return;
    const int32_t first = map.start[k], rows = map.start[k + 1] - first;
    data[entry + (c - first) * rows + (r - first)] = value;
}

template <class real>
__global__ void __launch_bounds__(BLOCK) extract(const sd_sparse A, const sd_block_map map, real *data)
{
    for_each_entry<real>(A, [&](int64_t, int32_t row, int32_t column, real value) {
        const int32_t r = map.row_place ? map.row_place[row] : row;
        const int32_t c = map.column_place ? map.column_place[column] : column;
        put_entry(map, r, c, value, data);
        if (A.half) put_entry(map, c, r, value, data);
    });
}

/* ---- norms ---- */

template <int lanes, class real>
__global__ void __launch_bounds__(JOB_BLOCK)
    one_norms(const job_range<lanes> jobs, const real *data, double *norms)
{
    __shared__ shared_block<lanes, real> blocks[JOB_BLOCK / lanes];
    shared_block<lanes, real> &block = blocks[threadIdx.x / lanes];
    const int lane = threadIdx.x % lanes;
    const job_found job = find_job(jobs);
    real row[lanes];
    load_row<lanes>(data + job.entry, job.n, lane, row);
#pragma unroll
    for (int j = 0; j < lanes; ++j) block.at(lane, j) = row[j];
    __syncwarp();
    double sum = 0;
#pragma unroll
    for (int i = 0; i < lanes; ++i) sum += fabs(static_cast<double>(block.at(i, lane)));
    if (!(sum <= DBL_MAX)) sum = DBL_MAX; /* NaN too */
#pragma unroll
    for (int step = 1; step < lanes; step *= 2) sum = fmax(sum, __shfl_xor_sync(ALL_LANES, sum, step));
    if (lane == 0 && job.n > 0) norms[job.block] = sum;
}

template <class real> struct norms_of {
    const real *data;
    double *norms;
    template <int lanes> void run(sd_engine *e, const job_range<lanes> &jobs) const
    {
        launch_jobs(e, "block_norms", one_norms<lanes, real>, jobs, data, norms);
    }
};

/* ---- products ---- */

constexpr int PRODUCT_BLOCK = 2 * WARP; /* threads: so their terms fit into 48 KB */

/* A term in shared memory: W = A D and B, both by columns of at most WARP rows. */
template <class real> struct shared_term {
    shared_block<WARP, real> w, b;
};

/* A stored block, rows x inner or its transpose, into shared memory. */
template <class real>
__device__ inline void stage(const real *a, int rows, int inner, bool transposed, int lane,
                             shared_block<WARP, real> &to)
{
    const int leading = transposed ? inner : rows, count = rows * inner;
#pragma unroll 4
    for (int k = lane; k < count; k += WARP) {
        const int i = k % leading, j = k / leading;
        to.at(transposed ? j : i, transposed ? i : j) = a[k];
    }
}

/* W <- W D, lane i its row i; D is that of a factored block f. */
template <class real>
__device__ inline void times_pivots(const real *f, uint32_t pairs, int inner, int lane,
                                    shared_block<WARP, real> &w)
{
    for (int s = 0; s < inner; ++s) {
        const real first = w.at(lane, s), d = f[s * inner + s];
        if (!(pairs >> s & 1)) {
            w.at(lane, s) = first * d;
            continue;
        }
        const real second = w.at(lane, s + 1), beside = f[s * inner + s + 1],
                   last = f[(s + 1) * inner + s + 1];
        w.at(lane, s) = fma_of(first, d, second * beside);
        w.at(lane, s + 1) = fma_of(first, beside, second * last);
        ++s;
    }
}

template <class real> struct product_data {
    const real *x;
    const real *d;
    const sd_block_state *state;
    real *c;
};

/* Column j of the lane's share of C, and how many there are. */
struct share_of_target {
    int row, group, groups, count;
    __device__ share_of_target(const sd_block_target &target, int lane)
    {
        int rows = 1;
        while (rows < target.rows) rows *= 2;
        row = lane % rows;
        group = lane / rows;
        groups = WARP / rows;
        const bool mine = row < target.rows && group < target.columns;
        count = mine ? (target.columns - group + groups - 1) / groups : 0;
    }
    __device__ int column(int q) const
    {
        return group + q * groups;
    }
};

template <class real>
__device__ inline void write_target(const sd_block_target &target, const share_of_target &mine,
                                    const real (&sum)[WARP], real *c)
{
#pragma unroll
    for (int q = 0; q < WARP; ++q) {
        const int j = mine.column(q);
        if (q >= mine.count || (target.symmetric && mine.row < j)) continue;
        c[j * target.rows + mine.row] = sum[q];
        if (target.symmetric) c[mine.row * target.rows + j] = sum[q];
    }
}

template <class real>
__global__ void __launch_bounds__(PRODUCT_BLOCK)
    subtract(int32_t targets, const sd_block_target *all, const sd_block_term *terms,
             const product_data<real> p)
{
    __shared__ shared_term<real> staged[PRODUCT_BLOCK / WARP];
    shared_term<real> &t = staged[threadIdx.x / WARP];
    const int lane = threadIdx.x % WARP;
    const int64_t k = (static_cast<int64_t>(blockIdx.x) * PRODUCT_BLOCK + threadIdx.x) / WARP;
    if (k >= targets) return;
    const sd_block_target target = all[k];
    const share_of_target mine(target, lane);
    real *const c = p.c + target.c;
    real sum[WARP];
#pragma unroll
    for (int q = 0; q < WARP; ++q)
        sum[q] = q < mine.count ? c[mine.column(q) * target.rows + mine.row] : static_cast<real>(0);
    for (int32_t at = target.first; at < target.last; ++at) {
        const sd_block_term term = terms[at];
        stage(p.x + term.a, target.rows, term.inner, term.a_transposed, lane, t.w);
        stage(p.x + term.b, target.columns, term.inner, term.b_transposed, lane, t.b);
        __syncwarp();
        if (term.d >= 0 && lane < target.rows)
            times_pivots(p.d + term.d, p.state[term.d_block].pairs, term.inner, lane, t.w);
        __syncwarp();
        for (int s = 0; s < term.inner && mine.count > 0; ++s) {
            const real w = -t.w.at(mine.row, s);
#pragma unroll
            for (int q = 0; q < WARP; ++q)
                if (q < mine.count) sum[q] = fma_of(w, t.b.at(mine.column(q), s), sum[q]);
        }
        __syncwarp();
    }
    write_target(target, mine, sum, c);
}

} /* namespace */

template <class real>
void block_extract(sd_engine *e, const sd_sparse *A, const sd_block_map *map, sd_blocks *x)
{
    const char *const what = "block_extract";
    if (e->status || x->plan->entries == 0) return;
    const state *s = state_of(e);
    const on_device current(s->device);
    if (failed(e, current.error, what)) return;
    const size_t bytes = static_cast<size_t>(x->plan->entries) * sizeof(real);
    if (failed(e, cudaMemsetAsync(x->data, 0, bytes, s->stream), what) || A->nnz == 0) return;
    launch(e, what, extract<real>, (A->nnz + SHARE - 1) / SHARE, *A, *map, static_cast<real *>(x->data));
}

template <class real> void block_norms(sd_engine *e, const sd_blocks *x, sd_vector *norms)
{
    if (e->status) return;
    if (x->plan->count < x->plan->blocks) fill<double>(e, 0.0, norms);
    for_each_range(e, x->plan,
                   norms_of<real>{static_cast<const real *>(x->data), static_cast<double *>(norms->data)});
}

template <class real>
void block_subtract(sd_engine *e, const sd_block_products *p, const sd_blocks *x, const sd_block_factors *d,
                    sd_blocks *c)
{
    if (e->status || p->targets == 0) return;
    const product_data<real> data = {static_cast<const real *>(x->data),
                                     d ? static_cast<const real *>(d->data) : NULL, d ? d->state : NULL,
                                     static_cast<real *>(c->data)};
    constexpr int targets = PRODUCT_BLOCK / WARP;
    launch_with(e, "block_subtract", subtract<real>, (p->targets + targets - 1) / targets, PRODUCT_BLOCK,
                p->targets, p->target, p->term, data);
}

/* The rows of blocks.def that are defined here, in both precisions. */
#define BOTH(name, parameters)                                                                               \
    template void name<double> parameters;                                                                   \
    template void name<float> parameters;
BOTH(block_extract, (sd_engine *, const sd_sparse *, const sd_block_map *, sd_blocks *))
BOTH(block_norms, (sd_engine *, const sd_blocks *, sd_vector *))
BOTH(block_subtract,
     (sd_engine *, const sd_block_products *, const sd_blocks *, const sd_block_factors *, sd_blocks *))

} /* namespace sd_cuda */
