/* Clusters, levels and the places of contribution blocks that stay in a cluster. See schedule.h. */
#include "plan/schedule.h"

#include "plan/contribution.h"

#include <stdlib.h>
#include <string.h>

/* Times of a block of threads, in nanoseconds, as measured on an H200: docs/design/0011-direct-on-gpu.md. */
enum {
    FRONT_TIME = 16000,    /* of a front that is not there: barriers, indices, what others have to bring */
    PIVOT_TIME = 1000,     /* of a pivot in a tile, with the rows below it */
    PRODUCTS_A_TIME = 8,   /* multiplications in a nanosecond */
    CLUSTER_TIME = 100000, /* of a cluster, at most, unless it has one front */
};

static int64_t front_time(const sd_tree *t, int32_t f)
{
    const int64_t columns = sd_front_columns(t, f), rows = columns + sd_front_below(t, f);
    return FRONT_TIME + PIVOT_TIME * columns + rows * rows * (columns + 4) / PRODUCTS_A_TIME;
}

static bool is_small(const sd_tree *t, int32_t f)
{
    return sd_front_columns(t, f) + sd_front_below(t, f) <= SD_SMALL_ROWS;
}

/* What the schedule is made in. */
typedef struct making {
    const sd_tree *t;
    sd_schedule *s;
    int64_t *time;    /* of the part of a cluster at or below each front */
    int64_t *need;    /* of its largest front */
    int32_t *head;    /* the topmost front of its cluster; itself for a large one */
    int32_t *level;   /* of a head */
    int32_t *cluster; /* of a head: its number, in the order of heads */
} making;

/* Children are taken into the cluster of their parent from the cheapest on, as long as the time allows. A
 * front has few children that matter; many are sorted out by their time in rounds of halving limits. */
static void join_children(making *m, int32_t f)
{
    const sd_tree *t = m->t;
    int64_t total = front_time(t, f);
    for (int64_t limit = 1000; limit <= 2 * (int64_t)CLUSTER_TIME; limit *= 2) {
        for (int64_t e = t->child_ptr[f]; e < t->child_ptr[f + 1]; ++e) {
            const int32_t child = t->child[e];
            const bool now = m->time[child] < limit && m->time[child] >= limit / 2;
            if (!now || !is_small(t, child) || total + m->time[child] > CLUSTER_TIME) continue;
            total += m->time[child];
            if (m->need[child] > m->need[f]) m->need[f] = m->need[child];
            m->head[child] = f;
        }
    }
    m->time[f] = total;
}

static void form_clusters(making *m)
{
    const sd_tree *t = m->t;
    for (int32_t f = 0; f < t->fronts; ++f) {
        m->head[f] = f;
        m->time[f] = front_time(t, f);
        m->need[f] = sd_small_numbers(sd_front_columns(t, f) + sd_front_below(t, f), sd_front_columns(t, f));
        if (is_small(t, f)) join_children(m, f);
    }
    for (int32_t f = t->fronts - 1; f >= 0; --f) m->head[f] = m->head[m->head[f]]; /* that of the parent */
}

/* A head runs after the heads below its cluster. */
static void find_levels(making *m)
{
    const sd_tree *t = m->t;
    for (int32_t f = 0; f < t->fronts; ++f) m->level[f] = 0;
    for (int32_t f = 0; f < t->fronts; ++f) {
        const int32_t parent = t->parent[f];
        if (parent < 0 || m->head[parent] == m->head[f]) continue;
        int32_t *above = &m->level[m->head[parent]];
        if (*above <= m->level[m->head[f]]) *above = m->level[m->head[f]] + 1;
    }
    m->s->levels = 0;
    for (int32_t f = 0; f < t->fronts; ++f)
        if (m->level[m->head[f]] >= m->s->levels) m->s->levels = m->level[m->head[f]] + 1;
}

/* A head of a cluster, to be sorted. */
typedef struct heading {
    int32_t level, front;
    bool tiny;
    int64_t time;
} heading;

static int by_level_and_time(const void *a, const void *b)
{
    const heading *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    if (x->tiny != y->tiny) return y->tiny ? -1 : 1;
    if (x->time != y->time) return x->time > y->time ? -1 : 1;
    return x->front < y->front ? -1 : 1;
}

