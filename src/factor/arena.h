/*
 * How large the arena of a factorization must be: contribution blocks and workspaces come and go in the same
 * order in every factorization without delays on one thread, so that it can be tried out in advance, without
 * memory. Several threads have more blocks at once, and delays larger workspaces: then it grows.
 */
#pragma once

#include "backend/front.h"
#include "plan/tree.h"

/* *bytes = where the last piece ends; kernels are those of the precision. */
saddle_status sd_arena_measure(sd_context *c, const sd_tree *tree, const sd_front_kernels *kernels,
                               sd_precision precision, int64_t *bytes);
