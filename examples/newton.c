/*
 * The same pattern with new values, repeatedly: analyse once, factor and solve in every step.
 *
 * Newton's method for  min sum_i (exp(x_i) - c_i x_i)  subject to  sum_i x_i = 0.  Each step solves
 *
 *     [ H  e ] [dx]     [ g + l e ]
 *     [ e' 0 ] [dl] = - [ e'x     ],   H = diag(exp(x)),  g = exp(x) - c,
 *
 * where only H changes.
 */
#include <saddle/saddle.h>

#include <math.h>
#include <stdio.h>

enum { N = 50 };

static double right_hand_side(const double *x, double l, double *b)
{
    double norm = 0, sum = 0;
    for (int i = 0; i < N; ++i) {
        const double c = 1 + 0.02 * i;
        b[i] = -(exp(x[i]) - c + l);
        sum += x[i];
        norm = fmax(norm, fabs(b[i]));
    }
    b[N] = -sum;
    return fmax(norm, fabs(sum));
}

int main(void)
{
    /* Column i holds the diagonal entry and that of the last row; the last column is empty. */
    int32_t colptr[N + 2], rowind[2 * N];
    double values[2 * N];
    for (int i = 0; i < N; ++i) {
        colptr[i] = 2 * i;
        rowind[2 * i] = i;
        rowind[2 * i + 1] = N;
        values[2 * i] = values[2 * i + 1] = 1; /* at x = 0: the analysis looks at values too */
    }
    colptr[N] = colptr[N + 1] = 2 * N;
    const saddle_matrix A = saddle_symmetric(N + 1, colptr, rowind, values);

    saddle_solver *solver = NULL;
    saddle_info info = saddle_info_default();
    double x[N + 1] = {0}, b[N + 1], d[N + 1]; /* x[N] is the multiplier l */
    int done = 0;
    if (saddle_create(&solver, NULL, NULL, NULL) != SADDLE_OK) return 1;
    saddle_matrix pattern = A;
    pattern.values = NULL; /* not known yet */
    if (saddle_analyse(solver, &pattern) != SADDLE_OK) goto failed;
    for (int step = 0; step < 20 && !done; ++step) {
        const double norm = right_hand_side(x, x[N], b);
        printf("step %2d: residual of the conditions %.1e\n", step, norm);
        done = norm < 1e-9;
        if (done) break;
        for (int i = 0; i < N; ++i) values[2 * i] = exp(x[i]);
        if (saddle_factor(solver, &A) != SADDLE_OK) goto failed;
        if (saddle_solve(solver, 1, b, N + 1, d, N + 1, &info) != SADDLE_OK) {
            fprintf(stderr, "%s\n", info.message);
            break;
        }
        for (int i = 0; i <= N; ++i) x[i] += d[i];
    }
    saddle_destroy(&solver);
    return done ? 0 : 1;

failed:
    fprintf(stderr, "%s\n", saddle_message(solver));
    saddle_destroy(&solver);
    return 1;
}
