/*
 * How a device runs a sequence of pivots: in rounds.
 *
 * Every number of a factorization is a sum of products of numbers that were made before, so it is known in
 * advance which numbers can be made at once. A node's round is one more than the latest of the nodes that it
 * depends on; what is in a round is independent, and there are as many rounds as nodes on the longest path of
 * the elimination tree. All sums are gathered, in the order in which factor/simplicial.h and its kernels
 * subtract them: whoever makes a number, it has the same bits.
 *
 * Two numbers are kept of every entry of L: l, and y = l D, which is what the sums are made of:
 *
 *     y_kj = a_kj - sum over i of l_ji y_ki     and     d_k = a_kk - sum over i of l_ki y_ki
 *
 * Entry e of the sequence's rows is y[e] and l[e]; D follows in y, two numbers for each k, as in a front.
 */
#pragma once

#include "plan/sequence.h"

/* Two numbers of which the product is subtracted: l[a] times y[b], or times x[b] of a vector. */
typedef struct sd_term {
    int32_t a, b;
} sd_term;

/* A number, out, from which the terms are subtracted one after the other. `from` is the entry of A that it
 * begins as, -1: with 0; of vectors it is not used. */
typedef struct sd_task {
    int32_t out, from;
    int32_t begin, end; /* of its terms */
} sd_task;

/* Tasks of round r are task[ptr[r] .. ptr[r+1]), the longest first. */
typedef struct sd_round_list {
    int32_t *ptr;
    sd_task *task;
    sd_term *term;
    int64_t tasks, terms;
} sd_round_list;

typedef struct sd_rounds {
    int32_t n;
    int32_t rounds;
    int32_t entries; /* of L */
    int32_t pairs;   /* 2x2 pivots */
    sd_round_list sums, forward, backward;
    /* What follows a round of sums, item[item_ptr[r] .. item_ptr[r+1]): pivot b is inverted where a is -1,
     * otherwise entry a becomes l. The pivot is 1x1 at b, or 2x2 at ~b. */
    int32_t *item_ptr;
    sd_term *item;
    int64_t items;
    int32_t *pivot; /* n: as b above, of every k; -1 - n for the second row of a 2x2 pivot */

    /* of A */
    int64_t nnz;       /* stored, of a half matrix */
    sd_term *place;    /* of each entry: its row and its column */
    int32_t *row_ptr;  /* the entries of each row of the whole matrix: those before the diagonal first */
    sd_term *row;      /* entry and column */
    int32_t *matched;  /* entries of A that the matching chose; */
    int32_t matchings; /* how many */
    int32_t *position; /* of every row of A: its k */
    int32_t *variable; /* position in the assembly tree that is eliminated k-th */
} sd_rounds;

/* For the pattern of a half matrix; target is the tree's, matched as in sd_direct_match or NULL. *possible is
 * false where there are too many terms for a device to be worth it. To be freed whether this fails or not. */
saddle_status sd_rounds_make(sd_context *c, const sd_sequence *s, const sd_csr *A, const sd_tree *tree,
                             const int64_t *matched, sd_rounds *r, bool *possible);
void sd_rounds_free(sd_context *c, sd_rounds *r);
