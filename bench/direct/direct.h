/* What `saddle bench direct` measures of a problem, and the report on it. */
#pragma once

#include "bench/bench.h"
#include "bench/direct/peer.h"
#include "bench/problem.h"

/* Of Saddle, in the order of the JSON. Numbers that are not known are NaN. */
#define DIRECT_NUMBERS(ROW)                                                                                  \
    ROW(analysis) /* seconds, to solve_64 */                                                                 \
    ROW(factor)                                                                                              \
    ROW(once)              /* analysis and the first factorization, where no other is expected */            \
    ROW(factor_one_thread) /* where that is not all */                                                       \
    ROW(factor_ldlt)       /* of a positive definite matrix */                                               \
    ROW(factor_cholesky)                                                                                     \
    ROW(solve)                                                                                               \
    ROW(solve_refined) /* until the accuracy is there, with errors that are measured */                      \
    ROW(solve_64)                                                                                            \
    ROW(certified) /* factor and solve, refined, with the inertia certified, and without */                  \
    ROW(uncertified)                                                                                         \
    ROW(factor_nnz)                                                                                          \
    ROW(flops)                                                                                               \
    ROW(gigaflops) /* a second */                                                                            \
    ROW(largest_front)                                                                                       \
    ROW(peak_bytes)                                                                                          \
    ROW(delayed)                                                                                             \
    ROW(two_by_two)                                                                                          \
    ROW(positive)                                                                                            \
    ROW(negative)                                                                                            \
    ROW(zero)                                                                                                \
    ROW(certain)        /* 1: the inertia is certified, 0: in doubt */                                       \
    ROW(reached)        /* 1: a refined solve says that it has the accuracy, 0: that it has not */           \
    ROW(backward_error) /* for b = A times ones, not refined */                                              \
    ROW(componentwise_error)                                                                                 \
    ROW(backward_error_random) /* for a random b, not refined */                                             \
    ROW(componentwise_error_random)                                                                          \
    ROW(backward_error_refined) /* for b = A times ones */                                                   \
    ROW(componentwise_error_refined)

/* What is compared: report.c has it in words. */
enum {
    FACTOR_TO_MUMPS,
    TOTAL_TO_MUMPS,
    MEMORY_TO_MUMPS,
    FACTOR_TO_PARDISO, /* its defaults, and with matching; where it gave an answer */
    TOTAL_TO_PARDISO,
    FACTOR_TO_MATCHING,
    TOTAL_TO_MATCHING,
    FACTOR_TO_QDLDL,
    CHOLESKY_TO_CHOLMOD, /* LL' with LL', LDL' with LDL' */
    LDLT_TO_CHOLMOD,
    PIVOTING,
    COLUMN_OF_64, /* of 64 right-hand sides, each, over one alone */
    SPEED_UP,
    OF_DGEMM,
    CERTIFICATE,
    RATIOS
};

typedef struct direct_row {
    bench_matrix matrix;
    double dgemm;                    /* flop/s of one core */
    char error[SADDLE_MESSAGE_SIZE]; /* why Saddle has no figures; "" where it has */
#define ROW(name) double name;
    DIRECT_NUMBERS(ROW)
#undef ROW
    peer_result peers[PEERS];
    double ratios[RATIOS];
} direct_row;

typedef struct direct_report {
    const arguments *a;
    int threads;
    char programs[PEERS][4096]; /* of the peers; "" where one is not there */
    int count;
    direct_row *rows;
} direct_report;

/* A row at a time, while the work goes on. */
void print_direct_header(void);
void print_direct_row(const direct_row *row);

/* Afterwards: the rest of each row, and the means. */
void print_direct_pivots(const direct_report *t);
void print_direct_peers(const direct_report *t);
void print_direct_summary(const direct_report *t);

json_writer json_direct; /* of a direct_report */
void json_peer(json *j, const char *name, const peer_result *p);
