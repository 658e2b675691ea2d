/* Columns of a device's memory on the host, where nothing else would do. */
#pragma once

#include "solver/solver.h"

typedef struct sd_staged {
    double *memory;
    const double *b;
    double *x;
    int64_t ldb, ldx;
} sd_staged;

/* to->b and to->x are on the host: the caller's own, or copies, of which x holds nothing yet. `to->memory` is
 * to be freed where this fails. */
saddle_status sd_stage_columns(const saddle_solver *solver, sd_engine *e, int64_t nrhs, const double *b,
                               int64_t ldb, double *x, int64_t ldx, sd_staged *to);
/* Answers go to where the caller wants them. */
void sd_unstage_columns(const saddle_solver *solver, sd_engine *e, int64_t nrhs, double *x, int64_t ldx,
                        sd_staged *from);
