/*
 * Sequences of interior-point systems on one pattern, made from one KKT matrix.
 *
 *     K(mu) = [ H + Sigma(mu)      A'    ]    Sigma = Z/X of bounded variables, D = X/Z of inequalities,
 *             [      A          -D(mu)   ]    x z = mu
 *
 * A bound whose slack x tends to c > 0, or whose multiplier z tends to -c > 0, is on the central path where
 * x - z = c, x z = mu: for large mu all ratios z/x are near 1, for small mu they are z/x = mu/c^2 or
 * c^2/mu. A method does not keep to the path: every ratio is multiplied by a random factor of its own in
 * every step.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

/* How the matrices of a sequence come about. */
typedef struct sequence_rules {
    const char *operand; /* its KKT matrix: a file, a family (saddle gen), or lqr_STEPS */
    const char *name;    /* in the report; NULL: the operand's */
    double first, last;  /* rows of which variables have bounds, as parts of n */
    double share;        /* of them that do */
    double mu;           /* of the first matrix */
    double weight;       /* that Sigma is multiplied by: of a cell, where a function is discretised */
    bool placeholder;    /* the first matrix has zeros where Sigma and D will be */
} sequence_rules;

enum { SEQUENCE_LENGTH = 16 };

/* The matrix of now; its values are replaced by the next. */
typedef struct sequence {
    saddle_matrix A; /* lower triangle by columns */
    double *values;
    double *fixed;     /* by row: what stays on the diagonal */
    double *limit;     /* by row: c; NaN where there is no bound */
    int64_t *diagonal; /* by row: its place in values */
    sequence_rules rules;
    uint64_t seed;
    saddle_hooks hooks;
} sequence;

/* Whether its matrix is a file, whose diagonal holds Sigma and D of some mu already: they are not kept. */
bool sequence_is_file(const sequence_rules *rules);

/* From a matrix whose diagonal is positive in the rows of variables and negative, zero or missing in those of
 * constraints. The caller frees *s, also where it fails; message has SADDLE_MESSAGE_SIZE characters. */
saddle_status sequence_make(const saddle_matrix *K, const sequence_rules *rules, uint64_t seed,
                            const saddle_hooks *hooks, sequence *s, char *message);
void sequence_step(sequence *s, int k);
void sequence_free(sequence *s);

/* Optimal control of a linear system of 8 states and 3 controls over so many steps: its KKT matrix without
 * bounds, the unknowns of a step side by side. To be freed by saddle_matrix_free. */
saddle_status sequence_lqr(int64_t steps, const saddle_hooks *hooks, saddle_matrix *A, char *message);
