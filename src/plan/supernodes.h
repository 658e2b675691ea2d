/* Supernodes: runs of columns that are eliminated in one front. See supernodes.c. */
#pragma once

#include "prepare/etree.h"

typedef struct sd_supernodes {
    int32_t count;
    int32_t *order;  /* the row of A at each position, supernode after supernode, in postorder */
    int32_t *first;  /* first position of each; count + 1 */
    int32_t *parent; /* -1 at a root */
    int32_t *below;  /* rows below its own columns */
    int64_t nnz;     /* entries of L and D in columns of their own */
    double flops;    /* and the operations that these take */
    /* whether they are not worth being fronts, columns one by one are faster: for a single factorization, and
     * for those that follow it */
    bool columns_once, columns_again;
} sd_supernodes;

/* The supernodes of a graph of single rows in this order, of which `known` is the elimination tree, or NULL;
 * their arrays are the caller's. */
saddle_status sd_supernodes_make(sd_context *c, const sd_graph *g, const int32_t *order,
                                 const sd_elimination *known, bool amalgamated, sd_supernodes *s);
