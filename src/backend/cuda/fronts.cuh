/*
 * Fronts on the device: what the files front_*.cu share.
 *
 * The plan (tree and schedule) is in device memory as it is on the host. A front's state says where its
 * panel is and how large delays have made it; it is written when the front is placed, before anything is
 * added to it. Panels come from a heap in the order in which fronts are placed, which may differ from run to
 * run: only addresses depend on that, no number does.
 *
 * A factorization never waits for the host. What it cannot do (panels that do not fit, a pivot that is not
 * positive) is noted in the tally, and from then on kernels return at once; the host sees it at the end. The
 * host may ask it to stop too (front_watch.cuh).
 */
#pragma once

#include "backend/cuda/batch_lanes.cuh"
#include "backend/cuda/ptx.cuh"

extern "C" {
#include "backend/front_run.h"
}

namespace sd_cuda
{

/* sd_pivoting, as kernels see it. */
struct front_rule {
    int rule;
    double u, small, regularise;
    const int8_t *signs;
    unsigned long long *tiles; /* front_tally's; NULL: tiles are not counted */
};

/* A tile was tried, and so many of its columns accepted. By one thread. */
__device__ inline void count_tile(const front_rule &rule, int accepted, int width)
{
    if (rule.tiles) atomicAdd(&rule.tiles[(SD_TILE_CLASSES - 1) * accepted / width], 1ull);
}

template <class real> struct front_state {
    real *panel, *d;
    int32_t *variable;
    int32_t rows, columns, delays, eliminated;
    int32_t ld;
    int32_t padding;
};

/* Why a run stopped. */
enum { STOP_ROOM = 1, STOP_INDEFINITE = 2, STOP_FLOPS = 4, STOP_CANCELLED = 8 };

/* What the device counts: whole numbers, so that their order does not matter. */
struct front_tally {
    unsigned long long signs[3]; /* negative, zero, positive */
    unsigned long long two_by_two, perturbed, suspects, delayed, nnz, operations;
    unsigned long long panel_bytes;            /* taken from the heap */
    unsigned long long tiles[SD_TILE_CLASSES]; /* as in sd_run_profile, where it is wanted */
    unsigned long long begun; /* operations of fronts that were placed, if all columns are eliminated */
    int largest_front;
    int stop;
    int asked; /* by the host, at any time, to stop */
};

/* Memory that panels are taken from. */
struct front_heap {
    char *memory;
    unsigned long long used;
};

/* What the plan says of a front, in one place. */
struct front_plan {
    int32_t first, columns, below, parent;
    int64_t rows;    /* where its rows below and their places begin */
    int64_t rest;    /* its contribution block; -1: none */
    int64_t entries; /* where those of A begin */
    int64_t child;   /* where its children do */
    int32_t entry_count, children;
    int32_t inner; /* whether its contribution block is in the workspace of a cluster */
    int32_t padding;
};

/* What children hand up to a row of a front, as planned: its own columns, then the rows below. Row i of front
 * f gets from[ptr[at] .. ptr[at + 1]), at = first[f] + row_ptr[f] + i: numbers of rows below fronts, those of
 * the first child first; owner has the front that each row is below. They depend on the plan alone: delays
 * and the order of pivots change neither what is handed up nor for which variable. */
struct row_lists {
    const uint32_t *ptr, *from;
    const int32_t *owner;
};

/* Everything that a kernel on fronts needs. */
template <class real> struct forest {
    int32_t n, fronts;
    const front_plan *plan;
    const int32_t *entry_column; /* of each entry of A: its column in the front's own ones */
    const int32_t *first, *parent;
    const int64_t *child_ptr;
    const int32_t *child;
    const int64_t *row_ptr;
    const int32_t *rows, *place;
    const int64_t *entry_ptr;
    const int32_t *entry_row;
    const int64_t *rest;
    const bool *inner;
    row_lists lists;

    const double *values;
    front_state<real> *front;
    real *arena;     /* contribution blocks */
    real *workspace; /* of blocks that run clusters, each `space` numbers, in the step at hand */
    int64_t space;
    front_heap *heap;
    unsigned long long ceiling; /* bytes of it that may be used in the step at hand */
    front_tally *tally;
    front_rule rule;
    unsigned long long most; /* of tally->begun; 0: no limit */
    bool watched;            /* whether the host may ask to stop */
};

template <class real> __device__ inline int own_columns(const forest<real> &w, int32_t f)
{
    return w.first[f + 1] - w.first[f];
}
template <class real> __device__ inline int rows_below(const forest<real> &w, int32_t f)
{
    return static_cast<int>(w.row_ptr[f + 1] - w.row_ptr[f]);
}

/* Where the contribution block of f is; `space` is the workspace of the block that runs its cluster. */
template <class real> __device__ inline real *rest_of(const forest<real> &w, int32_t f, real *space)
{
    return w.rest[f] < 0 ? nullptr : (w.inner[f] ? space : w.arena) + w.rest[f];
}

/* Columns that children [from, to) could not eliminate. By a warp. */
template <class real>
__device__ inline int count_delays(const forest<real> &w, int64_t from, int64_t to, int lane)
{
    unsigned late = 0;
    for (int64_t k = from + lane; k < to; k += WARP) {
        const front_state<real> &c = w.front[w.child[k]];
        late += static_cast<unsigned>(c.columns - c.eliminated);
    }
    return static_cast<int>(__reduce_add_sync(ALL_LANES, late));
}

__device__ inline int64_t round_to(int64_t number, int64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

/* Numbers between two columns of a panel: an even number, so that columns begin where two numbers can be
 * moved at a time. */
__device__ inline int leading_dimension(int rows)
{
    return (rows + 1) / 2 * 2;
}

/* Bytes of a panel with its D and its variables. */
template <class real> __device__ inline int64_t panel_bytes(int rows, int columns)
{
    return round_to(static_cast<int64_t>(sizeof(real)) * columns * (leading_dimension(rows) + 2) +
                        static_cast<int64_t>(sizeof(int32_t)) * columns,
                    16);
}

/* A front of this size, its panel at `memory`. */
template <class real>
__device__ inline front_state<real> state_at(void *memory, int rows, int columns, int delays)
{
    front_state<real> s;
    s.rows = rows;
    s.columns = columns;
    s.delays = delays;
    s.eliminated = 0;
    s.ld = leading_dimension(rows);
    s.padding = 0;
    s.panel = static_cast<real *>(memory);
    s.d = memory ? s.panel + static_cast<int64_t>(s.ld) * columns : nullptr; /* there may be no room */
    s.variable = memory ? reinterpret_cast<int32_t *>(s.d + 2 * columns) : nullptr;
    return s;
}

/* Room in the heap, or NULL, and the run stops. By one thread. */
template <class real> __device__ inline void *take_room(const forest<real> &w, int64_t bytes)
{
    const unsigned long long size = static_cast<unsigned long long>(bytes);
    const unsigned long long at = atomicAdd(&w.heap->used, size);
    atomicAdd(&w.tally->panel_bytes, size);
    if (at + size <= w.ceiling) return w.heap->memory + at;
    atomicOr(&w.tally->stop, STOP_ROOM);
    return nullptr;
}

template <class real> __device__ inline bool is_stopped(const forest<real> &w)
{
    return *static_cast<volatile int *>(&w.tally->stop) != 0;
}

/* The same for all threads of a block, which meet at barriers: what runs beside it, in another stream, may
 * stop the run while they look. */
template <class real> __device__ inline bool block_is_stopped(const forest<real> &w)
{
    return __syncthreads_or(is_stopped(w)) != 0;
}

/* What the host asks for becomes a stop, at any time. */
template <class real> __device__ inline void heed_host(const forest<real> &w)
{
    if (w.watched && load_from_host(&w.tally->asked)) atomicOr(&w.tally->stop, STOP_CANCELLED);
}

} /* namespace sd_cuda */
