/*
 * Vertex separators improved one vertex at a time (C. Ashcraft and J. W. H. Liu, Robust ordering of sparse
 * matrices using multisection, SIAM J. Matrix Anal. Appl. 19 (1998); the passes are those of C. M. Fiduccia
 * and R. M. Mattheyses, A linear-time heuristic for improving network partitions, DAC 1982).
 *
 * A vertex v of the separator moves to a side; its neighbours on the other side follow into the separator,
 * which gains size(v) - size(those) rows. In a pass all moves go to one side, the best first, also those that
 * lose; a pass ends when so many in a row have not led to anything better, and all that came after the best
 * is undone.
 *
 * Better is a smaller ratio of the separator to the product of its sides: a little balance is given up for a
 * smaller separator, and much of it only for a much smaller one. By the separator alone, within the same
 * bounds, the sides of interior-point systems came out uneven, and the operations three times as many.
 */
#include "prepare/dissect.h"

enum { PASSES = 10, PATIENCE = 600 };

bool sd_cut_room(sd_cut *t, int32_t n, sd_region *r)
{
    t->reach = sd_words(r, 2 * (int64_t)n);
    t->border = sd_words(r, n);
    t->place = sd_words(r, n);
    t->heap = sd_words(r, n);
    t->key = sd_words(r, n);
    t->at = sd_words(r, n);
    t->moved = sd_words(r, n);
    t->pulled = sd_words(r, n);
    t->first = sd_words(r, (int64_t)n + 1);
    return t->first != NULL;
}

sd_score sd_cut_score(const sd_cut *t)
{
    const int64_t large = t->rows[0] > t->rows[1] ? t->rows[0] : t->rows[1];
    const double balance = (double)t->rows[0] * (double)t->rows[1];
    return (sd_score){.excess = large > t->most ? large - t->most : 0,
                      .ratio = balance > 0 ? (double)t->rows[2] / balance : (double)t->rows[2],
                      .difference = 2 * large - t->rows[0] - t->rows[1]};
}

bool sd_better(sd_score a, sd_score b)
{
    if (a.excess != b.excess) return a.excess < b.excess;
    if (a.ratio < b.ratio || a.ratio > b.ratio) return a.ratio < b.ratio;
    return a.difference < b.difference;
}

/* ---- a heap of the separator's vertices, the largest key first ---- */

static void set_heap(sd_cut *t, int32_t place, int32_t v)
{
    t->heap[place] = v;
    t->at[v] = place;
}

