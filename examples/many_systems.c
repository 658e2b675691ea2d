/*
 * Many systems with one pattern in one call, by several threads: optimal control problems that differ in
 * their dynamics. Each has its own status and inertia; one of them is made infeasible on purpose.
 *
 * minimise sum_t (q x_t^2 + r u_t^2) / 2  subject to  x_0 = 1,  x_(t+1) = a_k x_t + u_t,  t = 0 ... T - 1
 */
#include <saddle/saddle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { T = 15, VARIABLES = 2 * T + 1, EQUATIONS = T + 1, N = VARIABLES + EQUATIONS, COUNT = 1000, ODD = 400 };

/* The KKT matrix (H, J'; J, 0), lower triangle by columns: x_t is variable 2t, u_t is 2t + 1, equation t says
 * what x_t is. Returns the number of entries. */
static int32_t fill(double a, int32_t *colptr, int32_t *rowind, double *values)
{
    int32_t k = 0;
    for (int v = 0; v < VARIABLES; ++v) {
        const int t = v / 2, state = v % 2 == 0;
        colptr[v] = k;
        rowind[k] = v, values[k++] = state ? 1 : 0.1;
        if (state) rowind[k] = VARIABLES + t, values[k++] = 1;
        if (t < T) rowind[k] = VARIABLES + t + 1, values[k++] = state ? -a : -1;
    }
    for (int e = VARIABLES; e <= N; ++e) colptr[e] = k;
    return k;
}

int main(void)
{
    int32_t colptr[N + 1], rowind[3 * VARIABLES];
    double first[3 * VARIABLES];
    const int64_t entries = fill(1, colptr, rowind, first);
    double *values = malloc((size_t)(COUNT * entries) * sizeof *values);
    double *b = calloc((size_t)COUNT * N, sizeof *b), *x = malloc((size_t)COUNT * N * sizeof *x);
    saddle_result *results = malloc(COUNT * sizeof *results);
    if (!values || !b || !x || !results) return 1;
    for (int k = 0; k < COUNT; ++k) {
        fill(0.5 + (double)k / COUNT, colptr, rowind, values + k * entries);
        b[k * N + VARIABLES] = 1; /* x_0 */
    }
    for (int64_t e = 0; e < entries; ++e) values[ODD * entries + e] = 0; /* this one asks the impossible */

    const saddle_matrix A =
        saddle_symmetric(N, colptr, rowind, first); /* the pattern, and values to plan by */
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_DIRECT;
    saddle_solver *solver = NULL;
    saddle_status status = saddle_create(&solver, &options, NULL, NULL);
    if (status == SADDLE_OK) status = saddle_analyse(solver, &A);
    if (status == SADDLE_OK)
        status = saddle_factor_solve_many(solver, &A, COUNT, values, entries, b, N, x, N, results);
    printf("%s\n", saddle_message(solver));

    int solved = 0;
    double worst = 0, cost = 0;
    for (int k = 0; k < COUNT; ++k) {
        if (results[k].status != SADDLE_OK) continue;
        if (!results[k].inertia_certain || results[k].inertia_negative != EQUATIONS)
            continue; /* no minimum */
        ++solved;
        worst = fmax(worst, results[k].backward_error);
        for (int v = 0; v < VARIABLES; ++v)
            cost += (v % 2 ? 0.05 : 0.5) * x[k * N + v] * x[k * N + v] / COUNT;
    }
    printf("%d of %d problems solved, worst backward error %.1e, mean cost %.4f\n", solved, COUNT, worst,
           cost);
    saddle_destroy(&solver);
    free(values);
    free(b);
    free(x);
    free(results);
    return status == SADDLE_SINGULAR && solved == COUNT - 1 && worst < 1e-15 ? 0 : 1;
}
