/* Which pivots of a factorization are nothing but rounding. See rank.c. */
#ifndef SD_RANK_H
#define SD_RANK_H

#include "factor/multifrontal.h"

/* A pivot that may be rounding: where it is, and its size. */
typedef struct sd_suspect {
    int32_t front, column; /* the first of the two, in a 2x2 pivot */
    int32_t position[2];   /* its variables; the second -1 in a 1x1 pivot */
    double vector[2];      /* eigenvector */
    double eigenvalue;
    double column_norm; /* of its column of L, the unit diagonal with it */
} sd_suspect;

/* Those whose |eigenvalue| is at most `limit`, the smallest first, at most `most` of them (array of the
 * caller's). Zero pivots are not among them. Returns how many there are. */
int64_t sd_find_suspects(const sd_factors *f, double limit, sd_suspect *suspects, int64_t most);

/* Makes a suspect a zero pivot: its D^-1 is 0 from then on (that of its eigenvalue, in a 2x2). */
void sd_make_zero(sd_factors *f, const sd_suspect *suspect);

/* y, by position, becomes its part in the null space of D. */
void sd_null_part(const sd_factors *f, double *y);

#endif
