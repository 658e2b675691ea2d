/* A list that grows by chunks. See list.h. */
#include "io/list.h"

#include <string.h>

enum { LEAST_ITEMS = 1 << 10, MOST_ITEMS = 1 << 16 };

void sd_list_init(sd_list *list, sd_context *c, size_t size)
{
    memset(list, 0, sizeof *list);
    list->context = c;
    list->size = size;
}

void sd_list_clear(sd_list *list)
{
    while (list->first) sd_list_drop(list);
    sd_list_init(list, list->context, list->size);
}

bool sd_list_grow(sd_list *list)
{
    int64_t capacity = list->last ? 4 * list->last->capacity : LEAST_ITEMS;
    if (capacity > MOST_ITEMS) capacity = MOST_ITEMS;
    const int64_t bytes = capacity * (int64_t)list->size;
    sd_list_chunk *chunk = sd_alloc(list->context, (int64_t)sizeof *chunk + bytes, 1, "entries read");
    if (!chunk) return false;
    chunk->next = NULL;
    chunk->capacity = capacity;
    if (list->last) {
        list->before += list->last->capacity;
        list->last->next = chunk;
    } else {
        list->first = chunk;
    }
    list->last = chunk;
    list->at = chunk->items;
    list->stop = chunk->items + bytes;
    return true;
}

int64_t sd_chunk_count(const sd_list *list, const sd_list_chunk *chunk)
{
    return chunk == list->last ? (list->at - chunk->items) / (int64_t)list->size : chunk->capacity;
}

int64_t sd_list_count(const sd_list *list)
{
    return list->last ? list->before + sd_chunk_count(list, list->last) : 0;
}

sd_list_chunk *sd_list_drop(sd_list *list)
{
    sd_list_chunk *next = list->first->next;
    if (next) list->before -= list->first->capacity;
    sd_free(list->context, list->first);
    list->first = next;
    if (!next) {
        list->last = NULL;
        list->at = list->stop = NULL;
    }
    return next;
}

void *sd_list_to_array(sd_list *list, const char *what)
{
    char *array = sd_alloc(list->context, sd_list_count(list), list->size, what);
    if (!array) return NULL;
    char *to = array;
    for (const sd_list_chunk *chunk = list->first; chunk; chunk = sd_list_drop(list)) {
        const size_t bytes = (size_t)sd_chunk_count(list, chunk) * list->size;
        memcpy(to, chunk->items, bytes);
        to += bytes;
    }
    return array;
}
