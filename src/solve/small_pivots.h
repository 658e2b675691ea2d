/* Pivots that may be rounding, looked at in twice the precision. See small_pivots.c. */
#ifndef SD_SMALL_PIVOTS_H
#define SD_SMALL_PIVOTS_H

#include "solve/direct.h"

/* Settles the small pivots of a factorization of M (the matrix that was factored, in the caller's units), and
 * corrects the counts of signs in d. */
saddle_status sd_settle_small_pivots(sd_context *c, const sd_csr *M, sd_direct *d);

#endif
