/* See device_arrays.h. The calls are those of the CUDA driver API, libcuda.so.1. */
#include "bench/device_arrays.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

struct device_arrays {
    void *driver;
    int device;
    int (*release)(int);
    int (*allocate)(uint64_t *, size_t);
    int (*free)(uint64_t);
    int (*to_device)(uint64_t, const void *, size_t);
    int (*to_host)(void *, uint64_t, size_t);
};

/* A function of the driver; false where there is none. */
static bool find(void *driver, const char *name, void *to)
{
    return (*(void **)to = dlsym(driver, name)) != NULL;
}

static bool use_device(device_arrays *d)
{
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*set)(void *);
    void *context = NULL;
    const bool found =
        find(d->driver, "cuInit", &init) && find(d->driver, "cuDeviceGet", &get) &&
        find(d->driver, "cuDevicePrimaryCtxRetain", &retain) && find(d->driver, "cuCtxSetCurrent", &set) &&
        find(d->driver, "cuDevicePrimaryCtxRelease_v2", &d->release) &&
        find(d->driver, "cuMemAlloc_v2", &d->allocate) && find(d->driver, "cuMemFree_v2", &d->free) &&
        find(d->driver, "cuMemcpyHtoD_v2", &d->to_device) && find(d->driver, "cuMemcpyDtoH_v2", &d->to_host);
    return found && !init(0) && !get(&d->device, 0) && !retain(&context, d->device) && !set(context);
}

device_arrays *device_arrays_open(void)
{
    device_arrays *d = calloc(1, sizeof *d);
    if (d && (d->driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) && use_device(d)) return d;
    if (d && d->driver) dlclose(d->driver);
    free(d);
    return NULL;
}

void device_arrays_close(device_arrays *d)
{
    if (!d) return;
    d->release(d->device);
    free(d); /* the driver stays: others use it */
}

void *device_array_of(device_arrays *d, const void *host, size_t bytes)
{
    uint64_t at = 0;
    if (!d || d->allocate(&at, bytes)) return NULL;
    if (!d->to_device(at, host, bytes)) return (void *)(uintptr_t)at;
    d->free(at);
    return NULL;
}

bool device_array_get(device_arrays *d, const void *array, void *host, size_t bytes)
{
    return !d->to_host(host, (uint64_t)(uintptr_t)array, bytes);
}

void device_array_free(device_arrays *d, void *array)
{
    if (d && array) d->free((uint64_t)(uintptr_t)array);
}
