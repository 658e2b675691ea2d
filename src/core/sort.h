/* Short lists of indices in ascending order. */
#pragma once

#include <stdint.h>

/* Merges of runs, room for as many indices; runs that follow one another in order cost a look each. */
void sd_sort_indices(int32_t *list, int64_t count, int32_t *room);
