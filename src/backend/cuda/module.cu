/*
 * The CUDA module's table: devices, memory, errors. The kernels are in vectors.cu and sparse.cu.
 *
 * Streams, memory and pinned memory take longer to make than a small solve to run. So an engine that ends
 * without a failure leaves them to its device, which gives them to the next one.
 */
#include "backend/cuda/memory.cuh"

#include <atomic>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace sd_cuda
{

saddle_status fail(sd_context *c, saddle_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->message, sizeof c->message, format, args);
    va_end(args);
    c->status = status;
    return status;
}

bool failed(sd_engine *e, cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return false;
    if (!e->status)
        e->status = fail(e->context, SADDLE_DEVICE_FAILED,
                         "the GPU failed, detected at %s (earlier work may be the cause): %s: %s", what,
                         cudaGetErrorName(error), cudaGetErrorString(error));
    return true;
}

void *scratch(sd_engine *e, int64_t bytes, const char *what)
{
    if (e->scratch && bytes <= e->scratch_bytes) return e->scratch;
    if (!e->status)
        e->status = fail(e->context, SADDLE_DEVICE_FAILED,
                         "%s needs %lld bytes of scratch but only %lld are reserved (sd_engine_reserve)",
                         what, static_cast<long long>(bytes), static_cast<long long>(e->scratch_bytes));
    return NULL;
}

bool finished(sd_engine *e, const char *what)
{
    return !e->status && !failed(e, cudaStreamSynchronize(state_of(e)->stream), what);
}

expected expect(sd_engine *e, int count, double *place)
{
    state *s = state_of(e);
    if (s->values + count > RESULTS) collect(e);
    const int at = s->values;
    s->waiting[s->waits++] = {place, count};
    s->values += count;
    return {s->result->value + at, s->result_here + at, ++s->reductions};
}

const double *still_to_come(const sd_engine *e, const double *place)
{
    const state *s = state_of(e);
    int at = s->values;
    for (int k = s->waits - 1; k >= 0; --k) { /* the last one that is for this place */
        at -= s->waiting[k].count;
        const double *const first = s->waiting[k].place;
        if (place >= first && place < first + s->waiting[k].count)
            return s->result_here + at + (place - first);
    }
    return NULL;
}

