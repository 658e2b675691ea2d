/*
 * An interior-point method for the quadratic program
 *
 *     min 1/2 x'Hx + c'x   subject to   Ax = b, x >= 0.
 *
 * With multipliers y of Ax = b and z of x >= 0, each step of Newton's method solves the KKT system
 *
 *     [ H + Z/X  A' ] [ dx]   [ -(Hx + c - A'y - z) - z + mu/x ]
 *     [   A      0  ] [-dy] = [  b - Ax                        ],   dz = mu/x - z - (z/x) dx.
 *
 * Only the diagonal Z/X changes from step to step, so the pattern is analysed once and factored again in
 * every step. The system has the right inertia, N positive and M negative eigenvalues, exactly if the
 * step is a descent direction: a solver for nonconvex programs would add to the diagonal until it is.
 */
#include <saddle/saddle.h>

#include <math.h>
#include <stdio.h>

enum { N = 60, M = 20, SIZE = N + M };

/* H is diagonal (d_j = 1 + j % 3), constraint j % M holds variable j with weight 1 + j % 2, the next one with
 * weight 1. In column j the diagonal comes first. */
static int32_t colptr[SIZE + 1], rowind[3 * N];
static double values[3 * N];

static void make_pattern(void)
{
    int32_t k = 0;
    for (int32_t j = 0; j < N; ++j) {
        const int32_t p = N + j % M, q = N + (j + 1) % M;
        colptr[j] = k;
        rowind[k++] = j;
        rowind[k] = p < q ? p : q, values[k++] = p < q ? 1 + j % 2 : 1;
        rowind[k] = p < q ? q : p, values[k++] = p < q ? 1 : 1 + j % 2;
    }
    for (int32_t j = N; j <= SIZE; ++j) colptr[j] = k; /* the zero block has no entries */
}

/* The right-hand side for this mu; returns the largest residual of the conditions with mu = 0. */
static double residuals(const double *x, const double *y, const double *z, const double *b, double mu,
                        double *r)
{
    double worst = 0;
    for (int i = 0; i < M; ++i) r[N + i] = b[i];
    for (int j = 0; j < N; ++j) {
        double dual = (1 + j % 3) * x[j] + (j % 5 - 2.0) - z[j]; /* c_j = j % 5 - 2 */
        for (int32_t k = colptr[j] + 1; k < colptr[j + 1]; ++k) {
            dual -= values[k] * y[rowind[k] - N];
            r[rowind[k]] -= values[k] * x[j];
        }
        r[j] = -dual - z[j] + mu / x[j];
        worst = fmax(worst, fabs(dual));
    }
    for (int i = 0; i < M; ++i) worst = fmax(worst, fabs(r[N + i]));
    return worst;
}

/* The longest step, up to 1, that keeps v + step dv positive with a margin. */
static double longest(const double *v, const double *dv, double step)
{
    for (int j = 0; j < N; ++j)
        if (dv[j] < 0) step = fmin(step, -0.95 * v[j] / dv[j]);
    return step;
}

int main(void)
{
    double x[N], z[N], y[M] = {0}, b[M] = {0}, r[SIZE], d[SIZE], dz[N], gap = 1, worst = 1;
    make_pattern();
    for (int j = 0; j < N; ++j) {
        x[j] = z[j] = 1;
        for (int32_t k = colptr[j] + 1; k < colptr[j + 1]; ++k) b[rowind[k] - N] += 0.7 * values[k];
    }
    const saddle_matrix K = saddle_symmetric(SIZE, colptr, rowind, values);
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_DIRECT;
    saddle_info info = saddle_info_default();
    saddle_solver *solver = NULL;
    if (saddle_create(&solver, &options, NULL, NULL) != SADDLE_OK) return 1;

    for (int step = 0; step < 40; ++step) {
        gap = 0;
        for (int j = 0; j < N; ++j) gap += x[j] * z[j] / N;
        worst = residuals(x, y, z, b, 0.1 * gap, r);
        printf("step %2d: gap %.1e, residual %.1e\n", step, gap, worst);
        if (gap < 1e-10 && worst < 1e-10) break;
        for (int j = 0; j < N; ++j) values[colptr[j]] = (1 + j % 3) + z[j] / x[j];
        if (saddle_factor(solver, &K) != SADDLE_OK || /* the first call analyses the pattern too */
            saddle_solve(solver, 1, r, SIZE, d, SIZE, &info) != SADDLE_OK) {
            fprintf(stderr, "%s%s\n", saddle_message(solver), info.message);
            break;
        }
        if (!info.inertia_certain || info.inertia_positive != N || info.inertia_negative != M) {
            fprintf(stderr, "the inertia is not that of a minimum, or not certain\n");
            break;
        }
        for (int j = 0; j < N; ++j) dz[j] = 0.1 * gap / x[j] - z[j] - z[j] / x[j] * d[j];
        const double primal = longest(x, d, 1), dual = longest(z, dz, 1), t = fmin(primal, dual);
        for (int j = 0; j < N; ++j) x[j] += t * d[j], z[j] += t * dz[j];
        for (int i = 0; i < M; ++i) y[i] -= t * d[N + i]; /* the unknown was -dy */
    }
    saddle_destroy(&solver);
    return gap < 1e-10 && worst < 1e-10 ? 0 : 1;
}
