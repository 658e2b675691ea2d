/* Block LDL' as a preconditioner, in the memory of a backend. */
#ifndef SD_LDLT_PRECONDITIONER_H
#define SD_LDLT_PRECONDITIONER_H

#include "factor/block_ldlt.h"
#include "factor/preconditioner.h"

typedef struct sd_block_ldlt {
    saddle_preparation preparation; /* block_start is NULL before there is one */
    sd_ldlt_plan plan;
    sd_ldlt_values values;
    int32_t *order;  /* row of A at each row of the plan's blocks */
    sd_vector scale; /* of each of them */
    sd_ldlt_factors factors;
} sd_block_ldlt;

/* Lays out plan, values and scaling for solves. */
saddle_status sd_ldlt_place(sd_engine *e, sd_block_ldlt *m);

/* All but the preparation. */
void sd_block_ldlt_free(sd_engine *e, sd_block_ldlt *m);

/* One solve's view of it. */
typedef struct sd_ldlt_inverse {
    const sd_ldlt_factors *factors;
    sd_vector work; /* 2 n numbers */
} sd_ldlt_inverse;

sd_preconditioner sd_ldlt_preconditioner(const sd_ldlt_inverse *m);

#endif
