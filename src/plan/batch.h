/*
 * Plans of batches of small dense blocks (backend/batch.h): where the blocks lie, by size, and where the
 * entries of a sparse matrix are in them. They are made on the host; the same types serve for their
 * copies in the memory of a backend (backend/batch_memory.h).
 */
#pragma once

#include "core/context.h"

enum { SD_BLOCK_MOST = 32 }; /* rows of a block */

/* One block of a plan: its first entry, its first row among the rows of all blocks, its number. */
typedef struct sd_batch_job {
    int64_t entry;
    int32_t row, block;
} sd_batch_job;

/* Where the blocks of a batch lie. */
typedef struct sd_batch_plan {
    int32_t count;                    /* blocks in the plan; their numbers are below `blocks` */
    int32_t blocks;                   /* more than count where the plan is of some of them only */
    int32_t rows;                     /* of all `blocks` */
    int64_t entries;                  /* of the plan's */
    int32_t regular;                  /* > 0: all blocks, each of so many rows: block k is job k, its first
                                         row k regular, its first entry k regular^2 */
    int32_t first[SD_BLOCK_MOST + 2]; /* jobs first[s] .. first[s + 1]) have s rows */
    sd_batch_job *job;                /* count of them, by size, then by number */
    /* Row r of the blocks is entry source[r] of the vector that is read, target[r] of the one that is
     * written; NULL: entry r. */
    const int32_t *source, *target;
} sd_batch_plan;

/* Where the entries of a sparse matrix are in the blocks. */
typedef struct sd_batch_map {
    int32_t *row_place;    /* row i of A is row row_place[i] of the blocks; NULL: row i */
    int32_t *column_place; /* the same for columns; the same array where A is half */
    int32_t *block;        /* block of each row of the blocks, plan->rows of them */
    const int32_t *start;  /* first row of each block, and then rows; plan->blocks + 1 of them */
    int64_t *entry;        /* first entry of each block, -1 where it is not in the plan */
} sd_batch_map;

/*
 * Lays down the plan of `blocks` blocks, the rows of block k being start[k] .. start[k+1]), 1 to 32 of them;
 * of those for which wanted[k], or of all where that is NULL. source and target, of start[blocks] entries,
 * may be NULL or the same; they, and start, stay the caller's. On failure the plan holds nothing.
 */
saddle_status sd_batch_plan_make(sd_context *c, int32_t blocks, const int32_t *start, const bool *wanted,
                                 const int32_t *source, const int32_t *target, sd_batch_plan *plan);
void sd_batch_plan_free(sd_context *c, sd_batch_plan *plan);

/* The jobs of those blocks begin .. end) that are wanted, their entries one after the other from `entry` on:
 * fills in count, first, entries and job, which has room for all. */
void sd_batch_lay_jobs(const int32_t *start, const bool *wanted, int32_t begin, int32_t end, int64_t entry,
                       sd_batch_job *job, sd_batch_plan *plan);

/* The map of a matrix whose row source[r] is row r of the blocks and whose column target[r] is column r, in
 * the plan with these arguments. */
saddle_status sd_batch_map_make(sd_context *c, int32_t blocks, const int32_t *start, const bool *wanted,
                                const int32_t *source, const int32_t *target, sd_batch_map *map);
void sd_batch_map_free(sd_context *c, sd_batch_map *map);
