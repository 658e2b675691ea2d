/*
 * The start of the shortest augmenting paths: feasible duals with a tight entry in every row, and a matching
 * on tight entries.
 *
 * A general matrix starts from the least cost of each column, then of what is left in each row (Duff and
 * Koster, section 4.4). A symmetric one starts from duals that are the same on both sides, so that tight
 * entries come in mirror images and the matching takes both of them. There are two ways to get these:
 *
 *     from the rows: with m_i the least cost of row i, u_i = m_i / 2 is feasible, because c_ij >= max(m_i,
 *     m_j); each u_i in turn is then raised as far as its entries let it;
 *
 *     from the diagonal: u_i = c_ii / 2 makes a diagonal entry tight. Two rows are in conflict where
 *     |a_ij|^2 > |a_ii a_jj|: both cannot have that. Rows keep their diagonals unless a row that is in
 *     fewer conflicts, and stands against it, has kept its own; the others are raised as before.
 *
 * The first is nearly always good; the second is far better where a few rows pull all others off their
 * diagonals (constraints on all variables), and is tried first where nearly all rows have
 * a sizeable one. Where the first
 * that is tried leaves many rows free, so is the other.
 */
#include "prepare/assignment.h"

#include <math.h>

/* The other start is tried when more than a few rows, and more than one in so many, are free; that from the
 * diagonal is taken when it leaves no more than one in so many of those that the rows' leaves. It comes first
 * where at most one row in so many has a weak diagonal. */
enum { FEW_LEFT = 4, TRY_AGAIN_SHARE = 100, TAKE_SHARE = 10, FEW_WEAK_SHARE = 20 };

#define WEAK_DIAGONAL 4.6 /* log 100 */

/* An empty line has no least cost: its dual is 0. */
static double or_zero(double cost)
{
    return cost < HUGE_VAL ? cost : 0.0;
}

/* As fmin, which compilers do not put in line because of NaN. */
static double lesser(double x, double y)
{
    return y < x ? y : x;
}

static void start_columns(sd_assignment *a)
{
    for (int32_t j = 0; j < a->n; ++j) a->col[j].v = HUGE_VAL;
    for (int64_t k = 0; k < a->ptr[a->n]; ++k) {
        double *v = &a->col[a->ind[k]].v;
        if (a->cost[k] < *v) *v = a->cost[k];
    }
    for (int32_t j = 0; j < a->n; ++j) a->col[j].v = or_zero(a->col[j].v);
}

static void start_rows(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) {
        double least = HUGE_VAL;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k)
            least = lesser(least, a->cost[k] - a->col[a->ind[k]].v);
        a->row[i].u = or_zero(least);
    }
}

/* The largest value of a symmetric dual that row i's entries allow. */
static double raised(const sd_assignment *a, int32_t i)
{
    double least = HUGE_VAL;
    for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
        const int32_t j = a->ind[k];
        least = lesser(least, j == i ? 0.5 * a->cost[k] : a->cost[k] - a->col[j].v);
    }
    return or_zero(least);
}

/* The least cost of each row, into dist. */
static void find_least(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) {
        double least = HUGE_VAL;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) least = lesser(least, a->cost[k]);
        a->col[i].dist = least;
    }
}

static void start_from_rows(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) a->col[i].v = 0.5 * or_zero(a->col[i].dist);
    for (int32_t i = 0; i < a->n; ++i) a->row[i].u = a->col[i].v = raised(a, i);
}

/* Half the cost of row i's diagonal entry; infinite where there is none. */
static double half_diagonal(const sd_assignment *a, int32_t i)
{
    const int64_t k = sd_find_index(a->ind, a->ptr[i], a->ptr[i + 1], i);
    return k < a->ptr[i + 1] && a->ind[k] == i ? 0.5 * a->cost[k] : HUGE_VAL;
}

/* Conflicts of row i, with its dual at u_i, among rows whose duals are in v; infinite ones count as `open`
 * says. */
static int32_t count_conflicts(const sd_assignment *a, int32_t i, bool open)
{
    int32_t conflicts = 0;
    for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
        const int32_t j = a->ind[k];
        if (j == i || (!open && a->col[j].v == HUGE_VAL)) continue;
        conflicts += a->cost[k] < a->row[i].u + a->col[j].v - SD_TIGHT;
    }
    return conflicts;
}

/* The rows by their conflicts, the fewest first. count has n + 1 places. */
static void sort_by_conflicts(sd_assignment *a, int32_t *count, int32_t *order)
{
    for (int32_t i = 0; i <= a->n; ++i) count[i] = 0;
    for (int32_t i = 0; i < a->n; ++i) {
        a->col[i].from = count_conflicts(a, i, true);
        ++count[a->col[i].from + 1];
    }
    for (int32_t i = 0; i < a->n; ++i) count[i + 1] += count[i];
    for (int32_t i = 0; i < a->n; ++i) order[count[a->col[i].from]++] = i;
}

