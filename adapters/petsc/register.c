/* What PETSc calls when it has loaded the library. */
#include "door.h"

PetscErrorCode PetscDLLibraryRegister_saddle_petsc(void)
{
    PetscInt major, minor, subminor, release;
    PetscFunctionBegin;
    /* The door reads structs whose layout belongs to one minor version. */
    PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
    PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "libsaddle_petsc was built for PETSc %d.%d and this is %" PetscInt_FMT ".%" PetscInt_FMT,
               PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
    PetscCall(door_register_pc());
    PetscCall(door_register_factorizations());
    PetscFunctionReturn(0);
}
