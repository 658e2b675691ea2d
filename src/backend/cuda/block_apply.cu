/*
 * y = F^-1 b for every block of a batch: see blocks.h for what the factors are. Arithmetic is in the
 * precision of the vectors.
 *
 * A sub-warp a block, lane i for row i, which it holds in registers through all right-hand sides. A block is
 * read by columns, the lanes side by side.
 *
 * - The inverse: y_i is the sum of a_ij b_j, b_j handed round.
 * - Triangles, of LDU, LDL' and LL' (whose L' is mirrored above the diagonal): in step j of a triangular
 * solve x_j is handed round, and all subtract their entry of column j.
 * - Gauss-Huard (Anzt et al., Variable-size batched Gauss-Huard, Figure 1, its lines 7, 15 and 18): step k
 *   forms x_k = (b_k - sum_{j<k} d_kj x_j) / d_kk and subtracts d_jk x_k from the x_j. The sum runs over the
 *   lanes, so lane j needs column j below the diagonal, which it finds in shared memory, beside its row above
 *   the diagonal.
 *
 * A sum over the lanes takes longer than all the arithmetic of a step. So Gauss-Huard takes two steps at
 * once: x_{k+1} needs the sum over j of d_{k+1,j} (x_j - d_jk x_k), which is that of d_{k+1,j} x_j, formed
 * beside the sum of step k, less x_k times that of d_{k+1,j} d_jk, which does not wait for x.
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
    const uint8_t *row, *column; /* NULL: as they stand */
    const sd_block_state *state; /* NULL where no pivot is 2x2 */
    bool transposed;             /* Gauss-Huard's part above the diagonal, about the anti-diagonal */
};

