/* Solves a system whose matrix is in a file (Matrix Market or Rutherford-Boeing, read by Saddle) on one rank,
 * with b = A 1.
 *
 *     file -f A.mtx.gz -dll_append .../libsaddle_petsc.so -pc_type saddle -pc_saddle_method ldlt
 *          -ksp_type gmres -ksp_gmres_restart 100 -ksp_pc_side right
 */
#include <petscksp.h>
#include <saddle/saddle.h>

/* A as a seqaij matrix, both triangles. */
static PetscErrorCode read_matrix(const char *path, Mat *A)
{
    saddle_matrix file, rows;
    char message[SADDLE_MESSAGE_SIZE];
    PetscFunctionBeginUser;
    PetscCheck(!saddle_read_matrix(path, NULL, &file, message), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s",
               message);
    const saddle_shape shape = file.shape == SADDLE_GENERAL ? SADDLE_GENERAL : SADDLE_FULL;
    const saddle_status status = saddle_convert(&file, SADDLE_ROWS, shape, NULL, &rows, message);
    saddle_matrix_free(&file, NULL);
    PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", message);
    const int64_t *pointers = rows.pointers;
    const double *values = rows.values;
    const PetscInt n = (PetscInt)rows.rows;
    PetscInt *counts;
    PetscCall(PetscMalloc1(n, &counts));
    for (PetscInt i = 0; i < n; ++i) counts[i] = (PetscInt)(pointers[i + 1] - pointers[i]);
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, counts, A));
    for (PetscInt i = 0; i < n; ++i)
        PetscCall(MatSetValues(*A, 1, &i, counts[i], rows.indices + pointers[i], values + pointers[i],
                               INSERT_VALUES));
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(PetscFree(counts));
    saddle_matrix_free(&rows, NULL);
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat A)
{
    KSP ksp;
    Vec x, b, r;
    PetscInt iterations;
    PetscReal norm, residual;
    const char *reason = NULL;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(A, x, b));
    PetscCall(VecSet(x, 0));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReasonString(ksp, &reason));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "iterations %" PetscInt_FMT " residual %.1e %s\n", iterations,
                          (double)(residual / norm), reason));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&r));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    char path[PETSC_MAX_PATH_LEN];
    PetscBool given;
    Mat A;
    PetscCall(PetscInitialize(&argc, &argv, NULL, "A system in a file: -f FILE"));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-f", path, sizeof path, &given));
    PetscCheck(given, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "which file? -f FILE");
    PetscCall(read_matrix(path, &A));
    PetscCall(solve(A));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return 0;
}
