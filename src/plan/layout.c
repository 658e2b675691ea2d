/* Places of contribution blocks in the memory of a device. See layout.h. */
#include "plan/layout.h"

#include "plan/contribution.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, UNIT = 256 };
static const int64_t MOST_LOOKS = 1 << 27; /* at runs, about: no more rounds then */

/* A block, from the level that makes it to that of its parent. */
typedef struct block {
    int64_t size, at, best; /* bytes; the place in this round, and in the best so far, from the end on */
    int32_t from, to, front;
} block;

/* Blocks of the same two levels. */
typedef struct kin {
    int32_t from, to;
    int64_t begin, end; /* blocks */
    bool placed;
} kin;

/* Bytes that are taken from one level to another: a run of blocks of the same kin, or scratch. */
typedef struct run {
    int64_t begin, end;
    int32_t from, to;
    int64_t next; /* of those that begin in the same level; -1 */
} run;

/* Bytes that are not taken; `begun` is where they began before some of them were. */
typedef struct gap {
    int64_t begin, end, begun;
} gap;

/* A level: what decides about the memory, its kin and its runs. */
typedef struct level {
    int64_t panels, live, scratch; /* bytes */
    int64_t scratch_at, scratch_best;
    int64_t extent, extent_best;
    int64_t kin;   /* the first of those that begin here */
    int64_t runs;  /* the last that begins here; -1 */
    int32_t order; /* the level that has this turn */
} level;

typedef struct making {
    const sd_tree *t;
    const sd_schedule *s;
    int32_t levels, longest; /* the most that a block is older at its end */
    int64_t blocks, kins, runs, looks;
    level *level; /* levels + 1 */
    block *block;
    kin *kin, **here;
    run *run;
    gap *taken, *gap;
} making;

