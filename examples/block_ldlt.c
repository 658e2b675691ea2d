/*
 * An incomplete block LDL' as a preconditioner, kept while values change.
 *
 * A time-dependent saddle-point problem [M + dt K, B'; B, 0] has one pattern and new values in every step.
 * The pattern of the factors is found once, by threshold; every later saddle_factor reuses that plan.
 */
#include "saddle/saddle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRID = 40, VELOCITIES = GRID * GRID, PRESSURES = GRID * (GRID - 1), N = VELOCITIES + PRESSURES };

/* The lower triangle by columns: a 5-point operator on the grid, and differences of neighbours below it. */
static int build(int32_t *colptr, int32_t *rowind, double *values, double dt)
{
    int k = 0;
    for (int p = 0; p < VELOCITIES; ++p) {
        const int i = p / GRID, j = p % GRID;
        colptr[p] = k;
        rowind[k] = p, values[k++] = 1.0 + 4.0 * dt;
        if (j + 1 < GRID) rowind[k] = p + 1, values[k++] = -dt;
        if (i + 1 < GRID) rowind[k] = p + GRID, values[k++] = -dt;
        if (i > 0) rowind[k] = VELOCITIES + p - GRID, values[k++] = -1.0;
        if (i + 1 < GRID) rowind[k] = VELOCITIES + p, values[k++] = 1.0;
    }
    for (int p = VELOCITIES; p <= N; ++p) colptr[p] = k;
    return k;
}

int main(void)
{
    int32_t *colptr = malloc((N + 1) * sizeof *colptr), *rowind = malloc(5 * N * sizeof *rowind);
    double *values = malloc(5 * N * sizeof *values), *b = malloc(N * sizeof *b), *x = malloc(N * sizeof *x);
    saddle_options options = saddle_options_default();
    saddle_info info = saddle_info_default();
    saddle_solver *solver = NULL;
    int failed = !colptr || !rowind || !values || !b || !x;
    options.method = SADDLE_METHOD_LDLT;
    if (!failed) failed = saddle_create(&solver, &options, NULL, NULL) != SADDLE_OK;
    for (int step = 0; step < 5 && !failed; ++step) {
        build(colptr, rowind, values, 0.01 * (1 + step));
        for (int i = 0; i < N; ++i) b[i] = sin(0.1 * (i + step));
        const saddle_matrix A = saddle_symmetric(N, colptr, rowind, values);
        failed = saddle_factor(solver, &A) || saddle_solve(solver, 1, b, N, x, N, &info);
        if (failed) fprintf(stderr, "step %d: %s\n", step, saddle_message(solver));
        printf("step %d: %lld iterations, backward error %.1e, %.1f stored entries an entry of A, factored "
               "in %.4f s\n",
               step, (long long)info.iterations, info.backward_error,
               (double)info.factor_nnz / (double)info.nnz, info.time_factor);
        failed = failed || !(info.relative_residual <= 1e-9 || info.componentwise_error <= 1e-9);
    }
    saddle_destroy(&solver);
    free(colptr), free(rowind), free(values), free(b), free(x);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
