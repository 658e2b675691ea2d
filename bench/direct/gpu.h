/* What `saddle bench direct --device cuda` measures of a problem, and the report on it. */
#pragma once

#include "bench/bench.h"
#include "bench/direct/peer.h"
#include "bench/problem.h"

enum { GPU_TILES = 9, GPU_PRESOLVES = 3 };

/* Of Saddle, in the order of the JSON; seconds where nothing else is said. What is not known, or not of the
 * parts that were asked for, is NaN. */
#define GPU_NUMBERS(ROW)                                                                                     \
    ROW(analysis)                                                                                            \
    ROW(factor) /* again, with values on the GPU where arrays are there */                                   \
    ROW(solve)  /* not refined, not measured */                                                              \
    ROW(solve_64)                                                                                            \
    ROW(factor_nnz)                                                                                          \
    ROW(flops)                                                                                               \
    ROW(factor_bytes)                                                                                        \
    ROW(device_bytes) /* of the GPU's memory, after a solve with one right-hand side, without its arrays */  \
    ROW(waits)                                                                                               \
    ROW(delayed)                                                                                             \
    ROW(two_by_two)                                                                                          \
    ROW(negative)                                                                                            \
    ROW(zero)                                                                                                \
    ROW(backward_error) /* of one right-hand side, A times ones; and of the first of 64 random ones */       \
    ROW(backward_error_random)                                                                               \
    ROW(verified) /* a solve refined and measured, the inertia certified before */                           \
    ROW(certain)                                                                                             \
    ROW(certain_negative)                                                                                    \
    ROW(backward_error_verified)                                                                             \
    ROW(componentwise_error_verified)                                                                        \
    ROW(factor_cholesky)                                                                                     \
    ROW(factor_ldlt)                                                                                         \
    ROW(profile_assembly)                                                                                    \
    ROW(profile_factor)                                                                                      \
    ROW(profile_contribution)                                                                                \
    ROW(profile_other)                                                                                       \
    ROW(profile_whole)                                                                                       \
    ROW(on_cpu) /* a factorization and a verified solve, by device */                                        \
    ROW(on_gpu)                                                                                              \
    ROW(on_auto)   /* of a solver that has been used for some seconds, or has moved */                       \
    ROW(moved_at)  /* the first factorization that device auto made on the GPU, counted from 1 */            \
    ROW(once_cpu)  /* a solver is made, analyses, factors once and solves once */                            \
    ROW(once_gpu)  /* without opening the GPU */                                                             \
    ROW(once_auto) /* the same if it is used, which is 1 in */                                               \
    ROW(once_auto_moved)                                                                                     \
    ROW(fronts) /* what device auto goes by, in addition to n, nnz, flops and delayed */                     \
    ROW(levels)                                                                                              \
    ROW(critical_flops)

/* What is compared: gpu_report.c has it in words. */
enum {
    GPU_FACTOR,          /* to cuDSS' refactorization: its defaults, */
    GPU_FACTOR_MATCHING, /* and with matching, where it gave an answer */
    GPU_SOLVE,
    GPU_SOLVE_64,
    GPU_MEMORY,
    GPU_OF_DGEMM,
    GPU_OF_READING, /* of what the factors could be read twice in */
    GPU_VERIFIED,
    GPU_PIVOTING,
    GPU_BAND,
    GPU_WHOLE,
    GPU_AUTO,
    GPU_ONCE,
    GPU_RATIOS
};

typedef struct gpu_row {
    bench_matrix matrix;
    char error[SADDLE_MESSAGE_SIZE]; /* why there are no figures; "" where there are */
#define ROW(name) double name;
    GPU_NUMBERS(ROW)
#undef ROW
    double tiles[GPU_TILES];
    struct {
        double factor, solve;
    } presolve[GPU_PRESOLVES];
    peer_result cudss, matching;
    double ratios[GPU_RATIOS];
} gpu_row;

typedef struct gpu_report {
    const arguments *a;
    unsigned parts;          /* a bit each, as the words of --part are counted */
    bool there, presolve;    /* arrays on the GPU; whether the library has that option */
    char card[128];          /* "" where it is not known */
    double dgemm, bandwidth; /* flop/s, bytes/s; NaN likewise */
    double opening;          /* seconds until the process had the GPU */
    int64_t small, general;  /* matrices that were left out */
    char programs[PEERS][4096];
    int64_t count;
    gpu_row *rows;
} gpu_report;

/* Words of --part. */
enum {
    PART_ALL,
    PART_SPARSE,
    PART_FACTOR,
    PART_VERIFIED,
    PART_PIVOTING,
    PART_PROFILE,
    PART_PRESOLVE,
    PART_AUTO,
    PART_FRONTS
};
static inline bool gpu_has_part(const gpu_report *t, int part)
{
    return t->parts >> part & 1;
}

extern const char *const gpu_presolves[GPU_PRESOLVES]; /* words of the option, the first of them without */

int gpu_run(const arguments *a);

void gpu_end_row(const gpu_report *t, gpu_row *row);
void print_gpu_header(void);
void print_gpu_row(const gpu_row *row);
void print_gpu_rest(const gpu_report *t);
json_writer json_gpu;
