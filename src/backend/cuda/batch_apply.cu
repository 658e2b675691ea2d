/*
 * y = F^-1 b for every block of a batch: see batch.h for what the factors are. Arithmetic is in the
 * precision of the vectors.
 *
 * A sub-warp a block, lane i for row i, which it holds in registers through all right-hand sides, by the
 * classes of sizes of batch_lanes.cuh. A block is read by columns, the lanes side by side, and all of it is
 * asked for before the first number is used: with the blocks of all warps that is enough to keep the memory
 * busy, as long as the rest takes no more instructions and shuffles than that leaves time for.
 *
 * - The inverse: y_i is the sum of a_ij b_j, b_j handed round.
 * - Triangles, of LDU, LDL' and LL' (whose L' is mirrored above the diagonal): in step j of a triangular
 *   solve x_j is handed round, and all subtract their entry of column j.
 * - Gauss-Huard: batch_apply_huard.cuh.
 */
#include "backend/cuda/batch_apply_huard.cuh"

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
    const int32_t *source, *target; /* NULL: the rows as they are */
};

/* f with the jobs of least .. most rows, no more than four sizes. */
template <class real> batch<real> of_sizes(const sd_batch_plan *plan, batch<real> f, int least, int most)
{
    f.least = least;
    f.from = plan->first[least];
    f.to = plan->first[most + 1];
    for (int k = 0; k < 3; ++k) f.end[k] = plan->first[min(least + k, most) + 1];
    return f;
}

struct nothing {
};