__device__ inline int64_t place_of(const int32_t *order, int32_t row)
{
    return order ? order[row] : row;
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

/* ---- step by step ---- */

constexpr int STEPS = 4; /* between two looks at whether there are any left */

/* The first of [a b; b c]^-1 [x other] */
__device__ inline double solve_pair(double a, double b, double c, double x, double other)
{
    const sd_pair_double pair = {a, b, c};
    sd_pair_solve_double(sd_pair_solver_of_double(pair), &x, &other);
    return x;
}
__device__ inline float solve_pair(float a, float b, float c, float x, float other)
{
    const sd_pair_single pair = {a, b, c};
    sd_pair_solve_single(sd_pair_solver_of_single(pair), &x, &other);
    return x;
}

/* L, D and U, or L and L' of LL': D is 1 then, and x is divided by the diagonal in both solves. */
template <int lanes, class real, class vec, bool cholesky> struct triangles {
    static constexpr int AT_ONCE = 4;
    struct room {
    };
    vec pivot,
        beside;  /* D: of this row, and beside it where the pivot is 2x2, which the triangles are without */
    vec scale;   /* of LL': the inverse of l_ii */
    int partner; /* the other row of a 2x2 pivot, or -1 */

    __device__ triangles(real (&row)[lanes], int n, int lane, uint32_t pairs, const factored<real> &, room &)
        : pivot(1), beside(0), scale(1)
    {
        const bool first = pairs >> lane & 1, second = lane > 0 && (pairs >> (lane - 1) & 1);
        partner = first ? lane + 1 : second ? lane - 1 : -1;
#pragma unroll
        for (int j = 0; j < lanes; ++j) {
            if (j == lane && lane < n) pivot = row[j];
            if (j == partner) {
                beside = row[j];
                row[j] = 0;
            }
        }
        if (cholesky) {
            scale = 1 / pivot;
            pivot = 1;
        }
    }

    template <bool lower> __device__ vec substitute(const real (&row)[lanes], int lane, int j, vec x) const
    {
        const vec xj = __shfl_sync(ALL_LANES, cholesky ? x * scale : x, j, lanes);
        if (lower ? lane > j : lane < j) x = fma_of(-static_cast<vec>(row[j]), xj, x);
        return cholesky && lane == j ? xj : x;
    }

    __device__ vec solve(const real (&row)[lanes], int lane, int most, vec x) const
    {
#pragma unroll
        for (int first = 0; first < lanes; first += STEPS)
            if (first < most)
#pragma unroll
                for (int j = first; j < first + STEPS; ++j) x = substitute<true>(row, lane, j, x);
        const int other = partner < 0 ? lane : partner;
        const vec other_pivot = __shfl_sync(ALL_LANES, pivot, other, lanes),
                  other_x = __shfl_sync(ALL_LANES, x, other, lanes);
        x = partner < 0 ? x / pivot : solve_pair(pivot, beside, other_pivot, x, other_x);
#pragma unroll
        for (int first = lanes - STEPS; first >= 0; first -= STEPS)
            if (first < most)
#pragma unroll
                for (int j = first + STEPS - 1; j >= first; --j) x = substitute<false>(row, lane, j, x);
        return x;
    }
};

/* The sums of a and of b over the lanes of a sub-warp, in all of them. Half of the lanes add up a, half b. */
template <int lanes, class vec> __device__ inline void sum_two(int lane, vec &a, vec &b)
{
    const bool upper = lane >= lanes / 2;
    vec sum = upper ? b : a;
    sum += __shfl_xor_sync(ALL_LANES, upper ? a : b, lanes / 2);
#pragma unroll
    for (int apart = lanes / 4; apart > 0; apart /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
    const vec other = __shfl_xor_sync(ALL_LANES, sum, lanes / 2);
    a = upper ? other : sum;
    b = upper ? sum : other;
}

/* Gauss-Huard's D, with -1 on the diagonal, so that the sum of a step has x_k in it too. */
template <int lanes, class real, class vec> struct huard {
    static constexpr int AT_ONCE = 5;
    struct room {
        shared_block<lanes, real> block;
        vec inverse[lanes];
    };
    room &in;

    __device__ huard(real (&row)[lanes], int n, int lane, uint32_t, const factored<real> &f, room &where)
        : in(where)
    {
        const int last = n - 1;
        vec pivot = 1;
#pragma unroll
        for (int j = 0; j < lanes; ++j) {
            if (j == lane && lane < n) pivot = row[j];
            if (j == lane) row[j] = -1;
            in.block.at(lane, j) = row[j];
        }
        in.inverse[lane] = 1 / pivot;
        __syncwarp();
        if (!f.transposed) return;
#pragma unroll
        for (int k = 0; k < lanes; ++k)
            if (k != lane)
                row[k] = lane < k && k < n ? in.block.at(last - k, last - lane) : static_cast<real>(0);
    }

    /* The lane's part of the sum of d_{k+1,j} d_jk, without d_{k+1,k}. */
    __device__ vec ahead(const real (&row)[lanes], int lane, int k) const
    {
        if (lane > k) return 0;
        return static_cast<vec>(in.block.at(k + 1, lane)) * static_cast<vec>(row[k]);
    }

    /* Steps k and k + 1; `cross` is what all lanes have of ahead, added up. */
    __device__ vec two_steps(const real (&row)[lanes], int lane, int k, vec cross, vec x) const
    {
        vec a = 0, b = 0;
        if (lane <= k) a = static_cast<vec>(in.block.at(k, lane)) * x;
        if (lane <= k + 1 && lane != k) b = static_cast<vec>(in.block.at(k + 1, lane)) * x;
        sum_two<lanes>(lane, a, b);
        const vec one = -a * in.inverse[k];
        const vec two = -fma_of(a, cross * in.inverse[k], b) * in.inverse[k + 1];
        const vec next = lane < k ? fma_of(-static_cast<vec>(row[k]), one, x) : one;
        if (lane <= k) x = fma_of(-static_cast<vec>(row[k + 1]), two, next);
        return lane == k + 1 ? two : x;
    }

    __device__ vec solve(const real (&row)[lanes], int lane, int most, vec x) const
    {
        static_assert(STEPS == 4, "two times two steps");
#pragma unroll
        for (int k = 0; k < lanes; k += STEPS) {
            if (k >= most) continue;
            vec first = ahead(row, lane, k), second = ahead(row, lane, k + 2);
            sum_two<lanes>(lane, first, second);
            x = two_steps(row, lane, k, first, x);
            x = two_steps(row, lane, k + 2, second, x);
        }
        return x;
    }
};

template <int lanes, class real, class vec, class method>
__global__ void __launch_bounds__(JOB_BLOCK, method::AT_ONCE)
    apply_steps(const job_range<lanes> jobs, const factored<real> f, const sides<vec> s)
{
    __shared__ typename method::room rooms[JOB_BLOCK / lanes];
    const int lane = threadIdx.x % lanes;
    const job_found job = find_job(jobs);
    const bool mine = lane < job.n;
    const int most = __reduce_max_sync(ALL_LANES, job.n); /* of the warp's blocks */
    real row[lanes];
    load_row<lanes>(f.data + job.entry, job.n, lane, row);
    const int from = f.row && mine ? f.row[job.row + lane] : lane,
              to = f.column && mine ? f.column[job.row + lane] : lane;
    const uint32_t pairs = f.state && job.n > 0 ? f.state[job.block].pairs : 0;
    const int64_t read = mine ? place_of(s.source, job.row + lane) : 0,
                  written = mine ? place_of(s.target, job.row + to) : 0;
    const method how(row, job.n, lane, pairs, f, rooms[threadIdx.x / lanes]);
    for (int c = 0; c < s.columns; ++c) {
        const vec b = mine ? s.b[c * s.rows + read] : static_cast<vec>(0);
        const vec x = how.solve(row, lane, most, __shfl_sync(ALL_LANES, b, from, lanes));
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
        else if (kernel == SD_HUARD || kernel == SD_HUARD_TRANSPOSED)
            launch_jobs(e, what, apply_steps<lanes, real, vec, huard<lanes, real, vec>>, jobs, f, s);
        else if (kernel == SD_LLT || kernel == SD_LLT_DIAGONAL)
            launch_jobs(e, what, apply_steps<lanes, real, vec, triangles<lanes, real, vec, true>>, jobs, f,
                        s);
        else
            launch_jobs(e, what, apply_steps<lanes, real, vec, triangles<lanes, real, vec, false>>, jobs, f,
                        s);
    }
};

template <class real, class vec>
void apply_in(sd_engine *e, const sd_block_factors *x, int columns, const sd_vector *b, sd_vector *y)
{
    const bool symmetric = sd_block_symmetric(x->kernel);
    const bool pairs = x->kernel >= SD_LDLT_STATIC && x->kernel <= SD_LDLT_COMPLETE;
    const bool permuted = x->kernel < SD_JORDAN;
    const application<real, vec> a = {x->kernel,
                                      {static_cast<const real *>(x->data), permuted ? x->row : NULL,
                                       symmetric ? x->row : x->column, pairs ? x->state : NULL,
                                       x->kernel == SD_HUARD_TRANSPOSED},
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
