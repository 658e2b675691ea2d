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
 * its arithmetic. So a block has few lanes, several rows to each, and a warp has several blocks at work. They
 * stand in shared memory, where a solve reads every entry once, by rows or by columns, without two lanes
 * meeting in a bank. Warps stay, and copy their next blocks (cp.async: no register in between) while they
 * solve with the present ones: otherwise all would read at once and then compute at once.
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

/* ---- blocks in shared memory ---- */

/* How blocks of `lanes` rows at most are shared out: lane g of a block's team has rows g, g + TEAM, ... */
template <int lanes> struct team_of {
    static constexpr int TEAM = lanes < 8 ? 1 : lanes / 4;
    static constexpr int ROWS = lanes / TEAM;
    static constexpr int BLOCKS = WARP / TEAM; /* of a warp */
};

/* A warp's blocks in shared memory, with their right-hand sides, which become their solutions. Columns of a
 * block are STRIDE apart, which is odd, blocks an odd multiple of TEAM: so neither the rows nor the columns
 * that teams read together meet in a bank. Beyond a block there are zeros. */
template <int lanes, class real, class vec> struct room : team_of<lanes> {
    static constexpr int STRIDE = lanes + 1, SPACE = lanes * STRIDE + room::TEAM, SIDE = lanes + 1;
    real entry[room::BLOCKS * SPACE];
    vec side[room::BLOCKS * SIDE];
};

/* What a warp has: the present blocks, the next ones, and of the present ones the inverse diagonal. */
template <int lanes, class real, class vec> struct rooms {
    room<lanes, real, vec> turn[2];
    vec inverse[room<lanes, real, vec>::BLOCKS * room<lanes, real, vec>::SIDE];
};

/* Begins to copy a number into shared memory, or a zero where `there` is false. */
template <class real> __device__ inline void copy_later(real *to, const real *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(sizeof(real)), "r"(there ? static_cast<int>(sizeof(real)) : 0)
                 : "memory");
}

/* What the calling thread has begun so far is one group; */
__device__ inline void end_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* and all groups but the last `but` are there. */
template <int but> __device__ inline void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(but) : "memory");
}

/* Begins to copy right-hand side c of the warp's blocks, `lanes` threads a block. */
template <int lanes, class real, class vec>
__device__ inline void begin_sides(room<lanes, real, vec> &to, const job_found &job, const sides<vec> &s,
                                   int c)
{
    const int lane = threadIdx.x, i = lane % lanes;
#pragma unroll
    for (int round = 0; round < to.ROWS; ++round) {
        const int block = round * (WARP / lanes) + lane / lanes, owner = block * to.TEAM;
        const int n = __shfl_sync(ALL_LANES, job.n, owner), row = __shfl_sync(ALL_LANES, job.row, owner) + i;
        const bool there = i < n;
        const int64_t at = there ? c * s.rows + place_of(s.source, row) : 0;
        copy_later(to.side + block * to.SIDE + i, s.b + at, there);
    }
}

constexpr int STEPS = 4; /* that are taken together: rows and columns up to a multiple of it are there */

__device__ inline int steps_of(int rows)
{
    return (rows + STEPS - 1) / STEPS * STEPS;
}

/* The same of the blocks, and their first right-hand sides. What stands transposed about the anti-diagonal is
 * put where it belongs. */
template <int lanes, class real, class vec>
__device__ inline void begin_blocks(room<lanes, real, vec> &to, const factored<real> &f, const job_found &job,
                                    const sides<vec> &s)
{
    const int lane = threadIdx.x, i = lane % lanes;
    const int most = steps_of(__reduce_max_sync(ALL_LANES, job.n));
    begin_sides(to, job, s, 0);
#pragma unroll
    for (int round = 0; round < to.ROWS; ++round) {
        const int block = round * (WARP / lanes) + lane / lanes, owner = block * to.TEAM;
        const int n = __shfl_sync(ALL_LANES, job.n, owner);
        const real *const from = f.data + __shfl_sync(ALL_LANES, job.entry, owner) + i;
        real *const first = to.entry + block * to.SPACE;
#pragma unroll 4
        for (int j = 0; j < most; ++j) {
            const bool there = i < n && j < n, turned = f.transposed && i < j && there;
            const int at = turned ? (n - 1 - i) * to.STRIDE + n - 1 - j : j * to.STRIDE + i;
            copy_later(first + at, there ? from + j * n : f.data, there);
        }
    }
}

