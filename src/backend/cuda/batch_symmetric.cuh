/*
 * Symmetric blocks whose rows lie in the registers of lanes (batch_lanes.cuh): LL' and LDL'.
 *
 * Rows are implicit and columns are exchanged: the lane whose row is at position `at` has column j in the
 * register of position j. What is needed of the pivot's row is, by symmetry, its column, of which every lane
 * has one entry: all write it to shared memory at once, and read what they need of it 16 bytes at a time,
 * which costs a quarter of the shuffles that would bring the pivot's row. That is what keeps the triangles
 * together, too: a_ij <- a_ij - l_i c_j with the c_j of lane j is A less the product of the l that are kept,
 * to rounding, in every lane's row, whatever rounding did to a_ji. With the pivot's own row in place of c,
 * the difference of the triangles, times l_i, would be lost, and without interchanges l_i may be large.
 */
#pragma once

#include "backend/cuda/batch_rows.cuh"

namespace sd_cuda
{

/* Shared memory of the blocks of BLOCK_THREADS threads. Of each block: a column, for every other step, and a
 * row, in the order of the registers; at last, where it is MIRRORED, the block itself. */
template <class real, int N, int L, bool MIRRORED = true> struct alignas(16) symmetric_rooms {
    static constexpr int LINE = L < 4 ? 4 : L, BLOCK = MIRRORED ? N * (N | 1) : 0;
    static constexpr int SIZE = ((BLOCK > 3 * LINE ? BLOCK : 3 * LINE) + 3) / 4 * 4;
    real entry[BLOCK_THREADS / L][SIZE];
    __device__ real *mine()
    {
        return entry[threadIdx.x / L];
    }
};

/* A lane's view of its block at work. */
template <class real, int N, int L> struct symmetric_rows {
    static constexpr int LINE = symmetric_rooms<real, N, L>::LINE;
    place w;
    real *room;
    real r[N];
    int at;        /* where the row is; from step s on: it was no pivot yet */
    real diagonal; /* of the row, where that is kept */

    __device__ bool inside() const
    {
        return w.lane < w.n;
    }
    __device__ int self() const
    {
        return w.first + w.lane;
    }
    __device__ int lane_at(int position) const
    {
        return __ffs(lanes_where<L>(w, at == position)) - 1;
    }
};

/* Loads the rows, in order. */
template <int N, int L, class real>
__device__ inline void load_symmetric(symmetric_rows<real, N, L> &m, const real *block, bool with_diagonal)
{
    load_row(m.w, block, m.r);
    m.at = m.w.lane;
    if (!with_diagonal) return;
    m.diagonal = 1;
#pragma unroll
    for (int j = 0; j < N; ++j) m.diagonal = j == m.w.lane ? m.r[j] : m.diagonal;
}

/* A step s = B + t of the chunk from B on. The column after s is in register B + 1, or, at the chunk's last
 * step, in B + C. */
template <int B, int C, int N> struct chunk_step {
    static constexpr int INNER = C > 1 ? B + 1 : B, OUTER = B + C < N ? B + C : B;
    int t;
    __device__ int s() const
    {
        return B + t;
    }
    __device__ bool within() const
    {
        return C > 1 && t < C - 1;
    }
    __device__ int next_register() const
    {
        return within() ? INNER : OUTER;
    }
    template <class real> __device__ real next(const real (&r)[N]) const
    {
        return within() ? r[INNER] : r[OUTER];
    }
    template <class real> __device__ void put_next(real (&r)[N], bool where, real value) const
    {
        if (C > 1) r[INNER] = where && within() ? value : r[INNER];
        if (B + C < N) r[OUTER] = where && !within() ? value : r[OUTER];
    }
    __device__ int register_at(int position) const
    {
        return register_of<B, C>(position, t);
    }
};

/* Every lane's entry of the column of step s, or of what takes its place, for all to read. */
template <int L, int B, int C, int N, class real>
__device__ inline const real *share_column(const symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step,
                                           real mine)
{
    static_assert(C == 1 || C % 2 == 0, "the lines take turns");
    real *line = m.room + (C > 1 ? step.t % 2 : B % 2) * m.LINE;
    if (m.at >= step.s()) line[step.register_at(m.at)] = mine;
    __syncwarp();
    return line;
}

/* The lane's entry of the column of the row that lane `from` has: it is that row's entry of the lane's. Only
 * of lanes whose rows were no pivots yet. */
template <int L, int B, int C, int N, class real>
__device__ inline real share_row(const symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step, int from)
{
    constexpr int K = quad<real>::COUNT;
    real *line = m.room + 2 * m.LINE;
    __syncwarp(); /* another row may have been here */
    if (m.self() == from) {
#pragma unroll
        for (int j = B / K * K; j < N; j += K) {
            quad<real> q;
#pragma unroll
            for (int i = 0; i < K; ++i) q.v[i] = j + i < N ? m.r[j + i < N ? j + i : 0] : 0;
            *reinterpret_cast<quad<real> *>(line + j) = q;
        }
    }
    __syncwarp();
    return m.at >= step.s() ? line[step.register_at(m.at)] : 0;
}

/* Where `wanted`: the row of lane `from`, whose column is `column`, goes to position s, or to s + 1 where
 * `second`, and the one that is there takes its place. */
template <int L, int B, int C, int N, class real>
__device__ inline void exchange_rows(symmetric_rows<real, N, L> &m, chunk_step<B, C, N> step, bool wanted,
                                     int from, bool second, real column)
{
    const int position = broadcast(m.at, from), to = step.s() + second;
    put_register<B>(m.r, wanted ? step.register_at(position) : B, second ? step.next(m.r) : m.r[B]);
    step.put_next(m.r, wanted && second, column);
    m.r[B] = wanted && !second ? column : m.r[B];
    if (wanted) m.at = m.self() == from ? to : m.at == to ? position : m.at;
}

/* A step of elimination, a_ij <- a_ij - multiplier c_j; column s becomes `finished` in the lane's row. */
template <int B, int C, int N, class real>
__device__ inline void eliminate_column(real (&r)[N], int t, real multiplier, const real *c, real finished)
{
    constexpr int K = quad<real>::COUNT;
#pragma unroll
    for (int j = (B + 1) / K * K; j < N; j += K) {
        const quad<real> q = *reinterpret_cast<const quad<real> *>(c + j);
#pragma unroll
        for (int i = 0; i < K; ++i) {
            const int k = j + i;
            if (k <= B || k >= N) continue;
            const real here = r[k], updated = fma(-multiplier, q.v[i], here);
            if (k < B + C)
                r[k - 1] = comes<C>(k - B, t) ? updated : here;
            else
                r[k] = updated;
        }
    }
    r[B + C - 1] = finished;
}

/* Writes the block whose lower triangle the rows hold at their positions. */
template <int L, int N, class real>
__device__ inline void store_symmetric(const symmetric_rows<real, N, L> &m, real *block)
{
    const place &w = m.w;
    const int apart = w.n | 1;
    __syncwarp();
    if (m.inside()) {
#pragma unroll
        for (int j = 0; j < N; ++j)
            if (j <= m.at) {
                m.room[m.at + j * apart] = m.r[j];
                m.room[j + m.at * apart] = m.r[j];
            }
    }
    store_room<N>(w, m.room, apart, block);
}

} /* namespace sd_cuda */
