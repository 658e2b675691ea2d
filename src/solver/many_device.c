/*
 * Many systems on one pattern, on a device: all at once there (backend/systems_run.h), as far as they take
 * the ordinary course. What departs from it, bad values and singular systems among it, is brought to the host
 * and goes through the ordinary calls, on members as many.c has them.
 *
 * Values, b and x may be on the device or on the host; what is on the wrong side is copied. Without factors
 * to be kept a call goes in portions of bounded memory.
 */
#include "solver/many.h"

#include "backend/systems_run.h"

#include <math.h>
#include <string.h>

static const int64_t PORTION = (int64_t)1 << 30; /* bytes of the device, where no limit is set */

struct sd_many_device {
    const sd_systems_method *method;
    sd_systems *systems;  /* NULL: there is no course for them */
    int64_t kept;         /* systems that stay factored; -1: none */
    saddle_result *known; /* how that went */
};

void sd_many_free_device(saddle_solver *s)
{
    struct sd_many_device *d = s->many.device;
    if (!d) return;
    if (d->systems) d->method->free(&s->e, d->systems);
    sd_free_all(&s->c, d->known, d);
    s->many.device = NULL;
}

int64_t sd_many_kept(const sd_many *many)
{
    if (many->kept) return many->count;
    return many->device ? many->device->kept : -1;
}

/* ---- copies on the host ---- */

/* Bytes of one of the caller's values. */
static int64_t value_bytes(const sd_many_call *q)
{
    return q->A.type == SADDLE_DOUBLE ? sizeof(double) : sizeof(float);
}

/* Some systems of a call as the host needs them. */
typedef struct copies {
    char *values;
    double *b, *x;
    saddle_result *results;
} copies;

static void free_copies(sd_context *c, copies *h)
{
    sd_free_all(c, h->values, h->b, h->x, h->results);
}

/* Rows of the caller's array, row number[k] (NULL: k) of `bytes` bytes at so many times `apart`, to be copied
 * from there or, with `back`, to there; `compact` has them without gaps. */
typedef struct row_copies {
    char *array;
    int64_t apart, bytes, count;
    const int64_t *number;
    char *compact;
    bool back;
} row_copies;

static int64_t row_at(const row_copies *w, int64_t k)
{
    return (w->number ? w->number[k] : k) * w->apart;
}

/* Rows of an array on the host that begins `before` bytes earlier in the caller's. */
static void copy_rows(const row_copies *w, char *array, int64_t before)
{
    for (int64_t k = 0; k < w->count && w->bytes > 0; ++k) {
        char *const there = array + (row_at(w, k) - before), *const here = w->compact + k * w->bytes;
        memcpy(w->back ? there : here, w->back ? here : there, (size_t)w->bytes);
    }
}

/* Few rows go one by one, many with all that lies between them. */
static saddle_status move_rows(sd_engine *e, const row_copies *w)
{
    enum { FEW = 16 };
    if (w->count == 0) return SADDLE_OK;
    if (!sd_is_on_device(e, w->array)) {
        copy_rows(w, w->array, 0);
        return SADDLE_OK;
    }
    for (int64_t k = 0; k < w->count && w->count <= FEW; ++k) {
        char *const there = w->array + row_at(w, k), *const here = w->compact + k * w->bytes;
        if (w->back)
            e->backend->upload(e, here, there, w->bytes);
        else
            e->backend->download(e, there, here, w->bytes);
    }
    if (w->count <= FEW) return e->status;
    const int64_t first = row_at(w, 0), all = row_at(w, w->count - 1) + w->bytes - first;
    char *copy = sd_alloc(e->context, all, 1, "systems for the host");
    if (!copy) return e->context->status;
    e->backend->download(e, w->array + first, copy, all);
    copy_rows(w, copy, first);
    if (w->back) e->backend->upload(e, copy, w->array + first, all);
    sd_free(e->context, copy);
    return e->status;
}

