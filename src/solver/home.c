/* The matrix at home in a device's memory: see home.h. */
#include "solver/home.h"

#include "backend/resident.h"
#include "core/info.h"

#include <math.h>
#include <string.h>

static const sd_resident *resident_of(const saddle_solver *s)
{
    return s->e.backend ? s->e.backend->resident : NULL;
}

bool sd_is_there(const saddle_solver *s, const void *p)
{
    sd_engine e = s->e; /* which only tells the device */
    return e.backend && sd_is_on_device(&e, p);
}

void sd_home_free(saddle_solver *s)
{
    if (!resident_of(s)) return;
    sd_release(&s->e, s->home.stored);
    sd_release(&s->e, s->home.map);
    sd_release(&s->e, s->home.source);
    sd_release(&s->e, s->home.raw);
    s->home = (sd_home){0};
}

/* Positions on the device, 32 bits of each. */
static int32_t *put_positions(sd_engine *e, int64_t count, const int64_t *whole, const double *of_doubles)
{
    int32_t *to = NULL, *host = sd_alloc(e->context, count, sizeof *host, "places of the values");
    if (!host) {
        e->status = e->context->status;
        return NULL;
    }
    for (int64_t k = 0; k < count; ++k) host[k] = (int32_t)(whole ? whole[k] : (int64_t)of_doubles[k]);
    to = sd_to_backend(e, host, count * (int64_t)sizeof *host, "places of the values");
    sd_free(e->context, host);
    return to;
}

/* Where the operator's entries come from: those of a matrix whose values are their own numbers. */
static saddle_status find_source(saddle_solver *s)
{
    sd_csr numbered = s->A, whole = {0};
    if (!s->A.half) return SADDLE_OK;
    numbered.val = sd_alloc(&s->c, s->A.nnz, sizeof *numbered.val, "places of the values");
    if (!numbered.val) return s->c.status;
    for (int64_t k = 0; k < s->A.nnz; ++k) numbered.val[k] = (double)k;
    const saddle_status status = sd_csr_expand(&s->c, &numbered, &whole);
    sd_free(&s->c, numbered.val);
    if (!status) s->home.source = put_positions(&s->e, whole.nnz, NULL, whole.val);
    sd_csr_free(&s->c, &whole);
    return status ? status : s->e.status;
}

/* Whether the operator has the values of A, or of its two halves, as they are. */
static bool is_plain(const sd_operator *op)
{
    return op->device[2] && op->exponent == 0 && op->sparse.precision == SD_DOUBLE;
}

saddle_status sd_home_make(saddle_solver *s)
{
    sd_engine *e = &s->e;
    if (!resident_of(s) || s->home.stored || !is_plain(&s->op[SD_DOUBLE]) || s->entries != s->A.nnz ||
        s->op[SD_DOUBLE].sparse.nnz > INT32_MAX)
        return SADDLE_OK;
    saddle_status status = find_source(s);
    if (!status && s->map) s->home.map = put_positions(e, s->entries, s->map, NULL);
    if (!e->status) s->home.stored = sd_allocate(e, s->A.nnz * (int64_t)sizeof(double), "values");
    if (!status) status = e->status;
    if (status) sd_home_free(s);
    if (status != SADDLE_MEMORY_LIMIT && status != SADDLE_OUT_OF_MEMORY) return status;
    e->status = SADDLE_OK; /* it is faster with a home, but not needed */
    return SADDLE_OK;
}

/* From the values at home to the operator's. */
static void fill_operator(saddle_solver *s)
{
    sd_engine *e = &s->e;
    const sd_resident *on = resident_of(s);
    sd_operator *op = &s->op[SD_DOUBLE];
    if (s->home.source)
        on->spread(e, op->sparse.nnz, s->home.source, s->home.stored, op->device[2]);
    else
        on->copy(e, s->home.stored, op->device[2], s->A.nnz * (int64_t)sizeof(double));
}

bool sd_home_refresh(saddle_solver *s)
{
    sd_operator *op = &s->op[SD_DOUBLE];
    if (!s->home.stored || !is_plain(op) || !sd_operator_renew(op, &s->facts)) return false;
    s->e.backend->upload(&s->e, s->A.val, s->home.stored, s->A.nnz * (int64_t)sizeof(double));
    fill_operator(s);
    return true;
}

saddle_status sd_bring_values(saddle_solver *s, saddle_matrix *A, void **brought)
{
    *brought = NULL;
    if (!A->values || A->entries <= 0 || !sd_is_there(s, A->values)) return SADDLE_OK;
    const int64_t size = A->type == SADDLE_FLOAT ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
    *brought = sd_alloc(&s->c, A->entries, (size_t)size, "values");
    if (!*brought) return s->c.status;
    s->e.backend->download(&s->e, A->values, *brought, A->entries * size);
    A->values = *brought;
    return s->e.status;
}

/* ---- values on their way ---- */

