/*
 * LDU in registers without interchanges, and with those of rows and columns: Algorithm 1 of Thuerck,
 * Stretching Jacobi, with implicit rows; columns are exchanged.
 */
#include "bench/kernels/cuda/batch_bench.cuh"

#include "backend/cuda/batch_ldu.cuh"

namespace sd_cuda
{

struct no_pivoting {
    template <class real, int N> static constexpr int BESIDE = LDU_BESIDE<real, N>;

    template <int L> static __device__ int first(const place &w, unsigned)
    {
        return w.first;
    }
    template <int L> static __device__ unsigned begin(const place &, unsigned)
    {
        return 0;
    }
    template <int L> static __device__ int end(const place &w, int row, bool)
    {
        int next = w.first + row;
        keep_here(next);
        return next;
    }

    template <int L, int N, class real>
    static __device__ void eliminate(const place &w, real small, ldu_rows<real, N> &m)
    {
        eliminate_columns<no_pivoting, L>(w, small, m);
    }
};

/* Exchanges registers FIRST and c, which is not below it. */
template <int FIRST, int N, class real> __device__ inline void exchange_register(real (&r)[N], int c)
{
    const real given = r[FIRST];
    around_register<FIRST + 1, N>(c, [&](int j) {
        r[FIRST] = j == c ? r[j] : r[FIRST];
        r[j] = j == c ? given : r[j];
    });
}

/* A step of elimination, a_ij <- a_ij - multiplier a_pj; column s becomes `finished` in the lane's row. */
template <int B, int C, int N, class real>
__device__ inline void eliminate_step(real (&r)[N], int t, real multiplier, int p, real finished)
{
#pragma unroll
    for (int i = 1; i < C; ++i) {
        const real here = r[B + i], updated = fma(-multiplier, broadcast(here, p), here);
        r[B + i - 1] = comes<C>(i, t) ? updated : here;
    }
    r[B + C - 1] = finished;
#pragma unroll
    for (int j = B + C; j < N; ++j) r[j] = fma(-multiplier, broadcast(r[j], p), r[j]);
}

/* What lanes s and c hold, exchanged. */
__device__ inline void exchange_lane(const place &w, int s, int c, int &held)
{
    const int at_s = broadcast(held, w.first + s), at_c = broadcast(held, w.first + c);
    held = w.lane == s ? at_c : w.lane == c ? at_s : held;
}

/* Steps of a chunk with full pivoting, by measurement (saddle bench blocks). */
template <int N> constexpr int CHUNK = N <= 8 ? 1 : N <= 16 ? 2 : 4;

/* Largest indexed key of the row from the column of step B + t on; where all is zero, that of the step's own
 * column. Two searches go on at once, to wait less for each other's outcome. */
template <int B, int C, int N, class real> __device__ inline unsigned search_row(const real (&r)[N], int t)
{
    unsigned best[2] = {0, 0};
#pragma unroll
    for (int j = B; j < N; ++j)
        if (j >= B + C || comes<C>(j - B, t)) best[j % 2] = max(best[j % 2], indexed_key(r[j], j));
    return max(best[0], best[1]);
}

template <int L, int C, int N, class real>
__device__ inline void eliminate_with_exchanges(const place &w, real small, ldu_rows<real, N> &m)
{
    const int self = w.first + w.lane;
    unsigned best = search_row<0, 1>(m.r, 0);
    each_chunk<N, C>([&](auto base) {
        constexpr int B = decltype(base)::value;
        if (C == 1 && B >= w.most) return;
#pragma unroll 1
        for (int t = 0; t < C; ++t) {
            const int p = lane_of_largest<L>(w, w.lane < w.n ? best : 0u, m.open);
            const int c = index_of(broadcast(best, p));
            exchange_register<B>(m.r, c);
            exchange_lane(w, B + t, position_of<B, C>(c, t), m.column);
            const ldu_step<real> step = take<B>(m, B + t, self == p, broadcast(m.r[B], p), small);
            eliminate_step<B, C>(m.r, t, step.l, p, step.finished);
            best = search_row<B, C>(m.r, t + 1);
        }
    });
}

struct full_pivoting {
    template <class real, int N> static constexpr int BESIDE = 34 + 12 * numbers<real>::WORDS;

    template <int L, int N, class real>
    static __device__ void eliminate(const place &w, real small, ldu_rows<real, N> &m)
    {
        eliminate_with_exchanges<L, CHUNK<N>>(w, small, m);
    }
};

template <class real>
void bench_ldu(sd_engine *e, sd_batch_kernel kernel, const sd_batch_plan *plan, const batch<real> &b)
{
    if (kernel == BENCH_LDU)
        launch_classes<ldu_method<no_pivoting>>(e, plan, b);
    else
        launch_classes<ldu_method<full_pivoting>>(e, plan, b);
}

template void bench_ldu(sd_engine *, sd_batch_kernel, const sd_batch_plan *, const batch<double> &);
template void bench_ldu(sd_engine *, sd_batch_kernel, const sd_batch_plan *, const batch<float> &);

} /* namespace sd_cuda */
