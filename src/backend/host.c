/* Memory of the backends that run on the host: the context's allocator and plain copies. */
#include "backend/host.h"

#include <string.h>

saddle_status sd_host_open(sd_context *c, sd_engine *e, int device)
{
    (void)e;
    if (device != 0)
        return sd_fail(c, SADDLE_NO_DEVICE, "there is no device %d: the host is a single device, number 0",
                       device);
    return SADDLE_OK;
}

void sd_host_close(sd_engine *e)
{
    (void)e;
}

void *sd_host_allocate(sd_engine *e, int64_t bytes, const char *what)
{
    return sd_alloc(e->context, bytes, 1, what);
}

void sd_host_release(sd_engine *e, void *memory)
{
    sd_free(e->context, memory);
}

void sd_host_upload(sd_engine *e, const void *host, void *memory, int64_t bytes)
{
    if (!e->status) memcpy(memory, host, (size_t)bytes);
}

void sd_host_download(sd_engine *e, const void *memory, void *host, int64_t bytes)
{
    if (!e->status) memcpy(host, memory, (size_t)bytes);
}

void sd_host_wait(sd_engine *e)
{
    (void)e; /* every result is there when its kernel returns */
}

saddle_status sd_host_describe(sd_context *c, int device)
{
    const saddle_status status = sd_host_open(c, NULL, device);
    return status ? status : sd_fail(c, SADDLE_OK, "the host, %d threads", sd_thread_count(0));
}