typedef struct arrival {
    sd_arriving arriving;
    saddle_solver *s;
    const saddle_matrix *A;
    bool there; /* the caller's values are on the device */
    bool taken;
    sd_engine beside; /* brings them to the host, where it is open */
} arrival;

/* A view without a pattern is of the one that was analysed. */
static saddle_status check_pattern(arrival *a)
{
    return sd_view_has_pattern(a->A) ? sd_check_pattern(a->s, a->A) : SADDLE_OK;
}

static saddle_status take(sd_arriving *arriving)
{
    arrival *a = (arrival *)(void *)arriving;
    saddle_solver *s = a->s;
    if (a->taken) return arriving->status;
    a->taken = true;
    arriving->status = check_pattern(a);
    if (!arriving->status && a->there) {
        s->e.backend->download(&a->beside, s->home.stored, s->A.val, s->A.nnz * (int64_t)sizeof *s->A.val);
        arriving->status = a->beside.status;
    }
    if (!arriving->status) arriving->status = sd_inspect_values(s, a->A, a->there);
    return arriving->status;
}

/* The caller's values go home, and to the operator. */
static void bring_home(arrival *a)
{
    saddle_solver *s = a->s;
    sd_engine *e = &s->e;
    const saddle_matrix *A = a->A;
    const bool single = A->type == SADDLE_FLOAT;
    const int64_t bytes = A->entries * (int64_t)(single ? sizeof(float) : sizeof(double));
    const void *from = A->values;
    if (!a->there && !single && !s->home.map) {
        e->backend->upload(e, from, s->home.stored, bytes);
    } else {
        if (!a->there && !s->home.raw)
            s->home.raw = sd_allocate(e, A->entries * (int64_t)sizeof(double), "values");
        if (!a->there && !e->status) e->backend->upload(e, from, s->home.raw, bytes);
        resident_of(s)->take(e, A->entries, a->there ? from : s->home.raw, single, s->home.map,
                             s->home.stored);
    }
    fill_operator(s);
    if (a->there) resident_of(s)->follow(&a->beside, e);
}

bool sd_home_accepts(const saddle_solver *s, const saddle_matrix *A)
{
    const sd_method *method = s->ladder.rungs == 1 ? s->ladder.rung[0].method : NULL;
    const sd_work *w = method ? sd_find_work(s, method) : NULL;
    return s->home.stored && s->factored && !s->given_anew && w && w->ready && method->refactor_arriving &&
           s->options.precision == SADDLE_PRECISION_DOUBLE && A->values && A->rows == s->A.n &&
           A->columns == s->A.n && A->entries == s->entries && A->type <= SADDLE_FLOAT &&
           is_plain(&s->op[SD_DOUBLE]);
}

/* Whether what was decided before the values were known is what would be decided now. */
static bool stays(saddle_solver *s, const sd_work *w)
{
    if (!sd_operator_renew(&s->op[SD_DOUBLE], &s->facts)) return false;
    if (sd_method_of(s->options.method)) return true;
    sd_outlook outlook = sd_outlook_of(s);
    const sd_cost cost = w->method->cost(w->plan);
    outlook.planned = outlook.fits = true;
    outlook.flops = cost.flops;
    const sd_ladder ladder = sd_policy_ladder(&s->policy, &outlook);
    return ladder.rungs == 1 && ladder.rung[0].method == w->method;
}

saddle_status sd_home_factor(saddle_solver *s, const saddle_matrix *A, bool *done)
{
    const sd_method *method = s->ladder.rung[0].method;
    sd_work *w = (sd_work *)(uintptr_t)sd_find_work(s, method);
    arrival a = {.arriving = {.values = s->home.stored, .take = take}, .s = s, .A = A};
    *done = false;
    a.there = sd_is_there(s, A->values);
    saddle_status status = SADDLE_OK;
    if (a.there) status = sd_engine_open(&s->c, &s->opened, &a.beside, 1);
    if (status) return status;
    sd_forget_factors(s);
    bring_home(&a);
    sd_problem p = sd_problem_of(s);
    p.arriving = &a.arriving;
    const sd_strength strength = {.tau = s->ladder.rung[0].tau, .precision = SD_DOUBLE};
    bool replan = method->replan && method->replan(&s->c, &p, w->plan, w->factors, &w->past);
    status = s->e.status;
    if (!status && !replan) status = method->refactor_arriving(&s->e, &p, &strength, w->factors, done);
    if (!status) status = take(&a.arriving);
    if (a.there) sd_engine_close(&a.beside);
    if (status) return status;
    p = sd_problem_of(s);
    if (*done) replan = method->replan && method->replan(&s->c, &p, w->plan, w->factors, &w->past);
    *done = *done && !replan && stays(s, w);
    if (!*done) sd_log(&s->c, SADDLE_LOG_INFO, "the values are unlike those before: factoring as if anew");
    return SADDLE_OK;
}
