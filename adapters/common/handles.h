/*
 * A guarded set of live handles, for doors whose hosts keep our objects as `void *`.
 *
 * Hosts pass handles that were never set, that were freed, or that are another door's. So a handle is not an
 * address: it is a number that is given out once in the life of a process, spread over 64 bits so that
 * garbage does not hit it, and it is looked up here before anything is done with it. What is not in the set
 * is not ours, and nothing is dereferenced.
 *
 * The set is safe to use from several threads. An object that is found stays alive until it is removed, and
 * as in any interface of this kind the host must not free a handle that another of its threads is using.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct door_handle {
    void *handle, *object;
    int kind;
} door_handle;

/* All of it 0 but the lock, as DOOR_HANDLES_EMPTY has it. */
typedef struct door_handles {
    pthread_mutex_t lock;
    door_handle *live;
    size_t count, room;
    uint64_t given; /* handles ever given out */
} door_handles;

#define DOOR_HANDLES_EMPTY                                                                                   \
    {                                                                                                        \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                    \
    }

/* A handle for an object of some kind (the door's own numbers); NULL if out of memory. */
void *door_handles_add(door_handles *set, int kind, void *object);

/* The object, or NULL: this is no live handle of that kind. */
void *door_handles_find(door_handles *set, int kind, const void *handle);

/* The same, and the handle is live no more. The object is the caller's to free. */
void *door_handles_remove(door_handles *set, int kind, const void *handle);

/* How many are live. */
size_t door_handles_count(door_handles *set);
