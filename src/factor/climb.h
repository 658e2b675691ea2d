/* From the leaves of an assembly tree to its roots: groups of subtrees, and each front above them after all
 * that is below it. */
#ifndef SD_CLIMB_H
#define SD_CLIMB_H

#include "plan/tree.h"

typedef struct sd_climb {
    const sd_tree *tree;
    int32_t
        *waiting; /* room for the number of tasks that each front waits for; NULL: no tasks, but in order */
    void (*group)(void *what, int32_t g);
    void (*top)(void *what, int32_t f);
    void *what;
} sd_climb;

/* With tasks, to be called by one thread of a team: they are done when the team has come together again. */
void sd_climb_tree(const sd_climb *s);

#endif
