/* A run's memory, and what is done with it besides factoring: front_query.cu, front_solve.cu. */
#pragma once

#include "backend/cuda/front_launch.cuh"
#include "backend/cuda/front_profile.cuh"
#include "backend/cuda/front_watch.cuh"

extern "C" {
#include "plan/eviction.h"
#include "plan/layout.h"
}

#include <pthread.h>

struct sd_front_run {
    sd_precision precision;
    void *memory; /* sd_cuda::run_memory in that precision */
};

namespace sd_cuda
{

/* What a level works in: its clusters, and behind them its large fronts, since both are run at once; of the
 * latter the work, jobs and columns are one behind the other. */
struct level_room {
    int64_t bytes;                /* of all of it */
    int64_t space;                /* numbers of a block that runs clusters */
    int64_t rows;                 /* of large fronts, that there are columns for */
    int64_t large, jobs, columns; /* bytes before the large fronts, and from there to the first ones */
};

/* Where a run has what is not in its plan. It is made in memory of the host. */
struct run_layout {
    sd_layout places;
    level_room *level;
    char *memory; /* of all arrays; NULL: there are none */
};

/* Blocks that run clusters at once: those that are not tiny, and those that are. */
struct cluster_width {
    int blocks[2];
};

/* Whether clusters of a step, tiny ones and others, are run by one launch, with the memory of the others:
 * where that takes few rounds, since two launches would run one after the other. */
inline bool launched_together(const cluster_width &width, int64_t others, int64_t tiny)
{
    return others > 0 && tiny > 0 && others + tiny <= 2 * int64_t{width.blocks[0]};
}

/* What one block of threads takes up in a solve: a piece of a large front, or, where front is negative,
 * `piece` chains of fronts from chain -1 - front on. Pieces of rows below a front with few columns have room
 * for products with these columns, SQUARE of them a unit, from `room` on; -1: none. */
struct solve_task {
    int32_t front, piece, pieces, room;
};
struct solve_tasks {
    int count, listed; /* fronts of all chains */
    int32_t rooms;     /* units of all pieces */
    const solve_task *task;
    const int64_t *begin; /* fronts of chain c are front[begin[c] .. begin[c + 1]) */
    const int32_t *front;
};

/* Where values of the tree come from that are made on the device: front_values.cu. NULL before the first. */
struct value_source {
    const int32_t *row, *column, *target; /* of the stored entries of A; a target below 0: none */
    double *scale;
    int32_t *matched; /* by column, below 0: none */
    struct taken_values *taken;
    int64_t bytes; /* of all of these */
};

/* Memory of one solve at a time, and all that is idle: front_space.cu. */
struct solve_space {
    void *memory;
    int64_t bytes;
    cudaEvent_t done; /* after the last solve that had it */
    solve_space *next;
};
struct solve_spaces {
    pthread_mutex_t lock;
    solve_space *idle;
};
void make_spaces(solve_spaces *all);
void free_spaces(sd_engine *e, solve_spaces *all);
/* At least so many bytes, for what is launched from here on until they are given back; NULL on failure. */
solve_space *take_space(sd_engine *e, solve_spaces *all, int64_t bytes, const char *what);
void give_space(sd_engine *e, solve_spaces *all, solve_space *space, const char *what);

/*
 * Where panels are: the steps of a factorization, a heap for those that stay on the device, with the arena of
 * contribution blocks at its end, and for those that leave it, the first `evicted`, two regions in turn and
 * pinned memory of the host: front_evict.cu.
 */
struct panel_places {
    sd_panel_step *step;
    front_heap *heap; /* as a factorization begins: one a step that leaves, and that of the others */
    int32_t steps, evicted;
    char *kept, *region;
    int64_t kept_bytes, region_bytes, host_bytes; /* of one region */
    char *host;
    int64_t counted; /* of host_bytes: in the context's */
    cudaStream_t stream;
    cudaEvent_t ready[2], copied[2]; /* of each region: it is filled; it may be filled again */
};

/* A stream in which some of a level runs while the rest does in the engine's. */
class side_stream
{
  public:
    /* What is launched until the end of it runs beside what is launched afterwards, until `join`; false, with
     * the engine's status, where there is no stream for it. */
    bool begin(sd_engine *e);
    void end(sd_engine *e);
    void join(sd_engine *e);
    void free(sd_engine *e);

