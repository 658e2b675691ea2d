/* What the examples share: an N x N grid with three unknowns a point, rows of points dealt out to the ranks,
 * and a solve that prints one line of a table. */
#pragma once

#include <petscksp.h>

enum { UNKNOWNS = 3 }; /* of a point, one after the other */

typedef struct grid {
    PetscInt size;        /* points a side */
    PetscInt first, last; /* rows of points of this rank: first <= j < last */
} grid;

/* -n SIZE, `size` by default. */
PetscErrorCode grid_create(PetscInt size, grid *g);

/* The number of unknown c of point (i, j); -1 outside the grid, which MatSetValues leaves out. */
static inline PetscInt grid_index(const grid *g, PetscInt i, PetscInt j, PetscInt c)
{
    const PetscBool inside = (PetscBool)(i >= 0 && j >= 0 && i < g->size && j < g->size);
    return inside ? UNKNOWNS * (j * g->size + i) + c : -1;
}

/* An empty symmetric matrix with room for so many entries a row, and a vector. */
PetscErrorCode grid_matrix(const grid *g, PetscInt entries, Mat *A, Vec *b);

/* Unknowns c with low <= c < high of this rank. */
PetscErrorCode grid_unknowns(const grid *g, PetscInt low, PetscInt high, IS *unknowns);

/* Solves with the options of the command line and prints size, ranks, iterations, the true residual and
 * seconds. The two fields are named for -pc_type fieldsplit; schur, if not NULL, preconditions the Schur
 * complement of the second. */
typedef struct grid_fields {
    const char *name[2];
    IS unknowns[2];
    Mat schur;
} grid_fields;
PetscErrorCode grid_solve(const char *name, Mat A, Vec b, const grid_fields *fields);
