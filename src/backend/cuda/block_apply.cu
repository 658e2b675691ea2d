/*
 * y = F^-1 b for every block of a batch: see blocks.h for what the factors are. Arithmetic is in the
 * precision of the vectors.
 *
 *   inverse     a sub-warp a block, lane i for row i, which it holds in registers through all right-hand
 *               sides: y_i is the sum of a_ij b_j, b_j handed round. The block is read by columns, the lanes
 *               side by side.
 *   triangles   L, D and U (or L', mirrored above the diagonal) of LDU, LDL' and LL': in step j of a
 *               triangular solve x_j is handed to all rows, which subtract their entry of column j.
 *   Gauss-Huard (Anzt et al., Variable-size batched Gauss-Huard, Figure 1, its lines 7, 15 and 18): step k
 *               forms x_k = (b_k - sum_{j<k} d_kj x_j) / d_kk and subtracts d_jk x_k from the x_j.
 *
 * The last two go step by step, and a step costs a sum over lanes or a word to them, which takes longer than
 * its arithmetic. So a block has few lanes, four rows to each, and a warp has many blocks at work. They stand
 * in shared memory, where the warp copies them side by side without a register in between; a solve reads
 * every entry there once, by rows or by columns, without two lanes meeting in a bank.
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
    bool cholesky;
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
    const job_found job = find_job<lanes>(jobs);
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

/* ---- blocks in shared memory ---- */

/* How the blocks of `lanes` rows at most are shared out: lane g of a block's team has rows g, g + TEAM, ...
 */
template <int lanes> struct team_of {
    static constexpr int TEAM = lanes < 8 ? 1 : lanes / 4;
    static constexpr int ROWS = lanes / TEAM;
    static constexpr int BLOCKS = WARP / TEAM; /* of a warp */
    static constexpr int THREADS = lanes == 32   ? 32
                                   : lanes == 16 ? 64
                                                 : 128; /* their blocks fit into 48 KB */
    static constexpr int STRIDE = lanes + 1;            /* of the columns of a block */
    static constexpr int SPACE = lanes * STRIDE + TEAM; /* of the blocks: teams meet in no bank either */
};

/* What a warp has in shared memory, for each of its blocks. Beyond the block there are zeros. */
template <int lanes, class real, class vec> struct warp_room : team_of<lanes> {
    real entry[warp_room::BLOCKS][warp_room::SPACE];
    vec side[warp_room::BLOCKS][lanes + 1];    /* a right-hand side, then its solution */
    vec inverse[warp_room::BLOCKS][lanes + 1]; /* of the diagonal; 1 where it takes no part */
};

/* Begins to copy a number into shared memory, or a zero where `there` is false. */
template <class real> __device__ inline void copy_later(real *to, const real *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(sizeof(real)), "r"(there ? static_cast<int>(sizeof(real)) : 0)
                 : "memory");
}

/* Ends what the calling thread has begun. */
__device__ inline void end_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Copies the warp's blocks, `lanes` threads a block: all copies are under way when this returns. */
template <int lanes, class real, class vec>
__device__ inline void begin_copy(warp_room<lanes, real, vec> &room, const real *data, const job_found &job,
                                  int most)
{
    using team = team_of<lanes>;
    const int lane = threadIdx.x % WARP, i = lane % lanes;
#pragma unroll
    for (int round = 0; round < team::ROWS; ++round) {
        const int block = round * (WARP / lanes) + lane / lanes, owner = block * team::TEAM;
        const int n = __shfl_sync(ALL_LANES, job.n, owner);
        const real *const from = data + __shfl_sync(ALL_LANES, job.entry, owner);
        real *const to = room.entry[block] + i;
#pragma unroll 8
        for (int j = 0; j < most; ++j) {
            const bool there = i < n && j < n;
            copy_later(to + j * team::STRIDE, there ? from + j * n + i : data, there);
        }
    }
}

/* Right-hand side c of the warp's blocks into `side`, or the solutions out of it. */
template <int lanes, class real, class vec>
__device__ inline void move_sides(warp_room<lanes, real, vec> &room, const job_found &job,
                                  const sides<vec> &s, int c, bool back)
{
    using team = team_of<lanes>;
    const int lane = threadIdx.x % WARP, i = lane % lanes;
    vec value[team::ROWS];
#pragma unroll
    for (int round = 0; round < team::ROWS; ++round) {
        const int block = round * (WARP / lanes) + lane / lanes, owner = block * team::TEAM;
        const int n = __shfl_sync(ALL_LANES, job.n, owner), row = __shfl_sync(ALL_LANES, job.row, owner) + i;
        if (back && i < n) s.y[c * s.rows + place_of(s.target, row)] = room.side[block][i];
        if (!back) value[round] = i < n ? s.b[c * s.rows + place_of(s.source, row)] : static_cast<vec>(0);
    }
    if (back) return;
#pragma unroll
    for (int round = 0; round < team::ROWS; ++round)
        room.side[round * (WARP / lanes) + lane / lanes][i] = value[round];
}