/* Solutions c of the warp's blocks. */
template <int lanes, class real, class vec>
__device__ inline void write_sides(const room<lanes, real, vec> &from, const job_found &job,
                                   const sides<vec> &s, int c)
{
    const int lane = threadIdx.x, i = lane % lanes;
#pragma unroll
    for (int round = 0; round < from.ROWS; ++round) {
        const int block = round * (WARP / lanes) + lane / lanes, owner = block * from.TEAM;
        const int n = __shfl_sync(ALL_LANES, job.n, owner), row = __shfl_sync(ALL_LANES, job.row, owner) + i;
        if (i < n) s.y[c * s.rows + place_of(s.target, row)] = from.side[block * from.SIDE + i];
    }
}

/* ---- one block, by its team ---- */

/* What a lane knows of its block. */
template <int lanes, class real, class vec> struct share : team_of<lanes> {
    using place = room<lanes, real, vec>;
    int g; /* the lane in its team */
    int n;
    real *entry;
    vec *side;
    vec *inverse; /* of the diagonal; 1 where it takes no part */

    __device__ share(place &from, vec *inverses, int rows) : g(threadIdx.x % share::TEAM), n(rows)
    {
        const int block = threadIdx.x / share::TEAM;
        entry = from.entry + block * place::SPACE;
        side = from.side + block * place::SIDE;
        inverse = inverses + block * place::SIDE;
    }

    __device__ int row(int r) const
    {
        return g + r * share::TEAM;
    }

    __device__ real &at(int i, int j) const
    {
        return entry[j * place::STRIDE + i];
    }

    /* (row r of the lane, j) and (j, row r of the lane): an offset that is known ahead, from one address each
     */
    __device__ vec in_row(int r, int j) const
    {
        return static_cast<vec>((entry + g)[j * place::STRIDE + r * share::TEAM]);
    }
    __device__ vec in_column(int j, int r) const
    {
        return static_cast<vec>((entry + g * place::STRIDE)[r * share::TEAM * place::STRIDE + j]);
    }

    /* Row j of x, which one of the lanes has. */
    __device__ vec broadcast(const vec (&x)[share::ROWS], int j) const
    {
        return __shfl_sync(ALL_LANES, x[j / share::TEAM], j % share::TEAM, share::TEAM);
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

    __device__ triangles(const lane_share &own, uint32_t pairs, const factored<real> &f)
    {
        const bool cholesky = f.cholesky;
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
        const int mine = j / TEAM, lane = j % TEAM; /* where row j is */
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (r == mine ? (lower ? own.g > lane : own.g < lane) : lower ? r > mine : r < mine)
                x[r] = fma_of(-own.in_row(r, j), xj, x[r]);
        if (own.g == lane) x[mine] = xj;
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
        for (int first = 0; first < lanes; first += STEPS)
            if (first < most)
#pragma unroll
                for (int j = first; j < first + STEPS; ++j) substitute<true>(own, j, x);
        divide(own, x);
#pragma unroll
        for (int first = lanes - STEPS; first >= 0; first -= STEPS)
            if (first < most)
#pragma unroll
                for (int j = first + STEPS - 1; j >= first; --j) substitute<false>(own, j, x);
    }
};

/* Gauss-Huard's D, with -1 on the diagonal, so that the sum of a step has x_k in it too. */
template <int lanes, class real, class vec> struct huard {
    static constexpr int ROWS = team_of<lanes>::ROWS, TEAM = team_of<lanes>::TEAM;
    using lane_share = share<lanes, real, vec>;

    __device__ huard(const lane_share &own, uint32_t, const factored<real> &)
    {
        invert_diagonal(own, false);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) own.at(own.row(r), own.row(r)) = -1;
        __syncwarp();
    }

    __device__ void step(const lane_share &own, int k, vec (&x)[ROWS]) const
    {
        const int mine = k / TEAM, lane = k % TEAM; /* where row k is */
        vec sum = 0;
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (r == mine ? own.g <= lane : r < mine) sum = fma_of(own.in_column(k, r), x[r], sum);
#pragma unroll
        for (int apart = 1; apart < TEAM; apart *= 2)
            if (apart <= k) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
        const vec xk = -sum * own.inverse[k];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (r == mine ? own.g < lane : r < mine) x[r] = fma_of(-own.in_row(r, k), xk, x[r]);
        if (own.g == lane) x[mine] = xk;
    }

    __device__ void solve(const lane_share &own, int most, vec (&x)[ROWS]) const
    {
#pragma unroll
        for (int first = 0; first < lanes; first += STEPS)
            if (first < most)
#pragma unroll
                for (int k = first; k < first + STEPS; ++k) step(own, k, x);
    }
};

