/* See gpu_memory.h. */
#define _GNU_SOURCE
#include "bench/direct/gpu_memory.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Of cuda_runtime_api.h: an error that is not 0 is one. */
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };
typedef struct runtime {
    int (*count)(int *devices);
    int (*allocate)(void **memory, size_t bytes);
    int (*release)(void *memory);
    int (*copy)(void *to, const void *from, size_t bytes, int kind);
} runtime;

/* ISO C has no cast from an object to a function. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (symbol) memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static const runtime *find_runtime(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
    static runtime all;
    static bool looked, found;
    int devices = 0;
    if (looked) return found ? &all : NULL;
    looked = true;
    void *library = NULL;
    for (int k = 0; k < 3 && !library; ++k) library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    found = find(library, "cudaGetDeviceCount", &all.count) && find(library, "cudaMalloc", &all.allocate) &&
            find(library, "cudaFree", &all.release) && find(library, "cudaMemcpy", &all.copy) &&
            all.count(&devices) == 0 && devices > 0;
    return found ? &all : NULL;
}

bool gpu_memory_found(void)
{
    return find_runtime() != NULL;
}

double *gpu_memory_put(const double *from, int64_t count)
{
    const runtime *r = find_runtime();
    const size_t bytes = (size_t)count * sizeof *from;
    void *memory = NULL;
    if (!r || r->allocate(&memory, bytes + 1)) return NULL;
    if (from && r->copy(memory, from, bytes, HOST_TO_DEVICE)) {
        r->release(memory);
        return NULL;
    }
    return memory;
}

bool gpu_memory_get(double *to, const double *from, int64_t count)
{
    const runtime *r = find_runtime();
    return r && r->copy(to, from, (size_t)count * sizeof *to, DEVICE_TO_HOST) == 0;
}

void gpu_memory_free(double *array)
{
    const runtime *r = find_runtime();
    if (r && array) r->release(array);
}
