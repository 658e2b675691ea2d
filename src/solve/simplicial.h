/* Solves with factors that have no fronts: see triangular.h, which calls this. */
#pragma once

#include "factor/simplicial.h"

/* X = (the parts of) (L D L')^-1 X for k columns, row by row in the order of the sequence. */
void sd_simplicial_solve(const sd_simplicial_kernels *kernels, const sd_simplicial *m, int parts, int32_t k,
                         double *x);