/* What the team of a block needs beside its room. */
template <int lanes> struct job_notes {
    static constexpr int ROWS = team_of<lanes>::ROWS, TEAM = team_of<lanes>::TEAM;
    job_found job;
    int from[ROWS], to[ROWS]; /* the permutations */
    uint32_t pairs;

    template <class real> __device__ job_notes(const factored<real> &f, const job_found &found) : job(found)
    {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = static_cast<int>(threadIdx.x) % TEAM + r * TEAM;
            from[r] = f.row && i < job.n ? f.row[job.row + i] : i;
            to[r] = f.column && i < job.n ? f.column[job.row + i] : i;
        }
        pairs = f.state && job.n > 0 ? f.state[job.block].pairs : 0;
    }
};

/* All right-hand sides of the blocks in a room, the first of which is there. */
template <int lanes, class real, class vec, class method>
__device__ inline void solve_room(room<lanes, real, vec> &in, vec *inverses, const job_notes<lanes> &notes,
                                  const factored<real> &f, const sides<vec> &s)
{
    constexpr int ROWS = team_of<lanes>::ROWS;
    const share<lanes, real, vec> own(in, inverses, notes.job.n);
    const int most = steps_of(__reduce_max_sync(ALL_LANES, notes.job.n));
    const method how(own, notes.pairs, f);
    for (int c = 0;;) {
        vec x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) x[r] = own.side[notes.from[r]];
        __syncwarp();
        how.solve(own, most, x);
        __syncwarp();
#pragma unroll
        for (int r = 0; r < ROWS; ++r) own.side[notes.to[r]] = x[r];
        __syncwarp();
        write_sides(in, notes.job, s, c);
        __syncwarp();
        if (++c == s.columns) break;
        begin_sides(in, notes.job, s, c);
        end_group();
        wait_for_groups<0>();
        __syncwarp();
    }
}

/* A warp a thread block; warp w has the blocks of groups w, w + warps, ... */
template <int lanes, class real, class vec, class method>
__global__ void __launch_bounds__(WARP)
    apply_steps(const job_range<lanes> jobs, int64_t groups, const factored<real> f, const sides<vec> s)
{
    extern __shared__ double memory[];
    using team = team_of<lanes>;
    rooms<lanes, real, vec> &all = *reinterpret_cast<rooms<lanes, real, vec> *>(memory);
    const int block = threadIdx.x / team::TEAM;
    const int64_t warps = gridDim.x;
    int64_t group = blockIdx.x;
    job_notes<lanes> now(f, job_at(jobs, group * team::BLOCKS + block));
    begin_blocks(all.turn[0], f, now.job, s);
    end_group();
    job_found later = job_at(jobs, (group + warps) * team::BLOCKS + block);
    for (int turn = 0; group < groups; turn ^= 1, group += warps) {
        const job_notes<lanes> next(f, later);
        begin_blocks(all.turn[turn ^ 1], f, later, s);
        end_group();
        later = job_at(jobs, (group + 2 * warps) * team::BLOCKS + block);
        wait_for_groups<1>();
        __syncwarp();
        solve_room<lanes, real, vec, method>(all.turn[turn], all.inverse, now, f, s);
        now = next;
    }
    wait_for_groups<0>();
}

/* Thread blocks of one warp with so much shared memory that run at once. */
int64_t warps_at_once(const sd_engine *e, size_t bytes)
{
    const state *s = state_of(e);
    constexpr int64_t MOST = 32;    /* thread blocks that a multiprocessor takes */
    constexpr size_t SYSTEM = 1024; /* bytes that it keeps of each */
    const int64_t fit = static_cast<int64_t>(static_cast<size_t>(s->shared_bytes) / (bytes + SYSTEM));
    return s->processors * (fit < MOST ? fit : MOST);
}

template <class real, class vec> struct application {
    sd_block_kernel kernel;
    factored<real> f;
    sides<vec> s;

    template <class method, int lanes> void run_steps(sd_engine *e, const job_range<lanes> &jobs) const
    {
        const char *const what = "block_apply";
        constexpr size_t bytes = sizeof(rooms<lanes, real, vec>), usual = 48 * 1024;
        const auto solve = apply_steps<lanes, real, vec, method>;
        if (e->status || jobs.count() == 0) return;
        if (bytes > usual) {
            const on_device current(state_of(e)->device);
            const cudaError_t error = cudaFuncSetAttribute(solve, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                           static_cast<int>(bytes));
            if (failed(e, current.error, what) || failed(e, error, what)) return;
        }
        constexpr int blocks = team_of<lanes>::BLOCKS;
        const int64_t groups = (jobs.count() + blocks - 1) / blocks, most = warps_at_once(e, bytes);
        launch_grid(e, what, false, solve, dim3(static_cast<unsigned>(groups < most ? groups : most)), WARP,
                    static_cast<int>(bytes), jobs, groups, f, s);
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
