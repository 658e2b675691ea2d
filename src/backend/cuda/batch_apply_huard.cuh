/*
 * Applying Gauss-Huard's factors (Anzt et al., Variable-size batched Gauss-Huard, Figure 1, its lines 7, 15
 * and 18). Step k forms z_k = (b_k - sum_{j<k} a_kj x_j) / d_k and then x_k = z_k, x_j <- x_j - u_jk z_k for
 * j < k, where a is what is kept below the diagonal, and u what is kept above it.
 *
 * Computed directly, each step waits for a sum over the lanes, which takes longer than all of its arithmetic.
 * But x_j before step k is z_j - sum_{j<m<k} u_jm z_m, so that z solves L z = b, with l_kk = d_k and l_km =
 * a_km
 * - sum_{j<m} a_kj u_jm, and x = (I - U) z: one shuffle hands z_m round, the rows below subtract l_km z_m,
 * and those above u_km z_m. All of L would cost as much as an elimination; only the tiles of it on the
 * diagonal are formed, T x T each, all at once, a lane its row. What is left of a tile is subtracted as sum_j
 * a_kj x_j over the columns before the tile, which needs no sum over lanes either, for they find x in shared
 * memory.
 *
 * U is in shared memory with -1 on its diagonal and zeros below, so that its columns give -L without a look
 * at where they end.
 *
 * What bounds this is the number of instructions, those on shared memory and shuffles above all. So a block
 * has half as many lanes as elsewhere, H, and lane i has rows i and i + H: a shuffle serves twice as many
 * blocks, and the first rows are done with their tiles after H columns.
 */
#pragma once

#include "backend/cuda/batch_lanes.cuh"

