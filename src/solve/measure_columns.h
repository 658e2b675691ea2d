/* The errors of several solutions at once. See measure.h for what they are. */
#pragma once

#include "backend/cpu/cpu.h"
#include "solve/measure.h"

typedef struct sd_columns {
    const sd_csr *A; /* with all its entries; NULL: columns are measured one by one */
    sd_csr whole;
    bool owned; /* whole is a copy */
    double norm_inf;
    double *b, *x, *r, *w; /* n x SD_COLUMNS each, by rows */
} sd_columns;

/* A solution to be measured, and what is found. residual, of n, may be NULL. */
typedef struct sd_column {
    const double *b, *x;
    double *residual;
    saddle_errors errors;
    double share_of_b;
} sd_column;

/* Makes ready for `many` columns; for few it is not worth it, and nothing is allocated. */
saddle_status sd_columns_begin(sd_engine *e, const sd_operator *op, int64_t many, sd_columns *m);
void sd_columns_end(sd_context *c, sd_columns *m);

/* Measures at most SD_COLUMNS of them. */
saddle_status sd_columns_measure(sd_engine *e, const sd_operator *op, sd_columns *m, int count,
                                 sd_column *columns);
