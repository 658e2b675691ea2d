/*
 * LDL' without fronts: the memory of a sequence's numbers, and what is done to them beside the kernels
 * (backend/simplicial.h).
 *
 * Nothing is pivoted there. What the sequence gives is checked instead: it is refused at the first |l| above
 * 1/u, or at a zero pivot, and then fronts find another sequence (factors.c). A factorization that was not
 * refused is as stable as one with threshold pivoting.
 */
#pragma once

#include "backend/simplicial.h"

/* A sequence's memory; variable and pair as in sd_sequence_make. */
saddle_status sd_simplicial_make(sd_context *c, const sd_tree *tree, int32_t *variable, const bool *pair,
                                 sd_simplicial **m);
void sd_simplicial_free(sd_context *c, sd_simplicial *m);
int64_t sd_simplicial_bytes(const sd_simplicial *m);
/* What it is expected to allocate; `again`: with the places of a sequence that is used again. */
int64_t sd_simplicial_predict(const sd_tree *tree, bool again);

/* D was changed at k: its inverse follows. */
void sd_simplicial_invert(sd_simplicial *m, int32_t k);
/* Columns k and, with v, k + 1 of L keep what they have along v; without it column k is 0. */
void sd_simplicial_clear(sd_simplicial *m, int32_t k, const double *v);
/* max |l|; NaN where there is one. */
double sd_simplicial_largest(const sd_simplicial *m);
