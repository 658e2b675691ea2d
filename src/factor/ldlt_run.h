/*
 * A block LDL' on a pattern that is known, on any backend: by levels, exactly as it would be found with the
 * same pivots; or by Jacobi sweeps.
 *
 * The plan is laid down on the host once a pattern and copied to where the work runs: off-diagonal blocks as
 * targets with their products, the diagonal blocks of each level as a batch, and where the entries of the
 * matrix go. After that a factorization with new values asks the host for nothing but launches.
 */
#ifndef SD_LDLT_RUN_H
#define SD_LDLT_RUN_H

#include "factor/block_ldlt.h"

typedef struct sd_ldlt_runner {
    const sd_ldlt_plan *plan;
    sd_ldlt_run run;        /* in the backend's memory */
    const int64_t *nothing; /* run.first where no target has a product */
    sd_ldlt_map map;
    /* parts of each level, then of each chunk of sweeps, then all of it; of the host */
    int32_t chunks;
    sd_ldlt_part *part;
    sd_batch_plan *diagonal; /* their diagonal blocks, likewise; the jobs are the backend's */
    sd_batch_job *jobs;      /* of all levels, of all chunks, of all of it */
    int64_t entries, squares, weighed, pairs;
} sd_ldlt_runner;

/* order[r] is the row of A at row r of the plan's blocks, scale that of A's rows (NULL: ones); A is the
 * operator that values will come from, on the host. On failure nothing is kept. */
saddle_status sd_ldlt_runner_make(sd_engine *e, const sd_ldlt_plan *plan, const sd_csr *A,
                                  const int32_t *order, const double *scale, sd_ldlt_runner *r);
void sd_ldlt_runner_free(sd_engine *e, sd_ldlt_runner *r);

/* Room for all numbers of a factorization. */
saddle_status sd_ldlt_numbers_make(sd_engine *e, const sd_ldlt_runner *r, sd_precision precision,
                                   sd_ldlt_numbers *x);
void sd_ldlt_numbers_free(sd_engine *e, sd_ldlt_numbers *x);

/* x = the factors of A, level by level. */
saddle_status sd_ldlt_refactor(sd_engine *e, sd_ldlt_runner *r, const sd_sparse *A, const sd_batch_rule *rule,
                               sd_ldlt_numbers *x, sd_ldlt_counts *counts);

/*
 * Sweeps: all targets are made at once from the C and G that are there (Jacobi), or, `rows`, chunk by chunk
 * of block rows of L' from the latest (Gauss-Seidel among the chunks), until they no longer change; in exact
 * arithmetic they are exact after as many sweeps as there are levels. The first sweep begins at C = 0: it
 * gives C = A, and the inverses of A's own diagonal blocks.
 */
typedef struct sd_sweep_rule {
    sd_batch_rule pivots; /* those of the first sweep */
    double relax;         /* the least pivot is multiplied by it after each sweep */
    int sweeps;
    bool rows;
    bool early; /* end after the first sweep where that finds small pivots */
} sd_sweep_rule;

/* *residual = max |A - (C G + I) S (C G + I)'| on the pattern at the end, pivots as they were before any was
 * moved away from 0; infinite where something is not finite, or where it ended early. weak, of `blocks`, says
 * which diagonal blocks had small pivots in the last sweep. */
saddle_status sd_ldlt_run_sweeps(sd_engine *e, sd_ldlt_runner *r, const sd_sparse *A,
                                 const sd_sweep_rule *rule, bool *weak, sd_ldlt_numbers *x,
                                 sd_ldlt_counts *counts, double *residual);

#endif
