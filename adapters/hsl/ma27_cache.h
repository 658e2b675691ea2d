/*
 * The solvers behind the MA27-compatible interface.
 *
 * That interface keeps everything in arrays of the host and has no call by which they are given up, so
 * nothing of ours may have to be freed by the host. The arrays therefore hold all that a solve depends on
 * (the matrix, in place of its factors), and a solver is only something kept to save time: it is found again
 * by a number that was written into the arrays, and if it is no longer here it is made anew. At most
 * HSL_KEPT solvers that nobody is using are kept, the oldest goes first. No address of the host's is ever
 * followed but those that it passes to the call at hand.
 */
#pragma once

#include "adapters/hsl/engine.h"
#include "adapters/hsl/pattern.h"

enum { HSL_KEPT = 16 };

typedef struct hsl_kept {
    uint64_t number;    /* of the analysis */
    uint64_t factors;   /* number of the factors that it has; 0: none */
    const void *array;  /* where the number was written by the analysis: compared, never followed */
    hsl_engine *engine; /* belongs to who holds it, and so does the pattern */
    hsl_pattern pattern;
    double *values; /* room for those of the pattern */
    int users;      /* -1: one who may change it */
    uint64_t used;  /* when, in calls */
    struct hsl_kept *next;
} hsl_kept;

/* A number that was not given out before, never 0. */
uint64_t hsl_number(void);

/* The solver of an analysis for one who will change it; NULL: it is not here, or in use. */
hsl_kept *hsl_keep_take(uint64_t number);

/* The solver with these factors, for a solve beside others; NULL likewise. */
hsl_kept *hsl_keep_share(uint64_t number, uint64_t factors);

/* A solver of one's own, empty; NULL if out of memory. Give it back like one that was taken. */
hsl_kept *hsl_keep_new(uint64_t number);

void hsl_keep_give_back(hsl_kept *kept);

/* One that nobody has seen yet and that is no use: it has no pattern that a call could match. NULL: nothing.
 */
void hsl_keep_free(hsl_kept *kept);

/* An analysis that was written into this array before is lost: its solver goes. */
void hsl_keep_overwrite(const void *array);

/* Of all solvers, in use or not. */
int hsl_keep_count(void);
