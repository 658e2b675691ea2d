/*
 * LDL' without fronts: the numbers of a sequence of pivots that is known in advance (plan/sequence.h), and
 * the kernels that make them and solve with them, in double.
 *
 * Row k of L solves a triangular system with the rows before it (T. A. Davis, Direct methods for sparse
 * linear systems, 2006, section 4.8; the 2x2 pivots are added here).
 */
#pragma once

#include "backend/front.h"
#include "plan/sequence.h"

typedef struct sd_simplicial {
    sd_sequence s;
    double *l;       /* of the nodes, as s.row */
    double *d;       /* 2 n, by k, as in a front; right behind l: see the places of a sequence */
    double *inverse; /* 2 n, of D, likewise */
    double *y;       /* n, 0 before and after a factorization */
    double least;    /* no eigenvalue of D was smaller in size */
} sd_simplicial;

struct sd_simplicial_kernels {
    /* Factors the values, which are numbered as the tree's entries: row by row, or column by column where the
     * sequence has places, with the same bits. False where a number breaks the rule: then there are no
     * factors. Static pivots and positive ones are 1x1. */
    bool (*run)(sd_simplicial *m, const double *values, const sd_pivoting *rule, sd_pivots *pivots);

    /* Solves for k columns that lie side by side, row by row in the order of the sequence: x[i k + r]. Every
     * column has the bits that it would have alone.
     *   forward:  x = L^-1 x
     *   backward: x = L'^-1 x, with D^-1 before it where `scaled` */
    void (*forward)(const sd_simplicial *m, int32_t k, double *x);
    void (*backward)(const sd_simplicial *m, bool scaled, int32_t k, double *x);
};

/* The plain version. */
extern const sd_simplicial_kernels sd_simplicial_reference;
