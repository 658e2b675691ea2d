/* What the door costs: a setup with new values on an old pattern and an application through PETSc, beside the
 * same calls of the library, in turns, the least of all turns.
 *
 *     overhead [-repeat 200]
 *
 * The matrix is [h^2 I, K; K, 0] with the five-point Laplacian K of a grid, two unknowns a point. */
#include "saddle_petsc.h"

#include <petsc/private/petscimpl.h> /* the state of an object */
#include <petsctime.h>

#include <math.h>

/* Both triangles, or the upper one for sbaij. */
static PetscErrorCode create_matrix(PetscInt width, PetscInt height, MatType type, Mat *A)
{
    const PetscInt n = 2 * width * height;
    PetscBool triangle;
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_SELF, A));
    PetscCall(MatSetSizes(*A, n, n, n, n));
    PetscCall(MatSetType(*A, type));
    PetscCall(MatSeqAIJSetPreallocation(*A, 6, NULL));
    PetscCall(MatSeqSBAIJSetPreallocation(*A, 1, 6, NULL));
    PetscCall(PetscObjectTypeCompare((PetscObject)*A, MATSEQSBAIJ, &triangle));
    if (triangle) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
    for (PetscInt j = 0; j < height; ++j)
        for (PetscInt i = 0; i < width; ++i) {
            const PetscInt y = 2 * (j * width + i), p = y + 1;
            const PetscInt near[5] = {0, i > 0 ? -2 : 0, i + 1 < width ? 2 : 0, j > 0 ? -2 * width : 0,
                                      j + 1 < height ? 2 * width : 0};
            PetscCall(MatSetValue(*A, y, y, 1.0 / (width * width), INSERT_VALUES));
            for (int k = 0; k < 5; ++k) {
                if (k > 0 && near[k] == 0) continue;
                PetscCall(MatSetValue(*A, y, p + near[k], k ? -1 : 4, INSERT_VALUES));
                PetscCall(MatSetValue(*A, p, y + near[k], k ? -1 : 4, INSERT_VALUES));
            }
        }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* Seconds of a setup with values that PETSc takes to be new, and of an application. */
static PetscErrorCode time_pc(PC pc, Mat A, Vec b, Vec x, double least[2])
{
    PetscLogDouble start, ready, end;
    PetscFunctionBeginUser;
    PetscCall(PetscObjectStateIncrease((PetscObject)A));
    PetscCall(PetscTime(&start));
    PetscCall(PCSetUp(pc));
    PetscCall(PetscTime(&ready));
    PetscCall(PCApply(pc, b, x));
    PetscCall(PetscTime(&end));
    least[0] = fmin(least[0], ready - start);
    least[1] = fmin(least[1], end - ready);
    PetscFunctionReturn(0);
}

/* The same of the library on a view that it needs no door for. */
static PetscErrorCode time_library(saddle_solver *solver, const saddle_matrix *view, Vec b, Vec x,
                                   double least[2])
{
    PetscLogDouble start, ready, end;
    const PetscScalar *from;
    PetscScalar *to;
    PetscFunctionBeginUser;
    PetscCall(VecGetArrayRead(b, &from));
    PetscCall(VecGetArray(x, &to));
    PetscCall(PetscTime(&start));
    saddle_status status = saddle_factor(solver, view);
    PetscCall(PetscTime(&ready));
    if (!status) status = saddle_apply(solver, 0, 1, from, view->rows, to, view->rows, NULL);
    PetscCall(PetscTime(&end));
    PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", saddle_message(solver));
    PetscCall(VecRestoreArray(x, &to));
    PetscCall(VecRestoreArrayRead(b, &from));
    least[0] = fmin(least[0], ready - start);
    least[1] = fmin(least[1], end - ready);
    PetscFunctionReturn(0);
}

