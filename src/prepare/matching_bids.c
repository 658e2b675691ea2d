/*
 * Bids of free rows, between the start and the shortest paths.
 *
 * A free row takes the column of its least c_ij - v_j and lowers v_j by as much as this column is better than
 * its second choice, which keeps the duals feasible and the entry tight; the row that had the column is free
 * instead and bids next. Where both choices are the same nothing is gained by going on, and the row that was
 * displaced waits for the next pass (R. Jonker and A. Volgenant, A shortest augmenting path algorithm for
 * dense and sparse linear assignment problems, Computing 38 (1987): augmenting row reduction). It is an
 * auction with epsilon 0: cheap where a shortest path would have to look far, and it need not end, so that
 * there are few passes and all of them together look at no more than a few times nnz entries.
 */
#include "prepare/assignment.h"

#include <math.h>

enum { PASSES = 2, SCANS_OF_ALL = 4 };

sd_bid sd_find_bid(const sd_assignment *a, int32_t i)
{
    sd_bid b = {-1, -1, HUGE_VAL, HUGE_VAL};
    for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
        const double value = a->cost[k] - a->col[a->ind[k]].v;
        if (!(value < b.second)) continue;
        if (value < b.least) {
            b.second = b.least;
            b.second_entry = b.entry;
            b.least = value;
            b.entry = k;
        } else {
            b.second = value;
            b.second_entry = k;
        }
    }
    return b;
}

/* Row i bids once; gives the row that it displaced, or -1, or i itself where it has no second choice. *gain
 * says whether a dual was lowered. */
static int32_t place_bid(sd_assignment *a, int32_t i, bool *gain)
{
    const sd_bid b = sd_find_bid(a, i);
    *gain = b.second > b.least + SD_TIGHT;
    if (b.entry < 0) return -1;
    if (b.second_entry < 0 && a->col[a->ind[b.entry]].row >= 0) {
        *gain = false;
        return i;
    }
    const bool other_choice = !*gain && a->col[a->ind[b.entry]].row >= 0;
    const int64_t k = other_choice ? b.second_entry : b.entry;
    const int32_t j = a->ind[k], displaced = a->col[j].row;
    if (*gain && b.second_entry >= 0) a->col[j].v -= b.second - b.least;
    if (displaced >= 0) a->row[displaced].col = -1;
    sd_assign(a, i, j, a->cost[k]);
    a->row[i].u = a->cost[k] - a->col[j].v;
    return displaced;
}

saddle_status sd_assignment_bid(sd_context *c, sd_assignment *a)
{
    int32_t *queue = sd_alloc(c, a->n, sizeof *queue, "bidders"), count = 0;
    if (!queue) return c->status;
    for (int32_t i = 0; i < a->n; ++i)
        if (a->row[i].col < 0) queue[count++] = i;
    int64_t budget = SCANS_OF_ALL * a->ptr[a->n];
    for (int pass = 0; pass < PASSES; ++pass) {
        int32_t waiting = 0;
        for (int32_t q = 0; q < count; ++q) {
            bool gain = true;
            int32_t i = queue[q];
            while (i >= 0 && gain && budget > 0) {
                budget -= a->ptr[i + 1] - a->ptr[i];
                i = place_bid(a, i, &gain);
            }
            if (i >= 0) queue[waiting++] = i;
        }
        count = waiting;
    }
    for (int32_t q = 0; q < count; ++q) {
        const sd_bid b = sd_find_bid(a, queue[q]);
        a->row[queue[q]].u = b.entry >= 0 ? b.least : 0.0;
    }
    sd_free(c, queue);
    return SADDLE_OK;
}
