/*
 * Loading the cuda module, so that the same library runs where there is no GPU.
 *
 * dlopen counts its users and gives the same handle again, so nothing has to be kept here; NODELETE
 * keeps the CUDA runtime's own threads from losing their code.
 */
#define _GNU_SOURCE
#include "backend/cpu/cpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_NAME "libsaddle_cuda.so"

/* The folder of this library, where the module stands beside it. */
static void path_beside_library(char *path, size_t size)
{
    static const char here = 0; /* any address of ours */
    Dl_info info;
    const char *slash = NULL;
    if (dladdr(&here, &info) && info.dli_fname) slash = strrchr(info.dli_fname, '/');
    if (slash)
        snprintf(path, size, "%.*s/" MODULE_NAME, (int)(slash - info.dli_fname), info.dli_fname);
    else
        snprintf(path, size, MODULE_NAME);
}

const sd_backend *sd_backend_cuda(sd_context *c)
{
    char path[4096];
    const char *set = getenv("SADDLE_CUDA_MODULE");
    if (set && *set)
        snprintf(path, sizeof path, "%s", set);
    else
        path_beside_library(path, sizeof path);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!module) {
        const char *why = dlerror();
        sd_fail(c, SADDLE_NO_DEVICE, "no CUDA: the module cannot be loaded: %s", why ? why : path);
        return NULL;
    }
    sd_cuda_entry entry;
    *(void **)&entry = dlsym(module, SD_CUDA_ENTRY);
    const sd_backend *backend = entry ? entry() : NULL;
    if (!backend || backend->version != SD_BACKEND_VERSION) {
        sd_fail(c, SADDLE_NO_DEVICE, "no CUDA: %s is not a module of this version of Saddle", path);
        dlclose(module);
        return NULL;
    }
    return backend;
}

saddle_status saddle_describe_device(const char *kind, int k, char *message)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    saddle_status status;
    if (!kind || k < 0) {
        status = sd_fail(&c, SADDLE_BAD_ARGUMENT,
                         "saddle_describe_device: kind is NULL or the device number is negative");
    } else if (strcmp(kind, "cpu") == 0) {
        status = sd_cpu()->backend->describe(&c, k);
    } else if (strcmp(kind, "cuda") == 0) {
        const sd_backend *cuda = sd_backend_cuda(&c);
        status = cuda ? cuda->describe(&c, k) : c.status;
    } else {
        status =
            sd_fail(&c, SADDLE_NO_DEVICE, "there is no kind of device \"%s\": it must be cpu or cuda", kind);
    }
    return sd_tell(&c, status, message);
}