/* b, and the values of those that are not plain: system number[k] of q, or k. */
static saddle_status fetch_systems(sd_engine *e, const sd_many_call *q, int64_t n, int64_t count,
                                   const int64_t *number, copies *h)
{
    sd_context *c = e->context;
    const int64_t each = q->A.entries * value_bytes(q), column = n * (int64_t)sizeof *q->b;
    const bool values = q->A.values && !h->values;
    if (values) h->values = sd_alloc(c, count, (size_t)(each > 0 ? each : 1), "values");
    if (q->b) h->b = sd_alloc(c, count * (n > 0 ? n : 1), sizeof *h->b, "right-hand sides");
    if (q->b) h->x = sd_alloc(c, count * (n > 0 ? n : 1), sizeof *h->x, "solutions");
    h->results = sd_alloc_zero(c, count, sizeof *h->results, "results");
    if ((values && !h->values) || (q->b && (!h->b || !h->x)) || !h->results) return c->status;
    saddle_status status = SADDLE_OK;
    if (values)
        status = move_rows(e, &(row_copies){.array = (char *)(uintptr_t)q->A.values,
                                            .apart = q->stride * value_bytes(q),
                                            .bytes = each,
                                            .count = count,
                                            .number = number,
                                            .compact = h->values});
    if (status || !q->b) return status;
    return move_rows(e, &(row_copies){.array = (char *)(uintptr_t)q->b,
                                      .apart = q->ldb * (int64_t)sizeof *q->b,
                                      .bytes = column,
                                      .count = count,
                                      .number = number,
                                      .compact = (char *)h->b});
}

/* Runs systems of q on members of the host, by copies; those that are plain have values already. */
static saddle_status run_copies(sd_engine *e, sd_many_call *q, const sd_many *many, int threads, int64_t n,
                                int64_t count, const int64_t *number, copies *h)
{
    const saddle_status status = fetch_systems(e, q, n, count, number, h);
    if (status) return status;
    sd_many_call part = *q;
    part.count = count;
    part.number = number;
    part.stride = part.A.entries;
    part.A.values = h->values;
    part.b = h->b;
    part.x = h->x;
    part.ldb = part.ldx = n;
    part.results = (char *)h->results;
    part.size = sizeof *h->results;
    sd_many_run(&part, many, threads);
    q->first = part.first;
    q->status = part.status;
    atomic_store(&q->cancelled, atomic_load(&part.cancelled));
    for (int64_t k = 0; k < count && q->results; ++k) sd_many_tell(q, number ? number[k] : k, &h->results[k]);
    if (!q->b) return SADDLE_OK;
    return move_rows(e, &(row_copies){.array = (char *)q->x,
                                      .apart = q->ldx * (int64_t)sizeof *q->x,
                                      .bytes = n * (int64_t)sizeof *q->x,
                                      .count = count,
                                      .number = number,
                                      .compact = (char *)h->x,
                                      .back = true});
}

/* What the call returns. */
static saddle_status verdict(sd_many_call *q)
{
    if (q->first == INT64_MAX) return SADDLE_OK;
    return atomic_load(&q->cancelled) ? SADDLE_CANCELLED : q->status;
}

saddle_status sd_many_run_here(sd_many_call *q, const saddle_solver *s, const sd_many *many, int threads)
{
    sd_engine e = {0};
    copies h = {0};
    if (s->device != SADDLE_DEVICE_CUDA) return sd_many_run(q, many, threads);
    saddle_status status = sd_engine_open(q->c, &s->opened, &e, 1);
    if (status) return status;
    const bool away =
        sd_is_on_device(&e, q->A.values) || sd_is_on_device(&e, q->b) || sd_is_on_device(&e, q->x);
    if (!away)
        status = sd_many_run(q, many, threads);
    else
        status = run_copies(&e, q, many, threads, s->A.n, q->count, NULL, &h);
    free_copies(q->c, &h);
    sd_engine_close(&e);
    return status ? status : verdict(q);
}

/* ---- portions ---- */

/* Systems first .. first + count of a call, on the device. */
typedef struct portion {
    sd_many_call *q;
    const saddle_solver *s;
    sd_engine *e;
    struct sd_many_device *d;
    sd_problem p;
    int64_t n, first, count;
    sd_system_outcome *outcome;
    int64_t *alone; /* numbers of those that the host has to do */
    int64_t departed;
} portion;

