/* Batches in the memory of a backend: see batch_memory.h. */
#include "backend/batch_memory.h"

saddle_status sd_batch_place(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                             const int32_t *source, const int32_t *target, sd_batch_plan *plan)
{
    sd_context *c = e->context;
    sd_batch_plan host = {0};
    if (!e->status) e->status = sd_batch_plan_make(c, blocks, start, wanted, source, target, &host);
    const int64_t bytes = host.rows * (int64_t)sizeof *source;
    *plan = host;
    plan->job = sd_to_backend(e, host.job, host.count * (int64_t)sizeof *host.job, "jobs of blocks");
    plan->source = source ? sd_to_backend(e, source, bytes, "order of rows") : NULL;
    plan->target = target == source ? plan->source
                   : target         ? sd_to_backend(e, target, bytes, "order of columns")
                                    : NULL;
    sd_batch_plan_free(c, &host);
    if (e->status) sd_batch_unplace(e, plan);
    return e->status;
}

void sd_batch_unplace(sd_engine *e, sd_batch_plan *plan)
{
    sd_release(e, plan->job);
    if (plan->target != plan->source) sd_release(e, plan->target);
    sd_release(e, plan->source);
    *plan = (sd_batch_plan){0};
}

sd_batch sd_batch_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision, const char *what)
{
    const int64_t bytes = plan->entries * (int64_t)sd_precision_size(precision);
    return (sd_batch){plan, sd_allocate(e, bytes, what), precision};
}

void sd_batch_free(sd_engine *e, sd_batch *x)
{
    sd_release(e, x->data);
    *x = (sd_batch){0};
}

sd_batch_factors sd_batch_factors_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision)
{
    sd_batch_factors f = {.plan = plan, .precision = precision};
    f.data = sd_allocate(e, plan->entries * (int64_t)sd_precision_size(precision), "factors of blocks");
    f.row = sd_allocate(e, plan->rows, "order of rows in blocks");
    f.column = sd_allocate(e, plan->rows, "order of columns in blocks");
    f.state = sd_allocate(e, plan->blocks * (int64_t)sizeof *f.state, "states of blocks");
    if (e->status) sd_batch_factors_free(e, &f);
    return f;
}

void sd_batch_factors_free(sd_engine *e, sd_batch_factors *f)
{
    sd_release(e, f->data);
    sd_release(e, f->row);
    sd_release(e, f->column);
    sd_release(e, f->state);
    *f = (sd_batch_factors){0};
}

saddle_status sd_batch_map_place(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                                 const int32_t *source, const int32_t *target, sd_batch_map *map)
{
    sd_context *c = e->context;
    sd_batch_map host = {0};
    if (!e->status) e->status = sd_batch_map_make(c, blocks, start, wanted, source, target, &host);
    const int64_t rows = start[blocks] * (int64_t)sizeof *start;
    *map = (sd_batch_map){0};
    map->block = sd_to_backend(e, host.block, rows, "blocks of rows");
    map->entry =
        sd_to_backend(e, host.entry, blocks * (int64_t)sizeof *host.entry, "first entries of blocks");
    map->start =
        sd_to_backend(e, start, (blocks + (int64_t)1) * (int64_t)sizeof *start, "first rows of blocks");
    if (source) map->row_place = sd_to_backend(e, host.row_place, rows, "places of rows");
    map->column_place = source == target ? map->row_place
                        : target         ? sd_to_backend(e, host.column_place, rows, "places of rows")
                                         : NULL;
    sd_batch_map_free(c, &host);
    if (e->status) sd_batch_map_unplace(e, map);
    return e->status;
}

void sd_batch_map_unplace(sd_engine *e, sd_batch_map *map)
{
    if (map->column_place != map->row_place) sd_release(e, map->column_place);
    sd_release(e, map->row_place);
    sd_release(e, map->block);
    sd_release(e, map->start);
    sd_release(e, map->entry);
    *map = (sd_batch_map){0};
}
