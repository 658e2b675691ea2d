/* Solves with a block LDL' in the memory of a backend. */
#pragma once

#include "factor/ldlt_preconditioner.h"

/* One solve's view of it. */
typedef struct sd_ldlt_inverse {
    const sd_ldlt_factors *factors;
    sd_trisolve trisolve;
    sd_vector work[3]; /* 2 n numbers, and where swept two more of n or 2 n */
} sd_ldlt_inverse;

/* Takes what applications need; *m may be freed whether that failed or not. */
saddle_status sd_ldlt_inverse_make(sd_engine *e, const sd_block_ldlt *ldlt, sd_trisolve how,
                                   sd_ldlt_inverse *m);
void sd_ldlt_inverse_free(sd_engine *e, sd_ldlt_inverse *m);

/* z = M^-1 r */
void sd_ldlt_apply(sd_engine *e, const sd_ldlt_inverse *m, const sd_vector *r, sd_vector *z);

/* *apart = |z - y| / |y| in the infinity norm, z a vector of signs with so many sweeps over the blocks of
 * each triangle, y with exact solves; infinite where something is not finite. */
saddle_status sd_ldlt_try_sweeps(sd_engine *e, const sd_block_ldlt *ldlt, int sweeps, double *apart);
