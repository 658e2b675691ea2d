/*
 * Shortest augmenting paths for the assignment problem of assignment.h.
 *
 * From a free row Dijkstra's method finds the nearest free column, an entry being as long as its slack
 * c_ij - u_i - v_j and a matched entry, taken backwards, 0. With D the distance of that column and d_j < D
 * those of the columns that were reached for good, v_j += d_j - D, and u + D - d for the rows matched with
 * them and for the first one, leave the duals feasible and every entry of the path tight; the matching is
 * changed along it (I. S. Duff and J. Koster, SIAM J. Matrix Anal. Appl. 22 (2001), section 4).
 *
 * A search costs what it visits: labels are told apart by the number of the search. Entries of length 0 go on
 * a stack and past the heap. A row that reaches no free column is given up, and with it every column that its
 * search has reached: no later path can leave that set, so none goes into it.
 *
 * Lengths that differ by rounding only count as equal, here and where the nearest column is chosen. In a
 * matrix of few different values whole regions are equally far away, and those that rounding puts a little
 * nearer than the free column that is known already would all be traversed before it is taken.
 */
#include "prepare/assignment.h"
#include "prepare/prepare.h"

#include <math.h>

typedef struct heap_item {
    double dist;
    int32_t col;
} heap_item;

typedef struct search {
    sd_assignment *a;
    sd_long_rows rows;
    int32_t number;
    heap_item *heap;
    int32_t heap_count;
    int32_t *stack, stack_count; /* columns as near as the row that is being looked at */
    int32_t *reached, reached_count;
    double best; /* distance of the nearest free column yet */
    int32_t best_col;
    int64_t scanned; /* entries, by the searches since the caller was last asked whether to go on */
} search;

/* Marks the columns that no augmenting path can leave: larger than any search's number. */
enum { DEAD = INT32_MAX };

/* The searches of a hard problem can take minutes: after so many entries, a fraction of a second, the caller
 * may end them. */
enum { SCANNED_BETWEEN_CALLS = 1 << 23 };

/* Nearer columns first; the lower index of two that are equally near. */
static bool before(const heap_item *x, const heap_item *y)
{
    return x->dist < y->dist || (x->dist == y->dist && x->col < y->col);
}

static void heap_put(search *s, int32_t at, heap_item item)
{
    s->heap[at] = item;
    s->a->col[item.col].heap = at;
}

static void heap_rise(search *s, int32_t at, heap_item item)
{
    while (at > 0) {
        const int32_t parent = (at - 1) / 4;
        if (!before(&item, &s->heap[parent])) break;
        heap_put(s, at, s->heap[parent]);
        at = parent;
    }
    heap_put(s, at, item);
}

static void heap_sink(search *s, int32_t at, heap_item item)
{
    for (;;) {
        const int32_t first = 4 * at + 1;
        if (first >= s->heap_count) break;
        const int32_t end = first + 4 < s->heap_count ? first + 4 : s->heap_count;
        int32_t least = first;
        for (int32_t child = first + 1; child < end; ++child)
            if (before(&s->heap[child], &s->heap[least])) least = child;
        if (!before(&s->heap[least], &item)) break;
        heap_put(s, at, s->heap[least]);
        at = least;
    }
    heap_put(s, at, item);
}

static void heap_remove(search *s, int32_t at)
{
    s->a->col[s->heap[at].col].heap = -1;
    const heap_item last = s->heap[--s->heap_count];
    if (at == s->heap_count) return;
    if (at > 0 && before(&last, &s->heap[(at - 1) / 4]))
        heap_rise(s, at, last);
    else
        heap_sink(s, at, last);
}

/* Column j is at most `dist` away, by row i at distance d. */
static void reach(search *s, int32_t i, int32_t j, double d, double dist)
{
    sd_assigned_column *q = &s->a->col[j];
    if (q->mark == s->number) {
        if (q->dist <= dist) return;
    } else {
        q->mark = s->number;
        q->heap = -1;
    }
    q->dist = dist;
    q->from = i;
    if (q->row < 0) {
        s->best = dist;
        s->best_col = j;
    } else if (dist > d) {
        heap_rise(s, q->heap < 0 ? s->heap_count++ : q->heap, (heap_item){dist, j});
    } else {
        if (q->heap >= 0) heap_remove(s, q->heap);
        s->stack[s->stack_count++] = j;
    }
}

/* Looks at entries of row i, which is at distance d. */
static void scan_entries(search *s, int32_t i, double d, const int32_t *ind, const double *cost,
                         int64_t count)
{
    const double base = d - s->a->row[i].u;
    for (int64_t k = 0; k < count; ++k) {
        const sd_assigned_column *q = &s->a->col[ind[k]];
        const double dist = cost[k] - q->v + base;
        if (!(dist < s->best) || q->mark == DEAD) continue;
        reach(s, i, ind[k], d, dist > d + SD_TIGHT ? dist : d);
        if (s->best <= d) return;
    }
}

