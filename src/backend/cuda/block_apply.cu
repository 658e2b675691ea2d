/*
 * y = F^-1 b for every block of a batch: see blocks.h for what the factors are. Arithmetic is in the
 * precision of the vectors.
 *
 * A sub-warp a block, lane i for row i, which it holds in registers through all right-hand sides. A block is
 * read by columns, the lanes side by side.
 *
 *   inverse     y_i is the sum of a_ij b_j, b_j handed round.
 *   triangles   L, D and U (or L', mirrored above the diagonal) of LDU, LDL' and LL': in step j of a
 *               triangular solve x_j is handed round, and all subtract their entry of column j.
 *   Gauss-Huard (Anzt et al., Variable-size batched Gauss-Huard, Figure 1, its lines 7, 15 and 18): step k
 *               forms x_k = (b_k - sum_{j<k} d_kj x_j) / d_kk and subtracts d_jk x_k from the x_j. The sum
 * runs over the lanes, so lane j needs column j below the diagonal, which it finds in shared memory, beside
 * its row above the diagonal. Only lanes up to k take part: the tree is no deeper than they need.
 *
 * The last two go step by step, which takes about as long as reading the block. So their warps stay, and read
 * their next blocks while they solve with the present ones: otherwise all would read at once and then compute
 * at once.
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
    bool cholesky, transposed;
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

/* Thread blocks of JOB_BLOCK threads that a multiprocessor has registers for: by those of a row, of which a
 * thread has two, and what else there is. */
constexpr int at_once(int words, bool much, bool converted)
{
    const int fit = words >= 64 ? 3 : words >= 32 ? 4 : words >= 16 ? 6 : 8;
    return fit - (words < 32 && much ? 2 : 0) - (converted ? 1 : 0);
}

/* What a lane has of its block before it begins: all loads are under way when this is made. */
template <int lanes, class real, class vec> struct loaded {
    job_found job;
    real row[lanes];
    vec b;        /* of the first right-hand side */
    int from, to; /* the permutations */
    uint32_t pairs;

    __device__ loaded(const job_found &found, const factored<real> &f, const sides<vec> &s, int lane)
        : job(found)
    {
        const bool mine = lane < job.n;
        load_row<lanes>(f.data + job.entry, job.n, lane, row);
        b = mine ? s.b[place_of(s.source, job.row + lane)] : static_cast<vec>(0);
        from = f.row && mine ? f.row[job.row + lane] : lane;
        to = f.column && mine ? f.column[job.row + lane] : lane;
        pairs = f.state && job.n > 0 ? f.state[job.block].pairs : 0;
    }
};

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

