/* Block LDL' on a known pattern: see ldlt_run.h. */
#include "factor/ldlt_run.h"

#include <math.h>

enum { LEVELS_A_LOOK = 16 }; /* between reports of progress */

/* ---- memory ---- */

/* A host array's copy at the backend, in its place. */
static void *move(sd_engine *e, void *host, int64_t count, size_t size)
{
    void *there = sd_to_backend(e, host, count * (int64_t)size, "plan");
    sd_free(e->context, host);
    return there;
}

saddle_status sd_ldlt_schedule_place(sd_engine *e, sd_ldlt_schedule *s)
{
    const int64_t blocks = s->blocks, targets = s->count + blocks;
    if (e->backend->host_memory) return SADDLE_OK;
    s->start = sd_to_backend(e, s->start, (blocks + 1) * (int64_t)sizeof *s->start, "plan");
    s->square = sd_to_backend(e, s->square, (blocks + 1) * (int64_t)sizeof *s->square, "plan");
    s->pair = move(e, s->pair, s->first[targets], sizeof *s->pair);
    s->shape = move(e, s->shape, s->count, sizeof *s->shape);
    s->first = move(e, s->first, targets + 1, sizeof *s->first);
    s->none = move(e, s->none, targets + 1, sizeof *s->none);
    s->target = move(e, s->target, s->stored, sizeof *s->target);
    s->job = move(e, s->job, 3 * blocks, sizeof *s->job);
    int64_t next = 0;
    for (int32_t p = 0; p <= s->levels + s->chunks && !e->status; ++p) {
        s->diagonal[p].job = s->job + next;
        next += s->diagonal[p].count;
    }
    if (e->status) sd_ldlt_schedule_unplace(e, s);
    return e->status;
}

void sd_ldlt_schedule_unplace(sd_engine *e, sd_ldlt_schedule *s)
{
    const void *const placed[] = {s->start, s->square, s->shape,  s->first,
                                  s->none,  s->pair,   s->target, s->job};
    const sd_ldlt_schedule rest = {.part = s->part, .diagonal = s->diagonal};
    if (!e->backend->host_memory) {
        for (size_t k = 0; k < sizeof placed / sizeof *placed; ++k) sd_release(e, placed[k]);
        *s = rest;
    }
    sd_ldlt_schedule_free(e->context, s);
}

static void *allocate(sd_engine *e, int64_t count, sd_precision precision)
{
    return sd_allocate(e, count * (int64_t)sd_precision_size(precision), "factors");
}

saddle_status sd_ldlt_numbers_make(sd_engine *e, const sd_ldlt_schedule *s, sd_precision precision, int32_t n,
                                   const double *scale, sd_ldlt_numbers *x)
{
    *x = (sd_ldlt_numbers){.precision = precision};
    x->data = allocate(e, s->entries, precision);
    x->weighed = allocate(e, s->weighed, precision);
    x->square = allocate(e, s->squares, precision);
    x->inverse = allocate(e, s->squares, precision);
    x->scale = sd_to_backend(e, scale, n * (int64_t)sizeof *scale, "scaling");
    if (e->status) sd_ldlt_numbers_free(e->context, e, x);
    return e->status;
}

void sd_ldlt_numbers_free(sd_context *c, sd_engine *e, sd_ldlt_numbers *x)
{
    void *const owned[] = {x->data, x->weighed, x->square, x->inverse, x->scale};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) {
        if (e)
            sd_release(e, owned[k]);
        else
            sd_free(c, owned[k]);
    }
    *x = (sd_ldlt_numbers){0};
}

/* ---- levels ---- */

/* The part that is all of it. */
static int32_t whole_of(const sd_ldlt_schedule *s)
{
    return s->levels + s->chunks;
}

/* G of the diagonal blocks of part p; their factors go into f, which may be S itself. */
static void invert(sd_engine *e, const sd_batch_rule *rule, const sd_ldlt_schedule *s, int32_t p,
                   const sd_batch_factors *f, const void *square, sd_ldlt_numbers *x)
{
    const sd_batch_plan *batch = &s->diagonal[p];
    const sd_batch squares = {batch, (void *)(uintptr_t)square, x->precision};
    sd_batch inverses = {batch, x->inverse, x->precision};
    sd_batch_factors factors = *f;
    factors.plan = batch;
    sd_batch_factor(e, rule, &squares, &factors);
    sd_batch_invert(e, &factors, &inverses);
}

