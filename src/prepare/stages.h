/* One preparation as its stages share it: values (match_scale.c), then structure (choose.c). */
#pragma once

#include "prepare/etree.h"
#include "prepare/matching.h"
#include "prepare/pairs.h"

typedef struct sd_preparing {
    sd_context *c;
    const sd_csr *A;
    bool symmetric;
    const saddle_options *options;
    const saddle_given *given;
    saddle_preparation *p;

    int32_t *partner; /* symmetric: pairs that may be kept; NULL: none */
    bool keep_pairs;  /* whether they are, where that is decided already, or whether many rows need them */
    bool undecided;   /* otherwise */
    bool columns;     /* the factorization may do without fronts: then a sparse L is worth more than pairs */
    int32_t *new_row; /* general: where each row of A goes, matched entries to the diagonal; NULL: it stays */
    sd_graph graph;   /* of the rows */
    sd_elimination tree; /* of the order */
    double clock;        /* when the stage at work began */
} sd_preparing;

/* Matching and scaling, then t->partner or t->new_row, and what the values say about keeping pairs. */
saddle_status sd_stage_values(sd_preparing *t);

/* The order with its elimination tree, and the blocks, with the choices that were left to `auto`; needs
 * t->graph. */
saddle_status sd_stage_order(sd_preparing *t);

/* Adds the seconds since the last call to *time. */
void sd_stage_tick(sd_preparing *t, double *time);

/* Whether the order is the user's or the natural one. */
bool sd_order_is_given(const saddle_options *o);

/* Whether a blocking groups vertices before they are ordered, rather than cut an order that is there. */
bool sd_blocks_first(int blocking);
