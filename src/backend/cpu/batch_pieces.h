/* How a batch of blocks is cut into pieces, and what all of its kernels know: sizes, and reading ahead. */
#pragma once

#include "backend/backend.h"

enum {
    MOST = SD_BLOCK_MOST,
    NARROW = 8,            /* rows of blocks that may be eliminated one a lane */
    FLIGHT = 4,            /* blocks that are eliminated side by side, at most */
    PIECE = 64,            /* blocks that one thread takes at a time, or four times as many small ones */
    TEAM_FROM = 512,       /* blocks below which a team of threads costs more than it saves */
    STREAM_FROM = 16 << 20 /* bytes of results that are written past the caches */
};

/* A block that is read soon: asked for a column at a time beside the elimination of another, as all at once
 * would hold up what is needed now. */
typedef struct ahead {
    const char *block; /* NULL: none */
    size_t column;     /* bytes */
} ahead;

static inline void fetch_column(const ahead *next, int j)
{
    if (!next->block) return;
    const char *first = next->block + (size_t)j * next->column;
    for (size_t k = 0; k < next->column; k += 64) __builtin_prefetch(first + k, 0, 2);
}

/* Entry (i, j), i >= j, of a lower triangle of n rows by columns. */
static inline int place(int n, int i, int j)
{
    return j * (2 * n - j - 1) / 2 + i;
}

static inline int team(const sd_engine *e, const sd_batch_plan *plan)
{
    return plan->count < TEAM_FROM ? 1 : e->threads;
}

/* The jobs of a plan in pieces of one size of blocks: those of s rows begin with piece first[s]. */
typedef struct pieces {
    int32_t count;
    int32_t first[MOST + 2];
} pieces;

typedef struct piece {
    int32_t first, last;
    int rows;
} piece;

static inline int32_t piece_of_rows(int s)
{
    return s <= NARROW ? 4 * PIECE : PIECE;
}

static inline pieces cut_plan(const sd_batch_plan *plan)
{
    pieces p = {0};
    for (int s = 0; s <= MOST; ++s) {
        const int32_t size = piece_of_rows(s), blocks = plan->first[s + 1] - plan->first[s];
        p.first[s + 1] = p.first[s] + (blocks + size - 1) / size;
    }
    p.count = p.first[MOST + 1];
    return p;
}

static inline piece piece_of(const pieces *p, const sd_batch_plan *plan, int32_t k)
{
    int s = 1;
    while (p->first[s + 1] <= k) ++s;
    const int32_t size = piece_of_rows(s), first = plan->first[s] + (k - p->first[s]) * size;
    const int32_t left = plan->first[s + 1] - first;
    return (piece){first, first + (left < size ? left : size), s};
}
