/*
 * The assignment problem behind a matching, shared by the files that solve it.
 *
 * Each nonzero a_ij costs c_ij = -log |a_ij| (an explicit zero: infinity, so that it is never used). Dual
 * values are feasible where u_i + v_j <= c_ij; a matching on tight entries, those where both sides are equal,
 * that leaves no row free is of least cost. The normalisation by the columns' largest magnitudes that Duff
 * and Koster put into the costs is part of v here.
 *
 * Searches go from rows to the columns of their entries and from a column to its matched row, so that only
 * the rows of the matrix are ever read: no transpose is needed.
 */
#pragma once

#include "prepare/matching.h"

/* An entry counts as tight when its slack is this small: a few units in the last place of the largest
 * logarithm, 745, of a double. */
#define SD_TIGHT 5e-13

typedef struct sd_assigned_row {
    double u;
    double cost; /* of its matched entry */
    int32_t col; /* matched, or -1 */
} sd_assigned_row;

/* All that a search needs to know of a column is stored together: it is looked up once for each entry. */
typedef struct sd_assigned_column {
    double v;
    double dist;  /* length of the shortest path found so far, in this search */
    int32_t row;  /* matched, or -1 */
    int32_t from; /* the row before it on that path */
    int32_t mark; /* the search that dist and from belong to */
    int32_t heap; /* its place in the heap, or -1 */
} sd_assigned_column;

typedef struct sd_assignment {
    int32_t n;
    const int64_t *ptr; /* of the rows of the matrix */
    const int32_t *ind;
    double *cost;
    sd_assigned_row *row;
    sd_assigned_column *col;
} sd_assignment;

/* -log |a_ij| of all entries, infinite for 0; of both triangles of a symmetric matrix the same. */
saddle_status sd_matching_costs(sd_context *c, const sd_csr *A, bool symmetric, double *cost);

saddle_status sd_assignment_init(sd_context *c, const sd_csr *A, bool symmetric, sd_assignment *a);
void sd_assignment_free(sd_context *c, sd_assignment *a);

/*
 * Feasible duals and a matching on tight entries to start from. O(nnz). With SD_START_LEVEL all v begin at 0,
 * and so do not exceed those of the columns that stay free: of the matchings of all rows with some of the
 * columns the augmented one is then of least cost.
 */
typedef enum sd_start { SD_START_GENERAL, SD_START_SYMMETRIC, SD_START_LEVEL } sd_start;
saddle_status sd_assignment_start(sd_context *c, sd_assignment *a, sd_start start);

/* A matching on tight entries, from nothing; gives the number of rows that stay free. The work space is of n
 * each. */
typedef struct sd_tight_work {
    int64_t *next; /* where each row goes on to look for free columns: they never become free again */
    int64_t *at;   /* where each row on the path has got to */
    int32_t *path;
} sd_tight_work;
int32_t sd_match_tight(sd_assignment *a, bool symmetric, sd_tight_work *w);

/* The two best choices of a row: entries (or -1) of least c_ij - v_j, and these values. */
typedef struct sd_bid {
    int64_t entry, second_entry;
    double least, second;
} sd_bid;
sd_bid sd_find_bid(const sd_assignment *a, int32_t i);

/* Lets free rows bid for columns. O(nnz). */
saddle_status sd_assignment_bid(sd_context *c, sd_assignment *a);

/* Augments along shortest paths until every row is matched that can be; gives the size of the matching. */
saddle_status sd_assignment_augment(sd_context *c, sd_assignment *a, int32_t *rank);

/* All of it: costs, start, augmentation; duals that are feasible up to rounding. */
saddle_status sd_assignment_solve(sd_context *c, const sd_csr *A, sd_start start, sd_assignment *a,
                                  int32_t *rank);

/* Moves duals from one side to the other until both sides' ranges have the same middle. */
void sd_assignment_centre(sd_assignment *a);

/* Gives both sides of a symmetric problem the mean of their duals. */
void sd_assignment_average(sd_assignment *a);

/* The matching and the scales of the duals, which are kept within the range of a double. */
void sd_assignment_give(const sd_assignment *a, sd_matching *m);
double sd_scale_of_log(double x);

/* Where scales were cut off at the ends of the range, entries may have come out above 1: lowers the larger
 * scale of each such entry. One pass is enough, since nothing grows. */
void sd_matching_bound(const sd_csr *A, bool symmetric, sd_matching *m);

/* Room for a matching, not filled in. */
saddle_status sd_matching_init(sd_context *c, int32_t n, sd_matching *m);

/* Structurally singular matrices, symmetric and general; `a` holds a maximum matching of A. */
saddle_status sd_match_regular_part(sd_context *c, const sd_csr *A, const sd_assignment *a, sd_matching *m);
saddle_status sd_match_singular(sd_context *c, const sd_csr *A, sd_assignment *a, sd_matching *m);

/*
 * Rows that are long and come up in search after search (a constraint on all variables, say) are kept in a
 * second copy, sorted by c_ij - v_j as it was then. Searches only ever lower v, so these keys stay lower
 * bounds, and a scan that knows how far it needs to go can stop at the first chunk whose key is beyond.
 */
enum { SD_CHUNK_OF_ROW = 16, SD_LONG_ROW = 32 };

typedef struct sd_sort_item {
    double key, cost;
    int32_t col;
} sd_sort_item;

typedef struct sd_long_rows {
    int8_t *scans;  /* of each row until it is sorted; then SD_SORTED */
    int64_t *place; /* of each row in ind and cost: whole chunks */
    int32_t *ind;   /* columns and costs, sorted */
    double *cost;
    double *key;         /* of the first entry of each chunk */
    sd_sort_item *items; /* as many as the longest row has */
} sd_long_rows;

enum { SD_SORTED = INT8_MAX };

saddle_status sd_long_rows_init(sd_context *c, const sd_assignment *a, sd_long_rows *rows);
void sd_long_rows_free(sd_context *c, sd_long_rows *rows);

/* Counts a scan of row i and sorts it when it has had enough of them. */
void sd_long_rows_count(const sd_assignment *a, sd_long_rows *rows, int32_t i);

static inline void sd_assign(sd_assignment *a, int32_t i, int32_t j, double cost)
{
    a->row[i].col = j;
    a->row[i].cost = cost;
    a->col[j].row = i;
}

static inline double sd_slack(const sd_assignment *a, int32_t i, int64_t k)
{
    return a->cost[k] - a->row[i].u - a->col[a->ind[k]].v;
}
