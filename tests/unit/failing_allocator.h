/*
 * Hooks whose allocator counts the blocks that are alive and fails at the k-th allocation, so that a
 * test can let every allocation of a call fail in turn:
 *
 *     for (int64_t k = 1;; k++) {
 *         failing_allocator f = {.fail_at = k};
 *         const saddle_hooks hooks = failing_hooks(&f);
 *         ... the call; on success, free what it gave
 *         assert_int_equal(f.live, 0);
 *         if (!f.failed) break; // no allocation was left to fail: the call succeeded
 *         assert_int_equal(status, SADDLE_OUT_OF_MEMORY);
 *     }
 *
 * Not for calls that allocate from several threads at once.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdlib.h>

typedef struct failing_allocator {
    int64_t fail_at;     /* this allocation fails, counted from 1, and no other; 0 for none */
    int64_t allocations; /* asked for so far */
    int64_t live;        /* blocks not yet released */
    int failed;          /* whether fail_at was reached */
} failing_allocator;

static void *failing_allocate(size_t bytes, void *user)
{
    failing_allocator *f = user;
    f->allocations++;
    if (f->allocations == f->fail_at) {
        f->failed = 1;
        return NULL;
    }
    void *block = malloc(bytes);
    if (block) f->live++;
    return block;
}

static void failing_release(void *block, void *user)
{
    failing_allocator *f = user;
    if (block) f->live--;
    free(block);
}

static inline saddle_hooks failing_hooks(failing_allocator *f)
{
    const saddle_hooks hooks = {
        .size = sizeof hooks, .allocate = failing_allocate, .release = failing_release, .user = f};
    return hooks;
}
