/* What a host loads at run time: a library of somebody's that solves with Saddle, on several threads. */
#include "saddle/saddle.h"

enum { SIDE = 200, ROWS = SIDE * SIDE };

static int32_t start[ROWS + 1], row[3 * ROWS];
static double value[3 * ROWS], b[ROWS], x[ROWS];

__attribute__((visibility("default"))) int solve_grid(void);

/* A plane grid: Laplace's operator with its diagonal moved to where it is indefinite. 0: solved. */
int solve_grid(void)
{
    int32_t count = 0;
    for (int32_t j = 0; j < ROWS; ++j) {
        b[j] = 1;
        start[j] = count;
        row[count] = j;
        value[count++] = 3.3;
        if (j % SIDE < SIDE - 1) {
            row[count] = j + 1;
            value[count++] = -1;
        }
        if (j + SIDE < ROWS) {
            row[count] = j + SIDE;
            value[count++] = -1;
        }
    }
    start[ROWS] = count;
    const saddle_matrix A = saddle_symmetric(ROWS, start, row, value);
    saddle_options options = saddle_options_default();
    options.method = SADDLE_METHOD_DIRECT;
    options.threads = 2;
    return saddle_solve_once(&A, b, x, &options, NULL);
}
