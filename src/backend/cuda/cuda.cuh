/*
 * What the files of the CUDA module share: an engine's state, errors, launches.
 *
 * The module is loaded at run time and sees nothing of the library but the headers, so it writes
 * status and message into the engine and its context itself. Every engine has a stream, memory and
 * counters of its own: solves that run at once on one GPU do not meet. They are the device's, which
 * hands them from one engine to the next (module.cu).
 *
 * The same bits every run: nothing is summed by atomics. Integer atomics only tell the last block
 * or warp that it is the last, which then adds what the others left in a fixed order; and the
 * shape of a launch never decides what is added to what.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

extern "C" {
#include "backend/backend.h"
}
#include "backend/cuda/ptx.cuh"

namespace sd_cuda
{

constexpr int BLOCK = 256; /* threads of a block, where nothing else is said */
constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

/* Device memory, in pieces that are in use or wait for it: memory.cuh. */
struct memory_piece;
struct device_memory {
    memory_piece *pieces;
    bool apart;
};

constexpr int PANELS = 16; /* of a basis that one kernel takes: see basis.cu */

/* Numbers in device memory that are 0 between two calls. */
struct counters {
    unsigned ticket;            /* blocks that are done */
    unsigned panel[PANELS + 1]; /* and those of a panel */
    unsigned long long pile;    /* long rows found and their pieces: see sparse.cu */
};

/* Where kernels leave results for the host, in its memory. `done` is the number of the last reduction whose
 * results are there. The device has a copy of the values, for kernels that use them. */
constexpr int RESULTS = 512;
struct results {
    double value[RESULTS];
    unsigned long long done;
};

/* Results that the host has not taken yet: `count` numbers for `place`. */
struct pending {
    double *place;
    int count;
};

/* What an engine has. */
struct state {
    int device, processors;
    state *next;              /* that is idle */
    cudaStream_t own, stream; /* that it was made with; that it uses, which may be the caller's */
    device_memory memory;
    counters *counter;
    results *result;
    double *result_here;           /* on the device */
    bool overlaps;                 /* whether a kernel may begin before the one before it has ended */
    unsigned long long reductions; /* that were launched */
    pending waiting[RESULTS];      /* in the order of their numbers in result->value */
    int waits, values;             /* of waiting, and of their numbers */
};

inline state *state_of(const sd_engine *e)
{
    return static_cast<state *>(e->state);
}

/* Makes a device current for as long as this lives; the caller may be using another one. */
class on_device
{
    int before = 0;
    bool changed = false;

  public:
    cudaError_t error;
    explicit on_device(int device)
    {
        error = cudaGetDevice(&before);
        if (error == cudaSuccess && before != device) {
            error = cudaSetDevice(device);
            changed = true;
        }
    }
    on_device(const on_device &) = delete;
    on_device &operator=(const on_device &) = delete;
    ~on_device()
    {
        if (changed) cudaSetDevice(before);
    }
};

