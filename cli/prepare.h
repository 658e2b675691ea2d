/* One run of `saddle prepare`, as its flow (prepare.c), its reports (prepare_report.c) and the files it
 * writes (prepare_files.c) share it. */
#ifndef CLI_PREPARE_H
#define CLI_PREPARE_H

#include "cli/command.h"
#include "cli/given.h"
#include "cli/json.h"
#include "cli/memory.h"

enum { PREPARE_FILES = 8 }; /* that --out may write */

typedef struct prepare_run {
    const arguments *a;
    const char *path;
    char name[256]; /* of the matrix */

    saddle_hooks hooks;
    memory memory;
    saddle_matrix A;
    int64_t n; /* -1 until the file was read */
    int shape; /* a saddle_shape, of the file */
    given given;
    saddle_preparation p;
    bool prepared; /* p holds what came of it */

    saddle_status status;
    int exit;
    char message[SADDLE_MESSAGE_SIZE];
    double time_read, time_total;
    bool json_refused; /* --json cannot be written, which was told before the work */
    bool made_folder;  /* of --out: it was not there */
    int written;       /* files of --out */
    const char *files[PREPARE_FILES];
} prepare_run;

/* The readable report, to standard output. */
void print_preparation(const prepare_run *r);

json_writer json_preparation;

/* Makes the folder of --out where it is missing: SADDLE_OK, or why it cannot be written in r->message. */
saddle_status check_folder(prepare_run *r);

/* Removes a folder that this run made and left empty because it failed. */
void leave_folder(const prepare_run *r);

/* Whether the path is one of the vectors in the folder of --out, which is there. */
bool is_vector_file(const prepare_run *r, const char *path);

/* Writes the vectors into the folder and removes those of an earlier run that this one does not have. The
 * same returns. */
saddle_status write_folder(prepare_run *r);

/* Draws the prepared matrix. Returns an exit status, with the message on standard error. */
int plot_preparation(prepare_run *r, const char *path);

#endif
