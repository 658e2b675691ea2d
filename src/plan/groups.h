/* Groups of leaf subtrees, and the room for contribution blocks. See groups.c. */
#pragma once

#include "plan/tree.h"

/* Fills in groups, group_* and rests of a tree that is complete otherwise. */
saddle_status sd_tree_group(sd_context *c, sd_tree *tree);