static void raise(sd_cut *t, int32_t v)
{
    int32_t place = t->at[v];
    while (place > 0 && t->key[t->heap[(place - 1) / 2]] < t->key[v]) {
        set_heap(t, place, t->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    set_heap(t, place, v);
}

static void lower(sd_cut *t, int32_t v)
{
    int32_t place = t->at[v];
    for (int32_t child; (child = 2 * place + 1) < t->heaped; place = child) {
        if (child + 1 < t->heaped && t->key[t->heap[child + 1]] > t->key[t->heap[child]]) ++child;
        if (t->key[t->heap[child]] <= t->key[v]) break;
        set_heap(t, place, t->heap[child]);
    }
    set_heap(t, place, v);
}

static void insert(sd_cut *t, int32_t v, int32_t key)
{
    t->key[v] = key;
    set_heap(t, t->heaped++, v);
    raise(t, v);
}

static int32_t pop(sd_cut *t)
{
    const int32_t v = t->heap[0], last = t->heap[--t->heaped];
    t->at[v] = -1;
    if (t->heaped == 0) return v;
    set_heap(t, 0, last);
    lower(t, last);
    return v;
}

/* ---- the separator ---- */

static void enter(sd_cut *t, int32_t v)
{
    t->side[v] = 2;
    t->rows[2] += t->g->size[v];
    t->place[v] = t->borders;
    t->border[t->borders++] = v;
}

static void leave(sd_cut *t, int32_t v, int32_t side)
{
    const int32_t last = t->border[--t->borders];
    t->border[t->place[v]] = last;
    t->place[last] = t->place[v];
    t->place[v] = -1;
    t->side[v] = side;
    t->rows[2] -= t->g->size[v];
    t->rows[side] += t->g->size[v];
}

static void measure_reach(sd_cut *t, int32_t v)
{
    const sd_part *g = t->g;
    int32_t rows[3] = {0};
    for (int32_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) rows[t->side[g->ind[k]]] += g->size[g->ind[k]];
    t->reach[2 * (int64_t)v] = rows[0];
    t->reach[2 * (int64_t)v + 1] = rows[1];
}

void sd_cut_begin(sd_cut *t, const sd_part *g, int32_t *side)
{
    t->g = g;
    t->side = side;
    t->most = g->rows - g->rows * 7 / 20;
    t->rows[0] = t->rows[1] = t->rows[2] = 0;
    t->borders = t->heaped = 0;
    for (int32_t v = 0; v < g->n; ++v) {
        t->at[v] = t->place[v] = -1;
        if (side[v] == 2)
            enter(t, v);
        else
            t->rows[side[v]] += g->size[v];
    }
    for (int32_t k = 0; k < t->borders; ++k) measure_reach(t, t->border[k]);
}

/* u, on the other side than `to`, follows into the separator; in a pass it joins the heap. */
static void pull(sd_cut *t, int32_t u, int to)
{
    const sd_part *g = t->g;
    int32_t rows[3] = {0};
    t->rows[1 - to] -= g->size[u];
    enter(t, u);
    for (int32_t k = g->ptr[u]; k < g->ptr[u + 1]; ++k) {
        const int32_t w = g->ind[k];
        rows[t->side[w]] += g->size[w];
        if (t->side[w] != 2) continue;
        t->reach[2 * (int64_t)w + (1 - to)] -= g->size[u];
        if (t->at[w] < 0) continue;
        t->key[w] += g->size[u];
        raise(t, w);
    }
    t->reach[2 * (int64_t)u] = rows[0];
    t->reach[2 * (int64_t)u + 1] = rows[1];
    insert(t, u, g->size[u] - rows[1 - to]);
}

/* v moves to a side; those that follow are counted in *pulled. */
static void move(sd_cut *t, int32_t v, int to, int32_t *pulled)
{
    const sd_part *g = t->g;
    leave(t, v, to);
    for (int32_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
        const int32_t u = g->ind[k];
        if (t->side[u] == 2) {
            t->reach[2 * (int64_t)u + to] += g->size[v];
        } else if (t->side[u] != to) {
            t->pulled[(*pulled)++] = u;
            pull(t, u, to);
        }
    }
}

/* The last move taken back; `pulled` are those that had followed. */
static void undo(sd_cut *t, int32_t v, int to, const int32_t *pulled, int32_t count)
{
    const sd_part *g = t->g;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t u = pulled[i];
        leave(t, u, 1 - to);
        for (int32_t k = g->ptr[u]; k < g->ptr[u + 1]; ++k)
            if (t->side[g->ind[k]] == 2) t->reach[2 * (int64_t)g->ind[k] + (1 - to)] += g->size[u];
    }
    t->rows[to] -= g->size[v];
    enter(t, v);
    for (int32_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k)
        if (t->side[g->ind[k]] == 2) t->reach[2 * (int64_t)g->ind[k] + to] -= g->size[v];
    measure_reach(t, v);
}

/* A vertex of side 1, from a random one on, into the separator and the heap; false where there is none. */
static bool plant(sd_cut *t, uint64_t *random)
{
    const int32_t from = sd_draw(random, t->g->n);
    for (int32_t i = 0; i < t->g->n; ++i) {
        const int32_t v = from + i < t->g->n ? from + i : from + i - t->g->n;
        if (t->side[v] != 1) continue;
        pull(t, v, 0);
        return true;
    }
    return false;
}

/* Moves to one side. With `random`, side 0 is being grown: an empty separator is planted anew. Returns
 * whether it is better than before. */
static bool pass(sd_cut *t, int to, uint64_t *random)
{
    const int32_t limit = 2 * t->borders > PATIENCE || random ? PATIENCE : 2 * t->borders;
    int32_t moves = 0, kept = 0, pulled = 0;
    sd_score best = sd_cut_score(t);
    const sd_score begin = best;
    t->heaped = 0;
    for (int32_t k = 0; k < t->borders; ++k) {
        const int32_t v = t->border[k];
        insert(t, v, t->g->size[v] - t->reach[2 * (int64_t)v + (1 - to)]);
    }
    while (t->heaped > 0 || (random && best.excess > 0 && plant(t, random))) {
        const int32_t v = pop(t);
        if (t->rows[to] + t->g->size[v] > t->most) continue;
        t->first[moves] = pulled;
        t->moved[moves++] = v;
        move(t, v, to, &pulled);
        const sd_score now = sd_cut_score(t);
        if (sd_better(now, best)) {
            best = now;
            kept = moves;
        } else if (best.excess == 0 && moves - kept > limit) {
            break;
        }
    }
    t->first[moves] = pulled;
    while (t->heaped > 0) t->at[t->heap[--t->heaped]] = -1;
    for (; moves > kept; --moves)
        undo(t, t->moved[moves - 1], to, t->pulled + t->first[moves - 1],
             t->first[moves] - t->first[moves - 1]);
    return sd_better(best, begin);
}

void sd_cut_refine(sd_cut *t)
{
    int to = t->rows[0] > t->rows[1], idle = 0;
    for (int k = 0; k < PASSES && idle < 2; ++k, to = 1 - to) idle = pass(t, to, NULL) ? 0 : idle + 1;
}

void sd_cut_grow(sd_cut *t, const sd_part *g, int32_t *side, uint64_t *random)
{
    for (int32_t v = 0; v < g->n; ++v) side[v] = 1;
    sd_cut_begin(t, g, side);
    pass(t, 0, random);
    sd_cut_refine(t);
}