  private:
    cudaStream_t stream_, engines_;
    cudaEvent_t begun_, done_;
};

/* What a run takes of the device's memory, but for panels and what lies in the same memory. */
struct run_sizes {
    int64_t plan, lists, values; /* lists: of what children hand up, and of the tasks of solves */
    int64_t fixed;               /* all of these, from the beginning */
    int64_t source, solve;       /* for values, and for a solve with one right-hand side */
    int64_t later;               /* for values and solves with few, at least */
};

template <class real> struct run_memory {
    const sd_tree *tree;
    const sd_schedule *schedule;
    forest<real> w;
    cluster_list clusters; /* of all levels: from and to are set for each */
    large_list large;
    large_room<real> room;
    solve_tasks tasks;
    solve_spaces spaces;
    sd_solve_frame frame; /* in the device's memory */
    sd_presolve presolve; /* of the last factorization */
    run_layout layout;
    cluster_width width;
    int large_blocks;
    run_sizes sizes;
    int64_t limit; /* of all bytes on the device; 0: none */
    double slack;
    int64_t planned;    /* bytes of all panels without delays, */
    int64_t heap_bytes; /* and with room for delays, wherever they are */
    panel_places places;
    char *control;
    double *values;
    value_source values_from;
    int8_t *signs;
    sd_run_result result; /* of the last factorization */
    front_clock clock;
    side_stream beside;
    front_watch watch; /* where somebody was ever to be told of a factorization */
};

/* Runs function<real>(e, memory of the run, ...) in the run's precision. */
#define IN_PRECISION(run, function, e, ...)                                                                  \
    ((run)->precision == SD_DOUBLE                                                                           \
         ? function<double>(e, static_cast<run_memory<double> *>((run)->memory), __VA_ARGS__)                \
         : function<float>(e, static_cast<run_memory<float> *>((run)->memory), __VA_ARGS__))

saddle_status largest_entry(sd_engine *e, sd_front_run *run, double *largest);
saddle_status solve_parts(sd_engine *e, const sd_front_run *run, int parts, int64_t k, double *x,
                          int64_t ldx);
saddle_status set_frame(sd_engine *e, sd_front_run *run, const sd_solve_frame *frame);
saddle_status apply_inverse(sd_engine *e, const sd_front_run *run, bool turned, int64_t k, const double *r,
                            int64_t ldr, double *z, int64_t ldz);
saddle_status fetch_fronts(sd_engine *e, const sd_front_run *run, const sd_run_pivots *to);
saddle_status put_pivot(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, double d, double beside);
saddle_status clear_column(sd_engine *e, sd_front_run *run, int32_t f, int32_t k, const double *v);
saddle_status fetch_columns(sd_engine *e, const sd_front_run *run, int32_t f, void *to, int64_t *ld,
                            int32_t *variable);

/* All pivots, gathered on the device by what is launched here, in memory of gathered_bytes; and brought to
 * the host: nothing is waited for. */
template <class real> int64_t gathered_bytes(const run_memory<real> *m);
template <class real> void gather(sd_engine *e, const run_memory<real> *m, void *memory);
template <class real>
void bring(sd_engine *e, const run_memory<real> *m, const void *memory, const sd_run_pivots *to);

/* Values of the tree from those of A on the device; what was found of them, once that is done. */
void take_values(sd_engine *e, const sd_run_values *from, const sd_tree *t, double *values,
                 value_source *source);
void fetch_taken(sd_engine *e, const value_source *source, sd_run_taken *taken);
void free_values(sd_engine *e, value_source *source);

/* The steps that were chosen; the memory of their panels; and both given back. */
saddle_status plan_places(sd_engine *e, const sd_panels *p, const sd_eviction *choice, panel_places *places);
bool get_places(sd_engine *e, panel_places *places);
void free_places(sd_engine *e, panel_places *places);
/* Step k has been factored: its panels are copied to the host, while others are; before its region is filled
 * again, and at the end, fronts are told where they are. */
template <class real> void send_step(sd_engine *e, const run_memory<real> *m, int32_t k);
template <class real> void settle_step(sd_engine *e, const run_memory<real> *m, int32_t k);

/* Bytes; and where everything is, to be freed, with room for this part of delays. Large fronts of a step have
 * at most so many rows, if more than one of them (0: any number). */
template <class real> run_sizes sizes_of(const sd_tree *t, const sd_schedule *s);
template <class real>
saddle_status make_layout(sd_context *c, const sd_panels *p, const cluster_width &width, run_layout *to);
void free_layout(sd_context *c, run_layout *layout);
int64_t control_bytes(int32_t steps);

/* The order of work of solves on this tree; and what they need of a factorization: the inverses of the
 * squares on the diagonal, and then those of whole triangles, of which the largest has so many columns. For
 * all fronts (-1), or for one whose L has changed. */
saddle_status make_tasks(sd_engine *e, const sd_tree *t, const sd_schedule *s, solve_tasks *tasks);
/* Numbers of tasks alone, and the bytes of what make_tasks and make_lists make. */
int64_t count_tasks(const sd_tree *t, const sd_schedule *s, solve_tasks *tasks);
saddle_status make_lists(sd_engine *e, const sd_tree *t, row_lists *lists);
template <class real> void invert_squares(sd_engine *e, const run_memory<real> *m, int32_t front);
template <class real>
void invert_triangles(sd_engine *e, const run_memory<real> *m, int64_t largest, int32_t front);
/* As presolve says, those of some fronts, however large they have become: small ones, and large ones. */
struct front_list {
    const int32_t *front;
    int64_t count;
};
template <class real>
void invert_some(sd_engine *e, const run_memory<real> *m, front_list small, front_list large);

/* So many right-hand sides are solved for at a time, in groups of `width`. */
struct solve_portion {
    int columns, width;
};
/* x = the parts of (L D L')^-1 x on the device, x[position k + r] being row `position` of right-hand side r
 * of k, with a workspace of solve_bytes. */
template <class real>
void solve_device(sd_engine *e, const run_memory<real> *m, int parts, solve_portion k, real *x,
                  void *workspace);
template <class real> int64_t solve_bytes(const run_memory<real> *m, solve_portion k);
int64_t solve_bytes_of(const sd_tree *t, int64_t rooms, bool whole, int number_bytes, solve_portion k);
/* Those of k that are solved for from `first` on, at most SOLVE_COLUMNS; none is larger than the first. */
constexpr int SOLVE_COLUMNS = 64;
template <class real> solve_portion portion_from(const run_memory<real> *m, int64_t k, int64_t first);
/* Bytes on the device that a run has. */
template <class real> int64_t device_bytes(const run_memory<real> *m);

/* Memory on the device, and a copy there of a host array; NULL on failure, with the engine's status. */
inline void *get_room(sd_engine *e, int64_t bytes, const char *what)
{
    void *memory = e->status ? NULL : e->backend->allocate(e, bytes, what);
    if (!memory && !e->status) e->status = e->context->status;
    return memory;
}
inline void *copy_to_device(sd_engine *e, const void *host, int64_t bytes, const char *what)
{
    void *memory = get_room(e, bytes, what);
    if (memory) e->backend->upload(e, host, memory, bytes);
    return memory;
}

} /* namespace sd_cuda */
