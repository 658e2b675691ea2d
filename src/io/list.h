/*
 * A list of items of one size that grows by chunks: memory is proportional to what was added, not
 * to what a file's header claims, nothing is copied as it grows, and chunks can be freed one by one
 * as they are used up.
 */
#pragma once

#include "core/context.h"

typedef struct sd_list_chunk {
    struct sd_list_chunk *next;
    int64_t capacity;
    char items[] __attribute__((aligned(16)));
} sd_list_chunk;

typedef struct sd_list {
    sd_context *context;
    size_t size; /* bytes of an item */
    sd_list_chunk *first, *last;
    char *at, *stop; /* where the next item of the last chunk goes, and its end */
    int64_t before;  /* items in all chunks but the last */
} sd_list;

void sd_list_init(sd_list *list, sd_context *c, size_t size);

/* Frees all chunks; the list is empty afterwards. */
void sd_list_clear(sd_list *list);

/* Adds a chunk to a list whose last one is full: false on failure, as sd_alloc. */
bool sd_list_grow(sd_list *list);

/* Room for one more item, or NULL on failure. */
static inline void *sd_list_add(sd_list *list)
{
    if (list->at == list->stop && !sd_list_grow(list)) return NULL;
    void *item = list->at;
    list->at += list->size;
    return item;
}

/* Items of a chunk, and of all of them. */
int64_t sd_chunk_count(const sd_list *list, const sd_list_chunk *chunk);
int64_t sd_list_count(const sd_list *list);

/* Frees the first chunk and returns the new first one. No item may be added afterwards. */
sd_list_chunk *sd_list_drop(sd_list *list);

/* Copies all items into an array of the library, freeing the list on the way; NULL on failure. */
void *sd_list_to_array(sd_list *list, const char *what);
