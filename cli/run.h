/* One run of a command on the matrix of a file: what solve, prepare, info and convert share. */
#pragma once

#include "cli/command.h"
#include "cli/json.h"
#include "cli/memory.h"
#include "cli/paths.h"

typedef struct run {
    const arguments *a;
    const char *path;
    char name[256]; /* of the matrix: the file's, without folder, .gz and .mtx */

    saddle_hooks hooks;
    memory memory;
    saddle_matrix A;
    int64_t n; /* -1 until the file was read */
    int shape; /* a saddle_shape, of the file */

    saddle_status status;
    int exit;
    char message[SADDLE_MESSAGE_SIZE];
    double began, time_read, time_total;
    bool json_refused; /* --json cannot be written, which was told before the work */
} run;

/* Starts the clock, the progress and the count of memory, for the first operand. r is not moved after it. */
void run_begin(run *r, const arguments *a);

/* Reads the matrix. Where it is to be square, `what` says of which only square ones are taken; else NULL. */
saddle_status run_read(run *r, const char *what);

/* Says in r->message what went wrong; the status. */
saddle_status run_fail(run *r, saddle_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* After the work: says what a failure really was, the limit that the hooks held or the signal that ended a
 * read, and sets status and exit. */
void run_settle(run *r, saddle_status status);
void run_end(run *r, saddle_status status); /* the same, when the clock stops */

/* An output that failed is the exit status, unless something worse came before. */
void run_output(run *r, int exit);

/* Writes the JSON of --json, by this function from this, where it was asked for and can be. */
void run_json(run *r, json_writer *write, const void *what);

/* "symmetric" or "general"; where that is not known (below 0) the file's own word for it, or NULL. */
const char *run_symmetry(const run *r, int symmetric);

/* Whether an option of the command is given as "-". */
bool is_standard(const arguments *a, const char *name);

/* Refuses outputs that would overwrite a matrix (an operand) or each other: 0, or 2 with the message on
 * standard error. */
int outputs_check(const arguments *a, const char *const *names, int count);
