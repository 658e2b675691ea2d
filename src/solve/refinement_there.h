/* Refinement (refinement.h) of columns in a device's memory: they never leave it. */
#pragma once

#include "solve/refinement.h"

/* Z = A^-1 R for k columns on the device; Z may be R. */
typedef saddle_status (*sd_there_solver)(sd_engine *e, const void *self, int64_t k, const double *r,
                                         int64_t ldr, double *z, int64_t ldz);

/* X of k columns, which are not B's. *measured is false where numbers are so far from 1 that they would have
 * to be scaled first, are no numbers, or a column of B is 0: then X may be anything. The rider, or NULL, is
 * on the host. */
saddle_status sd_solve_refined_there(sd_engine *e, sd_there_solver solve, const void *self,
                                     const sd_operator *op, int64_t k, const double *b, int64_t ldb,
                                     double *x, int64_t ldx, bool corrections, sd_answer *answers,
                                     sd_rider *rider, bool *measured);
