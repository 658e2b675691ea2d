/*
 * Matching by auction: near the optimum at a steady cost.
 *
 * Free rows bid for columns: row i takes the column of least c_ij - v_j and lowers v_j by as much as this
 * column is better than its second choice, and by epsilon; the row that had the column is free again. A row
 * that is matched in the end is within epsilon of its best column (D. P. Bertsekas, The auction algorithm: a
 * distributed relaxation method for the assignment problem, Ann. Oper. Res. 14 (1988)). As in J. D. Hogg and
 * J. A. Scott, On the efficient scaling of sparse symmetric matrices using an auction algorithm
 * (RAL-P-2014-002), a bidding that matches no further row for some rounds is not fought out: here epsilon,
 * which begins at 0.01, is doubled, and at 1 the rows that are still free stay so. At the end u_i is the
 * least c_ij - v_j: |r_i a_ij c_j| <= 1 holds everywhere, with at least exp(-epsilon) on the matching. For a
 * symmetric matrix the mean of both sides keeps the former, not the latter.
 */
#include "prepare/assignment.h"

#include <math.h>

#define EPSILON_FIRST 0.01
#define EPSILON_LAST 1.0

/* What a row with one entry bids beyond it: it has no other choice. */
#define ONLY_CHOICE 10.0

/* Rounds, and rounds without a further match before 9 in 10 rows are matched and after that. */
enum { ROUNDS = 30000, QUIET_ROUNDS_EARLY = 100, QUIET_ROUNDS_LATE = 10 };

/* All bids together look at no more than this many times nnz entries: long rows may be displaced often. */
enum { SCANS_OF_ALL = 200 };

/* Row i bids; gives the row that it displaces, or -1. An empty row stays free, and so does one whose only
 * choice is the only choice of the row that has it: they would outbid each other for ever. */
static int32_t place_bid(sd_assignment *a, int32_t i, double epsilon)
{
    const sd_bid b = sd_find_bid(a, i);
    if (b.entry < 0) return -1;
    const int32_t j = a->ind[b.entry], other = a->col[j].row;
    if (other >= 0 && !(b.second < HUGE_VAL) && !(sd_find_bid(a, other).second < HUGE_VAL)) return -1;
    a->col[j].v -= (b.second < HUGE_VAL ? b.second - b.least : ONLY_CHOICE) + epsilon;
    if (other >= 0) a->row[other].col = -1;
    sd_assign(a, i, j, a->cost[b.entry]);
    return other;
}

/* All the rounds; `queue` holds the free rows in turn. Rows that are displaced bid in the next round. */
static void hold_auction(sd_assignment *a, int32_t *queue)
{
    int32_t waiting = 0, quiet = 0;
    double epsilon = EPSILON_FIRST;
    int64_t budget = SCANS_OF_ALL * a->ptr[a->n];
    for (int32_t i = 0; i < a->n; ++i)
        if (a->row[i].col < 0) queue[waiting++] = i;
    for (int round = 0; round < ROUNDS && waiting > 0 && budget > 0; ++round) {
        int32_t displaced = 0;
        for (int32_t q = 0; q < waiting; ++q) {
            budget -= a->ptr[queue[q] + 1] - a->ptr[queue[q]];
            const int32_t other = place_bid(a, queue[q], epsilon);
            if (other >= 0) queue[displaced++] = other;
        }
        quiet = displaced < waiting ? 0 : quiet + 1;
        const bool late = displaced <= a->n / 10;
        if (quiet >= (late ? QUIET_ROUNDS_LATE : QUIET_ROUNDS_EARLY)) {
            if (epsilon >= EPSILON_LAST) break;
            epsilon = fmin(EPSILON_LAST, 2.0 * epsilon);
            quiet = 0;
        }
        waiting = displaced;
    }
}

saddle_status sd_match_auction(sd_context *c, const sd_csr *A, bool symmetric, sd_matching *m)
{
    int32_t *queue = NULL;
    sd_assignment a = {0};
    saddle_status status = sd_matching_init(c, A->n, m);
    if (status) return status;
    status = sd_assignment_init(c, A, symmetric, &a);
    if (!status) status = sd_assignment_start(c, &a, symmetric ? SD_START_SYMMETRIC : SD_START_GENERAL);
    if (status) goto done;
    queue = sd_alloc(c, A->n, sizeof *queue, "bidders");
    if (!queue) {
        status = c->status;
        goto done;
    }
    hold_auction(&a, queue);
    for (int32_t i = 0; i < A->n; ++i) {
        const sd_bid b = sd_find_bid(&a, i);
        a.row[i].u = b.entry >= 0 ? b.least : 0.0;
        m->rank += a.row[i].col >= 0;
    }
    if (symmetric)
        for (int32_t i = 0; i < A->n; ++i) a.row[i].u = a.col[i].v = 0.5 * (a.row[i].u + a.col[i].v);
    else
        sd_assignment_centre(&a);
    sd_assignment_give(&a, m);
    sd_matching_bound(A, symmetric, m);
done:
    sd_assignment_free(c, &a);
    sd_free(c, queue);
    if (status) sd_matching_free(c, m);
    return status;
}
