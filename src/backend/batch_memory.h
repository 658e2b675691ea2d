/* Making and freeing what batch.h describes: plans of a batch, its blocks, their factors, the map of a
 * matrix. */
#ifndef SD_BATCH_MEMORY_H
#define SD_BATCH_MEMORY_H

#include "backend/backend.h"

/*
 * Lays down the plan of `blocks` blocks, the rows of block k being start[k] .. start[k+1]), 1 to 32 of them;
 * of those for which wanted[k], or of all where that is NULL. source and target, of start[blocks] entries,
 * may be NULL or the same. All arrays are the host's. On failure the plan holds nothing.
 */
saddle_status sd_batch_plan_make(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                                 const int32_t *source, const int32_t *target, sd_batch_plan *plan);
void sd_batch_plan_free(sd_engine *e, sd_batch_plan *plan);

/* Room for the plan's entries, which hold nothing yet; data is NULL on failure (and e->status set). */
sd_batch sd_batch_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision, const char *what);
void sd_batch_free(sd_engine *e, sd_batch *x);

/* Room for factors; data is NULL on failure (and e->status set). */
sd_batch_factors sd_batch_factors_new(sd_engine *e, const sd_batch_plan *plan, sd_precision precision);
void sd_batch_factors_free(sd_engine *e, sd_batch_factors *f);

/* The map of a matrix whose row source[r] is row r of the blocks and whose column target[r] is column r, in
 * the plan with these arguments. */
saddle_status sd_batch_map_make(sd_engine *e, int32_t blocks, const int32_t *start, const bool *wanted,
                                const int32_t *source, const int32_t *target, sd_batch_map *map);
void sd_batch_map_free(sd_engine *e, sd_batch_map *map);

/* The backend's copy of a host array; NULL on failure (and e->status set). */
void *sd_to_backend(sd_engine *e, const void *host, int64_t bytes, const char *what);

#endif
