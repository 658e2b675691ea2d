/*
 * y = F^-1 b for every block of a batch: see blocks.h for what the factors are.
 *
 * A sub-warp a block, lane i for row i, which it holds in registers through all right-hand sides: the block
 * is read once, by columns, the lanes side by side. Arithmetic is in the precision of the vectors.
 *
 *   triangles   L, D and U (or L', mirrored above the diagonal) of LDU, LDL' and LL': in step j of a
 *               triangular solve lane j hands x_j to the others, which subtract their entry of column j.
 *   inverse     the same without an order: y_i is the sum of a_ij b_j.
 *   Gauss-Huard (Anzt et al., Variable-size batched Gauss-Huard, Figure 1, its lines 7, 15 and 18): step k
 *               forms x_k = (b_k - sum_{j<k} d_kj x_j) / d_kk and subtracts d_jk x_k from the x_j. The sum
 * runs over the lanes, so lane j needs column j below the diagonal, which it finds in shared memory, beside
 * its row above the diagonal. Only lanes up to k take part: the tree is no deeper than they need.
 */
#include "backend/cuda/block_jobs.cuh"

namespace sd_cuda
{
namespace
{

/* Where right-hand sides are read and solutions written. b and y may be the same. */
template <class vec> struct sides {
    const vec *b;
    vec *y;
    int64_t rows; /* from one column to the next */
    int columns;
    const int32_t *source, *target; /* NULL: the rows as they stand */
};

/* The factors of a batch. */
template <class real> struct factored {
    const real *data;
    const uint8_t *row, *column;
    const sd_block_state *state; /* NULL where no pivot is 2x2 */
    bool cholesky;
};

__device__ inline int64_t place_of(const int32_t *order, int32_t row)
{
    return order ? order[row] : row;
}

/* The lane whose pivot is one with that of `lane`, or -1. */
__device__ inline int partner_of(uint32_t pairs, int lane)
{
    if (pairs >> lane & 1) return lane + 1;
    return lane > 0 && (pairs >> (lane - 1) & 1) ? lane - 1 : -1;
}

/* The first of [x, other] = [a b; b c]^-1 [x, other], by the inverse in double. */
__device__ inline double solve_pair(double a, double b, double c, double x, double other)
{
    const sd_pair_double pair = {a, b, c}, inverse = sd_pair_inverse_double(pair);
    return inverse.a * x + inverse.b * other;
}

/* Row `lane` of the factors as the solves need it: the entry of a 2x2 pivot is taken out of the triangles. */
template <int lanes, class real, class vec> struct triangle_row {
    real entry[lanes];
    vec pivot, beside; /* D: of this row, and beside it where the pivot is 2x2 */
    vec scale;         /* what x is multiplied by in the triangular solves: 1, of LL' the inverse of l_ii */
    int partner;

    __device__ triangle_row(const real *a, int n, int lane, uint32_t pairs, bool cholesky)
        : pivot(1), beside(0), scale(1), partner(partner_of(pairs, lane))
    {
        load_row<lanes>(a, n, lane, entry);
#pragma unroll
        for (int j = 0; j < lanes; ++j) {
            if (j == lane && lane < n) pivot = entry[j];
            if (j == partner) {
                beside = entry[j];
                entry[j] = 0;
            }
        }
        if (cholesky) {
            scale = 1 / pivot;
            pivot = 1;
        }
    }

    __device__ vec solve(vec x, int lane) const
    {
#pragma unroll
        for (int j = 0; j < lanes; ++j) {
            const vec xj = __shfl_sync(ALL_LANES, x * scale, j, lanes);
            x = lane == j ? xj : lane > j ? fma_of(-static_cast<vec>(entry[j]), xj, x) : x;
        }
        const int other = partner < 0 ? lane : partner;
        const vec other_pivot = __shfl_sync(ALL_LANES, pivot, other, lanes),
                  other_x = __shfl_sync(ALL_LANES, x, other, lanes);
        x = partner < 0 ? x / pivot : static_cast<vec>(solve_pair(pivot, beside, other_pivot, x, other_x));
#pragma unroll
        for (int j = lanes - 1; j >= 0; --j) {
            const vec xj = __shfl_sync(ALL_LANES, x * scale, j, lanes);
            x = lane == j ? xj : lane < j ? fma_of(-static_cast<vec>(entry[j]), xj, x) : x;
        }
        return x;
    }
};

template <int lanes, class real, class vec>
__global__ void __launch_bounds__(JOB_BLOCK, 4)
    apply_triangles(const job_range<lanes> jobs, const factored<real> f, const sides<vec> s)
{
    const int lane = threadIdx.x % lanes;
    const job_found job = find_job(jobs);
    const bool mine = lane < job.n;
    const uint32_t pairs = f.state && job.n > 0 ? f.state[job.block].pairs : 0;
    const int from = mine ? f.row[job.row + lane] : lane, to = mine ? f.column[job.row + lane] : lane;
    const triangle_row<lanes, real, vec> row(f.data + job.entry, job.n, lane, pairs, f.cholesky);
    const int64_t read = mine ? place_of(s.source, job.row + lane) : 0,
                  written = mine ? place_of(s.target, job.row + to) : 0;
    for (int c = 0; c < s.columns; ++c) {
        const vec b = mine ? s.b[c * s.rows + read] : static_cast<vec>(0);
        const vec x = row.solve(__shfl_sync(ALL_LANES, b, from, lanes), lane);
        if (mine) s.y[c * s.rows + written] = x;
    }
}

template <int lanes, class real, class vec>
__global__ void __launch_bounds__(JOB_BLOCK)
    apply_inverse(const job_range<lanes> jobs, const factored<real> f, const sides<vec> s)
{
    const int lane = threadIdx.x % lanes;
    const job_found job = find_job(jobs);
    const bool mine = lane < job.n;
    const int64_t read = mine ? place_of(s.source, job.row + lane) : 0,
                  written = mine ? place_of(s.target, job.row + lane) : 0;
    real row[lanes];
    load_row<lanes>(f.data + job.entry, job.n, lane, row);
    for (int c = 0; c < s.columns; ++c) {
        const vec b = mine ? s.b[c * s.rows + read] : static_cast<vec>(0);
        vec sum = 0;
#pragma unroll
        for (int j = 0; j < lanes; ++j)
            sum = fma_of(static_cast<vec>(row[j]), __shfl_sync(ALL_LANES, b, j, lanes), sum);
        if (mine) s.y[c * s.rows + written] = sum;
    }
}

/* All steps of Gauss-Huard on one right-hand side: row has the part above the diagonal, d the whole block. */
template <int lanes, class real, class vec>
__device__ inline vec huard(const real (&row)[lanes], shared_block<lanes, real> &d, const vec *inverse,
                            int lane, vec x)
{
#pragma unroll
    for (int k = 0; k < lanes; ++k) {
        vec sum = lane == k ? -x : static_cast<vec>(0);
        if (lane < k) sum = static_cast<vec>(d.at(k, lane)) * x;
#pragma unroll
        for (int step = 1; step < lanes; step *= 2)
            if (step <= k) sum += __shfl_xor_sync(ALL_LANES, sum, step);
        const vec xk = -sum * inverse[k];
        x = lane == k ? xk : lane < k ? fma_of(-static_cast<vec>(row[k]), xk, x) : x;
    }
    return x;
}

template <int lanes, class real, class vec, bool transposed>
__global__ void __launch_bounds__(JOB_BLOCK)
    apply_huard(const job_range<lanes> jobs, const factored<real> f, const sides<vec> s)
{
    __shared__ shared_block<lanes, real> blocks[JOB_BLOCK / lanes];
    __shared__ vec inverses[JOB_BLOCK];
    const int lane = threadIdx.x % lanes;
    shared_block<lanes, real> &d = blocks[threadIdx.x / lanes];
    vec *const inverse = inverses + (threadIdx.x - lane);
    const job_found job = find_job(jobs);
    const bool mine = lane < job.n;
    const int to = mine ? f.column[job.row + lane] : lane;
    real row[lanes];
    load_row<lanes>(f.data + job.entry, job.n, lane, row);
    const int64_t read = mine ? place_of(s.source, job.row + lane) : 0,
                  written = mine ? place_of(s.target, job.row + to) : 0;
    vec pivot = 1;
#pragma unroll
    for (int j = 0; j < lanes; ++j) {
        d.at(lane, j) = row[j];
        if (j == lane && mine) pivot = row[j];
    }
    inverse[lane] = 1 / pivot;
    __syncwarp();
    if (transposed) {
#pragma unroll
        for (int k = 0; k < lanes; ++k)
            row[k] = lane < k && k < job.n ? d.at(job.n - 1 - k, job.n - 1 - lane) : static_cast<real>(0);
    }
    for (int c = 0; c < s.columns; ++c) {
        const vec b = mine ? s.b[c * s.rows + read] : static_cast<vec>(0);
        const vec x = huard(row, d, inverse, lane, b);
        if (mine) s.y[c * s.rows + written] = x;
    }
}

template <class real, class vec> struct application {
    sd_block_kernel kernel;
    factored<real> f;
    sides<vec> s;

    template <int lanes> void run(sd_engine *e, const job_range<lanes> &jobs) const
    {
        const char *const what = "block_apply";
        if (kernel == SD_JORDAN)
            launch_jobs(e, what, apply_inverse<lanes, real, vec>, jobs, f, s);
        else if (kernel == SD_HUARD)
            launch_jobs(e, what, apply_huard<lanes, real, vec, false>, jobs, f, s);
        else if (kernel == SD_HUARD_TRANSPOSED)
            launch_jobs(e, what, apply_huard<lanes, real, vec, true>, jobs, f, s);
        else
            launch_jobs(e, what, apply_triangles<lanes, real, vec>, jobs, f, s);
    }
};

template <class real, class vec>
void apply_in(sd_engine *e, const sd_block_factors *x, int columns, const sd_vector *b, sd_vector *y)
{
    const bool symmetric = sd_block_symmetric(x->kernel);
    const bool cholesky = x->kernel == SD_LLT || x->kernel == SD_LLT_DIAGONAL;
    const application<real, vec> a = {x->kernel,
                                      {static_cast<const real *>(x->data), x->row,
                                       symmetric ? x->row : x->column,
                                       symmetric && !cholesky ? x->state : NULL, cholesky},
                                      {static_cast<const vec *>(b->data), static_cast<vec *>(y->data),
                                       x->plan->rows, columns, x->plan->source, x->plan->target}};
    for_each_range(e, x->plan, a);
}

} /* namespace */

template <class real>
void block_apply(sd_engine *e, const sd_block_factors *x, int columns, const sd_vector *b, sd_vector *y)
{
    if (e->status || columns == 0) return;
    if (b->precision == x->precision)
        apply_in<real, real>(e, x, columns, b, y);
    else
        apply_in<real, double>(e, x, columns, b, y);
}

template void block_apply<double>(sd_engine *, const sd_block_factors *, int, const sd_vector *, sd_vector *);
template void block_apply<float>(sd_engine *, const sd_block_factors *, int, const sd_vector *, sd_vector *);

} /* namespace sd_cuda */
