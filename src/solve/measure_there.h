/* The errors of an x that is in a device's memory, with b beside it, measured there: see measure.h. */
#pragma once

#include "backend/resident.h"
#include "solve/measure.h"

/* r = b - Ax, w = |A||x| and their norms, n numbers each, all on the device. *found is there after sd_wait.
 */
void sd_begin_measuring_there(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                              double *r, double *w, sd_resident_norms *found);

/* What was found, as errors; false where b is 0, or numbers are not finite or so far from 1 that it says
 * nothing. */
bool sd_found_there(const sd_resident_norms *found, double norm_inf, saddle_errors *errors,
                    double *share_of_b);

/* As sd_measure, of b and x on the host, which go to the device; *done where that could be. */
saddle_status sd_measure_there(sd_engine *e, const sd_operator *op, const double *b, const double *x,
                               double *residual, saddle_errors *errors, double *share_of_b, bool *done);
