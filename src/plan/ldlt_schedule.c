/* The schedule of a block LDL' on a plan: see ldlt_schedule.h. */
#include "plan/ldlt_schedule.h"

enum { CHUNKS = 64 }; /* of a sweep by rows */

/* ---- targets and their products ---- */

/* Calls for every product of a target: each block b = (j, k) of row j with each block a = (i, k), i > j, of
 * column k whose target (i, j) is there; and with itself for the diagonal. Counts, or writes down where pair
 * is not NULL. target is work of the blocks, all -1. */
static void walk_products(const sd_ldlt_plan *plan, const sd_ldlt_schedule *s, int32_t *target, int64_t *next,
                          sd_ldlt_pair *pair)
{
    const sd_ldlt_shape *shape = s->shape;
    for (int32_t j = 0; j < plan->blocks; ++j) {
        for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k)
            target[plan->list[k].other] = plan->number[k];
        for (int64_t m = plan->row[j]; m < plan->diagonal[j]; ++m) {
            const int32_t k = plan->list[m].other, b = plan->number[m];
            const int64_t own = (int64_t)s->count + j;
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

static void fill_shapes(const sd_ldlt_plan *plan, sd_ldlt_schedule *s)
{
    for (int32_t j = 0; j < plan->blocks; ++j) {
        const int32_t size = plan->start[j + 1] - plan->start[j];
        for (int64_t k = plan->diagonal[j]; k < plan->row[j + 1]; ++k) {
            const sd_ldlt_block *b = &plan->list[k];
            s->shape[plan->number[k]] = (sd_ldlt_shape){.entry = b->entry,
                                                        .weighed = s->weighed,
                                                        .row = b->other,
                                                        .column = j,
                                                        .rows = b->columns,
                                                        .columns = b->rows,
                                                        .height = b->width,
                                                        .width = b->height,
                                                        .size = (uint8_t)size};
            s->weighed += (int64_t)b->width * size;
        }
    }
}

static saddle_status make_targets(sd_context *c, const sd_ldlt_plan *plan, sd_ldlt_schedule *s)
{
    const int64_t targets = (int64_t)s->count + s->blocks;
    int32_t *target = sd_alloc(c, s->blocks, sizeof *target, "plan");
    s->shape = sd_alloc(c, s->count, sizeof *s->shape, "plan");
    s->first = sd_alloc_zero(c, targets + 1, sizeof *s->first, "plan");
    s->none = sd_alloc_zero(c, targets + 1, sizeof *s->none, "plan");
    if (target && s->shape && s->first && s->none) {
        for (int32_t i = 0; i < s->blocks; ++i) target[i] = -1;
        fill_shapes(plan, s);
        walk_products(plan, s, target, s->first, NULL);
        for (int64_t t = 0, sum = 0; t <= targets; ++t) {
            const int64_t here = s->first[t];
            s->first[t] = sum;
            sum += here;
        }
        s->pair = sd_alloc(c, s->first[targets], sizeof *s->pair, "products of the plan");
    }
    if (s->pair) {
        walk_products(plan, s, target, s->first, s->pair);
        for (int64_t t = targets; t > 0; --t) s->first[t] = s->first[t - 1];
        s->first[0] = 0;
    }
    sd_free(c, target);
    return s->pair ? SADDLE_OK : c->status;
}

/* ---- parts ---- */

static int64_t entry_of(const sd_ldlt_schedule *s, int32_t shape)
{
    return shape < s->count ? s->shape[shape].entry : s->entries;
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

/* column: the first off-diagonal block of each column. */
static void fill_parts(const sd_ldlt_plan *plan, const int32_t *column, sd_ldlt_schedule *s)
{
    sd_batch_job *job = s->job;
    for (int32_t p = 0; p <= s->levels + s->chunks; ++p) {
        int32_t end;
        const int32_t begin = part_begin(plan, s->chunks, p, &end);
        s->part[p] = (sd_ldlt_part){.block = begin,
                                    .block_end = end,
                                    .shape = column[begin],
                                    .shape_end = column[end],
                                    .entry = entry_of(s, column[begin]),
                                    .entry_end = entry_of(s, column[end]),
                                    .square = plan->square[begin],
                                    .square_end = plan->square[end]};
        s->diagonal[p] = (sd_batch_plan){.blocks = plan->blocks, .rows = plan->n};
        sd_batch_lay_jobs(plan->start, NULL, begin, end, plan->square[begin], job, &s->diagonal[p]);
        job += end - begin;
    }
}

static saddle_status make_parts(sd_context *c, const sd_ldlt_plan *plan, sd_ldlt_schedule *s)
{
    const int32_t parts = s->levels + s->chunks + 1;
    int32_t *column = sd_alloc(c, (int64_t)s->blocks + 1, sizeof *column, "plan");
    s->job = sd_alloc(c, 3 * (int64_t)s->blocks, sizeof *s->job, "plan");
    s->part = sd_alloc(c, parts, sizeof *s->part, "plan");
    s->diagonal = sd_alloc(c, parts, sizeof *s->diagonal, "plan");
    const bool all = column && s->job && s->part && s->diagonal;
    if (all) {
        column[0] = 0;
        for (int32_t j = 0; j < s->blocks; ++j)
            column[j + 1] = column[j] + (int32_t)(plan->row[j + 1] - plan->diagonal[j]);
        fill_parts(plan, column, s);
    }
    sd_free(c, column);
    return all ? SADDLE_OK : c->status;
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
    return __builtin_popcount(mask & ((1u << k) - 1));
}

/* Where entry (r, c) of the blocks is, r's block not before c's. */
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

static saddle_status find_places(sd_context *c, const sd_ldlt_plan *plan, const sd_csr *A,
                                 const int32_t *order, sd_ldlt_schedule *s)
{
    int32_t *place = sd_alloc(c, plan->n, sizeof *place, "plan");
    int32_t *block_of = sd_alloc(c, plan->n, sizeof *block_of, "plan");
    s->target = sd_alloc(c, A->nnz, sizeof *s->target, "plan");
    const bool all = place && block_of && s->target;
    if (all) {
        const locator at = {plan, place, block_of};
        sd_invert_order(plan->n, order, place);
        for (int32_t i = 0; i < plan->blocks; ++i)
            for (int32_t k = plan->start[i]; k < plan->start[i + 1]; ++k) block_of[k] = i;
        for (int32_t i = 0; i < A->n; ++i) {
            for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
                const int32_t row = place[i], column = place[A->ind[k]];
                const bool lower = row >= column;
                s->target[k] = lower     ? locate(&at, row, column)
                               : A->half ? locate(&at, column, row)
                                         : SD_LDLT_NOWHERE;
            }
        }
    }
    sd_free_all(c, place, block_of);
    return all ? SADDLE_OK : c->status;
}

/* ---- all of it ---- */

saddle_status sd_ldlt_schedule_make(sd_context *c, const sd_ldlt_plan *plan, const sd_csr *A,
                                    const int32_t *order, sd_ldlt_schedule *s)
{
    *s = (sd_ldlt_schedule){.blocks = plan->blocks,
                            .count = (int32_t)(plan->row[plan->blocks] / 2),
                            .entries = plan->entries,
                            .squares = plan->square[plan->blocks],
                            .start = plan->start,
                            .square = plan->square,
                            .stored = A->nnz,
                            .levels = plan->levels,
                            .chunks = plan->levels < CHUNKS ? plan->levels : CHUNKS};
    saddle_status status = make_targets(c, plan, s);
    if (!status) status = make_parts(c, plan, s);
    if (!status) status = find_places(c, plan, A, order, s);
    if (status) sd_ldlt_schedule_free(c, s);
    return status;
}

void sd_ldlt_schedule_free(sd_context *c, sd_ldlt_schedule *s)
{
    void *const owned[] = {s->shape, s->first, s->none, s->pair, s->target, s->job, s->part, s->diagonal};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) sd_free(c, owned[k]);
    *s = (sd_ldlt_schedule){0};
}
