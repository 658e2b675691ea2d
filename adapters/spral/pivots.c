/*
 * The pivots as the caller sees them, in the order of elimination, and a D^-1 of the caller's own.
 *
 * D^-1 is what the solver applies, so that of a zero pivot it is 0, and of a 2x2 pivot of rank one the
 * inverse on its range: two vectors, which are 1 at the first and at the second rows of the pivots, bring it
 * to light.
 */
#include "adapters/spral/keep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* D^-1 of what `pair` says are 2x2 pivots (their first rows). */
static int probe(const ssids_fkeep *f, const bool *pair, double *inverse)
{
    const int32_t n = f->akeep->pattern.n;
    double *const x = calloc(2 * (size_t)n + 1, sizeof *x), *const y = x ? x + n : NULL;
    if (!x) return SSIDS_ALLOCATION;
    for (int32_t k = 0; k < n; ++k) {
        x[k] = 1;
        if (pair[k]) y[++k] = 1;
    }
    const saddle_status status = saddle_solve_part(f->own.solver, SADDLE_DIAGONAL, 2, x, n, NULL);
    for (int32_t k = 0; k < n && !status; ++k) {
        inverse[2 * (int64_t)k] = x[k];
        inverse[2 * (int64_t)k + 1] = 0;
        if (!pair[k]) continue;
        inverse[2 * (int64_t)k + 1] = x[k + 1];
        ++k;
        inverse[2 * (int64_t)k] = y[k];
        inverse[2 * (int64_t)k + 1] = 0;
    }
    free(x);
    return ssids_flag_of(status);
}

int ssids_get_pivots(const ssids_fkeep *f, int32_t *order, double *inverse)
{
    const int32_t n = f->akeep->pattern.n;
    double *const d = malloc((2 * (size_t)n + 1) * sizeof *d);
    bool *const pair = malloc((size_t)n + 1);
    int flag = d && pair ? ssids_flag_of(saddle_get_pivots(f->own.solver, order, d)) : SSIDS_ALLOCATION;
    for (int32_t k = 0; k < n && !flag; ++k) pair[k] = d[2 * (int64_t)k + 1] != 0;
    if (!flag && inverse) flag = probe(f, pair, inverse);
    const int64_t shifted = f->shift != 0 && inverse && !flag ? 2 * (int64_t)n : 0;
    for (int64_t k = 0; k < shifted; ++k) inverse[k] = ldexp(inverse[k], 2 * f->shift);
    if (!flag && inverse && f->inverse) memcpy(inverse, f->inverse, 2 * (size_t)n * sizeof *inverse);
    for (int32_t k = 0; k < n && !flag && order; ++k) {
        if (!pair[k]) continue;
        order[k] = -1 - order[k];
        ++k;
        order[k] = -1 - order[k];
    }
    free(d);
    free(pair);
    return flag;
}

void ssids_apply_inverse(const ssids_fkeep *f, int64_t nrhs, double *x, int64_t ldx)
{
    const int32_t n = f->akeep->pattern.n;
    for (int64_t column = 0; column < nrhs; ++column, x += ldx) {
        double above = 0, before = 0; /* the entry over the diagonal, and what it belongs to */
        for (int32_t k = 0; k < n; ++k) {
            const double *const d = f->inverse + 2 * (int64_t)k;
            const double own = x[k], next = k + 1 < n ? x[k + 1] : 0;
            x[k] = above * before + d[0] * own + (d[1] != 0 ? d[1] * next : 0);
            above = d[1];
            before = own;
        }
    }
}

/* One pivot, of one row or two: what becomes of the counts when it is dropped. */
static void drop(ssids_fkeep *f, const double *d, bool pair)
{
    const bool negative = pair ? d[0] * d[2] - d[1] * d[1] < 0 || d[0] < 0 : d[0] < 0;
    const bool twice = pair && d[0] * d[2] - d[1] * d[1] > 0;
    f->inform.num_neg -= negative ? twice ? 2 : 1 : 0;
    f->inform.num_two -= pair;
    f->inform.matrix_rank -= pair ? 2 : 1;
}

int ssids_drop_small(ssids_fkeep *f, double small)
{
    const int32_t n = f->akeep->pattern.n;
    double *const d = malloc((2 * (size_t)n + 1) * sizeof *d);
    double *const inverse = malloc((2 * (size_t)n + 1) * sizeof *inverse);
    int flag = d && inverse ? ssids_flag_of(saddle_get_pivots(f->own.solver, NULL, d)) : SSIDS_ALLOCATION;
    if (!flag) flag = ssids_get_pivots(f, NULL, inverse);
    int64_t dropped = 0;
    for (int64_t k = 0; k < n && !flag; ++k) {
        const bool pair = d[2 * k + 1] != 0;
        double largest = fabs(d[2 * k]);
        if (pair) largest = fmax(largest, fmax(fabs(d[2 * k + 1]), fabs(d[2 * k + 2])));
        if (largest > 0 && ldexp(largest, -2 * f->shift) < small) {
            const double block[] = {d[2 * k], d[2 * k + 1], pair ? d[2 * k + 2] : 0};
            drop(f, block, pair);
            memset(inverse + 2 * k, 0, (pair ? 4 : 2) * sizeof *inverse);
            ++dropped;
        }
        k += pair;
    }
    free(d);
    if (flag || dropped == 0) {
        free(inverse);
        return flag;
    }
    f->inverse = inverse;
    return SSIDS_SUCCESS;
}
