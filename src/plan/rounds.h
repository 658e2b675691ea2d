/*
 * How a device runs a sequence of pivots: in rounds, each of which is done by several workers at once.
 *
 * A node's round is one more than the latest round of the nodes that it depends on: what is in a round is
 * independent, and there are as many rounds as nodes on the longest path of the elimination tree. As soon as
 * a node is done, its products are subtracted from all numbers that they belong to, so that little is left to
 * do when these numbers' own round comes. Two numbers are kept of every entry of L: l, and y = l D, which is
 * what is computed:
 *
 *     y_kj = a_kj - sum over nodes i of l_ji y_ki     and     d_k = a_kk - sum over nodes i of l_ki y_ki
 *
 * Entry e of the sequence's rows is y[e] and l[e]; D follows in y, two numbers for each k, as in a front.
 * From every number terms are subtracted round by round, in the order of the nodes: it does not matter how
 * many workers there are, or which of them does it.
 */
#pragma once

#include "plan/sequence.h"

enum { SD_STEP_TERMS = 2, SD_WORKERS_LEAST = 4, SD_WORKERS_MOST = 64 };

typedef struct sd_term {
    int32_t a, b;
} sd_term;

/* What a worker does in a step. */
enum {
    SD_STEP_COUNT = 3, /* mask: how many terms, 0 ... SD_STEP_TERMS */
    SD_STEP_ITEM = 4,  /* a number is complete: see below */
    SD_STEP_MEET = 8   /* all workers wait for each other after it */
};

/* Subtracts l[a] y[b], or l[a] x[b] of a vector, from number `out`, one term after the other. An item is
 * entry `out` of L, that becomes l, or -1: a pivot, that is inverted; the pivot is 1x1 at term[0].b, or 2x2
 * at ~term[0].b. */
typedef struct sd_step {
    int32_t out, what;
    sd_term term[SD_STEP_TERMS];
} sd_step;

/* Step s of worker w is step[s workers + w]. */
typedef struct sd_steps {
    int64_t count;
    sd_step *step;
} sd_steps;

typedef struct sd_rounds {
    int32_t n, rounds, workers;
    int32_t entries; /* of L */
    sd_steps factor, forward, backward;
    int32_t *start; /* entries + 2 n: the entry of A that each number of the factorization begins as; -1: 0 */
    int32_t *pivot; /* n: its kind as in items, for every k; -1 - n for the second row of a 2x2 pivot */

    /* of A */
    int64_t nnz;       /* stored, of a half matrix */
    sd_term *place;    /* of each entry: its row and its column */
    int32_t *row_ptr;  /* the entries of each row of the whole matrix: those before the diagonal first */
    sd_term *row;      /* entry and column */
    int32_t *matched;  /* entries of A that the matching chose; */
    int32_t matchings; /* how many */
    int32_t *position; /* of every row of A: its k */
} sd_rounds;

/* For the pattern of a half matrix; matched is as in sd_direct_match or NULL. *possible is false where there
 * are too many terms for a device to be worth it. To be freed whether this fails or not. */
saddle_status sd_rounds_make(sd_context *c, const sd_sequence *s, const sd_csr *A, const sd_tree *tree,
                             const int64_t *matched, sd_rounds *r, bool *possible);
void sd_rounds_free(sd_context *c, sd_rounds *r);
