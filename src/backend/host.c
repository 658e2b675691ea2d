/* Memory of the backends that run on the host: the context's allocator and plain copies. */
#include "backend/host.h"

#include <string.h>

static saddle_status check_index(sd_context *c, int index)
{
    if (index == 0) return SADDLE_OK;
    return sd_fail(c, SADDLE_NO_DEVICE, "there is no device %d: the host is a single device, number 0",
                   index);
}

saddle_status sd_host_open(sd_context *c, sd_device *d)
{
    return check_index(c, d->index);
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

saddle_status sd_host_describe(sd_context *c, int index)
{
    const saddle_status status = check_index(c, index);
    return status ? status : sd_fail(c, SADDLE_OK, "the host, %d threads", sd_thread_count(0));
}
