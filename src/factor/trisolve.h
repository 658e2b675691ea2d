/* How the triangular solves of a factorization are done. */
#pragma once

#include <stdbool.h>

/* Exactly, or by sweeps over blocks or over single entries, so many over each triangle; 0: until they change
 * little, at most as many as there are levels. */
typedef enum sd_trisolve_kind { SD_TRISOLVE_EXACT, SD_TRISOLVE_BLOCKS, SD_TRISOLVE_ENTRIES } sd_trisolve_kind;
typedef struct sd_trisolve {
    sd_trisolve_kind kind;
    int sweeps;
} sd_trisolve;

/* Whether an application is by one matrix, which is symmetric if the factorization is, whatever the vector.
 */
static inline bool sd_trisolve_symmetric(sd_trisolve t)
{
    return t.kind == SD_TRISOLVE_EXACT || t.sweeps > 0;
}
