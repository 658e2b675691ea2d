/* A program as a user of the installed library would write it: min x1^2 + x2^2 with x1 + x2 = 2. */
#include <saddle/saddle.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    /* [2 0 1; 0 2 1; 1 1 0], whose lower triangle by columns is: */
    const int32_t colptr[] = {0, 2, 4, 4}, rowind[] = {0, 2, 1, 2};
    const double values[] = {2, 1, 2, 1}, b[] = {0, 0, 2};
    double x[3];
    const saddle_matrix A = saddle_symmetric(3, colptr, rowind, values);
    saddle_info info = saddle_info_default();
    if (saddle_solve_once(&A, b, x, NULL, &info) != SADDLE_OK) {
        fprintf(stderr, "%s\n", info.message);
        return 1;
    }
    printf("saddle %s: x = (%g, %g), multiplier %g\n", saddle_version(), x[0], x[1], x[2]);
    return fabs(x[0] - 1) < 1e-8 && fabs(x[1] - 1) < 1e-8 && fabs(x[2] + 2) < 1e-8 ? 0 : 1;
}
