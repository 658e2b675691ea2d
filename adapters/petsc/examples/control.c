/* Optimal control of a heated plate, distributed over MPI ranks.
 *
 *     min 1/2 |y - z|^2 + alpha/2 |u|^2   subject to   -laplace y = u  in the unit square,  y = 0 on its edge
 *
 * for a wanted state z (Lions 1971; Rees, Dollar and Wathen, SIAM J. Sci. Comput. 32, 2010). On a grid of
 * N x N inner points, K the five-point Laplacian and M = h^2 I, the state y, the control u and the multiplier
 * p of each point satisfy
 *
 *     [ M         K ] [y]   [M z]
 *     [    a M   -M ] [u] = [ 0 ]
 *     [ K   -M      ] [p]   [ 0 ]
 *
 * A is symmetric, indefinite and regular. With (y, u) as the first field its A00 is diagonal, so that selfp
 * gives the Schur complement -(K M^-1 K + M / alpha) exactly.
 *
 *     mpirun -n 2 control -n 100 -alpha 1e-4 -dll_append .../libsaddle_petsc.so -pc_type asm -sub_pc_type
 * saddle
 */
#include "grid.h"

#include <math.h>

enum { STATE, CONTROL, MULTIPLIER };

/* A row of K: into row (i, j, row_of), columns of the unknowns column_of. */
static PetscErrorCode add_laplacian(const grid *g, PetscInt i, PetscInt j, PetscInt row_of,
                                    PetscInt column_of, Mat A)
{
    const PetscInt row = grid_index(g, i, j, row_of);
    const PetscInt column[5] = {grid_index(g, i, j, column_of), grid_index(g, i - 1, j, column_of),
                                grid_index(g, i + 1, j, column_of), grid_index(g, i, j - 1, column_of),
                                grid_index(g, i, j + 1, column_of)};
    const PetscScalar value[5] = {4, -1, -1, -1, -1};
    PetscFunctionBeginUser;
    PetscCall(MatSetValues(A, 1, &row, 5, column, value, INSERT_VALUES));
    PetscFunctionReturn(0);
}

static PetscErrorCode add_point(const grid *g, PetscInt i, PetscInt j, PetscReal alpha, Mat A, Vec b)
{
    const PetscReal h = 1 / (PetscReal)(g->size + 1), mass = h * h;
    const PetscInt y = grid_index(g, i, j, STATE), u = grid_index(g, i, j, CONTROL);
    const PetscInt p = grid_index(g, i, j, MULTIPLIER);
    const PetscReal s = (i + 1) * h - 0.5, t = (j + 1) * h - 0.5;
    const PetscReal wanted = s * s + t * t < 0.09 ? 1 : 0; /* warm inside a circle */
    PetscFunctionBeginUser;
    PetscCall(MatSetValue(A, y, y, mass, INSERT_VALUES));
    PetscCall(MatSetValue(A, u, u, alpha * mass, INSERT_VALUES));
    PetscCall(MatSetValue(A, u, p, -mass, INSERT_VALUES));
    PetscCall(MatSetValue(A, p, u, -mass, INSERT_VALUES));
    PetscCall(MatSetValue(A, p, p, 0, INSERT_VALUES));
    PetscCall(add_laplacian(g, i, j, STATE, MULTIPLIER, A));
    PetscCall(add_laplacian(g, i, j, MULTIPLIER, STATE, A));
    PetscCall(VecSetValue(b, y, mass * wanted, INSERT_VALUES));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    grid g;
    grid_fields fields = {.name = {"primal", "multiplier"}};
    PetscReal alpha = 1e-4;
    Mat A;
    Vec b;
    PetscCall(
        PetscInitialize(&argc, &argv, NULL,
                        "Optimal control of a heated plate: -n points a side, -alpha price of the control"));
    PetscCall(PetscOptionsGetReal(NULL, NULL, "-alpha", &alpha, NULL));
    PetscCall(grid_create(32, &g));
    PetscCall(grid_matrix(&g, 7, &A, &b));
    for (PetscInt j = g.first; j < g.last; ++j)
        for (PetscInt i = 0; i < g.size; ++i) PetscCall(add_point(&g, i, j, alpha, A, b));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
    PetscCall(grid_unknowns(&g, STATE, MULTIPLIER, &fields.unknowns[0]));
    PetscCall(grid_unknowns(&g, MULTIPLIER, MULTIPLIER + 1, &fields.unknowns[1]));
    PetscCall(grid_solve("control", A, b, &fields));
    PetscCall(ISDestroy(&fields.unknowns[0]));
    PetscCall(ISDestroy(&fields.unknowns[1]));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(PetscFinalize());
    return 0;
}
