/*
 * The matrices of a benchmark: files, or problems that are made (saddle gen) where an operand such as
 * stokes2d_100 or lap3d_30:1.5, FAMILY_SIZE[:P], is no file; ocp and mpc also take the states and inputs of
 * a stage, ocp_100x8x3 (FAMILY_SIZExSTATESxINPUTS[:P]).
 */
#pragma once

#include "cli/json.h"

/* What reports say of a matrix. */
typedef struct bench_matrix {
    char name[64], group[64]; /* group: the folder of its file, without those above it; "generated" */
    int64_t n, nnz;
} bench_matrix;
void bench_json_matrix(json *j, const bench_matrix *m);

typedef struct bench_problem {
    saddle_matrix A;
    bool generated, symmetric;
    bench_matrix matrix;
    saddle_hooks hooks;
} bench_problem;

/* Reads or makes it; on failure there is nothing to free, and message (of SADDLE_MESSAGE_SIZE) says why. Of
 * the matrix only names are known. */
saddle_status bench_problem_load(bench_problem *p, const char *operand, const saddle_hooks *hooks,
                                 char *message);
/* The same, and looks at it: an exit status, with the message on standard error. */
int bench_problem_open(bench_problem *p, const char *operand, const saddle_hooks *hooks);
void bench_problem_free(bench_problem *p);
