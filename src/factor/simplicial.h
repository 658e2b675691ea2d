/*
 * LDL' without fronts: the numbers of a sequence of pivots that is known in advance (plan/sequence.h), row by
 * row.
 *
 * Nothing is pivoted here. What the sequence gives is checked instead: it is refused at the first |l| above
 * 1/u, or at a zero pivot, and then fronts find another sequence (factors.c). A factorization that was not
 * refused is as stable as one with threshold pivoting.
 *
 * Row k of L solves a triangular system with the rows before it (T. A. Davis, Direct methods for sparse
 * linear systems, 2006, section 4.8; the 2x2 pivots are added here).
 */
#pragma once

#include "backend/front.h"
#include "plan/sequence.h"

typedef struct sd_simplicial {
    sd_sequence s;
    double *l;       /* of the nodes, as s.row */
    double *d;       /* 2 n, by k, as in a front */
    double *inverse; /* 2 n, of D, likewise */
    double *y;       /* n, 0 but for the row at work */
    double least;    /* no eigenvalue of D was smaller in size */
} sd_simplicial;

/* A sequence's memory; variable and pair as in sd_sequence_make. */
saddle_status sd_simplicial_make(sd_context *c, const sd_tree *tree, int32_t *variable, const bool *pair,
                                 sd_simplicial **m);
void sd_simplicial_free(sd_context *c, sd_simplicial *m);
int64_t sd_simplicial_bytes(const sd_simplicial *m);
/* What it is expected to allocate. */
int64_t sd_simplicial_predict(const sd_tree *tree);

/* Factors the values, which are numbered as the tree's entries. False where a number breaks the rule: then
 * there are no factors. Static pivots and positive ones are 1x1. */
bool sd_simplicial_run(sd_simplicial *m, const double *values, const sd_pivoting *rule, sd_pivots *pivots);

/* D was changed at k: its inverse follows. */
void sd_simplicial_invert(sd_simplicial *m, int32_t k);
/* Columns k and, with v, k + 1 of L keep what they have along v; without it column k is 0. */
void sd_simplicial_clear(sd_simplicial *m, int32_t k, const double *v);
/* max |l|; NaN where there is one. */
double sd_simplicial_largest(const sd_simplicial *m);
