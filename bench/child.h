/*
 * Other programs as children of a benchmark: run to their end, or asked and listened to line by line. What
 * they write to standard error is shown unless it is not wanted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Runs a program, from no input, its output into a file (NULL: shown), and waits: its exit status, -1 where
 * it has none. argv ends with NULL; it is looked for on the PATH. */
int child_run(const char *const *argv, const char *output);

typedef struct child {
    pid_t process;   /* 0: none */
    int socket;      /* its standard input and output */
    double left;     /* seconds that it may still take; time that others take is not counted */
    char text[4096]; /* what was read and not yet given */
    size_t length;
} child;

/* Whether it began. */
bool child_start(child *c, const char *const *argv, double limit, bool quiet);

/* The next line, without its end. CHILD_STOP: a signal asked to stop. */
typedef enum child_word { CHILD_LINE, CHILD_END, CHILD_LATE, CHILD_STOP } child_word;
child_word child_line(child *c, char *line, size_t line_size);
/* Why there was no line. */
const char *child_why(child_word word);

/* Writes to its standard input; whether that went well. */
bool child_tell(child *c, const char *word);

/* Waits for its end, or kills it: its exit status, -1 where it has none. */
int child_end(child *c, bool kill_it);