static saddle_status list_clusters(sd_context *c, making *m)
{
    const sd_tree *t = m->t;
    sd_schedule *s = m->s;
    for (int32_t f = 0; f < t->fronts; ++f) s->clusters += m->head[f] == f && is_small(t, f);
    heading *list = sd_alloc(c, s->clusters, sizeof *list, "schedule");
    s->cluster_from = sd_alloc_zero(c, (int64_t)s->clusters + 1, sizeof *s->cluster_from, "schedule");
    s->cluster_front = sd_alloc(c, t->fronts, sizeof *s->cluster_front, "schedule");
    const bool all = list && s->cluster_from && s->cluster_front;
    int32_t k = 0;
    for (int32_t f = 0; f < t->fronts && all; ++f)
        if (m->head[f] == f && is_small(t, f))
            list[k++] = (heading){m->level[f], f, m->need[f] <= SD_TINY_NUMBERS, m->time[f]};
    if (all) qsort(list, (size_t)k, sizeof *list, by_level_and_time);
    for (int32_t i = 0; i < k && all; ++i) {
        m->cluster[list[i].front] = i;
        ++s->cluster_ptr[list[i].level + 1];
        s->cluster_tiny[list[i].level] += !list[i].tiny;
    }
    for (int32_t f = 0; f < t->fronts && all; ++f)
        if (is_small(t, f)) ++s->cluster_from[m->cluster[m->head[f]] + 1];
    for (int32_t i = 0; i < k && all; ++i) s->cluster_from[i + 1] += s->cluster_from[i];
    for (int32_t f = t->fronts - 1; f >= 0 && all; --f) /* from behind, so that they come to be ascending */
        if (is_small(t, f)) s->cluster_front[--s->cluster_from[m->cluster[m->head[f]] + 1]] = f;
    if (all) { /* each end has become its beginning: one place on */
        int64_t fronts = 0;
        for (int32_t f = 0; f < t->fronts; ++f) fronts += is_small(t, f);
        memmove(s->cluster_from, s->cluster_from + 1, (size_t)k * sizeof *s->cluster_from);
        s->cluster_from[k] = fronts;
    }
    sd_free(c, list);
    return all ? SADDLE_OK : c->status;
}

static saddle_status list_large(sd_context *c, making *m)
{
    const sd_tree *t = m->t;
    sd_schedule *s = m->s;
    s->large = 0;
    for (int32_t f = 0; f < t->fronts; ++f) {
        s->large_at[f] = -1;
        if (is_small(t, f)) continue;
        ++s->large;
        ++s->large_ptr[m->level[f] + 1];
    }
    s->large_front = sd_alloc(c, s->large, sizeof *s->large_front, "schedule");
    if (!s->large_front) return c->status;
    for (int32_t l = 0; l < s->levels; ++l) s->large_ptr[l + 1] += s->large_ptr[l];
    for (int32_t f = t->fronts - 1; f >= 0; --f) {
        if (is_small(t, f)) continue;
        const int32_t at = --s->large_ptr[m->level[f] + 1];
        s->large_front[at] = f;
        s->large_at[f] = at;
    }
    memmove(s->large_ptr, s->large_ptr + 1, (size_t)s->levels * sizeof *s->large_ptr);
    s->large_ptr[s->levels] = s->large;
    return SADDLE_OK;
}

/* ---- places ---- */

/* Idle intervals of a workspace that has no end, by address. */
typedef struct idle_list {
    struct interval {
        int64_t begin, size;
    } * idle;
    int64_t count, end;
} idle_list;

static int64_t take(idle_list *a, int64_t size)
{
    for (int64_t k = 0; k < a->count; ++k) {
        if (a->idle[k].size < size) continue;
        const int64_t begin = a->idle[k].begin;
        a->idle[k].begin += size;
        a->idle[k].size -= size;
        if (a->idle[k].size == 0) {
            --a->count;
            memmove(a->idle + k, a->idle + k + 1, (size_t)(a->count - k) * sizeof *a->idle);
        }
        return begin;
    }
    const int64_t begin = a->end;
    a->end += size;
    return begin;
}

