/* What `saddle bench ldlt --part setup` and `--part growth` measure of generated problems, and their reports.
 */
#ifndef BENCH_LDLT_MADE_H
#define BENCH_LDLT_MADE_H

#include "bench/ldlt/ldlt.h"

typedef struct made_row {
    char family[32]; /* FAMILY[:P] */
    int axes;
    int64_t size, n, nnz;
    ldlt_result ldlt, direct; /* growth: of one right-hand side, and no direct one */
} made_row;

typedef struct made_report {
    const ldlt_bench *bench;
    bool growth;
    int count, room;
    made_row *rows;
} made_report;

/* Seconds of the setup of ldlt, and with those of the first solve. */
double made_setup(const made_row *row);
double made_total(const made_row *row);

/* The exponent p of seconds ~ nnz^p over what was solved of a family; NaN where that is less than two. */
double made_exponent(const made_report *t, const char *text, double (*seconds_of)(const made_row *row));

/* Whether row k is the first of its family. */
bool made_opens(const made_report *t, int k);

/* What the exponent of the time to solution is to be at most, by the dimensions of the family. */
double made_goal(int axes);

void print_made_header(const made_report *t);
void print_made_row(const made_report *t, const made_row *row);
void print_made_summary(const made_report *t);
bench_json write_made_json;

#endif
