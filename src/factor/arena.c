/* The arena tried out: what multifrontal.c takes and gives on one thread, and where storage.c places it. See
 * arena.h. */
#include "factor/arena.h"

#include "factor/storage.h"
#include "plan/contribution.h"

#include <string.h>

/* An idle piece. */
typedef struct gap {
    int64_t at, bytes;
} gap;

typedef struct trial {
    const sd_tree *t;
    const sd_front_kernels *kernels;
    int64_t number;
    int64_t count, end, most; /* gaps; where the pieces in use end, and the most of that */
    gap *gaps;                /* by address, none at the end */
    int64_t *rest;            /* where the block of each front is */
} trial;

static int64_t rest_bytes(const trial *q, int32_t f)
{
    return sd_storage_round(sd_rest_size(sd_front_below(q->t, f)) * q->number);
}

int32_t sd_group_root(const sd_tree *t, int32_t g)
{
    int32_t f = t->group_first[g];
    while (t->parent[f] >= 0 && t->group_of[t->parent[f]] == g) f = t->parent[f];
    return f;
}

int64_t sd_group_bytes(const sd_tree *t, int32_t g, size_t number)
{
    const int32_t parent = t->parent[t->group_last[g]];
    int64_t bytes = 0;
    if (parent < 0) return 0;
    for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f)
        if (t->parent[f] == parent)
            bytes += sd_storage_round(sd_rest_size(sd_front_below(t, f)) * (int64_t)number);
    return bytes;
}

static int64_t take(trial *q, int64_t bytes)
{
    int64_t k = 0, at;
    while (k < q->count && q->gaps[k].bytes < bytes) ++k;
    if (k == q->count) {
        at = q->end;
        q->end += bytes;
        if (q->end > q->most) q->most = q->end;
        return at;
    }
    at = q->gaps[k].at;
    q->gaps[k].at += bytes;
    q->gaps[k].bytes -= bytes;
    if (q->gaps[k].bytes == 0)
        memmove(q->gaps + k, q->gaps + k + 1, (size_t)(--q->count - k) * sizeof *q->gaps);
    return at;
}

static void give(trial *q, int64_t at, int64_t bytes)
{
    int64_t k = q->count;
    while (k > 0 && q->gaps[k - 1].at > at) --k;
    const bool behind = k > 0 && q->gaps[k - 1].at + q->gaps[k - 1].bytes == at;
    const bool before = k < q->count && at + bytes == q->gaps[k].at;
    if (behind && before) {
        q->gaps[k - 1].bytes += bytes + q->gaps[k].bytes;
        memmove(q->gaps + k, q->gaps + k + 1, (size_t)(--q->count - k) * sizeof *q->gaps);
    } else if (behind) {
        q->gaps[k - 1].bytes += bytes;
    } else if (before) {
        q->gaps[k].at = at;
        q->gaps[k].bytes += bytes;
    } else {
        memmove(q->gaps + k + 1, q->gaps + k, (size_t)(q->count++ - k) * sizeof *q->gaps);
        q->gaps[k] = (gap){at, bytes};
    }
    const gap *last = q->count > 0 ? &q->gaps[q->count - 1] : NULL;
    if (!last || last->at + last->bytes != q->end) return;
    q->end = last->at;
    --q->count;
}

static void drop_work(trial *q, const gap *work)
{
    if (work->bytes > 0) give(q, work->at, sd_storage_round(work->bytes));
}

/* The workspace of a task when it comes to front f. */
static void reserve(trial *q, int32_t f, gap *work)
{
    const int32_t columns = sd_front_columns(q->t, f);
    const int64_t bytes = q->kernels->work(columns + sd_front_below(q->t, f), columns) * q->number;
    if (bytes <= work->bytes) return;
    drop_work(q, work);
    *work = (gap){take(q, sd_storage_round(bytes)), bytes};
}

static void try_group(trial *q, int32_t g)
{
    const sd_tree *t = q->t;
    gap work = {0};
    const int64_t kept = sd_group_bytes(t, g, (size_t)q->number);
    if (kept > 0) q->rest[sd_group_root(t, g)] = take(q, kept);
    const int64_t bytes = sd_storage_round(t->group_stack[g] * q->number), stack = take(q, bytes);
    for (int32_t f = t->group_first[g]; f <= t->group_last[g]; ++f) reserve(q, f, &work);
    give(q, stack, bytes);
    drop_work(q, &work);
}

static void try_top(trial *q, int32_t f)
{
    const sd_tree *t = q->t;
    gap work = {0};
    if (t->parent[f] >= 0) q->rest[f] = take(q, rest_bytes(q, f));
    reserve(q, f, &work);
    for (int64_t k = t->child_ptr[f]; k < t->child_ptr[f + 1]; ++k) {
        const int32_t child = t->child[k], g = t->group_of[child];
        if (g < 0)
            give(q, q->rest[child], rest_bytes(q, child));
        else if (child == sd_group_root(t, g))
            give(q, q->rest[child], sd_group_bytes(t, g, (size_t)q->number));
    }
    drop_work(q, &work);
}

saddle_status sd_arena_measure(sd_context *c, const sd_tree *t, const sd_front_kernels *kernels,
                               sd_precision precision, int64_t *bytes)
{
    trial q = {.t = t, .kernels = kernels, .number = (int64_t)sd_precision_size(precision)};
    q.gaps = sd_alloc(c, (int64_t)t->fronts + 3, sizeof *q.gaps, "arena");
    q.rest = sd_alloc(c, t->fronts, sizeof *q.rest, "arena");
    const bool all = q.gaps && q.rest;
    for (int32_t f = 0; f < t->fronts && all; ++f) {
        const int32_t g = t->group_of[f];
        if (g >= 0)
            try_group(&q, g);
        else
            try_top(&q, f);
        if (g >= 0) f = t->group_last[g];
    }
    *bytes = q.most;
    sd_free_all(c, q.gaps, q.rest);
    return all ? SADDLE_OK : c->status;
}
