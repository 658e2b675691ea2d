/*
 * Backends: what runs the loops.
 *
 * A backend is a table of kernels in both precisions and the handful of functions that own memory.
 * `reference` is plain loops and the oracle of all tests; `cpu` is OpenMP and SIMD; `cuda` is a separate
 * module that is loaded at run time. Methods (src/solve, src/factor) are written once over sd_NAME(e, ...)
 * and run on any of them. To add a kernel: a row in kernels.def (in batch.def where it works on blocks), its
 * reference in reference/, its faster versions in cpu/ and cuda/; the conformance tests cover the rows.
 *
 * The same bits for any number of threads: a reduction is cut into chunks of SD_CHUNK entries, each
 * summed in a fixed order, and the chunks are added in index order; a sparse product goes by the
 * slices that its plan determined. The number of threads only decides who runs a piece.
 */
#pragma once

#include "backend/ldlt.h"
#include "backend/scalar.h"
#include "core/context.h"

enum {
    SD_CHUNK = 4096,       /* entries of a reduction that are summed in one piece */
    SD_CHUNK_LEAST = 1024, /* fewer are not, on any backend */
    SD_PANEL = 8           /* vectors in a panel, at most */
};

/* A vector in the backend's memory. */
typedef struct sd_vector {
    void *data;
    int64_t n;
    sd_precision precision;
} sd_vector;

/*
 * A sparse matrix in the backend's memory, by rows: row i is ind, val[ptr[i] .. ptr[i+1]). With
 * `half` it is symmetric and row i holds only columns >= i (the lower triangle by columns).
 *
 * Slice s is rows slice[s] .. slice[s+1]). A half product adds into rows slice[s] .. window[s]) of
 * slice s; what it adds is kept apart at offset[s] of the scratch until all slices are summed in
 * order. Slices are determined by src/plan/slices.c from the pattern alone.
 */
typedef struct sd_sparse {
    int32_t n;
    int64_t nnz;     /* stored */
    int64_t longest; /* entries of the longest row, 0 where that was not looked for */
    bool half;
    sd_precision precision;
    const int64_t *ptr;
    const int32_t *ind;
    const void *val;
    int32_t slices;
    const int32_t *slice;  /* slices + 1 of them */
    const int32_t *window; /* slices of them, where half */
    const int64_t *offset; /* likewise */
    int64_t window_total;  /* entries of all windows */
} sd_sparse;

typedef struct sd_engine sd_engine;

typedef struct sd_kernels {
#define KERNEL(name, parameters, arguments) void(*name) parameters;
#include "backend/batch.def"
#include "backend/kernels.def"
#undef KERNEL
} sd_kernels;

/* Raised when this file or kernels.def changes what a module sees. */
#define SD_BACKEND_VERSION 16

typedef struct sd_device sd_device;

typedef struct sd_backend {
    int version; /* SD_BACKEND_VERSION that it was compiled with */
    const char *name;
    bool host_memory; /* whether the host may touch the backend's memory */

    /* Device d->index, counted from 0: fills in d->state; on failure the status and c->message. Here and
     * below close, begin, end and wait are NULL where a backend has nothing to do, as on the host, where
     * every result is there when its kernel returns. */
    saddle_status (*open)(sd_context *c, sd_device *d);
    void (*close)(sd_context *c, sd_device *d);

    /* An engine on e->device: fills in e->state; on failure the status and the message of e->context. These
     * may be called from several threads at once. */
    saddle_status (*begin)(sd_engine *e);
    void (*end)(sd_engine *e);

    /* Memory of the backend: NULL on failure with c->status and c->message. */
    void *(*allocate)(sd_engine *e, int64_t bytes, const char *what);
    void (*release)(sd_engine *e, void *memory);
    void (*upload)(sd_engine *e, const void *host, void *memory, int64_t bytes);
    void (*download)(sd_engine *e, const void *memory, void *host, int64_t bytes);
    /* Whether an array of the caller's is where the backend can reach it: NULL where that is so of all. */
    bool (*is_on_device)(sd_engine *e, const void *array);

    /* Brings the results of reductions that are still to come: see kernels.def. */
    void (*wait)(sd_engine *e);

    /* Writes the name and memory of a device, or why there is none, into the message of c. */
    saddle_status (*describe)(sd_context *c, int index);

    sd_kernels kernels[SD_PRECISIONS];
    const struct sd_front_runner *fronts;    /* whole factorizations by fronts: front_run.h; NULL: none */
    const struct sd_systems_runner *systems; /* many systems of one pattern: systems_run.h; NULL: none */
    const struct sd_incomplete_runner *incomplete; /* factors on a pattern: incomplete_run.h; NULL: none */
    const struct sd_resident *resident;            /* what stays on a device: resident.h; NULL: host_memory */
    bool substitutes; /* whether sweeps over blocks of a triangle do without their inverses (triangle.h) */
} sd_backend;

