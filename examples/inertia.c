/*
 * How many eigenvalues lie below sigma? No eigenvalue has to be computed: by Sylvester's law of inertia
 * A - sigma I = L D L' has as many negative eigenvalues as D, and those of D can be counted.
 *
 * A is the 5-point Laplacian on an M x M grid, whose eigenvalues are known,
 *
 *     4 sin^2(i pi / (2M + 2)) + 4 sin^2(j pi / (2M + 2)),   i, j = 1 .. M,
 *
 * so that every count can be checked.
 */
#include <saddle/saddle.h>

#include <math.h>
#include <stdio.h>

enum { M = 40, N = M * M };

static long count_by_formula(double sigma)
{
    const double pi = acos(-1.0);
    long below = 0;
    for (int i = 1; i <= M; ++i) {
        for (int j = 1; j <= M; ++j) {
            const double s = sin(i * pi / (2 * M + 2)), t = sin(j * pi / (2 * M + 2));
            below += 4 * s * s + 4 * t * t < sigma;
        }
    }
    return below;
}

int main(void)
{
    /* The lower triangle by columns; the diagonal entry comes first in each. */
    static int32_t colptr[N + 1], rowind[3 * N];
    static double values[3 * N];
    int32_t k = 0;
    for (int32_t j = 0; j < N; ++j) {
        colptr[j] = k;
        rowind[k] = j, values[k++] = 4;
        if (j % M < M - 1) rowind[k] = j + 1, values[k++] = -1;
        if (j + M < N) rowind[k] = j + M, values[k++] = -1;
    }
    colptr[N] = k;
    const saddle_matrix A = saddle_symmetric(N, colptr, rowind, values);

    /* Inertia comes from the direct solver. */
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_DIRECT;
    saddle_solver *solver = NULL;
    if (saddle_create(&solver, &options, NULL, NULL) != SADDLE_OK) return 1;

    static const double sigmas[] = {-0.5, 0.1, 0.5, 1.1, 2.3, 3.9, 6.7, 8.5};
    int wrong = 0;
    for (int s = 0; s < 8; ++s) {
        for (int32_t j = 0; j < N; ++j) values[colptr[j]] = 4 - sigmas[s];
        if (saddle_factor(solver, &A) != SADDLE_OK) { /* the first call analyses the pattern too */
            fprintf(stderr, "%s\n", saddle_message(solver));
            wrong = 1;
            break;
        }
        saddle_info info = saddle_info_default();
        saddle_query(solver, &info);
        const long expected = count_by_formula(sigmas[s]);
        printf("below %4.1f: %4lld eigenvalues, by the formula %4ld\n", sigmas[s],
               (long long)info.inertia_negative, expected);
        wrong += !info.inertia_certain || info.inertia_negative != expected || info.inertia_zero != 0;
    }
    saddle_destroy(&solver);
    return wrong == 0 ? 0 : 1;
}
