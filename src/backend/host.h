/* What the backends that run on the host share: everything in their tables except the kernels. */
#pragma once

#include "backend/backend.h"

saddle_status sd_host_open(sd_context *c, sd_device *d);
void *sd_host_allocate(sd_engine *e, int64_t bytes, const char *what);
void sd_host_release(sd_engine *e, void *memory);
void sd_host_upload(sd_engine *e, const void *host, void *memory, int64_t bytes);
void sd_host_download(sd_engine *e, const void *memory, void *host, int64_t bytes);
saddle_status sd_host_describe(sd_context *c, int index);

#define SD_HOST_FUNCTIONS                                                                                    \
    .version = SD_BACKEND_VERSION, .host_memory = true, .open = sd_host_open, .allocate = sd_host_allocate,  \
    .release = sd_host_release, .upload = sd_host_upload, .download = sd_host_download,                      \
    .describe = sd_host_describe
