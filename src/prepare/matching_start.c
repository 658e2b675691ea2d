/*
 * The start of the shortest augmenting paths: feasible duals with a tight entry in every row, and a matching
 * on tight entries.
 *
 * A general matrix starts from the least cost of each column, then of what is left in each row (Duff and
 * Koster, section 4.4). A symmetric one starts from duals that are the same on both sides: with m_i the least
 * cost of row i, u_i = m_i / 2 is feasible, because c_ij >= max(m_i, m_j); then each u_i in turn is raised as
 * far as its entries let it. Tight entries then come in mirror images, and the matching takes both of them.
 */
#include "prepare/assignment.h"

#include <math.h>

static double row_minimum(const sd_assignment *a, int32_t i)
{
    double least = HUGE_VAL;
    for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) least = fmin(least, a->cost[k]);
    return least;
}

/* An empty line has no least cost: its dual is 0. */
static double or_zero(double cost)
{
    return cost < HUGE_VAL ? cost : 0.0;
}

static void start_duals(sd_assignment *a)
{
    for (int32_t j = 0; j < a->n; ++j) a->col[j].v = HUGE_VAL;
    for (int64_t k = 0; k < a->ptr[a->n]; ++k) {
        double *v = &a->col[a->ind[k]].v;
        if (a->cost[k] < *v) *v = a->cost[k];
    }
    for (int32_t j = 0; j < a->n; ++j) a->col[j].v = or_zero(a->col[j].v);
    for (int32_t i = 0; i < a->n; ++i) {
        double least = HUGE_VAL;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k)
            least = fmin(least, a->cost[k] - a->col[a->ind[k]].v);
        a->row[i].u = or_zero(least);
    }
}

static void start_symmetric_duals(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) a->col[i].v = 0.5 * or_zero(row_minimum(a, i));
    for (int32_t i = 0; i < a->n; ++i) {
        double least = HUGE_VAL;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
            const int32_t j = a->ind[k];
            least = fmin(least, j == i ? 0.5 * a->cost[k] : a->cost[k] - a->col[j].v);
        }
        a->col[i].v = or_zero(least);
    }
    for (int32_t i = 0; i < a->n; ++i) a->row[i].u = a->col[i].v;
}

static void match_tight(sd_assignment *a, int32_t i, int64_t k)
{
    const int32_t j = a->ind[k];
    sd_assign(a, i, j, a->cost[k]);
    a->row[i].u = a->cost[k] - a->col[j].v;
}

/* Diagonals first, then pairs (i, j) and (j, i) of tight entries between free rows. */
static void match_symmetric(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) {
        if (a->row[i].col >= 0) continue;
        int64_t found = -1;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
            const int32_t j = a->ind[k];
            if (a->row[j].col >= 0 || !(sd_slack(a, i, k) <= SD_TIGHT)) continue;
            if (found < 0 || j == i) found = k;
            if (j >= i) break;
        }
        if (found < 0) continue;
        const int32_t j = a->ind[found];
        match_tight(a, i, found);
        if (j == i) continue;
        sd_assign(a, j, i, a->cost[found]);
        a->row[j].u = a->cost[found] - a->col[i].v;
    }
}

/* The first tight entry of row i in a free column, from place next[i] on: columns never become free again. */
static int64_t free_tight(const sd_assignment *a, int64_t *next, int32_t i)
{
    for (int64_t k = next[i]; k < a->ptr[i + 1]; ++k) {
        if (a->col[a->ind[k]].row < 0 && sd_slack(a, i, k) <= SD_TIGHT) {
            next[i] = k + 1;
            return k;
        }
    }
    next[i] = a->ptr[i + 1];
    return -1;
}

/* Matches row i with a free column, or with one whose row can go over to another. */
static void match_cheaply(sd_assignment *a, int64_t *next, int32_t i)
{
    const int64_t free_entry = free_tight(a, next, i);
    if (free_entry >= 0) {
        match_tight(a, i, free_entry);
        return;
    }
    for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
        if (!(sd_slack(a, i, k) <= SD_TIGHT)) continue;
        const int32_t other = a->col[a->ind[k]].row;
        const int64_t moved = free_tight(a, next, other);
        if (moved < 0) continue;
        match_tight(a, other, moved);
        match_tight(a, i, k);
        return;
    }
}

saddle_status sd_assignment_start(sd_context *c, sd_assignment *a, bool symmetric)
{
    int64_t *next = sd_alloc(c, a->n, sizeof *next, "places in rows");
    if (!next) return c->status;
    for (int32_t i = 0; i < a->n; ++i) {
        a->row[i].col = a->col[i].row = -1;
        a->col[i].mark = 0;
        next[i] = a->ptr[i];
    }
    if (symmetric) {
        start_symmetric_duals(a);
        match_symmetric(a);
    } else {
        start_duals(a);
    }
    for (int32_t i = 0; i < a->n; ++i)
        if (a->row[i].col < 0) match_cheaply(a, next, i);
    sd_free(c, next);
    return SADDLE_OK;
}
