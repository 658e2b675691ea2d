/*
 * Memory of a factorization at work, from which several threads take.
 *
 * An arena holds pieces that come and go (contribution blocks, workspaces): first fit in chunks that are
 * kept, so that the same factorization again allocates nothing. A heap holds the panels, one after the other
 * as they come, and only grows until it is emptied as a whole: where delays make some panels larger than
 * planned, it is larger by just that much.
 *
 * Both allocate with the context of the call, under one lock.
 */
#pragma once

#include "core/context.h"

typedef struct sd_storage sd_storage;

/* Room for so many bytes of panels of at most `large` bytes each, and an arena whose first chunk has so many
 * bytes, of which at most `pieces` are in use at once. Larger panels are allocated one by one as they come:
 * among others, the last of them would leave much unused where it needs a little more than planned.
 * sd_storage_large: from how many bytes on, of so many in all panels. */
int64_t sd_storage_large(int64_t panels);
saddle_status sd_storage_make(sd_context *c, int64_t panels, int64_t large, int64_t bytes, int64_t pieces,
                              sd_storage **storage);
void sd_storage_free(sd_context *c, sd_storage *storage);

/* Takes everything back into storage; frees nothing. It allocates only after sd_storage_trim, which frees the
 * arena, of which nothing must be in use. */
saddle_status sd_storage_clear(sd_context *c, sd_storage *storage);
void sd_storage_trim(sd_context *c, sd_storage *storage);

/* The bytes that a piece of the arena takes. */
int64_t sd_storage_round(int64_t bytes);

/* NULL on failure, with the status and message in c. */
void *sd_storage_take(sd_context *c, sd_storage *storage, int64_t bytes, const char *what);
void sd_storage_give(sd_storage *storage, void *memory, int64_t bytes);

/* Room for panels of one thread, which gives them out one behind the other. */
typedef struct sd_panel_room {
    char *at;
    int64_t left;
} sd_panel_room;

/* What a panel of so many bytes takes of the room that is planned: nothing if it is large. */
int64_t sd_storage_planned(const sd_storage *storage, int64_t bytes);
/* So many bytes of that; none where there is not as much. */
sd_panel_room sd_storage_reserve(sd_storage *storage, int64_t bytes);

/* A panel, until sd_storage_clear; it begins on a multiple of 8 bytes. From the room, if it is not large and
 * there is as much left. */
void *sd_storage_panel(sd_context *c, sd_storage *storage, sd_panel_room *room, int64_t bytes);

/* The lock, for other things that threads of a factorization share. */
void sd_storage_lock(sd_storage *storage);
void sd_storage_unlock(sd_storage *storage);
