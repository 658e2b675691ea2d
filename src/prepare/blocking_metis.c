/*
 * Blocks by partitioning: METIS cuts the graph such that the edges between the parts weigh little.
 *
 * Asked for n/8 parts at once, it takes a minute for a million vertices, prints messages where it has
 * bisected parts of its own down to nothing, and leaves a good many parts a row or two too large. So it is
 * asked for few parts at a time: the graph is cut into WAYS parts, these again, and small ones into halves,
 * until about `most` rows are left in each. What is too large then is divided into connected pieces that fit,
 * and small pieces are joined with a neighbour, those with the heaviest edges between them first.
 */
#include "prepare/blocking_parts.h"
#include "prepare/metis.h"

#include <string.h>

enum { WAYS = 32 };

/* The vertices stand part by part in `member`, ascending in each. */
typedef struct cutting {
    const sd_graph *g;
    int32_t most;
    int32_t *member;
    int32_t *position; /* of each vertex in it */
    int32_t *sorted;   /* members in the order of their new parts */
    int32_t *cut;      /* the new part of each member */
    int32_t *part;     /* of each vertex, in the end: its first member */
} cutting;

static int64_t count_rows(const cutting *t, int32_t begin, int32_t end)
{
    int64_t rows = 0;
    for (int32_t m = begin; m < end; ++m) rows += sd_graph_size(t->g, t->member[m]);
    return rows;
}

/* The graph of the members from begin to end. */
static saddle_status subgraph(sd_context *c, const cutting *t, int32_t begin, int32_t end, sd_graph *sub)
{
    const sd_graph *g = t->g;
    int64_t room = 0, count = 0;
    for (int32_t m = begin; m < end; ++m) room += g->ptr[t->member[m] + 1] - g->ptr[t->member[m]];
    *sub = (sd_graph){.n = end - begin};
    sub->ptr = sd_alloc(c, (int64_t)sub->n + 1, sizeof *sub->ptr, "subgraph");
    sub->ind = sd_alloc(c, room, sizeof *sub->ind, "subgraph");
    if (g->size) sub->size = sd_alloc(c, sub->n, sizeof *sub->size, "subgraph");
    if (g->weight) sub->weight = sd_alloc(c, room, sizeof *sub->weight, "subgraph");
    if (!sub->ptr || !sub->ind || (g->size && !sub->size) || (g->weight && !sub->weight)) return c->status;
    for (int32_t m = begin; m < end; ++m) {
        const int32_t v = t->member[m];
        sub->ptr[m - begin] = count;
        if (g->size) sub->size[m - begin] = g->size[v];
        for (int64_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const int32_t w = t->position[g->ind[k]];
            if (w < begin || w >= end) continue;
            sub->ind[count] = w - begin;
            if (g->weight) sub->weight[count] = g->weight[k];
            ++count;
        }
    }
    sub->ptr[sub->n] = count;
    return SADDLE_OK;
}

/* Puts the members from begin to end in the order of their new parts: part p begins at start[p]. */
static void sort_members(cutting *t, int32_t begin, int32_t end, int32_t ways, int32_t *start)
{
    int32_t next[WAYS + 1] = {0};
    for (int32_t m = begin; m < end; ++m) ++next[t->cut[m - begin] + 1];
    next[0] = begin;
    for (int32_t p = 0; p < ways; ++p) next[p + 1] += next[p];
    memcpy(start, next, ((size_t)ways + 1) * sizeof *start);
    for (int32_t m = begin; m < end; ++m) t->sorted[next[t->cut[m - begin]]++] = t->member[m];
    for (int32_t m = begin; m < end; ++m) {
        t->member[m] = t->sorted[m];
        t->position[t->member[m]] = m;
    }
}

/* Where one part has got nearly all of `count` members, they are cut by their order instead: so the depth of
 * the recursion stays logarithmic whatever METIS does. */
static void mend_cut(cutting *t, int32_t count, int32_t ways)
{
    int32_t members[WAYS] = {0}, largest = 0;
    for (int32_t m = 0; m < count; ++m) {
        const int32_t these = ++members[t->cut[m]];
        if (these > largest) largest = these;
    }
    if (largest < count && largest <= count - count / 4) return;
    for (int32_t m = 0; m < count; ++m) t->cut[m] = (int32_t)((int64_t)m * ways / count);
}

/* Cuts the members from begin to end down to parts that are small enough, but for a quarter. */
static saddle_status cut_down(sd_context *c, cutting *t, int32_t begin, int32_t end)
{
    const int64_t rows = count_rows(t, begin, end);
    const int32_t ways = rows >= (int64_t)WAYS * WAYS * t->most ? WAYS : 2;
    for (int32_t m = begin; m < end; ++m) t->part[t->member[m]] = t->member[begin];
    if (end - begin <= 1 || rows <= t->most + t->most / 4) return SADDLE_OK;
    int32_t start[WAYS + 1];
    sd_graph sub = {0};
    saddle_status status = subgraph(c, t, begin, end, &sub);
    if (!status) status = sd_metis_partition(c, &sub, ways, t->cut);
    sd_graph_free(c, &sub);
    if (status) return status;
    mend_cut(t, end - begin, ways);
    sort_members(t, begin, end, ways, start);
    for (int32_t p = 0; p < ways && !status; ++p) status = cut_down(c, t, start[p], start[p + 1]);
    return status;
}

static saddle_status cut_graph(sd_context *c, const sd_graph *g, int32_t most, int32_t *part)
{
    cutting t = {.g = g, .most = most, .part = part};
    t.member = sd_alloc(c, g->n, sizeof *t.member, "vertices by parts");
    t.position = sd_alloc(c, g->n, sizeof *t.position, "vertices by parts");
    t.sorted = sd_alloc(c, g->n, sizeof *t.sorted, "vertices by parts");
    t.cut = sd_alloc(c, g->n, sizeof *t.cut, "partition");
    saddle_status status = t.member && t.position && t.sorted && t.cut ? SADDLE_OK : c->status;
    for (int32_t v = 0; v < g->n && !status; ++v) t.member[v] = t.position[v] = v;
    if (!status && g->n > 0) status = cut_down(c, &t, 0, g->n);
    sd_free(c, t.cut);
    sd_free(c, t.sorted);
    sd_free(c, t.position);
    sd_free(c, t.member);
    return status;
}

/* Joins neighbouring pieces that fit into one; pieces are numbered. */
static saddle_status join_small(sd_context *c, const sd_graph *g, int32_t most, int32_t pieces, int32_t *part)
{
    sd_graph q = {0};
    int32_t *joined = sd_alloc(c, pieces, sizeof *joined, "joined pieces");
    saddle_status status = joined ? sd_graph_quotient(c, g, part, pieces, &q) : c->status;
    if (!status) status = sd_block_priority(c, &q, most, joined);
    for (int32_t v = 0; v < g->n && !status; ++v) part[v] = joined[part[v]];
    sd_graph_free(c, &q);
    sd_free(c, joined);
    return status;
}

saddle_status sd_block_metis(sd_context *c, const sd_graph *g, int32_t most, int32_t *part)
{
    int32_t pieces;
    int32_t *cut = sd_alloc(c, g->n, sizeof *cut, "partition");
    saddle_status status = cut ? cut_graph(c, g, most, cut) : c->status;
    if (!status) status = sd_grow_parts(c, g, NULL, SD_GROW_BY_WEIGHT, cut, most, part);
    sd_free(c, cut);
    if (!status) status = sd_number_parts(c, g->n, part, &pieces);
    return status ? status : join_small(c, g, most, pieces, part);
}
