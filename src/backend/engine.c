/* Devices, engines and the vectors that live in them. See backend.h. */
#include "backend/cpu/cpu.h"

static const sd_backend *find_backend(sd_context *c, int kind)
{
    switch (kind) {
    case SADDLE_DEVICE_REFERENCE: return &sd_backend_reference;
    case SADDLE_DEVICE_CUDA: return sd_backend_cuda(c);
    default: return sd_cpu()->backend;
    }
}

saddle_status sd_device_open_on(sd_context *c, sd_device *d, const sd_backend *backend, int index)
{
    *d = (sd_device){backend, index, NULL};
    const saddle_status status = backend->open(c, d);
    if (status) *d = (sd_device){0};
    return status;
}

saddle_status sd_device_open(sd_context *c, sd_device *d, int kind, int index)
{
    *d = (sd_device){0};
    const sd_backend *backend = find_backend(c, kind);
    return backend ? sd_device_open_on(c, d, backend, index) : c->status;
}

void sd_device_close(sd_context *c, sd_device *d)
{
    if (d->backend && d->backend->close) d->backend->close(c, d);
    *d = (sd_device){0};
}

saddle_status sd_engine_open(sd_context *c, const sd_device *d, sd_engine *e, int threads)
{
    *e = (sd_engine){.backend = d->backend, .device = *d, .context = c, .threads = sd_team(threads)};
    const saddle_status status = d->backend->begin ? d->backend->begin(e) : SADDLE_OK;
    if (status) e->backend = NULL;
    return status;
}

saddle_status sd_engine_open_host(sd_context *c, sd_engine *e, int kind, int threads)
{
    const sd_device host = {.backend = find_backend(c, kind)};
    return sd_engine_open(c, &host, e, threads);
}

void sd_engine_close(sd_engine *e)
{
    if (!e->backend) return;
    e->backend->release(e, e->scratch);
    if (e->backend->end) e->backend->end(e);
    e->backend = NULL;
}

saddle_status sd_engine_reserve(sd_engine *e, int64_t n, const sd_sparse *A)
{
    if (e->status) return e->status;
    const int64_t reductions = 2 * (n / SD_CHUNK_LEAST + 1) * SD_PANEL;
    const int64_t windows = !A ? 0 : 2 * (A->half ? A->window_total : A->n);
    const int64_t measured = A ? sd_residual_room(A) : 0, most = windows > measured ? windows : measured;
    const int64_t awaited = e->backend->host_memory ? 0 : n; /* what triangle_solve makes */
    const int64_t numbers = reductions > most ? reductions : most;
    const int64_t bytes = (int64_t)sizeof(double) * (numbers > awaited ? numbers : awaited);
    if (bytes <= e->scratch_bytes) return SADDLE_OK;
    e->backend->release(e, e->scratch);
    e->scratch_bytes = 0;
    e->scratch = e->backend->allocate(e, bytes, "scratch of the products");
    if (!e->scratch) return e->status = e->context->status;
    e->scratch_bytes = bytes;
    return SADDLE_OK;
}

saddle_status sd_engine_finish(sd_engine *e)
{
    char any; /* a transfer comes after all work before it; on the host that is done already */
    if (!e->status && e->scratch && !e->backend->host_memory) e->backend->download(e, e->scratch, &any, 1);
    e->backend->release(e, e->scratch);
    e->scratch = NULL;
    e->scratch_bytes = 0;
    return e->status;
}

void *sd_allocate(sd_engine *e, int64_t bytes, const char *what)
{
    void *block = e->status ? NULL : e->backend->allocate(e, bytes, what);
    if (!block && !e->status) e->status = e->context->status;
    return block;
}

void *sd_to_backend(sd_engine *e, const void *host, int64_t bytes, const char *what)
{
    void *block = sd_allocate(e, bytes, what);
    if (block) e->backend->upload(e, host, block, bytes);
    return block;
}

void sd_release(sd_engine *e, const void *block)
{
    if (block) e->backend->release(e, (void *)(uintptr_t)block);
}

const void *sd_placed(sd_engine *e, const void *host, int64_t bytes, const char *what)
{
    return e->backend->host_memory ? host : sd_to_backend(e, host, bytes, what);
}

void sd_unplace(sd_engine *e, const void *placed)
{
    if (!e->backend->host_memory) sd_release(e, placed);
}

sd_vector sd_vector_new(sd_engine *e, sd_precision precision, int64_t n, const char *what)
{
    sd_vector x = {NULL, n, precision};
    x.data = sd_allocate(e, n * (int64_t)sd_precision_size(precision), what);
    if (x.data) sd_fill(e, 0.0, &x);
    return x;
}

void sd_vector_free(sd_engine *e, sd_vector *x)
{
    sd_release(e, x->data);
    x->data = NULL;
}

/* A single-precision vector goes through a double one on the backend's side, so that rounding is
 * the same wherever it runs. */
static void transfer(sd_engine *e, sd_vector *x, const double *from, double *to)
{
    const int64_t bytes = x->n * (int64_t)sizeof(double);
    sd_vector wide = *x;
    if (x->precision != SD_DOUBLE) wide = sd_vector_new(e, SD_DOUBLE, x->n, "vector in double");
    if (from) {
        if (!e->status) e->backend->upload(e, from, wide.data, bytes);
        if (x->precision != SD_DOUBLE && !e->status) sd_from_double(e, &wide, x);
    } else {
        if (x->precision != SD_DOUBLE && !e->status) sd_to_double(e, x, &wide);
        if (!e->status) e->backend->download(e, wide.data, to, bytes);
    }
    if (x->precision != SD_DOUBLE) sd_vector_free(e, &wide);
}

void sd_vector_put(sd_engine *e, const double *host, sd_vector *x)
{
    transfer(e, x, host, NULL);
}

void sd_vector_get(sd_engine *e, const sd_vector *x, double *host)
{
    sd_vector view = *x;
    transfer(e, &view, NULL, host);
}
