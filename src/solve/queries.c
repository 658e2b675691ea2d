/*
 * The factors of the direct solver as the caller sees them: S A S = P' L D L' P.
 *
 * What was factored is 2^-e S A S = P' L D L' P; the power of two is counted to D here, so D is multiplied
 * by 2^e on its way out and divided by it on its way in. The factors name variables by their positions in
 * the plan; the caller's vectors between the parts of a solve, and his D, are in the order in which the
 * pivots came: front by front, in each the columns that it eliminated.
 */
#include "solve/solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* SADDLE_WRONG_ORDER where there are no factors of A itself. */
static saddle_status require_factors(sd_context *c, const saddle_solver *s, const char *call)
{
    if (!s) return sd_fail(c, SADDLE_BAD_ARGUMENT, "%s: the solver is NULL", call);
    if (!s->factored || !s->direct.factored)
        return sd_fail(c, SADDLE_WRONG_ORDER,
                       "%s: there are no factors: choose method direct and call saddle_factor first", call);
    if (s->direct.general)
        return sd_fail(c, SADDLE_WRONG_ORDER,
                       "%s: the matrix is not symmetric: it was factored through a symmetric matrix of twice "
                       "its size",
                       call);
    return SADDLE_OK;
}

static const sd_factors *factors_of(const saddle_solver *s)
{
    return &s->direct.factors[s->direct.precision];
}

/* ---- parts of a solve ---- */

/* w, by position, from x, by pivots; and back. */
static void by_position(const sd_factors *f, const double *x, double *w)
{
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        for (int32_t j = 0; j < front->eliminated; ++j) w[front->variable[j]] = *x++;
    }
}

static void by_pivots(const sd_factors *f, const double *w, double *x)
{
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        for (int32_t j = 0; j < front->eliminated; ++j) *x++ = w[front->variable[j]];
    }
}

/* w = what the part works on, its largest entry about 1 so that single precision can hold it. Returns the
 * exponent that was taken out. */
static int load(const sd_direct *d, const sd_factors *f, saddle_part part, const double *x, double *w)
{
    const int32_t n = d->tree.n;
    if (part == SADDLE_FORWARD)
        for (int32_t i = 0; i < n; ++i) w[d->tree.position[i]] = d->p.row_scale[i] * x[i];
    else
        by_position(f, x, w);
    return sd_take_exponent(n, w);
}

static void unload(const sd_direct *d, const sd_factors *f, saddle_part part, int exponent, double *w,
                   double *x)
{
    const int32_t n = d->tree.n;
    if (part == SADDLE_DIAGONAL) exponent -= d->exponent;
    for (int32_t i = 0; i < n && exponent != 0; ++i) w[i] = ldexp(w[i], exponent);
    if (part == SADDLE_BACKWARD)
        for (int32_t i = 0; i < n; ++i) x[i] = d->p.row_scale[i] * w[d->tree.position[i]];
    else
        by_pivots(f, w, x);
}

static saddle_status check_part(sd_context *c, const saddle_solver *s, saddle_part part, int64_t nrhs,
                                const double *x, int64_t ldx)
{
    const int32_t n = s->A.n;
    if (part < SADDLE_FORWARD || part > SADDLE_BACKWARD)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "saddle_solve_part: there is no part %d", (int)part);
    if (nrhs < 0 || ldx < n)
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "saddle_solve_part: %lld columns, ldx %lld, and n is %d",
                       (long long)nrhs, (long long)ldx, n);
    if (nrhs > 0 && n > 0 && !x) return sd_fail(c, SADDLE_BAD_ARGUMENT, "saddle_solve_part: x is NULL");
    for (int64_t j = 0; j < nrhs; ++j)
        for (int32_t i = 0; i < n; ++i)
            if (!isfinite(x[j * ldx + i]))
                return sd_fail(c, SADDLE_BAD_VALUE,
                               "saddle_solve_part: entry %d of column %lld (counted from 1) is %g", i + 1,
                               (long long)j + 1, x[j * ldx + i]);
    return SADDLE_OK;
}

saddle_status saddle_solve_part(const saddle_solver *solver, saddle_part part, int64_t nrhs, double *x,
                                int64_t ldx, char *message)
{
    static const int parts[] = {SD_SOLVE_FORWARD, SD_SOLVE_DIAGONAL, SD_SOLVE_BACKWARD};
    sd_context c;
    sd_solver_context(solver, &c);
    saddle_status status = require_factors(&c, solver, "saddle_solve_part");
    if (!status) status = check_part(&c, solver, part, nrhs, x, ldx);
    if (status || nrhs == 0 || solver->A.n == 0) return sd_tell(&c, status, message);
    const sd_direct *d = &solver->direct;
    const sd_factors *f = factors_of(solver);
    const int32_t n = d->tree.n;
    const int64_t width = nrhs < SD_RHS_BLOCK ? nrhs : SD_RHS_BLOCK;
    double *w = sd_alloc(&c, width * n, sizeof *w, "right-hand sides");
    if (!w) return sd_tell(&c, c.status, message);
    for (int64_t first = 0; first < nrhs && !status; first += width) {
        const int64_t many = nrhs - first < width ? nrhs - first : width;
        int exponent[SD_RHS_BLOCK];
        for (int64_t j = 0; j < many; ++j) exponent[j] = load(d, f, part, x + (first + j) * ldx, w + j * n);
        status = sd_triangular_solve(&c, f, &d->room, parts[part], many, w, n, solver->threads);
        for (int64_t j = 0; j < many && !status; ++j)
            unload(d, f, part, exponent[j], w + j * n, x + (first + j) * ldx);
    }
    sd_free(&c, w);
    return sd_tell(&c, status, message);
}

/* ---- what the factors are ---- */

