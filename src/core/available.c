/* See available.h. */
#include "core/available.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The number behind `name` in a file of lines "name number", in units of `unit` bytes; -1 without such a
 * line. */
static int64_t number_in(const char *path, const char *name, int64_t unit)
{
    FILE *file = fopen(path, "r");
    char line[256];
    int64_t found = -1, number;
    const size_t length = strlen(name);
    if (!file) return -1;
    while (found < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, "%" SCNd64, &number) == 1)
            found = number * unit;
    fclose(file);
    return found;
}

/* What the container leaves; -1: there is none, or it has no limit. Pages of files that were read can be
 * dropped. */
static int64_t left_by_container(void)
{
    const int64_t most = number_in("/sys/fs/cgroup/memory.max", "", 1); /* or "max" */
    const int64_t used = number_in("/sys/fs/cgroup/memory.current", "", 1);
    const int64_t files = number_in("/sys/fs/cgroup/memory.stat", "inactive_file ", 1);
    if (most < 0 || used < 0) return -1;
    const int64_t held = files > 0 ? used - files : used;
    return most > held ? most - held : 0;
}

int64_t sd_memory_available(void)
{
    const int64_t free_now = number_in("/proc/meminfo", "MemAvailable:", 1024),
                  swap = number_in("/proc/meminfo", "SwapFree:", 1024), container = left_by_container();
    if (free_now < 0) return container;
    const int64_t all = free_now + (swap > 0 ? swap : 0);
    return container >= 0 && container < all ? container : all;
}
