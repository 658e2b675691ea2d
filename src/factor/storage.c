/* Arena and heap of panels. See storage.h. */
#include "factor/storage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    GRAIN = 64,            /* pieces begin on cache lines */
    CHUNKS = 64,           /* each at least a quarter of all before, if the memory allows: enough */
    PANEL_CHUNK = 1 << 16, /* bytes of a chunk of panels, at least */
    LARGE = 32             /* a panel of more than this part of those planned has a chunk of its own */
};

typedef struct interval {
    char *begin;
    int64_t bytes;
} interval;

typedef struct panel_chunk {
    struct panel_chunk *next;
    int64_t bytes, used;
    bool large; /* for a single panel */
} panel_chunk;

struct sd_storage {
    pthread_mutex_t lock;
    int chunks;
    interval chunk[CHUNKS];
    int64_t count; /* of idle intervals, by address: at most one more in a chunk than pieces in use */
    interval *idle;
    char *planned; /* room for panels as planned, of which `taken` bytes are given out, without the lock */
    int64_t planned_bytes, large;
    atomic_llong taken;
    panel_chunk *panels; /* what delays need beyond that */
};

int64_t sd_storage_round(int64_t bytes)
{
    return bytes > 0 ? (bytes + GRAIN - 1) / GRAIN * GRAIN : GRAIN;
}

static saddle_status add_chunk(sd_context *c, sd_storage *s, int64_t bytes, const char *what)
{
    if (s->chunks == CHUNKS)
        return sd_fail(c, SADDLE_OUT_OF_MEMORY, "too many chunks for %s: factor with fewer threads", what);
    int64_t all = 0;
    for (int k = 0; k < s->chunks; ++k) all += s->chunk[k].bytes;
    const int64_t least = sd_storage_round(all / 4);
    interval *chunk = &s->chunk[s->chunks];
    chunk->bytes = bytes > least ? bytes : least;
    chunk->begin = sd_alloc(c, chunk->bytes, 1, what);
    if (!chunk->begin && c->status == SADDLE_MEMORY_LIMIT && least > bytes) {
        chunk->bytes = bytes;
        chunk->begin = sd_alloc(c, bytes, 1, what);
    }
    if (!chunk->begin) return c->status;
    ++s->chunks;
    return SADDLE_OK;
}

int64_t sd_storage_large(int64_t panels)
{
    return panels / LARGE > PANEL_CHUNK ? panels / LARGE : PANEL_CHUNK;
}

saddle_status sd_storage_make(sd_context *c, int64_t panels, int64_t large, int64_t bytes, int64_t pieces,
                              sd_storage **storage)
{
    sd_storage *s = sd_alloc_zero(c, 1, sizeof *s, "storage of the factorization");
    *storage = NULL;
    if (!s) return c->status;
    s->idle = sd_alloc(c, pieces + CHUNKS + 1, sizeof *s->idle, "storage of the factorization");
    pthread_mutex_init(&s->lock, NULL);
    s->chunk[0].bytes = sd_storage_round(bytes);
    s->planned_bytes = panels;
    s->large = large;
    if (s->idle) s->planned = sd_alloc(c, panels, 1, "factors");
    const saddle_status status = s->planned ? sd_storage_clear(c, s) : c->status;
    if (status) {
        sd_storage_free(c, s);
        return status;
    }
    *storage = s;
    return SADDLE_OK;
}

void sd_storage_free(sd_context *c, sd_storage *s)
{
    if (!s) return;
    for (int k = 0; k < s->chunks; ++k) sd_free(c, s->chunk[k].begin);
    for (panel_chunk *p = s->panels; p;) {
        panel_chunk *next = p->next;
        sd_free(c, p);
        p = next;
    }
    sd_free_all(c, s->planned, s->idle);
    pthread_mutex_destroy(&s->lock);
    sd_free(c, s);
}

void sd_storage_trim(sd_context *c, sd_storage *s)
{
    for (int k = 0; k < s->chunks; ++k) sd_free(c, s->chunk[k].begin);
    s->chunk[0].begin = NULL;
    s->chunks = 0;
    s->count = 0;
}

saddle_status sd_storage_clear(sd_context *c, sd_storage *s)
{
    if (s->chunks == 0) s->chunk[0].begin = sd_alloc(c, s->chunk[0].bytes, 1, "contribution blocks");
    if (!s->chunk[0].begin) return c->status;
    if (s->chunks == 0) s->chunks = 1;
    s->count = 0;
    for (int k = 0; k < s->chunks; ++k) sd_storage_give(s, s->chunk[k].begin, s->chunk[k].bytes);
    atomic_store(&s->taken, 0);
    for (panel_chunk *p = s->panels; p; p = p->next) p->used = 0;
    return SADDLE_OK;
}

/* The first idle interval that holds so many bytes, by address, so that what a chunk must hold does not
 * depend on what follows it (arena.c); -1. */
static int64_t first_fit(const sd_storage *s, int64_t bytes)
{
    for (int64_t k = 0; k < s->count; ++k)
        if (s->idle[k].bytes >= bytes) return k;
    return -1;
}

