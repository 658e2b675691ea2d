/*
 * A driver of a benchmark as a child process that prints lines: started, listened to, ended. Drivers stand in
 * the folder "peers" beside the program, or wherever --peers says.
 */
#ifndef CLI_BENCH_DRIVER_H
#define CLI_BENCH_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where the file of this name would be; whether it is there and can be run. folder NULL: beside the program.
 */
bool driver_find(const char *file, const char *folder, char *path, size_t path_size);

typedef struct driver {
    pid_t child; /* 0: none */
    int pipe;
    char text[4096]; /* what was read and not yet given */
    size_t length;
} driver;

/* argv ends with NULL, argv[0] is its path; what it writes to standard error is shown. Whether it began. */
bool driver_start(driver *d, const char *const *argv);

/* The next line, without its end; false at the end of all, and when a signal asked to stop. */
bool driver_line(driver *d, char *line, size_t line_size);

/* Waits for its end, or ends it where a signal asked to stop: its exit status, -1 where it has none. */
int driver_end(driver *d);

#endif
