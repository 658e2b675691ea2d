#include "grid.h"

PetscErrorCode grid_create(PetscInt size, grid *g)
{
    PetscMPIInt rank, ranks;
    PetscFunctionBeginUser;
    g->size = size;
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &g->size, NULL));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    g->first = g->size * rank / ranks;
    g->last = g->size * (rank + 1) / ranks;
    PetscFunctionReturn(0);
}

PetscErrorCode grid_matrix(const grid *g, PetscInt entries, Mat *A, Vec *b)
{
    const PetscInt own = UNKNOWNS * g->size * (g->last - g->first);
    PetscBool triangle; /* -mat_type sbaij */
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, own, own, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSeqAIJSetPreallocation(*A, entries, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, entries, NULL, entries, NULL));
    PetscCall(MatSeqSBAIJSetPreallocation(*A, 1, entries, NULL));
    PetscCall(MatMPISBAIJSetPreallocation(*A, 1, entries, NULL, entries, NULL));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)*A, &triangle, MATSEQSBAIJ, MATMPISBAIJ, ""));
    if (triangle) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
    PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
    PetscCall(MatCreateVecs(*A, NULL, b));
    PetscFunctionReturn(0);
}

PetscErrorCode grid_unknowns(const grid *g, PetscInt low, PetscInt high, IS *unknowns)
{
    const PetscInt points = g->size * (g->last - g->first), begin = UNKNOWNS * g->size * g->first;
    PetscInt *index, count = 0;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc1(points * (high - low), &index));
    for (PetscInt k = 0; k < points; ++k)
        for (PetscInt c = low; c < high; ++c) index[count++] = begin + UNKNOWNS * k + c;
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, count, index, PETSC_OWN_POINTER, unknowns));
    PetscFunctionReturn(0);
}

/* |b - Ax| / |b|. */
static PetscErrorCode true_residual(Mat A, Vec b, Vec x, PetscReal *residual)
{
    Vec r;
    PetscReal norm;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(b, &r));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCall(VecDestroy(&r));
    if (norm > 0) *residual /= norm;
    PetscFunctionReturn(0);
}

static PetscErrorCode name_fields(KSP ksp, const grid_fields *fields)
{
    PC pc;
    PetscBool split;
    PetscFunctionBeginUser;
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCFIELDSPLIT, &split));
    if (!split) PetscFunctionReturn(0);
    for (int k = 0; k < 2; ++k) PetscCall(PCFieldSplitSetIS(pc, fields->name[k], fields->unknowns[k]));
    if (fields->schur) PetscCall(PCFieldSplitSetSchurPre(pc, PC_FIELDSPLIT_SCHUR_PRE_USER, fields->schur));
    PetscFunctionReturn(0);
}

PetscErrorCode grid_solve(const char *name, Mat A, Vec b, const grid_fields *fields)
{
    KSP ksp;
    Vec x;
    PetscInt n, iterations;
    PetscMPIInt ranks;
    PetscReal residual;
    PetscLogDouble start, ready, end;
    const char *reason = NULL;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(b, &x));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(name_fields(ksp, fields));
    PetscCall(PetscTime(&start));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSetUpOnBlocks(ksp));
    PetscCall(PetscTime(&ready));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(PetscTime(&end));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReasonString(ksp, &reason));
    PetscCall(true_residual(A, b, x, &residual));
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%s n %" PetscInt_FMT " ranks %d iterations %" PetscInt_FMT
                          " residual %.1e setup %.2f s solve %.2f s %s\n",
                          name, n, ranks, iterations, (double)residual, ready - start, end - ready, reason));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(0);
}
