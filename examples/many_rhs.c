/*
 * Many right-hand sides in one call: B and X are n x nrhs, by columns, with leading dimensions.
 *
 * The columns of B are A times known vectors, so the error of every column can be printed.
 */
#include <saddle/saddle.h>

#include <math.h>
#include <stdio.h>

enum { N = 300, NRHS = 4, LD = N + 20 }; /* a leading dimension may be larger than n */

int main(void)
{
    /* A general matrix by rows: a convection-diffusion operator on a line. */
    static int32_t rowptr[N + 1], colind[3 * N];
    static double values[3 * N], B[NRHS * LD], X[NRHS * LD], known[NRHS * LD];
    int32_t k = 0;
    for (int32_t i = 0; i < N; ++i) {
        rowptr[i] = k;
        if (i > 0) colind[k] = i - 1, values[k++] = -1.5;
        colind[k] = i, values[k++] = 2.2;
        if (i + 1 < N) colind[k] = i + 1, values[k++] = -0.5;
    }
    rowptr[N] = k;
    const saddle_matrix A = saddle_general(N, rowptr, colind, values);

    for (int j = 0; j < NRHS; ++j) {
        for (int i = 0; i < N; ++i) known[j * LD + i] = cos(0.01 * (j + 1) * i);
    }
    if (saddle_multiply(&A, NRHS, known, LD, B, LD, 0, NULL, NULL) != SADDLE_OK) return 1;

    saddle_solver *solver = NULL;
    saddle_info info = saddle_info_default();
    saddle_status status = saddle_create(&solver, NULL, NULL, NULL);
    if (status == SADDLE_OK) status = saddle_factor(solver, &A); /* also analyses the pattern */
    if (status == SADDLE_OK) status = saddle_solve(solver, NRHS, B, LD, X, LD, &info);
    saddle_destroy(&solver);
    if (status != SADDLE_OK) {
        fprintf(stderr, "%s: %s\n", saddle_status_text(status), info.message);
        return 1;
    }

    double worst = 0;
    for (int j = 0; j < NRHS; ++j) {
        double error = 0;
        for (int i = 0; i < N; ++i) error = fmax(error, fabs(X[j * LD + i] - known[j * LD + i]));
        printf("column %d: error %.1e\n", j, error);
        worst = fmax(worst, error);
    }
    printf("%lld iterations in all, worst relative residual %.1e\n", (long long)info.iterations,
           info.relative_residual);
    return worst < 1e-6 ? 0 : 1;
}
