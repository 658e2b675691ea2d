/* Block LDL' on a known pattern: see ldlt_run.h. */
#include "factor/ldlt_run.h"

#include <math.h>
#include <string.h>

enum {
    CHUNKS = 64,       /* of a sweep by rows */
    LEVELS_A_LOOK = 16 /* between reports of progress */
};

/* ---- targets and their products ---- */

/* Calls for every product of a target: each block b = (j, k) of row j with each block a = (i, k), i > j, of
 * column k whose target (i, j) is there; and with itself for the diagonal. Counts, or writes down where pair
 * is not NULL. */
static void walk_products(const sd_ldlt_plan *plan, int32_t count, const sd_ldlt_shape *shape,
                          int32_t *target, int64_t *next, sd_ldlt_pair *pair)
{
    for (int32_t j = 0; j < plan->blocks; ++j) {
        for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k)
            target[plan->list[k].other] = plan->number[k];
        for (int64_t m = plan->row[j]; m < plan->diagonal[j]; ++m) {
            const int32_t k = plan->list[m].other, b = plan->number[m];
            const int64_t own = (int64_t)count + j;
            if (pair) pair[next[own]] = (sd_ldlt_pair){b, b};
            ++next[own];
            /* blocks of column k beyond j: they follow b, as numbers go by column and row */
            const int64_t first = plan->diagonal[k] + (b - plan->number[plan->diagonal[k]]) + 1;
            for (int64_t q = first; q < plan->row[k + 1]; ++q) {
                const int32_t t = target[plan->list[q].other];
                if (t < 0) continue;
                const int32_t a = plan->number[q];
                if (!(shape[a].rows & shape[t].rows) || !(shape[b].rows & shape[t].columns)) continue;
                if (pair) pair[next[t]] = (sd_ldlt_pair){a, b};
                ++next[t];
            }
        }
        for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k) target[plan->list[k].other] = -1;
    }
}

static void fill_shapes(const sd_ldlt_plan *plan, sd_ldlt_shape *shape, int64_t *weighed)
{
    int64_t w = 0;
    for (int32_t j = 0; j < plan->blocks; ++j) {
        const int32_t size = plan->start[j + 1] - plan->start[j];
        for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k) {
            const sd_ldlt_block *b = &plan->list[k];
            shape[plan->number[k]] = (sd_ldlt_shape){.entry = b->entry,
                                                     .weighed = w,
                                                     .row = b->other,
                                                     .column = j,
                                                     .rows = b->columns,
                                                     .columns = b->rows,
                                                     .height = b->width,
                                                     .width = b->height,
                                                     .size = (uint8_t)size};
            w += (int64_t)b->width * size;
        }
    }
    *weighed = w;
}

/* Shapes and products on the host, then at the backend. */
static saddle_status make_run(sd_engine *e, sd_ldlt_runner *r)
{
    sd_context *c = e->context;
    const sd_ldlt_plan *plan = r->plan;
    const int32_t count = (int32_t)(plan->row[plan->blocks] / 2);
    const int64_t targets = (int64_t)count + plan->blocks;
    sd_ldlt_shape *shape = sd_alloc(c, count, sizeof *shape, "plan");
    int64_t *first = sd_alloc_zero(c, targets + 1, sizeof *first, "plan");
    int32_t *target = sd_alloc(c, plan->blocks, sizeof *target, "plan");
    sd_ldlt_pair *pair = NULL;
    if (shape && first && target) {
        for (int32_t i = 0; i < plan->blocks; ++i) target[i] = -1;
        fill_shapes(plan, shape, &r->weighed);
        walk_products(plan, count, shape, target, first, NULL);
        for (int64_t t = 0, sum = 0; t <= targets; ++t) {
            const int64_t here = t < targets ? first[t] : 0;
            first[t] = sum;
            sum += here;
        }
        r->pairs = first[targets];
        pair = sd_alloc(c, r->pairs, sizeof *pair, "products of the plan");
    }
    if (pair) {
        walk_products(plan, count, shape, target, first, pair);
        for (int64_t t = targets; t > 0; --t) first[t] = first[t - 1];
        first[0] = 0;
    } else {
        e->status = c->status;
    }
    r->run = (sd_ldlt_run){
        .blocks = plan->blocks,
        .count = count,
        .start = sd_to_backend(e, plan->start, (plan->blocks + 1) * (int64_t)sizeof *plan->start, "plan"),
        .square = sd_to_backend(e, plan->square, (plan->blocks + 1) * (int64_t)sizeof *plan->square, "plan"),
        .shape = sd_to_backend(e, shape, count * (int64_t)sizeof *shape, "plan"),
        .first = sd_to_backend(e, first, (targets + 1) * (int64_t)sizeof *first, "plan"),
        .pair = sd_to_backend(e, pair, r->pairs * (int64_t)sizeof *pair, "products of the plan")};
    if (first) memset(first, 0, (size_t)(targets + 1) * sizeof *first);
    r->nothing = sd_to_backend(e, first, (targets + 1) * (int64_t)sizeof *first, "plan");
    sd_free(c, shape);
    sd_free(c, first);
    sd_free(c, target);
    sd_free(c, pair);
    return e->status;
}