/* L, D and U, or L, L' of LL': D is 1 then, and x is divided by the diagonal in both solves. */
template <int lanes, class real, class vec> struct triangles {
    static constexpr int AT_ONCE = at_once(lanes * sizeof(real) / 4, true, sizeof(vec) > sizeof(real));
    struct room {
    };
    vec pivot,
        beside;  /* D: of this row, and beside it where the pivot is 2x2, which the triangles are without */
    vec scale;   /* what x is multiplied by in the triangular solves: 1, of LL' the inverse of l_ii */
    int partner; /* the other row of a 2x2 pivot, or -1 */

    __device__ triangles(loaded<lanes, real, vec> &own, int lane, const factored<real> &f, room &)
        : pivot(1), beside(0), scale(1)
    {
        const bool first = own.pairs >> lane & 1, second = lane > 0 && (own.pairs >> (lane - 1) & 1);
        partner = first ? lane + 1 : second ? lane - 1 : -1;
#pragma unroll
        for (int j = 0; j < lanes; ++j) {
            if (j == lane && lane < own.job.n) pivot = own.row[j];
            if (j == partner) {
                beside = own.row[j];
                own.row[j] = 0;
            }
        }
        if (f.cholesky) {
            scale = 1 / pivot;
            pivot = 1;
        }
    }

    template <bool lower> __device__ vec substitute(const real (&row)[lanes], int lane, int j, vec x) const
    {
        const vec xj = __shfl_sync(ALL_LANES, x * scale, j, lanes);
        if (lower ? lane > j : lane < j) x = fma_of(-static_cast<vec>(row[j]), xj, x);
        return lane == j ? xj : x;
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

/* Gauss-Huard's D. */
template <int lanes, class real, class vec> struct huard {
    static constexpr int AT_ONCE = at_once(lanes * sizeof(real) / 4, false, sizeof(vec) > sizeof(real));
    /* With -1 on the diagonal, so that the sum of a step has x_k in it too. */
    struct room {
        shared_block<lanes, real> block;
        vec inverse[lanes];
    };
    room &in;

    __device__ huard(loaded<lanes, real, vec> &own, int lane, const factored<real> &f, room &where)
        : in(where)
    {
        const int last = own.job.n - 1;
        vec pivot = 1;
        __syncwarp(); /* the block before may still be read */
#pragma unroll
        for (int j = 0; j < lanes; ++j) {
            if (j == lane && lane <= last) pivot = own.row[j];
            in.block.at(lane, j) = j == lane ? static_cast<real>(-1) : own.row[j];
        }
        in.inverse[lane] = 1 / pivot;
        __syncwarp();
        if (!f.transposed) return;
#pragma unroll
        for (int k = 0; k < lanes; ++k)
            own.row[k] = lane < k && k <= last ? in.block.at(last - k, last - lane) : static_cast<real>(0);
    }

    __device__ vec step(const real (&row)[lanes], int lane, int k, vec x) const
    {
        vec sum = 0;
        if (lane <= k) sum = static_cast<vec>(in.block.at(k, lane)) * x;
#pragma unroll
        for (int apart = 1; apart < lanes; apart *= 2)
            if (apart <= k) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
        const vec xk = -sum * in.inverse[k];
        if (lane < k) x = fma_of(-static_cast<vec>(row[k]), xk, x);
        return lane == k ? xk : x;
    }

    __device__ vec solve(const real (&row)[lanes], int lane, int most, vec x) const
    {
#pragma unroll
        for (int first = 0; first < lanes; first += STEPS)
            if (first < most)
#pragma unroll
                for (int k = first; k < first + STEPS; ++k) x = step(row, lane, k, x);
        return x;
    }
};

/* All right-hand sides of a block. */
template <int lanes, class real, class vec, class method>
__device__ inline void solve_block(loaded<lanes, real, vec> &own, int lane, const factored<real> &f,
                                   const sides<vec> &s, typename method::room &room)
{
    const bool mine = lane < own.job.n;
    const int most = __reduce_max_sync(ALL_LANES, own.job.n);
    const method how(own, lane, f, room);
    const int64_t read = mine ? place_of(s.source, own.job.row + lane) : 0,
                  written = mine ? place_of(s.target, own.job.row + own.to) : 0;
    for (int c = 0;;) {
        const vec x = how.solve(own.row, lane, most, __shfl_sync(ALL_LANES, own.b, own.from, lanes));
        if (mine) s.y[c * s.rows + written] = x;
        if (++c == s.columns) break;
        own.b = mine ? s.b[c * s.rows + read] : static_cast<vec>(0);
    }
}

template <int lanes, class real, class vec, class method>
__global__ void __launch_bounds__(JOB_BLOCK, method::AT_ONCE)
    apply_steps(const job_range<lanes> jobs, const factored<real> f, const sides<vec> s)
{
    __shared__ typename method::room rooms[JOB_BLOCK / lanes];
    const int lane = threadIdx.x % lanes, in_warp = threadIdx.x % WARP / lanes;
    const int64_t jobs_at_once = static_cast<int64_t>(gridDim.x) * (JOB_BLOCK / lanes), count = jobs.count();
    int64_t at = (static_cast<int64_t>(blockIdx.x) * JOB_BLOCK + threadIdx.x) / lanes;
    loaded<lanes, real, vec> now(job_at(jobs, at), f, s, lane);
    job_found later = job_at(jobs, at + jobs_at_once);
    for (; at - in_warp < count; at += jobs_at_once) { /* the same for all of a warp */
        const loaded<lanes, real, vec> next(later, f, s, lane);
        later = job_at(jobs, at + 2 * jobs_at_once);
        solve_block<lanes, real, vec, method>(now, lane, f, s, rooms[threadIdx.x / lanes]);
        now = next;
    }
}

template <class real, class vec> struct application {
    sd_block_kernel kernel;
    factored<real> f;
    sides<vec> s;

    template <class method, int lanes> void run_steps(sd_engine *e, const job_range<lanes> &jobs) const
    {
        if (e->status || jobs.count() == 0) return;
        const int64_t wanted = (jobs.count() * lanes + JOB_BLOCK - 1) / JOB_BLOCK,
                      most = static_cast<int64_t>(state_of(e)->processors) * method::AT_ONCE;
        launch_with(e, "block_apply", apply_steps<lanes, real, vec, method>, wanted < most ? wanted : most,
                    JOB_BLOCK, jobs, f, s);
    }

    template <int lanes> void run(sd_engine *e, const job_range<lanes> &jobs) const
    {
        if (kernel == SD_JORDAN)
            launch_jobs(e, "block_apply", apply_inverse<lanes, real, vec>, jobs, f, s);
        else if (kernel == SD_HUARD || kernel == SD_HUARD_TRANSPOSED)
            run_steps<huard<lanes, real, vec>>(e, jobs);
        else
            run_steps<triangles<lanes, real, vec>>(e, jobs);
    }
};

template <class real, class vec>
void apply_in(sd_engine *e, const sd_block_factors *x, int columns, const sd_vector *b, sd_vector *y)
{
    const bool symmetric = sd_block_symmetric(x->kernel);
    const bool cholesky = x->kernel == SD_LLT || x->kernel == SD_LLT_DIAGONAL;
    const bool permuted = x->kernel < SD_JORDAN;
    const application<real, vec> a = {
        x->kernel,
        {static_cast<const real *>(x->data), permuted ? x->row : NULL, symmetric ? x->row : x->column,
         symmetric && !cholesky ? x->state : NULL, cholesky, x->kernel == SD_HUARD_TRANSPOSED},
        {static_cast<const vec *>(b->data), static_cast<vec *>(y->data), x->plan->rows, columns,
         x->plan->source, x->plan->target}};
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
