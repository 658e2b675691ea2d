/* Included before everything else in the own sources of a door, for its test_memory.c: their allocations can
 * fail.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>

void *failing_malloc(size_t bytes);
void *failing_calloc(size_t count, size_t bytes);
void *failing_realloc(void *old, size_t bytes);

#define malloc failing_malloc
#define calloc failing_calloc
#define realloc failing_realloc