/* ---- levels ---- */

/* The columns of blocks begin .. end). */
static sd_ldlt_part part_of(const sd_ldlt_plan *plan, const int32_t *column, const int64_t *entry,
                            int32_t begin, int32_t end)
{
    return (sd_ldlt_part){.block = begin,
                          .block_end = end,
                          .shape = column[begin],
                          .shape_end = column[end],
                          .entry = entry[begin],
                          .entry_end = entry[end],
                          .square = plan->square[begin],
                          .square_end = plan->square[end]};
}

/* The first block of part p: levels, then chunks of equally many levels, then all. */
static int32_t part_begin(const sd_ldlt_plan *plan, int32_t chunks, int32_t p, int32_t *end)
{
    int32_t first = p, last = p + 1;
    if (p >= plan->levels + chunks) {
        first = 0;
        last = plan->levels;
    } else if (p >= plan->levels) {
        first = (int32_t)((int64_t)plan->levels * (p - plan->levels) / chunks);
        last = (int32_t)((int64_t)plan->levels * (p - plan->levels + 1) / chunks);
    }
    *end = plan->level[last];
    return plan->level[first];
}

static saddle_status make_levels(sd_engine *e, sd_ldlt_runner *r)
{
    sd_context *c = e->context;
    const sd_ldlt_plan *plan = r->plan;
    r->chunks = plan->levels < CHUNKS ? plan->levels : CHUNKS;
    const int32_t parts = plan->levels + r->chunks + 1;
    sd_batch_job *job = sd_alloc(c, 3 * (int64_t)plan->blocks, sizeof *job, "plan");
    int32_t *column = sd_alloc(c, (int64_t)plan->blocks + 1, sizeof *column, "plan");
    int64_t *entry = sd_alloc(c, (int64_t)plan->blocks + 1, sizeof *entry, "plan");
    r->part = sd_alloc(c, parts, sizeof *r->part, "plan");
    r->diagonal = sd_alloc(c, parts, sizeof *r->diagonal, "plan");
    if (job && column && entry && r->part && r->diagonal) {
        column[0] = 0; /* first off-diagonal block of each column, and its first entry */
        entry[0] = 0;
        for (int32_t j = 0; j < plan->blocks; ++j) {
            column[j + 1] = column[j] + (int32_t)(plan->row[j + 1] - plan->diagonal[j]);
            entry[j + 1] = entry[j];
            for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k)
                entry[j + 1] += plan->list[k].height * plan->list[k].width;
        }
        sd_batch_job *next = job;
        for (int32_t p = 0; p < parts; ++p) {
            int32_t end;
            const int32_t begin = part_begin(plan, r->chunks, p, &end);
            r->part[p] = part_of(plan, column, entry, begin, end);
            r->diagonal[p] = (sd_batch_plan){.blocks = plan->blocks, .rows = plan->n};
            sd_batch_lay_jobs(plan->start, NULL, begin, end, plan->square[begin], next, &r->diagonal[p]);
            next += end - begin;
        }
    } else {
        e->status = c->status;
    }
    r->jobs = sd_to_backend(e, job, 3 * (int64_t)plan->blocks * (int64_t)sizeof *job, "plan");
    int64_t next = 0;
    for (int32_t p = 0; p < parts && !e->status; ++p) {
        r->diagonal[p].job = r->jobs + next;
        next += r->diagonal[p].count;
    }
    sd_free(c, job);
    sd_free(c, column);
    sd_free(c, entry);
    return e->status;
}

