/*
 * The assembly tree of a symmetric matrix in a given order, and what the paper on SSIDS (J. Hogg,
 * E. Ovtchinnikov, J. Scott, A sparse symmetric indefinite direct solver for GPU architectures, ACM TOMS 42,
 * 2016) counts in it: sizes of fronts (Figure 1), contributions of children to the entries of their parents
 * (Table 1), operations by kind (Table 5). Nothing is computed with numbers, and nothing is delayed.
 *
 * A front is a supernode: columns of L with the same rows. As in SSIDS by default, one is merged with its
 * parent if both have fewer than 8 columns.
 */
#pragma once

#include "bench/problem.h"

enum {
    ASSEMBLY_SIZES = 20,
    ASSEMBLY_LEAST = 8
}; /* ranges of sizes; columns from which a front stays alone */

typedef struct assembly_size {
    int64_t fronts;
    double flops;
} assembly_size;

/* Sums over all fronts. An addition, a multiplication and a division count as one operation each. */
typedef struct assembly_counts {
    int64_t fronts, leaves, largest, nnz;
    double factor, assemble, contribution; /* operations: own columns, additions of children, the rest */
    assembly_size sizes[ASSEMBLY_SIZES];   /* of 1, 2 to 3, 4 to 7 ... rows */
    double entries, none, one, several;    /* of the lower triangles of fronts with children, by how many */
    double waiting;                        /* of them: some, but not all children contribute to */
} assembly_counts;

/* lower: the lower triangle by columns, with 64-bit pointers from 0; order[k] is the row at position k. False
 * where memory runs out. */
bool assembly_count(const saddle_matrix *lower, const int32_t *order, assembly_counts *counts);
