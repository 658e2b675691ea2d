/*
 * What `saddle bench blocks` measures: lines of its drivers (driver/driver.h tells their form) and solves
 * with block-Jacobi, and what is computed from them.
 */
#pragma once

#include "bench/bench.h"

/* One line "measured" of a driver. */
typedef struct block_row {
    char part[12], work[8], who[12], name[24], version[12], precision[8];
    int64_t size, batch, rows;
    double seconds, bytes, flops, residual;
    int64_t replaced, two_by_two;
} block_row;
/* Its keys by their kind, in the order of the line and of the JSON. */
#define BLOCK_KEYS(TEXT, COUNT, NUMBER)                                                                      \
    TEXT(part)                                                                                               \
    TEXT(work)                                                                                               \
    TEXT(who)                                                                                                \
    TEXT(name)                                                                                               \
    TEXT(version)                                                                                            \
    TEXT(precision)                                                                                          \
    COUNT(size)                                                                                              \
    COUNT(batch)                                                                                             \
    COUNT(rows) NUMBER(seconds) NUMBER(bytes) NUMBER(flops) NUMBER(residual) COUNT(replaced) COUNT(two_by_two)

/* A matrix solved with BiCGSTAB and block-Jacobi. Numbers that are not known are NaN. */
typedef struct block_solve {
    char matrix[64], kernel[12], reason[48];
    int64_t n, nnz, block_size;
    bool solved;
    saddle_info info;              /* of the last solve */
    double prepare, factor, solve; /* seconds */
} block_solve;

typedef struct blocks_report {
    const arguments *a;
    const char *device; /* cpu, cuda or reference */
    char machine[256];
    int64_t row_count, row_room;
    block_row *rows;
    int64_t solve_count, solve_room;
    block_solve *solves;
} blocks_report;

/* Reads a line; false where it is not of that form. */
bool block_row_parse(const char *line, block_row *row);

/* The row with all that is given: texts that are NULL and numbers below 0 may be anything. */
typedef struct block_key {
    const char *part, *work, *name, *version, *precision;
    int64_t size, batch;
} block_key;
const block_row *block_row_find(const blocks_report *t, block_key key);
/* The one of the same part, precision, size and batch as another. */
const block_row *block_row_beside(const blocks_report *t, const block_row *row, const char *work,
                                  const char *name, const char *version);

/* The row of a factorization's peer in the same batch, that of the inverse an inversion or, where none was
 * run (part setup), an LU factorization; NULL where it has none. */
const block_row *block_row_peer(const blocks_report *t, const block_row *row);

/* Seconds over those of copying the blocks of the batch once. */
double block_row_copies(const blocks_report *t, const block_row *row);
/* The peer's seconds over its own. */
double block_row_speed_up(const blocks_report *t, const block_row *row);
/* Its operations a second, in percent of those of the gemm that was measured last before it. */
double block_row_peak(const blocks_report *t, const block_row *row);
/* Of an application: what moving its bytes at the rate of the copy takes, in percent of its seconds. */
double block_row_floor(const blocks_report *t, const block_row *row);
/* Of a mixed batch: seconds a byte over those of the batch of equal blocks. */
double block_row_mixed(const blocks_report *t, const block_row *row);

/* Applications from which on the inverse (more expensive to set up, cheaper to apply) is ahead of
 * Gauss-Huard: 0 where it always is, infinity where it never is, NaN where that was not measured. */
double blocks_break_even(const blocks_report *t, const char *precision, int64_t size);

/* The solve of a matrix with this kernel and block size; NULL where there was none. */
const block_solve *block_solve_find(const blocks_report *t, const char *matrix, const char *kernel,
                                    int64_t block_size);

/* Solves every operand by every kernel and block size (solve.c); an exit status. */
int bench_blocks_solve(blocks_report *t, bool print);

/* The kernels and the block sizes that were asked for; their number. */
int blocks_kernels(const arguments *a, bool symmetric, const char **names);
int blocks_sizes(const arguments *a, int64_t *sizes);
enum { BLOCKS_SIZES = 4, BLOCKS_KERNELS = 6 };

/* Whether a kernel on blocks has this name; whether matrices are solved with one of this name. */
bool block_kernel_known(const char *name, size_t length);
bool block_solver_known(const char *name, size_t length);

/* The reports. */
void print_blocks(const blocks_report *t);
void print_block_solves(const blocks_report *t);
json_writer json_blocks;