/* ---- where the entries go ---- */

typedef struct locator {
    const sd_ldlt_plan *plan;
    const int32_t *place;    /* row of the blocks of each row of A */
    const int32_t *block_of; /* each row of the blocks */
} locator;

/* Bits of a mask below bit k. */
static int rank(uint32_t mask, int k)
{
    int count = 0;
    for (mask &= (1u << k) - 1; mask; mask &= mask - 1) ++count;
    return count;
}

/* Where entry (r, c) of the blocks stands, r's block not before c's. */
static int64_t locate(const locator *at, int32_t r, int32_t c)
{
    const sd_ldlt_plan *plan = at->plan;
    const int32_t i = at->block_of[r], j = at->block_of[c];
    const int p = r - plan->start[i], q = c - plan->start[j];
    if (i == j)
        return -1 - (plan->square[i] + (p > q ? p : q) +
                     (p > q ? q : p) * (int64_t)(plan->start[i + 1] - plan->start[i]));
    int64_t low = plan->diagonal[j], high = plan->row[j + 1];
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (plan->list[middle].other <= i)
            low = middle;
        else
            high = middle;
    }
    const sd_ldlt_block *b = &plan->list[low]; /* as column j lists it */
    return b->entry + rank(b->columns, p) + (int64_t)rank(b->rows, q) * b->width;
}

static saddle_status make_map(sd_engine *e, const sd_csr *A, const int32_t *order, const double *scale,
                              sd_ldlt_runner *r)
{
    sd_context *c = e->context;
    const sd_ldlt_plan *plan = r->plan;
    int32_t *place = sd_alloc(c, plan->n, sizeof *place, "plan");
    int32_t *block_of = sd_alloc(c, plan->n, sizeof *block_of, "plan");
    int64_t *target = sd_alloc(c, A->nnz, sizeof *target, "plan");
    double *scales = sd_alloc(c, plan->n, sizeof *scales, "plan");
    if (place && block_of && target && scales) {
        const locator at = {plan, place, block_of};
        for (int32_t k = 0; k < plan->n; ++k) {
            place[order[k]] = k;
            scales[k] = scale ? scale[k] : 1.0;
        }
        for (int32_t i = 0; i < plan->blocks; ++i)
            for (int32_t k = plan->start[i]; k < plan->start[i + 1]; ++k) block_of[k] = i;
        for (int32_t i = 0; i < A->n; ++i) {
            for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
                const int32_t row = place[i], column = place[A->ind[k]];
                const bool lower = row >= column;
                target[k] = lower     ? locate(&at, row, column)
                            : A->half ? locate(&at, column, row)
                                      : SD_LDLT_NOWHERE;
            }
        }
    } else {
        e->status = c->status;
    }
    r->map.target = sd_to_backend(e, target, A->nnz * (int64_t)sizeof *target, "plan");
    r->map.scale = sd_to_backend(e, scales, plan->n * (int64_t)sizeof *scales, "plan");
    sd_free(c, place);
    sd_free(c, block_of);
    sd_free(c, target);
    sd_free(c, scales);
    return e->status;
}

/* ---- all of it ---- */

saddle_status sd_ldlt_runner_make(sd_engine *e, const sd_ldlt_plan *plan, const sd_csr *A,
                                  const int32_t *order, const double *scale, sd_ldlt_runner *r)
{
    *r = (sd_ldlt_runner){.plan = plan, .entries = plan->entries, .squares = plan->square[plan->blocks]};
    saddle_status status = make_run(e, r);
    if (!status) status = make_levels(e, r);
    if (!status) status = make_map(e, A, order, scale, r);
    if (status) sd_ldlt_runner_free(e, r);
    return status;
}

