/*
 * What all benchmarks share. Each is a command of saddle-bench: a file or a folder with one `const command
 * command_NAME`, and a row in main.c. Arguments are those of the command line, operands the matrices.
 */
#pragma once

#include "cli/command.h"
#include "cli/json.h"

/* Options that several have. */
#define BENCH_JSON OPTION_TEXT("json", "FILE|-", NULL, "write the rows as JSON")
#define BENCH_PLOT(what)                                                                                     \
    OPTION_TEXT("plot", "FILE", NULL, "draw " what " (.png or .svg; requires python3-matplotlib)")
#define BENCH_REPEAT OPTION_COUNT("repeat", "N", 5, 1, 1000, "runs of each; the best counts")

/* Whether tables are wanted: not with -q, and not where the JSON goes to standard output. */
bool bench_prints(const arguments *a);

/* A number in a column of this width, a dash where it is not finite. */
void print_column(const char *format, int width, double number);
/* Several, each by its width and format: PRINT_COLUMNS("9.4f 7.2f", seconds, ratio). */
void print_columns(const char *columns, const double *numbers);
#define PRINT_COLUMNS(columns, ...) print_columns(columns, (const double[]){__VA_ARGS__})

/* A file is read several times: standard input is refused. 0, or 2 with the message on standard error. */
int bench_check_operands(const arguments *a);
/* A scaling and an order in a file, which belong to one matrix, are refused. The same returns. */
int bench_check_files(const arguments *a);

/* An empty file with this ending among the system's temporary ones; 0, or the exit status with a message */
int bench_temporary(const char *ending, char *path, size_t path_size);

/* Where the driver of this name would be, in this folder (NULL: in the folder "peers" beside the program);
 * whether it is there and can be run. In the folder "none" no driver is. */
bool bench_driver(const char *name, const char *folder, char *path, size_t path_size);

/* The names in the list of an option, "NAME,NAME", into flags, all where nothing is said; an exit status. */
int bench_choose(const arguments *a, const char *list, const char *const *names, int count, bool *wanted);

/* Whether seconds are those of a core, not of the clock: with one thread on the CPU. */
bool bench_core_time(const arguments *a);
/* The last lines of a report: version, day, machine, threads. */
void bench_print_run(const arguments *a);
/* The day as text, 2026-11-18. */
void bench_today(char *day, size_t size);

/* Sets options "name=value name=value", which are the program's own: they are taken, or the program is wrong,
 * which its first run tells. */
void bench_set(saddle_options *o, const char *words);
/* The same for words that somebody gave: what is wrong with them is in the message. */
saddle_status bench_try_set(saddle_options *o, const char *words, char *message);

/* The first keys of the JSON of a benchmark. */
void bench_json_head(json *j, const char *name);

/* Writes the JSON of a report where --json asks for it; bench_draw also the picture where --plot does, which
 * a script draws from the JSON (plot.py). They return the status, or where that is 0 their own failure. */
int bench_save(const arguments *a, int status, json_writer *write, const void *report);
int bench_draw(const arguments *a, int status, json_writer *write, const void *report);

/* The time that a run of the solver may take. Hooks of a run: the program's progress, an end to what takes
 * too long, and a log only with -v (what it would warn of is in the report). */
typedef struct bench_limit {
    saddle_hooks hooks; /* of the program */
    double until;
    bool core; /* seconds of a core, not of the clock */
    bool late;
} bench_limit;
saddle_hooks bench_limited(bench_limit *l, const arguments *a, double limit);
double bench_now(const bench_limit *l);

/* Flop/s of a dgemm on one core, measured now; NaN where there is no BLAS (gemm.c). */
double gemm_rate(void);
