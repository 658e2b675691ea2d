/* Fronts on a device. See device_fronts.h. */
#include "factor/device_fronts.h"

#include <math.h>
#include <pthread.h>

enum {
    COLUMNS_AT_ONCE = 128, /* of the host's that are on the device */
    FETCHED_ALONG = 16384  /* variables: their pivots are fetched with the first result, needed or not */
};

struct sd_device_fronts {
    sd_engine *e; /* that the memory belongs to */
    sd_device device;
    const sd_front_runner *runner;
    const sd_schedule *schedule;
    sd_front_run *run;
    sd_run_result result;
    pthread_mutex_t lock; /* of what is fetched and of the frame, by whoever asks first */
    bool fetched;
    bool needed;  /* the host needs what is fetched, as far as one can tell */
    bool framed;  /* the device has the frame of solves, which is this one, */
    bool lasting; /* or only its exponent is another one */
    sd_solve_frame frame;
    saddle_status status; /* of a change that failed */
    sd_run_front *front;
    int32_t *variable;
    double *d;
    float *single;
};

saddle_status sd_device_fronts_make(sd_engine *e, const sd_schedule *schedule, int64_t limit, sd_factors *f)
{
    sd_device_fronts *s = sd_alloc_zero(e->context, 1, sizeof *s, "fronts");
    if (!s) return e->context->status;
    s->e = e;
    s->device = e->device;
    s->runner = e->backend->fronts;
    s->schedule = schedule;
    pthread_mutex_init(&s->lock, NULL);
    s->needed = f->tree->n <= FETCHED_ALONG;
    f->device = s;
    return s->runner->make(e, f->tree, schedule, f->precision, f->delays, limit, &s->run);
}

void sd_device_fronts_free(sd_context *c, sd_factors *f)
{
    sd_device_fronts *s = f->device;
    if (!s) return;
    s->runner->free(s->e, s->run);
    pthread_mutex_destroy(&s->lock);
    sd_free_all(c, s->front, s->variable, s->d, s->single, s);
    f->device = NULL;
}

/* Every call but those of a factorization has an engine of its own: they may come from several threads. */
static saddle_status begin_call(sd_context *c, const sd_device_fronts *s, sd_engine *e)
{
    return s->status ? s->status : sd_engine_open(c, &s->device, e, 1);
}

static saddle_status reserve(sd_context *c, sd_factors *f)
{
    sd_device_fronts *s = f->device;
    const int64_t n = f->tree->n, fronts = f->tree->fronts;
    if (!s->front) s->front = sd_alloc(c, fronts, sizeof *s->front, "fronts");
    if (!s->variable) s->variable = sd_alloc(c, n, sizeof *s->variable, "pivots");
    if (!s->d) s->d = sd_alloc(c, 2 * n, sizeof *s->d, "pivots");
    if (!s->single && f->precision == SD_SINGLE) s->single = sd_alloc(c, 2 * n, sizeof *s->single, "pivots");
    if (!f->front) f->front = sd_alloc_zero(c, fronts, sizeof *f->front, "fronts");
    return s->front && s->variable && s->d && f->front && (s->single || f->precision == SD_DOUBLE)
               ? SADDLE_OK
               : c->status;
}

/* What was fetched becomes part of the factors. */
static void take_fetched(sd_factors *f)
{
    sd_device_fronts *s = f->device;
    for (int64_t k = 0; k < 2 * (int64_t)f->tree->n && s->single; ++k) s->single[k] = (float)s->d[k];
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_run_front *from = &s->front[k];
        f->front[k] = (sd_front){.rows = from->rows,
                                 .columns = from->columns,
                                 .delays = from->delays,
                                 .eliminated = from->eliminated,
                                 .variable = s->variable + from->at,
                                 .d = s->single ? (void *)(s->single + 2 * from->at) : s->d + 2 * from->at};
    }
    s->fetched = true;
}

static saddle_status fetch(sd_context *c, sd_factors *f)
{
    sd_device_fronts *s = f->device;
    sd_engine e;
    saddle_status status = reserve(c, f);
    if (!status) status = begin_call(c, s, &e);
    if (status) return status;
    status = s->runner->fetch(&e, s->run, &(sd_run_pivots){s->front, s->variable, s->d});
    sd_engine_close(&e);
    if (!status) take_fetched(f);
    return status;
}

