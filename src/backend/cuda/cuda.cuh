/*
 * What the files of the CUDA module share: an engine's state, errors, launches.
 *
 * The module is loaded at run time and sees nothing of the library but the headers, so it writes
 * status and message into the engine and its context itself. Every engine has a stream, a memory
 * pool and counters of its own: solves that run at once on one GPU do not meet.
 *
 * The same bits every run: nothing is added up by atomics. Integer atomics only tell the last block
 * or warp that it is the last, which then adds what the others left in a fixed order; and the
 * shape of a launch never decides what is added to what.
 */
#ifndef SD_CUDA_CUH
#define SD_CUDA_CUH

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

extern "C" {
#include "backend/backend.h"
}

namespace sd_cuda
{

constexpr int BLOCK = 256; /* threads of a block, in kernels on vectors and matrices */
constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

/* A block of device memory, in the list that knows how large each is. */
struct block {
    void *data;
    int64_t bytes;
    block *next;
};

/* Numbers in device memory that are 0 between two calls. */
struct counters {
    unsigned ticket;         /* blocks that are done */
    unsigned long long pile; /* long rows found and their pieces: see sparse.cu */
};

struct state {
    int device, processors;
    cudaStream_t stream;
    cudaMemPool_t pool;
    block *blocks;
    counters *counter;
    double *result; /* SD_PANEL numbers on the host, written by kernels */
};

inline state *state_of(const sd_engine *e)
{
    return static_cast<state *>(e->state);
}

/* Makes a device current for as long as this lives; whoever called may be using another one. */
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

/* Waits for the stream, so that e's result is there. */
bool finished(sd_engine *e, const char *what);

/* Runs a kernel on the engine's stream with blocks of so many threads. */
template <class... Parameters, class... Arguments>
void launch_shaped(sd_engine *e, const char *what, void (*kernel)(Parameters...), int64_t blocks, int threads,
                   Arguments... arguments)
{
    const state *s = state_of(e);
    const on_device current(s->device);
    if (failed(e, current.error, what)) return;
    cudaLaunchConfig_t shape = {};
    shape.gridDim = dim3(static_cast<unsigned>(blocks));
    shape.blockDim = dim3(static_cast<unsigned>(threads));
    shape.stream = s->stream;
    failed(e, cudaLaunchKernelEx(&shape, kernel, static_cast<Parameters>(arguments)...), what);
}

/* The same with blocks of BLOCK threads. */
template <class... Parameters, class... Arguments>
void launch(sd_engine *e, const char *what, void (*kernel)(Parameters...), int64_t blocks,
            Arguments... arguments)
{
    launch_shaped(e, what, kernel, blocks, BLOCK, arguments...);
}

/* Every kernel of kernels.def and blocks.def, over both precisions; vectors.cu, sparse.cu and block_*.cu
 * define them. */
#define KERNEL(name, parameters, arguments) template <class real> void name parameters;
#include "backend/blocks.def"
#include "backend/kernels.def"
#undef KERNEL

/* How a product goes over the rows: decided from n and nnz, tried out by bench/cuda_kernels.cu. */
struct row_shape {
    int lanes;        /* threads a row: 1, 2, 4, ..., 32 */
    int64_t long_row; /* rows of more entries are cut into pieces, */
    int64_t piece;    /* of so many entries, each summed by a warp */
};
row_shape choose_shape(const sd_sparse *A);

enum product_mode { PLAIN, ABSOLUTE, EXTENDED };

template <class real, product_mode mode>
void product(sd_engine *e, const char *what, const row_shape &shape, const sd_sparse *A, const sd_vector *x,
             const sd_vector *b, sd_vector *y);

} /* namespace sd_cuda */

extern "C" __attribute__((visibility("default"))) const sd_backend *sd_cuda_backend(void);

#endif
