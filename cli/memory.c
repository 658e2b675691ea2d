/* See memory.h. Sizes are the allocator's own, so nothing has to be stored beside a block. */
#include "cli/memory.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *take(size_t bytes, void *user)
{
    memory *m = user;
    if (m->limit > 0 && (bytes > (size_t)m->limit || m->bytes > m->limit - (int64_t)bytes)) {
        if (!m->refused) m->refused = (int64_t)bytes;
        return NULL;
    }
    void *block = malloc(bytes ? bytes : 1);
    if (!block) return NULL;
    m->bytes += (int64_t)malloc_usable_size(block);
    if (m->bytes > m->peak) m->peak = m->bytes;
    return block;
}

static void give(void *block, void *user)
{
    memory *m = user;
    if (!block) return;
    m->bytes -= (int64_t)malloc_usable_size(block);
    free(block);
}

void memory_begin(memory *m, int64_t limit, saddle_hooks *hooks)
{
    *m = (memory){.limit = limit};
    hooks->allocate = take;
    hooks->release = give;
    hooks->user = m;
}

void *memory_take(memory *m, int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > SIZE_MAX / size) return NULL;
    return take((size_t)count * size, m);
}

void memory_give(memory *m, void *block)
{
    give(block, m);
}

saddle_status memory_settle(const memory *m, saddle_status status, char *message)
{
    if (status != SADDLE_OUT_OF_MEMORY || !m->refused) return status;
    snprintf(message, SADDLE_MESSAGE_SIZE,
             "the limit of %" PRId64 " bytes is too small: at most %" PRId64 " were in use, and %" PRId64
             " more were needed; raise --max-memory",
             m->limit, m->peak, m->refused);
    return SADDLE_MEMORY_LIMIT;
}

void *one_more(void *array, int64_t *count, int64_t *room, size_t size)
{
    char *elements;
    memcpy(&elements, array, sizeof elements);
    if (*count == *room) {
        const int64_t more = *room ? 2 * *room : 64;
        elements = realloc(elements, (size_t)more * size);
        if (!elements) return NULL;
        memcpy(array, &elements, sizeof elements);
        *room = more;
    }
    return memset(elements + (size_t)(*count)++ * size, 0, size);
}
