/* See sort.h. */
#include "core/sort.h"

#include <string.h>

enum { RUN = 16 };

static void insert(int32_t *list, int64_t count)
{
    for (int64_t k = 1; k < count; ++k) {
        const int32_t value = list[k];
        int64_t to = k;
        for (; to > 0 && list[to - 1] > value; --to) list[to] = list[to - 1];
        list[to] = value;
    }
}

/* list[0 .. middle) and list[middle .. count) become one. */
static void merge(int32_t *list, int64_t middle, int64_t count, int32_t *room)
{
    if (list[middle - 1] <= list[middle]) return;
    memcpy(room, list, (size_t)middle * sizeof *list);
    int64_t a = 0, b = middle, to = 0;
    while (a < middle && b < count) list[to++] = room[a] <= list[b] ? room[a++] : list[b++];
    while (a < middle) list[to++] = room[a++];
}

void sd_sort_indices(int32_t *list, int64_t count, int32_t *room)
{
    for (int64_t k = 0; k < count; k += RUN) insert(list + k, count - k < RUN ? count - k : RUN);
    for (int64_t run = RUN; run < count; run *= 2)
        for (int64_t k = 0; k + run < count; k += 2 * run)
            merge(list + k, run, count - k < 2 * run ? count - k : 2 * run, room);
}