template <int N, int L, class real, class vec> struct inverse {
    static constexpr int BESIDE = 16;
    using room = nothing;
    const real (&row)[N];

    __device__ inverse(const place &, real (&entry)[N], uint32_t, room &) : row(entry)
    {
    }
    __device__ vec solve(vec b) const
    {
        vec sum = 0;
#pragma unroll
        for (int j = 0; j < N; ++j) sum = fma(static_cast<vec>(row[j]), __shfl_sync(ALL_LANES, b, j, L), sum);
        return sum;
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

enum class middle { DIAGONAL, PAIRS, NONE }; /* between the triangles: of LDU, LDL' and LL' */

/* L, D and U, or L and L' of LL': D is 1 then, and x is divided by the diagonal in both solves. */
template <int N, int L, class real, class vec, middle D> struct triangles {
    static constexpr int BESIDE = D == middle::PAIRS ? 56 : 40;
    using room = nothing;
    const real (&row)[N];
    int lane;
    vec pivot,
        beside;  /* D: of this row, and beside it where the pivot is 2x2, which the triangles are without */
    vec scale;   /* the inverse of the pivot */
    int partner; /* the other row of a 2x2 pivot, or -1 */

    __device__ triangles(const place &w, real (&entry)[N], uint32_t pairs, room &)
        : row(entry), lane(w.lane), pivot(1), beside(0), partner(-1)
    {
        if (D == middle::PAIRS) {
            const bool first = pairs >> lane & 1, second = lane > 0 && (pairs >> (lane - 1) & 1);
            partner = first ? lane + 1 : second ? lane - 1 : -1;
        }
#pragma unroll
        for (int j = 0; j < N; ++j) {
            pivot = j == lane ? static_cast<vec>(entry[j]) : pivot;
            if (D == middle::PAIRS && j == partner) {
                beside = entry[j];
                entry[j] = 0;
            }
        }
        scale = reciprocal(pivot);
    }

    template <bool lower> __device__ vec substitute(int j, vec x) const
    {
        const vec xj = __shfl_sync(ALL_LANES, D == middle::NONE ? x * scale : x, j, L);
        if (lower ? lane > j : lane < j) x = fma(-static_cast<vec>(row[j]), xj, x);
        return x;
    }

    __device__ vec solve_middle(vec x) const
    {
        if (D != middle::PAIRS) return x * scale;
        const int other = partner < 0 ? lane : partner;
        const vec other_pivot = __shfl_sync(ALL_LANES, pivot, other, L),
                  other_x = __shfl_sync(ALL_LANES, x, other, L);
        return partner < 0 ? x * scale : solve_pair(pivot, beside, other_pivot, x, other_x);
    }

    __device__ vec solve(vec x) const
    {
#pragma unroll
        for (int j = 0; j < N; ++j) x = substitute<true>(j, x);
        x = solve_middle(x);
#pragma unroll
        for (int j = N - 1; j >= 0; --j) x = substitute<false>(j, x);
        return D == middle::NONE ? x * scale : x;
    }
};

/* The blocks are f.x. A column is asked for before the one before it is worked on. */
template <int N, int L, class real, class vec, class method>
__global__ void __launch_bounds__(BLOCK_THREADS, (at_once<vec, N>(method::BESIDE)))
    apply(const batch<real> f, const sides<vec> s)
{
    __shared__ typename method::room rooms[BLOCK_THREADS / L];
    const place w = find_place<L>(f);
    const bool mine = w.lane < w.n;
    real row[N];
    load_row<N>(w, f.x + w.entry, row);
    const int at = mine ? w.row + w.lane : 0;
    const vec *b = s.b + (s.source ? s.source[at] : at);
    vec next = mine ? *b : static_cast<vec>(0);
    const int from = f.row && mine ? f.row[at] : w.lane, to = f.column && mine ? f.column[at] : w.lane;
    const uint32_t pairs = f.state && w.n > 0 ? f.state[w.block].pairs : 0;
    const int out = mine ? w.row + to : 0;
    vec *y = s.y + (s.target ? s.target[out] : out);
    const method how(w, row, pairs, rooms[threadIdx.x / L]);
    for (int c = 0; c < s.columns; ++c, y += s.rows) {
        const vec x = __shfl_sync(ALL_LANES, next, from, L);
        b += s.rows;
        if (mine && c + 1 < s.columns) next = *b;
        const vec solved = how.solve(x);
        if (mine) *y = solved;
    }
}

constexpr int HUARD_THREADS = BLOCK_THREADS / 2;

/* As at_once; each quarter of a multiprocessor has a quarter of its registers for whole warps. */
template <class vec, int N> constexpr int huard_at_once()
{
    const int warps = 512 / (2 * numbers<vec>::WORDS * N + 56);
    return 4 * (warps > 8 ? 8 : warps) * WARP / HUARD_THREADS;
}

/* Gauss-Huard: two rows a lane, the rows of b in the factors' order, and the jobs of BLOCK_THREADS threads in
 * two blocks, (x, 0) and (x, 1), for what they need of shared memory. */
template <int N, class real, class vec, bool TRANSPOSED>
__global__ void __launch_bounds__(HUARD_THREADS, (huard_at_once<vec, N>()))
    apply_huard(batch<real> f, const sides<vec> s)
{
    using method = huard<N, vec, TRANSPOSED>;
    constexpr int H = method::H;
    __shared__ typename method::room rooms[HUARD_THREADS / H];
    f.from += static_cast<int>(blockIdx.y) * (HUARD_THREADS / H);
    const place w = find_place<H>(f);
    const bool mine[2] = {w.lane < w.n, w.lane + H < w.n};
    int read[2], written[2];
    vec next[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int at = mine[k] ? w.row + w.lane + k * H : 0;
        read[k] = s.source ? s.source[at] : at;
        next[k] = mine[k] ? s.b[read[k]] : static_cast<vec>(0);
        written[k] = mine[k] ? w.row + f.column[at] : 0;
        if (s.target) written[k] = s.target[written[k]];
    }
    method how(w, f.x + w.entry, rooms[threadIdx.x / H]);
    for (int c = 0; c < s.columns; ++c) {
        how.first.r = next[0];
        how.second.r = next[1];
        if (c + 1 < s.columns) {
#pragma unroll
            for (int k = 0; k < 2; ++k)
                if (mine[k]) next[k] = s.b[(c + 1) * s.rows + read[k]];
        }
        how.solve();
        if (mine[0]) s.y[c * s.rows + written[0]] = how.first.x();
        if (mine[1]) s.y[c * s.rows + written[1]] = how.second.x();
    }
}

template <class real, class vec> struct application {
    sd_engine *e;
    const sd_batch_plan *plan;
    sd_batch_kernel kernel;
    batch<real> f;
    sides<vec> s;

    using kernel_of = void (*)(batch<real>, sides<vec>);
    /* In each block of threads the jobs of BLOCK_THREADS threads are shared out to `parts`. */
    template <int L> void launch(const batch<real> &some, kernel_of how, int parts = 1) const
    {
        constexpr int each = BLOCK_THREADS / L;
        const int64_t blocks = (static_cast<int64_t>(some.to) - some.from + each - 1) / each;
        launch_grid(e, "batch_apply", false, how, dim3(static_cast<unsigned>(blocks), parts),
                    BLOCK_THREADS / parts, 0, some, s);
    }

    /* The blocks of least .. most rows. */
    template <int N, int L> void run(int least, int most) const
    {
        const batch<real> some = of_sizes(plan, f, least, most);
        if (some.from == some.to || e->status) return;
        constexpr int H = huard<N, vec, false>::H;
        if (kernel == SD_JORDAN)
            launch<L>(some, apply<N, L, real, vec, inverse<N, L, real, vec>>);
        else if (kernel == SD_HUARD)
            launch<H>(some, apply_huard<N, real, vec, false>, 2);
        else if (kernel == SD_HUARD_TRANSPOSED)
            launch<H>(some, apply_huard<N, real, vec, true>, 2);
        else if (kernel == SD_LLT)
            launch<L>(some, apply<N, L, real, vec, triangles<N, L, real, vec, middle::NONE>>);
        else if (f.state)
            launch<L>(some, apply<N, L, real, vec, triangles<N, L, real, vec, middle::PAIRS>>);
        else
            launch<L>(some, apply<N, L, real, vec, triangles<N, L, real, vec, middle::DIAGONAL>>);
    }
};

template <class real, class vec>
void apply_in(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b, sd_vector *y)
{
    const bool pairs = x->kernel >= SD_LDLT_STATIC && x->kernel <= SD_LDLT_COMPLETE;
    const sd_batch_plan *const plan = x->plan;
    batch<real> f = {};
    f.x = static_cast<const real *>(x->data);
    f.row = x->kernel < SD_JORDAN ? x->row : NULL;
    if (x->kernel != SD_JORDAN) f.column = sd_batch_symmetric(x->kernel) ? x->row : x->column;
    f.state = pairs ? x->state : NULL;
    f.job = plan->job;
    f.regular = plan->regular;
    const sides<vec> s = {static_cast<const vec *>(b->data),
                          static_cast<vec *>(y->data),
                          plan->rows,
                          columns,
                          plan->source,
                          plan->target};
    const application<real, vec> a = {e, plan, x->kernel, f, s};
    a.template run<32, 32>(29, 32);
    a.template run<28, 32>(25, 28);
    a.template run<24, 32>(21, 24);
    a.template run<20, 32>(17, 20);
    a.template run<16, 16>(13, 16);
    a.template run<12, 16>(9, 12);
    a.template run<8, 8>(5, 8);
    a.template run<4, 4>(3, 4);
    a.template run<2, 2>(1, 2);
}

} /* namespace */

template <class real>
void batch_apply(sd_engine *e, const sd_batch_factors *x, int columns, const sd_vector *b, sd_vector *y)
{
    if (e->status || columns == 0) return;
    if (b->precision == x->precision)
        apply_in<real, real>(e, x, columns, b, y);
    else
        apply_in<real, double>(e, x, columns, b, y);
}

BOTH(batch_apply)

} /* namespace sd_cuda */
