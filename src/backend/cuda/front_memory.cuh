/* A run's memory, and what is done with it besides factoring: front_query.cu, front_solve.cu. */
#pragma once

#include "backend/cuda/front_launch.cuh"
#include "backend/cuda/front_profile.cuh"
#include "backend/cuda/front_watch.cuh"

#include <pthread.h>

struct sd_front_run {
    sd_precision precision;
    void *memory; /* sd_cuda::run_memory in that precision */
};

namespace sd_cuda
{

/* What the largest level needs. */
struct level_sizes {
    int64_t large; /* fronts */
    int64_t rows;  /* of all of them */
};

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

/* What children hand up to a row of a front, as planned: its own columns, then the rows below. Row i of front
 * f gets from[ptr[at] .. ptr[at + 1]), at = first[f] + row_ptr[f] + i: numbers of rows below fronts, those of
 * the first child first. They depend on the plan alone: delays and the order of pivots change neither what is
 * handed up nor for which variable. */
struct solve_lists {
    const uint32_t *ptr, *from;
};

/* Where values of the tree come from that are made on the device: front_values.cu. NULL before the first. */
struct value_source {
    const int32_t *row, *column, *target; /* of the stored entries of A; a target below 0: none */
    double *scale;
    int32_t *matched; /* by column, below 0: none */
    struct taken_values *taken;
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

template <class real> struct run_memory {
    const sd_tree *tree;
    const sd_schedule *schedule;
    forest<real> w;
    cluster_list clusters; /* of all levels: from and to are set for each */
    large_list large;
    large_room<real> room;
    solve_tasks tasks;
    solve_lists lists;
    solve_spaces spaces;
    sd_solve_frame frame; /* in the device's memory */
    sd_presolve presolve; /* of the last factorization */
    level_sizes most;
    int cluster_blocks[2], large_blocks; /* of clusters that are not tiny, and of those that are */
    int64_t planned;                     /* bytes of the panels without delays */
    double slack;
    int64_t heap_bytes;
    void *heap;
    char *control;
    double *values;
    value_source values_from;
    int8_t *signs;
    sd_run_result result; /* of the last factorization */
    front_clock clock;
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

/* The order of work of solves on this tree; and what they need of a factorization: the inverses of the
 * squares on the diagonal, and then those of whole triangles, of which the largest has so many columns. For
 * all fronts (-1), or for one whose L has changed. */
saddle_status make_tasks(sd_engine *e, const sd_tree *t, const sd_schedule *s, solve_tasks *tasks);
saddle_status make_lists(sd_engine *e, const sd_tree *t, solve_lists *lists);
template <class real> void invert_squares(sd_engine *e, const run_memory<real> *m, int32_t front);
template <class real>
void invert_triangles(sd_engine *e, const run_memory<real> *m, int64_t largest, int32_t front);

/* x = the parts of (L D L')^-1 x on the device, x[position k + r] being row `position` of right-hand side r,
 * with a workspace of solve_bytes. */
template <class real>
void solve_device(sd_engine *e, const run_memory<real> *m, int parts, int k, real *x, void *workspace);
template <class real> int64_t solve_bytes(const run_memory<real> *m, int k);
/* Columns of k that are solved for at a time, at most SOLVE_COLUMNS. */
constexpr int SOLVE_COLUMNS = 64;
template <class real> int columns_at_once(const run_memory<real> *m, int64_t k);

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