/* Adds up what became of the diagonal blocks; weak (NULL: not wanted) are those with small pivots. */
static saddle_status count_states(sd_engine *e, const sd_ldlt_schedule *s, const sd_batch_factors *f,
                                  bool *weak, sd_ldlt_counts *counts)
{
    const int32_t blocks = s->blocks;
    sd_batch_state *state = sd_alloc(e->context, blocks, sizeof *state, "states of blocks");
    *counts = (sd_ldlt_counts){0};
    if (!state) return e->status = e->context->status;
    e->backend->download(e, f->state, state, blocks * (int64_t)sizeof *state);
    for (int32_t i = 0; i < blocks && !e->status; ++i) {
        if (weak) weak[i] = state[i].perturbed > 0 || state[i].status != SD_BLOCK_OK;
        counts->negative += state[i].negative;
        counts->perturbed += state[i].perturbed;
        counts->replaced += state[i].status != SD_BLOCK_OK;
        for (uint32_t pairs = state[i].pairs; pairs; pairs &= pairs - 1) ++counts->two_by_two;
    }
    sd_free(e->context, state);
    return e->status;
}

saddle_status sd_ldlt_refactor(sd_engine *e, const sd_ldlt_schedule *s, const sd_sparse *A,
                               const sd_batch_rule *rule, sd_ldlt_numbers *x, sd_ldlt_counts *counts)
{
    sd_batch_factors f = sd_batch_factors_new(e, &s->diagonal[whole_of(s)], x->precision);
    if (!e->status) sd_ldlt_scatter(e, A, s, x);
    for (int32_t l = 0; l < s->levels && !e->status; ++l) {
        sd_ldlt_update(e, s, &s->part[l], x, x, x);
        invert(e, rule, s, l, &f, x->square, x);
        sd_ldlt_weigh(e, s, &s->part[l], x);
        if (!e->status && l % LEVELS_A_LOOK == 0)
            e->status = sd_progress(e->context, "factor", l, s->levels, NAN);
    }
    if (!e->status) count_states(e, s, &f, NULL, counts);
    sd_batch_factors_free(e, &f);
    return e->status;
}

/* ---- sweeps ---- */

static sd_vector piece_of(const void *numbers, int64_t first, int64_t end, sd_precision precision)
{
    char *data = (char *)(uintptr_t)numbers + first * (int64_t)sd_precision_size(precision);
    return (sd_vector){data, end - first, precision};
}

/* x <- y in the C and S of a part. */
static void take_part(sd_engine *e, const sd_ldlt_part *part, const sd_ldlt_numbers *y, sd_ldlt_numbers *x)
{
    const sd_vector c = piece_of(y->data, part->entry, part->entry_end, x->precision);
    const sd_vector squares = piece_of(y->square, part->square, part->square_end, x->precision);
    sd_vector to = piece_of(x->data, part->entry, part->entry_end, x->precision);
    if (c.n > 0) sd_copy(e, &c, &to);
    to = piece_of(x->square, part->square, part->square_end, x->precision);
    sd_copy(e, &squares, &to);
}

/* max |x - y|; x is lost. */
static double distance(sd_engine *e, const void *y, int64_t count, sd_precision precision, void *x)
{
    const sd_vector from = piece_of(y, 0, count, precision);
    sd_vector to = piece_of(x, 0, count, precision);
    double most = 0;
    if (count == 0 || e->status) return 0;
    sd_axpy(e, -1.0, &from, &to);
    sd_norm_inf(e, &to, &most);
    return isfinite(most) ? most : INFINITY;
}

typedef struct sweeping {
    sd_engine *e;
    const sd_ldlt_schedule *s;
    const sd_sweep_rule *rule;
    sd_batch_rule pivots;
    sd_batch_factors f;
    sd_ldlt_numbers a, y, *x; /* C and S of the matrix; those that are being made; what there is */
} sweeping;

/* G and W of a part. */
static void complete_part(sweeping *t, int32_t p)
{
    invert(t->e, &t->pivots, t->s, p, &t->f, t->x->square, t->x);
    sd_ldlt_weigh(t->e, t->s, &t->s->part[p], t->x);
}

