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

/* The contribution blocks of a group's roots, which all go to one parent, are taken and given as one piece:
 * there may be thousands of them. The first of these roots, and the bytes of the piece for numbers of so many
 * bytes: each block rounded to where a piece may begin; 0 without a parent. */
int32_t sd_group_root(const sd_tree *tree, int32_t group);
int64_t sd_group_bytes(const sd_tree *tree, int32_t group, size_t number);
