/*
 * Saddle inside PETSc: the preconditioner `saddle` (-pc_type saddle) and the factorizations `saddle`
 * (-pc_type cholesky or lu, -pc_factor_mat_solver_type saddle) of sequential matrices. docs/petsc.md has
 * recipes.
 *
 * A program needs none of this: -dll_append .../libsaddle_petsc.so on its command line is enough. One that
 * links the library calls the first function after PetscInitialize.
 */
#ifndef SADDLE_PETSC_H
#define SADDLE_PETSC_H

#include <petscpc.h>
#include <saddle/saddle.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Makes both known to PETSc; a second call does no harm. PETSC_ERR_LIB if PETSc is not of the version (major,
 * minor) that the door was built with. */
SADDLE_API PetscErrorCode PetscDLLibraryRegister_saddle_petsc(void);

/* What -pc_saddle_NAME VALUE does, for example "method", "ldlt". A new value leads to a setup. */
SADDLE_API PetscErrorCode PCSaddleSetOption(PC pc, const char *name, const char *value);

/* The solver behind a preconditioner that is set up, for queries; NULL before. It belongs to the PC. */
SADDLE_API PetscErrorCode PCSaddleGetSolver(PC pc, const saddle_solver **solver);

#if defined(__cplusplus)
}
#endif

#endif