static void scan_row(search *s, int32_t i, double d)
{
    const sd_assignment *a = s->a;
    const int64_t begin = a->ptr[i], count = a->ptr[i + 1] - begin;
    s->scanned += count;
    if (count <= SD_LONG_ROW || s->rows.scans[i] != SD_SORTED) {
        scan_entries(s, i, d, a->ind + begin, a->cost + begin, count);
        if (count > SD_LONG_ROW) sd_long_rows_count(a, &s->rows, i);
        return;
    }
    const double base = d - a->row[i].u;
    for (int64_t k = 0; k < count && s->best > d; k += SD_CHUNK_OF_ROW) {
        const int64_t at = s->rows.place[i] + k, left = count - k;
        if (s->rows.key[at / SD_CHUNK_OF_ROW] + base >= s->best) return;
        scan_entries(s, i, d, s->rows.ind + at, s->rows.cost + at,
                     left < SD_CHUNK_OF_ROW ? left : SD_CHUNK_OF_ROW);
    }
}

/* The next column in order of distance, or -1 where none is nearer than the best free one. */
static int32_t next_column(search *s)
{
    int32_t j;
    if (s->stack_count > 0) {
        j = s->stack[--s->stack_count];
    } else {
        if (s->heap_count == 0 || s->heap[0].dist >= s->best - SD_TIGHT) return -1;
        j = s->heap[0].col;
        heap_remove(s, 0);
    }
    s->reached[s->reached_count++] = j;
    return j;
}

/* Moves the duals of what was reached, then changes the matching along the path. */
static void augment(search *s, int32_t root)
{
    sd_assignment *a = s->a;
    for (int32_t r = 0; r < s->reached_count; ++r) {
        sd_assigned_column *q = &a->col[s->reached[r]];
        if (!(q->dist < s->best)) continue;
        q->v += q->dist - s->best;
        a->row[q->row].u = a->row[q->row].cost - q->v;
    }
    for (int32_t j = s->best_col, i = -1; i != root;) {
        i = a->col[j].from;
        const int32_t next = a->row[i].col;
        sd_assign(a, i, j, a->cost[sd_find_index(a->ind, a->ptr[i], a->ptr[i + 1], j)]);
        a->row[i].u = a->row[i].cost - a->col[j].v;
        j = next;
    }
}

static bool search_from(search *s, int32_t root)
{
    s->heap_count = s->stack_count = s->reached_count = 0;
    s->best = HUGE_VAL;
    s->best_col = -1;
    ++s->number;
    double d = 0.0;
    for (int32_t i = root;;) {
        scan_row(s, i, d);
        if (s->best <= d) break;
        const int32_t j = next_column(s);
        if (j < 0) break;
        d = s->a->col[j].dist;
        i = s->a->col[j].row;
    }
    if (s->best_col >= 0) {
        augment(s, root);
        return true;
    }
    for (int32_t r = 0; r < s->reached_count; ++r) s->a->col[s->reached[r]].mark = DEAD;
    return false;
}

/* Searches from every free row; gives the size of the matching. */
static saddle_status search_from_all(sd_context *c, search *s, int32_t *rank)
{
    saddle_status status = SADDLE_OK;
    *rank = 0;
    for (int32_t i = 0; i < s->a->n && !status; ++i) {
        *rank += s->a->row[i].col >= 0 || search_from(s, i);
        if (s->scanned < SCANNED_BETWEEN_CALLS) continue;
        status = sd_progress(c, "prepare", 0, SD_PREPARE_STEPS, NAN);
        s->scanned = 0;
    }
    return status;
}

saddle_status sd_assignment_augment(sd_context *c, sd_assignment *a, int32_t *rank)
{
    search s = {.a = a};
    *rank = 0;
    for (int32_t i = 0; i < a->n; ++i) *rank += a->row[i].col >= 0;
    if (*rank == a->n) return SADDLE_OK; /* no room for searches is needed */
    saddle_status status = sd_long_rows_init(c, a, &s.rows);
    if (status) return status;
    s.heap = sd_alloc(c, a->n, sizeof *s.heap, "heap of the matching");
    s.stack = s.heap ? sd_alloc(c, a->n, sizeof *s.stack, "stack of the matching") : NULL;
    s.reached = s.stack ? sd_alloc(c, a->n, sizeof *s.reached, "columns of a search") : NULL;
    status = s.reached ? search_from_all(c, &s, rank) : c->status;
    sd_free_all(c, s.heap, s.stack, s.reached);
    sd_long_rows_free(c, &s.rows);
    return status;
}
