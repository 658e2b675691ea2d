/*
 * The direct solver as a positive definite preconditioner: M = S^-1 P' L |D| L' P S^-1, |D| by the
 * eigenvalues of each pivot, which makes eigenvalues of M^-1 A that are all 1 or -1 (P. E. Gill, W. Murray,
 * D. B. Ponceleon and M. A. Saunders, Preconditioners for indefinite systems arising in optimization, 1992,
 * section 4).
 *
 * D itself stays as it is: inertia and certificate are those of A. A zero pivot counts as 1, which is the
 * largest entry of the scaled matrix, so that M is definite where A is singular.
 */
#include "factor/spectral.h"
#include "method/direct/direct.h"

#include <math.h>

/* w = |D|^-1 w, by position. */
static void divide(const sd_factors *f, double *w)
{
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j) {
            const double a = sd_get_d(f, &run, 2 * j), b = sd_get_d(f, &run, 2 * j + 1);
            double *const p = w + run.variable[j];
            if (b == 0) {
                *p /= a == 0 ? 1 : fabs(a);
                continue;
            }
            double in[3], *const q = w + run.variable[j + 1];
            sd_absolute_pair(a, b, sd_get_d(f, &run, 2 * j + 2), in);
            const double x = *p, y = *q;
            *p = in[0] * x + in[1] * y;
            *q = in[1] * x + in[2] * y;
            ++j;
        }
    }
}

saddle_status sd_direct_absolute(sd_context *c, const sd_direct *d, double *x, double *w, int threads)
{
    const sd_factors *f = sd_direct_numbers(d);
    const int32_t n = d->plan->n, *position = d->plan->tree.position;
    for (int32_t i = 0; i < n; ++i) w[position[i]] = d->outer[i] * x[i];
    const int exponent = sd_take_exponent(n, w) - d->exponent; /* single precision can hold what is left */
    saddle_status status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_FORWARD, 1, w, n, threads);
    if (status) return status;
    divide(f, w);
    status = sd_triangular_solve(c, f, &d->room, SD_SOLVE_BACKWARD, 1, w, n, threads);
    for (int32_t i = 0; i < n && !status; ++i) x[i] = ldexp(d->outer[i] * w[position[i]], exponent);
    return status;
}
