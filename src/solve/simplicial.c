/* Solves with factors that have no fronts. The right-hand sides of a row lie side by side. */
#include "solve/simplicial.h"

#include "solve/triangular.h"

/* Row by row, 1x1 pivots among 2x2 ones. */
static void diagonal(const sd_simplicial *m, int32_t k, double *x)
{
    for (int32_t i = 0; i < m->s.n; ++i) {
        const double *const in = m->inverse + 2 * (int64_t)i;
        double *const row = x + (int64_t)i * k, *const next = row + k;
        if (in[1] == 0) {
            for (int32_t r = 0; r < k; ++r) row[r] *= in[0];
            continue;
        }
        for (int32_t r = 0; r < k; ++r) {
            const double a = row[r], b = next[r];
            row[r] = in[0] * a + in[1] * b;
            next[r] = in[1] * a + in[2] * b;
        }
        ++i;
    }
}

void sd_simplicial_solve(const sd_simplicial_kernels *kernels, const sd_simplicial *m, int parts, int32_t k,
                         double *x)
{
    if (parts & SD_SOLVE_FORWARD) kernels->forward(m, k, x);
    if (parts == SD_SOLVE_DIAGONAL) diagonal(m, k, x);
    if (parts & SD_SOLVE_BACKWARD) kernels->backward(m, (parts & SD_SOLVE_DIAGONAL) != 0, k, x);
}
