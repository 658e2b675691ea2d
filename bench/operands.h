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
void bench_operands_free(bench_operands *o);