/* Rows that did not keep their diagonals start, feasible, from those that did and from half the least cost
 * among themselves. */
static void start_others(sd_assignment *a)
{
    for (int32_t i = 0; i < a->n; ++i) {
        if (a->row[i].u < HUGE_VAL) continue;
        double least = HUGE_VAL;
        for (int64_t k = a->ptr[i]; k < a->ptr[i + 1]; ++k) {
            const double u = a->row[a->ind[k]].u;
            least = lesser(least, u < HUGE_VAL ? a->cost[k] - u : 0.5 * a->cost[k]);
        }
        a->col[i].v = or_zero(least);
    }
    for (int32_t i = 0; i < a->n; ++i)
        if (a->row[i].u == HUGE_VAL) a->col[i].v = raised(a, i);
}

static void start_from_diagonal(sd_assignment *a, int32_t *count, int32_t *order)
{
    for (int32_t i = 0; i < a->n; ++i) a->row[i].u = a->col[i].v = half_diagonal(a, i);
    sort_by_conflicts(a, count, order);
    for (int32_t i = 0; i < a->n; ++i) a->col[i].v = HUGE_VAL;
    for (int32_t r = 0; r < a->n; ++r) {
        const int32_t i = order[r];
        if (a->row[i].u < HUGE_VAL && count_conflicts(a, i, false) == 0) a->col[i].v = a->row[i].u;
    }
    for (int32_t i = 0; i < a->n; ++i) a->row[i].u = a->col[i].v;
    start_others(a);
    for (int32_t i = 0; i < a->n; ++i) a->row[i].u = a->col[i].v;
}

/* Rows whose diagonal is missing, or small relative to their largest entry. */
static int32_t count_weak(const sd_assignment *a)
{
    int32_t weak = 0;
    for (int32_t i = 0; i < a->n; ++i) weak += 2.0 * half_diagonal(a, i) > a->col[i].dist + WEAK_DIAGONAL;
    return weak;
}

typedef struct both_starts {
    sd_assignment *a;
    int32_t *count, *order; /* of the second */
    sd_tight_work *work;
} both_starts;

/* Rows that are left free. */
static int32_t run_start(const both_starts *b, bool diagonal)
{
    if (diagonal)
        start_from_diagonal(b->a, b->count, b->order);
    else
        start_from_rows(b->a);
    return sd_match_tight(b->a, true, b->work);
}

static saddle_status start_symmetric(sd_context *c, sd_assignment *a, sd_tight_work *work)
{
    both_starts b = {.a = a, .work = work};
    b.count = sd_alloc(c, (int64_t)a->n + 1, sizeof *b.count, "counts of conflicts");
    b.order = b.count ? sd_alloc(c, a->n, sizeof *b.order, "rows by conflicts") : NULL;
    if (b.order) {
        find_least(a);
        const bool diagonal_first = count_weak(a) <= a->n / FEW_WEAK_SHARE;
        const int32_t left = run_start(&b, diagonal_first);
        if (left > FEW_LEFT && left > a->n / TRY_AGAIN_SHARE) {
            const int32_t other = run_start(&b, !diagonal_first);
            if (diagonal_first ? left <= other / TAKE_SHARE : other > left / TAKE_SHARE)
                run_start(&b, diagonal_first);
        }
    }
    sd_free_all(c, b.count, b.order);
    return b.order ? SADDLE_OK : c->status;
}

saddle_status sd_assignment_start(sd_context *c, sd_assignment *a, sd_start start)
{
    sd_tight_work work = {0};
    saddle_status status = SADDLE_OK;
    work.next = sd_alloc(c, a->n, sizeof *work.next, "places in rows");
    work.at = work.next ? sd_alloc(c, a->n, sizeof *work.at, "places in rows") : NULL;
    work.path = work.at ? sd_alloc(c, a->n, sizeof *work.path, "a path") : NULL;
    if (!work.path) {
        status = c->status;
        goto done;
    }
    for (int32_t j = 0; j < a->n; ++j) a->col[j] = (sd_assigned_column){0};
    if (start == SD_START_SYMMETRIC) {
        status = start_symmetric(c, a, &work);
    } else {
        if (start == SD_START_GENERAL) start_columns(a);
        start_rows(a);
        sd_match_tight(a, false, &work);
    }
    for (int32_t j = 0; j < a->n; ++j) a->col[j].mark = 0;
done:
    sd_free_all(c, work.next, work.at, work.path);
    return status;
}
