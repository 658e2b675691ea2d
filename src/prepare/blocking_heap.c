/* A binary heap of weighted edges. See blocking_parts.h. */
#include "prepare/blocking_parts.h"

#include <string.h>

static saddle_status make_room(sd_context *c, sd_heap *heap)
{
    const int64_t room = heap->room ? 2 * heap->room : 256;
    sd_edge *edge = sd_alloc(c, room, sizeof *edge, "heap of edges");
    if (!edge) return c->status;
    if (heap->count) memcpy(edge, heap->edge, (size_t)heap->count * sizeof *edge);
    sd_free(c, heap->edge);
    heap->edge = edge;
    heap->room = room;
    return SADDLE_OK;
}

saddle_status sd_heap_push(sd_context *c, sd_heap *heap, sd_edge edge)
{
    if (heap->count == heap->room && make_room(c, heap)) return c->status;
    int64_t place = heap->count++;
    while (place > 0) {
        const int64_t above = (place - 1) / 2;
        if (!sd_edge_before(&edge, &heap->edge[above])) break;
        heap->edge[place] = heap->edge[above];
        place = above;
    }
    heap->edge[place] = edge;
    return SADDLE_OK;
}

sd_edge sd_heap_pop(sd_heap *heap)
{
    const sd_edge first = heap->edge[0], last = heap->edge[--heap->count];
    int64_t place = 0;
    for (;;) { /* the last edge sinks from the free place at the top to where it belongs */
        int64_t below = 2 * place + 1;
        if (below >= heap->count) break;
        if (below + 1 < heap->count && sd_edge_before(&heap->edge[below + 1], &heap->edge[below])) ++below;
        if (!sd_edge_before(&heap->edge[below], &last)) break;
        heap->edge[place] = heap->edge[below];
        place = below;
    }
    heap->edge[place] = last;
    return first;
}
