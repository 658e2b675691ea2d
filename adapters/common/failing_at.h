/* What failing.h makes allocations of: each can be the one that fails. Included by the test alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

void *failing_malloc(size_t bytes);
void *failing_calloc(size_t count, size_t bytes);
void *failing_realloc(void *old, size_t bytes);

static int left = -1; /* allocations until one fails; negative: none does */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *failing_malloc(size_t bytes)
{
    return fails() ? NULL : malloc(bytes);
}

void *failing_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : calloc(count, bytes);
}

void *failing_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : realloc(old, bytes);
}
