/*
 * Files that are there whole or not at all: written under a temporary name in the same folder,
 * renamed at the end, removed on failure. "-" is standard output. What is not a plain file (a
 * device, a pipe) is written as it is: a rename would replace it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct outfile {
    const char *path; /* as it was given, for messages */
    FILE *stream;
    char *target, *temporary; /* where it goes in the end; both NULL where it is written as it is */
} outfile;

/* Opens the file for writing. Returns 0, or the exit status with the message on standard error. */
int outfile_open(outfile *o, const char *path);

/* Ends the file: keeps it where `keep` and all was written, removes it otherwise. The same returns;
 * with keep false only what else went wrong. */
int outfile_close(outfile *o, bool keep);

/* Whether a file can be written there, asked before the work that it is meant for: 0, or the errno
 * that says why not. path may be NULL. */
int outfile_check(const char *path);
/* The same as an exit status, with the message on standard error. */
int outfile_refuse(const char *path);