extern const sd_backend sd_backend_reference;

/* The cuda module, loaded at the first call; NULL with c->status and c->message where there is
 * none. $SADDLE_CUDA_MODULE names the file, otherwise it is looked for next to the library. */
const sd_backend *sd_backend_cuda(sd_context *c);

/* What the module exports under the name SD_CUDA_ENTRY: its table. */
#define SD_CUDA_ENTRY "sd_cuda_backend"
typedef const sd_backend *(*sd_cuda_entry)(void);

/*
 * A device that is open. What is costly to make is made once for it, and handed from one engine to the next:
 * a solver opens its device once, and every solve an engine. Engines may be opened and closed by several
 * threads at once; the device outlives them, and is closed with a context of the same hooks.
 */
struct sd_device {
    const sd_backend *backend;
    int index;   /* among those of the backend */
    void *state; /* the backend's own */
};

/* Opens device number `index` of a kind (SADDLE_DEVICE_CPU, ...), or of a backend. Closing does nothing where
 * opening failed. */
saddle_status sd_device_open(sd_context *c, sd_device *d, int kind, int index);
saddle_status sd_device_open_on(sd_context *c, sd_device *d, const sd_backend *backend, int index);
void sd_device_close(sd_context *c, sd_device *d);

/*
 * An engine is a backend at work for one solve: its threads or stream, its scratch memory, and the
 * first failure. After a failure kernels do nothing, so a method may test e->status once a step.
 */
struct sd_engine {
    const sd_backend *backend; /* NULL: not open */
    sd_device device;
    sd_context *context;
    int threads;
    saddle_status status;
    void *state;   /* the backend's own */
    void *scratch; /* the backend's memory: see sd_engine_reserve */
    int64_t scratch_bytes;
};

/* Opens an engine on a device; or on the host, SADDLE_DEVICE_CPU or _REFERENCE, where that needs none. */
saddle_status sd_engine_open(sd_context *c, const sd_device *d, sd_engine *e, int threads);
saddle_status sd_engine_open_host(sd_context *c, sd_engine *e, int kind, int threads);
void sd_engine_close(sd_engine *e);

/* Makes sure that the scratch suffices for reductions over n entries and products with A (NULL:
 * none). To be called before the kernels. */
saddle_status sd_engine_reserve(sd_engine *e, int64_t n, const sd_sparse *A);

/* Waits until the work of the engine is done: only then may another engine use what it has made. The
 * scratch is released. */
saddle_status sd_engine_finish(sd_engine *e);

/* Bytes in the backend's memory, and a copy there of a host array; NULL on failure (and e->status set). To be
 * given back by sd_release, which takes NULL too. */
void *sd_allocate(sd_engine *e, int64_t bytes, const char *what);
void *sd_to_backend(sd_engine *e, const void *host, int64_t bytes, const char *what);
void sd_release(sd_engine *e, const void *block);

/* A host array that outlives its use where the backend reads it: itself, or a copy. */
const void *sd_placed(sd_engine *e, const void *host, int64_t bytes, const char *what);
void sd_unplace(sd_engine *e, const void *placed);

/* A vector of n zeros; data is NULL on failure (and e->status set). */
sd_vector sd_vector_new(sd_engine *e, sd_precision precision, int64_t n, const char *what);
void sd_vector_free(sd_engine *e, sd_vector *x);

/* Between the host's doubles and a vector of either precision. */
void sd_vector_put(sd_engine *e, const double *host, sd_vector *x);
void sd_vector_get(sd_engine *e, const sd_vector *x, double *host);

/* sd_NAME(e, ...) runs the kernel in the precision of x. */
#define KERNEL(name, parameters, arguments)                                                                  \
    static inline void sd_##name parameters                                                                  \
    {                                                                                                        \
        e->backend->kernels[x->precision].name arguments;                                                    \
    }
#include "backend/batch.def"
#include "backend/kernels.def"
#undef KERNEL

/* Whether an array of the caller's is in the memory of a device. */
static inline bool sd_is_on_device(sd_engine *e, const void *array)
{
    return e->backend->is_on_device && e->backend->is_on_device(e, array);
}

static inline void sd_wait(sd_engine *e)
{
    if (e->backend->wait) e->backend->wait(e);
}

static inline double sd_dot_of(sd_engine *e, const sd_vector *x, const sd_vector *y)
{
    double result = 0;
    sd_dot(e, x, y, &result);
    return result;
}
