/*
 * What the interfaces of this door share: the solver of one pattern. It is told what a host wishes of a
 * factorization, factors, has the inertia certified, and says what came of it in terms that both interfaces
 * report by.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

/* Where a host asks for no scaling, rows are equilibrated all the same: without it, factors with Ipopt's
 * threshold of 1e-8 are so poor that their inertia has to be found by other factorizations, and steps go
 * astray (design/0014-doors.md has the figures). SADDLE_OPTIONS="scaling=none" is none. */
#define HSL_SCALING_UNASKED SADDLE_SCALING_RUIZ

/* What a host asks for. Compared as a whole: what is not used is 0. */
typedef struct hsl_wish {
    double threshold;
    double small;        /* pivots below it are zero; 0: those that the library finds to be */
    const double *scale; /* a scaling by the host, or NULL */
    saddle_scaling scaling;
    saddle_order order;
    saddle_switch pairs;
    saddle_factorization factorization;
} hsl_wish;

/* What is known after a factorization. */
typedef struct hsl_outcome {
    bool singular; /* or nobody can tell: a count in doubt is never a number */
    int64_t rank, negative, two_by_two, delayed, fronts, largest_front, entries, operations;
} hsl_outcome;

typedef struct hsl_engine {
    saddle_solver *solver;
    saddle_options options; /* those in use */
    hsl_wish wish;          /* from which they were made */
    bool wished, factored;
    bool print;           /* SADDLE_OPTIONS says print=on */
    saddle_device spoken; /* where it ran when that was said; AUTO: nothing was said yet */
    int64_t n, entries;
    double *given;  /* copy of the host's scaling that is in use; NULL: none */
    int32_t *order; /* and of its order */
    double *told;   /* the scaling that the host was told of last; NULL: none */
    hsl_outcome outcome;
    saddle_info info;
    char message[SADDLE_MESSAGE_SIZE];
} hsl_engine;

/* SADDLE_OPTIONS (adapters/common/environment.h). A user who set it is told on standard error what is wrong
 * with it, whatever the host's print level is. */
saddle_status hsl_environment(saddle_options *options, bool *print, char *message);

/* NULL if out of memory. Nothing but memory is taken; the first analysis may fail for other reasons. */
hsl_engine *hsl_engine_new(void);
void hsl_engine_free(hsl_engine *engine); /* NULL: nothing */

/* Takes the pattern, and values for an order and a scaling by values (NULL: none). order, the old index at
 * each position or NULL, is used with order user. */
saddle_status hsl_engine_analyse(hsl_engine *engine, const saddle_matrix *A, const hsl_wish *wish,
                                 const int32_t *order);

/* Factors values of the analysed pattern, in the order of its entries, and certifies the inertia: outcome.
 * With b, also solves for nrhs columns of leading dimension ldb, in place, and the certificate comes along.
 */
saddle_status hsl_engine_factor(hsl_engine *engine, const double *values, const hsl_wish *wish, int64_t nrhs,
                                double *b, int64_t ldb);

/* Solves in place. job: 0 all of it, 1 L, 2 D, 3 L', 4 D and L' (as in MA97). Several threads may solve. */
saddle_status hsl_engine_solve(const hsl_engine *engine, int job, int64_t nrhs, double *x, int64_t ldx,
                               char *message);

/* The scaling of the factors. If the host gives it back for later factorizations, the solver just keeps it.
 */
saddle_status hsl_engine_scaling(hsl_engine *engine, double *scale);

/* One line on Fortran's unit 6 (standard output) or 0 (standard error); none where it is negative: what runs,
 * the first time and when the device has changed. */
void hsl_engine_speak(hsl_engine *engine, const char *interface, int unit);

/* A line about the last factorization. */
void hsl_engine_report(const hsl_engine *engine, int unit);

/* A line "saddle: ..." there. */
void hsl_say(int unit, const char *format, ...) __attribute__((format(printf, 2, 3)));
