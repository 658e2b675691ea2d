/*
 * The order in which the diagonal blocks of a matrix are eliminated, and how it changes when blocks are
 * pushed back (outer pivoting): the arrays P, P^-1 and X of D. Thuerck, Stretching Jacobi, section V.
 *
 * Blocks keep the numbers that they were given; nothing moves in memory. X, the levels of the paper, counts
 * how often a block has been pushed back, its generation (see ERRATA: as levels of a schedule they would not
 * be bounds, since two blocks that are pushed back may be coupled).
 */
#pragma once

#include "prepare/graph.h"

typedef struct sd_block_order {
    int32_t blocks;
    int32_t *at;         /* P: the block at each position */
    int32_t *position;   /* P^-1 */
    int32_t *generation; /* X */
    int32_t generations; /* largest X */
} sd_block_order;

/* All blocks in the order of their numbers. */
saddle_status sd_block_order_make(sd_context *c, int32_t blocks, sd_block_order *order);
void sd_block_order_free(sd_context *c, sd_block_order *order);

/* Pushes the blocks with `push` back to the end in one operation; among them, and among those that stay, the
 * relative order is kept. O(blocks). */
saddle_status sd_push_back(sd_context *c, const bool *push, sd_block_order *order);

/*
 * Levels: blocks that can be eliminated at once. Those of level l are block[first[l] .. first[l+1]), by
 * position.
 */
typedef struct sd_block_levels {
    int32_t count;
    int32_t *first; /* count + 1 */
    int32_t *block;
} sd_block_levels;

/*
 * The levels of a factorization with all its fill, from the elimination tree of the graph of the blocks in
 * this order: whatever fill is dropped, they hold. Only blocks of one generation are among them.
 */
saddle_status sd_levels_of_tree(sd_context *c, const sd_graph *g, const sd_block_order *order,
                                int32_t generation, sd_block_levels *levels);

void sd_block_levels_free(sd_context *c, sd_block_levels *levels);
