/*
 * The schedule of a block LDL' on a plan: how its numbers are made for any values of the matrix, by levels or
 * by sweeps (factor/ldlt_run.h). Off-diagonal blocks are numbered by column, then by row, so that those of a
 * level follow one another. Target t is block C_ij,
 *
 *     C_ij = A_ij - sum W_ik C_jk',   W_ik = C_ik G_k, all rows of C_ik that are kept by all columns of block
 * k,
 *
 * its products pair[first[t] .. first[t+1]) naming C_ik (for its W) and C_jk; behind the off-diagonal targets
 * come the S_j, one a diagonal block. What a product has outside of the rows and columns that C_ij keeps is
 * lost.
 */
#pragma once

#include "plan/batch.h"
#include "plan/ldlt_plan.h"

typedef struct sd_ldlt_shape {
    int64_t entry;   /* of C */
    int64_t weighed; /* of W, height x rows of block `column` by columns */
    int32_t row, column;
    uint32_t rows, columns;
    uint8_t height, width, size; /* kept rows, kept columns, rows of block `column` */
    uint8_t unused[5];
} sd_ldlt_shape;

typedef struct sd_ldlt_pair {
    int32_t a, b;
} sd_ldlt_pair;

/* A part of the targets: the columns of some diagonal blocks, their off-diagonal blocks, where both lie. */
typedef struct sd_ldlt_part {
    int32_t block, block_end;
    int32_t shape, shape_end;
    int64_t entry, entry_end;
    int64_t square, square_end;
} sd_ldlt_part;

#define SD_LDLT_NOWHERE INT64_MIN

typedef struct sd_ldlt_schedule {
    int32_t blocks, count;             /* diagonal blocks; off-diagonal ones */
    int64_t entries, squares, weighed; /* numbers of C; of S and of G; of W */

    /* what kernels read: made on the host, or copies in the memory of a backend */
    const int32_t *start; /* the plan's, on the host */
    const int64_t *square;
    sd_ldlt_shape *shape;
    int64_t *first; /* count + blocks + 1 */
    int64_t *none;  /* the same where no target has a product */
    sd_ldlt_pair *pair;
    int64_t stored;    /* entries of the matrix */
    int64_t *target;   /* where each goes: C[target[k]], or S[-1 - target[k]], of which the lower triangle
                          counts,   or nowhere, SD_LDLT_NOWHERE: then its mirror image does */
    sd_batch_job *job; /* of the diagonal blocks of all parts */

    /* the host's: parts of each level, then of each chunk of a sweep, then all of it; and their diagonal
     * blocks */
    int32_t levels, chunks;
    sd_ldlt_part *part;
    sd_batch_plan *diagonal;
} sd_ldlt_schedule;

/* order[r] is the row of A at row r of the plan's blocks; A is laid out as that which values will come from.
 * The plan must outlive the schedule. On failure it holds nothing. */
saddle_status sd_ldlt_schedule_make(sd_context *c, const sd_ldlt_plan *plan, const sd_csr *A,
                                    const int32_t *order, sd_ldlt_schedule *s);
void sd_ldlt_schedule_free(sd_context *c, sd_ldlt_schedule *s);