namespace
{

/* Looks until the results of the last reduction are there. The kernel's own word comes sooner than the
 * stream's, which is asked now and then, for a kernel that failed says nothing. */
bool arrived(sd_engine *e)
{
    constexpr int LOOKS = 4096;
    state *s = state_of(e);
    const volatile unsigned long long *const done = &s->result->done;
    while (*done != s->reductions) {
        for (int k = 0; k < LOOKS && *done != s->reductions; ++k) {
        }
        if (*done == s->reductions) break;
        const cudaError_t error = cudaStreamQuery(s->stream);
        if (error == cudaErrorNotReady) continue;
        if (failed(e, error, "a reduction")) return false;
        if (*done != s->reductions) return !failed(e, cudaErrorUnknown, "a reduction without a result");
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
}

} /* namespace */

void collect(sd_engine *e)
{
    state *s = state_of(e);
    if (!e->status && s->waits > 0 && arrived(e)) {
        const double *value = s->result->value;
        for (int k = 0; k < s->waits; ++k)
            for (int i = 0; i < s->waiting[k].count; ++i) s->waiting[k].place[i] = *value++;
    }
    s->waits = s->values = 0;
}

namespace
{

/* Whether device number `index` is there; if not, why. */
saddle_status find_device(sd_context *c, int index)
{
    int driver = 0, runtime = 0, count = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        return fail(c, SADDLE_NO_DEVICE, "no CUDA: there is no NVIDIA driver on this machine (libcuda.so.1)");
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver)
        return fail(c, SADDLE_NO_DEVICE, "no CUDA: the driver is for CUDA %d.%d, the module needs %d.%d",
                    driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
        return fail(c, SADDLE_NO_DEVICE,
                    "no CUDA: the driver finds no GPU (or CUDA_VISIBLE_DEVICES hides it)");
    if (error != cudaSuccess)
        return fail(c, SADDLE_NO_DEVICE, "no CUDA: %s: %s", cudaGetErrorName(error),
                    cudaGetErrorString(error));
    if (index < 0 || index >= count)
        return fail(c, SADDLE_NO_DEVICE, "there is no CUDA device %d: there %s %d, counted from 0", index,
                    count == 1 ? "is" : "are", count);
    return SADDLE_OK;
}

saddle_status describe(sd_context *c, int index)
{
    const saddle_status status = find_device(c, index);
    if (status) return status;
    int driver = 0, runtime = 0;
    cudaDeviceProp p;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    const cudaError_t error = cudaGetDeviceProperties(&p, index);
    if (error != cudaSuccess)
        return fail(c, SADDLE_NO_DEVICE, "CUDA device %d does not respond: %s", index,
                    cudaGetErrorString(error));
    return fail(c, SADDLE_OK,
                "%s, %lld MiB, compute capability %d.%d, %d multiprocessors, driver for CUDA %d.%d, "
                "runtime %d.%d",
                p.name, static_cast<long long>(p.totalGlobalMem >> 20), p.major, p.minor,
                p.multiProcessorCount, driver / 1000, driver % 1000 / 10, runtime / 1000,
                runtime % 1000 / 10);
}

/* A device that is open: what its engines are made of, when none of them has it. */
struct device_state {
    pthread_mutex_t lock;
    state *idle;
    cudaStream_t given; /* the caller's, for all engines; NULL: each has its own */
    int processors;
    bool overlaps;
};

constexpr size_t KEPT = 64 << 20; /* bytes of device memory that an idle stream keeps for the next engine */

/* A device, or an engine on it, could not be made. */
saddle_status refuse(sd_context *c, cudaError_t error, int index, const char *what)
{
    cudaGetLastError();
    return fail(c, error == cudaErrorMemoryAllocation ? SADDLE_OUT_OF_MEMORY : SADDLE_NO_DEVICE,
                "CUDA device %d cannot be used: %s: %s: %s", index, what, cudaGetErrorName(error),
                cudaGetErrorString(error));
}

/* Everything in a state that CUDA made, as far as it was made. */
void dispose(sd_context *c, state *s)
{
    const on_device current(s->device);
    if (s->stream) cudaStreamSynchronize(s->stream);
    if (s->own && s->own != s->stream) cudaStreamSynchronize(s->own);
    if (s->counter) cudaFree(s->counter);
    if (s->result_here) cudaFree(s->result_here);
    if (s->result) cudaFreeHost(s->result);
    free_memory(c, &s->memory);
    if (s->own) cudaStreamDestroy(s->own);
    c->hooks.release(s, c->hooks.user);
}

__global__ void clear_counters(counters *counter)
{
    if (threadIdx.x == 0) *counter = counters();
}

/* Makes what the state holds; *what says what failed. */
cudaError_t furnish(state *s, const char **what)
{
    *what = "no stream";
    cudaError_t error = cudaStreamCreateWithFlags(&s->own, cudaStreamNonBlocking);
    s->stream = s->own;
    if (error == cudaSuccess) {
        *what = "no pinned memory";
        error = cudaHostAlloc(reinterpret_cast<void **>(&s->result), sizeof *s->result,
                              cudaHostAllocMapped | cudaHostAllocPortable);
        if (error == cudaSuccess) s->result->done = 0;
    }
    if (error == cudaSuccess) {
        *what = "no memory for counters";
        error = cudaMalloc(reinterpret_cast<void **>(&s->counter), sizeof *s->counter);
    }
    if (error == cudaSuccess) {
        *what = "no memory for results";
        error = cudaMalloc(reinterpret_cast<void **>(&s->result_here), RESULTS * sizeof *s->result_here);
    }
    return error;
}

/* What is known of a device before anything runs on it; the first call of a process makes its context. */
cudaError_t examine(int index, device_state *d, const char **what)
{
    int major = 0;
    cudaFuncAttributes code;
    *what = "it cannot run the module's code";
    cudaError_t error = cudaFuncGetAttributes(&code, clear_counters);
    if (error == cudaSuccess) {
        *what = "no compute capability";
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index);
        d->overlaps = major >= 9;
    }
    if (error == cudaSuccess) {
        *what = "no number of multiprocessors";
        error = cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, index);
    }
    return error;
}

void close(sd_context *c, sd_device *opened)
{
    device_state *d = static_cast<device_state *>(opened->state);
    while (d->idle) {
        state *s = d->idle;
        d->idle = s->next;
        dispose(c, s);
    }
    pthread_mutex_destroy(&d->lock);
    c->hooks.release(d, c->hooks.user);
}

