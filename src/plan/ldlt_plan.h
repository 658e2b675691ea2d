/*
 * The plan of a block LDL': which blocks its factors keep, in an order and in levels. Arrays of the host,
 * made from the columns that a search for the pattern (factor/ldlt_find.c) leaves.
 */
#pragma once

#include "core/precision.h"
#include "plan/block_order.h"
#include "plan/trisolve_work.h"

/*
 * An off-diagonal block as one of its two sides lists it: `rows` are those of the side that lists it,
 * `columns` those of the other. With `transposed` its numbers are stored as the other side would have them.
 */
typedef struct sd_ldlt_block {
    int64_t entry; /* the first of its numbers */
    uint32_t rows, columns;
    int32_t other;         /* the block on the other side */
    uint8_t height, width; /* bits in rows, columns */
    uint8_t transposed;
    uint8_t level; /* of fill: 0 for a block of A */
} sd_ldlt_block;

/* A column as the search leaves it, its blocks in no particular order. */
typedef struct sd_ldlt_column {
    sd_ldlt_block *list; /* `other` as the matrix numbers it */
    int32_t count;
    bool crossed; /* some of its blocks were pushed back since */
} sd_ldlt_column;

/*
 * Blocks are renumbered, level by level and by position within a level (which changes neither a factor nor
 * what it depends on).
 */
typedef struct sd_ldlt_plan {
    int32_t n, blocks, levels, largest;
    int32_t *level;    /* first block of each level: levels + 1 */
    int32_t *start;    /* first row of each block: blocks + 1 */
    int32_t *block_at; /* the block of the matrix that each of them is */
    /* row i: the blocks that it is coupled with, ascending; those before diagonal[i] belong to L */
    int64_t *row; /* blocks + 1 */
    int64_t *diagonal;
    sd_ldlt_block *list;
    int64_t entries; /* of the off-diagonal blocks, each counted once */
    int64_t *square; /* first entry of each diagonal block: blocks + 1 */
    int32_t *number; /* of each in the list: that of the off-diagonal block, by column and row */
} sd_ldlt_plan;

/* The plan of columns that were made in this order, block i of the matrix having the rows start[i] ..
 * start[i+1]). On failure it holds nothing. */
saddle_status sd_ldlt_plan_make(sd_context *c, const int32_t *start, const sd_block_order *order,
                                const sd_ldlt_column *columns, sd_ldlt_plan *plan);
void sd_ldlt_plan_free(sd_context *c, sd_ldlt_plan *plan);

/* What a solve has to do: C, G and the vectors for both triangles, and the lists; a sweep the same. */
sd_trisolve_work sd_ldlt_work_of(const sd_ldlt_plan *plan, sd_precision precision);
