/* 2x2 pairs from a matching of a symmetric matrix, and whether an order should keep them together. */
#pragma once

#include "matrix/csr.h"

/*
 * A matching of a symmetric matrix is a permutation (with open paths where it is not perfect). Its cycles
 * are split into 1x1 and 2x2: an even cycle into the better, by the product of the scaled entries, of its
 * two alternating halves; an odd one at the 1x1 that leaves the largest product, never a zero diagonal
 * where another choice exists; an open path into neighbours from its end. partner[i] is the other row of i's
 * pair, or -1. A is whole, scale its symmetric scaling.
 */
saddle_status sd_pairs_split(sd_context *c, const sd_csr *A, const int32_t *row_of, const double *scale,
                             int32_t *partner);

/* Numbers the vertices of the compressed graph, pairs and single rows, by their first row: part[i] for each
 * row. Returns how many. */
int32_t sd_pairs_parts(int32_t n, const int32_t *partner, int32_t *part);

/*
 * How much a symmetric matrix needs its pairs kept together when it is factored, judged from the scaled
 * values: the share of rows whose diagonal is small and which no neighbour of large diagonal can fill in.
 */
typedef struct sd_need {
    int64_t small_diagonals; /* rows whose |s_i a_ii s_i| is below 0.01, the usual threshold of pivoting */
    int64_t needy; /* of those, rows without a neighbour k, not small itself, that would mend it: whose
                      elimination puts at least 0.01, |s_i a_ik s_k|^2 / |s_k a_kk s_k|, onto the diagonal */
} sd_need;
saddle_status sd_pairs_need(sd_context *c, const sd_csr *A, const double *scale, sd_need *need);
