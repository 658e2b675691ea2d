/*
 * What `saddle bench trisolve` measures: incomplete factorizations whose triangular solves are exact or
 * swept, as preconditioners of CG or GMRES, by the public interface, one solver a run.
 *
 * A run is said by a text of options "name=value name=value" over those of the command line. The right-hand
 * side is a vector of ones. A sweep is the library's: the first one gives D^-1 c, which the paper (Jacobi
 * triangular solves) counts as 0.
 */
#pragma once

#include "bench/bench.h"
#include "bench/operands.h"
#include "bench/problem.h"

/* The words of --part, in the order in which they are measured and told. */
typedef enum trisolve_part {
    PART_SETTINGS,
    PART_FIGURE1,
    PART_FIGURE2,
    PART_FIGURE3,
    PART_FIGURE4,
    PART_FIGURE5,
    PART_TABLE1,
    PART_FIGURE6,
    PART_FIGURE7,
    PART_FIGURE8,
    PART_TABLES2TO5,
    PART_FIGURE9,
    PART_AUTO,
    PART_CUSPARSE,
    PART_UNSYMMETRIC, /* last: the matrix is scaled by then */
    PARTS
} trisolve_part;
extern const char *const trisolve_part_names[PARTS];

enum { TEXT = 192, LEVELS_MOST = 8, SWEEPS_MOST = 200 };

/* One run. Seconds that are not known are NaN. */
typedef struct trisolve_result {
    bool run, solved;
    bool late;    /* it was stopped */
    char why[96]; /* where it is not solved: why */
    double setup, solve;
    double application; /* of the preconditioner, once; NaN where it is not asked for */
    saddle_info info;
} trisolve_result;

/* The matrix at work and what all runs share. */
typedef struct trisolve_bench {
    const arguments *a;
    bool wanted[PARTS];
    int level_count, levels[LEVELS_MOST]; /* of --levels; none: as the part says */
    bench_limit watch;
    double until; /* on the clock of watch: what is measured of this matrix ends */
    bench_problem problem;
    const char *operand; /* that it was made of */
    saddle_matrix A;     /* the problem's, or scaled */
    saddle_matrix made;  /* what the scaled one is made of */
    bool scaled;
    double *values, *b, *x;
    int32_t *places; /* of the values */
    char message[SADDLE_MESSAGE_SIZE];
} trisolve_bench;

/* Reads or makes the matrix and its right-hand side; an exit status, with what went wrong told. */
int trisolve_load(trisolve_bench *t, const char *operand);
void trisolve_unload(trisolve_bench *t);
/* Scales it from both sides, and brings matched entries of a general one to its diagonal: A becomes P R A C,
 * b stays. Whether that could be done; t->message says why not. */
bool trisolve_scale(trisolve_bench *t);

/* Options without what a run says. */
saddle_options trisolve_usual(const trisolve_bench *t);

/* Analyses and factors; solves unless `seconds`, which the solve may take, are 0. */
trisolve_result trisolve_try(trisolve_bench *t, const char *text, double seconds);
/* The same --repeat times: the best times of both. */
trisolve_result trisolve_repeat(trisolve_bench *t, const char *text, double seconds);
/* Fills in what an application of its preconditioner takes. */
void trisolve_measure_application(trisolve_bench *t, const char *text, trisolve_result *r);

double trisolve_total(const trisolve_result *r);
double trisolve_iterations(const trisolve_result *r); /* NaN where they are not known */
double trisolve_sweeps(const trisolve_result *r);     /* NaN where solves are exact */
bool trisolve_is_shifted(const trisolve_result *r);
/* Seconds that are left for this matrix; 0 where its limit is over. */
double trisolve_left(const trisolve_bench *t);

/* What --levels and --most say, else the usual; at most LEVELS_MOST and SWEEPS_MOST. */
int trisolve_levels(const trisolve_bench *t, const int *usual, int count, int *levels);
int trisolve_most(const trisolve_bench *t, int usual);

/* What is tried of sweeps over blocks: the blockings of prepare that are compared. */
enum { BLOCKINGS = 8, ADJACENT = 0 }; /* the first is the paper's */
extern const char *const trisolve_blockings[BLOCKINGS];

/* Rows of a part, which grow. */
typedef struct trisolve_rows {
    int64_t count, room;
    void *at;
} trisolve_rows;

/* What measures parts, a file each: the parts that it serves, the matrices it takes, a row of the matrix at
 * work (told at once where tables are wanted), the tables at the end, and the rows as JSON. */
typedef struct trisolve_kind {
    trisolve_part first, last;
    enum { TAKES_ALL, TAKES_SYMMETRIC, TAKES_GENERAL } takes;
    size_t size; /* of a row, which begins with a bench_matrix */
    void (*measure)(trisolve_bench *t, void *row);
    void (*print_row)(const trisolve_bench *t, const void *row, bool first);
    void (*print)(const trisolve_bench *t, const trisolve_rows *rows); /* or NULL */
    void (*write)(json *j, const trisolve_bench *t, const trisolve_rows *rows);
    void (*release)(void *row); /* or NULL */
} trisolve_kind;
extern const trisolve_kind kind_settings, kind_sweeps, kind_search, kind_dominance, kind_orders, kind_auto,
    kind_cusparse, kind_unsymmetric;

void trisolve_json_result(json *j, const char *key, const trisolve_result *r);
