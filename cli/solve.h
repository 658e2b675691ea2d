/* One run of `saddle solve`, as its flow (solve.c) and its two reports (report.c) share it. */
#pragma once

#include "cli/given.h"
#include "cli/run.h"

typedef struct solve_run {
    run run;
    given given; /* until the solver has its copy */
    saddle_solver *solver;
    double *b, *x, *history;

    saddle_info info;
    bool analysed; /* info holds what the analysis found */
    bool solved;   /* saddle_solve was called: info and x hold what came of it */

    bool solution_known;  /* b = A times ones */
    double forward_error; /* NaN where it is not known */
    double condition;     /* where --condition asked for it and there are factors; otherwise NaN */
    bool x_written;
} solve_run;

/* Why it ended, in a few words: "relative residual", "cancelled", "a file is malformed". */
const char *run_reason(const solve_run *r);

/* "diagonal + minres", in the words of the options. */
void run_method(const solve_run *r, char *text, size_t text_size);

const char *kind_word(saddle_kind kind);

/* How many residuals r->history holds. */
int64_t run_history(const solve_run *r);

/* The readable report, to standard output. */
void print_report(const solve_run *r);

/* The JSON object of DESIGN's "The program". */
json_writer json_run;