saddle_status sd_factors_fetch(sd_context *c, const sd_factors *f)
{
    sd_device_fronts *s = f->device;
    if (!s) return SADDLE_OK;
    pthread_mutex_lock(&s->lock);
    /* What is fetched is part of the factors from then on; nobody reads it before this returns. */
    const saddle_status status = s->fetched ? SADDLE_OK : fetch(c, (sd_factors *)(uintptr_t)f);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* As multifrontal.c tells. */
static bool report(void *whom, double part)
{
    return sd_progress(whom, "factor", (int64_t)(1000 * part), 1000, NAN) != SADDLE_OK;
}

static saddle_status run(sd_context *c, sd_factors *f, const sd_factor_options *options, sd_run_job *job)
{
    sd_device_fronts *s = f->device;
    s->lasting = job->there && !job->there->anew && (s->framed || s->lasting);
    s->fetched = s->framed = false;
    s->status = SADDLE_OK;
    f->simplicial = NULL;
    f->definite = f->abandoned = f->suspects = false;
    job->pivoting = &options->pivoting;
    job->most_flops = options->most_flops;
    job->profile = options->profile;
    job->presolve = options->presolve;
    job->report = c->hooks.progress ? report : NULL;
    job->whom = c;
    saddle_status status = s->needed ? reserve(c, f) : SADDLE_OK;
    if (status) return status;
    const sd_run_pivots pivots = {s->front, s->variable, s->d};
    if (s->needed) job->pivots = &pivots;
    status = s->runner->factor(s->e, s->run, job, &s->result);
    const sd_run_result *r = &s->result;
    if (status) return status;
    if (r->restarts > 0)
        sd_log(c, SADDLE_LOG_INFO,
               "delays needed more memory than was set aside on the GPU: factored %lld times",
               (long long)r->restarts + 1);
    if (r->cancelled) return c->status;
    f->pivots = r->pivots;
    for (int k = 0; k < 3; ++k) f->signs[k] = r->signs[k];
    f->suspects = options->pivoting.rule == SD_PIVOT_THRESHOLD && r->suspects > 0;
    f->delayed = r->delayed;
    f->nnz = r->nnz;
    f->flops = r->flops;
    f->largest_front = r->largest_front;
    f->abandoned = r->abandoned;
    const bool done = !r->indefinite && !r->abandoned;
    f->definite = done && options->pivoting.rule == SD_PIVOT_POSITIVE;
    if (!done) return SADDLE_OK;
    s->needed = f->suspects || r->signs[1] > 0;
    if (r->fetched) take_fetched(f);
    if (!s->needed || s->fetched) return SADDLE_OK;
    ++s->result.waits;
    return sd_factors_fetch(c, f);
}

saddle_status sd_device_fronts_run(sd_context *c, sd_factors *f, const sd_factor_options *options)
{
    return run(c, f, options, &(sd_run_job){.values = f->values});
}

saddle_status sd_device_fronts_run_there(sd_context *c, sd_factors *f, const sd_factor_options *options,
                                         const sd_there *there, sd_run_taken *taken)
{
    sd_run_job job = {.there = &there->values, .meanwhile = there->meanwhile, .what = there->what};
    const saddle_status status = run(c, f, options, &job);
    *taken = f->device->result.taken;
    return status;
}

saddle_status sd_device_fronts_solve(sd_context *c, const sd_factors *f, int parts, int64_t nrhs, double *x,
                                     int64_t ldx)
{
    const sd_device_fronts *s = f->device;
    sd_engine e;
    saddle_status status = begin_call(c, s, &e);
    if (status) return status;
    status = s->runner->solve(&e, s->run, parts, nrhs, x, ldx);
    sd_engine_close(&e);
    return status;
}

/* The frame goes to the device with the first solve after a factorization. Those of one factorization differ
 * in their direction at most. */
static saddle_status bring_frame(sd_engine *e, sd_device_fronts *s, const sd_solve_frame *frame, bool *turned)
{
    saddle_status status = SADDLE_OK;
    pthread_mutex_lock(&s->lock);
    if (!s->framed) {
        sd_solve_frame next = *frame;
        if (s->lasting) next.position = NULL;
        status = s->runner->frame(e, s->run, &next);
        s->frame = *frame;
        s->framed = !status;
    }
    *turned = frame->in != s->frame.in;
    pthread_mutex_unlock(&s->lock);
    return status;
}

saddle_status sd_device_fronts_apply(sd_engine *e, const sd_factors *f, const sd_solve_frame *frame,
                                     int64_t nrhs, const double *r, int64_t ldr, double *z, int64_t ldz)
{
    sd_device_fronts *s = f->device;
    bool turned;
    saddle_status status = s->status ? s->status : bring_frame(e, s, frame, &turned);
    if (!status) status = s->runner->apply(e, s->run, turned, nrhs, r, ldr, z, ldz);
    return status;
}

/* Columns one behind the other, or as they are. */
static void upload_columns(sd_engine *e, int64_t n, int64_t k, const double *host, int64_t ld, double *to)
{
    if (ld == n) e->backend->upload(e, host, to, n * k * (int64_t)sizeof *to);
    for (int64_t j = 0; j < k && ld != n; ++j)
        e->backend->upload(e, host + j * ld, to + j * n, n * (int64_t)sizeof *to);
}

static void download_columns(sd_engine *e, int64_t n, int64_t k, const double *from, double *host, int64_t ld)
{
    if (ld == n) e->backend->download(e, from, host, n * k * (int64_t)sizeof *host);
    for (int64_t j = 0; j < k && ld != n; ++j)
        e->backend->download(e, from + j * n, host + j * ld, n * (int64_t)sizeof *host);
}

saddle_status sd_device_fronts_between(sd_context *c, const sd_factors *f, const sd_solve_frame *frame,
                                       int64_t nrhs, const double *r, int64_t ldr, double *z, int64_t ldz)
{
    const int64_t n = frame->count, most = nrhs < COLUMNS_AT_ONCE ? nrhs : COLUMNS_AT_ONCE;
    sd_engine e;
    saddle_status status = begin_call(c, f->device, &e);
    if (status) return status;
    double *x = sd_allocate(&e, n * most * (int64_t)sizeof *x, "solve");
    status = e.status;
    for (int64_t first = 0; first < nrhs && !status; first += most) {
        const int64_t k = nrhs - first < most ? nrhs - first : most;
        upload_columns(&e, n, k, r + first * ldr, ldr, x);
        status = sd_device_fronts_apply(&e, f, frame, k, x, n, x, n);
        if (!status) download_columns(&e, n, k, x, z + first * ldz, ldz);
        if (!status) status = e.status;
    }
    sd_release(&e, x);
    sd_engine_close(&e);
    return status;
}

saddle_status sd_device_fronts_open(sd_context *c, const sd_factors *f, sd_engine *e)
{
    return begin_call(c, f->device, e);
}

saddle_status sd_device_fronts_columns(sd_engine *e, const sd_factors *f, int32_t front, void *to,
                                       int64_t *ld, int32_t *variable)
{
    return f->device->runner->columns(e, f->device->run, front, to, ld, variable);
}

double sd_device_fronts_largest(const sd_factors *f)
{
    double largest = NAN;
    return f->device->runner->largest(f->device->e, f->device->run, &largest) ? NAN : largest;
}

int64_t sd_device_fronts_bytes(const sd_factors *f)
{
    return f->device->result.panel_bytes;
}

int64_t sd_device_fronts_device_bytes(const sd_factors *f)
{
    return f->device->result.device_bytes;
}

int64_t sd_device_fronts_offloaded_bytes(const sd_factors *f)
{
    return f->device->result.offloaded_bytes;
}

int64_t sd_device_fronts_waits(const sd_factors *f)
{
    return f->device->result.waits;
}

const sd_run_profile *sd_device_fronts_profile(const sd_factors *f)
{
    const sd_run_profile *p = &f->device->result.profile;
    return isnan(p->seconds[SD_PART_OTHER]) ? NULL : p;
}

void sd_device_fronts_put(const sd_factors *f, int32_t front, int64_t k, double d, double beside)
{
    sd_device_fronts *s = f->device;
    const saddle_status status = s->runner->put(s->e, s->run, front, (int32_t)k, d, beside);
    if (status) s->status = status;
}

void sd_device_fronts_clear(const sd_factors *f, int32_t front, int32_t k, const double *v)
{
    sd_device_fronts *s = f->device;
    const saddle_status status = s->runner->clear(s->e, s->run, front, k, v);
    if (status) s->status = status;
}
