/*
 * Systems that QDLDL, too, can factor, and Saddle's calls on them: what `saddle bench direct --part sparse`
 * and `saddle bench calls` time.
 *
 * A zero on the diagonal, stored or not, is replaced by -delta: these are the rows of constraints. Everything
 * else stays as it is. Saddle and its peers get the same matrix.
 */
#pragma once

#include "bench/problem.h"

typedef struct quasidefinite {
    saddle_matrix A; /* the lower triangle by columns, sorted, base 0, 64-bit pointers */
    bench_matrix matrix;
    int64_t replaced;  /* zeros of the diagonal */
    double *b, *x, *r; /* A times ones; room for a solution and for a residual */
    char path[4096];   /* of a file with A, for the peers; "" where none was asked for */
    saddle_hooks hooks;
    void *owned[3]; /* the arrays of A */
} quasidefinite;

/* From an operand (problem.h), or a file of that name in $SADDLE_MATRICES; an exit status, with the message
 * on standard error. */
int quasidefinite_open(quasidefinite *q, const char *operand, double delta, bool file,
                       const saddle_hooks *hooks);
void quasidefinite_close(quasidefinite *q);

/* Saddle at work on it. The functions have the form that timing.h calls. */
typedef struct saddle_calls {
    quasidefinite *q;
    saddle_options options;
    saddle_solver *solver;
    saddle_info info;
} saddle_calls;

/* A solver with these options beside the caller's, "name=value name=value", which has analysed and factored;
 * otherwise the message. */
saddle_status calls_begin(saddle_calls *c, quasidefinite *q, const saddle_options *options, const char *words,
                          char *message);
void calls_end(saddle_calls *c);

bool call_factor(void *self);
bool call_solve(void *self);         /* b to x, with what the options ask for; to info */
bool call_parts(void *self);         /* b to x, forward, diagonal, backward: nothing is verified */
bool call_parts_refined(void *self); /* the same with one refinement, by the loops that the peers have */
bool call_factor_solve(void *self);
bool call_factor_parts(void *self);
bool call_once(void *self); /* saddle_solve_once: analysis and all */

/* Backward error of x; NaN where it is not known. */
double quasidefinite_error(const quasidefinite *q);
