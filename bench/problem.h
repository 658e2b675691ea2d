/*
 * The matrices of a benchmark: files, or problems that are made (saddle gen) where an operand such as
 * stokes2d_100 or lap3d_30:1.5, FAMILY_SIZE[:P], is no file.
 */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include "saddle/saddle.h"

#include <stdbool.h>

typedef struct bench_problem {
    saddle_matrix A;
    bool generated;
    char group[64]; /* the folder of its file, without those above it */
    saddle_hooks hooks;
} bench_problem;

/* Reads or makes it. On failure there is nothing to free, and message (of SADDLE_MESSAGE_SIZE) says why. */
saddle_status bench_problem_load(bench_problem *p, const char *operand, const saddle_hooks *hooks,
                                 char *message);
void bench_problem_free(bench_problem *p);

#endif