static void give(idle_list *a, int64_t begin, int64_t size)
{
    int64_t low = 0, high = a->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (a->idle[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    const bool behind = low > 0 && a->idle[low - 1].begin + a->idle[low - 1].size == begin;
    const bool before = low < a->count && begin + size == a->idle[low].begin;
    if (behind) a->idle[low - 1].size += size;
    if (behind && before) {
        a->idle[low - 1].size += a->idle[low].size;
        --a->count;
        memmove(a->idle + low, a->idle + low + 1, (size_t)(a->count - low) * sizeof *a->idle);
    } else if (!behind && before) {
        a->idle[low].begin = begin;
        a->idle[low].size += size;
    } else if (!behind) {
        memmove(a->idle + low + 1, a->idle + low, (size_t)(a->count - low) * sizeof *a->idle);
        a->idle[low] = (struct interval){begin, size};
        ++a->count;
    }
}

static int64_t room(const sd_tree *t, int32_t f)
{
    return sd_rest_room(sd_front_below(t, f));
}

/* The workspace of a cluster: its fronts one after the other. Returns the numbers that it has. */
static int64_t place_inner(making *m, idle_list *a, int32_t cluster)
{
    const sd_tree *t = m->t;
    sd_schedule *s = m->s;
    a->count = a->end = 0;
    for (int64_t k = s->cluster_from[cluster]; k < s->cluster_from[cluster + 1]; ++k) {
        const int32_t f = s->cluster_front[k];
        if (s->inner[f]) s->rest[f] = take(a, room(t, f));
        for (int64_t e = t->child_ptr[f]; e < t->child_ptr[f + 1]; ++e) {
            const int32_t child = t->child[e];
            if (s->inner[child] && room(t, child) > 0) give(a, s->rest[child], room(t, child));
        }
    }
    return a->end;
}

static saddle_status place_blocks(sd_context *c, making *m)
{
    const sd_tree *t = m->t;
    sd_schedule *s = m->s;
    idle_list a = {.idle = sd_alloc(c, (int64_t)t->fronts + 1, sizeof *a.idle, "schedule")};
    if (!a.idle) return c->status;
    for (int32_t f = 0; f < t->fronts; ++f) {
        s->rest[f] = -1;
        s->inner[f] = t->parent[f] >= 0 && m->head[f] != f;
    }
    for (int32_t l = 0; l < s->levels; ++l)
        for (int32_t k = s->cluster_ptr[l]; k < s->cluster_ptr[l + 1]; ++k) {
            const int64_t numbers = place_inner(m, &a, k);
            if (numbers > s->workspace[l]) s->workspace[l] = numbers;
        }
    sd_free(c, a.idle);
    return SADDLE_OK;
}

saddle_status sd_schedule_make(sd_context *c, const sd_tree *t, sd_schedule *s)
{
    *s = (sd_schedule){0};
    making m = {.t = t, .s = s};
    m.time = sd_alloc(c, t->fronts, sizeof *m.time, "schedule");
    m.need = sd_alloc(c, t->fronts, sizeof *m.need, "schedule");
    m.head = sd_alloc(c, t->fronts, sizeof *m.head, "schedule");
    m.level = sd_alloc(c, t->fronts, sizeof *m.level, "schedule");
    m.cluster = sd_alloc(c, t->fronts, sizeof *m.cluster, "schedule");
    s->large_at = sd_alloc(c, t->fronts, sizeof *s->large_at, "schedule");
    s->rest = sd_alloc(c, t->fronts, sizeof *s->rest, "schedule");
    s->inner = sd_alloc(c, t->fronts, sizeof *s->inner, "schedule");
    saddle_status status =
        m.time && m.need && m.head && m.level && m.cluster && s->large_at && s->rest && s->inner ? SADDLE_OK
                                                                                                 : c->status;
    if (!status) {
        form_clusters(&m);
        find_levels(&m);
        s->cluster_ptr = sd_alloc_zero(c, (int64_t)s->levels + 1, sizeof *s->cluster_ptr, "schedule");
        s->cluster_tiny = sd_alloc_zero(c, s->levels, sizeof *s->cluster_tiny, "schedule");
        s->large_ptr = sd_alloc_zero(c, (int64_t)s->levels + 1, sizeof *s->large_ptr, "schedule");
        s->workspace = sd_alloc_zero(c, s->levels, sizeof *s->workspace, "schedule");
        if (!s->cluster_ptr || !s->cluster_tiny || !s->large_ptr || !s->workspace) status = c->status;
    }
    if (!status) status = list_clusters(c, &m);
    for (int32_t l = 0; l < s->levels && !status; ++l) {
        s->cluster_tiny[l] += s->cluster_ptr[l];
        s->cluster_ptr[l + 1] += s->cluster_ptr[l];
    }
    if (!status) status = list_large(c, &m);
    if (!status) status = place_blocks(c, &m);
    sd_free_all(c, m.time, m.need, m.head, m.level, m.cluster);
    if (status) sd_schedule_free(c, s);
    return status;
}

void sd_schedule_free(sd_context *c, sd_schedule *s)
{
    sd_free_all(c, s->cluster_ptr, s->cluster_tiny, s->cluster_from, s->cluster_front, s->large_ptr,
                s->large_front, s->large_at, s->rest, s->inner, s->workspace);
    *s = (sd_schedule){0};
}
