/* The set is an array: a host has a handful of handles, and the last one given is asked for most. */
#include "adapters/common/handles.h"

#include <stdlib.h>

/* Number k, multiplied by an odd number: a different value for each of 2^64, and never 0 for k > 0. */
static void *handle_of(uint64_t k)
{
    return (void *)(uintptr_t)(k * UINT64_C(0x9e3779b97f4a7c15)); /* 2^64 over the golden ratio */
}

void *door_handles_add(door_handles *set, int kind, void *object)
{
    void *handle = NULL;
    pthread_mutex_lock(&set->lock);
    if (set->count == set->room) {
        const size_t room = set->room ? 2 * set->room : 16;
        door_handle *more = realloc(set->live, room * sizeof *more);
        if (more) {
            set->live = more;
            set->room = room;
        }
    }
    if (set->count < set->room) {
        handle = handle_of(++set->given);
        set->live[set->count++] = (door_handle){.handle = handle, .object = object, .kind = kind};
    }
    pthread_mutex_unlock(&set->lock);
    return handle;
}

/* The place of a handle, with the lock held; the count: it is not there. */
static size_t place_of(const door_handles *set, int kind, const void *handle)
{
    for (size_t k = set->count; k-- > 0;)
        if (set->live[k].handle == handle && set->live[k].kind == kind) return k;
    return set->count;
}

void *door_handles_find(door_handles *set, int kind, const void *handle)
{
    pthread_mutex_lock(&set->lock);
    const size_t k = place_of(set, kind, handle);
    void *const object = k < set->count ? set->live[k].object : NULL;
    pthread_mutex_unlock(&set->lock);
    return object;
}

void *door_handles_remove(door_handles *set, int kind, const void *handle)
{
    void *object = NULL;
    pthread_mutex_lock(&set->lock);
    const size_t k = place_of(set, kind, handle);
    if (k < set->count) {
        object = set->live[k].object;
        set->live[k] = set->live[--set->count];
    }
    if (set->count == 0) { /* so that a library that is unloaded leaves nothing behind */
        free(set->live);
        set->live = NULL;
        set->room = 0;
    }
    pthread_mutex_unlock(&set->lock);
    return object;
}

size_t door_handles_count(door_handles *set)
{
    pthread_mutex_lock(&set->lock);
    const size_t count = set->count;
    pthread_mutex_unlock(&set->lock);
    return count;
}
