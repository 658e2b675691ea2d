/* Traverses an assembly tree from the leaves to the roots: groups of subtrees, then each front above them
 * after everything below it. */
#pragma once

#include "plan/tree.h"

typedef struct sd_climb {
    const sd_tree *tree;
    int32_t *waiting; /* for the number of tasks that each front waits for; NULL: no tasks, in order */
    void (*group)(void *what, int32_t g);
    void (*top)(void *what, int32_t f);
    void *what;
} sd_climb;

/* With tasks, call it from one thread of a team: the tasks are done when the team has joined. */
void sd_climb_tree(const sd_climb *s);
