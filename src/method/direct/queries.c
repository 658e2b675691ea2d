/*
 * The factors of the direct solver as the caller sees them: S A S = P' L D L' P.
 *
 * What was factored is 2^-e S A S = P' L D L' P; the power of two is counted to D here, so D is multiplied
 * by 2^e on its way out and divided by it on its way in. The factors name variables by their positions in
 * the plan; the caller's vectors between the parts of a solve, and his D, are in the order in which the
 * pivots came: front by front, in each the columns that it eliminated.
 */
#include "method/direct/queries.h"

#include "core/power.h"
#include "factor/rank.h"
#include "solve/refinement.h"

#include <math.h>
#include <string.h>

/* ---- parts of a solve ---- */

/* w, by position, from x, by pivots; and back. */
static void by_position(const sd_factors *f, const double *x, double *w)
{
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j) w[run.variable[j]] = *x++;
    }
}

static void by_pivots(const sd_factors *f, const double *w, double *x)
{
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j) *x++ = w[run.variable[j]];
    }
}

/* w = what the part works on, its largest entry about 1 so that single precision can hold it. Returns the
 * exponent that was taken out. */
static int load(const sd_direct *d, const sd_factors *f, saddle_part part, const double *x, double *w)
{
    const int32_t n = d->plan->tree.n;
    if (part == SADDLE_FORWARD)
        for (int32_t i = 0; i < n; ++i) w[d->plan->tree.position[i]] = d->outer[i] * x[i];
    else
        by_position(f, x, w);
    return sd_take_exponent(n, w);
}

static void unload(const sd_direct *d, const sd_factors *f, saddle_part part, int exponent, double *w,
                   double *x)
{
    const int32_t n = d->plan->tree.n;
    if (part == SADDLE_DIAGONAL) exponent -= d->exponent;
    for (int32_t i = 0; i < n && exponent != 0; ++i) w[i] = ldexp(w[i], exponent);
    if (part == SADDLE_BACKWARD)
        for (int32_t i = 0; i < n; ++i) x[i] = d->outer[i] * w[d->plan->tree.position[i]];
    else
        by_pivots(f, w, x);
}

static saddle_status check_part(sd_context *c, int32_t n, saddle_part part, int64_t nrhs, const double *x,
                                int64_t ldx)
{
    if (part < SADDLE_FORWARD || part > SADDLE_BACKWARD)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "saddle_solve_part: there is no part %d", (int)part);
    if (nrhs < 0 || ldx < n)
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "saddle_solve_part: invalid sizes: %lld columns, ldx %lld, n %d", (long long)nrhs,
                       (long long)ldx, n);
    if (nrhs > 0 && n > 0 && !x) return sd_fail(c, SADDLE_BAD_ARGUMENT, "saddle_solve_part: x is NULL");
    for (int64_t j = 0; j < nrhs; ++j)
        for (int32_t i = 0; i < n; ++i)
            if (!isfinite(x[j * ldx + i]))
                return sd_fail(c, SADDLE_BAD_VALUE,
                               "saddle_solve_part: entry %d of column %lld (counted from 1) is %g", i + 1,
                               (long long)j + 1, x[j * ldx + i]);
    return SADDLE_OK;
}

saddle_status sd_direct_part(sd_context *c, const sd_direct *d, saddle_part part, int64_t nrhs, double *x,
                             int64_t ldx, int threads)
{
    static const int parts[] = {SD_SOLVE_FORWARD, SD_SOLVE_DIAGONAL, SD_SOLVE_BACKWARD};
    const sd_factors *f = sd_direct_numbers(d);
    const int32_t n = d->plan->n;
    const int64_t width = nrhs < SD_RHS_BLOCK ? nrhs : SD_RHS_BLOCK;
    saddle_status status = check_part(c, n, part, nrhs, x, ldx);
    if (!status) status = sd_factors_fetch(c, f);
    if (status || nrhs == 0 || n == 0) return status;
    double *w = sd_alloc(c, width * n, sizeof *w, "right-hand sides");
    if (!w) return c->status;
    for (int64_t first = 0; first < nrhs && !status; first += width) {
        const int64_t many = nrhs - first < width ? nrhs - first : width;
        int exponent[SD_RHS_BLOCK];
        for (int64_t j = 0; j < many; ++j) exponent[j] = load(d, f, part, x + (first + j) * ldx, w + j * n);
        status = sd_triangular_solve(c, f, &d->room, parts[part], many, w, n, threads);
        for (int64_t j = 0; j < many && !status; ++j)
            unload(d, f, part, exponent[j], w + j * n, x + (first + j) * ldx);
    }
    sd_free(c, w);
    return status;
}

