/* Stokes flow in a cavity whose lid moves, distributed over MPI ranks.
 *
 *     -laplace u + grad p = 0,  div u = 0  in the unit square;  u = (1, 0) on the lid, 0 on the other walls
 *
 * on the staggered grid of Harlow and Welch (Phys. Fluids 8, 1965): of each cell the velocity through its
 * left and its lower face and the pressure in its centre. Multiplied by h^2, with h p as the unknown, all
 * entries are small integers, [A B'; B 0] is symmetric, and -I is spectrally equivalent to its Schur
 * complement. The pressure is known but for a constant: the null space that PETSc is told of.
 *
 *     mpirun -n 2 stokes -n 100 -dll_append .../libsaddle_petsc.so -ksp_type gmres -pc_type asm
 *            -sub_pc_type saddle -sub_pc_saddle_on_singular regularise
 */
#include "grid.h"

#include <math.h>

enum { U, V, P };

/* The momentum of u (axis 0) or v (axis 1) at a face. A face on the wall has a row of its own, as the others
 * are numbered. */
static PetscErrorCode momentum(const grid *g, PetscInt i, PetscInt j, PetscInt axis, Mat A, Vec b)
{
    const PetscInt row = grid_index(g, i, j, axis), along = axis ? j : i, across = axis ? i : j;
    const PetscInt di = !axis, dj = axis, last = g->size - 1;
    PetscInt column[7] = {row, -1, -1, -1, -1, -1, -1};
    PetscScalar value[7] = {4, -1, -1, -1, -1, 1, -1};
    PetscFunctionBeginUser;
    if (along > 0) {
        if (along > 1) column[1] = grid_index(g, i - di, j - dj, axis);
        column[2] = grid_index(g, i + di, j + dj, axis);
        column[3] = grid_index(g, i - dj, j - di, axis);
        column[4] = grid_index(g, i + dj, j + di, axis);
        column[5] = grid_index(g, i, j, P);
        column[6] = grid_index(g, i - di, j - dj, P);
        value[0] += (across == 0) + (across == last); /* the wall is half a cell away */
        if (axis == U && across == last) PetscCall(VecSetValue(b, row, 2, INSERT_VALUES));
    }
    PetscCall(MatSetValues(A, 1, &row, 7, column, value, INSERT_VALUES));
    PetscFunctionReturn(0);
}

/* What flows into a cell. */
static PetscErrorCode continuity(const grid *g, PetscInt i, PetscInt j, Mat A)
{
    const PetscInt row = grid_index(g, i, j, P);
    const PetscInt column[5] = {i > 0 ? grid_index(g, i, j, U) : -1, grid_index(g, i + 1, j, U),
                                j > 0 ? grid_index(g, i, j, V) : -1, grid_index(g, i, j + 1, V), row};
    const PetscScalar value[5] = {1, -1, 1, -1, 0};
    PetscFunctionBeginUser;
    PetscCall(MatSetValues(A, 1, &row, 5, column, value, INSERT_VALUES));
    PetscFunctionReturn(0);
}

static PetscErrorCode attach_null_space(const grid *g, Mat A)
{
    Vec constant;
    MatNullSpace null_space;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(A, &constant, NULL));
    for (PetscInt j = g->first; j < g->last; ++j)
        for (PetscInt i = 0; i < g->size; ++i)
            PetscCall(VecSetValue(constant, grid_index(g, i, j, P), 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(constant));
    PetscCall(VecAssemblyEnd(constant));
    PetscCall(VecNormalize(constant, NULL));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &constant, &null_space));
    PetscCall(MatSetNullSpace(A, null_space));
    PetscCall(MatNullSpaceDestroy(&null_space));
    PetscCall(VecDestroy(&constant));
    PetscFunctionReturn(0);
}

/* -I of the pressures. */
static PetscErrorCode schur_matrix(const grid *g, Mat *S)
{
    const PetscInt own = g->size * (g->last - g->first);
    PetscFunctionBeginUser;
    PetscCall(
        MatCreateAIJ(PETSC_COMM_WORLD, own, own, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, S));
    for (PetscInt k = 0; k < own; ++k)
        PetscCall(MatSetValue(*S, g->size * g->first + k, g->size * g->first + k, -1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(*S, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*S, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    grid g;
    grid_fields fields = {.name = {"velocity", "pressure"}};
    Mat A;
    Vec b;
    PetscCall(PetscInitialize(&argc, &argv, NULL, "Stokes flow in a cavity: -n cells a side"));
    PetscCall(grid_create(32, &g));
    PetscCall(grid_matrix(&g, 7, &A, &b));
    for (PetscInt j = g.first; j < g.last; ++j)
        for (PetscInt i = 0; i < g.size; ++i) {
            PetscCall(momentum(&g, i, j, U, A, b));
            PetscCall(momentum(&g, i, j, V, A, b));
            PetscCall(continuity(&g, i, j, A));
        }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
    PetscCall(attach_null_space(&g, A));
    PetscCall(grid_unknowns(&g, U, P, &fields.unknowns[0]));
    PetscCall(grid_unknowns(&g, P, P + 1, &fields.unknowns[1]));
    PetscCall(schur_matrix(&g, &fields.schur));
    PetscCall(grid_solve("stokes", A, b, &fields));
    PetscCall(MatDestroy(&fields.schur));
    PetscCall(ISDestroy(&fields.unknowns[0]));
    PetscCall(ISDestroy(&fields.unknowns[1]));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(PetscFinalize());
    return 0;
}