/* Writes the message and returns status. */
saddle_status fail(sd_context *c, saddle_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a CUDA call failed; the first failure of an engine is kept, with what it was doing. */
bool failed(sd_engine *e, cudaError_t error, const char *what);

/* The scratch of the engine, or NULL (and the engine failed) where fewer bytes were reserved. */
void *scratch(sd_engine *e, int64_t bytes, const char *what);

/* Waits for the stream. */
bool finished(sd_engine *e, const char *what);

/* Room among the results for `count` numbers that are for `place`; `number` is what the kernel that writes
 * them then sets `done` to. */
struct expected {
    double *there, *here; /* on the host and on the device */
    unsigned long long number;
};
expected expect(sd_engine *e, int count, double *place);

/* Where the device has the number that will stand at `place`; NULL where the host has it already. */
const double *still_to_come(const sd_engine *e, const double *place);

/* Waits for all results that are expected and puts them in their places. */
void collect(sd_engine *e);

/* The first thing in a kernel that was launched early: from here on all that came before it in the stream is
 * done, and the kernel after it may begin to take its place on the device. */
__device__ inline void after_others()
{
    wait_for_others();
    let_others_begin();
}

/* Runs a kernel on the engine's stream; `early` where it begins with after_others. Without blocks, as where a
 * matrix has no rows, there is nothing to run. */
template <class... Parameters, class... Arguments>
void launch_grid(sd_engine *e, const char *what, bool early, void (*kernel)(Parameters...), dim3 blocks,
                 int threads, int shared_bytes, Arguments... arguments)
{
    const state *s = state_of(e);
    const on_device current(s->device);
    if (failed(e, current.error, what) || blocks.x == 0) return;
    cudaLaunchConfig_t shape = {};
    shape.gridDim = blocks;
    shape.blockDim = dim3(static_cast<unsigned>(threads));
    shape.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
    shape.stream = s->stream;
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    shape.attrs = &overlap;
    shape.numAttrs = early && s->overlaps ? 1 : 0;
    failed(e, cudaLaunchKernelEx(&shape, kernel, static_cast<Parameters>(arguments)...), what);
}

template <class... Parameters, class... Arguments>
void launch_with(sd_engine *e, const char *what, void (*kernel)(Parameters...), int64_t blocks, int threads,
                 Arguments... arguments)
{
    launch_grid(e, what, false, kernel, dim3(static_cast<unsigned>(blocks)), threads, 0, arguments...);
}

/* Runs a kernel whose blocks wait for each other: all of them are on the device at once. */
template <class... Parameters, class... Arguments>
void launch_together(sd_engine *e, const char *what, void (*kernel)(Parameters...), int blocks, int threads,
                     int shared_bytes, Arguments... arguments)
{
    const state *s = state_of(e);
    const on_device current(s->device);
    if (failed(e, current.error, what)) return;
    cudaLaunchConfig_t shape = {};
    shape.gridDim = dim3(static_cast<unsigned>(blocks));
    shape.blockDim = dim3(static_cast<unsigned>(threads));
    shape.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
    shape.stream = s->stream;
    cudaLaunchAttribute together = {};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    shape.attrs = &together;
    shape.numAttrs = 1;
    failed(e, cudaLaunchKernelEx(&shape, kernel, static_cast<Parameters>(arguments)...), what);
}

/* With blocks of BLOCK threads. */
template <class... Parameters, class... Arguments>
void launch(sd_engine *e, const char *what, void (*kernel)(Parameters...), int64_t blocks,
            Arguments... arguments)
{
    launch_grid(e, what, false, kernel, dim3(static_cast<unsigned>(blocks)), BLOCK, 0, arguments...);
}

/* With such blocks, of a kernel that begins with after_others. */
template <class... Parameters, class... Arguments>
void launch_early(sd_engine *e, const char *what, void (*kernel)(Parameters...), int64_t blocks,
                  Arguments... arguments)
{
    launch_grid(e, what, true, kernel, dim3(static_cast<unsigned>(blocks)), BLOCK, 0, arguments...);
}

/* Every kernel of kernels.def and batch.def, over both precisions; vectors.cu, sparse.cu and batch_*.cu
 * define them. */
#define KERNEL(name, parameters, arguments) template <class real> void name parameters;
#include "backend/batch.def"
#include "backend/kernels.def"
#undef KERNEL

/* Compiles a template, where it is defined, in both precisions. */
#define BOTH(name)                                                                                           \
    template decltype(name<double>) name<double>;                                                            \
    template decltype(name<float>) name<float>;

/* How a product goes over the rows: decided from n and nnz, tuned with bench/kernels/cuda_kernels.cu. */
struct row_shape {
    int lanes;        /* threads a row: 1, 2, 4, ..., 32 */
    bool few;         /* short rows: fewer entries under way at once */
    int64_t long_row; /* rows of more entries are cut into pieces, */
    int64_t piece;    /* of so many entries, each summed by a warp */
};
row_shape choose_shape(const sd_sparse *A);

/* Factorizations by fronts: front_run.cu. What stays on the device: resident.cu. */
extern const struct sd_front_runner front_runner;
extern const struct sd_resident resident;
/* The engines of e's device use a stream of the caller's from now on, or their own where it is NULL:
 * module.cu. */
saddle_status use_stream(sd_engine *e, void *stream);
/* Many systems of one pattern: systems_run.cu. */
extern const struct sd_systems_runner systems_runner;
/* Incomplete factorizations on a pattern: incomplete_run.cu. */
extern const struct sd_incomplete_runner incomplete_runner;

enum product_mode { PLAIN, ABSOLUTE, EXTENDED, SWEPT, SUBTRACTED };

template <class real, product_mode mode>
void product(sd_engine *e, const char *what, const row_shape &shape, const sd_sparse *A, const sd_vector *x,
             const sd_vector *b, sd_vector *y);

/* A sweep over the entries of a triangle whose numbers are in their order, and b - R v: sparse.cu. */
template <class real>
void sweep_rows(sd_engine *e, const sd_triangle *t, const sd_vector *b, const sd_vector *from, sd_vector *to);
template <class real>
void subtract_rows(sd_engine *e, const sd_triangle *t, const sd_vector *b, const sd_vector *v, sd_vector *r);

} /* namespace sd_cuda */

extern "C" __attribute__((visibility("default"))) const sd_backend *sd_cuda_backend(void);
