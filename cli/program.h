/* What `saddle` and `saddle bench` share as programs: finding the command, parsing its options, running it */
#pragma once

#include "cli/command.h"

typedef struct program {
    const char *name;   /* as it is called: "saddle", "saddle bench" */
    const char *noun;   /* what its first operand is: "command", "benchmark" */
    const char *stands; /* for that one, in the usage: COMMAND, WHAT */
    const char *about;  /* one line or two */
    const char *usual;  /* the command that is meant where a file stands in its place; NULL: none */
    const char *hint;   /* the last line of its help */
    const command *const *commands; /* in the order of the help; ends with NULL */
} program;

/* Set in the environment where the program has told OpenBLAS which kernels to take: those that it took
 * itself. */
#define BLAS_TAKEN "SADDLE_BLAS_TAKEN"

/* The whole program; its exit status. */
int program_main(const program *p, int argc, char **argv);

/* The one that runs. */
const program *program_running(void);

/* The path of a file by its place beside the running program ("peers/NAME"); whether it is there and can be
 * run. */
bool program_beside(const char *file, char *path, size_t path_size);
