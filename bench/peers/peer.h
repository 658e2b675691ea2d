/*
 * What the peers' drivers share. A driver is a program of its own that factors one matrix with another
 * solver and tells what that took, as one JSON object on standard output:
 *
 *     peer-NAME A.mtx[.gz] [--repeat R] [--threads N] [--setting WORD] [--turns]
 *
 * A turn is an analysis, factorizations, solves and refined solves, each until 20 ms have passed (timing.h),
 * so that what counts is a warm one. Of R turns the best times are told. A setting is one of the peer's own,
 * beside its default. With --turns the driver says "ready" when it has the matrix and then obeys
 * its standard input: for every line "turn" it takes a turn and answers "turn", for any other it tells and
 * ends. So `saddle bench direct` lets Saddle and its peers take turns, and a noisy moment hits all.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

/* The numbers that a driver tells by these names, in this order; what is not known is null. */
#define PEER_NUMBERS(ROW)                                                                                    \
    ROW(analysis) /* seconds, to solve_64, the best of all turns */                                          \
    ROW(factor)                                                                                              \
    ROW(solve)                                                                                               \
    ROW(solve_refined) /* with one refinement */                                                             \
    ROW(solve_64)                                                                                            \
    ROW(factor_nnz)                                                                                          \
    ROW(flops)                                                                                               \
    ROW(peak_bytes)                                                                                          \
    ROW(resident_bytes)                                                                                      \
    ROW(delayed)                                                                                             \
    ROW(two_by_two)                                                                                          \
    ROW(negative)                                                                                            \
    ROW(backward_error) /* for b = A times ones, not refined */                                              \
    ROW(componentwise_error)                                                                                 \
    ROW(backward_error_refined) /* once */                                                                   \
    ROW(backward_error_random)  /* for a random b */                                                         \
    ROW(componentwise_error_random)                                                                          \
    ROW(refactor)              /* on a GPU: with new values that are there already; factor is the first */   \
    ROW(device_bytes)          /* that the GPU has less free */                                              \
    ROW(device_bytes_estimate) /* as the peer tells it */

/* What is told of a peer; it fills in what it knows of its factorization. What is not known is NaN or "". */
typedef struct peer_facts {
#define ROW(name) double name;
    PEER_NUMBERS(ROW)
#undef ROW
    char version[64], ordering[32];
} peer_facts;

/* What a driver brings. Where a function gives false it has called peer_error. */
typedef struct peer {
    const char *name;
    const char *settings; /* beside "default": "metis|own"; NULL for none */
    /* lower is the lower triangle by columns, sorted, base 0, 64-bit pointers; it stays until end */
    bool (*begin)(const saddle_matrix *lower, const char *setting, int threads);
    bool (*analyse)(void);
    bool (*factor)(void);
    bool (*solve)(int64_t columns, double *x); /* x holds the right-hand sides, then the solutions */
    void (*facts)(peer_facts *facts);
    void (*end)(void); /* whatever begin gave */
} peer;

/* Whether every diagonal entry is there and positive: what fails this need not be tried by Cholesky. */
bool peer_diagonal_positive(const saddle_matrix *lower);

/* Says why something failed; false, so that it can be returned. */
bool peer_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The whole program; its exit status. */
int peer_main(const peer *p, int argc, char **argv);
