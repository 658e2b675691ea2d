/* Block LDL' as a preconditioner, in the memory of a backend. */
#pragma once

#include "factor/ldlt_run.h"
#include "factor/trisolve.h"

typedef struct sd_block_ldlt {
    const saddle_preparation *preparation; /* scaling, order and blocks: the plan of the method */
    int shift;    /* the factors are those of R A R 2^-shift, R that of the preparation: even */
    int exponent; /* rows are scaled by R 2^(exponent/2), for vectors, and a matrix, in units of a solve */
    sd_ldlt_plan plan;
    sd_ldlt_schedule schedule; /* of a run on the plan, where there was one */
    sd_ldlt_numbers numbers;
    bool placed;  /* the numbers are in the backend's memory; else the host's, as they were found */
    double tau;   /* threshold that the plan was made with */
    double small; /* least pivot that its numbers were made with, of the largest entry; 0: as options say */
    int64_t pushed_back;
    double residual; /* of sweeps, on the pattern */
    bool fallback;
    bool positive; /* all pivots are positive */

    sd_ldlt_factors factors; /* for solves */
    sd_trisolve trisolve;    /* as the solver decided */
    sd_batch below;          /* factors.below; without a plan */
    sd_batch_plan signs_plan;
    sd_batch_factors signs; /* factors.signs, where they are there */
    int32_t *order;         /* row of A at each row of the plan's blocks */
    sd_vector scale;        /* of each of them */
} sd_block_ldlt;

/* Makes ready to factor on the plan that is there, whose numbers go; layout is the matrix as the operator
 * stores it. */
saddle_status sd_ldlt_begin_run(sd_engine *e, sd_block_ldlt *m, const sd_csr *layout, sd_precision precision);

/* Gives back the numbers, and what a run on the plan needs. */
void sd_ldlt_end_run(sd_engine *e, sd_block_ldlt *m);

/* Lays out plan, scaling and numbers for solves. */
saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m);

/* N of every diagonal block, for sweeps over single entries; after sd_ldlt_place. Blocks are factored by this
 * LDL' kernel; one that cannot be is taken whole. */
saddle_status sd_ldlt_place_entries(sd_engine *e, sd_batch_kernel kernel, sd_block_ldlt *m);

/* ---- ldlt_absolute.c: |S| in place of S ---- */

/* The signs of all diagonal blocks, which make solves positive definite; after sd_ldlt_place. */
saddle_status sd_ldlt_place_signs(sd_engine *e, sd_block_ldlt *m);
void sd_ldlt_unplace_signs(sd_engine *e, sd_block_ldlt *m);

/* All but the preparation, which is not its own. */
void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m);

/*
 * How far the factors are from the scaled matrix, all of whose entries A has: max |A - L D L'| on the pattern
 * relative to its largest entry, and |A - L D L'| / |A| in the infinity norm, on the pattern and off it. As
 * much work as a factorization without dropping a second time; on the host.
 */
saddle_status sd_ldlt_check(sd_engine *e, const sd_block_ldlt *m, const sd_csr *A, double *pattern,
                            double *all);
