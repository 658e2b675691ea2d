/*
 * How a device runs the fronts of a tree: in levels, each a list of clusters of small fronts, which one block
 * of threads runs one after the other, and a list of large fronts, which all blocks share.
 *
 * A cluster is a connected piece of the tree, its fronts in ascending order, so that children come first. The
 * contribution blocks between two of its fronts stay in the workspace of the block that runs it. All others
 * live from the level where they are made to that of the parent, which is known in advance, and so can be
 * where each of them is (layout.h). Delays change panels alone: the order of a contribution block is that of
 * the plan.
 *
 * All of it depends on the tree alone, neither on the device nor on the values: so the same fronts are always
 * computed in the same way.
 */
#pragma once

#include "plan/tree.h"

/* Rows of a front that a cluster may have, as planned; and numbers of the largest front of a cluster that is
 * run with little shared memory, so that more of them run at once. */
enum { SD_SMALL_ROWS = 96, SD_TINY_NUMBERS = 48 * 49 };

/* Numbers of a front whose panel and contribution block are kept apart, the former with an odd leading
 * dimension. */
static inline int64_t sd_small_numbers(int64_t rows, int64_t columns)
{
    return (rows | 1) * columns + (rows - columns) * (rows - columns);
}

typedef struct sd_schedule {
    int32_t levels;
    int32_t clusters;
    int32_t *cluster_ptr;  /* clusters of a level: cluster_ptr[l] .. cluster_ptr[l+1]) */
    int32_t *cluster_tiny; /* the first of them with little memory; of either kind the longest come first */
    int64_t *cluster_from; /* clusters + 1: fronts of a cluster are cluster_front[cluster_from[c] ..] */
    int32_t *cluster_front;
    int32_t large;
    int32_t *large_ptr; /* large fronts of a level, ascending */
    int32_t *large_front;
    int32_t *large_at; /* of each front: where it is among the large ones; -1 */

    bool *inner;        /* of each front: whether its contribution block stays in its cluster, and */
    int64_t *rest;      /* where it then begins, in numbers of the workspace; -1 for all others */
    int64_t *workspace; /* of each level: numbers that the largest cluster needs */
} sd_schedule;

saddle_status sd_schedule_make(sd_context *c, const sd_tree *tree, sd_schedule *s);
void sd_schedule_free(sd_context *c, sd_schedule *s);