static int64_t round_up(int64_t bytes, int64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Of all fronts but roots and the inner ones of clusters, at most. */
static int64_t count_blocks(const sd_schedule *s)
{
    return (int64_t)s->clusters + s->large;
}

/* The memory, from one array to the next; NULL at the beginning: it is counted. */
static void *carve(char **memory, int64_t *bytes, int64_t count, size_t size)
{
    void *array = *memory ? *memory + *bytes : NULL;
    *bytes += round_up(count * (int64_t)size, 16);
    return array;
}

static int64_t carve_all(const sd_tree *t, const sd_schedule *s, char *memory, making *m, sd_layout *to)
{
    const int64_t blocks = count_blocks(s), levels = s->levels;
    int64_t bytes = 0;
    to->rest = carve(&memory, &bytes, t->fronts, sizeof *to->rest);
    to->scratch = carve(&memory, &bytes, levels, sizeof *to->scratch);
    to->extent = carve(&memory, &bytes, levels, sizeof *to->extent);
    m->level = carve(&memory, &bytes, levels + 1, sizeof *m->level);
    m->block = carve(&memory, &bytes, blocks, sizeof *m->block);
    m->kin = carve(&memory, &bytes, blocks, sizeof *m->kin);
    m->here = carve(&memory, &bytes, blocks, sizeof(kin *));
    m->run = carve(&memory, &bytes, blocks + levels, sizeof *m->run);
    m->taken = carve(&memory, &bytes, blocks + levels, sizeof *m->taken);
    m->gap = carve(&memory, &bytes, blocks + levels + 1, sizeof *m->gap);
    return bytes;
}

int64_t sd_layout_room(const sd_tree *t, const sd_schedule *s)
{
    making m = {0};
    sd_layout none;
    return carve_all(t, s, NULL, &m, &none);
}

/* ---- blocks and their kin ---- */

static int by_kin_and_size(const void *a, const void *b)
{
    const block *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to > y->to ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->front < y->front ? -1 : 1;
}

static void add_block(making *m, int32_t f, int32_t l, int number_bytes)
{
    const int64_t size = m->t->parent[f] < 0 ? 0 : number_bytes * sd_rest_room(sd_front_below(m->t, f));
    if (size > 0) m->block[m->blocks++] = (block){.size = size, .from = l, .to = l, .front = f};
}

/* The level of each front, as long as the parents' are looked up, is where its place will be. */
static void list_blocks(making *m, int number_bytes, int64_t *level_of)
{
    const sd_schedule *s = m->s;
    for (int32_t l = 0; l < m->levels; ++l) {
        for (int64_t k = s->cluster_from[s->cluster_ptr[l]]; k < s->cluster_from[s->cluster_ptr[l + 1]]; ++k)
            level_of[s->cluster_front[k]] = l;
        for (int32_t c = s->cluster_ptr[l]; c < s->cluster_ptr[l + 1]; ++c)
            add_block(m, s->cluster_front[s->cluster_from[c + 1] - 1], l, number_bytes);
        for (int32_t k = s->large_ptr[l]; k < s->large_ptr[l + 1]; ++k) {
            level_of[s->large_front[k]] = l;
            add_block(m, s->large_front[k], l, number_bytes);
        }
    }
    for (int64_t k = 0; k < m->blocks; ++k)
        m->block[k].to = (int32_t)level_of[m->t->parent[m->block[k].front]];
    qsort(m->block, (size_t)m->blocks, sizeof *m->block, by_kin_and_size);
}

static void find_kin(making *m)
{
    for (int64_t k = 0; k < m->blocks; ++k) {
        const block *b = &m->block[k];
        if (k == 0 || b->from != b[-1].from || b->to != b[-1].to)
            m->kin[m->kins++] = (kin){.from = b->from, .to = b->to, .begin = k};
        m->kin[m->kins - 1].end = k + 1;
        if (b->to - b->from > m->longest) m->longest = b->to - b->from;
        m->level[b->from].live += b->size;
        m->level[b->to + 1].live -= b->size; /* there is one level more than there are */
    }
    int64_t k = 0;
    for (int32_t l = 0; l <= m->levels; ++l) {
        if (l > 0) m->level[l].live += m->level[l - 1].live;
        while (k < m->kins && m->kin[k].from < l) ++k;
        m->level[l].kin = k;
    }
}

/* ---- one round ---- */

static int by_begin(const void *a, const void *b)
{
    const gap *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* What is not taken in any of the levels from one to another, ascending; the last has no end. */
static int64_t find_gaps(making *m, int32_t from, int32_t to)
{
    int64_t count = 0, gaps = 0, at = 0;
    const int32_t first = from > m->longest ? from - m->longest : 0;
    for (int32_t l = first; l <= to; ++l)
        for (int64_t k = m->level[l].runs; k >= 0; k = m->run[k].next)
            if (m->run[k].to >= from) m->taken[count++] = (gap){m->run[k].begin, m->run[k].end, 0};
    m->looks += count;
    qsort(m->taken, (size_t)count, sizeof *m->taken, by_begin);
    for (int64_t k = 0; k < count; ++k) {
        if (m->taken[k].begin > at) m->gap[gaps++] = (gap){at, m->taken[k].begin, at};
        if (m->taken[k].end > at) at = m->taken[k].end;
    }
    m->gap[gaps++] = (gap){at, INT64_MAX, at};
    return gaps;
}

static void add_run(making *m, int64_t begin, int64_t end, int32_t from, int32_t to)
{
    m->run[m->runs] = (run){begin, end, from, to, m->level[from].runs};
    m->level[from].runs = m->runs++;
}

/* Each block goes into the first gap that it fits in; the largest come first. */
static void place_kin(making *m, kin *all)
{
    const int64_t gaps = find_gaps(m, all->from, all->to), smallest = m->block[all->end - 1].size;
    int64_t first = 0;
    all->placed = true;
    for (int64_t k = all->begin; k < all->end; ++k) {
        block *b = &m->block[k];
        while (m->gap[first].end - m->gap[first].begin < smallest) ++first;
        int64_t g = first;
        while (m->gap[g].end - m->gap[g].begin < b->size) ++g;
        b->at = m->gap[g].begin;
        m->gap[g].begin += b->size;
    }
    for (int64_t g = 0; g < gaps; ++g)
        if (m->gap[g].begin > m->gap[g].begun)
            add_run(m, m->gap[g].begun, m->gap[g].begin, all->from, all->to);
}

static void place_scratch(making *m, int32_t l)
{
    level *v = &m->level[l];
    const int64_t gaps = v->scratch > 0 ? find_gaps(m, l, l) : 0;
    v->scratch_at = 0;
    for (int64_t g = 0; g < gaps; ++g) {
        v->scratch_at = round_up(m->gap[g].begin, UNIT);
        if (m->gap[g].end - v->scratch_at >= v->scratch) break;
    }
    if (gaps > 0) add_run(m, v->scratch_at, v->scratch_at + v->scratch, l, l);
}

static int by_end(const void *a, const void *b)
{
    const kin *x = *(kin *const *)a, *y = *(kin *const *)b;
    if (x->to != y->to) return x->to > y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Everything that is there in level l, what lives longest nearest to the end of the arena: panels only become
 * more. */
static void place_level(making *m, int32_t l)
{
    int64_t count = 0;
    for (int32_t from = l > m->longest ? l - m->longest : 0; from <= l; ++from)
        for (int64_t k = m->level[from].kin; k < m->level[from + 1].kin && m->kin[k].to >= l; ++k)
            if (!m->kin[k].placed) m->here[count++] = &m->kin[k];
    qsort(m->here, (size_t)count, sizeof *m->here, by_end);
    for (int64_t k = 0; k < count; ++k) place_kin(m, m->here[k]);
    place_scratch(m, l);
}

/* The bytes that it takes, and in which level. */
static int64_t measure(making *m, int32_t *decides)
{
    int64_t most = -1;
    for (int32_t l = 0; l < m->levels; ++l) m->level[l].extent = 0;
    for (int64_t k = 0; k < m->runs; ++k)
        for (int32_t l = m->run[k].from; l <= m->run[k].to; ++l)
            if (m->run[k].end > m->level[l].extent) m->level[l].extent = m->run[k].end;
    for (int32_t l = 0; l < m->levels; ++l) {
        const int64_t bytes = m->level[l].panels + m->level[l].extent;
        if (bytes <= most) continue;
        most = bytes;
        *decides = l;
    }
    return most;
}

static int64_t place_all(making *m, int32_t *decides)
{
    m->runs = 0;
    for (int64_t k = 0; k < m->kins; ++k) m->kin[k].placed = false;
    for (int32_t l = 0; l < m->levels; ++l) m->level[l].runs = -1;
    for (int32_t k = 0; k < m->levels; ++k) place_level(m, m->level[k].order);
    return measure(m, decides);
}

/* ---- rounds ---- */

/* Bytes of a level that no places can spare. */
static int64_t at_least(const level *v)
{
    return v->panels + v->live + v->scratch;
}

typedef struct turn {
    int64_t bytes;
    int32_t level;
} turn;

static int by_bytes(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->level < y->level ? -1 : 1;
}

/* The level that needs most has the first turn. Returns what that is. */
static int64_t order_levels(making *m)
{
    turn *all = (turn *)(void *)m->taken; /* there is as much room for a turn as for a gap */
    for (int32_t l = 0; l < m->levels; ++l) all[l] = (turn){at_least(&m->level[l]), l};
    qsort(all, (size_t)m->levels, sizeof *all, by_bytes);
    for (int32_t l = 0; l < m->levels; ++l) m->level[l].order = all[l].level;
    return m->levels > 0 ? all[0].bytes : 0;
}

static void put_first(making *m, int32_t l)
{
    int32_t k = 0, before = l;
    do {
        const int32_t now = m->level[k].order;
        m->level[k++].order = before;
        before = now;
    } while (before != l);
}

static void keep_places(making *m)
{
    for (int64_t k = 0; k < m->blocks; ++k) m->block[k].best = m->block[k].at;
    for (int32_t l = 0; l < m->levels; ++l) {
        m->level[l].scratch_best = m->level[l].scratch_at;
        m->level[l].extent_best = m->level[l].extent;
    }
}

static void write_layout(const making *m, int number_bytes, sd_layout *to)
{
    to->bytes = 0;
    for (int32_t l = 0; l < m->levels; ++l) {
        to->extent[l] = m->level[l].extent_best;
        if (to->extent[l] > to->bytes) to->bytes = to->extent[l];
    }
    to->bytes = round_up(to->bytes, UNIT);
    for (int32_t l = 0; l < m->levels; ++l)
        to->scratch[l] = to->bytes - m->level[l].scratch_best - m->level[l].scratch;
    for (int32_t f = 0; f < m->t->fronts; ++f)
        to->rest[f] = m->t->parent[f] < 0 ? -1 : m->s->inner[f] ? m->s->rest[f] : 0;
    for (int64_t k = 0; k < m->blocks; ++k)
        to->rest[m->block[k].front] = (to->bytes - m->block[k].best - m->block[k].size) / number_bytes;
}

void sd_layout_make(const sd_tree *t, const sd_schedule *s, int number_bytes, const sd_level_bytes *bytes,
                    void *memory, sd_layout *to)
{
    making m = {.t = t, .s = s, .levels = s->levels};
    int64_t least = INT64_MAX;
    int32_t decides = 0;
    carve_all(t, s, memory, &m, to);
    memset(m.level, 0, ((size_t)m.levels + 1) * sizeof *m.level);
    for (int32_t l = 0; l < m.levels; ++l) {
        m.level[l].panels = bytes[l].panels;
        m.level[l].scratch = round_up(bytes[l].scratch, UNIT);
    }
    list_blocks(&m, number_bytes, to->rest);
    find_kin(&m);
    const int64_t bound = order_levels(&m);
    for (int round = 0; round < ROUNDS && least > bound && m.looks < MOST_LOOKS; ++round) {
        const int64_t most = place_all(&m, &decides);
        if (most < least) keep_places(&m);
        if (most < least) least = most;
        if (m.levels == 0 || m.level[0].order == decides) break;
        put_first(&m, decides);
    }
    write_layout(&m, number_bytes, to);
}
