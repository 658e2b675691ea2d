/*
 * Families of test problems, made from a size, a parameter and a seed: Laplacians, elasticity,
 * Stokes, Darcy, optimal control, interior-point and Helmholtz matrices. All are symmetric.
 */
#pragma once

#include "saddle/saddle.h"

typedef struct family {
    const char *name;
    const char *what;
    const char *parameter;     /* what P is; NULL where the family has none */
    double value, least, most; /* P's default and range */
    const char *dimension;     /* n as a formula of the size N */
    int64_t least_size;
    int random; /* whether the seed matters */
} family;

/* Row k of the table, or NULL beyond the last. */
const family *family_at(int k);

/* The family of this name, or NULL. */
const family *family_find(const char *name);

/* The least size whose matrix has at least this many rows, and the dimensions of what is modelled, of a
 * family that there is: 2, 3, or 1 where it has none. */
int64_t family_size(const char *name, int64_t rows);
int family_axes(const char *name);

/*
 * Makes a matrix: its lower triangle by columns, sorted, base 0, 64-bit pointers, double. A NAN param is
 * the default. Time and memory are proportional to the entries made. On failure *A is all zero and
 * message (of SADDLE_MESSAGE_SIZE characters, or NULL) says why. Free *A with family_free.
 */
saddle_status family_generate(const char *name, int64_t size, double param, uint64_t seed, saddle_matrix *A,
                              char *message);
void family_free(saddle_matrix *A);
