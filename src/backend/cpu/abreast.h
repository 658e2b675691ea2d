/*
 * Systems abreast: several systems of one pattern, each number of one beside the same numbers of the others,
 * so that one walk over the pattern serves all and each has its place in a register.
 *
 * Every array of numbers here has rows of `width`. Each system has the bits that it has alone: what is done
 * to a number, and in which order, is what simplicial.c and residual.c beside this file do to it,
 * backend/simplicial_pivots.h, solve/triangular_walk.inc and method/direct/certificate.c.
 */
#pragma once

#include "backend/backend.h"
#include "backend/simplicial.h"

enum { SD_ABREAST_MOST = 8 };

/* The numbers of factorizations on a sequence, as in sd_simplicial. */
typedef struct sd_abreast_numbers {
    double *l, *d, *inverse, *y;
    int64_t *next; /* of each node, where the factorization has come to */
} sd_abreast_numbers;

/* How the factorization of one of them went. */
typedef struct sd_abreast_outcome {
    bool refused; /* by the rule, or because it has to be done alone */
    double least; /* no eigenvalue of D is smaller in size */
    sd_pivots pivots;
} sd_abreast_outcome;

/* The residual as sd_residual_measured computes it (cpu.h), for a half matrix with the values a; not near: a
 * number of that system is far from 1. room has width * 3 * A->window_total numbers. */
struct sd_residual_norms;
typedef void sd_abreast_measured(const sd_sparse *A, const double *a, const double *b, const double *x,
                                 double *room, double *r, struct sd_residual_norms *to, bool *near);

/* r = b - A x in double, as sd_spmv multiplies. room has width * A->window_total numbers. */
typedef void sd_abreast_difference(const sd_sparse *A, const double *a, const double *b, const double *x,
                                   double *room, double *r);

typedef struct sd_abreast_kernels {
    int width;                                 /* systems */
    const struct sd_abreast_kernels *narrower; /* with the same bits, for half as many; NULL: none */

    /* n numbers of each system, into rows and back, where there is an array for them. */
    void (*join)(int64_t n, const double *const *from, double *to);
    void (*part)(int64_t n, const double *from, double *const *to);

    /* values[target] = (scale_i (a power)) scale_j for the entries of A, a power of two for each system. */
    void (*scale)(const sd_csr *A, const double *a, const int64_t *target, const double *scale,
                  const double *power, double *values);
    /* One that is refused goes on, and nothing of it is to be used. */
    void (*factor)(const sd_sequence *s, const double *values, const sd_pivoting *rule,
                   const sd_abreast_numbers *numbers, sd_abreast_outcome *outcome);

    /* X = (L D L')^-1 X for `columns` right-hand sides of each system, one or two, side by side in a row. */
    void (*solve)(const sd_sequence *s, const sd_abreast_numbers *numbers, int columns, double *x);
    /* x = S r at its places, and the largest of each column; r is an array for each column. */
    void (*enter)(int32_t n, const int32_t *place, const double *scale, int columns, const double *const *r,
                  double *x, double *largest);
    /* x = x times two powers of two for each column of each system. */
    void (*shift)(int32_t n, int columns, const double *half, const double *rest, double *x);
    /* r = S x times two powers of two likewise. */
    void (*leave)(int32_t n, const int32_t *place, const double *scale, const double *half,
                  const double *rest, int columns, const double *x, double *const *r);
    sd_abreast_measured *residual;
    sd_abreast_difference *difference;

    /* Of the witness of an inertia: column = A S x for a half matrix; x -= S^-1 column and x'x. */
    void (*send)(const sd_csr *A, const double *a, const double *scale, const double *x, double *column);
    void (*arrive)(int32_t n, const double *scale, const double *column, double *x, double *square);
    /* x += z; and x = y for systems that are `chosen`, 1 or 0. */
    void (*add)(int64_t n, const double *z, double *x);
    void (*replace)(int64_t n, const double *chosen, const double *y, double *x);
    /* Whether all n numbers of each are. */
    void (*finite)(int64_t n, const double *x, bool *finite);
} sd_abreast_kernels;