/* ---- one block, by its team ---- */

/* What a lane knows of its block. */
template <int lanes, class real, class vec> struct share : team_of<lanes> {
    using team = team_of<lanes>;
    int g; /* the lane in its team */
    int n;
    real *entry;
    vec *side, *inverse;

    __device__ share(warp_room<lanes, real, vec> &room, int rows) : g(threadIdx.x % team::TEAM), n(rows)
    {
        const int block = threadIdx.x % WARP / team::TEAM;
        entry = room.entry[block];
        side = room.side[block];
        inverse = room.inverse[block];
    }

    __device__ int row(int r) const
    {
        return g + r * team::TEAM;
    }

    __device__ real &at(int i, int j) const
    {
        return entry[j * team::STRIDE + i];
    }

    /* Row j of x, which one of the lanes has. */
    __device__ vec broadcast(const vec (&x)[team::ROWS], int j) const
    {
        return __shfl_sync(ALL_LANES, x[j / team::TEAM], j % team::TEAM, team::TEAM);
    }
};

/* The lane's diagonal entries, inverted; `ones` instead where they take no part. */
template <int lanes, class real, class vec>
__device__ inline void invert_diagonal(const share<lanes, real, vec> &own, bool ones)
{
#pragma unroll
    for (int r = 0; r < own.ROWS; ++r) {
        const int i = own.row(r);
        own.inverse[i] = ones || i >= own.n ? static_cast<vec>(1) : 1 / static_cast<vec>(own.at(i, i));
    }
}

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
    static constexpr int ROWS = team_of<lanes>::ROWS, TEAM = team_of<lanes>::TEAM;
    using lane_share = share<lanes, real, vec>;

    vec pivot[ROWS], beside[ROWS], other_pivot[ROWS]; /* D: beside is taken out of the triangles */
    int partner[ROWS];                                /* the other row of a 2x2 pivot, or -1 */

    __device__ triangles(const lane_share &own, uint32_t pairs, bool cholesky)
    {
        invert_diagonal(own, !cholesky);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = own.row(r);
            const bool first = pairs >> i & 1, second = i > 0 && (pairs >> (i - 1) & 1);
            partner[r] = first ? i + 1 : second ? i - 1 : -1;
            pivot[r] = cholesky || i >= own.n ? static_cast<vec>(1) : static_cast<vec>(own.at(i, i));
            beside[r] = partner[r] < 0 ? static_cast<vec>(0) : static_cast<vec>(own.at(i, partner[r]));
            other_pivot[r] =
                partner[r] < 0 ? static_cast<vec>(1) : static_cast<vec>(own.at(partner[r], partner[r]));
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (partner[r] >= 0) own.at(own.row(r), partner[r]) = 0;
        __syncwarp();
    }

    template <bool lower> __device__ void substitute(const lane_share &own, int j, vec (&x)[ROWS]) const
    {
        const vec xj = own.broadcast(x, j) * own.inverse[j];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = own.row(r);
            if (lower ? r < j / TEAM : r > j / TEAM) continue;
            const vec next = fma_of(-static_cast<vec>(own.at(i, j)), xj, x[r]);
            x[r] = i == j ? xj : (lower ? i > j : i < j) ? next : x[r];
        }
    }

    __device__ void divide(const lane_share &own, vec (&x)[ROWS]) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) own.side[own.row(r)] = x[r];
        __syncwarp();
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            x[r] = partner[r] < 0
                       ? x[r] / pivot[r]
                       : solve_pair(pivot[r], beside[r], other_pivot[r], x[r], own.side[partner[r]]);
    }

    __device__ void solve(const lane_share &own, int most, vec (&x)[ROWS]) const
    {
#pragma unroll
        for (int j = 0; j < lanes; ++j)
            if (j < most) substitute<true>(own, j, x);
        divide(own, x);
#pragma unroll
        for (int j = lanes - 1; j >= 0; --j)
            if (j < most) substitute<false>(own, j, x);
    }
};

