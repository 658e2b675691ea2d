/*
 * Factoring small blocks in shared memory: what batch_shared_ldlt.cuh is made of.
 *
 * A block is the work of a sub-warp of 8, 16 or 32 lanes, a lane having a row or a column at a time. It is
 * stored by columns an odd number apart, so that rows and columns are read without bank conflicts. Rows and
 * columns are exchanged as they are, as the reference kernels do; n is known at run time only, and nothing
 * is unrolled. All lanes of a warp go through the same steps, some of them idle: votes and shuffles are of
 * whole warps.
 */
#pragma once

#include "backend/cuda/batch_lanes.cuh"

namespace sd_cuda
{

/* A block at work. */
template <class real, int L> struct shared_block {
    place w;
    real *a;
    int apart;
    int row, column; /* of A, that are at position `lane` */
    int status;      /* SD_BLOCK_OK while it is at work */
    sd_batch_state state;

    __device__ real &at(int i, int j) const
    {
        return a[i + j * apart];
    }
    __device__ bool inside() const
    {
        return w.lane < w.n;
    }
    __device__ bool busy(int s) const
    {
        return s < w.n && status == SD_BLOCK_OK;
    }
};

/* The position of the largest key among those where `open`, of equals the one that is first in the order of
 * A; -1 where none is open. */
template <int L> __device__ inline int find_largest(const place &w, unsigned key, int order, bool open)
{
    const unsigned mine = open ? key : 0u, most = largest<L>(w, mine);
    unsigned found = lanes_where<L>(w, open && mine == most);
    if (__any_sync(ALL_LANES, __popc(found) > 1)) {
        const bool tied = open && mine == most;
        const unsigned rank = tied ? static_cast<unsigned>(SD_BLOCK_MOST - order) : 0u;
        const unsigned first = largest<L>(w, rank);
        found = lanes_where<L>(w, tied && rank == first);
    }
    return found ? __ffs(found) - 1 - w.first : -1;
}

/* What lanes s and p hold, exchanged. */
__device__ inline void exchange_lanes(const place &w, int s, int p, int &held)
{
    const int at_s = broadcast(held, w.first + s), at_p = broadcast(held, w.first + p);
    held = w.lane == s ? at_p : w.lane == p ? at_s : held;
}

/* Exchanges rows, or columns, s and p; they are the same where nothing is to be done. */
template <int L, class real> __device__ inline void exchange_rows(shared_block<real, L> &m, int s, int p)
{
    if (!__any_sync(ALL_LANES, s != p)) return;
    __syncwarp(); /* what was read of them to choose was read */
    if (m.inside() && s != p) {
        const real kept = m.at(s, m.w.lane);
        m.at(s, m.w.lane) = m.at(p, m.w.lane);
        m.at(p, m.w.lane) = kept;
    }
    exchange_lanes(m.w, s, p, m.row);
    __syncwarp();
}
template <int L, class real> __device__ inline void exchange_columns(shared_block<real, L> &m, int s, int p)
{
    if (!__any_sync(ALL_LANES, s != p)) return;
    __syncwarp(); /* what was read of them to choose was read */
    if (m.inside() && s != p) {
        const real kept = m.at(m.w.lane, s);
        m.at(m.w.lane, s) = m.at(m.w.lane, p);
        m.at(m.w.lane, p) = kept;
    }
    exchange_lanes(m.w, s, p, m.column);
    __syncwarp();
}
template <int L, class real> __device__ inline void exchange_both(shared_block<real, L> &m, int s, int p)
{
    exchange_rows(m, s, p);
    exchange_columns(m, s, p);
}

/* The pivot d of a busy block, moved away from 0; its status where it is at fault. */
template <int L, class real>
__device__ inline real take_pivot(shared_block<real, L> &m, bool busy, real d, real small)
{
    const real settled = settle(d, small);
    if (busy) {
        m.status = fault_of(settled);
        m.state.perturbed = static_cast<uint8_t>(m.state.perturbed + (settled != d && is_finite(d)));
    }
    return settled;
}

/* The largest of a lane's entries by key, the first by the order of A, whose bytes are at `order`. */
struct running_largest {
    unsigned key;
    int index;
    template <class real> __device__ inline void see(real value, int j, const uint8_t *order)
    {
        const unsigned its = key_of(value);
        const bool larger = its > key || (its == key && (index < 0 || order[j] < order[index]));
        index = larger ? j : index;
        key = larger ? its : key;
    }
};

template <class real, int L>
__device__ inline shared_block<real, L> open_block(const batch<real> &b, const place &w, real *room)
{
    shared_block<real, L> m = {w, room, 0, 0, 0, SD_BLOCK_OK, {}};
    m.apart = w.n | 1;
    m.row = m.column = w.lane;
    const real *block = b.x + w.entry;
    bool finite = true;
    if (m.inside()) {
#pragma unroll 4
        for (int j = 0; j < w.n; ++j) {
            const real value = block[w.lane + j * w.n];
            finite = finite && is_finite(value);
            m.at(w.lane, j) = value;
        }
    }
    if (lanes_where<L>(w, !finite)) m.status = SD_BLOCK_NOT_FINITE;
    __syncwarp();
    return m;
}

/* Looks at the result, puts `diagonal` times the identity (of the scale that it is given) in its place where
 * it must be replaced, and writes the state. */
template <int L, class real, class Form>
__device__ inline void settle_block(const batch<real> &b, shared_block<real, L> &m, const Form &diagonal_of)
{
    const place &w = m.w;
    bool good = true;
    __syncwarp();
    if (m.inside())
        for (int j = 0; j < w.n; ++j) good = good && is_finite(m.at(w.lane, j));
    if (lanes_where<L>(w, !good) && m.status == SD_BLOCK_OK) m.status = SD_BLOCK_NOT_FINITE;
    if (__any_sync(ALL_LANES, m.status != SD_BLOCK_OK)) {
        bool finite;
        const real scale = scale_of<L>(w, b.x + w.entry, &finite);
        if (m.status != SD_BLOCK_OK) {
            m.state = {};
            m.state.status = static_cast<uint8_t>(m.status);
            m.row = m.column = w.lane;
            if (m.inside())
                for (int j = 0; j < w.n; ++j) m.at(w.lane, j) = j == w.lane ? diagonal_of(scale) : 0;
        }
    }
    __syncwarp();
}

template <int L, class real>
__device__ inline void store_block(const batch<real> &b, const shared_block<real, L> &m)
{
    const place &w = m.w;
    if (!m.inside()) return;
    real *block = b.f + w.entry;
#pragma unroll 4
    for (int j = 0; j < w.n; ++j) block[w.lane + j * w.n] = m.at(w.lane, j);
}

template <int L, class real>
__device__ inline void store_state(const batch<real> &b, const shared_block<real, L> &m, int row, int column)
{
    const place &w = m.w;
    if (m.inside()) {
        b.row[w.row + w.lane] = static_cast<uint8_t>(row);
        b.column[w.row + w.lane] = static_cast<uint8_t>(column);
    }
    if (w.lane == 0 && w.n > 0) b.state[w.block] = m.state;
}

} /* namespace sd_cuda */
