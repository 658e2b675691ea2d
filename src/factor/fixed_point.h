/*
 * Incomplete factors by a fixed-point iteration: all entries at once, sweep by sweep, instead of row after
 * row (E. Chow and A. Patel, Fine-grained parallel incomplete LU factorization, 2015). The mathematics is in
 * fixed_point_sweep.h.
 *
 * What breaks down, or diverges, begins again with a shift (incomplete.h). Residuals of the sweeps are told
 * as progress, their operations are those that m counts. Factors have the same bits at any number of threads.
 */
#pragma once

#include "factor/incomplete.h"

/* On the pattern that m has (of L; of L U both), for B as in incomplete.h. m gets its numbers, in the arrays
 * that it has, or in new ones where it has none. O(sweeps (entries of L times those of a row)). */
saddle_status sd_fixed_point(sd_context *c, const sd_csr *B, bool symmetric, const sd_incomplete_rule *rule,
                             sd_incomplete *m);

/*
 * On a pattern that is found by thresholds: ParICT and ParILUT (H. Anzt, E. Chow and J. Dongarra, ParILUT - a
 * new parallel threshold ILU factorization, 2018). What m had is forgotten, not freed.
 *
 * The size of an entry is |c_ij| / sqrt(|d_i d_j|), c its number before it is divided by a pivot, d the
 * pivots: that is the same for L and U, and for B whatever its symmetric scaling. Entries below rule->tau are
 * dropped; of the others the largest are kept, of the whole matrix and not of each row: at most rule->most
 * for every entry that B has off its diagonal.
 */
saddle_status sd_fixed_point_fill(sd_context *c, const sd_csr *B, bool symmetric,
                                  const sd_incomplete_rule *rule, sd_incomplete *m);