/* An array of the caller's where the device has it: itself, or a copy that is the caller's to release. */
static const void *bring(sd_engine *e, const void *array, int64_t bytes, void **copy)
{
    if (sd_is_on_device(e, array)) return array;
    return *copy = sd_to_backend(e, array, bytes, "many systems");
}

static saddle_status factor_portion(portion *w, bool told)
{
    const sd_many_call *q = w->q;
    void *copy = NULL;
    const int64_t bytes = value_bytes(q);
    const void *values = bring(w->e, (const char *)q->A.values + w->first * q->stride * bytes,
                               ((w->count - 1) * q->stride + q->A.entries) * bytes, &copy);
    saddle_status status = w->e->status;
    if (!status)
        status = w->d->method->factor(w->e, w->d->systems, &w->p, w->count, values, q->stride,
                                      q->A.type != SADDLE_DOUBLE, told ? w->outcome : NULL);
    sd_release(w->e, copy);
    return status;
}

/* x, in the device's memory without gaps, to the host. Where b is the same array, that of systems that are
 * still to be done must stay. */
static saddle_status take_solutions(portion *w, const double *x)
{
    const sd_many_call *q = w->q;
    const int64_t n = w->n, bytes = w->count * n * (int64_t)sizeof *x;
    double *const to = q->x + w->first * q->ldx;
    if (q->ldx == n && q->x != q->b) {
        w->e->backend->download(w->e, x, to, bytes);
        return w->e->status;
    }
    double *all = sd_alloc(q->c, w->count * n, sizeof *all, "solutions");
    if (!all) return q->c->status;
    w->e->backend->download(w->e, x, all, bytes);
    for (int64_t k = 0; k < w->count && !w->e->status; ++k)
        if (w->outcome[k].state & SD_SYSTEM_SOLVED)
            memcpy(to + k * q->ldx, all + k * n, (size_t)n * sizeof *to);
    sd_free(q->c, all);
    return w->e->status;
}

static saddle_status solve_portion(portion *w)
{
    const sd_many_call *q = w->q;
    const int64_t n = w->n, number = sizeof *q->b;
    void *copy = NULL, *own = NULL;
    const double *b = bring(w->e, q->b + w->first * q->ldb, ((w->count - 1) * q->ldb + n) * number, &copy);
    const bool there = sd_is_on_device(w->e, q->x);
    if (!there) own = sd_allocate(w->e, w->count * n * number, "solutions");
    saddle_status status = w->e->status;
    if (!status)
        status = w->d->method->solve(w->e, w->d->systems, &w->p, w->count, b, q->ldb,
                                     there ? q->x + w->first * q->ldx : own, there ? q->ldx : n, w->outcome);
    if (!status && !there) status = take_solutions(w, own);
    sd_release(w->e, own);
    sd_release(w->e, copy);
    return status;
}

/* Results of those that are done; the others are listed. */
static void tell_portion(portion *w)
{
    const sd_many_call *q = w->q;
    const int done = q->b ? SD_SYSTEM_SOLVED : SD_SYSTEM_FACTORED;
    saddle_result *const known = q->b ? NULL : w->d->known;
    w->departed = 0;
    for (int64_t k = 0; k < w->count; ++k)
        if (!(w->outcome[k].state & done)) w->alone[w->departed++] = w->first + k;
    if (!q->results && !known) return;
    const size_t told = offsetof(saddle_result, message) + 1; /* the message is empty */
    for (int64_t k = 0; k < w->count; ++k) {
        saddle_result r = {.status = SADDLE_OK};
        if (!(w->outcome[k].state & done)) continue;
        w->d->method->tell(w->d->systems, &w->p, &w->outcome[k], &r);
        if (known) known[w->first + k] = r;
        if (q->results) memcpy(q->results + (size_t)(w->first + k) * q->size, &r, told);
    }
}

/* ---- departures ---- */