/* Gauss-Huard's D, whose part above the diagonal may be transposed about the anti-diagonal. */
template <int lanes, class real, class vec, bool transposed> struct huard {
    static constexpr int ROWS = team_of<lanes>::ROWS, TEAM = team_of<lanes>::TEAM;
    using lane_share = share<lanes, real, vec>;

    __device__ huard(const lane_share &own, uint32_t, bool)
    {
        invert_diagonal(own, false);
        __syncwarp();
    }

    __device__ vec upper(const lane_share &own, int i, int k) const
    {
        if (!transposed) return static_cast<vec>(own.at(i, k));
        const bool there = i < k && k < own.n;
        return there ? static_cast<vec>(own.at(own.n - 1 - k, own.n - 1 - i)) : static_cast<vec>(0);
    }

    __device__ void step(const lane_share &own, int k, vec (&x)[ROWS]) const
    {
        vec sum = 0;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = own.row(r);
            if (r > k / TEAM) continue;
            const vec next = fma_of(static_cast<vec>(own.at(k, i)), x[r], sum);
            sum = i < k ? next : i == k ? sum - x[r] : sum;
        }
#pragma unroll
        for (int apart = 1; apart < TEAM; apart *= 2)
            if (apart <= k) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
        const vec xk = -sum * own.inverse[k];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = own.row(r);
            if (r > k / TEAM) continue;
            const vec next = fma_of(-upper(own, i, k), xk, x[r]);
            x[r] = i == k ? xk : i < k ? next : x[r];
        }
    }

    __device__ void solve(const lane_share &own, int most, vec (&x)[ROWS]) const
    {
#pragma unroll
        for (int k = 0; k < lanes; ++k)
            if (k < most) step(own, k, x);
    }
};

template <int lanes, class real, class vec, class method>
__global__ void __launch_bounds__(team_of<lanes>::THREADS)
    apply_steps(const job_range<lanes> jobs, const factored<real> f, const sides<vec> s)
{
    using team = team_of<lanes>;
    __shared__ warp_room<lanes, real, vec> rooms[team::THREADS / WARP];
    warp_room<lanes, real, vec> &room = rooms[threadIdx.x / WARP];
    const job_found job = find_job<team::TEAM>(jobs);
    const int most = __reduce_max_sync(ALL_LANES, job.n);
    begin_copy(room, f.data, job, most);
    move_sides(room, job, s, 0, false);
    const share<lanes, real, vec> own(room, job.n);
    int from[team::ROWS], to[team::ROWS];
#pragma unroll
    for (int r = 0; r < team::ROWS; ++r) {
        const int i = own.row(r);
        from[r] = f.row && i < job.n ? f.row[job.row + i] : i;
        to[r] = f.column && i < job.n ? f.column[job.row + i] : i;
    }
    const uint32_t pairs = f.state && job.n > 0 ? f.state[job.block].pairs : 0;
    end_copies();
    __syncwarp();
    const method how(own, pairs, f.cholesky);
    for (int c = 0;;) {
        vec x[team::ROWS];
#pragma unroll
        for (int r = 0; r < team::ROWS; ++r) x[r] = own.side[from[r]];
        __syncwarp();
        how.solve(own, most, x);
        __syncwarp();
#pragma unroll
        for (int r = 0; r < team::ROWS; ++r) own.side[to[r]] = x[r];
        __syncwarp();
        move_sides(room, job, s, c, true);
        if (++c == s.columns) break;
        __syncwarp();
        move_sides(room, job, s, c, false);
        __syncwarp();
    }
}

template <class real, class vec> struct application {
    sd_block_kernel kernel;
    factored<real> f;
    sides<vec> s;

    template <class method, int lanes> void run_steps(sd_engine *e, const job_range<lanes> &jobs) const
    {
        using team = team_of<lanes>;
        launch_jobs(e, "block_apply", apply_steps<lanes, real, vec, method>, team::THREADS, team::TEAM, jobs,
                    f, s);
    }

    template <int lanes> void run(sd_engine *e, const job_range<lanes> &jobs) const
    {
        if (kernel == SD_JORDAN)
            launch_jobs(e, "block_apply", apply_inverse<lanes, real, vec>, JOB_BLOCK, lanes, jobs, f, s);
        else if (kernel == SD_HUARD)
            run_steps<huard<lanes, real, vec, false>>(e, jobs);
        else if (kernel == SD_HUARD_TRANSPOSED)
            run_steps<huard<lanes, real, vec, true>>(e, jobs);
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
    const application<real, vec> a = {x->kernel,
                                      {static_cast<const real *>(x->data), permuted ? x->row : NULL,
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
