/*
 * What `saddle bench ldlt` measures: solves of a matrix by block LDL' in its several forms beside the direct
 * solver, and the reports on them. All of it by the public interface, one solver a run.
 */
#pragma once

#include "bench/bench.h"
#include "bench/operands.h"
#include "bench/problem.h"

/* The recipes that are compared; their names are those of --methods. */
typedef enum ldlt_recipe {
    LDLT_DEFAULT, /* --method ldlt */
    LDLT_NONE,    /* --method ldlt --fill none */
    LDLT_JACOBI,  /* --method jacobi --fill none --fallback none */
    LDLT_PAPER,   /* --paper */
    LDLT_AUTO,
    LDLT_DIRECT,
    LDLT_RECIPES
} ldlt_recipe;
extern const char *const ldlt_recipe_names[LDLT_RECIPES];

/* A times ones, and a random one. */
enum { LDLT_SIDES = 2 };
extern const char *const ldlt_side_names[LDLT_SIDES];

/* One run. Numbers that are not known are NaN, counts -1. */
typedef struct ldlt_result {
    bool run;     /* it was asked for */
    bool reached; /* the tolerance, for every right-hand side */
    bool solved;  /* errors small enough for every right-hand side (run.c) */
    char why[96]; /* where it is not: why */
    int64_t iterations[LDLT_SIDES];
    double backward[LDLT_SIDES], componentwise[LDLT_SIDES], residual[LDLT_SIDES];
    double analysis, factor, solve[LDLT_SIDES]; /* seconds of the calls */
    saddle_info info;                           /* what the setup came to */
} ldlt_result;

/* What all runs share: the matrix at work, its right-hand sides, and the time that a run may take. */
typedef struct ldlt_bench {
    const arguments *a;
    double limit, gemm; /* seconds of a run; flop/s of a core once they are wanted */
    bench_limit watch;
    bench_problem problem;
    double *b, *x; /* LDLT_SIDES columns, and one */
    char message[SADDLE_MESSAGE_SIZE];
} ldlt_bench;

/* Reads or makes the matrix, and its right-hand sides; an exit status, with what went wrong told. */
int ldlt_load(ldlt_bench *t, const char *operand);
void ldlt_unload(ldlt_bench *t);

/* Options "name=value name=value" over those of the command line, one core without --threads. */
saddle_options ldlt_options(const ldlt_bench *t, const char *text);
/* Those of a recipe, to 1e-14 within 100 iterations (auto: 1e-12 within its own). */
saddle_options ldlt_recipe_options(const ldlt_bench *t, ldlt_recipe recipe);

/* Analyses and factors, and solves with so many right-hand sides. A run that fails, or is late, says why; so
 * does a direct factorization that is left out, since its plan fits neither memory nor time. */
ldlt_result ldlt_try(ldlt_bench *t, const saddle_options *o, int sides);
/* The same; then factors the same values again, on the plan that is there now, and solves with that. */
ldlt_result ldlt_try_twice(ldlt_bench *t, const saddle_options *o, int sides, ldlt_result *again);

/* The larger of the two right-hand sides' iterations and errors; NaN where one is not known. */
double ldlt_iterations(const ldlt_result *r);
double ldlt_backward(const ldlt_result *r);
/* The better of residual and componentwise error. */
double ldlt_other_error(const ldlt_result *r);
double ldlt_setup(const ldlt_result *r);
double ldlt_solve_time(const ldlt_result *r);
/* Stored entries over those of A. */
double ldlt_stored(const ldlt_result *r, int64_t nnz);

typedef struct ldlt_row {
    bench_matrix matrix;
    ldlt_result results[LDLT_RECIPES];
    ldlt_result to_residual; /* of an anchor: ldlt to a relative residual of 1e-8 */
} ldlt_row;

typedef struct ldlt_report {
    const ldlt_bench *bench;
    bool anchors; /* each with ldlt to a residual beside the recipes */
    bool wanted[LDLT_RECIPES];
    int count;
    ldlt_row *rows;
} ldlt_report;

/* The parts. Operands are what was given, folders opened; each returns an exit status.
 *
 * Loads one after the other and calls for each; one that cannot be read is told and is the exit status, and
 * the next ones go on. */
int ldlt_walk(ldlt_bench *t, const bench_operands *o, void (*measure)(ldlt_bench *t, void *report),
              void *report);
/* Ends a part of which so many rows were measured: its tables and what ran, JSON and picture; frees them. */
int ldlt_end(const ldlt_bench *t, int status, int64_t count, void (*print)(const void *report),
             json_writer *write, const void *report, void *rows);
int ldlt_matrices(ldlt_bench *t, bench_operands *o, bool anchors);
int ldlt_made(ldlt_bench *t, bool growth);
int ldlt_backends(ldlt_bench *t, const bench_operands *o);
int ldlt_ablate(ldlt_bench *t, const bench_operands *o);
int ldlt_symildl(ldlt_bench *t, const bench_operands *o);

/* The reports (report.c, json.c). */
/* The iterations of both sides, a dash where they are not known. */
const char *ldlt_sides_text(const int64_t *iterations, char *text, size_t size);
void print_ldlt_header(const ldlt_report *t);
void print_ldlt_row(const ldlt_report *t, const ldlt_row *row);
void print_ldlt_methods(const ldlt_report *t);
void print_ldlt_totals(const ldlt_report *t);
void print_ldlt_anchors(const ldlt_report *t);

/* Totals of a recipe over all rows; which of them the others are compared with. */
typedef struct ldlt_total {
    int run, solved;
    double stored_median; /* over nnz(A), of those that have factors */
    int large,
        large_a_third; /* of n >= 5000 whose direct factors have over 30 nnz(A); with a third of that */
    int missed;        /* direct solves it and this does not */
} ldlt_total;
ldlt_total ldlt_total_of(const ldlt_report *t, ldlt_recipe recipe);

/* The matrices of part anchors. */
typedef struct ldlt_anchor {
    const char *name;
    double published_error;      /* of Stretching Jacobi, Table I; NaN */
    double published_iterations; /* of SYM-ILDL with SQMR to 1e-8; NaN */
} ldlt_anchor;
const ldlt_anchor *ldlt_anchor_find(const char *name);

void ldlt_json_head(json *j, const ldlt_bench *t, const char *part);
void ldlt_json_result(json *j, const char *key, const ldlt_result *r);
json_writer json_ldlt; /* of an ldlt_report */
