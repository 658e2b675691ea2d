/* What solves with the two triangles of a factorization have to do, in counts: factor/trisolve_cost.h has
 * the seconds. */
#pragma once

#include <stdint.h>

typedef struct sd_trisolve_work {
    int32_t levels;
    double bytes;   /* that an exact solve with both triangles reads, vectors included */
    double swept;   /* and a sweep over each */
    double longest; /* entries, or columns of blocks, that the longest rows of both triangles read one after
                     * the other in a sweep */
} sd_trisolve_work;
