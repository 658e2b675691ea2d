/* Batches on the host's side: see batch.h. */
#include "backend/batch_memory.h"

void *sd_to_backend(sd_engine *e, const void *host, int64_t bytes, const char *what)
{
    void *memory = e->status ? NULL : e->backend->allocate(e, bytes, what);
    if (memory)
        e->backend->upload(e, host, memory, bytes);
    else if (!e->status)
        e->status = e->context->status;
    return memory;
}

static void *allocate(sd_engine *e, int64_t bytes, const char *what)
{
    void *memory = e->status ? NULL : e->backend->allocate(e, bytes, what);
    if (!memory && !e->status) e->status = e->context->status;
    return memory;
}

static void release(sd_engine *e, const void *memory)
{
    if (memory) e->backend->release(e, (void *)(uintptr_t)memory);
}

/* The size of all blocks; 0 where they differ. */
static int32_t regular_size(int32_t blocks, const int32_t *start)
{
    const int32_t size = blocks > 0 ? start[1] - start[0] : 0;
    for (int32_t k = 1; k < blocks; ++k)
        if (start[k + 1] - start[k] != size) return 0;
    return size;
}

/* Counts the wanted blocks by size, so that first[s] is where those of s rows begin. */
static void count_sizes(int32_t blocks, const int32_t *start, const bool *wanted, sd_batch_plan *plan)
{
    int32_t count[SD_BLOCK_MOST + 1] = {0};
    for (int32_t k = 0; k < blocks; ++k) {
        if (wanted && !wanted[k]) continue;
        const int32_t size = start[k + 1] - start[k];
        ++count[size];
        ++plan->count;
        plan->entries += (int64_t)size * size;
    }
    for (int s = 0; s <= SD_BLOCK_MOST; ++s) plan->first[s + 1] = plan->first[s] + count[s];
}

static void fill_jobs(int32_t blocks, const int32_t *start, const bool *wanted, const sd_batch_plan *plan,
                      sd_batch_job *job)
{
    int32_t next[SD_BLOCK_MOST + 2];
    int64_t entry = 0;
    memcpy(next, plan->first, sizeof next);
    for (int32_t k = 0; k < blocks; ++k) {
        if (wanted && !wanted[k]) continue;
        const int32_t size = start[k + 1] - start[k];
        job[next[size]++] = (sd_batch_job){entry, start[k], k};
        entry += (int64_t)size * size;
    }
}

saddle_status sd_batch_plan_make(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                                 const int32_t *source, const int32_t *target, sd_batch_plan *plan)
{
    sd_context *c = e->context;
    *plan = (sd_batch_plan){.blocks = blocks, .rows = start[blocks]};
    count_sizes(blocks, start, wanted, plan);
    if (plan->count == blocks) plan->regular = regular_size(blocks, start);
    sd_batch_job *job = sd_alloc(c, plan->count, sizeof *job, "jobs of blocks");
    if (job)
        fill_jobs(blocks, start, wanted, plan, job);
    else
        e->status = c->status;
    const int64_t bytes = plan->rows * (int64_t)sizeof *source;
    plan->job = sd_to_backend(e, job, plan->count * (int64_t)sizeof *job, "jobs of blocks");
    if (source) plan->source = sd_to_backend(e, source, bytes, "order of rows");
    if (target == source)
        plan->target = plan->source;
    else if (target)
        plan->target = sd_to_backend(e, target, bytes, "order of columns");
    sd_free(c, job);
    if (e->status) sd_batch_plan_free(e, plan);
    return e->status;
}

void sd_batch_plan_free(sd_engine *e, sd_batch_plan *plan)
{
    release(e, plan->job);
    if (plan->target != plan->source) release(e, plan->target);
    release(e, plan->source);
    *plan = (sd_batch_plan){0};
}

sd_batch sd_batch_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision, const char *what)
{
    const int64_t bytes = plan->entries * (int64_t)sd_precision_size(precision);
    return (sd_batch){plan, allocate(e, bytes, what), precision};
}

void sd_batch_free(sd_engine *e, sd_batch *x)
{
    release(e, x->data);
    *x = (sd_batch){0};
}

sd_batch_factors sd_batch_factors_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision)
{
    sd_batch_factors f = {.plan = plan, .precision = precision};
    f.data = allocate(e, plan->entries * (int64_t)sd_precision_size(precision), "factors of blocks");
    f.row = allocate(e, plan->rows, "order of rows in blocks");
    f.column = allocate(e, plan->rows, "order of columns in blocks");
    f.state = allocate(e, plan->blocks * (int64_t)sizeof *f.state, "states of blocks");
    if (e->status) sd_batch_factors_free(e, &f);
    return f;
}

void sd_batch_factors_free(sd_engine *e, sd_batch_factors *f)
{
    release(e, f->data);
    release(e, f->row);
    release(e, f->column);
    release(e, f->state);
    *f = (sd_batch_factors){0};
}

/* place[order[r]] = r, in the backend's memory; NULL where order is. */
static const int32_t *places(sd_engine *e, int32_t n, const int32_t *order)
{
    if (!order || e->status) return NULL;
    int32_t *place = sd_alloc(e->context, n, sizeof *place, "places of rows");
    if (!place) {
        e->status = e->context->status;
        return NULL;
    }
    for (int32_t r = 0; r < n; ++r) place[order[r]] = r;
    const int32_t *there = sd_to_backend(e, place, n * (int64_t)sizeof *place, "places of rows");
    sd_free(e->context, place);
    return there;
}

saddle_status sd_batch_map_make(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                                const int32_t *source, const int32_t *target, sd_batch_map *map)
{
    sd_context *c = e->context;
    const int32_t rows = start[blocks];
    int32_t *block = sd_alloc(c, rows, sizeof *block, "blocks of rows");
    int64_t *entry = sd_alloc(c, blocks, sizeof *entry, "first entries of blocks");
    *map = (sd_batch_map){0};
    if (!block || !entry) e->status = c->status;
    int64_t next = 0;
    for (int32_t k = 0; k < blocks && !e->status; ++k) {
        const int64_t size = start[k + 1] - start[k];
        for (int32_t r = start[k]; r < start[k + 1]; ++r) block[r] = k;
        entry[k] = wanted && !wanted[k] ? -1 : next;
        if (entry[k] >= 0) next += size * size;
    }
    map->block = sd_to_backend(e, block, rows * (int64_t)sizeof *block, "blocks of rows");
    map->entry = sd_to_backend(e, entry, blocks * (int64_t)sizeof *entry, "first entries of blocks");
    map->start =
        sd_to_backend(e, start, (blocks + (int64_t)1) * (int64_t)sizeof *start, "first rows of blocks");
    map->row_place = places(e, rows, source);
    map->column_place = source == target ? map->row_place : places(e, rows, target);
    sd_free(c, block);
    sd_free(c, entry);
    if (e->status) sd_batch_map_free(e, map);
    return e->status;
}

void sd_batch_map_free(sd_engine *e, sd_batch_map *map)
{
    if (map->column_place != map->row_place) release(e, map->column_place);
    release(e, map->row_place);
    release(e, map->block);
    release(e, map->start);
    release(e, map->entry);
    *map = (sd_batch_map){0};
}
