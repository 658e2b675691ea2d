/*
 * Text to be written: to a temporary file next to the target, which takes its name when all is well
 * and is removed otherwise; to standard output for "-"; straight to what is not a regular file
 * (/dev/null, a pipe). Packed with gzip where the name ends in .gz.
 *
 * Writing remembers its first failure: a writer checks the status now and then, so as not to continue in
 * vain, and sd_output_close has the last word.
 */
#pragma once

#include "core/context.h"

#include <limits.h>

enum { SD_OUTPUT_ROOM = 512 }; /* most that is put at once */

typedef struct sd_output {
    sd_context *context;
    saddle_status status;
    const char *name; /* as messages say it */
    char target[PATH_MAX], temporary[PATH_MAX];
    int file;
    bool close_file, rename;
    struct sd_gzip *gzip; /* NULL for plain text */
    char *buffer;
    size_t used;
} sd_output;

/* path must outlive the output. On failure nothing is left behind and there is nothing to close. */
saddle_status sd_output_open(sd_output *o, sd_context *c, const char *path);

/* Where the next SD_OUTPUT_ROOM characters can be printed; sd_output_put says how many were. */
char *sd_output_room(sd_output *o);
static inline void sd_output_put(sd_output *o, size_t length)
{
    o->used += length;
}

void sd_output_print(sd_output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Finishes, if status (the writer's own) and all writing was well, and returns what came of it;
 * otherwise leaves no file behind. */
saddle_status sd_output_close(sd_output *o, saddle_status status);

/* Whether a path ends with this, in lower case, in any case. */
bool sd_ends_with(const char *path, const char *end);
