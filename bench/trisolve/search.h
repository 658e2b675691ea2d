/*
 * Looking for a number of sweeps with which CG solves what it solves with exact triangular solves, over
 * entries and over blocks: what Table 1 and Figures 6 and 7 of Jacobi triangular solves, and part auto, are
 * made of.
 */
#pragma once

#include "bench/trisolve/trisolve.h"

/* The ways that are counted: over entries, over blocks of at most 12 adjacent rows (the paper's),
 * over blocks of whichever blocking works, both again with 24 rows. */
typedef enum search_way { WAY_ENTRIES, WAY_BLOCKS, WAY_BEST, WAY_BLOCKS_24, WAY_BEST_24, WAYS } search_way;
extern const char *const search_way_names[WAYS]; /* in JSON, and of --ways */

/* Whether --ways can be; an exit status, with the message on standard error. */
int search_check(const arguments *a);
/* Whether a way is asked for, or is what another one that is begins with. */
bool search_wants(const arguments *a, search_way way);

enum { SEARCH_SWEEPS = 20 }; /* the most, without --most */

typedef struct search_found {
    bool tried, found;
    bool late;            /* the time of the matrix was over before all was tried */
    int blocking, sweeps; /* that solved it; blocking -1 over entries */
    double iterations, setup, solve, relative_residual;
    int tries;
    char why[BLOCKINGS][112]; /* of blockings that failed (entries: the first): the try nearest to success */
    double nearest[BLOCKINGS];
} search_found;

typedef struct search_level {
    int level;
    trisolve_result exact;
    search_found ways[WAYS];
} search_level;

typedef struct search_row {
    bench_matrix matrix;
    int count;
    search_level levels[LEVELS_MOST];
} search_row;

/* Counts of one level over all matrices, with those whose factorization needed a shift or without them. */
typedef struct search_count {
    int exact, ways[WAYS], late[WAYS];
} search_count;
search_count search_counted(const trisolve_rows *rows, int level, bool shifted);

/* The tables and the JSON (search_report.c). */
void search_print_row(const trisolve_bench *t, const void *row, bool first);
void search_print(const trisolve_bench *t, const trisolve_rows *rows);
void search_write(json *j, const trisolve_bench *t, const trisolve_rows *rows);
