/*
 * The driver of `saddle bench blocks` on a GPU: see driver.h. Not installed; the target is blocks_cuda, the
 * program build/bin/peers/blocks-cuda, which loads the CUDA module with the benchmark's kernels,
 * libsaddle_bench_cuda.so, from ../../lib or $SADDLE_BENCH_CUDA_MODULE.
 *
 * The peers are cuBLAS' getrfBatched and matinvBatched and cuSOLVER's potrfBatched, on the same stream. They
 * are loaded at run time: where a library is not there, a note says so and the rest is measured.
 */
#include "backend/cuda/cuda.cuh"

extern "C" {
#include "bench/blocks/driver/driver.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cublas_v2.h>
#include <cusolverDn.h>
#include <dlfcn.h>
#include <unistd.h>

using namespace sd_cuda;

namespace
{

/* The functions of a library that are called, by the types of its header. */
#define FUNCTIONS(ROW)                                                                                       \
    ROW(cublas, cublasCreate_v2)                                                                             \
    ROW(cublas, cublasSetStream_v2)                                                                          \
    ROW(cublas, cublasDgetrfBatched)                                                                         \
    ROW(cublas, cublasSgetrfBatched)                                                                         \
    ROW(cublas, cublasDmatinvBatched)                                                                        \
    ROW(cublas, cublasSmatinvBatched)                                                                        \
    ROW(cusolver, cusolverDnCreate)                                                                          \
    ROW(cusolver, cusolverDnSetStream)                                                                       \
    ROW(cusolver, cusolverDnDpotrfBatched)                                                                   \
    ROW(cusolver, cusolverDnSpotrfBatched)

struct libraries {
#define ROW(library, name) decltype(&::name) name = nullptr;
    FUNCTIONS(ROW)
#undef ROW
    cublasHandle_t cublas = nullptr;
    cusolverDnHandle_t cusolver = nullptr;
} all;

/* Of the peer that is at work, in device memory: where each block of each slot lies, and what it tells. */
struct {
    void **from, **to;
    int *pivot, *info;
} own;

cudaStream_t stream_of(const blocks_bench *b)
{
    return state_of(&b->engine)->stream;
}

void check_cuda(blocks_bench *b, cudaError_t error)
{
    if (error != cudaSuccess) blocks_check(b, cudaGetErrorString(error));
}

void *open_library(const char *const *names)
{
    void *library = nullptr;
    for (; *names && !library; ++names) {
        char path[200];
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        snprintf(path, sizeof path, "/usr/local/cuda/lib64/%s", *names);
        if (!library) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* Loads what there is; a peer whose handle is null is left out. */
void load_libraries(const blocks_bench *b)
{
    static const char *const cublas_names[] = {"libcublas.so.13", "libcublas.so", nullptr};
    static const char *const cusolver_names[] = {"libcusolver.so.12", "libcusolver.so", nullptr};
    void *const cublas = open_library(cublas_names), *const cusolver = open_library(cusolver_names);
    bool cublas_found = cublas, cusolver_found = cusolver;
#define ROW(library, name)                                                                                   \
    if (library) all.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));                      \
    library##_found = library##_found && all.name;
    FUNCTIONS(ROW)
#undef ROW
    if (cublas_found && all.cublasCreate_v2(&all.cublas) != CUBLAS_STATUS_SUCCESS) all.cublas = nullptr;
    if (cusolver_found && all.cusolverDnCreate(&all.cusolver) != CUSOLVER_STATUS_SUCCESS)
        all.cusolver = nullptr;
    if (all.cublas) all.cublasSetStream_v2(all.cublas, stream_of(b));
    if (all.cusolver) all.cusolverDnSetStream(all.cusolver, stream_of(b));
    if (!all.cublas)
        printf("note cuBLAS could not be loaded: its getrfBatched and matinvBatched are omitted\n");
    if (!all.cusolver) printf("note cuSOLVER could not be loaded: its potrfBatched is omitted\n");
}

void *device_memory(blocks_bench *b, int64_t bytes)
{
    void *data = b->engine.backend->allocate(&b->engine, bytes, "what a peer needs");
    blocks_check(b, nullptr);
    return data;
}

bool begin_peer(blocks_bench *b, const blocks_batch *x)
{
    const int64_t count = x->plan.blocks, each = x->bytes / count;
    std::vector<void *> from, to;
    for (int64_t s = 0; s < x->slots; ++s) {
        for (int64_t k = 0; k < count; ++k) {
            from.push_back(static_cast<char *>(blocks_from(b, x, s)) + k * each);
            to.push_back(static_cast<char *>(blocks_to(b, x, s)) + k * each);
        }
    }
    const int64_t bytes = static_cast<int64_t>(from.size() * sizeof(void *));
    own.from = static_cast<void **>(device_memory(b, bytes));
    own.to = static_cast<void **>(device_memory(b, bytes));
    own.pivot = static_cast<int *>(device_memory(b, x->plan.rows * static_cast<int64_t>(sizeof(int))));
    own.info = static_cast<int *>(device_memory(b, count * static_cast<int64_t>(sizeof(int))));
    b->engine.backend->upload(&b->engine, from.data(), own.from, bytes);
    b->engine.backend->upload(&b->engine, to.data(), own.to, bytes);
    blocks_check(b, nullptr);
    return true;
}

bool begin_cublas(blocks_bench *b, const blocks_batch *x)
{
    return all.cublas && x->size > 0 && begin_peer(b, x);
}

bool begin_cusolver(blocks_bench *b, const blocks_batch *x)
{
    return all.cusolver && x->size > 0 && begin_peer(b, x);
}

void end_peer(blocks_bench *b)
{
    for (void *data : {(void *)own.from, (void *)own.to, (void *)own.pivot, (void *)own.info})
        b->engine.backend->release(&b->engine, data);
}

void check_peer(blocks_bench *b, int status, const char *name)
{
    char text[100];
    snprintf(text, sizeof text, "%s ended with status %d", name, status);
    if (status != 0) blocks_check(b, text);
}

void getrf(blocks_bench *b, const blocks_batch *x, void *, int64_t slot)
{
    void **a = own.to + slot * x->plan.blocks;
    const int n = x->size, count = x->plan.blocks;
    check_peer(b,
               x->precision == SD_DOUBLE
                   ? all.cublasDgetrfBatched(all.cublas, n, (double **)a, n, own.pivot, own.info, count)
                   : all.cublasSgetrfBatched(all.cublas, n, (float **)a, n, own.pivot, own.info, count),
               "cuBLAS' getrfBatched");
}

void matinv(blocks_bench *b, const blocks_batch *x, void *, int64_t slot)
{
    void **from = own.from + slot * x->plan.blocks, **to = own.to + slot * x->plan.blocks;
    const int n = x->size, count = x->plan.blocks;
    check_peer(
        b,
        x->precision == SD_DOUBLE
            ? all.cublasDmatinvBatched(all.cublas, n, (double **)from, n, (double **)to, n, own.info, count)
            : all.cublasSmatinvBatched(all.cublas, n, (float **)from, n, (float **)to, n, own.info, count),
        "cuBLAS' matinvBatched");
}

void potrf(blocks_bench *b, const blocks_batch *x, void *, int64_t slot)
{
    void **a = own.to + slot * x->plan.blocks;
    const int n = x->size, count = x->plan.blocks;
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    check_peer(b,
               x->precision == SD_DOUBLE
                   ? all.cusolverDnDpotrfBatched(all.cusolver, lower, n, (double **)a, n, own.info, count)
                   : all.cusolverDnSpotrfBatched(all.cusolver, lower, n, (float **)a, n, own.info, count),
               "cuSOLVER's potrfBatched");
}

void getrf_pivots(blocks_bench *b, const blocks_batch *x, int32_t block, int32_t *pivot)
{
    const int64_t bytes = x->size * static_cast<int64_t>(sizeof(int));
    b->engine.backend->download(&b->engine, own.pivot + static_cast<int64_t>(block) * x->size, pivot, bytes);
}

const blocks_peer peers[] = {
    {"cublas", "getrfBatched", BLOCKS_GENERAL, BLOCKS_LU, SD_LDU_PARTIAL, true, begin_cublas, getrf,
     getrf_pivots, nullptr, end_peer},
    {"cublas", "matinvBatched", BLOCKS_GENERAL, BLOCKS_INVERSE, SD_JORDAN, false, begin_cublas, matinv,
     nullptr, nullptr, end_peer},
    {"cusolver", "potrfBatched", BLOCKS_DEFINITE, BLOCKS_LLT, SD_LLT, true, begin_cusolver, potrf, nullptr,
     nullptr, end_peer},
};

cudaEvent_t events[2];

double time_device(blocks_bench *b, const blocks_batch *x, blocks_work *work, void *what, int64_t first,
                   int64_t count)
{
    float milliseconds = 0;
    check_cuda(b, cudaEventRecord(events[0], stream_of(b)));
    for (int64_t k = 0; k < count; ++k) work(b, x, what, first + k);
    check_cuda(b, cudaEventRecord(events[1], stream_of(b)));
    check_cuda(b, cudaEventSynchronize(events[1]));
    check_cuda(b, cudaEventElapsedTime(&milliseconds, events[0], events[1]));
    return 1e-3 * static_cast<double>(milliseconds);
}

void copy_device(blocks_bench *b, const void *from, void *to, int64_t bytes)
{
    check_cuda(b,
               cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream_of(b)));
}

const blocks_device gpu = {3, time_device, copy_device, nullptr, sizeof peers / sizeof peers[0], peers};

sd_device opened;

/* Opens the engine on the module, which stands in the folder lib beside the folder bin, in which this
 * program's folder is. */
void open_engine(blocks_bench *b)
{
    char self[2048] = "", path[4096];
    const char *set = getenv("SADDLE_BENCH_CUDA_MODULE");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) self[0] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    snprintf(path, sizeof path, "%s/../../lib/libsaddle_bench_cuda.so", self);
    const sd_backend *backend = bench_cuda_module(&b->context, set ? set : path);
    blocks_check(b, nullptr);
    sd_device_open_on(&b->context, &opened, backend, 0);
    blocks_check(b, nullptr);
    sd_engine_open(&b->context, &opened, &b->engine, b->threads);
    blocks_check(b, nullptr);
}

} /* namespace */

int main(int argc, char **argv)
{
    static blocks_bench b;
    size_t available = 0, whole = 0;
    if (!blocks_options(&b, argc, argv, "blocks-cuda")) return 2;
    if (b.reference) blocks_check(&b, "the reference runs on the CPU: use blocks-cpu");
    b.device = &gpu;
    sd_context_init(&b.context, nullptr, 0);
    open_engine(&b);
    for (cudaEvent_t &event : events) check_cuda(&b, cudaEventCreate(&event));
    check_cuda(&b, cudaMemGetInfo(&available, &whole));
    b.memory = static_cast<int64_t>(available / 2);
    b.engine.backend->describe(&b.context, 0);
    printf("machine %s\n", b.context.message);
    load_libraries(&b);
    blocks_run(&b);
    sd_engine_close(&b.engine);
    sd_device_close(&b.context, &opened);
    return 0;
}
