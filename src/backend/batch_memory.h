/* Batches in the memory of a backend: copies of their plans (plan/batch.h), their blocks, their factors. */
#pragma once

#include "backend/backend.h"

/* The backend's copy of what sd_batch_plan_make determines. On failure, e->status, the plan holds nothing. */
saddle_status sd_batch_place(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                             const int32_t *source, const int32_t *target, sd_batch_plan *plan);
void sd_batch_unplace(sd_engine *e, sd_batch_plan *plan);

/* Room for the plan's entries, which hold nothing yet; data is NULL on failure (and e->status set). */
sd_batch sd_batch_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision, const char *what);
void sd_batch_free(sd_engine *e, sd_batch *x);

/* Room for factors; data is NULL on failure (and e->status set). */
sd_batch_factors sd_batch_factors_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision);
void sd_batch_factors_free(sd_engine *e, sd_batch_factors *f);

/* The backend's copy of what sd_batch_map_make determines. */
saddle_status sd_batch_map_place(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                                 const int32_t *source, const int32_t *target, sd_batch_map *map);
void sd_batch_map_unplace(sd_engine *e, sd_batch_map *map);