saddle_status saddle_get_order(const saddle_solver *solver, int32_t *order)
{
    sd_context c;
    sd_solver_context(solver, &c);
    const saddle_status status = require_factors(&c, solver, "saddle_get_order");
    if (status) return status;
    if (!order) return SADDLE_BAD_ARGUMENT;
    memcpy(order, solver->direct.tree.order, (size_t)solver->A.n * sizeof *order);
    return SADDLE_OK;
}

saddle_status saddle_get_pivots(const saddle_solver *solver, int32_t *order, double *d)
{
    sd_context c;
    sd_solver_context(solver, &c);
    const saddle_status status = require_factors(&c, solver, "saddle_get_pivots");
    if (status) return status;
    const sd_factors *f = factors_of(solver);
    int64_t at = 0;
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        for (int32_t j = 0; j < front->eliminated; ++j, ++at) {
            if (order) order[at] = f->tree->order[front->variable[j]];
            if (!d) continue;
            d[2 * at] = ldexp(sd_get_d(f, front, 2 * j), solver->direct.exponent);
            d[2 * at + 1] = ldexp(sd_get_d(f, front, 2 * j + 1), solver->direct.exponent);
        }
    }
    return SADDLE_OK;
}

saddle_status saddle_get_scaling(const saddle_solver *solver, double *scale)
{
    sd_context c;
    sd_solver_context(solver, &c);
    const saddle_status status = require_factors(&c, solver, "saddle_get_scaling");
    if (status) return status;
    if (!scale) return SADDLE_BAD_ARGUMENT;
    memcpy(scale, solver->direct.p.row_scale, (size_t)solver->A.n * sizeof *scale);
    return SADDLE_OK;
}

/* ---- another D ---- */

/* What d is in the factors' own D; false where their precision cannot hold it. */
static bool fits(const sd_factors *f, double d, int exponent, double *own)
{
    *own = ldexp(d, -exponent);
    if (f->precision == SD_SINGLE) *own = (float)*own;
    return isfinite(*own) && (*own == 0) == (d == 0);
}

/* Finite, of a size that the factors can hold, and with 2x2 pivots where they are. */
static saddle_status check_d(sd_context *c, const saddle_solver *s, const double *d)
{
    const sd_factors *f = factors_of(s);
    int64_t at = 0;
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        for (int32_t j = 0; j < front->eliminated; ++j, ++at) {
            const bool pair = sd_get_d(f, front, 2 * j + 1) != 0;
            double own;
            for (int part = 0; part < 2; ++part) {
                const double value = d[2 * at + part];
                if (!isfinite(value))
                    return sd_fail(c, SADDLE_BAD_VALUE, "saddle_set_d: d[%lld] is %g",
                                   (long long)(2 * at + part), value);
                if (!fits(f, value, s->direct.exponent, &own))
                    return sd_fail(c, SADDLE_BAD_VALUE,
                                   "saddle_set_d: d[%lld] is %g, too far from the size of the factors",
                                   (long long)(2 * at + part), value);
            }
            if ((d[2 * at + 1] != 0) != pair)
                return sd_fail(c, SADDLE_BAD_ARGUMENT,
                               pair ? "saddle_set_d: d[%lld] is 0 (%g), but a 2x2 pivot begins there"
                                    : "saddle_set_d: d[%lld] is not 0 (%g), but no 2x2 pivot begins there",
                               (long long)(2 * at + 1), d[2 * at + 1]);
        }
    }
    return SADDLE_OK;
}

static void count_sign(sd_direct *d, double eigenvalue)
{
    d->positive += eigenvalue > 0;
    d->negative += eigenvalue < 0;
    d->zero += eigenvalue == 0;
}

/* Signs of the eigenvalues of D: a preconditioner of CG or MINRES has to be positive definite. */
static void count_signs(sd_direct *d)
{
    const sd_factors *f = &d->factors[d->precision];
    d->positive = d->negative = d->zero = 0;
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        for (int32_t j = 0; j < front->eliminated; ++j) {
            const double a = sd_get_d(f, front, 2 * j), b = sd_get_d(f, front, 2 * j + 1);
            double first = a;
            if (b != 0) {
                const double c = sd_get_d(f, front, 2 * ++j), product = (a / b) * (c / b); /* 1 + det / b^2 */
                first = a + c;
                double second = product > 1 ? first : -first;
                if (fabs(product - 1) <= 8 * DBL_EPSILON) second = 0;
                if (first == 0) { /* then the determinant is negative */
                    first = 1;
                    second = -1;
                }
                count_sign(d, second);
            }
            count_sign(d, first);
        }
    }
}

saddle_status saddle_set_d(saddle_solver *solver, const double *d)
{
    sd_context c;
    sd_solver_context(solver, &c);
    saddle_status status = require_factors(&c, solver, "saddle_set_d");
    if (!status && !d) status = sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_set_d: d is NULL");
    if (!status) status = check_d(&c, solver, d);
    if (solver) sd_tell(&c, status, solver->info.message);
    if (status) return status;
    sd_factors *f = &solver->direct.factors[solver->direct.precision];
    for (int32_t k = 0; k < f->tree->fronts; ++k) {
        const sd_front *front = &f->front[k];
        for (int64_t j = 0; j < 2 * (int64_t)front->eliminated; ++j) {
            double own;
            fits(f, *d++, solver->direct.exponent, &own);
            sd_put_d(f, front, j, own);
        }
    }
    solver->direct.changed = true;
    count_signs(&solver->direct);
    saddle_info *info = &solver->info;
    info->inertia_positive = info->inertia_negative = info->inertia_zero = info->rank = -1;
    info->regularised_positive = info->regularised_negative = -1;
    return SADDLE_OK;
}
