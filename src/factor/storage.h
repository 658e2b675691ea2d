/*
 * Memory of a factorization at work, from which several threads take.
 *
 * An arena holds pieces that come and go (contribution blocks, workspaces): best fit in chunks that are kept,
 * so that the same factorization again allocates nothing. A heap holds the panels, one after the other as
 * they come, and only grows until it is emptied as a whole: where delays make some panels larger than
 * planned, it is larger by just that much.
 *
 * Both allocate with the context of the call, under one lock.
 */
#pragma once

#include "core/context.h"

typedef struct sd_storage sd_storage;

/* Room for so many bytes of panels, and an arena whose first chunk has so many bytes, of which at most
 * `pieces` are in use at once. */
saddle_status sd_storage_make(sd_context *c, int64_t panels, int64_t bytes, int64_t pieces,
                              sd_storage **storage);
void sd_storage_free(sd_context *c, sd_storage *storage);

/* Takes everything back into storage; frees nothing. */
void sd_storage_clear(sd_storage *storage);

/* NULL on failure, with the status and message in c. */
void *sd_storage_take(sd_context *c, sd_storage *storage, int64_t bytes, const char *what);
void sd_storage_give(sd_storage *storage, void *memory, int64_t bytes);

/* A panel, until sd_storage_clear; it begins on a multiple of 8 bytes. */
void *sd_storage_panel(sd_context *c, sd_storage *storage, int64_t bytes);

/* The lock, for other things that threads of a factorization share. */
void sd_storage_lock(sd_storage *storage);
void sd_storage_unlock(sd_storage *storage);
