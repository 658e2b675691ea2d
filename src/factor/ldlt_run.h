/*
 * A block LDL' on a pattern that is known, on any backend: by levels, exactly as it would be found with the
 * same pivots; or by Jacobi sweeps.
 *
 * The schedule (plan/ldlt_schedule.h) is copied once to where the work runs. After that a factorization with
 * new values needs the host only for launches.
 */
#pragma once

#include "factor/block_ldlt.h"

/* Moves what kernels read of a schedule to where they run; a backend in host memory reads it as it is. On
 * failure, e->status, it holds nothing. */
saddle_status sd_ldlt_schedule_place(sd_engine *e, sd_ldlt_schedule *s);
void sd_ldlt_schedule_unplace(sd_engine *e, sd_ldlt_schedule *s);

/* Room for all numbers of a factorization; scale is that of the n rows of the matrix. */
saddle_status sd_ldlt_numbers_make(sd_engine *e, const sd_ldlt_schedule *s, sd_precision precision, int32_t n,
                                   const double *scale, sd_ldlt_numbers *x);

/* x = the factors of A, level by level. */
saddle_status sd_ldlt_refactor(sd_engine *e, const sd_ldlt_schedule *s, const sd_sparse *A,
                               const sd_batch_rule *rule, sd_ldlt_numbers *x, sd_ldlt_counts *counts);

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
saddle_status sd_ldlt_run_sweeps(sd_engine *e, const sd_ldlt_schedule *s, const sd_sparse *A,
                                 const sd_sweep_rule *rule, bool *weak, sd_ldlt_numbers *x,
                                 sd_ldlt_counts *counts, double *residual);