void sd_ldlt_runner_free(sd_engine *e, sd_ldlt_runner *r)
{
    sd_release(e, r->run.start);
    sd_release(e, r->run.square);
    sd_release(e, r->run.shape);
    sd_release(e, r->run.first);
    sd_release(e, r->run.pair);
    sd_release(e, r->nothing);
    sd_release(e, r->jobs);
    sd_release(e, r->map.target);
    sd_release(e, r->map.scale);
    sd_free(e->context, r->part);
    sd_free(e->context, r->diagonal);
    *r = (sd_ldlt_runner){0};
}

static void *allocate(sd_engine *e, int64_t count, sd_precision precision)
{
    return sd_allocate(e, count * (int64_t)sd_precision_size(precision), "factors");
}

saddle_status sd_ldlt_numbers_make(sd_engine *e, const sd_ldlt_runner *r, sd_precision precision,
                                   sd_ldlt_numbers *x)
{
    *x = (sd_ldlt_numbers){.precision = precision};
    x->data = allocate(e, r->entries, precision);
    x->weighed = allocate(e, r->weighed, precision);
    x->square = allocate(e, r->squares, precision);
    x->inverse = allocate(e, r->squares, precision);
    if (e->status) sd_ldlt_numbers_free(e, x);
    return e->status;
}

void sd_ldlt_numbers_free(sd_engine *e, sd_ldlt_numbers *x)
{
    sd_release(e, x->data);
    sd_release(e, x->weighed);
    sd_release(e, x->square);
    sd_release(e, x->inverse);
    *x = (sd_ldlt_numbers){0};
}

/* The part that is all of it. */
static int32_t whole_of(const sd_ldlt_runner *r)
{
    return r->plan->levels + r->chunks;
}

/* G of the diagonal blocks of part p; their factors go into f, which may be S itself. */
static void invert(sd_engine *e, const sd_batch_rule *rule, const sd_ldlt_runner *r, int32_t p,
                   const sd_batch_factors *f, const void *square, sd_ldlt_numbers *x)
{
    const sd_batch_plan *batch = &r->diagonal[p];
    const sd_batch squares = {batch, (void *)(uintptr_t)square, x->precision};
    sd_batch inverses = {batch, x->inverse, x->precision};
    sd_batch_factors factors = *f;
    factors.plan = batch;
    sd_batch_factor(e, rule, &squares, &factors);
    sd_batch_invert(e, &factors, &inverses);
}

