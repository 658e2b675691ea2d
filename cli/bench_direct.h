/* What `saddle bench direct` measures of a problem, and the report on it. */
#ifndef CLI_BENCH_DIRECT_H
#define CLI_BENCH_DIRECT_H

#include "cli/bench_peer.h"
#include "cli/command.h"

enum { PEER_MUMPS, PEER_CHOLMOD, PEERS };
extern const char *const peer_names[PEERS];

/* Numbers that are not known are NaN. */
typedef struct direct_row {
    char name[64], group[64]; /* the file's folder; "generated" */
    int64_t n, nnz;
    double dgemm;                             /* flop/s of one core */
    char error[SADDLE_MESSAGE_SIZE];          /* why Saddle has no figures; "" where it has */
    double analysis, factor, solve, solve_64; /* seconds */
    double factor_nnz, flops, peak_bytes;
    double delayed, two_by_two, positive, negative, zero, largest_front;
    double backward_error, componentwise_error;               /* for b = A times ones, not refined */
    double backward_error_random, componentwise_error_random; /* for a random b, not refined */
    double refined_error, refined_componentwise;              /* for that b, refined */
    double factor_one;     /* seconds with one thread; NaN where that is all */
    double ldlt, cholesky; /* seconds to factor, of a positive definite matrix */
    peer_result peers[PEERS];
} direct_row;

typedef struct direct_report {
    const arguments *a;
    int threads;
    int count;
    direct_row *rows;
} direct_report;

/* Flop/s of a dgemm on one core, measured now; NaN where there is no BLAS (bench_gemm.c). */
double gemm_rate(void);

/* A row at a time, while the work goes on. */
void print_direct_header(void);
void print_direct_row(const direct_row *row);

/* Afterwards: the rest of each row, and the means. */
void print_direct_pivots(const direct_report *t);
void print_direct_summary(const direct_report *t);

/* Returns an exit status. */
int write_direct_json(const direct_report *t, const char *path);

#endif
