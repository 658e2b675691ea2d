/* One run of `saddle prepare`, as its flow (prepare.c), its reports (prepare_report.c) and the files it
 * writes (prepare_files.c) share it. */
#pragma once

#include "cli/given.h"
#include "cli/run.h"

enum { PREPARE_FILES = 8 }; /* that --out may write */

typedef struct prepare_run {
    run run;
    given given;
    saddle_preparation p;
    bool prepared; /* p holds what came of it */

    bool made_folder; /* of --out: it was not there */
    int written;      /* files of --out */
    const char *files[PREPARE_FILES];
} prepare_run;

/* The readable report, to standard output. */
void print_preparation(const prepare_run *r);

json_writer json_preparation;

/* Makes the folder of --out where it is missing: SADDLE_OK, or why it cannot be written in the run's message.
 */
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
