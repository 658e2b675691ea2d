/*
 * The two triangles of an incomplete factorization (factor/incomplete.h) in the memory of a backend and in a
 * precision, for exact and swept solves: L and L', which shares the numbers of L, or L and U. On a device L'
 * has a copy of them in the order of its rows: found by number each would cost the 32 bytes of a sector.
 *
 * Where levels are wide and no blocks are wanted, rows are renumbered, those of one level after those of the
 * one before: then a level reads its numbers one after the other, those of the vector that it needs are near
 * each other, and threads share rows by rank without waiting for whole levels. The levels are those of L and
 * U' together, so that both stay triangular; frames hide it.
 */
#pragma once

#include "backend/backend.h"
#include "factor/incomplete.h"
#include "plan/trisolve_work.h"

/* A triangle's pattern, on the host. */
typedef struct sd_triangle_layout {
    sd_pattern pattern;
    int32_t *source; /* number of each entry in the values of the factorization; NULL: its own */
    int32_t *from;   /* of L': see sd_triangle */
    int32_t *level, *row;
    int64_t *split;
} sd_triangle_layout;

typedef struct sd_triangles {
    sd_triangle lower, upper;
    sd_frame enter, leave; /* of sd_triangles_frame */
    int32_t block_levels;  /* sweeps over blocks that are exact */
    int64_t bytes;         /* in the backend's memory, frames included */

    bool symmetric;
    int32_t *order; /* row k is row order[k] of the factorization; NULL: k */
    sd_triangle_layout layout[2];
    int32_t *start;
    int64_t *square;
} sd_triangles;

/* Rows by levels of L and U' together, ascending in each: level has levels + 1 numbers, as sd_pattern_levels
 * has them. Both are to be freed with sd_free. */
saddle_status sd_incomplete_levels(sd_context *c, const sd_incomplete *m, int32_t *levels, int32_t **level,
                                   int32_t **order);

/* With blocks of rows start[q] .. start[q+1]), or without where `blocks` is 0. *t is empty, or zeros; on
 * failure too. Where m has no numbers yet, these are still to be filled in. */
saddle_status sd_triangles_make(sd_engine *e, const sd_incomplete *m, sd_precision precision, int32_t blocks,
                                const int32_t *start, sd_triangles *t);

/* New numbers of a factorization of the same pattern, in the same memory. */
saddle_status sd_triangles_values(sd_engine *e, const sd_incomplete *m, sd_triangles *t);

/* How vectors enter, or leave: row k of the factorization is row order[k] of the matrix (NULL: k), which is
 * scaled by sign * scale[order[k]] 2^exponent (NULL: 1). */
saddle_status sd_triangles_frame(sd_engine *e, bool leave, const int32_t *order, const double *scale,
                                 int exponent, int sign, sd_triangles *t);
void sd_triangles_free(sd_engine *e, sd_triangles *t);

/* What solves with them have to do: sweeps over blocks where there are some, else over entries. */
sd_trisolve_work sd_triangles_work(const sd_triangles *t);

/* The most sweeps over each triangle that a GPU makes in the time of an exact solve. */
int sd_triangles_sweeps_worth(const sd_triangles *t);

/*
 * How far L is from its diagonal: the mean over rows of sum |l_ij| / |l_ii|, and over rows of blocks of
 * sum |L_ij| |L_ii^-1|, both norms Frobenius' (E. Chow and others, section 3.3); NaN without blocks.
 */
void sd_incomplete_dominance(const sd_incomplete *m, int32_t blocks, const int32_t *start, double *entries,
                             double *of_blocks);
