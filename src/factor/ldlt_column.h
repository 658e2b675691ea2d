/* One thread's workspace for a column of a block LDL': what the column meets, and the accumulators of it. */
#pragma once

#include "factor/block_ldlt.h"

/* A block that a column meets, while it is at work. */
typedef struct sd_ldlt_met {
    uint32_t rows, columns;     /* where something may stand */
    uint32_t a_rows, a_columns; /* where A has an entry */
    int32_t level;
    uint8_t height, width; /* of what is kept of it */
} sd_ldlt_met;

typedef struct sd_ldlt_workspace {
    const sd_ldlt_kernels *k;
    sd_precision precision;
    /* of the blocks that the column meets; place is -1 for all others, between two columns for all */
    int64_t *place;
    sd_ldlt_met *met;
    int32_t *touched, count;
    int64_t *key; /* to sort by */

    sd_ldlt_term *term; /* earlier columns that the column meets, by position */
    int32_t terms, term_room;

    void *accumulators;
    int64_t room; /* of them, in numbers */
    int64_t *index;
    double *value;
    int64_t entry_room; /* of index and value */
    void *v;            /* G C' of a term */
} sd_ldlt_workspace;

saddle_status sd_ldlt_workspace_make(sd_context *c, const sd_block_matrix *B, sd_precision precision,
                                     bool reference, sd_ldlt_workspace *workspace);
void sd_ldlt_workspace_free(sd_context *c, sd_ldlt_workspace *workspace);

/* The column now meets block i. */
static inline void sd_ldlt_touch(sd_ldlt_workspace *d, int32_t i)
{
    if (d->place[i] >= 0) return;
    d->place[i] = 0;
    d->met[i] = (sd_ldlt_met){.level = INT32_MAX};
    d->touched[d->count++] = i;
}

/* Room for one more term; NULL where there is no memory. */
sd_ldlt_term *sd_ldlt_term_new(sd_context *c, sd_ldlt_workspace *d);

/* Sorts the terms by position; cheap where they come in nearly the reverse of it. */
void sd_ldlt_sort_terms(sd_ldlt_workspace *d);

/* Sorts `count` block numbers by position. */
void sd_ldlt_sort(sd_ldlt_workspace *d, const int32_t *position, int32_t count, int32_t *blocks);

/* Touches the blocks beyond j that A couples with j, and marks where. */
void sd_ldlt_meet_matrix(const sd_block_matrix *B, const int32_t *position, int32_t j, sd_ldlt_workspace *d);

/* Gives every touched block its accumulator, with the entries of A in it: blocks a_ij, j the column. */
saddle_status sd_ldlt_accumulate(sd_context *c, const sd_block_matrix *B, int32_t j, sd_ldlt_workspace *d);

/* Subtracts all terms from the accumulators, that of j with them where it is touched and the tails begin
 * with C_jk. Returns the operations that it took. */
double sd_ldlt_subtract(const sd_block_matrix *B, int32_t j, sd_ldlt_workspace *d);

/* The inverse of one symmetric block of `size` rows, by columns without gaps, and its pivots. */
sd_batch_state sd_ldlt_invert(sd_engine *e, const sd_batch_rule *rule, int size, sd_precision precision,
                              void *block, void *inverse);

/* The column is done: nothing is touched any more. */
void sd_ldlt_clear(sd_ldlt_workspace *d);

static inline const void *sd_ldlt_accumulator(const sd_ldlt_workspace *d, int32_t i)
{
    return (const char *)d->accumulators + d->place[i] * (int64_t)sd_precision_size(d->precision);
}