/* Adds up what became of the diagonal blocks; weak (NULL: not wanted) are those with small pivots. */
static saddle_status count_states(sd_engine *e, const sd_ldlt_runner *r, const sd_batch_factors *f,
                                  bool *weak, sd_ldlt_counts *counts)
{
    const int32_t blocks = r->plan->blocks;
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

saddle_status sd_ldlt_refactor(sd_engine *e, sd_ldlt_runner *r, const sd_sparse *A, const sd_batch_rule *rule,
                               sd_ldlt_numbers *x, sd_ldlt_counts *counts)
{
    const sd_ldlt_plan *plan = r->plan;
    sd_batch_factors f = sd_batch_factors_new(e, &r->diagonal[whole_of(r)], x->precision);
    if (!e->status) sd_ldlt_scatter(e, A, &r->map, r->entries, r->squares, x);
    for (int32_t l = 0; l < plan->levels && !e->status; ++l) {
        sd_ldlt_update(e, &r->run, &r->part[l], x, x, x);
        invert(e, rule, r, l, &f, x->square, x);
        sd_ldlt_weigh(e, &r->run, &r->part[l], x);
        if (!e->status && l % LEVELS_A_LOOK == 0)
            e->status = sd_progress(e->context, "factor", l, plan->levels, NAN);
    }
    if (!e->status) count_states(e, r, &f, NULL, counts);
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
    const sd_vector s = piece_of(y->square, part->square, part->square_end, x->precision);
    sd_vector to = piece_of(x->data, part->entry, part->entry_end, x->precision);
    if (c.n > 0) sd_copy(e, &c, &to);
    to = piece_of(x->square, part->square, part->square_end, x->precision);
    sd_copy(e, &s, &to);
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

/* One sweep from x to x by way of y. */
static void sweep_once(sd_engine *e, const sd_ldlt_runner *r, const sd_batch_rule *pivots, bool rows,
                       const sd_ldlt_numbers *a, const sd_batch_factors *f, sd_ldlt_numbers *y,
                       sd_ldlt_numbers *x)
{
    const int32_t first = rows ? r->plan->levels : whole_of(r), last = whole_of(r) + !rows;
    for (int32_t p = first; p < last && !e->status; ++p) {
        const sd_ldlt_part *part = &r->part[p];
        sd_ldlt_update(e, &r->run, part, a, x, y);
        take_part(e, part, y, x);
        invert(e, pivots, r, p, f, x->square, x);
        sd_ldlt_weigh(e, &r->run, part, x);
    }
}

/* C and S alone. */
static saddle_status half_numbers(sd_engine *e, const sd_ldlt_runner *r, sd_precision precision,
                                  sd_ldlt_numbers *x)
{
    *x = (sd_ldlt_numbers){.precision = precision};
    x->data = allocate(e, r->entries, precision);
    x->square = allocate(e, r->squares, precision);
    return e->status;
}

saddle_status sd_ldlt_run_sweeps(sd_engine *e, sd_ldlt_runner *r, const sd_sparse *A,
                                 const sd_sweep_rule *rule, bool *weak, sd_ldlt_numbers *x,
                                 sd_ldlt_counts *counts, double *residual)
{
    const sd_ldlt_part *whole = &r->part[whole_of(r)];
    sd_ldlt_numbers a = {0}, y = {0};
    sd_batch_rule pivots = rule->pivots;
    sd_batch_factors f = sd_batch_factors_new(e, &r->diagonal[whole_of(r)], x->precision);
    bool stop = false;
    *residual = INFINITY;
    sd_engine_reserve(e, r->entries > r->squares ? r->entries : r->squares, NULL);
    half_numbers(e, r, x->precision, &a);
    half_numbers(e, r, x->precision, &y);
    if (!e->status) {
        sd_ldlt_scatter(e, A, &r->map, r->entries, r->squares, &a);
        /* S of A is its lower triangle until an update mirrors it: one without products */
        const sd_ldlt_run none = {.blocks = r->run.blocks,
                                  .count = r->run.count,
                                  .start = r->run.start,
                                  .square = r->run.square,
                                  .shape = r->run.shape,
                                  .first = r->nothing,
                                  .pair = r->run.pair};
        sd_ldlt_update(e, &none, whole, &a, &a, x);
        invert(e, &pivots, r, whole_of(r), &f, x->square, x);
        sd_ldlt_weigh(e, &r->run, whole, x);
        if (rule->early) {
            count_states(e, r, &f, weak, counts);
            stop = counts->perturbed + counts->replaced > 0;
        }
    }
    /* more would change nothing, as columns are exact once those of the level before are, but for the least
     * pivot */
    const int32_t parts = rule->rows && r->chunks > 0 ? r->chunks : 1;
    const int32_t enough = 1 + (r->plan->levels + parts - 1) / parts;
    const int sweeps = rule->sweeps < enough || rule->relax < 1 ? rule->sweeps : enough;
    for (int s = 1; s < sweeps && !e->status && !stop; ++s) {
        pivots.small *= rule->relax;
        sweep_once(e, r, &pivots, rule->rows, &a, &f, &y, x);
        if (!e->status) e->status = sd_progress(e->context, "factor", s, sweeps, NAN);
    }
    if (!e->status && !stop) {
        sd_ldlt_weigh(e, &r->run, whole, x);
        sd_ldlt_update(e, &r->run, whole, &a, x, &y);
        *residual = fmax(distance(e, x->data, r->entries, x->precision, y.data),
                         distance(e, x->square, r->squares, x->precision, y.square));
        count_states(e, r, &f, weak, counts);
        counts->sweeps = sweeps;
        counts->exact = sweeps >= enough && rule->relax == 1;
    }
    sd_ldlt_numbers_free(e, &a);
    sd_ldlt_numbers_free(e, &y);
    sd_batch_factors_free(e, &f);
    return e->status;
}
