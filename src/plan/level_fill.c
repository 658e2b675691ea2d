/*
 * Levels of fill by a search from each row: see level_fill.h.
 *
 * Rows are searched in chunks of a fixed number, each by one thread into memory of its own; the chunks are
 * then put one behind the other. Who searched a chunk does not show in the result.
 */
#include "plan/level_fill.h"

#include "core/sort.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

enum { CHUNK = 256 };

/* What a chunk of rows has found. */
typedef struct chunk {
    int32_t *ind;
    int64_t count, room;
} chunk;

/* What a thread searches with. */
typedef struct searcher {
    int32_t *seen;  /* the row that reached a vertex last */
    int32_t *queue; /* vertices below the row, in the order in which they were reached */
    int32_t *found; /* and those beyond it */
} searcher;

typedef struct search {
    sd_context *c;
    const sd_csr *A;
    int level;
    int32_t chunks;
    chunk *chunk;
    searcher *searchers;
    int64_t *ptr;
    atomic_int status;
    atomic_llong total;
} search;

/* Adds what vertex v leads to beyond i. */
static int32_t take_beyond(const sd_csr *A, int32_t i, int32_t v, searcher *s, int32_t count)
{
    int64_t k = A->ptr[v + 1];
    while (k > A->ptr[v] && A->ind[k - 1] > i) --k;
    for (; k < A->ptr[v + 1]; ++k) {
        const int32_t w = A->ind[k];
        if (s->seen[w] == i) continue;
        s->seen[w] = i;
        s->found[count++] = w;
    }
    return count;
}

/* What row i reaches beyond itself, ascending; returns how many there are. Paths go on from what is below i,
 * but for their last edge. */
static int32_t search_row(const sd_csr *A, int level, int32_t i, searcher *s)
{
    int32_t count = 0, head = 0, tail = 0;
    s->seen[i] = i;
    s->queue[tail++] = i;
    for (int depth = 0; depth < level && head < tail; ++depth) {
        for (const int32_t end = tail; head < end; ++head) {
            const int32_t v = s->queue[head];
            for (int64_t k = A->ptr[v]; k < A->ptr[v + 1]; ++k) {
                const int32_t w = A->ind[k];
                if (s->seen[w] == i) continue;
                s->seen[w] = i;
                if (w > i)
                    s->found[count++] = w;
                else
                    s->queue[tail++] = w;
            }
        }
    }
    for (; head < tail; ++head) count = take_beyond(A, i, s->queue[head], s, count);
    sd_sort_indices(s->found, count, s->queue);
    return count;
}

static saddle_status grow(search *t, chunk *to, int64_t more)
{
    if (to->count + more <= to->room) return SADDLE_OK;
    const int64_t room = 2 * to->room + more;
    saddle_status status = SADDLE_OK;
#pragma omp critical(sd_level_fill_memory)
    {
        int32_t *ind = sd_alloc(t->c, room, sizeof *ind, "the pattern of an incomplete factorization");
        if (!ind) {
            status = t->c->status;
        } else {
            if (to->count > 0) memcpy(ind, to->ind, (size_t)to->count * sizeof *ind);
            sd_free(t->c, to->ind);
            to->ind = ind;
            to->room = room;
        }
    }
    return status;
}

/* A pattern's entries are numbered by 32 bits. */
static saddle_status too_many(sd_context *c, int level, int64_t entries)
{
    return sd_fail(
        c, SADDLE_NOT_SUPPORTED,
        "a factor of level %d has %lld entries and more, beyond the 2^31 - 1 that it can have: lower "
        "the level of fill",
        level, (long long)entries);
}

