/*
 * Applying Gauss-Huard's factors (Anzt et al., Variable-size batched Gauss-Huard, Figure 1, its lines 7, 15
 * and 18). Step k forms z_k = (b_k - sum_{j<k} a_kj x_j) / d_k and then x_k = z_k, x_j <- x_j - u_jk z_k for
 * j < k, where a is what is kept below the diagonal, and u what is kept above it.
 *
 * As it stands, each step waits for a sum over the lanes, which takes longer than all of its arithmetic. But
 * x_j before step k is z_j - sum_{j<m<k} u_jm z_m, so that z solves L z = b, with l_kk = d_k and l_km = a_km
 * - sum_{j<m} a_kj u_jm, and x = (I - U) z: as from rows of L and U, one shuffle hands z_m round, and the
 * rows below subtract l_km z_m, those above u_km z_m. L would cost as much as an elimination; only the tiles
 * of it on the diagonal are formed, T x T each, all at once, a lane its row. What is left of a tile of it is
 * subtracted as sum_j a_kj x_j over the columns before the tile, which needs no sum over lanes either, for
 * the lanes find x in shared memory.
 *
 * U is in shared memory with -1 on its diagonal and zeros below, so that its columns give -L without a look
 * at where they end.
 */
#ifndef SD_CUDA_BLOCK_APPLY_HUARD_CUH
#define SD_CUDA_BLOCK_APPLY_HUARD_CUH

#include "backend/cuda/block_lanes.cuh"

namespace sd_cuda
{

/* U of a block, by rows, and x. What lanes of different tiles or blocks read at once, COUNT numbers each, and
 * what they write at once in a column, is in different banks. */
template <int N, class vec> struct alignas(16) huard_room {
    static constexpr int COUNT = N < 4 ? N : 16 / static_cast<int>(sizeof(vec)),
                         ROUND = 128 / static_cast<int>(sizeof(vec)); /* numbers of all banks */
    struct alignas(COUNT * sizeof(vec)) pack {
        vec v[COUNT];
    };
    __host__ __device__ static constexpr int column(int j)
    {
        return j + j / ROUND * COUNT;
    }
    static constexpr int STRIDE = (column(N - 1) / COUNT + 1 | 1) * COUNT, USED = N * STRIDE + N,
                         PIECES = (USED / COUNT + 6) / 8 * 8 + 1;
    vec number[PIECES * COUNT];

    __device__ vec &at(int i, int j)
    {
        return number[i * STRIDE + column(j)];
    }
    __device__ pack &pieces(int i, int j)
    {
        return *reinterpret_cast<pack *>(&at(i, j));
    }
    __device__ vec *x()
    {
        return number + N * STRIDE;
    }
};

template <int N, int L, class real, class vec, bool TRANSPOSED> struct huard {
    static constexpr int T = N < 4 ? N : 4, TILES = (N + T - 1) / T,
                         BESIDE = 48 + (sizeof(real) < sizeof(vec) ? 8 : 0) + (TRANSPOSED ? 8 : 0);
    using room = huard_room<N, vec>;
    using pack = typename room::pack;

    room &in;
    int lane, tile;
    vec row[N];
    vec inverse;
    vec below[T]; /* -L of this row, in the columns of the tile */

    __device__ huard(const place &w, const real (&entry)[N], uint32_t, room &where)
        : in(where), lane(w.lane), tile(min(w.lane / T, TILES - 1))
    {
#pragma unroll
        for (int j = 0; j < N; ++j) row[j] = entry[j];
        vec pivot = 1;
        if (lane < N) {
            const int d = TRANSPOSED ? share_transposed(w.n) : share();
            pivot = in.at(d, d);
            in.at(d, d) = -1;
        }
        inverse = reciprocal(pivot);
        __syncwarp();
        if (TRANSPOSED) {
#pragma unroll
            for (int j = 1; j < N; ++j)
                if (j > lane) row[j] = in.at(lane, j);
        }
        form_tile();
    }

    /* Puts the lane's part of U into the room; returns where on the diagonal its pivot is now. */
    __device__ int share()
    {
#pragma unroll
        for (int j = 0; j < N; j += room::COUNT) {
            pack p;
#pragma unroll
            for (int i = 0; i < room::COUNT; ++i) p.v[i] = j + i >= lane ? row[j + i] : 0;
            in.pieces(lane, j) = p;
        }
        return lane;
    }
    __device__ int share_transposed(int n)
    {
        const int last = n - 1;
#pragma unroll
        for (int j = 0; j < N; ++j) {
            const vec u = j >= lane ? row[j] : 0;
            if (lane < n && j < n)
                in.at(last - j, last - lane) = u;
            else
                in.at(lane, j) = u;
        }
        return lane < n ? last - lane : lane;
    }

    __device__ void form_tile()
    {
        constexpr int LAST = T * (TILES - 1);
#pragma unroll
        for (int k = 0; k < T; ++k) below[k] = 0;
#pragma unroll
        for (int j = 0; j < N; ++j) {
#pragma unroll
            for (int k = 0; k < T; k += room::COUNT) {
                if (LAST + k + room::COUNT <= j) continue;
                const pack u = in.pieces(j, T * tile + k);
#pragma unroll
                for (int i = 0; i < room::COUNT; ++i) below[k + i] = fma(row[j], u.v[i], below[k + i]);
            }
        }
    }

    /* b less the product of the row, left of the tile, and x. */
    template <int BEFORE> __device__ vec subtract_left(vec b, vec x) const
    {
        vec sum[room::COUNT] = {};
        if (lane < BEFORE) in.x()[lane] = x;
        __syncwarp();
#pragma unroll
        for (int j = 0; j < BEFORE; j += room::COUNT) {
            const pack p = *reinterpret_cast<const pack *>(in.x() + j);
#pragma unroll
            for (int i = 0; i < room::COUNT; ++i) sum[i] = fma(row[j + i], p.v[i], sum[i]);
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < room::COUNT; ++i) b -= sum[i];
        return b;
    }

    /* r: b less what of L z is known, of which z is 1 / d; y: -U z */
    __device__ vec solve(vec r) const
    {
        vec y = 0;
        each_chunk<N, T>([&](auto base) {
            constexpr int B = decltype(base)::value;
            const bool mine = tile == B / T;
            if constexpr (B > 0) {
                const vec left = subtract_left<B>(r, fma(r, inverse, y));
                r = mine ? left : r;
            }
#pragma unroll
            for (int j = B; j < B + T && j < N; ++j) {
                const vec z = __shfl_sync(ALL_LANES, r * inverse, j, L);
                if (mine && lane > j) r = fma(below[j - B], z, r);
                if (lane < j) y = fma(-row[j], z, y);
            }
        });
        return fma(r, inverse, y);
    }
};

} /* namespace sd_cuda */

#endif
