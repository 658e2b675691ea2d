/*
 * A matching on the tight entries of given duals: what is found without a shortest path.
 *
 * First diagonals and mirrored pairs (of a symmetric matrix), then free columns, then columns whose rows can
 * go over to a free one; at last longer paths over tight entries, by phases of depth-first searches from all
 * free rows that look ahead for free columns and do not go where another search of the phase has been
 * (A. Pothen and C.-J. Fan, Computing the block triangular form of a sparse matrix, ACM Trans. Math. Softw.
 * 16 (1990)). A phase is O(nnz); there is another one while they pay.
 */
#include "prepare/assignment.h"

/* Phases go on while they match at least one in so many of the free rows. */
enum { PHASES = 12, PHASE_PAYS = 16 };

static void match_tight(sd_assignment *a, int32_t i, int64_t k)
{
    const int32_t j = a->ind[k];
    sd_assign(a, i, j, a->cost[k]);
    a->row[i].u = a->cost[k] - a->col[j].v;
}

/* Diagonals first, then pairs (i, j) and (j, i) of tight entries between free rows. */
static void match_mirrored(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) {
        if (a->row[i].col >= 0) continue;
        int64_t found = -1;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
            const int32_t j = a->ind[k];
            if (found >= 0 && j > i) break;
            if (a->row[j].col >= 0 || (found >= 0 && j < i) || !(sd_slack(a, i, k) <= SD_TIGHT)) continue;
            found = k;
        }
        if (found < 0) continue;
        const int32_t j = a->ind[found];
        match_tight(a, i, found);
        if (j == i) continue;
        sd_assign(a, j, i, a->cost[found]);
        a->row[j].u = a->cost[found] - a->col[i].v;
    }
}

/* The first tight entry of row i in a free column, from place w->next[i] on: none becomes free again. */
static int64_t free_tight(const sd_assignment *a, sd_tight_work *w, int32_t i)
{
    for (int64_t k = w->next[i]; k < a->ptr[i + 1]; ++k) {
        if (a->col[a->ind[k]].row < 0 && sd_slack(a, i, k) <= SD_TIGHT) {
            w->next[i] = k + 1;
            return k;
        }
    }
    w->next[i] = a->ptr[i + 1];
    return -1;
}

/* Matches row i with a free column, or with one whose row can go over to another. */
static bool match_cheaply(sd_assignment *a, sd_tight_work *w, int32_t i)
{
    const int64_t free_entry = free_tight(a, w, i);
    if (free_entry >= 0) {
        match_tight(a, i, free_entry);
        return true;
    }
    for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
        if (!(sd_slack(a, i, k) <= SD_TIGHT)) continue;
        const int32_t other = a->col[a->ind[k]].row;
        const int64_t moved = free_tight(a, w, other);
        if (moved < 0) continue;
        match_tight(a, other, moved);
        match_tight(a, i, k);
        return true;
    }
    return false;
}

/* Advances row i to a column that is tight and new in this phase; gives its row, or -1 at the end. */
static int32_t next_on_path(sd_assignment *a, sd_tight_work *w, int32_t i, int32_t phase)
{
    while (w->at[i] < a->ptr[i + 1]) {
        const int64_t k = w->at[i]++;
        sd_assigned_column *q = &a->col[a->ind[k]];
        if (q->mark == phase || !(sd_slack(a, i, k) <= SD_TIGHT)) continue;
        q->mark = phase;
        return q->row;
    }
    return -1;
}

/* A depth-first search from a free row; true where it ends in a free column. */
static bool match_by_path(sd_assignment *a, sd_tight_work *w, int32_t root, int32_t phase)
{
    int32_t depth = 0;
    w->path[0] = root;
    w->at[root] = a->ptr[root];
    while (depth >= 0) {
        const int32_t i = w->path[depth];
        const int64_t found = w->at[i] == a->ptr[i] ? free_tight(a, w, i) : -1;
        if (found >= 0) {
            match_tight(a, i, found);
            while (--depth >= 0) match_tight(a, w->path[depth], w->at[w->path[depth]] - 1);
            return true;
        }
        const int32_t next = next_on_path(a, w, i, phase);
        if (next < 0) {
            --depth;
        } else {
            w->path[++depth] = next;
            w->at[next] = a->ptr[next];
        }
    }
    return false;
}

int32_t sd_match_tight(sd_assignment *a, bool symmetric, sd_tight_work *w)
{
    int32_t left = 0;
    for (int32_t i = 0; i < a->n; ++i) {
        a->row[i].col = a->col[i].row = -1;
        a->col[i].mark = 0;
        w->next[i] = a->ptr[i];
    }
    if (symmetric) match_mirrored(a);
    for (int32_t i = 0; i < a->n; ++i) left += a->row[i].col < 0 && !match_cheaply(a, w, i);
    for (int32_t phase = 1, matched = left; phase <= PHASES && matched > left / PHASE_PAYS; ++phase) {
        matched = 0;
        for (int32_t i = 0; i < a->n; ++i) matched += a->row[i].col < 0 && match_by_path(a, w, i, phase);
        left -= matched;
    }
    return left;
}