static saddle_status search_chunk(search *t, searcher *s, int32_t which)
{
    const int32_t n = t->A->n, first = which * CHUNK, last = n - first < CHUNK ? n : first + CHUNK;
    chunk *const to = &t->chunk[which];
    saddle_status status = grow(t, to, t->A->ptr[last] - t->A->ptr[first]);
    for (int32_t i = first; i < last && !status; ++i) {
        const int32_t count = search_row(t->A, t->level, i, s);
        status = grow(t, to, count);
        if (status) break;
        if (count > 0) memcpy(to->ind + to->count, s->found, (size_t)count * sizeof *to->ind);
        to->count += count;
        t->ptr[i + 1] = count;
    }
    if (status) return status;
    const int64_t total = atomic_fetch_add(&t->total, to->count) + to->count;
    if (total > INT32_MAX) {
#pragma omp critical(sd_level_fill_memory)
        status = too_many(t->c, t->level, total);
    }
    return status;
}

/* Whoever called may be told how far it is, in its own thread. */
static saddle_status tell(search *t, int32_t which)
{
    saddle_status status = SADDLE_OK;
    if (omp_get_thread_num() > 0) return status;
#pragma omp critical(sd_level_fill_memory)
    status = sd_progress(t->c, "factor", (int64_t)which * CHUNK, t->A->n, NAN);
    return status;
}

static void search_chunks(search *t, int threads)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < t->chunks; ++k) {
        if (atomic_load(&t->status)) continue;
        saddle_status status = tell(t, k);
        if (!status) status = search_chunk(t, &t->searchers[omp_get_thread_num()], k);
        if (status) atomic_store(&t->status, status);
    }
}

static saddle_status prepare(search *t, int threads)
{
    const int64_t n = t->A->n;
    t->ptr = sd_alloc_zero(t->c, n + 1, sizeof *t->ptr, "rows of a pattern");
    t->chunk = sd_alloc_zero(t->c, t->chunks, sizeof *t->chunk, "chunks of a pattern");
    t->searchers = sd_alloc_zero(t->c, threads, sizeof *t->searchers, "searches for fill");
    if (!t->ptr || !t->chunk || !t->searchers) return t->c->status;
    for (int k = 0; k < threads; ++k) {
        searcher *const s = &t->searchers[k];
        s->seen = sd_alloc(t->c, n, sizeof *s->seen, "vertices that a search for fill has seen");
        s->queue = sd_alloc(t->c, n, sizeof *s->queue, "vertices that a search for fill goes through");
        s->found = sd_alloc(t->c, n, sizeof *s->found, "vertices that a search for fill finds");
        if (!s->seen || !s->queue || !s->found) return t->c->status;
        for (int64_t v = 0; v < n; ++v) s->seen[v] = -1;
    }
    return SADDLE_OK;
}

static void release(search *t, int threads)
{
    for (int k = 0; k < threads && t->searchers; ++k)
        sd_free_all(t->c, t->searchers[k].seen, t->searchers[k].queue, t->searchers[k].found);
    for (int32_t k = 0; k < t->chunks && t->chunk; ++k) sd_free(t->c, t->chunk[k].ind);
    sd_free_all(t->c, t->searchers, t->chunk, t->ptr);
}

/* The chunks as one pattern. */
static saddle_status join(search *t, sd_pattern *to)
{
    for (int32_t i = 0; i < t->A->n; ++i) t->ptr[i + 1] += t->ptr[i];
    *to = (sd_pattern){.n = t->A->n};
    to->ind = sd_alloc(t->c, t->ptr[t->A->n], sizeof *to->ind, "the pattern of an incomplete factorization");
    if (!to->ind) return t->c->status;
    to->ptr = t->ptr;
    t->ptr = NULL;
    for (int32_t k = 0; k < t->chunks; ++k) {
        chunk *const from = &t->chunk[k];
        if (from->count > 0)
            memcpy(to->ind + to->ptr[k * CHUNK], from->ind, (size_t)from->count * sizeof *from->ind);
        sd_free(t->c, from->ind);
        from->ind = NULL;
    }
    return SADDLE_OK;
}