/* Their values in the library's own form, where the caller's are gone. */
static saddle_status fetch_kept(portion *w, copies *h)
{
    const int64_t nnz = w->s->A.nnz;
    sd_many_call *const q = w->q;
    h->values = sd_alloc(q->c, w->departed * nnz + 1, sizeof(double), "values");
    if (!h->values) return q->c->status;
    saddle_status status = SADDLE_OK;
    for (int64_t k = 0; k < w->departed && !status; ++k)
        status = w->d->method->values(w->e, w->d->systems, w->alone[k], (double *)h->values + k * nnz);
    q->A = sd_view_of(w->n, w->n, nnz, w->s->A.ptr, w->s->A.ind, (const double *)h->values);
    q->A.layout = SADDLE_ROWS;
    q->A.shape = SADDLE_UPPER;
    q->plain = true;
    return status;
}

/* Systems that the device has left, on members; with factors that were kept, on members of this call's own.
 */
static saddle_status run_alone(portion *w, sd_many *many, bool again)
{
    copies h = {0};
    sd_many_call *const q = w->q;
    if (w->departed == 0) return SADDLE_OK;
    const int threads = sd_many_threads(w->s, w->departed);
    saddle_status status = again ? fetch_kept(w, &h) : SADDLE_OK;
    if (!status) status = sd_many_open_members(q->c, w->s, many, w->departed, threads, false);
    if (!status) status = run_copies(w->e, q, many, threads, w->n, w->departed, w->alone, &h);
    for (int64_t k = 0; k < w->departed && !status && w->d->known && !q->b; ++k)
        w->d->known[w->alone[k]] = h.results[k];
    free_copies(q->c, &h);
    return status;
}

/* ---- calls ---- */

static saddle_status prepare(saddle_solver *s, const sd_many_call *q)
{
    struct sd_many_device *d = s->many.device;
    if (d) return SADDLE_OK;
    const sd_work *leader = &s->many.leader->work[0];
    const sd_problem p = sd_problem_of(s->many.leader);
    d = s->many.device = sd_alloc_zero(&s->c, 1, sizeof *d, "many systems");
    if (!d) return s->c.status;
    d->method = leader->method->systems;
    d->kept = -1;
    const saddle_status status =
        d->method->make(&s->e, &p, leader->factors, s->map, q->A.entries, &d->systems);
    if (status) sd_many_free_device(s);
    return status;
}

/* Systems at a time: all of those that are kept; otherwise as many as a limit, or a portion, has room for. */
static int64_t systems_at_once(const saddle_solver *s, const sd_many_call *q, bool kept)
{
    const struct sd_many_device *d = s->many.device;
    const int64_t n = s->A.n, given = (q->A.entries + 2 * n) * (int64_t)sizeof(double);
    const int64_t limit = s->options.max_memory, left = limit - sd_bytes_in_use(&s->c);
    const int64_t room = limit == 0 || left > 2 * PORTION ? PORTION : left / 2;
    const int64_t most = room / (d->method->bytes(d->systems) + given);
    if (kept || most >= q->count) return q->count;
    return most < SD_SYSTEM_GROUP ? SD_SYSTEM_GROUP : most / SD_SYSTEM_GROUP * SD_SYSTEM_GROUP;
}

static saddle_status run_portion(portion *w, saddle_solver *s)
{
    saddle_status status = factor_portion(w, !w->q->b);
    if (!status && w->q->b) status = solve_portion(w);
    if (status) return status;
    tell_portion(w);
    s->many.departed += w->departed;
    return run_alone(w, &s->many, false);
}

/* What is left of a cancelled call. */
static saddle_status leave_rest(portion *w, saddle_solver *s)
{
    w->departed = 0;
    for (int64_t k = 0; k < w->count; ++k) w->alone[w->departed++] = w->first + k;
    return run_alone(w, &s->many, false);
}

static saddle_status run_portions(portion *w, saddle_solver *s, int64_t most)
{
    sd_many_call *const q = w->q;
    saddle_status status = SADDLE_OK;
    for (w->first = 0; w->first < q->count && !status; w->first += most) {
        w->count = q->count - w->first < most ? q->count - w->first : most;
        if (!atomic_load(&q->cancelled) && sd_progress(q->c, q->stage, w->first, q->count, NAN))
            atomic_store(&q->cancelled, true);
        status = atomic_load(&q->cancelled) ? leave_rest(w, s) : run_portion(w, s);
    }
    return status;
}

