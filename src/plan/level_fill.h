/*
 * The pattern of an incomplete factorization by levels of fill, IC(k) and ILU(k).
 *
 * Entry (i, j) of the factors has level m where the shortest path from i to j whose inner vertices are all
 * below min(i, j) has m + 1 edges; it is kept where m <= k (D. Hysom and A. Pothen, Level-based incomplete LU
 * factorization: graph model and algorithms, 2002). So row i of U is what a search from i reaches in k + 1
 * edges through vertices below i, and column i of L the same in the graph of A': rows are independent of one
 * another, and the cost is that of the edges of what is visited, near the entries found.
 */
#pragma once

#include "matrix/csr.h"

/* Rows of entries without numbers, columns ascending. */
typedef struct sd_pattern {
    int32_t n;
    int64_t *ptr;
    int32_t *ind;
} sd_pattern;

/*
 * The strictly upper rows of the pattern of level k. A has all its entries (values are not read), in the
 * order of elimination; those of a symmetric A are the columns of L. `threads` decide who searches only.
 */
saddle_status sd_level_fill(sd_context *c, const sd_csr *A, int level, int threads, sd_pattern *upper);
void sd_pattern_free(sd_context *c, sd_pattern *p);

/* The transpose, columns ascending; from[k], which may be NULL, is the number in `p` of entry k. */
saddle_status sd_pattern_transpose(sd_context *c, const sd_pattern *p, sd_pattern *to, int32_t **from);

/*
 * Levels of a strictly triangular pattern: row i is one above the highest of the rows that it has entries of.
 * level has levels + 1 numbers, row has n, ascending in each level. Both are to be freed with sd_free.
 */
saddle_status sd_pattern_levels(sd_context *c, const sd_pattern *p, bool upper, int32_t *levels,
                                int32_t **level, int32_t **row);
