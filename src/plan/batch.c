/* Batches of small blocks, made on the host: see batch.h. */
#include "plan/batch.h"

#include "prepare/graph.h"

#include <string.h>

/* The size of all blocks; 0 where they differ. */
static int32_t regular_size(int32_t blocks, const int32_t *start)
{
    const int32_t size = blocks > 0 ? start[1] - start[0] : 0;
    for (int32_t k = 1; k < blocks; ++k)
        if (start[k + 1] - start[k] != size) return 0;
    return size;
}

void sd_batch_lay_jobs(const int32_t *start, const bool *wanted, int32_t begin, int32_t end, int64_t entry,
                       sd_batch_job *job, sd_batch_plan *plan)
{
    const int64_t first_entry = entry;
    int32_t next[SD_BLOCK_MOST + 2] = {0};
    for (int32_t k = begin; k < end; ++k)
        if (!wanted || wanted[k]) ++next[start[k + 1] - start[k] + 1];
    for (int s = 0; s <= SD_BLOCK_MOST; ++s) next[s + 1] += next[s];
    memcpy(plan->first, next, sizeof next);
    for (int32_t k = begin; k < end; ++k) {
        if (wanted && !wanted[k]) continue;
        const int32_t size = start[k + 1] - start[k];
        job[next[size]++] = (sd_batch_job){entry, start[k], k};
        entry += (int64_t)size * size;
    }
    plan->count = plan->first[SD_BLOCK_MOST + 1];
    plan->entries = entry - first_entry;
    plan->job = job;
}

saddle_status sd_batch_plan_make(sd_context *c, int32_t blocks, const int32_t *start, const bool *wanted,
                                 const int32_t *source, const int32_t *target, sd_batch_plan *plan)
{
    sd_batch_job *job = sd_alloc(c, blocks, sizeof *job, "jobs of blocks");
    *plan = (sd_batch_plan){0};
    if (!job) return c->status;
    *plan = (sd_batch_plan){.blocks = blocks, .rows = start[blocks], .source = source, .target = target};
    sd_batch_lay_jobs(start, wanted, 0, blocks, 0, job, plan);
    if (plan->count == blocks) plan->regular = regular_size(blocks, start);
    return SADDLE_OK;
}

void sd_batch_plan_free(sd_context *c, sd_batch_plan *plan)
{
    sd_free(c, plan->job);
    *plan = (sd_batch_plan){0};
}

/* place[order[r]] = r; NULL where order is. */
static int32_t *places(sd_context *c, int32_t n, const int32_t *order)
{
    int32_t *place = order ? sd_alloc(c, n, sizeof *place, "places of rows") : NULL;
    if (place) sd_invert_order(n, order, place);
    return place;
}

saddle_status sd_batch_map_make(sd_context *c, int32_t blocks, const int32_t *start, const bool *wanted,
                                const int32_t *source, const int32_t *target, sd_batch_map *map)
{
    const int32_t rows = start[blocks];
    int64_t next = 0;
    *map = (sd_batch_map){.start = start};
    map->block = sd_alloc(c, rows, sizeof *map->block, "blocks of rows");
    map->entry = sd_alloc(c, blocks, sizeof *map->entry, "first entries of blocks");
    map->row_place = places(c, rows, source);
    map->column_place = source == target ? map->row_place : places(c, rows, target);
    if (!map->block || !map->entry || !map->row_place != !source || !map->column_place != !target) {
        sd_batch_map_free(c, map);
        return c->status;
    }
    for (int32_t k = 0; k < blocks; ++k) {
        const int64_t size = start[k + 1] - start[k];
        for (int32_t r = start[k]; r < start[k + 1]; ++r) map->block[r] = k;
        map->entry[k] = wanted && !wanted[k] ? -1 : next;
        if (map->entry[k] >= 0) next += size * size;
    }
    return SADDLE_OK;
}

void sd_batch_map_free(sd_context *c, sd_batch_map *map)
{
    if (map->column_place != map->row_place) sd_free(c, map->column_place);
    sd_free_all(c, map->row_place, map->block, map->entry);
    *map = (sd_batch_map){0};
}