/* Begins at C = 0. */
static void sweep_first(sweeping *t, const sd_sparse *A)
{
    const int32_t whole = whole_of(t->s);
    sd_ldlt_schedule none = *t->s;
    none.first = t->s->none;
    t->a.scale = t->x->scale;
    sd_ldlt_scatter(t->e, A, t->s, &t->a);
    t->a.scale = NULL;
    /* S of A is its lower triangle until an update mirrors it: one without products */
    sd_ldlt_update(t->e, &none, &t->s->part[whole], &t->a, &t->a, t->x);
    complete_part(t, whole);
}

/* From x to x by way of y. */
static void sweep_once(sweeping *t)
{
    const int32_t whole = whole_of(t->s), first = t->rule->rows ? t->s->levels : whole;
    for (int32_t p = first; p < whole + !t->rule->rows && !t->e->status; ++p) {
        const sd_ldlt_part *part = &t->s->part[p];
        sd_ldlt_update(t->e, t->s, part, &t->a, t->x, &t->y);
        take_part(t->e, part, &t->y, t->x);
        complete_part(t, p);
    }
}

/* How far x is from what another sweep would make of it; y is lost. */
static double residual_of(sweeping *t)
{
    const sd_ldlt_schedule *s = t->s;
    const sd_ldlt_part *whole = &s->part[whole_of(s)];
    const sd_precision precision = t->x->precision;
    sd_ldlt_weigh(t->e, s, whole, t->x);
    sd_ldlt_update(t->e, s, whole, &t->a, t->x, &t->y);
    return fmax(distance(t->e, t->x->data, s->entries, precision, t->y.data),
                distance(t->e, t->x->square, s->squares, precision, t->y.square));
}

/* Beyond these nothing would change, as columns are exact once those of the level before are, except for the
 * least pivot. */
static int32_t enough_sweeps(const sd_ldlt_schedule *s, const sd_sweep_rule *rule)
{
    const int32_t parts = rule->rows && s->chunks > 0 ? s->chunks : 1;
    return 1 + (s->levels + parts - 1) / parts;
}

/* C and S alone. */
static sd_ldlt_numbers half_numbers(sd_engine *e, const sd_ldlt_schedule *s, sd_precision precision)
{
    return (sd_ldlt_numbers){.data = allocate(e, s->entries, precision),
                             .square = allocate(e, s->squares, precision),
                             .precision = precision};
}

saddle_status sd_ldlt_run_sweeps(sd_engine *e, const sd_ldlt_schedule *s, const sd_sparse *A,
                                 const sd_sweep_rule *rule, bool *weak, sd_ldlt_numbers *x,
                                 sd_ldlt_counts *counts, double *residual)
{
    sweeping t = {.e = e, .s = s, .rule = rule, .pivots = rule->pivots, .x = x};
    const int32_t enough = enough_sweeps(s, rule);
    const int sweeps = rule->sweeps < enough || rule->relax < 1 ? rule->sweeps : enough;
    bool stop = false;
    *residual = INFINITY;
    t.f = sd_batch_factors_new(e, &s->diagonal[whole_of(s)], x->precision);
    sd_engine_reserve(e, s->entries > s->squares ? s->entries : s->squares, NULL);
    t.a = half_numbers(e, s, x->precision);
    t.y = half_numbers(e, s, x->precision);
    if (!e->status) {
        sweep_first(&t, A);
        if (rule->early) {
            count_states(e, s, &t.f, weak, counts);
            stop = counts->perturbed + counts->replaced > 0;
        }
    }
    for (int k = 1; k < sweeps && !e->status && !stop; ++k) {
        t.pivots.small *= rule->relax;
        sweep_once(&t);
        if (!e->status) e->status = sd_progress(e->context, "factor", k, sweeps, NAN);
    }
    if (!e->status && !stop) {
        *residual = residual_of(&t);
        count_states(e, s, &t.f, weak, counts);
        counts->sweeps = sweeps;
        counts->exact = sweeps >= enough && rule->relax == 1;
    }
    sd_ldlt_numbers_free(e->context, e, &t.a);
    sd_ldlt_numbers_free(e->context, e, &t.y);
    sd_batch_factors_free(e, &t.f);
    return e->status;
}