saddle_status open(sd_context *c, sd_device *opened)
{
    const int index = opened->index;
    const saddle_status status = find_device(c, index);
    if (status) return status;
    device_state *d = static_cast<device_state *>(c->hooks.allocate(sizeof(device_state), c->hooks.user));
    if (!d)
        return fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate %d bytes for a CUDA device",
                    (int)sizeof *d);
    *d = {};
    pthread_mutex_init(&d->lock, NULL);
    opened->state = d;
    const char *what = "it cannot be selected";
    const on_device current(index);
    cudaError_t error = current.error;
    if (error == cudaSuccess) error = examine(index, d, &what);
    if (error == cudaSuccess) return SADDLE_OK;
    close(c, opened);
    return refuse(c, error, index, what);
}

/* A new state for an engine, where none is idle. */
saddle_status make_state(sd_engine *e, const device_state *d)
{
    sd_context *c = e->context;
    state *s = static_cast<state *>(c->hooks.allocate(sizeof(state), c->hooks.user));
    if (!s)
        return fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate %d bytes for a CUDA engine",
                    (int)sizeof *s);
    *s = state();
    begin_memory(&s->memory);
    s->device = e->device.index;
    s->processors = d->processors;
    s->overlaps = d->overlaps;
    const char *what = "it cannot be selected";
    const on_device current(s->device);
    cudaError_t error = current.error;
    if (error == cudaSuccess) error = furnish(s, &what);
    if (error != cudaSuccess) {
        dispose(c, s);
        return refuse(c, error, e->device.index, what);
    }
    e->state = s;
    launch(e, "open", clear_counters, 1, s->counter);
    if (e->status) dispose(c, s);
    return e->status;
}

saddle_status begin(sd_engine *e)
{
    device_state *d = static_cast<device_state *>(e->device.state);
    pthread_mutex_lock(&d->lock);
    state *s = d->idle;
    if (s) d->idle = s->next;
    const cudaStream_t given = d->given;
    pthread_mutex_unlock(&d->lock);
    const saddle_status status = s ? SADDLE_OK : make_state(e, d);
    if (status) return status;
    if (s) e->state = s;
    if (given && !finished(e, "open")) {
        dispose(e->context, state_of(e));
        return e->status;
    }
    if (given) state_of(e)->stream = given;
    return SADDLE_OK;
}

void release(sd_engine *e, void *data)
{
    state *s = state_of(e);
    sd_context *c = e->context;
    const on_device current(s->device);
    const int64_t bytes = give_piece(c, &s->memory, data);
    if (bytes > 0) c->bytes -= bytes;
}

/* Whether nothing is left of the engine's work but what the next one may have: counters are 0, and of the
 * memory not more is kept than is soon used again. */
bool is_clean(sd_engine *e)
{
    state *s = state_of(e);
    const on_device current(s->device);
    s->waits = s->values = 0;
    if (e->status || current.error != cudaSuccess || cudaStreamSynchronize(s->stream) != cudaSuccess)
        return false;
    trim_memory(e->context, &s->memory, KEPT);
    return true;
}

void end(sd_engine *e)
{
    device_state *d = static_cast<device_state *>(e->device.state);
    state *s = state_of(e);
    while (void *left = piece_in_use(&s->memory)) release(e, left);
    if (is_clean(e)) {
        s->stream = s->own;
        pthread_mutex_lock(&d->lock);
        s->next = d->idle;
        d->idle = s;
        pthread_mutex_unlock(&d->lock);
    } else {
        dispose(e->context, s);
    }
    e->state = NULL;
}

/* Says why there is no device memory for `what`. */
void tell_shortage(sd_engine *e, cudaError_t error, int64_t bytes, const char *what)
{
    sd_context *c = e->context;
    const long long wanted = bytes, used = c->bytes;
    size_t unused = 0, all = 0;
    if (error == cudaSuccess) {
        fail(c, SADDLE_OUT_OF_MEMORY,
             "out of memory: cannot allocate %d bytes on the host to keep track of %s",
             (int)sizeof(memory_piece), what);
        return;
    }
    const bool answers = cudaMemGetInfo(&unused, &all) == cudaSuccess;
    if (error != cudaErrorMemoryAllocation && !(answers && static_cast<size_t>(bytes) > all)) {
        failed(e, error, what);
        return;
    }
    fail(c, SADDLE_OUT_OF_MEMORY,
         "out of memory: cannot allocate %lld bytes on the GPU for %s, with %lld bytes in use (%lld of its "
         "%lld "
         "bytes are free)",
         wanted, what, used, static_cast<long long>(unused), static_cast<long long>(all));
}