saddle_status sd_level_fill(sd_context *c, const sd_csr *A, int level, int threads, sd_pattern *upper)
{
    search t = {.c = c, .A = A, .level = level, .chunks = A->n / CHUNK + (A->n % CHUNK > 0)};
    *upper = (sd_pattern){0};
    threads = sd_team(threads < t.chunks ? threads : t.chunks);
    if (threads < 1) threads = 1;
    atomic_init(&t.status, SADDLE_OK);
    atomic_init(&t.total, 0);
    saddle_status status = prepare(&t, threads);
    if (!status) {
        search_chunks(&t, threads);
        status = (saddle_status)atomic_load(&t.status);
    }
    if (!status) status = join(&t, upper);
    release(&t, threads);
    return status;
}

void sd_pattern_free(sd_context *c, sd_pattern *p)
{
    sd_free_all(c, p->ptr, p->ind);
    *p = (sd_pattern){0};
}

saddle_status sd_pattern_transpose(sd_context *c, const sd_pattern *p, sd_pattern *to, int32_t **from)
{
    const int32_t n = p->n;
    const int64_t entries = p->ptr[n];
    *to = (sd_pattern){.n = n};
    if (from) *from = NULL;
    to->ptr = sd_alloc_zero(c, (int64_t)n + 2, sizeof *to->ptr, "rows of a transposed pattern");
    to->ind = sd_alloc(c, entries, sizeof *to->ind, "a transposed pattern");
    if (from) *from = sd_alloc(c, entries, sizeof **from, "where entries of a transposed pattern come from");
    if (!to->ptr || !to->ind || (from && !*from)) {
        if (from) sd_free(c, *from);
        if (from) *from = NULL;
        sd_pattern_free(c, to);
        return c->status;
    }
    int64_t *const next = to->ptr + 1; /* moves from the start of a row to that of the next */
    for (int64_t k = 0; k < entries; ++k) ++next[p->ind[k] + 1];
    for (int32_t j = 0; j < n; ++j) next[j + 1] += next[j];
    for (int32_t i = 0; i < n; ++i) {
        for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k) {
            const int64_t at = next[p->ind[k]]++;
            to->ind[at] = i;
            if (from) (*from)[at] = (int32_t)k;
        }
    }
    return SADDLE_OK;
}

/* of[i] is the level of row i; returns how many levels there are. */
static int32_t number_levels(const sd_pattern *p, bool upper, int32_t *of)
{
    int32_t levels = 0;
    for (int32_t k = 0; k < p->n; ++k) {
        const int32_t i = upper ? p->n - 1 - k : k;
        int32_t level = 0;
        for (int64_t e = p->ptr[i]; e < p->ptr[i + 1]; ++e)
            if (of[p->ind[e]] >= level) level = of[p->ind[e]] + 1;
        of[i] = level;
        if (level >= levels) levels = level + 1;
    }
    return levels;
}

saddle_status sd_pattern_levels(sd_context *c, const sd_pattern *p, bool upper, int32_t *levels,
                                int32_t **level, int32_t **row)
{
    int32_t *of = sd_alloc(c, p->n, sizeof *of, "levels of rows");
    *row = sd_alloc(c, p->n, sizeof **row, "rows by levels");
    *level = NULL;
    *levels = of && *row ? number_levels(p, upper, of) : 0;
    if (of && *row) *level = sd_alloc_zero(c, (int64_t)*levels + 2, sizeof **level, "levels");
    if (!*level) {
        sd_free_all(c, of, *row);
        *row = NULL;
        return c->status;
    }
    int32_t *const next = *level + 1; /* as in a transposition */
    for (int32_t i = 0; i < p->n; ++i) ++next[of[i] + 1];
    for (int32_t l = 0; l < *levels; ++l) next[l + 1] += next[l];
    for (int32_t i = 0; i < p->n; ++i) (*row)[next[of[i]]++] = i;
    sd_free(c, of);
    return SADDLE_OK;
}
