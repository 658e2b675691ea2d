/* The matrices that a benchmark is given: files, folders of files, names of problems that are made. */
#pragma once

#include "cli/command.h"

/* All zero at first. */
typedef struct bench_operands {
    int64_t count, room;
    char **paths;
} bench_operands;

/* One more; of a folder, the matrices that are in it, by name. An exit status. */
int bench_operands_add(bench_operands *o, const char *operand);
/* What was given on the command line; where that is nothing, these folders of $SADDLE_MATRICES. */
int bench_operands_find(bench_operands *o, const arguments *a, const char *const *folders, int count);
void bench_operands_free(bench_operands *o);
