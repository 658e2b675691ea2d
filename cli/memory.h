/*
 * The memory of a command: allocator hooks that count what the library and the program have in use
 * at once, reading included, and hold it under the limit of --max-memory.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

typedef struct memory {
    int64_t limit; /* 0 for none */
    int64_t bytes, peak;
    int64_t refused; /* bytes of the first request beyond the limit, 0 for none */
} memory;

/* Sets the allocator of the hooks, and their user, to this. */
void memory_begin(memory *m, int64_t limit, saddle_hooks *hooks);

/* The program's own arrays, under the same limit: NULL on failure. */
void *memory_take(memory *m, int64_t count, size_t size);
void memory_give(memory *m, void *block);

/* Says what a failure of memory really was: where the limit refused, SADDLE_MEMORY_LIMIT and a
 * message of SADDLE_MESSAGE_SIZE; else the status as it is. */
saddle_status memory_settle(const memory *m, saddle_status status, char *message);

/* One more element, zeroed, at the end of an array that grows, whose pointer stands at `array`; NULL where
 * memory ran out. */
void *one_more(void *array, int64_t *count, int64_t *room, size_t size);
