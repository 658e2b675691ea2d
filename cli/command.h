/*
 * The commands of a program: of `saddle` (cli/main.c) and of `saddle bench` (bench/main.c). Each is a file
 * with one `const command command_NAME`, and a row in the table of its program: nothing else has to know
 * about it.
 */
#pragma once

#include "cli/options.h"

/* Exit statuses, for all commands. */
#define EXIT_TABLE(ROW)                                                                                      \
    ROW(EXIT_DONE, 0, "solved to the tolerance; other commands: success")                                    \
    ROW(EXIT_NOT_REACHED, 1, "the tolerance was not reached; the best x found is still written")             \
    ROW(EXIT_USAGE, 2, "incorrect usage")                                                                    \
    ROW(EXIT_FILE, 3, "bad input, or a file that cannot be read or written")                                 \
    ROW(EXIT_MEMORY, 4, "out of memory, or the limit is too small")                                          \
    ROW(EXIT_DEVICE, 5, "no such device, or it failed")                                                      \
    ROW(EXIT_SINGULAR, 6, "the matrix is singular and the system inconsistent")                              \
    ROW(EXIT_INTERRUPTED, 130, "interrupted")

#define EXIT_ENUM_ROW(name, number, text) name = (number),
enum { EXIT_TABLE(EXIT_ENUM_ROW) };
#undef EXIT_ENUM_ROW

typedef struct command {
    const char *name;
    const char *operands; /* as in the usage line: "A.mtx" */
    const char *help;     /* one line */
    const char *about;    /* paragraphs, separated by an empty line */
    const char *examples; /* lines, each "command # what it does" */
    /* A list between the two, such as what the first operand may be: its title (NULL: there is none)
     * and row k of it, in buffers of size characters; false beyond the last. */
    const char *list_title;
    bool (*list)(int k, char *head, char *tail, size_t size);
    const option *options;
    const char *library; /* the library's options it takes: "" none, "*" all, or "threads|tol" */
    const char *words;   /* what the first operand may be, for completion: "man|bash"; NULL: a file */
    int least, most;     /* operands */
    bool hidden;         /* not listed in the help */
    int (*run)(const arguments *a); /* returns an exit status */
    /* In place of run: another program takes over, with argv[1] and what follows. It returns where there is
     * none. */
    int (*start)(char **argv);
} command;

/* The exit status that a status of the library means. */
int exit_status(saddle_status status);

/* Writes "saddle: ..." to standard error and returns the exit status given (usage_error: 2, with a
 * hint at the command's help), so that a failure is one line. */
int fail(int exit, const char *format, ...) __attribute__((format(printf, 2, 3)));
int usage_error(const arguments *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
