/* What the preconditioner (pc.c) and the factorizations (factorization.c) share: options from PETSc's
 * database, views of its matrices, a solver with its failures told as statuses.
 *
 * A function returns a PetscErrorCode for what PETSc calls an error, which ends most programs. What goes
 * wrong with a matrix is no error but a state: door.status and door.message, which the callers make a
 * PCFailedReason or a MatFactorError of. */
#pragma once

#include "saddle_petsc.h"

#include <petsc/private/matimpl.h>

_Static_assert(sizeof(PetscInt) == sizeof(int32_t), "the door views PETSc's indices as they are: 32 bits");
_Static_assert(sizeof(PetscScalar) == sizeof(double),
               "the door views PETSc's values as they are: real doubles");

/* What is done with a matrix that the direct solver finds singular. */
typedef enum door_singular {
    DOOR_SINGULAR_AUTO, /* regularise if PETSc was told of a null space, otherwise fail */
    DOOR_SINGULAR_FAIL,
    DOOR_SINGULAR_REGULARISE
} door_singular;

/* The upper triangle of a matrix that cannot be viewed as it is. */
typedef struct door_copy {
    PetscInt *pointers, *indices;
    PetscInt *from; /* the place of each entry in the values of the matrix */
    PetscScalar *values;
    PetscInt rows, entries; /* how many there is room for */
    PetscObjectId id;       /* the matrix, and the state of its pattern, that this is the pattern of */
    PetscObjectState pattern;
    PetscBool seen; /* the solver's last factorization was of this pattern */
} door_copy;

typedef struct door {
    saddle_options options;
    PetscBool3 symmetric; /* as the user says; PETSC_BOOL3_UNKNOWN: as the matrix says */
    door_singular on_singular;
    saddle_solver *solver; /* NULL before the first setup, and after new options */
    door_copy copy;
    saddle_info info;                  /* after the last factorization */
    PetscInt analyses, factorizations; /* of this solver */
    PetscInt regularised;              /* zero pivots that were replaced */
    PetscBool identity;                /* M is I: the matrix was zero */
    saddle_status status;              /* of the last setup */
    saddle_status applied;             /* of the last application: the next may succeed */
    char message[SADDLE_MESSAGE_SIZE];
} door;

/* ---- options.c ---- */

/* The defaults of the library, but for one thread a rank, the CPU, the direct solver, and a single
 * application of its factors, without iteration. */
void door_init(door *d);

/* Reads -STEM_saddle_NAME ("pc", "mat") for every row of the option table and the door's own two. */
PetscErrorCode door_read_options(door *d, const char *stem, PetscOptionItems *PetscOptionsObject);

/* One of them by name. */
PetscErrorCode door_set_option(door *d, const char *name, const char *value);

/* ---- matrix.c ---- */

/* A view of a matrix, from open to close. */
typedef struct door_view {
    saddle_matrix A;
    Mat given, read; /* the matrix, and what the arrays are of: itself or a conversion */
    const PetscInt *pointers, *indices;
    const PetscScalar *values;
    PetscInt rows;
    PetscBool seen; /* the pattern is that of the solver's last factorization */
} door_view;

/* triangle: the upper triangle of A alone, which is taken to be symmetric. */
PetscErrorCode door_view_open(door *d, Mat A, PetscBool triangle, door_view *view);
PetscErrorCode door_view_close(door_view *view);
void door_copy_free(door_copy *copy);

/* ---- solver.c ---- */

/* The plan alone. */
PetscErrorCode door_analyse(door *d, Mat A, PetscBool triangle);

/* Factors, on the plan of the last time if the pattern is the same. d->status says how it went. */
PetscErrorCode door_factor(door *d, Mat A, PetscBool triangle);

/* x = M^-1 b, of a vector or of columns; d->applied says how it went. */
PetscErrorCode door_apply_vector(door *d, PetscBool transposed, Vec b, Vec x);
PetscErrorCode door_apply_matrix(door *d, PetscBool transposed, Mat B, Mat X);

/* The inertia of A with its certificate, in info. */
PetscErrorCode door_certify(door *d, saddle_info *info);

/* What -ksp_view says. */
PetscErrorCode door_describe(door *d, PetscViewer viewer);

/* Frees the solver and the copy; the options stay. */
void door_forget(door *d);

/* PETSc's word for d->status or, after a setup that succeeded, d->applied. */
MatFactorError door_factor_error(const door *d);

/* ---- factorization.c, pc.c ---- */
PetscErrorCode door_register_factorizations(void);
PetscErrorCode door_register_pc(void);