/* ---- what the factors are ---- */

void sd_direct_get_order(const sd_direct_plan *plan, int32_t *order)
{
    memcpy(order, plan->tree.order, (size_t)plan->n * sizeof *order);
}

saddle_status sd_direct_get_pivots(sd_context *c, const sd_direct *d, int32_t *order, double *pivots)
{
    const sd_factors *f = sd_direct_numbers(d);
    const saddle_status status = sd_factors_fetch(c, f);
    int64_t at = 0;
    if (status) return status;
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count && order; ++j) order[at + j] = f->tree->order[run.variable[j]];
        for (int64_t j = 0; j < 2 * (int64_t)run.count && pivots; ++j)
            pivots[2 * at + j] = sd_get_d(f, &run, j);
        at += run.count;
    }
    if (pivots && d->exponent != 0) sd_shift(2 * at, pivots, d->exponent, pivots);
    return SADDLE_OK;
}

void sd_direct_get_scaling(const sd_direct *d, double *scale)
{
    memcpy(scale, d->outer, (size_t)d->plan->n * sizeof *scale);
}

/* ---- another D ---- */

/* What d is in the factors' own D; false where their precision cannot hold it. */
static bool fits(const sd_factors *f, double d, int exponent, double *own)
{
    *own = ldexp(d, -exponent);
    if (f->precision == SD_SINGLE) *own = (float)*own;
    return isfinite(*own) && (*own == 0) == (d == 0);
}

/* Entry `at` of a caller's D: finite, and of a size that the factors can hold. */
static saddle_status check_number(sd_context *c, const sd_direct *d, int64_t at, double value)
{
    double own;
    if (!isfinite(value))
        return sd_fail(c, SADDLE_BAD_VALUE, "saddle_set_d: d[%lld] is %g", (long long)at, value);
    if (!fits(sd_direct_numbers(d), value, d->exponent, &own))
        return sd_fail(c, SADDLE_BAD_VALUE,
                       "saddle_set_d: d[%lld] is %g, too large or too small for these factors", (long long)at,
                       value);
    return SADDLE_OK;
}

/* All entries, and 2x2 pivots where they are. */
static saddle_status check_d(sd_context *c, const sd_direct *d, const double *pivots)
{
    const sd_factors *f = sd_direct_numbers(d);
    int64_t at = 0;
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j, at += 2) {
            const bool pair = sd_get_d(f, &run, 2 * j + 1) != 0;
            saddle_status status = check_number(c, d, at, pivots[at]);
            if (!status) status = check_number(c, d, at + 1, pivots[at + 1]);
            if (status) return status;
            if ((pivots[at + 1] != 0) != pair)
                return sd_fail(c, SADDLE_BAD_ARGUMENT,
                               pair ? "saddle_set_d: d[%lld] is 0 (%g), but a 2x2 pivot begins there"
                                    : "saddle_set_d: d[%lld] is not 0 (%g), but no 2x2 pivot begins there",
                               (long long)at + 1, pivots[at + 1]);
        }
    }
    return SADDLE_OK;
}

saddle_status sd_direct_set_d(sd_context *c, sd_direct *d, const double *pivots)
{
    const sd_factors *f = sd_direct_numbers(d);
    saddle_status status = sd_factors_fetch(c, f);
    if (!status) status = check_d(c, d, pivots);
    if (status) return status;
    for (int32_t k = 0; k < sd_runs(f); ++k) {
        const sd_run run = sd_run_of(f, k);
        for (int64_t j = 0; j < run.count; ++j, pivots += 2) {
            double own, beside;
            fits(f, pivots[0], d->exponent, &own);
            fits(f, pivots[1], d->exponent, &beside);
            sd_put_d(&d->factors[d->precision], k, j, own, beside);
        }
    }
    d->changed = true;
    /* a preconditioner of CG or MINRES has to be positive definite */
    int64_t signs[3];
    sd_count_signs(f, signs);
    d->negative = signs[0], d->zero = signs[1], d->positive = signs[2];
    return SADDLE_OK;
}
