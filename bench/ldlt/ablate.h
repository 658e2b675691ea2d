/* What `saddle bench ldlt --ablate` measures of each matrix: Figure 3 and Table I of Thuerck, Stretching
 * Jacobi. */
#ifndef BENCH_LDLT_ABLATE_H
#define BENCH_LDLT_ABLATE_H

#include "bench/ldlt/ldlt.h"

enum { ABLATE_SWEPT, ABLATE_EXACT, ABLATE_METHODS }; /* jacobi, ldlt: in the paper's settings */
enum { ABLATE_BLOCK, ABLATE_ROW, ABLATE_ORDERS };    /* of sweeps */
enum { ABLATE_EPSILONS = 4, ABLATE_SIZES = 6, ABLATE_PIVOTS = 3, ABLATE_SWEEPS = 16 };
enum { TIME_EXACT, TIME_BLOCK, TIME_ROW, TIME_OURS, ABLATE_TIMES };
enum { TABLE_SWEPT, TABLE_EXACT, TABLE_OURS, TABLE_ENTRIES };

extern const char *const ablate_methods[ABLATE_METHODS], *const ablate_orders[ABLATE_ORDERS];
extern const char *const ablate_epsilons[ABLATE_EPSILONS], *const ablate_sizes[ABLATE_SIZES];
extern const char *const ablate_pivots[ABLATE_PIVOTS], *const ablate_times[ABLATE_TIMES];

typedef struct ablate_entry {
    double backward, residual, seconds; /* of the whole setup */
    int64_t iterations;
} ablate_entry;

/* Errors are |L D L' - A| / |A| in the infinity norm; NaN where a run failed. */
typedef struct ablate_row {
    ldlt_matrix matrix;
    double dominance[2][3]; /* 3a: least, mean, largest: in the paper's blocks, and in those of ldlt */
    double epsilon[ABLATE_METHODS][ABLATE_EPSILONS];   /* 3b */
    double size[ABLATE_METHODS][ABLATE_SIZES];         /* 3c */
    double pivoting[ABLATE_METHODS][ABLATE_PIVOTS][2]; /* 3d: push-back on, off */
    double sweeps[ABLATE_ORDERS][ABLATE_SWEEPS];       /* 3e: after so many, from 1 */
    double pattern[ABLATE_ORDERS][ABLATE_SWEEPS];      /* 3e: residual on the pattern */
    double exact;                                      /* 3e: of the exact schedule */
    double factor[ABLATE_TIMES];                       /* 3f: seconds to factor */
    ablate_entry table[TABLE_ENTRIES];                 /* Table I, b = A times ones */
    double published[2][2];                            /* its B and R: jacobi, exact; NaN */
    char why[96];                                      /* of the last run that failed */
} ablate_row;

typedef struct ablate_report {
    const ldlt_bench *bench;
    int count;
    ablate_row *rows;
} ablate_report;

void print_ablation(const ablate_report *t);
bench_json write_ablation_json;

#endif