saddle_status sd_many_run_values(sd_many_call *q, saddle_solver *s, bool kept, bool *done)
{
    *done = false;
    s->many.departed = q->count;
    s->e.status = SADDLE_OK;
    saddle_status status = prepare(s, q);
    struct sd_many_device *const d = s->many.device;
    portion w = {.q = q, .s = s, .e = &s->e, .d = d, .n = s->A.n};
    if (status || !d->systems) return status;
    w.p = sd_problem_of(s->many.leader);
    const bool signs = !w.p.signs || w.p.signs_n == s->A.n;
    if (!signs || (!kept && !d->method->solves(&w.p))) return SADDLE_OK;
    *done = true;
    s->many.departed = 0;
    if (s->many.kept) sd_many_close_members(&s->c, &s->many);
    d->kept = -1;
    sd_free(&s->c, d->known);
    d->known = kept ? sd_alloc_zero(&s->c, q->count, sizeof *d->known, "results") : NULL;
    const int64_t most = systems_at_once(s, q, kept);
    w.outcome = sd_alloc(&s->c, most, sizeof *w.outcome, "many systems");
    w.alone = sd_alloc(&s->c, most, sizeof *w.alone, "many systems");
    status = w.outcome && w.alone && (d->known || !kept) ? SADDLE_OK : s->c.status;
    if (!status) status = d->method->reserve(&s->e, d->systems, most);
    if (!status) status = run_portions(&w, s, most);
    if (!status && kept && !atomic_load(&q->cancelled)) d->kept = q->count;
    sd_free_all(&s->c, w.outcome, w.alone);
    return status ? status : verdict(q);
}

/* Those whose factorization has failed are told again, and are not solved. */
static saddle_status leave_failed(portion *w)
{
    sd_many_call *const q = w->q;
    const saddle_result *known = w->d->known;
    int64_t left = 0;
    double *zeros = sd_alloc_zero(q->c, w->n, sizeof *zeros, "solutions");
    saddle_status status = zeros ? SADDLE_OK : q->c->status;
    for (int64_t k = 0; k < w->departed && !status; ++k) {
        const int64_t at = w->alone[k];
        w->alone[left] = at;
        left += known[at].status == SADDLE_OK;
        if (known[at].status == SADDLE_OK) continue;
        status = move_rows(w->e, &(row_copies){.array = (char *)(q->x + at * q->ldx),
                                               .bytes = w->n * (int64_t)sizeof *zeros,
                                               .count = 1,
                                               .compact = (char *)zeros,
                                               .back = true});
        if (q->results) sd_many_tell(q, at, &known[at]);
        sd_many_note_failure(q, at, known[at].status, known[at].message);
    }
    w->departed = left;
    sd_free(q->c, zeros);
    return status;
}

saddle_status sd_many_run_kept(sd_many_call *q, const saddle_solver *s)
{
    sd_engine e = {0};
    struct sd_many_device *const d = s->many.device;
    sd_many many = s->many;
    portion w = {.q = q, .s = s, .e = &e, .d = d, .n = s->A.n, .count = q->count};
    many.member = NULL;
    many.abreast = NULL;
    many.count = 0;
    w.p = sd_problem_of(s->many.leader);
    saddle_status status = sd_engine_open(q->c, &s->opened, &e, 1);
    if (status) return status;
    w.outcome = sd_alloc_zero(q->c, w.count, sizeof *w.outcome, "many systems");
    w.alone = sd_alloc(q->c, w.count, sizeof *w.alone, "many systems");
    status = w.outcome && w.alone ? SADDLE_OK : q->c->status;
    if (!status && d->method->solves(&w.p)) status = solve_portion(&w);
    if (!status) tell_portion(&w);
    if (!status && w.departed > 0) status = leave_failed(&w);
    if (!status) status = run_alone(&w, &many, true);
    sd_many_close_members(q->c, &many);
    sd_free_all(q->c, w.outcome, w.alone);
    sd_engine_close(&e);
    return status ? status : verdict(q);
}