/* The first idle interval at or behind an address. */
static int64_t find_place(const sd_storage *s, const char *address)
{
    int64_t low = 0, high = s->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->idle[middle].begin < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_interval(sd_storage *s, int64_t k)
{
    --s->count;
    memmove(s->idle + k, s->idle + k + 1, (size_t)(s->count - k) * sizeof *s->idle);
}

/* An interval becomes idle, and one with its idle neighbours. */
static void insert_interval(sd_storage *s, char *begin, int64_t bytes)
{
    const int64_t k = find_place(s, begin);
    const bool behind = k > 0 && s->idle[k - 1].begin + s->idle[k - 1].bytes == begin;
    const bool before = k < s->count && begin + bytes == s->idle[k].begin;
    if (behind) {
        s->idle[k - 1].bytes += bytes;
        if (!before) return;
        s->idle[k - 1].bytes += s->idle[k].bytes;
        remove_interval(s, k);
    } else if (before) {
        s->idle[k].begin = begin;
        s->idle[k].bytes += bytes;
    } else {
        memmove(s->idle + k + 1, s->idle + k, (size_t)(s->count - k) * sizeof *s->idle);
        s->idle[k] = (interval){begin, bytes};
        ++s->count;
    }
}

void *sd_storage_take(sd_context *c, sd_storage *s, int64_t bytes, const char *what)
{
    bytes = sd_storage_round(bytes);
    char *memory = NULL;
    sd_storage_lock(s);
    int64_t k = first_fit(s, bytes);
    if (k < 0 && add_chunk(c, s, bytes, what) == SADDLE_OK) {
        insert_interval(s, s->chunk[s->chunks - 1].begin, s->chunk[s->chunks - 1].bytes);
        k = first_fit(s, bytes);
    }
    if (k >= 0) {
        memory = s->idle[k].begin;
        s->idle[k].begin += bytes;
        s->idle[k].bytes -= bytes;
        if (s->idle[k].bytes == 0) remove_interval(s, k);
    }
    sd_storage_unlock(s);
    return memory;
}

void sd_storage_give(sd_storage *s, void *memory, int64_t bytes)
{
    if (!memory) return;
    sd_storage_lock(s);
    insert_interval(s, memory, sd_storage_round(bytes));
    sd_storage_unlock(s);
}

/* A new chunk of panels: just large enough for a large one; for small ones larger the more of them there are
 * already, so that chunks stay few. */
static panel_chunk *add_panels(sd_context *c, sd_storage *s, int64_t bytes)
{
    int64_t size = bytes;
    if (bytes <= s->large) {
        size = s->planned_bytes / 32 > PANEL_CHUNK ? s->planned_bytes / 32 : PANEL_CHUNK;
        for (const panel_chunk *p = s->panels; p; p = p->next)
            if (!p->large) size += p->bytes / 4;
        if (size < bytes) size = bytes;
    }
    panel_chunk *fresh = sd_alloc(c, size + GRAIN, 1, "columns of the factors");
    if (!fresh && c->status == SADDLE_MEMORY_LIMIT && size > bytes) {
        size = bytes;
        fresh = sd_alloc(c, size + GRAIN, 1, "columns of the factors");
    }
    if (!fresh) return NULL;
    *fresh = (panel_chunk){s->panels, size, 0, bytes > s->large};
    s->panels = fresh;
    return fresh;
}

/* A chunk with so much room: for a large panel the smallest idle one that a large panel had, for others the
 * last that was made. So the same panels again need no other chunks. NULL. */
static panel_chunk *find_panels(const sd_storage *s, int64_t bytes)
{
    panel_chunk *found = NULL;
    const bool large = bytes > s->large;
    for (panel_chunk *p = s->panels; p; p = p->next) {
        if (p->large != large || p->used + bytes > p->bytes || (large && p->used > 0)) continue;
        if (!large) return p;
        if (!found || p->bytes < found->bytes) found = p;
    }
    return found;
}

static int64_t round_panel(int64_t bytes)
{
    return bytes > 0 ? (bytes + 7) / 8 * 8 : 8;
}

int64_t sd_storage_planned(const sd_storage *s, int64_t bytes)
{
    bytes = round_panel(bytes);
    return bytes <= s->large ? bytes : 0;
}

sd_panel_room sd_storage_reserve(sd_storage *s, int64_t bytes)
{
    long long from = atomic_load_explicit(&s->taken, memory_order_relaxed);
    while (from + bytes <= s->planned_bytes)
        if (atomic_compare_exchange_weak(&s->taken, &from, from + bytes))
            return (sd_panel_room){s->planned + from, bytes};
    return (sd_panel_room){0};
}

void *sd_storage_panel(sd_context *c, sd_storage *s, sd_panel_room *room, int64_t bytes)
{
    bytes = round_panel(bytes);
    sd_panel_room more = {0};
    if (bytes <= s->large && bytes > room->left) more = sd_storage_reserve(s, bytes);
    sd_panel_room *from = more.left > 0 ? &more : room;
    if (bytes <= s->large && bytes <= from->left) {
        char *taken = from->at;
        from->at += bytes;
        from->left -= bytes;
        return taken;
    }
    char *panel = NULL;
    sd_storage_lock(s);
    panel_chunk *at = find_panels(s, bytes);
    if (!at) at = add_panels(c, s, bytes);
    if (at) {
        panel = (char *)at + GRAIN + at->used;
        at->used += bytes;
    }
    sd_storage_unlock(s);
    return panel;
}

void sd_storage_lock(sd_storage *s)
{
    pthread_mutex_lock(&s->lock);
}

void sd_storage_unlock(sd_storage *s)
{
    pthread_mutex_unlock(&s->lock);
}
