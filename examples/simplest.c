/*
 * The simplest use: one system, one call.
 *
 * min x1^2 + 2 x2^2 + 3 x3^2 - x1  subject to  x1 + x2 + x3 = 1  leads to the KKT system
 *
 *     [ 2 . . 1 ] [x1]   [1]
 *     [ . 4 . 1 ] [x2] = [0]
 *     [ . . 6 1 ] [x3]   [0]
 *     [ 1 1 1 . ] [ l]   [1]
 *
 * which is symmetric and indefinite: only its lower triangle is given, by columns.
 */
#include <saddle/saddle.h>

#include <stdio.h>

int main(void)
{
    const int32_t colptr[] = {0, 2, 4, 6, 6};
    const int32_t rowind[] = {0, 3, 1, 3, 2, 3};
    const double values[] = {2, 1, 4, 1, 6, 1};
    const double b[] = {1, 0, 0, 1};
    double x[4];

    const saddle_matrix A = saddle_symmetric(4, colptr, rowind, values);
    saddle_info info = saddle_info_default();
    if (saddle_solve_once(&A, b, x, NULL, &info) != SADDLE_OK) {
        fprintf(stderr, "%s\n", info.message);
        return 1;
    }
    printf("x = (%.6f, %.6f, %.6f), multiplier %.6f\n", x[0], x[1], x[2], x[3]);
    printf("backward error %.1e after %lld iterations\n", info.backward_error, (long long)info.iterations);
    return 0;
}
