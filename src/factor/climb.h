/* Traverses an assembly tree from the leaves to the roots: groups of subtrees, then each front above them
 * after everything below it. */
#pragma once

#include "core/crew.h"
#include "plan/tree.h"

typedef struct sd_climb {
    const sd_tree *tree;
    int32_t *waiting; /* for the number of tasks that each front waits for */
    void (*group)(void *what, int32_t g);
    void (*top)(void *what, int32_t f);
    void *what;
    sd_crew *crew; /* NULL: no tasks, in order */
} sd_climb;

/* With a crew, call it within a run: the tasks are done when the run is. Fronts come before groups, and the
 * front with the most work between it and the root first; groups come in order, so that contribution blocks
 * that wait are few. s must last as long as the run. */
void sd_climb_tree(const sd_climb *s);
