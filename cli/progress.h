/*
 * What is seen while a command works, and how it is stopped.
 *
 * On a terminal a bar on standard error, from 0.3 s on and cleared afterwards; elsewhere a plain
 * line every few seconds; nothing with -q. The library's warnings go to standard error, more of its
 * log with -v or SADDLE_LOG. SIGINT and SIGTERM ask the library to stop, a second one kills.
 */
#pragma once

#include "cli/command.h"

/* Starts, by the command's options: hooks with log and progress set. */
saddle_hooks progress_begin(const arguments *a);

/* Clears the bar. What follows, the results, is written whatever signal came, unless a second one comes. */
void progress_end(void);

/* In a child process, before it becomes another program: signals reach it as they would any other. */
void progress_child(void);

/* Whether a signal asked to stop. */
bool progress_interrupted(void);

/* Where the work was last: "in solve, iteration 12 of at most 1000, relative residual 3.1e-04". */
void progress_where(char *text, size_t text_size);

/* Whether colours are wanted on this stream: a terminal, and no NO_COLOR. */
bool colour_wanted(FILE *stream);

/* Seconds on a clock that only goes forward. */
double seconds(void);
