/* The launches of a factorization: what front_run.cu calls, and the files front_*.cu define. */
#pragma once

#include "backend/cuda/fronts.cuh"

namespace sd_cuda
{

/* Clusters [from, to) of the schedule: fronts of cluster c are front[begin[c] .. begin[c + 1]). */
struct cluster_list {
    int from, to;
    const int64_t *begin;
    const int32_t *front;
    const int64_t *bytes; /* of all its panels, as planned */
};

/* Blocks that run at once, each of which needs a workspace, of tiny clusters or of the others; 0 where that
 * cannot be found out. Or those of a device that is not there, with so many multiprocessors. */
template <class real> int cluster_blocks(sd_engine *e, bool tiny);
int cluster_blocks_of(int processors, bool tiny);
template <class real>
void launch_clusters(sd_engine *e, const forest<real> &w, const cluster_list &list, bool tiny, int blocks,
                     unsigned *ticket);

/* Large fronts of a level, all fronts[from .. to) of the schedule. */
struct large_list {
    int from, to;
    const int32_t *front;
};

template <class real> struct large_work;
class front_clock;

/* How the work on the large fronts of a level is cut: job k of front f (counted in the level) is number
 * ptr[f] + k. Made on the device, since delays change the sizes. */
enum job_kind { JOB_ROWS, JOB_PANEL, JOB_STRIPS, JOB_TILES, JOB_REST_TILES, JOB_REST_STRIPS, JOB_KINDS };

/* Device memory that a level works in. */
template <class real> struct large_room {
    large_work<real> *work; /* of each front of a level */
    int64_t *jobs[JOB_KINDS];
    real *columns;     /* W and L of a tile, of all fronts: two times 32 numbers a row */
    unsigned *flags;   /* of the barrier and of steps */
    unsigned *barrier; /* of the launch at hand: each has its own */
    unsigned *ticket;  /* of the contribution blocks of the level */
    int64_t capacity;  /* rows that `columns` has room for */
};

/* Flags of a level at work: fronts that are not done; and, for each of three steps in turn, fronts whose
 * panel is done, those whose columns have to be moved, and those whose columns have all been tried; whether
 * some of the level was not assembled, since the run is stopped; and whether one thread has seen that. */
enum { FLAG_ACTIVE, FLAG_FLUSH, FLAG_MOVE = 4, FLAG_ROUND = 7, FLAG_SKIPPED = 10, FLAG_STOPPED, FLAG_COUNT };

template <class real>
void launch_factor(sd_engine *e, const forest<real> &w, const large_list &list, const large_room<real> &room,
                   int blocks);
template <class real> size_t large_work_bytes();
template <class real> int large_blocks(sd_engine *e);
/* All of a level: assembly, factorization, contribution blocks, counts. */
template <class real>
void launch_large(sd_engine *e, const forest<real> &w, const large_list &list, const large_room<real> &room,
                  int blocks, front_clock *clock);

} /* namespace sd_cuda */