/* A view of A's rows, or a copy of its upper triangle by the library. */
static PetscErrorCode library_view(Mat A, PetscBool triangle, saddle_matrix *view)
{
    const PetscInt *pointers, *indices;
    const PetscScalar *values;
    PetscInt n;
    PetscBool done;
    char message[SADDLE_MESSAGE_SIZE];
    PetscFunctionBeginUser;
    PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &pointers, &indices, &done));
    PetscCall(MatSeqAIJGetArrayRead(A, &values));
    const saddle_matrix rows = saddle_general(n, pointers, indices, values);
    PetscCheck(
        !saddle_convert(&rows, SADDLE_ROWS, triangle ? SADDLE_UPPER : SADDLE_GENERAL, NULL, view, message),
        PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", message);
    PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
    PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &pointers, &indices, &done));
    PetscFunctionReturn(0);
}

static PetscErrorCode compare(PetscInt width, PetscInt height, MatType type, PetscBool symmetric,
                              PetscInt repeat)
{
    double door[2] = {1e9, 1e9}, library[2] = {1e9, 1e9}, petsc[2] = {1e9, 1e9};
    saddle_options options = saddle_options_default();
    saddle_solver *solver = NULL;
    saddle_matrix view;
    Mat A, rows;
    Vec b, x;
    PC pc, none;
    PetscFunctionBeginUser;
    PetscCall(create_matrix(width, height, type, &A));
    PetscCall(create_matrix(width, height, MATSEQAIJ, &rows));
    if (symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    if (symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
    PetscCall(library_view(rows, symmetric, &view));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, "saddle"));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCCreate(PETSC_COMM_SELF, &none));
    PetscCall(PCSetType(none, PCNONE));
    PetscCall(PCSetOperators(none, A, A));
    options.method = SADDLE_METHOD_DIRECT;
    options.krylov = SADDLE_KRYLOV_NONE;
    options.device = SADDLE_DEVICE_CPU;
    options.threads = 1;
    options.certify = SADDLE_OFF;
    PetscCheck(!saddle_create(&solver, &options, NULL, NULL), PETSC_COMM_SELF, PETSC_ERR_LIB, "no solver");
    for (PetscInt k = 0; k < repeat; ++k) {
        PetscCall(time_pc(pc, A, b, x, door));
        PetscCall(time_library(solver, &view, b, x, library));
        PetscCall(time_pc(none, A, b, x, petsc));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%7" PetscInt_FMT "  %-9s %-9s", 2 * width * height, type,
                          symmetric ? "symmetric" : "unknown"));
    for (int k = 0; k < 2; ++k)
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %9.2f %9.2f %7.2f %6.2f %%", 1e6 * door[k],
                              1e6 * library[k], 1e6 * (door[k] - library[k] - petsc[k]),
                              100 * (door[k] / library[k] - 1)));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
    saddle_destroy(&solver);
    saddle_matrix_free(&view, NULL);
    PetscCall(PCDestroy(&pc));
    PetscCall(PCDestroy(&none));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&rows));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    PetscInt repeat = 200;
    PetscCall(PetscInitialize(&argc, &argv, NULL, "What the door into PETSc costs: -repeat turns"));
    PetscCall(PetscDLLibraryRegister_saddle_petsc());
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
    PetscCall(
        PetscPrintf(PETSC_COMM_SELF,
                    "microseconds, least of %" PetscInt_FMT " turns; own: less the library's and PETSc's\n"
                    "                             setup:                                  application:\n"
                    "      n  matrix    symmetry        door   library     own    more"
                    "       door   library     own    more\n",
                    repeat));
    for (int k = 0; k < 2; ++k) {
        const PetscInt width = k ? 71 : 5, height = k ? 71 : 1;
        PetscCall(compare(width, height, MATSEQAIJ, PETSC_FALSE, repeat));
        PetscCall(compare(width, height, MATSEQAIJ, PETSC_TRUE, repeat));
        PetscCall(compare(width, height, MATSEQSBAIJ, PETSC_TRUE, repeat));
    }
    PetscCall(PetscFinalize());
    return 0;
}