namespace sd_cuda
{

/* U of a block, by rows, and x. What lanes of different tiles or blocks read at once, COUNT numbers each, and
 * what they write at once in a column, is in different banks, as far as it can be. */
template <int N, int H, class vec> struct alignas(16) huard_room {
    static constexpr int COUNT = N < 4 || H < 4 ? 2 : 16 / static_cast<int>(sizeof(vec)),
                         STRIDE = (N / COUNT | 1) * COUNT, USED = (N * STRIDE + N) / COUNT,
                         APART = sizeof(vec) < 8 && H > 4 ? H / 4 : 1, /* of blocks, modulo 8 pieces */
        PIECES = (USED - APART + 7) / 8 * 8 + APART;
    struct alignas(COUNT * sizeof(vec)) piece {
        vec v[COUNT];
    };
    vec number[PIECES * COUNT];

    __device__ vec &at(int i, int j)
    {
        return number[i * STRIDE + j];
    }
    __device__ piece &pieces(int i, int j)
    {
        return *reinterpret_cast<piece *>(&at(i, j));
    }
    __device__ vec *x()
    {
        return number + N * STRIDE;
    }
};

/* A row of the block. Its functions are given where it is, i, and columns that are the same for all rows
 * of a half: BEGIN, before which there is nothing of U, and END, from which on all is. */
template <int N, int T, class room> struct huard_row {
    using vec = typename std::remove_reference<decltype(room::number[0])>::type;
    vec entry[N];
    vec inverse;
    vec below[T]; /* -L in the columns of the tile */
    vec r, y;     /* b less what of L z is known, where z = r / d; -U z */

    __device__ vec x() const
    {
        return fma(r, inverse, y);
    }

    /* Puts its part of U, from column BEGIN on, into the room; takes its pivot out of it. */
    template <int BEGIN, int END> __device__ void share(room &in, int i, int n)
    {
#pragma unroll
        for (int j = BEGIN; j < N; j += room::COUNT) {
            typename room::piece p;
#pragma unroll
            for (int k = 0; k < room::COUNT; ++k)
                p.v[k] = j + k >= END || j + k >= i ? entry[j + k] : static_cast<vec>(0);
            in.pieces(i, j) = p;
        }
        take_pivot(in, i, i < n);
    }
    /* Instead, where U is kept transposed about the anti-diagonal: zeros in its row of the room; what it has
     * of other rows; and then, from the room, what they have of this one. */
    template <int BEGIN> __device__ void clear(room &in, int i)
    {
#pragma unroll
        for (int j = BEGIN; j < N; j += room::COUNT) in.pieces(i, j) = {};
    }
    template <int BEGIN> __device__ void share_transposed(room &in, int i, int n)
    {
        vec *const corner = &in.at(n - 1, n - 1 - i);
#pragma unroll
        for (int j = BEGIN; j < N; ++j)
            if (i < n && j >= i && j < n) corner[-j * room::STRIDE] = entry[j];
        take_pivot(in, i < n ? n - 1 - i : i, i < n);
    }
    template <int BEGIN, int END> __device__ void find_upper(room &in, int i)
    {
#pragma unroll
        for (int j = BEGIN; j < N; j += room::COUNT) {
            const typename room::piece p = in.pieces(i, j);
#pragma unroll
            for (int k = 0; k < room::COUNT; ++k)
                if (j + k >= END || j + k > i) entry[j + k] = p.v[k];
        }
    }
    __device__ void take_pivot(room &in, int d, bool inside)
    {
        inverse = reciprocal(inside ? in.at(d, d) : static_cast<vec>(1));
        in.at(d, d) = -1;
    }
    template <int END> __device__ void form_tile(room &in, int tile)
    {
#pragma unroll
        for (int k = 0; k < T; ++k) below[k] = 0;
#pragma unroll
        for (int j = 0; j < END; ++j) {
#pragma unroll
            for (int k = 0; k < T; k += room::COUNT) {
                if (END - T + k + room::COUNT <= j) continue;
                const typename room::piece u = in.pieces(j, tile + k);
#pragma unroll
                for (int m = 0; m < room::COUNT; ++m) below[k + m] = fma(entry[j], u.v[m], below[k + m]);
            }
        }
    }

    /* r less the product of the row, left of column BEGIN, and x. */
    template <int BEGIN> __device__ vec less_left(room &in) const
    {
        vec sum[room::COUNT] = {}, rest = r;
#pragma unroll
        for (int j = 0; j < BEGIN; j += room::COUNT) {
            const auto x = *reinterpret_cast<const typename room::piece *>(in.x() + j);
#pragma unroll
            for (int k = 0; k < room::COUNT; ++k) sum[k] = fma(entry[j + k], x.v[k], sum[k]);
        }
#pragma unroll
        for (int k = 0; k < room::COUNT; ++k) rest -= sum[k];
        return rest;
    }
};

template <int N, class vec, bool TRANSPOSED> struct huard {
    static constexpr int H = N <= 4 ? 2 : N <= 8 ? 4 : N <= 16 ? 8 : 16, T = H < 4 ? H : 4;
    static constexpr bool TWO = N > H;
    using room = huard_room<N, H, vec>;

    room &in;
    int lane, i; /* i: the lane's second row */
    huard_row<N, T, room> first, second;

    template <class real>
    __device__ huard(const place &w, const real *block, room &where) : in(where), lane(w.lane), i(w.lane + H)
    {
        load(w, block);
        second.inverse = 1;
        if (TRANSPOSED) {
            first.template clear<0>(in, lane);
            if (i < N) second.template clear<H>(in, i);
            __syncwarp();
            first.template share_transposed<0>(in, lane, w.n);
            if (i < N) second.template share_transposed<H>(in, i, w.n);
        } else {
            first.template share<0, H>(in, lane, w.n);
            if (i < N) second.template share<H, N>(in, i, w.n);
        }
        __syncwarp();
        if (TRANSPOSED) {
            first.template find_upper<0, H>(in, lane);
            if (i < N) second.template find_upper<H, N>(in, i);
        }
        first.template form_tile<H>(in, lane / T * T);
        if (TWO) second.template form_tile<N>(in, min(H + lane / T * T, N - T));
    }

    /* Zeros beyond the block. */
    template <class real> __device__ void load(const place &w, const real *block)
    {
        const real *at = block + lane;
#pragma unroll
        for (int j = 0; j < N; ++j, at += w.n) {
            const bool there = has_column<N>(j, w.n);
            first.entry[j] = lane < w.n && there ? static_cast<vec>(at[0]) : 0;
            second.entry[j] = i < w.n && there ? static_cast<vec>(at[H]) : 0;
        }
    }

    /* Steps BEGIN .. BEGIN + T - 1 */
    template <int BEGIN> __device__ void tile()
    {
        constexpr bool UPPER = BEGIN < H;
        const int own = (UPPER ? lane : i) - BEGIN;        /* row of the tile, where it is one */
        const int within = own >= 0 && own < T ? own : -1; /* one comparison a step is enough */
        huard_row<N, T, room> &row = UPPER ? first : second;
        if constexpr (BEGIN > 0) {
            in.x()[lane] = first.x();
            if (!UPPER && i < BEGIN) in.x()[i] = second.x();
            __syncwarp();
            const vec left = row.template less_left<BEGIN>(in);
            row.r = within >= 0 ? left : row.r;
            __syncwarp();
        }
#pragma unroll
        for (int j = BEGIN; j < BEGIN + T; ++j) {
            const vec z = __shfl_sync(ALL_LANES, row.r * row.inverse, UPPER ? j : j - H, H);
            if (within > j - BEGIN) row.r = fma(row.below[j - BEGIN], z, row.r);
            if (!UPPER || lane < j) first.y = fma(-first.entry[j], z, first.y);
            if (!UPPER && i < j) second.y = fma(-second.entry[j], z, second.y);
        }
    }

    /* b in first.r and second.r; x afterwards */
    __device__ void solve()
    {
        first.y = second.y = 0;
        each_chunk<N, T>([&](auto begin) { tile<decltype(begin)::value>(); });
    }
};

} /* namespace sd_cuda */
