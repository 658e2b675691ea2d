/*
 * One piece of memory for a factorization on a device: panels grow from its beginning, level by level; at its
 * end, in the *arena*, are contribution blocks, each from the level where it is made to that of its parent,
 * and what the fronts of a level work in, in that level alone.
 *
 * Panels are few while blocks are many, and the other way round: all of it takes the largest of
 *
 *     panels up to level l + extent of level l,
 *
 * the extent being the bytes at the end of the arena that hold all that is there in level l. To place the
 * blocks is a problem of packing (dynamic storage allocation, known to be hard: M. R. Garey and D. S.
 * Johnson, Computers and Intractability, 1979, problem SR2). But most blocks are small, and levels are few:
 * blocks of the same two levels are placed together, into the gaps from the end of the arena on, those that
 * live longest first, and the level that decides the memory before the others. If another one then decides
 * it, that is put first in a next round.
 *
 * A pure function of the plan and of what a device works in, in memory of the caller's: it is compiled into
 * the module of a device too. Delays change panels alone.
 */
#pragma once

#include "plan/schedule.h"

/* Bytes of each level. */
typedef struct sd_level_bytes {
    int64_t panels;  /* of all fronts up to it */
    int64_t scratch; /* that its fronts work in */
} sd_level_bytes;

typedef struct sd_layout {
    int64_t bytes;    /* of the arena, a whole number of units of 256 */
    int64_t *rest;    /* where the contribution block of each front begins, in numbers: of the arena, or for
                       * inner fronts of a cluster as in the schedule; -1 at a root */
    int64_t *scratch; /* of each level: where its own begins, in bytes of the arena, whole units */
    int64_t *extent;  /* of each level */
} sd_layout;

/* Bytes that a layout is made in, and that it then has its arrays in. */
int64_t sd_layout_room(const sd_tree *t, const sd_schedule *s);
void sd_layout_make(const sd_tree *t, const sd_schedule *s, int number_bytes, const sd_level_bytes *level,
                    void *memory, sd_layout *to);
