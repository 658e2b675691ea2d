/*
 * What a block LDL' takes: seconds of its solves and of its factorization on a known pattern, by levels and
 * by sweeps, predicted from the plan and a few constants of the machine.
 *
 * The terms are those that the schedules have. With B the bytes that a solve reads, on a GPU
 *
 *     exact solve       2 launches + levels x hop + B / rate          a level waits for one before it
 *     a sweep each way  2 launches + B / rate + longest x step        the longest row is read by one sub-warp
 *     by levels         launches of all levels + products and blocks
 *     N sweeps          N (launches of one level + products and blocks at once)
 *
 * and on a CPU the same work is shared by threads, where a level has enough of it, with a barrier each.
 * Constants are fitted to measured times (docs/ldlt.md says how well); they decide nothing but which of two
 * schedules is taken, and a factor of two in them is of no harm.
 */
#ifndef SD_LDLT_COST_H
#define SD_LDLT_COST_H

#include "factor/block_ldlt.h"

/* What a plan has to do. */
typedef struct sd_ldlt_work {
    int32_t rows; /* of blocks */
    int32_t levels;
    int32_t wide;    /* levels that threads share: those with lists of SD_LDLT_THIN blocks or more */
    double bytes;    /* that a solve reads: C, G and the vectors for both triangles, and the lists */
    double thin;     /* the part of them that stands on the other levels */
    double longest;  /* columns that the longest rows of both triangles read one after the other */
    double batches;  /* of diagonal blocks: for each level those of up to 4, 8, 16 and 32 rows */
    int sizes;       /* the same for all of them at once */
    double blocks;   /* off and on the diagonal */
    double products; /* of blocks, in a factorization; 0 where they were not counted */
} sd_ldlt_work;

/* products: the pairs of a sd_ldlt_runner, or 0 where a factorization is of no interest. */
sd_ldlt_work sd_ldlt_work_of(const sd_ldlt_plan *plan, int64_t products, sd_precision precision);

/* A machine: device is SADDLE_DEVICE_CUDA or another; threads are the CPU's. */
typedef struct sd_ldlt_machine {
    int device, threads;
} sd_ldlt_machine;

/* Seconds. A solve is of both triangles; N sweeps are N over each. */
double sd_ldlt_cost_exact(sd_ldlt_machine m, const sd_ldlt_work *w);
double sd_ldlt_cost_swept(sd_ldlt_machine m, const sd_ldlt_work *w, int sweeps);
double sd_ldlt_cost_levels(sd_ldlt_machine m, const sd_ldlt_work *w);
double sd_ldlt_cost_sweeps(sd_ldlt_machine m, const sd_ldlt_work *w, int sweeps);

/* The most sweeps over each triangle that take no longer than an exact solve, and no more than there are
 * levels, as so many are exact; 0: not even one. */
int sd_ldlt_sweeps_worth(sd_ldlt_machine m, const sd_ldlt_work *w);

#endif
