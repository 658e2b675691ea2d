/*
 * A sequence of pivots, known in advance, and the columns of L that it gives: the plan of a factorization
 * without fronts.
 *
 * Where L has hardly more entries than A, what fronts cost before they compute anything, and the zeros that
 * amalgamation adds, are most of a multifrontal factorization. Here each pivot, 1x1 or 2x2, is a *node* with
 * its column (or two of the same rows) of L, and the numbers are made row by row, or column by column where
 * each has its place (backend/simplicial.h).
 *
 * k numbers the pivots' rows in the order of elimination; the rows of A are named by their positions in the
 * assembly tree, whose order the sequence follows except where a factorization with pivoting had to depart
 * from it.
 */
#pragma once

#include "plan/tree.h"

/* The entries of a node are begin .. end in `row`, ascending; those of a 2x2 pivot are there twice, one after
 * the other, one for each of its columns. */
typedef struct sd_node {
    int64_t begin, end;
    int64_t next; /* where a factorization at work has come to */
    int32_t k, width;
} sd_node;

typedef struct sd_sequence {
    int32_t n;
    int32_t *variable; /* the position that is eliminated k-th */
    int32_t *place;    /* of every row of A: its k */

    int32_t nodes;
    sd_node *node;
    int32_t *row;
    /* the nodes before k that have row k, ascending: list[list_ptr[k] .. list_ptr[k+1]) */
    int64_t *list_ptr;
    int32_t *list;

    /* the entries of A in row k up to its diagonal: column[e] from number from[e] of the tree's entries */
    int64_t *entry_ptr;
    int32_t *column;
    int64_t *from;

    int64_t nnz; /* of L and D */
    double flops;
    int64_t products; /* of two rows of a node, over all nodes */
    int32_t largest;  /* rows of a node, its own among them */

    /* Where numbers go in a factorization column by column, made by sd_sequence_place; NULL before. A place
     * is one in the array of all entries of the nodes, with D, two numbers a pivot, behind them. */
    int32_t *start;  /* of every entry of the tree */
    int32_t *target; /* of every product of two rows of a node, a column further on: node by node, of row
                        after row the products with the rows above it */
} sd_sequence;

/* variable is as in the structure and becomes part of it, also on failure; pair[k] tells where a 2x2 pivot
 * begins (NULL: nowhere). */
saddle_status sd_sequence_make(sd_context *c, const sd_tree *tree, int32_t *variable, const bool *pair,
                               sd_sequence *sequence);
/* Whether a sequence can have places: there are few enough. */
bool sd_sequence_has_places(const sd_sequence *sequence);
/* Makes them, for a sequence that is to be used again: about as much work as a factorization. */
saddle_status sd_sequence_place(sd_context *c, sd_sequence *sequence);
/* Bytes of these at most, by the operations of the factorization. */
int64_t sd_sequence_place_bytes(double flops, int64_t nnz, int64_t entries);
/* Bytes of a sequence of n pivots, L with so many entries, of a matrix with so many. */
int64_t sd_sequence_bytes(int64_t n, int64_t nnz, int64_t entries);
void sd_sequence_free(sd_context *c, sd_sequence *sequence);
