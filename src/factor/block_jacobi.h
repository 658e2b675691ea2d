/* The diagonal blocks of a matrix as a preconditioner. */
#pragma once

#include "backend/batch_memory.h"

/* Which of the rows of the matrix are blocks, and what is to become of them. All arrays are the host's. */
typedef struct sd_block_request {
    sd_batch_kernel kernel;
    int precision; /* to keep the blocks in: SADDLE_BLOCK_PRECISION_..., never more than the matrix's own */
    int largest;   /* floor(log2 |a|) of the largest entry of the matrix */
    bool absolute; /* the blocks' absolute values, of an LDL' kernel */
    int32_t blocks;
    const int32_t *start;           /* first row of each block, then n: blocks + 1 of them */
    const int32_t *source, *target; /* row r of the blocks is row source[r] of the matrix, column target[r] */
} sd_block_request;

/* Blocks in one precision. */
typedef struct sd_block_part {
    sd_batch_plan plan;
    sd_batch_factors factors;
} sd_block_part;

typedef struct sd_block_jacobi {
    sd_block_part part[SD_PRECISIONS]; /* a part without blocks is not there */
    sd_batch_kernel kernel;
    int exponent; /* the blocks are those of the matrix times 2^-exponent */
    bool positive;
    int32_t blocks, largest;     /* rows of the largest block */
    int64_t entries, two_by_two; /* in all blocks; pivots */
    int64_t replaced[3];         /* blocks, by SD_BLOCK_SINGULAR - 1 ... */
    int32_t first_replaced;      /* the lowest number of them, -1: none */
    int64_t flops, bytes;
} sd_block_jacobi;

/*
 * Takes the diagonal blocks out of A (in the memory of e's backend), and factors or inverts each. A block
 * that cannot be is replaced by its scaled identity and counted. On failure nothing is kept.
 */
saddle_status sd_block_jacobi_make(sd_engine *e, const sd_sparse *A, const sd_block_request *q,
                                   sd_block_jacobi *m);
void sd_block_jacobi_free(sd_engine *e, sd_block_jacobi *m);

/* z = M^-1 r, in the precision of A. */
void sd_block_jacobi_apply(sd_engine *e, const sd_block_jacobi *m, const sd_vector *r, sd_vector *z);

/* ---- block_jacobi_transposed.c: z = M'^-1 r on the host, of kernels that are not symmetric ---- */

/* The blocks on the host: themselves, or copies, to be dropped whether this fails or not. */
saddle_status sd_block_jacobi_bring(sd_engine *e, const sd_block_jacobi *from, sd_block_jacobi *to);
void sd_block_jacobi_drop(sd_engine *e, sd_block_jacobi *m);
void sd_block_jacobi_transposed(const sd_block_jacobi *m, const double *r, double *z);
