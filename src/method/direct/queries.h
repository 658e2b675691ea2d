/* The factors of the direct solver as the caller sees them: see queries.c, and saddle.h. */
#pragma once

#include "method/direct/direct.h"

saddle_status sd_direct_part(sd_context *c, const sd_direct *d, saddle_part part, int64_t nrhs, double *x,
                             int64_t ldx, int threads);
void sd_direct_get_order(const sd_direct_plan *plan, int32_t *order);
saddle_status sd_direct_get_pivots(sd_context *c, const sd_direct *d, int32_t *order, double *pivots);
/* L by columns in the order of the pivots, as saddle_get_l says: lower.c. */
saddle_status sd_direct_get_l(sd_context *c, const sd_direct *d, int64_t *pointers, int32_t *indices,
                              double *values);
void sd_direct_get_scaling(const sd_direct *d, double *scale);
saddle_status sd_direct_set_d(sd_context *c, sd_direct *d, const double *pivots);

/* An estimate of |A| |A^-1| in the 1-norm, of which the first is given: condition.c. */
saddle_status sd_direct_condition(sd_context *c, const sd_direct *d, double norm, int threads,
                                  double *condition);
