/* [H B'; B 0] with all variables on the first rank and all constraints on the second, whose diagonal block
 * is zero: what bjacobi makes of a saddle-point system in the worst case. Run on 2 ranks. */
#include <petscksp.h>

enum { M = 20 };

int main(int argc, char **argv)
{
    Mat A;
    Vec b, x;
    KSP ksp;
    PetscMPIInt rank;
    PetscInt iterations;
    const char *reason = NULL;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, M, M, 2 * M, 2 * M, 3, NULL, 1, NULL, &A));
    for (PetscInt i = 0; i < M && rank == 0; ++i) {
        PetscCall(MatSetValue(A, i, i, 3 + i % 3, INSERT_VALUES));
        if (i > 0) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
        if (i < M - 1) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
        PetscCall(MatSetValue(A, i, M + i, 1, INSERT_VALUES));
    }
    for (PetscInt i = 0; i < M && rank == 1; ++i) {
        PetscCall(MatSetValue(A, M + i, i, 1, INSERT_VALUES));
        PetscCall(MatSetValue(A, M + i, M + i, 0, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReasonString(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %" PetscInt_FMT " %s\n", iterations, reason));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return 0;
}
