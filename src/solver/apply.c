/*
 * saddle_apply: x = M^-1 b once, M as the method of the first rung made it.
 *
 * A method that solves by itself does so, columns side by side. All others offer what a Krylov method sees of
 * them, for the system with A 2^-exponent and a vector of about 1: b goes in without its power of two, and x
 * gets it back (iterate.c does the same). Where a method takes several columns at once, they come in panels,
 * the last one filled up with zeros. Nothing is written into the solver.
 */
#include "solver/staged.h"

#include "core/power.h"

#include <string.h>

/* A call at work; columns are on the host. */
typedef struct applying {
    sd_engine *e;
    sd_problem p;
    const sd_method *method;
    const void *factors;
    bool transposed;
} applying;

enum { PANEL = 8 }; /* columns at once: kernels on triangles sum so many at a time */

/* One call's view of M, for *columns at most, or of M' where that is another matrix, for 1. */
static saddle_status view(const applying *a, const sd_operator *op, int *columns, sd_preconditioner *M)
{
    const sd_method *method = a->method;
    const bool turned = a->transposed && method->precondition_transposed;
    if (*columns > 1 && method->precondition_columns && !turned)
        return method->precondition_columns(a->e, &a->p, a->factors, op, columns, M);
    *columns = 1;
    saddle_status status = method->precondition(a->e, &a->p, a->factors, op, M);
    if (status || !turned || M->symmetric) return status;
    sd_preconditioner_free(a->e, M);
    return method->precondition_transposed(a->e, &a->p, a->factors, op, M);
}

/* x = M^-1 b for columns k .. k + count), `width` at once; panel has width n numbers. */
static void apply_panel(const applying *a, const sd_operator *op, const sd_preconditioner *M,
                        const sd_staged *at, int64_t k, int count, int width, double *panel, sd_vector *r,
                        sd_vector *z)
{
    const int64_t n = a->p.A->n;
    int of_b[PANEL];
    for (int c = 0; c < count; ++c) {
        const double *b = at->b + (k + c) * at->ldb;
        of_b[c] = sd_largest_exponent(b, (int32_t)n);
        sd_shift((int32_t)n, b, -of_b[c], panel + c * n);
    }
    memset(panel + count * n, 0, (size_t)((width - count) * n) * sizeof *panel);
    sd_vector_put(a->e, panel, r);
    sd_precondition(a->e, M, r, z);
    sd_vector_get(a->e, z, panel);
    for (int c = 0; c < count && !a->e->status; ++c)
        sd_shift((int32_t)n, panel + c * n, of_b[c] - op->exponent, at->x + (k + c) * at->ldx);
}

static saddle_status apply_columns(const applying *a, const sd_staged *at, int64_t nrhs)
{
    sd_engine *e = a->e;
    const sd_precision precision = a->method->solve ? SD_DOUBLE : sd_iteration_precision(&a->p);
    const sd_operator *op = &a->p.op[precision];
    const int64_t n = a->p.A->n;
    int width = nrhs < PANEL ? (int)nrhs : PANEL;
    sd_preconditioner M = {0};
    view(a, op, &width, &M);
    double *panel = sd_alloc(e->context, n * width, sizeof *panel, "right-hand sides");
    sd_vector r = sd_vector_new(e, precision, n * width, "right-hand sides");
    sd_vector z = sd_vector_new(e, precision, n * width, "solutions");
    if (!panel && !e->status) e->status = e->context->status;
    sd_engine_reserve(e, n * width, NULL);
    for (int64_t k = 0; k < nrhs && !e->status; k += width) {
        const int count = nrhs - k < width ? (int)(nrhs - k) : width;
        apply_panel(a, op, &M, at, k, count, width, panel, &r, &z);
    }
    sd_free(e->context, panel);
    sd_vector_free(e, &r);
    sd_vector_free(e, &z);
    sd_preconditioner_free(e, &M);
    return e->status;
}

static saddle_status solve_columns(const applying *a, const sd_staged *at, int64_t nrhs)
{
    if (a->transposed)
        return a->method->solve_transposed(a->e, a->factors, nrhs, at->b, at->ldb, at->x, at->ldx);
    return a->method->solve(a->e, a->factors, nrhs, at->b, at->ldb, at->x, at->ldx, NULL);
}

static saddle_status check_finite(sd_context *c, int32_t n, int64_t nrhs, const double *b, int64_t ldb)
{
    for (int64_t k = 0; k < nrhs; ++k)
        if (!sd_is_finite(n, b + k * ldb))
            return sd_fail(
                c, SADDLE_BAD_VALUE,
                "saddle_apply: an entry of right-hand side %lld (counted from 1) is NaN or infinite",
                (long long)k + 1);
    return SADDLE_OK;
}

/* x that overflows becomes 0, all of it does where something failed. */
static saddle_status conclude(sd_context *c, int32_t n, int64_t nrhs, const sd_staged *at,
                              saddle_status status)
{
    const bool failed = status != SADDLE_OK;
    for (int64_t k = 0; k < nrhs; ++k) {
        double *const x = at->x + k * at->ldx;
        if (!failed && sd_is_finite(n, x)) continue;
        memset(x, 0, (size_t)n * sizeof *x);
        if (!failed)
            status = sd_fail(c, SADDLE_NOT_CONVERGED,
                             "saddle_apply: solution %lld (counted from 1) overflows", (long long)k + 1);
    }
    return status;
}

static saddle_status apply(const saddle_solver *s, sd_engine *e, bool transposed, int64_t nrhs,
                           const double *b, int64_t ldb, double *x, int64_t ldx)
{
    sd_staged at;
    const sd_method *method = s->ladder.rung[0].method;
    const applying a = {.e = e,
                        .p = sd_problem_of(s),
                        .method = method,
                        .factors = sd_find_work(s, method)->factors,
                        .transposed = transposed};
    saddle_status status = sd_stage_columns(s, e, nrhs, b, ldb, x, ldx, &at);
    if (status) {
        sd_free(e->context, at.memory);
        return status;
    }
    status = check_finite(e->context, s->A.n, nrhs, at.b, at.ldb);
    if (!status)
        status = sd_solves_alone(&a.p, method) ? solve_columns(&a, &at, nrhs) : apply_columns(&a, &at, nrhs);
    status = conclude(e->context, s->A.n, nrhs, &at, status);
    sd_unstage_columns(s, e, nrhs, x, ldx, &at);
    return status ? status : e->status;
}

saddle_status saddle_apply(const saddle_solver *solver, int transposed, int64_t nrhs, const double *b,
                           int64_t ldb, double *x, int64_t ldx, char *message)
{
    char nest[SD_NEST_BYTES];
    sd_context c;
    sd_engine e = {0};
    sd_solver_context(solver, &c);
    sd_context_nest(&c, nest, sizeof nest);
    saddle_status status = sd_check_columns(&c, solver, "saddle_apply", nrhs, b, ldb, x, ldx);
    if (!status && nrhs > 0 && solver->A.n > 0) {
        sd_team_of_call(&c, solver->threads);
        status = sd_engine_open(&c, &solver->opened, &e, solver->threads);
        if (!status) status = apply(solver, &e, transposed != 0, nrhs, b, ldb, x, ldx);
        sd_engine_close(&e);
    }
    return sd_tell(&c, status, message);
}
