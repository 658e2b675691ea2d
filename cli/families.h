/*
 * Families of test problems, made from a size, a parameter and a seed: Laplacians, elasticity,
 * Stokes, Darcy, optimal control, predictive control, interior-point and Helmholtz matrices. All are
 * symmetric.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

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

/* States and inputs of a stage, for families that have them: 1 <= inputs <= states <= 1000. */
enum { FAMILY_MOST_STATES = 1000 };
typedef struct family_stages {
    int64_t states, inputs;
} family_stages;
extern const family_stages family_stages_default;
bool family_has_stages(const family *f);

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
/* The same with the stages of a family that has them; others do not look at them. */
saddle_status family_generate_stages(const char *name, int64_t size, const family_stages *stages,
                                     double param, uint64_t seed, saddle_matrix *A, char *message);
void family_free(saddle_matrix *A);