void *get_memory(sd_engine *e, int64_t bytes, bool leaves, const char *what)
{
    state *s = state_of(e);
    sd_context *c = e->context;
    const long long wanted = bytes, used = c->bytes, limit = c->limit;
    if (bytes < 0) {
        fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: %s of %lld bytes cannot be addressed", what, wanted);
        return NULL;
    }
    if (limit > 0 && bytes > limit - used) {
        fail(c, SADDLE_MEMORY_LIMIT,
             "memory limit: %s needs %lld bytes in addition to %lld in use; the limit is %lld "
             "(raise max-memory to at least %lld)",
             what, wanted, used, limit, used + wanted);
        return NULL;
    }
    const on_device current(s->device);
    cudaError_t error = current.error;
    void *data = error == cudaSuccess ? take_piece(c, &s->memory, bytes, leaves, &error) : NULL;
    if (!data) {
        tell_shortage(e, error, bytes, what);
        return NULL;
    }
    c->bytes += bytes;
    if (c->bytes > c->peak) c->peak = c->bytes;
    return data;
}

void *allocate(sd_engine *e, int64_t bytes, const char *what)
{
    return get_memory(e, bytes, false, what);
}

/* The caller may reuse or free its side as soon as these return. */
void transfer(sd_engine *e, const void *from, void *to, int64_t bytes, cudaMemcpyKind kind, const char *what)
{
    if (e->status || bytes == 0) return;
    const on_device current(state_of(e)->device);
    if (failed(e, current.error, what)) return;
    if (failed(e, cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, state_of(e)->stream), what))
        return;
    finished(e, what);
}

void upload(sd_engine *e, const void *host, void *data, int64_t bytes)
{
    transfer(e, host, data, bytes, cudaMemcpyHostToDevice, "upload");
}

void download(sd_engine *e, const void *data, void *host, int64_t bytes)
{
    transfer(e, data, host, bytes, cudaMemcpyDeviceToHost, "download");
}

bool is_on_device(sd_engine *e, const void *array)
{
    cudaPointerAttributes a = {};
    const on_device current(state_of(e)->device);
    if (!array || current.error != cudaSuccess || cudaPointerGetAttributes(&a, array) != cudaSuccess) {
        cudaGetLastError(); /* of the host's own memory older drivers know nothing */
        return false;
    }
    return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged;
}

#define KERNEL(name, parameters, arguments) name<double>,
const sd_kernels double_kernels = {
#include "backend/batch.def"
#include "backend/kernels.def"
};
#undef KERNEL
#define KERNEL(name, parameters, arguments) name<float>,
const sd_kernels single_kernels = {
#include "backend/batch.def"
#include "backend/kernels.def"
};
#undef KERNEL

} /* namespace */

void *allocate_leaving(sd_engine *e, int64_t bytes, const char *what)
{
    return get_memory(e, bytes, true, what);
}

saddle_status use_stream(sd_engine *e, void *stream)
{
    state *s = state_of(e);
    device_state *d = static_cast<device_state *>(e->device.state);
    if (!finished(e, "the stream before")) return e->status;
    pthread_mutex_lock(&d->lock);
    d->given = static_cast<cudaStream_t>(stream);
    pthread_mutex_unlock(&d->lock);
    s->stream = stream ? d->given : s->own;
    return SADDLE_OK;
}

namespace
{

const sd_backend table = {SD_BACKEND_VERSION,
                          "cuda",
                          false,
                          open,
                          close,
                          begin,
                          end,
                          allocate,
                          release,
                          upload,
                          download,
                          is_on_device,
                          collect,
                          describe,
                          {double_kernels, single_kernels},
                          &front_runner,
                          &systems_runner,
                          &incomplete_runner,
                          &resident,
                          false};

} /* namespace */
} /* namespace sd_cuda */

const sd_backend *sd_cuda_backend(void)
{
    return &sd_cuda::table;
}
