/*
 * A block LDL' on a pattern that is known, on any backend: by levels, exactly as it would be found with the same
 * pivots; or by Jacobi sweeps.
 *
 * The plan is laid down on the host once a pattern and copied to where the work runs: off-diagonal blocks as
 * targets with their products, the diagonal blocks of each level as a batch, and where the entries of the matrix
 * go. After that a factorization with new values asks the host for nothing but launches.
 */
#ifndef SD_LDLT_RUN_H
#define SD_LDLT_RUN_H

#include "factor/block_ldlt.h"

typedef struct sd_ldlt_runner {
    const sd_ldlt_plan *plan;
    sd_ldlt_run run; /* in the backend's memory */
    sd_ldlt_map map;
    sd_ldlt_part *part;      /* of each level, then all of it: levels + 1; of the host */
    sd_block_plan *diagonal; /* likewise; their jobs are the backend's */
    sd_block_job *jobs;      /* of all levels, then once more by size alone; the backend's */
    int64_t entries, squares, weighed, pairs;
} sd_ldlt_runner;

/* order[r] is the row of A at row r of the plan's blocks, scale that of A's rows (NULL: ones); A is the operator
 * that values will come from, on the host. On failure nothing is kept. */
saddle_status sd_ldlt_runner_make(sd_engine *e, const sd_ldlt_plan *plan, const sd_csr *A, const int32_t *order,
                                  const double *scale, sd_ldlt_runner *r);
void sd_ldlt_runner_free(sd_engine *e, sd_ldlt_runner *r);

/* Room for all numbers of a factorization. */
saddle_status sd_ldlt_numbers_make(sd_engine *e, const sd_ldlt_runner *r, sd_precision precision,
                                   sd_ldlt_numbers *x);
void sd_ldlt_numbers_free(sd_engine *e, sd_ldlt_numbers *x);

/* x = the factors of A, level by level. */
saddle_status sd_ldlt_refactor(sd_engine *e, sd_ldlt_runner *r, const sd_sparse *A, const sd_block_rule *rule,
                               sd_ldlt_numbers *x, sd_ldlt_counts *counts);

#endif
