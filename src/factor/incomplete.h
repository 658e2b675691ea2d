/*
 * Incomplete factorizations of a matrix that is scaled and in its order of elimination, on the host and in
 * double: L L' of a symmetric one, L U of a general one. L is by rows, and so is U; L' is not stored.
 *
 * How they come about is in files of their own:
 *
 *     incomplete_ic.c    IC(k), and IC on any pattern that is given
 *     incomplete_ilu.c   ILU(k), likewise
 *     incomplete_ict.c   entries above a threshold, columns of L one after the other
 *     incomplete_ilut.c  the same for L U, by rows
 *     fixed_point.c      all entries at once, sweep by sweep (ParIC, ParILU)
 *     fixed_point_fill.c the same on a pattern that grows and is cut back (ParICT, ParILUT)
 *
 * It breaks down where a pivot is not positive or a rounding error (L L'), is zero or very small (L U), or a
 * number is not finite. Then B + shift S is factored instead, S the diagonal matrix of the largest entry of
 * each row in magnitude (in L U with the sign of the diagonal entry), with a shift that begins at
 * SD_SHIFT_FIRST and doubles (C.-J. Lin and J. More', Incomplete Cholesky factorizations with limited memory,
 * 1999, section 4), until it does not; `shift` says which it was, `restarts` how often it began again. The
 * shift makes L L' of a matrix with a negative diagonal a multiple of S and nothing else, so that is better
 * given as its negative (sd_prepared_turn).
 */
#pragma once

#include "plan/level_fill.h"

#include <float.h>

typedef struct sd_incomplete {
    bool symmetric; /* L L'; U is not there then */
    int32_t n;
    sd_pattern lower;  /* strictly */
    double *lower_val; /* of L; that of L U has a diagonal of ones */
    sd_pattern upper;  /* strictly; of L U only */
    double *upper_val;
    double *diagonal; /* that of L, all positive; that of U, none 0 */

    double shift;
    int restarts;
    double flops;    /* of all tries; NaN: not counted */
    int sweeps;      /* of a fixed-point iteration; 0: it was none */
    double residual; /* of that: |A - L U| over the pattern, relative to |A| there, both in the 1-norm */
} sd_incomplete;

/* Which entries are kept, and how numbers are computed. */
typedef struct sd_incomplete_rule {
    int level;   /* of fill; -1: by threshold */
    double tau;  /* entries of a row of L U, or of a column of L in L L', below tau times the 2-norm of that
                  * row  of B are dropped, all before they are divided by a pivot */
    double most; /* entries kept of a row, by threshold: the largest, so many for each entry that B has there
                  * off the diagonal; of L so many for each that B has in that part, or for half of all */
    bool swept;  /* fixed-point sweeps instead of elimination; tau and most are then of the whole matrix:
                  * see fixed_point.h */
    int sweeps;  /* at most so many; of each step, where the pattern changes */
    int threads;
} sd_incomplete_rule;

#define SD_SHIFT_FIRST 1e-3

/* Of B: whole, columns ascending, values finite, largest entries of about 1; `symmetric` says that B is, and
 * that L L' is to be made. On failure *m may be freed all the same. */
saddle_status sd_incomplete_make(sd_context *c, const sd_csr *B, bool symmetric,
                                 const sd_incomplete_rule *rule, sd_incomplete *m);

/* The pattern of a level of fill, without numbers; the rule is not one by threshold. */
saddle_status sd_incomplete_pattern(sd_context *c, const sd_csr *B, bool symmetric,
                                    const sd_incomplete_rule *rule, sd_incomplete *m);

/* New values of the same pattern on the pattern that there is; where it was found by a threshold it is kept.
 */
saddle_status sd_incomplete_again(sd_context *c, const sd_csr *B, const sd_incomplete_rule *rule,
                                  sd_incomplete *m);
void sd_incomplete_free(sd_context *c, sd_incomplete *m);
