/* The times of one file beside a floor that is measured in the same run: what bench read and bench spmv
 * report. */
#pragma once

#include "bench/bench.h"

typedef struct timing {
    const char *what;
    double seconds;
    int64_t bytes;     /* moved in that time */
    const char *floor; /* the row that this one is compared with; NULL for a floor */
    double ratio;      /* seconds over the floor's */
    double error;      /* of the product; NaN where there is none */
} timing;

enum { TIMINGS_MOST = 8 };

typedef struct timings {
    const arguments *a;
    saddle_hooks hooks;
    int64_t repeat;
    int64_t n, entries; /* of the matrix */
    int count;
    timing rows[TIMINGS_MOST];
} timings;

void add_timing(timings *t, const char *what, double time, int64_t bytes, const char *floor, double error);

/* The better of the best time and of one that ends now; with -v every one is told. */
double better_time(const timings *t, const char *what, double best, double began);

/* Their options. */
extern const option timings_options[];

/* A whole benchmark of one file: measures it by this function, which returns an exit status, and reports. */
int timings_run(const arguments *a, int (*measure)(timings *t, const char *path));
